# SPDX-License-Identifier: GPL-2.0-or-later
"""What the server fills into built-in objects; clients compare with it, so it must be exact."""
import re

import pytest

from lib.objects import claim, deployment, job, pod, replicaset, service, statefulset


def subset(small, big):
    """Whether every field of small is in big, with the same value."""
    if isinstance(small, dict):
        return isinstance(big, dict) and all(
            k in big and subset(v, big[k]) for k, v in small.items())
    return small == big


def check(stored, expected):
    for key, value in expected.items():
        assert subset(value, stored[key]), f"{key}: {stored[key]} lacks {value}"


CONTAINER = {
    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
    "imagePullPolicy": "IfNotPresent", "resources": {},
}
POD_SPEC = {
    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30,
    "securityContext": {},
}


def test_a_pod(ns):
    made = ns.create("pods", pod("p"))
    check(made["spec"], {
        **POD_SPEC, "enableServiceLinks": True, "serviceAccountName": "default",
        "serviceAccount": "default", "priority": 0,
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
             "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
             "tolerationSeconds": 300},
        ],
    })
    check(made["spec"]["containers"][0], CONTAINER)
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_the_preemption_policy_of_a_pod(ns):
    assert ns.create("pods", pod("p"))["spec"]["preemptionPolicy"] == "PreemptLowerPriority"


def test_the_default_scheduler(api, ns):
    body = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"},
            "spec": {"containers": [{"name": "c", "image": "x"}],
                     "automountServiceAccountToken": False}}
    api.until(ns.url("serviceaccounts", "default"), lambda a: a.code == 200)
    made = api.post(ns.url("pods"), body, query={"dryRun": "All"}).ok(201)
    assert made["spec"]["schedulerName"] == "default-scheduler"


