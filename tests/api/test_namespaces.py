# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of a namespace: defaults, content, termination, protection."""
import pytest

from lib.objects import configmap, namespace, pod, secret


def test_a_namespace_is_active_and_finalized_by_kubernetes(api, ns, minor):
    stored = api.get("/api/v1/namespaces/" + ns.name).ok()
    assert stored["spec"]["finalizers"] == ["kubernetes"]
    assert stored["status"]["phase"] == "Active"
    if minor >= 21:
        assert stored["metadata"]["labels"]["kubernetes.io/metadata.name"] == ns.name


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public", "kube-node-lease"])
def test_the_usual_namespaces_exist(api, name):
    assert api.get("/api/v1/namespaces/" + name).ok()["status"]["phase"] == "Active"


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_the_usual_namespaces_cannot_be_deleted(api, name):
    api.delete("/api/v1/namespaces/" + name).fails(
        403, "Forbidden", f'namespaces "{name}" is forbidden: this namespace may not be deleted')


def test_a_default_service_account_appears(api, ns):
    api.until(ns.url("serviceaccounts", "default"), lambda a: a.code == 200)


def test_the_root_certificate_appears(api, ns):
    answer = api.until(ns.url("configmaps", "kube-root-ca.crt"), lambda a: a.code == 200)
    assert "BEGIN CERTIFICATE" in answer.ok()["data"]["ca.crt"]


def test_deletion_takes_the_content_and_then_the_namespace(api, spaces, widgets):
    space = spaces()
    url = "/api/v1/namespaces/" + space.name
    space.create("configmaps", configmap("a"))
    space.create("secrets", secret("a"))
    space.create("pods", pod("a"))
    api.post(widgets.at(space), widgets.make("a", {})).ok(201)
    gone = api.delete(url).ok(200)
    assert gone["kind"] == "Namespace"
    assert gone["status"]["phase"] == "Terminating"
    assert "deletionTimestamp" in gone["metadata"]
    api.until_gone(url)
    for path in (space.url("configmaps", "a"), space.url("secrets", "a"), space.url("pods", "a"),
                 widgets.at(space, "a")):
        api.get(path).fails(404, "NotFound")
    api.post("/api/v1/namespaces", namespace(space.name)).ok(201)
    api.get(space.url("configmaps", "a")).fails(404, "NotFound")


@pytest.fixture
def ending(api, ns):
    """A namespace that is being deleted and holds on to one ConfigMap."""
    ns.create("configmaps", configmap("held", finalizers=["conformance.test/hold"]))
    api.delete("/api/v1/namespaces/" + ns.name).ok(200)
    yield ns
    api.patch(ns.url("configmaps", "held"), {"metadata": {"finalizers": None}})


def test_a_terminating_namespace_takes_no_new_content(api, ending):
    status = api.post(ending.url("configmaps"), configmap("new")).fails(
        403, "Forbidden", 'configmaps "new" is forbidden: unable to create new content in '
        f"namespace {ending.name} because it is being terminated")
    assert status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    assert api.get("/api/v1/namespaces/" + ending.name).ok()["status"]["phase"] == "Terminating"


def test_what_is_held_in_a_terminating_namespace_can_be_changed(api, ending):
    api.patch(ending.url("configmaps", "held"), {"data": {"k": "v"}}).ok(200)


def test_a_terminating_namespace_may_be_deleted_again(api, ending):
    assert api.delete("/api/v1/namespaces/" + ending.name).code in (200, 409)


def test_the_finalize_subresource(api, unique):
    made = api.post("/api/v1/namespaces", namespace(unique)).ok(201)
    made["spec"]["finalizers"] = ["kubernetes", "conformance.test/hold"]
    url = "/api/v1/namespaces/" + unique
    stored = api.put(url + "/finalize", made).ok(200)
    assert stored["spec"]["finalizers"] == ["kubernetes", "conformance.test/hold"]
    api.delete(url).ok(200)
    api.until(url, lambda a: "kubernetes" not in a.json["spec"].get("finalizers", []))
    held = api.get(url).ok()
    assert held["spec"]["finalizers"] == ["conformance.test/hold"]
    held["spec"] = {}
    api.put(url + "/finalize", held).ok(200)
    api.until_gone(url)


def test_deletecollection_of_namespaces_is_not_allowed(api):
    api.delete("/api/v1/namespaces").fails(405, "MethodNotAllowed")


def test_a_cluster_wide_kind_takes_no_namespace(api, ns):
    answer = api.get(f"/api/v1/namespaces/{ns.name}/nodes")
    assert answer.code == 404


def test_a_namespaced_kind_is_not_created_cluster_wide(api):
    assert api.post("/api/v1/configmaps", configmap("a")).code == 405


@pytest.mark.embedded  # elsewhere the controller manager does it
def test_a_namespace_of_the_system_comes_back(api):
    path = "/api/v1/namespaces/kube-node-lease"
    uid = api.get(path).ok(200)["metadata"]["uid"]
    api.delete(path).ok(200)
    api.until(path, lambda a: a.code == 200 and a.json["metadata"]["uid"] != uid)


def test_the_server_has_a_service(api):
    url = "/api/v1/namespaces/default/services/kubernetes"
    api.until(url, lambda a: a.code == 200)
    service = api.get(url).ok(200)
    assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    spec = service["spec"]
    assert spec["type"] == "ClusterIP" and spec["clusterIP"].endswith(".1")
    assert [(p["name"], p["port"], p["protocol"]) for p in spec["ports"]] == [("https", 443, "TCP")]
    assert not spec.get("selector")


@pytest.mark.embedded
def test_the_service_of_the_server_comes_back(api):
    url = "/api/v1/namespaces/default/services/kubernetes"
    api.until(url, lambda a: a.code == 200)
    before = api.get(url).ok(200)
    api.delete(url).ok(200)
    api.until(url, lambda a: a.code == 200)
    after = api.get(url).ok(200)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"]["clusterIP"] == before["spec"]["clusterIP"]
