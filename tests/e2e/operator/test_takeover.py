# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster as Slinky's operator leaves it: what taking it over restarts is told before, and nothing else is.

Slinky's operator does not run here: the objects are written by hand, with its names, labels, owners and templates.
"""
import json
import os
import subprocess

import pytest

from conftest import PROGRAM, TOP, Cluster, eventually

NS = "slurm"
HASH = "6f8bdcc9c7"
DECLARED = """
apiVersion: v1
kind: Namespace
metadata: {name: slurm}
---
apiVersion: v1
kind: Namespace
metadata: {name: slinky}
---
apiVersion: v1
kind: Secret
metadata: {name: slurm-auth-slurm, namespace: slurm}
immutable: true
stringData: {slurm.key: an-old-key-of-sixty-four-characters-an-old-key-of-sixty-four-cha}
---
apiVersion: v1
kind: Secret
metadata: {name: slurm-auth-jwt, namespace: slurm}
immutable: true
stringData: {jwt.key: another-key-of-sixty-four-characters-another-key-of-sixty-four-c}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: slurm, namespace: slurm}
spec:
  slurmKeyRef: {name: slurm-auth-slurm, key: slurm.key}
  jwtKeyRef: {name: slurm-auth-jwt, key: jwt.key}
  slurmctld: {image: "ghcr.io/slinkyproject/slurmctld:26.05-ubuntu26.04"}
  inplaceReconfigure: true
  persistence: {enabled: false}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: slurm-worker-compute, namespace: slurm}
spec:
  controllerRef: {name: slurm}
  replicas: 2
  slurmd: {image: "ghcr.io/slinkyproject/slurmd:26.05-ubuntu26.04", args: [], env: []}
  partition: {enabled: true, config: "State=UP MaxTime=UNLIMITED"}
  template: {spec: {hostname: compute-, affinity: {}, tolerations: [], volumes: []}}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: slurm-operator, namespace: slinky}
spec: {holderIdentity: slurm-operator-77d_1, leaseDurationSeconds: 15, renewTime: "2100-01-01T00:00:00.000000Z"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: slurm-operator-webhook}
webhooks:
- name: nodeset-v1beta1.kb.io
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: slurm-operator-webhook, namespace: slinky, path: /validate}}
  rules:
  - {apiGroups: [slinky.slurm.net], apiVersions: [v1beta1], operations: [CREATE, UPDATE], resources: [nodesets]}