@pytest.mark.parametrize("image, policy", [
    ("app", "Always"), ("app:latest", "Always"), ("app:1", "IfNotPresent"),
    ("host:5000/app", "Always"), ("host:5000/app:1", "IfNotPresent"),
    ("app@sha256:" + "0" * 64, "IfNotPresent"),
])
def test_the_pull_policy_follows_the_tag(ns, image, policy):
    made = ns.create("pods", pod("p", containers=[{"name": "c", "image": image}]))
    assert made["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_ports_probes_and_env(ns):
    made = ns.create("pods", pod("p", containers=[{
        "name": "c", "image": "x:1", "ports": [{"containerPort": 80}],
        "livenessProbe": {"httpGet": {"port": 80}},
        "readinessProbe": {"tcpSocket": {"port": "web"}},
        "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
    }]))
    c = made["spec"]["containers"][0]
    assert c["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert c["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"}, "timeoutSeconds": 1,
        "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    assert c["readinessProbe"]["tcpSocket"] == {"port": "web"}
    assert c["env"][0]["valueFrom"]["fieldRef"] == {
        "apiVersion": "v1", "fieldPath": "status.podIP"}


def test_host_network_sets_host_ports(ns):
    containers = [{"name": "c", "image": "x", "ports": [{"containerPort": 80}]}]
    made = ns.create("pods", pod("p", hostNetwork=True, containers=containers))
    assert made["spec"]["containers"][0]["ports"] == [
        {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


def test_requests_follow_limits(ns):
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    made = ns.create("pods", pod("p", containers=[
        {"name": "c", "image": "x", "resources": resources}]))
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
    assert made["status"]["qosClass"] == "Burstable"


def test_a_guaranteed_pod(ns):
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}}
    made = ns.create("pods", pod("p", containers=[
        {"name": "c", "image": "x", "resources": resources}]))
    assert made["status"]["qosClass"] == "Guaranteed"


@pytest.mark.parametrize("given, kept", [
    ("1000m", "1"), ("0.5", "500m"), ("1024Mi", "1Gi"), ("1e3", "1e3"), ("1.5Gi", "1536Mi"),
    ("100", "100"), ("0.1", "100m"), ("1000", "1k"), ("2Ki", "2Ki"),
])
def test_quantities_are_canonical(ns, given, kept):
    resources = {"limits": {"ephemeral-storage": given}}
    made = ns.create("pods", pod("p", containers=[
        {"name": "c", "image": "x", "resources": resources}]))
    assert made["spec"]["containers"][0]["resources"]["limits"]["ephemeral-storage"] == kept


def test_volumes(ns):
    made = ns.create("pods", pod("p", volumes=[
        {"name": "a"}, {"name": "b", "secret": {"secretName": "s"}},
        {"name": "c", "configMap": {"name": "m"}}, {"name": "d", "hostPath": {"path": "/x"}},
        {"name": "e", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"name": "f", "downwardAPI": {"items": [
            {"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    ]))
    assert made["spec"]["volumes"] == [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "secret": {"secretName": "s", "defaultMode": 420}},
        {"name": "c", "configMap": {"name": "m", "defaultMode": 420}},
        {"name": "d", "hostPath": {"path": "/x", "type": ""}},
        {"name": "e", "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}]}},
        {"name": "f", "downwardAPI": {"defaultMode": 420, "items": [
            {"path": "n", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}]}},
    ]


def test_a_token_is_mounted_unless_declined(ns):
    body = pod("p")
    del body["spec"]["automountServiceAccountToken"]
    made = ns.create("pods", body)
    mount, = made["spec"]["containers"][0]["volumeMounts"]
    assert mount["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
    assert mount["readOnly"] is True
    assert mount["name"] == made["spec"]["volumes"][0]["name"]


def test_a_service(ns, minor):
    made = ns.create("services", service("s"))
    check(made["spec"], {
        "type": "ClusterIP", "sessionAffinity": "None",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}], "selector": {"app": "s"}})
    assert re.match(r"^[0-9a-f.:]+$", made["spec"]["clusterIP"])
    assert made["spec"]["clusterIPs"] == [made["spec"]["clusterIP"]]
    assert made["status"] == {"loadBalancer": {}}
    if minor >= 22:
        assert made["spec"]["internalTrafficPolicy"] == "Cluster"
        assert made["spec"]["ipFamilyPolicy"] == "SingleStack"


def test_services_get_different_addresses(ns):
    first, second = (ns.create("services", service(n))["spec"]["clusterIP"] for n in "ab")
    assert first != second


def test_a_headless_service(ns):
    made = ns.create("services", service("s", clusterIP="None"))
    assert made["spec"]["clusterIP"] == "None"
    assert made["spec"]["clusterIPs"] == ["None"]


def test_an_external_name_service(ns):
    made = ns.create("services", service("s", type="ExternalName", externalName="a.test"))
    assert "clusterIP" not in made["spec"]


def test_a_node_port_service(ns):
    made = ns.create("services", service("s", type="NodePort"))
    assert 1024 <= made["spec"]["ports"][0]["nodePort"] <= 65535
    assert made["spec"]["externalTrafficPolicy"] == "Cluster"


def test_client_affinity_has_a_timeout(ns):
    made = ns.create("services", service("s", sessionAffinity="ClientIP"))
    assert made["spec"]["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}


@pytest.mark.since(21, "1.20 refuses it")
def test_a_service_address_is_kept_by_an_update_without_it(api, ns):
    made = ns.create("services", service("s"))
    body = service("s", ports=[{"port": 81}])
    body["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
    stored = api.put(ns.url("services", "s"), body).ok(200)
    assert stored["spec"]["clusterIP"] == made["spec"]["clusterIP"]


def test_a_deployment(ns, minor):
    made = ns.create("deployments", deployment("d"))
    check(made["spec"], {
        "replicas": 0, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate",
                     "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}})
    check(made["spec"]["template"]["spec"], POD_SPEC)
    template = made["spec"]["template"]["metadata"]
    assert template["labels"] == {"app": "d"}
    assert ("creationTimestamp" in template) == (minor < 34)
    assert made["status"] == {}


def test_a_template_gets_no_pod_only_defaults(ns):
    spec = ns.create("deployments", deployment("d"))["spec"]["template"]["spec"]
    assert not {"enableServiceLinks", "serviceAccountName", "tolerations", "priority"} & set(spec)


def test_a_statefulset(ns, minor):
    made = ns.create("statefulsets", statefulset("s"))
    check(made["spec"], {
        "replicas": 0, "podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}})
    if minor >= 27:
        assert made["spec"]["persistentVolumeClaimRetentionPolicy"] == {
            "whenDeleted": "Retain", "whenScaled": "Retain"}
    assert made["status"]["replicas"] == 0


def test_claim_templates_of_a_statefulset(ns):
    template = {"metadata": {"name": "v"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    made = ns.create("statefulsets", statefulset("s", volumeClaimTemplates=[template]))
    got, = made["spec"]["volumeClaimTemplates"]
    assert (got["kind"], got["apiVersion"]) == ("PersistentVolumeClaim", "v1")
    assert got["spec"]["volumeMode"] == "Filesystem"
    assert got["status"] == {"phase": "Pending"}


@pytest.mark.parametrize("resource, make", [
    ("deployments", deployment), ("statefulsets", statefulset), ("replicasets", replicaset)])
def test_replicas_default_to_one(api, ns, resource, make):
    body = make("w")
    del body["spec"]["replicas"]
    made = api.post(ns.url(resource), body, query={"dryRun": "All"}).ok(201)
    assert made["spec"]["replicas"] == 1


def test_a_job(ns):
    made = ns.create("jobs", job("j"))
    check(made["spec"], {"parallelism": 0, "backoffLimit": 6})
    uid = made["metadata"]["uid"]
    label = {v for k, v in made["spec"]["selector"]["matchLabels"].items() if "controller-uid" in k}
    assert label == {uid}
    assert made["spec"]["template"]["metadata"]["labels"]["controller-uid"] == uid
    assert made["spec"]["template"]["metadata"]["labels"]["job-name"] == "j"
    labels = made["spec"]["template"]["metadata"]["labels"]
    assert ns.get("jobs", "j")["metadata"]["labels"] == labels


def test_a_claim(ns):
    made = ns.create("persistentvolumeclaims", claim("c"))
    assert made["spec"]["volumeMode"] == "Filesystem"
    assert made["status"] == {"phase": "Pending"}


def test_a_node(api, unique):
    body = {"metadata": {"name": unique}, "status": {"capacity": {"cpu": "4"}}}
    made = api.post("/api/v1/nodes", body).ok(201)
    assert made["status"]["allocatable"] == {"cpu": "4"}
    api.delete("/api/v1/nodes/" + unique).ok()


def test_defaults_do_not_make_a_write_out_of_none(api, ns):
    made = ns.create("statefulsets", statefulset("s"))
    url = ns.url("statefulsets", "s")
    generation = made["metadata"]["generation"]
    after = api.patch(url, statefulset("s"), "strategic").ok()
    assert after["metadata"]["generation"] == generation
    assert api.put(url, statefulset("s")).ok()["metadata"]["generation"] == generation
