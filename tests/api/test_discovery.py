# SPDX-License-Identifier: GPL-2.0-or-later
"""Discovery (legacy and aggregated), version and health."""
import re

import pytest

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

# Resources that the embedded server promises: (group version, name, kind, namespaced, short names).
BUILTIN = [
    ("v1", "namespaces", "Namespace", False, ["ns"]),
    ("v1", "pods", "Pod", True, ["po"]),
    ("v1", "services", "Service", True, ["svc"]),
    ("v1", "endpoints", "Endpoints", True, ["ep"]),
    ("v1", "configmaps", "ConfigMap", True, ["cm"]),
    ("v1", "secrets", "Secret", True, []),
    ("v1", "serviceaccounts", "ServiceAccount", True, ["sa"]),
    ("v1", "events", "Event", True, ["ev"]),
    ("v1", "nodes", "Node", False, ["no"]),
    ("v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, ["pvc"]),
    ("apps/v1", "statefulsets", "StatefulSet", True, ["sts"]),
    ("apps/v1", "deployments", "Deployment", True, ["deploy"]),
    ("apps/v1", "replicasets", "ReplicaSet", True, ["rs"]),
    ("apps/v1", "controllerrevisions", "ControllerRevision", True, []),
    ("batch/v1", "jobs", "Job", True, []),
    ("coordination.k8s.io/v1", "leases", "Lease", True, []),
    ("events.k8s.io/v1", "events", "Event", True, ["ev"]),
    ("rbac.authorization.k8s.io/v1", "roles", "Role", True, []),
    ("rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding", True, []),
    ("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", False, []),
    ("rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding", False, []),
    ("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", False,
     ["crd", "crds"]),
]
VERBS = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
CATEGORY_ALL = {"pods", "services", "statefulsets", "deployments", "replicasets", "jobs"}


def resources(api, version):
    path = "/api/v1" if version == "v1" else "/apis/" + version
    answer = api.get(path).ok(200)
    assert answer["kind"] == "APIResourceList"
    assert answer["groupVersion"] == version
    return {r["name"]: r for r in answer["resources"]}


@pytest.mark.parametrize("version, name, kind, namespaced, short", BUILTIN,
                         ids=[f"{b[0]}/{b[1]}" for b in BUILTIN])
def test_a_builtin_resource(api, version, name, kind, namespaced, short, minor):
    found = resources(api, version)[name]
    assert (found["kind"], found["namespaced"]) == (kind, namespaced)
    assert found.get("shortNames", []) == short
    single = name == "namespaces" or (name == "services" and minor < 23)
    assert set(found["verbs"]) == (VERBS - {"deletecollection"} if single else VERBS)
    assert ("all" in found.get("categories", [])) == (name in CATEGORY_ALL)


@pytest.mark.parametrize("version, name, kind, verbs", [
    ("v1", "pods/status", "Pod", {"get", "patch", "update"}),
    ("v1", "pods/log", "Pod", {"get"}),
    ("v1", "pods/exec", "PodExecOptions", {"create", "get"}),
    ("v1", "pods/attach", "PodAttachOptions", {"create", "get"}),
    ("v1", "pods/portforward", "PodPortForwardOptions", {"create", "get"}),
    ("v1", "pods/binding", "Binding", {"create"}),
    ("v1", "pods/eviction", "Eviction", {"create"}),
    ("v1", "namespaces/finalize", "Namespace", {"update"}),
    ("v1", "namespaces/status", "Namespace", {"get", "patch", "update"}),
    ("v1", "nodes/status", "Node", {"get", "patch", "update"}),
    ("v1", "serviceaccounts/token", "TokenRequest", {"create"}),
    ("apps/v1", "deployments/status", "Deployment", {"get", "patch", "update"}),
    ("apps/v1", "deployments/scale", "Scale", {"get", "patch", "update"}),
    ("apps/v1", "statefulsets/scale", "Scale", {"get", "patch", "update"}),
    ("apps/v1", "replicasets/scale", "Scale", {"get", "patch", "update"}),
    ("batch/v1", "jobs/status", "Job", {"get", "patch", "update"}),
    ("apiextensions.k8s.io/v1", "customresourcedefinitions/status", "CustomResourceDefinition",
     {"get", "patch", "update"}),
])
def test_a_subresource(api, version, name, kind, verbs):
    found = resources(api, version)[name]
    assert found["kind"] == kind
    assert set(found["verbs"]) == verbs
    if kind == "Scale":
        assert (found["group"], found["version"]) == ("autoscaling", "v1")
    if kind == "Eviction":
        assert found["group"] == "policy"


def test_singular_names(api, minor):
    found = resources(api, "v1")["pods"]["singularName"]
    assert found == ("pod" if minor >= 27 else "")


def test_disruption_budgets(api, minor):
    versions = ["policy/v1beta1"] if minor < 21 else ["policy/v1"]
    for version in versions:
        assert resources(api, version)["poddisruptionbudgets"]["shortNames"] == ["pdb"]


def test_the_core_versions(api):
    answer = api.get("/api").ok(200)
    assert answer["kind"] == "APIVersions"
    assert answer["versions"] == ["v1"]
    assert "serverAddressByClientCIDRs" in answer


def test_the_groups(api):
    answer = api.get("/apis").ok(200)
    assert (answer["kind"], answer["apiVersion"]) == ("APIGroupList", "v1")
    groups = {g["name"]: g for g in answer["groups"]}
    assert set(groups) >= {"apps", "batch", "policy", "coordination.k8s.io", "events.k8s.io",
                           "rbac.authorization.k8s.io", "apiextensions.k8s.io",
                           "authorization.k8s.io"}
    assert groups["apps"]["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}
    assert {"groupVersion": "apps/v1", "version": "v1"} in groups["apps"]["versions"]


def test_one_group(api):
    answer = api.get("/apis/apps").ok(200)
    assert (answer["kind"], answer["apiVersion"]) == ("APIGroup", "v1")
    assert answer["name"] == "apps"


@pytest.mark.parametrize("path", ["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])
def test_discovery_is_plain_json(api, path):
    assert api.get(path).type == "application/json"
    assert api.get(path, query={"timeout": "32s"}).code == 200


@pytest.mark.parametrize("path", ["/api", "/apis"])
@pytest.mark.before(26, "aggregated discovery exists")
def test_aggregated_discovery_falls_back(api, path):
    answer = api.get(path, accept=f"{V2},{V2BETA1},application/json")
    assert answer.type == "application/json"
    assert answer.ok()["kind"] in ("APIVersions", "APIGroupList")


@pytest.mark.since(30, "aggregated discovery is v2")
@pytest.mark.parametrize("path", ["/api", "/apis"])
@pytest.mark.parametrize("accept, version", [
    (V2, "v2"), pytest.param(V2BETA1, "v2beta1", marks=pytest.mark.before(35, "v2 has come"))])
def test_aggregated_discovery(api, path, accept, version):
    answer = api.get(path, accept=accept + ",application/json")
    assert answer.type == accept
    doc = answer.ok(200)
    assert (doc["kind"], doc["apiVersion"]) == (
        "APIGroupDiscoveryList", "apidiscovery.k8s.io/" + version)
    groups = {g.get("metadata", {}).get("name", ""): g for g in doc["items"]}
    group, resource = ("", "pods") if path == "/api" else ("apps", "deployments")
    first = groups[group]["versions"][0]
    assert (first["version"], first["freshness"]) == ("v1", "Current")
    found = {r["resource"]: r for r in first["resources"]}[resource]
    assert found["scope"] == "Namespaced"
    assert found["responseKind"]["kind"] in ("Pod", "Deployment")
    assert found["singularResource"] == resource.rstrip("s")
    assert set(found["verbs"]) == VERBS
    subs = {s["subresource"]: s for s in found["subresources"]}
    assert subs["status"]["responseKind"]["kind"] == found["responseKind"]["kind"]


@pytest.mark.since(30, "aggregated discovery is v2")
def test_aggregated_discovery_is_revalidated(api):
    first = api.get("/apis", accept=V2)
    etag = first.headers["ETag"]
    assert re.match(r'^"[0-9A-Fa-f]{128}"$', etag)
    assert "Accept" in first.headers["Vary"]
    again = api.get("/apis", accept=V2, headers={"If-None-Match": etag})
    assert (again.code, again.body) == (304, b"")


@pytest.mark.since(30, "aggregated discovery is v2")
def test_custom_resources_are_in_aggregated_discovery(api, widgets):
    def find(answer):
        for g in answer.json["items"]:
            if g["metadata"]["name"] == widgets.group:
                return {r["resource"]: r for r in g["versions"][0]["resources"]}
        return {}

    found = find(api.until("/apis", lambda a: "widgets" in find(a), accept=V2))["widgets"]
    assert found["responseKind"] == {"group": widgets.group, "version": "v1", "kind": "Widget"}
    assert found["shortNames"] == [widgets.short]
    assert found["categories"] == [widgets.category]
    assert {s["subresource"] for s in found["subresources"]} == {"status", "scale"}


def test_the_version(api):
    answer = api.get("/version").ok(200)
    assert answer["major"] == "1"
    assert re.match(r"^\d+\+?$", answer["minor"])
    assert re.match(r"^v1\.\d+\.\d+", answer["gitVersion"])
    assert set(answer) >= {"gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler",
                           "platform"}


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz"])
def test_health(api, path):
    answer = api.get(path, accept="*/*")
    assert (answer.code, answer.text) == (200, "ok")
    assert answer.type.startswith("text/plain")


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_verbose_health(api, path):
    text = api.get(path, accept="*/*", query={"verbose": ""}).text
    assert re.search(r"^\[\+\]\S+ ok$", text, re.M)
    assert text.rstrip().endswith(f"{path[1:]} check passed")


def test_metrics(api):
    answer = api.get("/metrics", accept="*/*")
    assert answer.code == 200
    assert answer.type.startswith("text/plain")
    assert re.search(r"^# TYPE \S+ \S+$", answer.text, re.M)


def test_further_servers_have_a_group(api):
    """Some clients look for it before anything else; ours has no further servers."""
    groups = [g["name"] for g in api.get("/apis").ok(200)["groups"]]
    assert groups[0] == "apiregistration.k8s.io"
    listed = api.get("/apis/apiregistration.k8s.io/v1").ok(200)["resources"]
    kinds = {r["name"]: r for r in listed}
    assert kinds["apiservices"]["kind"] == "APIService" and not kinds["apiservices"]["namespaced"]
    answer = api.get("/apis/apiregistration.k8s.io/v1/apiservices").ok(200)
    assert answer["kind"] == "APIServiceList" and isinstance(answer["items"], list)
    api.get("/apis/apiregistration.k8s.io/v1/apiservices/v1.no.such").fails(404, "NotFound")


@pytest.mark.embedded
def test_no_server_can_be_added(api):
    body = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
            "metadata": {"name": "v1.x.test"}, "spec": {"group": "x.test", "version": "v1"}}
    api.post("/apis/apiregistration.k8s.io/v1/apiservices", body).fails(405, "MethodNotAllowed")