"""
LABELS = {"app.kubernetes.io/name": "slurmd", "app.kubernetes.io/instance": "slurm-worker-compute",
          "app.kubernetes.io/component": "worker", "slinky.slurm.net/cluster": "slurm"}


def owner(o, controller=True):
    return [{"apiVersion": o["apiVersion"], "kind": o["kind"], "name": o["metadata"]["name"], "uid": o["metadata"]["uid"],
             "controller": controller, "blockOwnerDeletion": True}]


def slurmctld(controller):
    """Its StatefulSet, shortened to what tells."""
    labels = {"app.kubernetes.io/name": "slurmctld", "app.kubernetes.io/instance": "slurm"}
    image = controller["spec"]["slurmctld"]["image"]
    return {"apiVersion": "apps/v1", "kind": "StatefulSet",
            "metadata": {"name": "slurm-controller", "namespace": NS, "labels": labels, "ownerReferences": owner(controller)},
            "spec": {"replicas": 1, "revisionHistoryLimit": 0, "serviceName": "slurm-controller-internal",
                     "selector": {"matchLabels": labels},
                     "template": {
                         "metadata": {"labels": {**labels, "app.kubernetes.io/component": "controller"}},
                         "spec": {"automountServiceAccountToken": False,
                                  "initContainers": [{"name": "reconfigure", "image": image, "restartPolicy": "Always"},
                                                     {"name": "logfile", "image": "alpine", "restartPolicy": "Always"}],
                                  "containers": [{"name": "slurmctld", "image": image}]}}}}


def revision(nodeset):
    """Labels of the template alone, and the data as Go writes it."""
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1,
            "metadata": {"name": f"slurm-worker-compute-{HASH}", "namespace": NS,
                         "labels": {"controller.kubernetes.io/hash": HASH}, "ownerReferences": owner(nodeset)},
            "data": {"spec": {"template": {"$patch": "replace", "metadata": {}, "spec": {"containers": None, "hostname": "compute-"}},
                              "slurmd": {"$patch": "replace", "name": "", "resources": {},
                                         "image": nodeset["spec"]["slurmd"]["image"]},
                              "logfile": {"$patch": "replace", "name": "", "resources": {}},
                              "ssh": {"$patch": "replace", "enabled": False, "sssdConfRef": {"key": ""}},
                              "ordinalPadding": 0, "oversubscribeNode": False}}}


def worker(nodeset, i):
    name = f"slurm-worker-compute-{i}"
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": NS, "ownerReferences": owner(nodeset),
                         "labels": {**LABELS, "controller.kubernetes.io/hash": HASH, "nodeset.slinky.slurm.net/pod-name": name,
                                    "nodeset.slinky.slurm.net/pod-index": str(i),
                                    "nodeset.slinky.slurm.net/pod-hostname": f"compute-{i}"}},
            "spec": {"hostname": f"compute-{i}", "subdomain": "slurm-workers-slurm", "nodeName": "k",
                     "containers": [{"name": "slurmd", "image": nodeset["spec"]["slurmd"]["image"]}]}}


RUNS = {"phase": "Running", "podIP": "10.0.0.1", "conditions": [
    {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}


@pytest.fixture(scope="module", name="left")
def what_slinky_left(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp("takeover"))
    try:
        c.start_server()
        c.kubectl("apply", "-f", str(TOP / "deploy/crds"))
        c.apply(DECLARED)
        nodeset = c.get("nodeset", "slurm-worker-compute")
        c.apply(json.dumps(slurmctld(c.get("controller", "slurm"))))
        c.apply(json.dumps(revision(nodeset)))
        for i in range(2):
            c.apply(json.dumps(worker(nodeset, i)))
            c.patch_status(f"slurm-worker-compute-{i}", RUNS)
        status = {"nodeSetHash": HASH, "observedGeneration": nodeset["metadata"]["generation"], "replicas": 2, "selector": "a=b"}
        c.patch_kind_status("nodesets", "slurm-worker-compute", status)
        eventually(lambda: c.get("pod", "slurm-controller-0"), "slurmctld's pod")
        yield c
    finally:
        codes = {name: c.stop(name) for name in ("operator", "apiserver")}
    assert not [name for name, code in codes.items() if code not in (0, -15)], codes


def adopt(cluster, *argv):
    env = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    done = subprocess.run([PROGRAM, "adopt", "--from", "slinky", *argv], env=env, capture_output=True, text=True, timeout=90,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def versions(cluster):
    return {(o["kind"], o["metadata"]["name"]): o["metadata"]["resourceVersion"]
            for kind in ("pods", "statefulsets", "nodesets", "controllers", "secrets", "controllerrevisions")
            for o in cluster.get(kind)}


def uids(cluster):
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in cluster.get("pods", ns=NS)
            if p["metadata"]["labels"].get("app.kubernetes.io/name") == "slurmd"}


def test_what_would_restart_is_told_and_nothing_is_changed(left):
    before = versions(left)
    code, out, words = adopt(left)
    assert code == 2, out + words
    assert "cluster slurm/slurm" in out
    assert "restarted    pods of StatefulSet slurm-controller (with config-seed" in out and "jobs run on meanwhile" in out
    assert "kept         2 worker pods of NodeSet slurm-worker-compute" in out
    assert "replaced" not in out
    assert versions(left) == before


def test_who_has_to_go_first_is_told(left):
    _, out, _ = adopt(left)
    assert "Lease slinky/slurm-operator is held by slurm-operator-77d_1" in out
    assert "kubectl -n slinky scale deployment/slurm-operator --replicas=0" in out
    assert "kubectl delete validatingwebhookconfigurations slurm-operator-webhook" in out


def test_no_worker_is_made_again(left):
    before = uids(left)
    keys = {name: left.get("secret", name)["data"] for name in ("slurm-auth-slurm", "slurm-auth-jwt")}
    left.kubectl("delete", "validatingwebhookconfigurations", "slurm-operator-webhook")
    left.kubectl("delete", "lease", "slurm-operator", "-n", "slinky")
    left.start_operator()
    eventually(lambda: left.get("nodeset", "slurm-worker-compute")["status"].get("updatedReplicas") == 2, "two that are as declared")
    assert uids(left) == before
    assert left.get("nodeset", "slurm-worker-compute")["status"]["nodeSetHash"] == HASH
    assert {name: left.get("secret", name)["data"] for name in keys} == keys


def test_slurmctld_gets_the_agent_and_stays_who_it_is(left):
    def with_agent():  # it takes the place of the sidecar
        s = left.get("statefulset", "slurm-controller")["spec"]
        return s if "slurmkeeper-agent" in json.dumps(s["template"]["spec"]["initContainers"]) else None
    s = eventually(with_agent, "the agent")
    assert s["serviceName"] == "slurm-controller-internal"
    assert s["selector"]["matchLabels"] == {"app.kubernetes.io/name": "slurmctld", "app.kubernetes.io/instance": "slurm"}


def test_pods_that_are_made_later_would_be_kept_by_slinky(left):
    left.kubectl("scale", "nodeset", "slurm-worker-compute", "-n", NS, "--replicas=3")
    pod = eventually(lambda: left.get("pod", "slurm-worker-compute-2"), "a third")
    assert pod["metadata"]["labels"]["controller.kubernetes.io/hash"] == HASH
    assert left.get("controllerrevision", f"slurm-worker-compute-{HASH}")["data"]["spec"]["slurmd"]["name"] == ""


def test_the_second_time_there_is_nothing_to_tell(left):
    code, out, words = adopt(left)
    assert code == 0 and "our operator looks after them already" in out and "restarted" not in out, out + words


def test_other_words_are_refused(left):
    env = {**os.environ, "KUBECONFIG": str(left.kubeconfig)}
    assert subprocess.run([PROGRAM, "adopt"], env=env, capture_output=True, check=False).returncode == 2
    code, _, words = adopt(left, "-n", "nothing-here")
    assert code == 1 and "there is no Controller in namespace nothing-here" in words
