# SPDX-License-Identifier: GPL-2.0-or-later
"""Where resources live, and the smallest valid object of each kind."""
import copy

CORE = "/api/v1"
GROUPS = {
    "deployments": "/apis/apps/v1",
    "statefulsets": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "controllerrevisions": "/apis/apps/v1",
    "jobs": "/apis/batch/v1",
    "leases": "/apis/coordination.k8s.io/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "clusterroles": "/apis/rbac.authorization.k8s.io/v1",
    "clusterrolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
}
CRDS = GROUPS["customresourcedefinitions"] + "/customresourcedefinitions"


def url(resource, namespace=None, name=None, sub=None, base=None):
    """The path of a resource, an object or a subresource."""
    path = base or GROUPS.get(resource, CORE)
    if namespace:
        path += "/namespaces/" + namespace
    return "/".join(filter(None, [path, resource, name, sub]))


def meta(name, **more):
    return {"name": name, **more}


def configmap(name, data=None, **more):
    cm = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, **more)}
    return cm if data is None else {**cm, "data": data}


def secret(name, **fields):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta(name), **fields}


def container(name="main", image="registry.test/app:1", **more):
    return {"name": name, "image": image, **more}


def pod_spec(**more):
    """A pod that no scheduler takes and that mounts no token, so that it stays as it was made."""
    spec = {
        "schedulerName": "conformance.test",
        "automountServiceAccountToken": False,
        "containers": [container()],
    }
    return {**spec, **more}


def pod(name, labels=None, **spec):
    metadata = meta(name, labels=labels) if labels else meta(name)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(**spec)}


def _workload(kind, name, replicas, **spec):
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": meta(name),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec()},
            **spec,
        },
    }


def deployment(name, replicas=0, **spec):
    return _workload("Deployment", name, replicas, **spec)


def statefulset(name, replicas=0, **spec):
    return _workload("StatefulSet", name, replicas, serviceName=name, **spec)


def replicaset(name, replicas=0, **spec):
    return _workload("ReplicaSet", name, replicas, **spec)


def service(name, **spec):
    spec = {"ports": [{"port": 80}], "selector": {"app": name}, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta(name), "spec": spec}


def claim(name, **spec):
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "conformance",
        "resources": {"requests": {"storage": "1Gi"}},
        **spec,
    }
    return {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta(name), "spec": spec,
    }


def lease(name, **spec):
    return {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta(name),
        "spec": spec,
    }


def job(name, **spec):
    template = {"spec": pod_spec(restartPolicy="Never")}
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": meta(name),
        "spec": {"parallelism": 0, "template": template, **spec},
    }


def namespace(name, **more):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta(name, **more)}


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta(name)}


def service_account(name):
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(name)}


def endpoints(name, ip="10.1.2.3", port=80):
    return {
        "apiVersion": "v1", "kind": "Endpoints", "metadata": meta(name),
        "subsets": [{"addresses": [{"ip": ip}], "ports": [{"port": port}]}],
    }


def event(name, namespace_name, about="thing", **more):
    return {
        "apiVersion": "v1", "kind": "Event", "metadata": meta(name, namespace=namespace_name),
        "involvedObject": {
            "apiVersion": "v1", "kind": "ConfigMap", "name": about, "namespace": namespace_name,
        },
        "reason": "Tested", "message": "seen by a test", "type": "Normal",
        "source": {"component": "conformance", "host": "here"},
        "firstTimestamp": "2021-01-01T00:00:00Z", "lastTimestamp": "2021-01-01T00:00:00Z",
        "count": 1, **more,
    }


def role(name):
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta(name),
        "rules": rules,
    }


def budget(name, **spec):
    """Without apiVersion, because releases differ in it."""
    return {
        "metadata": meta(name),
        "spec": {"selector": {"matchLabels": {"app": name}}, **spec},
    }


def owner(stored, **more):
    """An ownerReference to a stored object."""
    return {
        "apiVersion": stored["apiVersion"], "kind": stored["kind"],
        "name": stored["metadata"]["name"], "uid": stored["metadata"]["uid"], **more,
    }


def without(obj, *path):
    """A deep copy that lacks the field at the path."""
    obj = copy.deepcopy(obj)
    at = obj
    for key in path[:-1]:
        at = at[key]
    at.pop(path[-1], None)
    return obj
