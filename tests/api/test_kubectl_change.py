# SPDX-License-Identifier: GPL-2.0-or-later
"""kubectl label, annotate, patch, scale, set, delete, wait, rollout, cordon, drain, run, expose."""
import threading

import pytest

from lib.objects import (configmap, deployment, event, node, pod, secret, service_account,
                         statefulset)


def labels(ns, resource, name):
    return ns.get(resource, name)["metadata"].get("labels", {})


def later(action):
    """Run an action a moment after a command has begun to wait."""
    timer = threading.Timer(0.5, action)
    timer.start()
    return timer


def test_label(kubectl, ns):
    ns.create("configmaps", configmap("a", labels={"old": "x"}))
    assert kubectl("label", "cm", "a", "x=y").out == "configmap/a labeled\n"
    assert "--overwrite is false" in kubectl.fails("label", "cm", "a", "x=z").err
    kubectl("label", "cm", "a", "x=z", "--overwrite")
    kubectl("label", "cm", "a", "old-")
    assert labels(ns, "configmaps", "a") == {"x": "z"}
    assert "a valid label" in kubectl.fails("label", "cm", "a", "x=not valid").err


def test_annotate(kubectl, ns):
    ns.create("configmaps", configmap("a"))
    assert kubectl("annotate", "cm", "a", "x=any thing").out in (
        "configmap/a annotated\n", "configmap/a annotate\n")
    assert ns.get("configmaps", "a")["metadata"]["annotations"] == {"x": "any thing"}
    kubectl("annotate", "cm", "a", "x-")
    assert "annotations" not in ns.get("configmaps", "a")["metadata"]


@pytest.mark.parametrize("kind, body", [
    ("strategic", '{"data":{"k":"2"}}'), ("merge", '{"data":{"k":"2"}}'),
    ("json", '[{"op":"replace","path":"/data/k","value":"2"}]'),
])
def test_patch(kubectl, ns, kind, body):
    ns.create("configmaps", configmap("a", {"k": "1"}))
    assert kubectl("patch", "cm", "a", "--type", kind, "-p", body).out == "configmap/a patched\n"
    assert ns.get("configmaps", "a")["data"] == {"k": "2"}
    # 1.20 may tidy up managedFields once more.
    kubectl("patch", "cm", "a", "--type", kind, "-p", body)
    out = kubectl("patch", "cm", "a", "--type", kind, "-p", body).out
    assert out == "configmap/a patched (no change)\n"


