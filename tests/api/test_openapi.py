# SPDX-License-Identifier: GPL-2.0-or-later
"""OpenAPI v2 (JSON and the protobuf form that kubectl asks for) and v3."""
import functools

import pytest
import yaml

from lib import proto

V2_PROTO = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


@functools.lru_cache(None)
def v2_json(api):
    answer = api.get("/openapi/v2")
    assert answer.code == 200
    return answer.json


@functools.lru_cache(None)
def v2_proto(api):
    answer = api.get("/openapi/v2", accept=V2_PROTO)
    assert answer.code == 200
    return answer


def kinds(extension):
    """{(group, version, kind)} of an x-kubernetes-group-version-kind."""
    items = extension if isinstance(extension, list) else [extension or {}]
    return {(k.get("group"), k.get("version"), k.get("kind")) for k in items}


def test_v2_is_a_swagger_document(api):
    doc = v2_json(api)
    assert doc["swagger"] == "2.0"
    assert set(doc) >= {"info", "paths", "definitions"}


@pytest.mark.parametrize("name, field", [
    ("io.k8s.api.core.v1.Pod", "spec"), ("io.k8s.api.core.v1.ConfigMap", "data"),
    ("io.k8s.api.apps.v1.Deployment", "status"), ("io.k8s.api.coordination.v1.Lease", "spec"),
    ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "finalizers"),
])
def test_v2_defines_the_builtin_kinds(api, name, field):
    definition = v2_json(api)["definitions"][name]
    assert field in definition["properties"]


def test_v2_names_the_kind_of_a_definition(api):
    definition = v2_json(api)["definitions"]["io.k8s.api.apps.v1.Deployment"]
    assert ("apps", "v1", "Deployment") in kinds(definition["x-kubernetes-group-version-kind"])


def test_v2_has_the_merge_keys(api):
    spec = v2_json(api)["definitions"]["io.k8s.api.core.v1.PodSpec"]["properties"]
    assert spec["containers"]["x-kubernetes-patch-merge-key"] == "name"
    assert spec["containers"]["x-kubernetes-patch-strategy"] == "merge"
    assert "retainKeys" in spec["volumes"]["x-kubernetes-patch-strategy"]
    ports = v2_json(api)["definitions"]["io.k8s.api.core.v1.ServiceSpec"]["properties"]["ports"]
    assert ports["x-kubernetes-list-type"] == "map"
    assert ports["x-kubernetes-list-map-keys"] == ["port", "protocol"]


