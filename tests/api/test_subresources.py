# SPDX-License-Identifier: GPL-2.0-or-later
"""status and scale: what each endpoint takes, and what it leaves alone."""
import re

import pytest

from lib.objects import configmap, deployment, node, pod, replicaset, statefulset, without


@pytest.fixture
def widget(api, ns, widgets):
    """The path of a Widget of size small."""
    api.post(widgets.at(ns), widgets.make("w", {"size": "small", "replicas": 3})).ok(201)
    return widgets.at(ns, "w")


# status

def test_status_is_written_by_put(api, widget):
    body = api.get(widget).ok()
    body["status"] = {"phase": "Up"}
    body["spec"]["size"] = "large"
    body["metadata"]["labels"] = {"x": "y"}
    stored = api.put(widget + "/status", body).ok(200)
    assert stored["status"] == {"phase": "Up"}
    assert stored["spec"]["size"] == "small"
    assert "labels" not in stored["metadata"]
    assert stored["metadata"]["generation"] == 1


@pytest.mark.parametrize("kind, body", [
    ("merge", {"status": {"phase": "Up"}, "spec": {"size": "large"}}),
    ("json", [{"op": "add", "path": "/status", "value": {"phase": "Up"}},
              {"op": "replace", "path": "/spec/size", "value": "large"}]),
])
def test_status_is_written_by_patch(api, widget, kind, body):
    stored = api.patch(widget + "/status", body, kind).ok(200)
    assert stored["status"] == {"phase": "Up"}
    assert stored["spec"]["size"] == "small"


def test_status_is_read_as_the_whole_object(api, widget):
    assert api.get(widget + "/status").ok(200) == api.get(widget).ok(200)


def test_a_status_write_has_a_version(api, widget):
    old = api.get(widget).ok()
    api.patch(widget + "/status", {"status": {"phase": "Up"}}).ok()
    new = api.get(widget).ok()
    assert int(new["metadata"]["resourceVersion"]) > int(old["metadata"]["resourceVersion"])
    api.put(widget + "/status", {**old, "status": {"phase": "Down"}}).fails(409, "Conflict")


def test_the_object_is_written_without_touching_status(api, widget):
    api.patch(widget + "/status", {"status": {"phase": "Up"}}).ok()
    body = api.get(widget).ok()
    del body["status"]
    body["spec"]["size"] = "large"
    assert api.put(widget, body).ok()["status"] == {"phase": "Up"}


def test_status_is_validated_and_pruned(api, widget):
    api.patch(widget + "/status", {"status": {"phase": 5}}).fails(422, "Invalid")
    stored = api.patch(widget + "/status", {"status": {"phase": "Up", "bogus": 1}}).ok()
    assert stored["status"] == {"phase": "Up"}


def test_status_of_a_missing_object_is_404(api, ns, widgets):
    api.get(widgets.at(ns, "zz", "status")).fails(404, "NotFound")
    api.patch(widgets.at(ns, "zz", "status"), {"status": {}}).fails(404, "NotFound")


def test_status_cannot_be_created_or_deleted(api, widget):
    api.post(widget + "/status", {}).fails(405, "MethodNotAllowed")
    api.delete(widget + "/status").fails(405, "MethodNotAllowed")


def test_status_of_a_kind_without_it_is_404(api, gadgets, unique):
    api.post(gadgets.at(), gadgets.make(unique, {})).ok(201)
    assert api.get(gadgets.at(name=unique, sub="status")).code == 404


def test_status_of_a_pod(api, ns):
    ns.create("pods", pod("p"))
    url = ns.url("pods", "p", "status")
    body = {"status": {"phase": "Running", "podIP": "10.0.0.9"},
            "metadata": {"labels": {"x": "y"}}, "spec": {"hostNetwork": True}}
    stored = api.patch(url, body).ok(200)
    assert stored["status"]["phase"] == "Running"
    assert stored["status"]["podIPs"] == [{"ip": "10.0.0.9"}]
    assert "hostNetwork" not in stored["spec"]


def test_status_in_the_creation_of_a_pod_is_dropped(ns):
    made = ns.create("pods", {**pod("p"), "status": {"phase": "Running", "podIP": "10.0.0.9"}})
    assert made["status"]["phase"] == "Pending"
    assert "podIP" not in made["status"]


def test_status_of_a_node(api, unique):
    api.post("/api/v1/nodes", node(unique)).ok(201)
    url = f"/api/v1/nodes/{unique}/status"
    body = {"status": {"capacity": {"cpu": "4"}, "conditions": [
        {"type": "Ready", "status": "True"}]}, "spec": {"unschedulable": True}}
    stored = api.patch(url, body, "strategic").ok(200)
    assert stored["status"]["capacity"] == {"cpu": "4"}
    assert not stored["spec"].get("unschedulable")
    api.delete("/api/v1/nodes/" + unique).ok()