def test_patch_of_a_custom_resource(kubectl, api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    kubectl("patch", widgets.resource, "w", "--type=merge", "-p", '{"spec":{"size":"small"}}')
    assert api.get(widgets.at(ns, "w")).ok()["spec"]["size"] == "small"
    run = kubectl.fails("patch", widgets.resource, "w", "-p", '{"spec":{}}')
    assert "UnsupportedMediaType" in run.err or "is not supported by" in run.err


def test_patch_of_the_status(kubectl, api, ns, widgets):
    if kubectl.minor < 24:
        pytest.skip("this kubectl has no --subresource")
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    kubectl("patch", widgets.resource, "w", "--subresource=status", "--type=merge",
            "-p", '{"status":{"phase":"Up"}}')
    assert api.get(widgets.at(ns, "w")).ok()["status"] == {"phase": "Up"}


def test_scale(kubectl, api, ns, widgets):
    ns.create("deployments", deployment("d", paused=True))
    assert kubectl("scale", "deploy", "d", "--replicas=2").out == "deployment.apps/d scaled\n"
    assert ns.get("deployments", "d")["spec"]["replicas"] == 2
    run = kubectl.fails("scale", "deploy", "d", "--replicas=3", "--current-replicas=1")
    assert "Expected replicas to be 1, was 2" in run.err
    kubectl("scale", "deploy", "d", "--replicas=0", "--current-replicas=2")
    api.post(widgets.at(ns), widgets.make("w", {"replicas": 1})).ok(201)
    kubectl("scale", widgets.resource, "w", "--replicas=4")
    assert api.get(widgets.at(ns, "w")).ok()["spec"]["replicas"] == 4


def test_set_image_and_env(kubectl, ns):
    ns.create("deployments", deployment("d"))
    kubectl("set", "image", "deploy/d", "main=app:2")
    kubectl("set", "env", "deploy/d", "A=b")
    got = ns.get("deployments", "d")["spec"]["template"]["spec"]["containers"][0]
    assert got["image"] == "app:2"
    assert got["env"] == [{"name": "A", "value": "b"}]


def test_rollout_restart_and_pause(kubectl, ns):
    ns.create("deployments", deployment("d"))
    kubectl("rollout", "restart", "deploy/d")
    template = ns.get("deployments", "d")["spec"]["template"]
    assert "kubectl.kubernetes.io/restartedAt" in template["metadata"]["annotations"]
    kubectl("rollout", "pause", "deploy/d")
    assert ns.get("deployments", "d")["spec"]["paused"] is True


def finish(api, ns, resource, name, **status):
    """Write the status that a controller would, in case none runs."""
    url = ns.url(resource, name, "status")
    generation = ns.get(resource, name)["metadata"]["generation"]
    api.patch(url, {"status": {"observedGeneration": generation, **status}}).ok()


def test_rollout_status(kubectl, api, ns):
    ns.create("deployments", deployment("d"))
    finish(api, ns, "deployments", "d")
    out = kubectl("rollout", "status", "deploy/d", "--timeout=30s").out
    assert out == 'deployment "d" successfully rolled out\n'
    ns.create("statefulsets", statefulset("s"))
    finish(api, ns, "statefulsets", "s", currentRevision="s-1", updateRevision="s-1", replicas=0)
    out = kubectl("rollout", "status", "sts/s", "--timeout=30s").out
    assert "0 pods at revision" in out or "complete" in out


def test_rollout_status_waits(kubectl, ns):
    ns.create("deployments", deployment("d", replicas=1))
    run = kubectl.fails("rollout", "status", "deploy/d", "--timeout=1s")
    assert "timed out" in run.err


# wait

def test_wait_for_a_condition(kubectl, api, ns):
    ns.create("pods", pod("p"))
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    timer = later(lambda: api.patch(ns.url("pods", "p", "status"), ready).ok())
    out = kubectl("wait", "--for=condition=Ready", "pod/p", "--timeout=30s").out
    assert out == "pod/p condition met\n"
    timer.join()


def test_wait_for_a_condition_of_a_custom_resource(kubectl, api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    body = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    timer = later(lambda: api.patch(widgets.at(ns, "w", "status"), body).ok())
    kubectl("wait", "--for=condition=Ready", f"{widgets.resource}/w", "--timeout=30s")
    timer.join()
    run = kubectl.fails("wait", "--for=condition=Other", f"{widgets.resource}/w", "--timeout=1s")
    assert "timed out waiting for the condition" in run.err


def test_wait_for_deletion(kubectl, api, ns):
    ns.create("configmaps", configmap("a"))
    timer = later(lambda: api.delete(ns.url("configmaps", "a")).ok())
    out = kubectl("wait", "--for=delete", "cm/a", "--timeout=30s").out
    assert out == "configmap/a condition met\n"
    timer.join()


def test_wait_for_a_value(kubectl, api, ns, widgets):
    if kubectl.minor < 23:
        pytest.skip("this kubectl cannot wait for a value")
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    body = {"status": {"phase": "Up"}}
    timer = later(lambda: api.patch(widgets.at(ns, "w", "status"), body).ok())
    kubectl("wait", "--for=jsonpath={.status.phase}=Up", f"{widgets.resource}/w", "--timeout=30s")
    timer.join()


def test_wait_for_creation(kubectl, ns):
    if kubectl.minor < 31:
        pytest.skip("this kubectl cannot wait for creation")
    timer = later(lambda: ns.create("configmaps", configmap("a")))
    kubectl("wait", "--for=create", "cm/a", "--timeout=30s")
    timer.join()


# delete

def test_delete(kubectl, api, ns):
    ns.create("configmaps", configmap("a"))
    assert kubectl("delete", "cm", "a").out in (
        'configmap "a" deleted\n', f'configmap "a" deleted from {ns.name} namespace\n')
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")
    assert "NotFound" in kubectl.fails("delete", "cm", "a").err
    kubectl("delete", "cm", "a", "--ignore-not-found")


def test_delete_by_label_and_file(kubectl, ns):
    for name in "abc":
        ns.create("secrets", secret(name))
    kubectl("label", "secret", "a", "b", "x=y")
    kubectl("delete", "secret", "-l", "x=y")
    kubectl("delete", "-f", "-", stdin=secret("c"))
    assert not {"a", "b", "c"} & set(ns.names("secrets"))


def test_delete_waits_for_finalizers(kubectl, api, ns):
    ns.create("configmaps", configmap("a", finalizers=["conformance.test/hold"]))
    body = {"metadata": {"finalizers": None}}
    timer = later(lambda: api.patch(ns.url("configmaps", "a"), body).ok())
    kubectl("delete", "cm", "a", "--timeout=30s")
    timer.join()
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")


def test_delete_a_pod_by_force(kubectl, api, ns):
    ns.create("pods", pod("p", nodeName="nowhere"))
    kubectl("delete", "pod", "p", "--force", "--grace-period=0")
    api.get(ns.url("pods", "p")).fails(404, "NotFound")


def test_delete_orphans(kubectl, api, ns):
    parent = ns.create("configmaps", configmap("parent"))
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "parent",
           "uid": parent["metadata"]["uid"]}
    ns.create("configmaps", configmap("child", ownerReferences=[ref]))
    kubectl("delete", "cm", "parent", "--cascade=orphan")
    api.until_gone(ns.url("configmaps", "parent"))
    assert "ownerReferences" not in ns.get("configmaps", "child")["metadata"]


def test_delete_dry_run(kubectl, ns):
    ns.create("configmaps", configmap("a"))
    assert "(server dry run)" in kubectl("delete", "cm", "a", "--dry-run=server").out
    ns.get("configmaps", "a")


def test_delete_a_custom_resource(kubectl, api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    kubectl("delete", widgets.resource, "w")
    api.get(widgets.at(ns, "w")).fails(404, "NotFound")


# Nodes

@pytest.fixture
def machine(api, unique):
    api.post("/api/v1/nodes", node(unique)).ok(201)
    yield unique
    api.delete("/api/v1/nodes/" + unique)


def test_cordon_and_taint(kubectl, api, machine):
    kubectl("cordon", machine)
    assert api.get("/api/v1/nodes/" + machine).ok()["spec"]["unschedulable"] is True
    kubectl("uncordon", machine)
    assert not api.get("/api/v1/nodes/" + machine).ok()["spec"].get("unschedulable")
    kubectl("taint", "node", machine, "x=y:NoSchedule")
    taints = api.get("/api/v1/nodes/" + machine).ok()["spec"]["taints"]
    assert {"key": "x", "value": "y", "effect": "NoSchedule"} in taints
    kubectl("taint", "node", machine, "x-")


def test_drain(kubectl, api, ns, machine):
    ns.create("pods", pod("p", nodeName=machine))
    api.patch(ns.url("pods", "p", "status"), {"status": {"phase": "Succeeded"}}).ok()
    kubectl("drain", machine, "--force", "--timeout=30s")
    api.get(ns.url("pods", "p")).fails(404, "NotFound")


# run, expose, token

def test_run_and_expose(kubectl, api, ns):
    api.until(ns.url("serviceaccounts", "default"), lambda a: a.code == 200)
    overrides = '{"spec":{"schedulerName":"conformance.test","automountServiceAccountToken":false}}'
    kubectl("run", "p", "--image=app:1", "--overrides", overrides)
    assert ns.get("pods", "p")["spec"]["containers"][0]["image"] == "app:1"
    kubectl("expose", "pod", "p", "--port=80")
    assert ns.get("services", "p")["spec"]["selector"] == {"run": "p"}


def test_who_am_i(kubectl, minor):
    if kubectl.minor < 28 or minor < 28:
        pytest.skip("needs kubectl and server 1.28")
    assert "Username" in kubectl("auth", "whoami").out


def test_events_of_one_object(kubectl, ns):
    if kubectl.minor < 26:
        pytest.skip("this kubectl has no events command")
    ns.create("events", event("e", ns.name, about="one"))
    ns.create("events", event("f", ns.name, about="two", message="other"))
    out = kubectl("events", "--for", "configmap/one").out
    assert "seen by a test" in out
    assert "other" not in out


def test_get_of_a_subresource(kubectl, ns):
    if kubectl.minor < 24:
        pytest.skip("this kubectl has no --subresource")
    ns.create("deployments", deployment("d"))
    out = kubectl("get", "deploy", "d", "--subresource=scale", "-o", "json").json
    assert out["kind"] == "Scale"


def test_create_token(kubectl, ns):
    if kubectl.minor < 24:
        pytest.skip("this kubectl cannot create tokens")
    ns.create("serviceaccounts", service_account("robot"))
    assert kubectl("create", "token", "robot").out.count(".") == 2