def test_v2_says_that_patch_takes_a_dry_run(api):
    path = v2_json(api)["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]
    patch = path["patch"]
    assert kinds(patch["x-kubernetes-group-version-kind"]) == {("", "v1", "ConfigMap")}
    assert "dryRun" in [p.get("name") for p in patch["parameters"]]


def test_v2_is_revalidated_by_etag(api):
    first = v2_proto(api)
    again = api.get("/openapi/v2", accept=V2_PROTO, headers={
        "If-None-Match": first.headers["ETag"]})
    assert again.code in (200, 304)
    if again.headers.get("ETag") == first.headers["ETag"]:
        assert (again.code, again.body) == (304, b"")


def test_v2_protobuf_has_an_acceptable_type(api):
    kind = v2_proto(api).type
    assert "@" not in kind
    assert kind in ("application/octet-stream",
                    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")


def definitions(api):
    """{name: Schema message} of the protobuf document."""
    found = proto.first(v2_proto(api).body, 9)
    return {proto.first(d, 1).decode(): proto.first(d, 2) for d in proto.every(found, 1)}


def properties(schema):
    return {proto.first(p, 1).decode(): proto.first(p, 2)
            for p in proto.every(proto.first(schema, 25), 1)}


def test_v2_protobuf_is_a_swagger_document(api):
    assert proto.first(v2_proto(api).body, 1) == b"2.0"
    assert proto.first(v2_proto(api).body, 2, 1) is not None


def test_v2_protobuf_defines_the_builtin_kinds(api):
    found = definitions(api)
    fields = properties(found["io.k8s.api.core.v1.ConfigMap"])
    assert set(fields) >= {"apiVersion", "kind", "metadata", "data", "binaryData"}
    assert proto.first(fields["metadata"], 1).decode().endswith(".ObjectMeta")
    extensions = {proto.first(e, 1).decode(): proto.first(e, 2, 2)
                  for e in proto.every(found["io.k8s.api.core.v1.ConfigMap"], 31)}
    gvk = yaml.safe_load(extensions["x-kubernetes-group-version-kind"])
    assert kinds(gvk) == {("", "v1", "ConfigMap")}


def test_v2_protobuf_says_that_patch_takes_a_dry_run(api):
    for item in proto.every(proto.first(v2_proto(api).body, 8), 2):
        if proto.first(item, 1) == b"/apis/apps/v1/namespaces/{namespace}/deployments/{name}":
            break
    else:
        pytest.fail("no path for deployments")
    patch = proto.first(item, 2, 8)
    names = [proto.first(p, 1, 2, 3, 4) for p in proto.every(patch, 8)]
    assert b"dryRun" in names


def test_v2_knows_custom_resources(api, widgets):
    name = ".".join(reversed(widgets.group.split("."))) + ".v1.Widget"
    answer = api.until("/openapi/v2", lambda a: name in a.json["definitions"])
    definition = answer.json["definitions"][name]
    assert definition["description"] == "A test widget."
    assert "size" in definition["properties"]["spec"]["properties"]
    assert kinds(definition["x-kubernetes-group-version-kind"]) == {
        (widgets.group, "v1", "Widget")}
    path = f"/apis/{widgets.group}/v1/namespaces/{{namespace}}/widgets/{{name}}"
    assert "patch" in answer.json["paths"][path]


@pytest.mark.before(24, "OpenAPI v3 exists")
def test_v3_is_404_where_it_does_not_exist(api):
    assert api.get("/openapi/v3").code == 404


@pytest.mark.since(27, "OpenAPI v3 is GA")
def test_v3_lists_the_group_versions(api):
    paths = api.get("/openapi/v3").ok(200)["paths"]
    assert set(paths) >= {"api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1"}
    assert paths["apis/apps/v1"]["serverRelativeURL"].startswith("/openapi/v3/apis/apps/v1?hash=")


@pytest.mark.since(27, "OpenAPI v3 is GA")
def test_v3_of_a_group_version(api):
    url = api.get("/openapi/v3").ok()["paths"]["apis/apps/v1"]["serverRelativeURL"]
    answer = api.get(url)
    doc = answer.ok(200)
    assert doc["openapi"].startswith("3.")
    schema = doc["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"]
    assert ("apps", "v1", "Deployment") in kinds(schema["x-kubernetes-group-version-kind"])
    patch = doc["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert kinds(patch["x-kubernetes-group-version-kind"]) == {("apps", "v1", "Deployment")}
    assert {"dryRun", "fieldValidation"} <= {p.get("name") for p in patch["parameters"]}
    assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]
    assert "immutable" in answer.headers["Cache-Control"]
    etag = answer.headers["ETag"]
    assert api.get(url, headers={"If-None-Match": etag}).code == 304


@pytest.mark.since(27, "OpenAPI v3 is GA")
def test_v3_redirects_an_outdated_hash(api):
    answer = api.get("/openapi/v3/apis/apps/v1?hash=OUTDATED")
    assert answer.code == 301
    assert "/openapi/v3/apis/apps/v1?hash=" in answer.headers["Location"]


@pytest.mark.since(27, "OpenAPI v3 is GA")
def test_v3_knows_custom_resources(api, widgets):
    key = f"apis/{widgets.group}/v1"
    answer = api.until("/openapi/v3", lambda a: key in a.json["paths"])
    doc = api.get(answer.json["paths"][key]["serverRelativeURL"]).ok(200)
    name = ".".join(reversed(widgets.group.split("."))) + ".v1.Widget"
    spec = doc["components"]["schemas"][name]["properties"]["spec"]
    assert spec["properties"]["size"]["enum"] == ["small", "large"]