@pytest.mark.parametrize("resource, make", [
    ("deployments", deployment), ("statefulsets", statefulset), ("replicasets", replicaset)])
def test_status_of_a_workload(api, ns, resource, make):
    ns.create(resource, make("w"))
    body = {"status": {"observedGeneration": 1, "replicas": 0}, "spec": {"minReadySeconds": 9}}
    stored = api.patch(ns.url(resource, "w", "status"), body).ok(200)
    assert stored["status"]["observedGeneration"] == 1
    assert stored["spec"].get("minReadySeconds", 0) == 0
    assert stored["metadata"]["generation"] == 1


# scale

@pytest.mark.parametrize("resource, make", [
    ("deployments", deployment), ("statefulsets", statefulset), ("replicasets", replicaset)])
def test_scale_of_a_workload(api, ns, resource, make):
    made = ns.create(resource, make("w"))
    scale = api.get(ns.url(resource, "w", "scale")).ok(200)
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["metadata"]["uid"] == made["metadata"]["uid"]
    assert scale["spec"] == {}
    assert scale["status"] == {"replicas": 0, "selector": "app=w"}


def test_scale_is_written_by_put_and_patch(api, ns):
    ns.create("statefulsets", statefulset("w"))
    url = ns.url("statefulsets", "w", "scale")
    # Without a version, because a controller may be writing the status meanwhile.
    scale = without(api.get(url).ok(), "metadata", "resourceVersion")
    stored = api.put(url, {**scale, "spec": {"replicas": 2}}).ok(200)
    assert stored["spec"] == {"replicas": 2}
    assert ns.get("statefulsets", "w")["spec"]["replicas"] == 2
    assert ns.get("statefulsets", "w")["metadata"]["generation"] == 2
    assert api.patch(url, {"spec": {"replicas": 0}}).ok(200)["spec"] == {}
    assert ns.get("statefulsets", "w")["spec"]["replicas"] == 0


def test_scale_is_locked_by_the_version(api, ns):
    ns.create("deployments", deployment("w"))
    url = ns.url("deployments", "w", "scale")
    scale = api.get(url).ok()
    api.patch(ns.url("deployments", "w"), {"metadata": {"labels": {"x": "y"}}}).ok()
    api.put(url, {**scale, "spec": {"replicas": 1}}).fails(409, "Conflict")


def test_scale_refuses_negative_replicas(api, ns):
    ns.create("deployments", deployment("w"))
    api.patch(ns.url("deployments", "w", "scale"), {"spec": {"replicas": -1}}).fails(
        422, "Invalid", re.compile("spec.replicas: Invalid value: -1: must be greater than or "
                                   "equal to 0"))


def test_scale_of_a_missing_object_is_404(api, ns):
    api.get(ns.url("deployments", "zz", "scale")).fails(404, "NotFound")


def test_scale_of_a_kind_without_it_is_404(api, ns):
    ns.create("configmaps", configmap("a"))
    api.get(ns.url("configmaps", "a", "scale")).fails(404, "NotFound")


def test_scale_of_a_custom_resource(api, widget):
    api.patch(widget + "/status", {"status": {"replicas": 9, "selector": "app=x"}}).ok()
    made = api.get(widget).ok()["metadata"]
    assert api.get(widget + "/scale").ok(200) == {
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {k: made[k] for k in
                     ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")},
        "spec": {"replicas": 3}, "status": {"replicas": 9, "selector": "app=x"},
    }


def test_scale_of_a_custom_resource_writes_its_path(api, widget):
    stored = api.patch(widget + "/scale", {"spec": {"replicas": 5}}).ok(200)
    assert stored["spec"] == {"replicas": 5}
    after = api.get(widget).ok()
    assert after["spec"]["replicas"] == 5
    assert after["metadata"]["generation"] == 2
    scale = api.get(widget + "/scale").ok()
    api.put(widget + "/scale", {**scale, "spec": {"replicas": 6}}).ok(200)
    assert api.get(widget).ok()["spec"]["replicas"] == 6


def test_scale_of_a_custom_resource_is_validated(api, widget):
    status = api.patch(widget + "/scale", {"spec": {"replicas": 11}}).fails(422, "Invalid")
    assert "should be less than or equal to 10" in status["message"]
    api.patch(widget + "/scale", {"spec": {"replicas": -1}}).fails(422, "Invalid")


def test_scale_of_a_kind_without_a_scale_subresource_is_404(api, gadgets, unique):
    api.post(gadgets.at(), gadgets.make(unique, {})).ok(201)
    assert api.get(gadgets.at(name=unique, sub="scale")).code == 404
