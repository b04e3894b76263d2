# SPDX-License-Identifier: GPL-2.0-or-later
"""patch: JSON patch, merge patch and strategic merge patch."""
import re

import pytest

from lib.objects import configmap, container, deployment, pod, service

OUR_ERROR = "the server rejected our request due to an error in our request"


@pytest.fixture
def cm(ns):
    """The path of a ConfigMap with two keys and a label."""
    ns.create("configmaps", configmap("a", {"k": "1", "l": "2"}, labels={"x": "y"}))
    return ns.url("configmaps", "a")


def test_merge_patch_sets_and_removes(api, cm):
    stored = api.patch(cm, {"data": {"k": "9", "l": None, "m": "3"}}, "merge").ok(200)
    assert stored["data"] == {"k": "9", "m": "3"}
    assert stored["metadata"]["labels"] == {"x": "y"}


def test_merge_patch_replaces_lists_whole(api, ns, widgets):
    spec = {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}]}
    api.post(widgets.at(ns), widgets.make("w", spec)).ok(201)
    stored = api.patch(widgets.at(ns, "w"), {"spec": {"ports": [{"name": "c"}]}}).ok()
    assert stored["spec"]["ports"] == [{"name": "c", "protocol": "TCP"}]


def test_an_empty_patch_changes_nothing(api, cm):
    before = api.get(cm).ok()
    assert api.patch(cm, {}).ok(200) == before


def test_a_patch_that_changes_nothing_keeps_the_version(api, cm):
    before = api.get(cm).ok()
    assert api.patch(cm, {"data": {"k": "1"}}).ok(200) == before


def test_a_patch_may_carry_a_version_as_a_lock(api, cm):
    old = api.get(cm).ok()["metadata"]["resourceVersion"]
    body = {"metadata": {"resourceVersion": old}, "data": {"k": "2"}}
    api.patch(cm, body).ok(200)
    api.patch(cm, {**body, "data": {"k": "3"}}).fails(
        409, "Conflict", re.compile('^Operation cannot be fulfilled on configmaps "a": '))


def test_a_patch_cannot_rename(api, cm):
    api.patch(cm, {"metadata": {"name": "b"}}).fails(
        400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)")


def test_a_patch_of_a_missing_object_is_404(api, ns):
    for kind in ("merge", "strategic"):
        api.patch(ns.url("configmaps", "zz"), {}, kind).fails(
            404, "NotFound", 'configmaps "zz" not found')


def test_a_patch_of_the_wrong_type_is_refused(api, cm):
    assert api.patch(cm, {"data": {"k": 5}}, "merge").code in (400, 422)
    assert api.patch(cm, {"data": "text"}, "merge").code in (400, 422)


@pytest.mark.parametrize("kind", ["merge", "strategic", "json"])
def test_a_malformed_patch_is_a_bad_request(api, cm, kind, minor):
    answer = api.patch(cm, "{not json", kind)
    if kind == "merge" and minor < 24:
        assert answer.json["code"] == 500
    else:
        answer.fails(400, "BadRequest")


def test_a_merge_patch_that_is_no_object_is_refused(api, cm):
    before = api.get(cm).ok()
    assert api.patch(cm, "[1]", "merge").code in (400, 422)
    assert api.get(cm).ok() == before


def test_an_unknown_patch_type_is_415(api, cm):
    api.patch(cm, {}, "application/json").fails(
        415, "UnsupportedMediaType", "415: Unsupported Media Type")


def test_a_custom_resource_takes_no_strategic_merge_patch(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    api.patch(widgets.at(ns, "w"), {}, "strategic").fails(
        415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml")


def test_a_dry_run_patch_is_not_stored(api, cm):
    before = api.get(cm).ok()
    shown = api.patch(cm, {"data": {"k": "9"}}, query={"dryRun": "All"}).ok(200)
    assert shown["data"]["k"] == "9"
    assert api.get(cm).ok() == before


def test_force_is_only_for_apply(api, cm):
    api.patch(cm, {}, query={"force": "true"}).fails(
        422, "Invalid", 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be '
        "specified for non-apply patch")


def test_a_patch_is_validated(api, cm):
    status = api.patch(cm, {"metadata": {"labels": {"x": "not valid!"}}}).fails(422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "metadata.labels"


def test_the_patch_belongs_to_its_field_manager(api, cm):
    stored = api.patch(cm, {"data": {"k": "9"}}, query={"fieldManager": "patcher"}).ok()
    managers = {m["manager"]: m["fieldsV1"] for m in stored["metadata"]["managedFields"]}
    assert managers["patcher"] == {"f:data": {"f:k": {}}}
    assert managers["conformance"] == {
        "f:data": {".": {}, "f:l": {}}, "f:metadata": {"f:labels": {".": {}, "f:x": {}}}}


# JSON patch

@pytest.mark.parametrize("ops, data", [
    ([{"op": "add", "path": "/data/m", "value": "3"}], {"k": "1", "l": "2", "m": "3"}),
    ([{"op": "replace", "path": "/data/k", "value": "9"}], {"k": "9", "l": "2"}),
    ([{"op": "remove", "path": "/data/k"}], {"l": "2"}),
    ([{"op": "copy", "from": "/data/k", "path": "/data/m"}], {"k": "1", "l": "2", "m": "1"}),
    ([{"op": "move", "from": "/data/k", "path": "/data/m"}], {"l": "2", "m": "1"}),
    ([{"op": "test", "path": "/data/k", "value": "1"},
      {"op": "add", "path": "/data/k", "value": "2"}], {"k": "2", "l": "2"}),
    ([{"op": "replace", "path": "/data", "value": {"z": "1"}}], {"z": "1"}),
    ([{"op": "add", "path": "/data/a.b", "value": "1"}], {"k": "1", "l": "2", "a.b": "1"}),
])
def test_json_patch(api, cm, ops, data):
    assert api.patch(cm, ops, "json").ok(200)["data"] == data


def test_json_patch_escapes_slash_and_tilde(api, cm):
    ops = [{"op": "add", "path": "/metadata/annotations", "value": {}},
           {"op": "add", "path": "/metadata/annotations/a.test~1b", "value": "1"}]
    assert api.patch(cm, ops, "json").ok()["metadata"]["annotations"] == {"a.test/b": "1"}


def test_json_patch_indexes_and_appends(api, ns):
    ns.create("services", service("s"))
    ops = [{"op": "add", "path": "/spec/ports/-", "value": {"port": 81, "name": "b"}},
           {"op": "add", "path": "/spec/ports/0/name", "value": "a"}]
    stored = api.patch(ns.url("services", "s"), ops, "json").ok()
    assert [(p["name"], p["port"]) for p in stored["spec"]["ports"]] == [("a", 80), ("b", 81)]


@pytest.mark.parametrize("ops", [
    [{"op": "test", "path": "/data/k", "value": "other"}],
    [{"op": "remove", "path": "/data/none"}],
    [{"op": "replace", "path": "/nowhere/none", "value": 1}],
])
def test_json_patch_that_cannot_be_applied_is_422(api, cm, ops):
    before = api.get(cm).ok()
    status = api.patch(cm, ops, "json").fails(422, "Invalid", OUR_ERROR)
    assert status.get("details") == {}
    assert api.get(cm).ok() == before


def test_json_patch_is_all_or_nothing(api, cm):
    ops = [{"op": "add", "path": "/data/m", "value": "3"}, {"op": "remove", "path": "/data/none"}]
    api.patch(cm, ops, "json").fails(422, "Invalid")
    assert "m" not in api.get(cm).ok()["data"]


def test_json_patch_must_be_a_list(api, cm):
    assert api.patch(cm, {"op": "remove", "path": "/data/k"}, "json").code == 400


# Strategic merge patch

@pytest.fixture
def two(ns):
    """The path of a Deployment with two containers."""
    d = deployment("d")
    d["spec"]["template"]["spec"]["containers"] = [
        container("a", env=[{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
                  ports=[{"containerPort": 80}]),
        container("b", args=["one", "two"]),
    ]
    ns.create("deployments", d)
    return ns.url("deployments", "d")


def in_template(**spec):
    return {"spec": {"template": {"spec": spec}}}


def containers(stored):
    return stored["spec"]["template"]["spec"]["containers"]


def test_strategic_merge_finds_list_items_by_key(api, two):
    body = in_template(containers=[{"name": "b", "image": "new:1"}])
    after = containers(api.patch(two, body, "strategic").ok(200))
    assert [c["name"] for c in after] == ["a", "b"] or [c["name"] for c in after] == ["b", "a"]
    by_name = {c["name"]: c for c in after}
    assert by_name["b"]["image"] == "new:1"
    assert by_name["b"]["args"] == ["one", "two"]
    assert by_name["a"]["image"] == "registry.test/app:1"


def test_strategic_merge_goes_into_nested_lists(api, two):
    body = in_template(containers=[{"name": "a", "env": [{"name": "Y", "value": "9"}]}])
    after = {c["name"]: c for c in containers(api.patch(two, body, "strategic").ok())}
    assert {e["name"]: e["value"] for e in after["a"]["env"]} == {"X": "1", "Y": "9"}


def test_strategic_merge_adds_an_item_with_a_new_key(api, two):
    body = in_template(containers=[container("c")])
    after = containers(api.patch(two, body, "strategic").ok())
    assert sorted(c["name"] for c in after) == ["a", "b", "c"]
    assert next(c for c in after if c["name"] == "c")["imagePullPolicy"] == "IfNotPresent"


def test_strategic_merge_deletes_an_item(api, two):
    body = in_template(containers=[{"name": "a", "$patch": "delete"}])
    assert [c["name"] for c in containers(api.patch(two, body, "strategic").ok())] == ["b"]


def test_strategic_merge_replaces_a_list(api, two):
    body = in_template(containers=[container("z"), {"$patch": "replace"}])
    assert [c["name"] for c in containers(api.patch(two, body, "strategic").ok())] == ["z"]


def test_strategic_merge_replaces_a_map(api, two):
    api.patch(two, {"metadata": {"labels": {"a": "1", "b": "2"}}}, "strategic").ok()
    body = {"metadata": {"labels": {"$patch": "replace", "c": "3"}}}
    assert api.patch(two, body, "strategic").ok()["metadata"]["labels"] == {"c": "3"}


def test_strategic_merge_sets_the_order(api, two):
    body = in_template(**{
        "$setElementOrder/containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}],
        "containers": [container("c")],
    })
    after = containers(api.patch(two, body, "strategic").ok())
    assert [c["name"] for c in after] == ["b", "c", "a"]


def test_strategic_merge_replaces_plain_lists(api, two):
    body = in_template(containers=[{"name": "b", "args": ["three"]}])
    after = {c["name"]: c for c in containers(api.patch(two, body, "strategic").ok())}
    assert after["b"]["args"] == ["three"]


def test_strategic_merge_removes_a_field_with_null(api, two):
    body = in_template(containers=[{"name": "b", "args": None}])
    after = {c["name"]: c for c in containers(api.patch(two, body, "strategic").ok())}
    assert "args" not in after["b"]


def test_strategic_merge_keeps_only_retained_keys(api, two):
    body = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert api.patch(two, body, "strategic").ok()["spec"]["strategy"] == {"type": "Recreate"}


def test_strategic_merge_retains_keys_of_a_volume(api, two):
    body = in_template(volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}])
    api.patch(two, body, "strategic").ok()
    body = in_template(volumes=[{"name": "v", "$retainKeys": ["name", "configMap"],
                                 "configMap": {"name": "cm"}}])
    volume, = api.patch(two, body, "strategic").ok()["spec"]["template"]["spec"]["volumes"]
    assert volume == {"name": "v", "configMap": {"name": "cm", "defaultMode": 420}}


def test_strategic_merge_of_finalizers_adds(api, cm):
    api.patch(cm, {"metadata": {"finalizers": ["conformance.test/a"]}}, "strategic").ok()
    stored = api.patch(cm, {"metadata": {"finalizers": ["conformance.test/b"]}}, "strategic").ok()
    assert sorted(stored["metadata"]["finalizers"]) == ["conformance.test/a", "conformance.test/b"]
    body = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["conformance.test/a"]}}
    stored = api.patch(cm, body, "strategic").ok()
    assert stored["metadata"]["finalizers"] == ["conformance.test/b"]
    api.patch(cm, {"metadata": {"finalizers": None}}).ok()


def test_strategic_merge_of_service_ports_goes_by_port(api, ns):
    ports = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
    ns.create("services", service("s", ports=ports))
    body = {"spec": {"ports": [{"port": 81, "targetPort": 8081}]}}
    stored = api.patch(ns.url("services", "s"), body, "strategic").ok()
    assert sorted((p["port"], p["name"], p["targetPort"]) for p in stored["spec"]["ports"]) == [
        (80, "a", 80), (81, "b", 8081)]


def test_strategic_merge_of_conditions_goes_by_type(api, ns):
    ns.create("pods", pod("p"))
    url = ns.url("pods", "p", "status")
    for kind in ("Ready", "Initialized"):
        body = {"status": {"conditions": [{"type": kind, "status": "True"}]}}
        stored = api.patch(url, body, "strategic").ok()
    assert {c["type"] for c in stored["status"]["conditions"]} >= {"Ready", "Initialized"}


def test_strategic_merge_of_owner_references_goes_by_uid(api, ns, cm):
    live = [ns.create("secrets", {"metadata": {"name": n}}) for n in "xy"]
    for made in live:
        owner = {"apiVersion": "v1", "kind": "Secret", "name": made["metadata"]["name"],
                 "uid": made["metadata"]["uid"]}
        stored = api.patch(cm, {"metadata": {"ownerReferences": [owner]}}, "strategic").ok()
    assert sorted(o["name"] for o in stored["metadata"]["ownerReferences"]) == ["x", "y"]


def test_strategic_merge_without_the_key_is_refused(api, two):
    assert api.patch(two, in_template(containers=[{"image": "x"}]), "strategic").code in (
        400, 422, 500)


@pytest.mark.since(30, "older ones say 400 for some")
@pytest.mark.parametrize("kind, body", [
    ("merge", {"data": {"a": 5}}), ("strategic", {"data": 5}),
    ("json", [{"op": "add", "path": "/data", "value": "x"}]),
])
def test_a_patch_whose_outcome_is_no_such_object_is_invalid(api, ns, kind, body):
    ns.create("configmaps", configmap("c", {"a": "1"}))
    status = api.patch(ns.url("configmaps", "c"), body, kind).fails(422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "patch"
