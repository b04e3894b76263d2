# SPDX-License-Identifier: GPL-2.0-or-later
"""Server-side apply: ownership, conflicts, force, removal, lists, managedFields."""
import re

import pytest

from lib.objects import claim, configmap, container, deployment, job, pod, service, without


def entries(stored):
    """managedFields without times, by (manager, operation)."""
    return {(m["manager"], m["operation"]): m["fieldsV1"]
            for m in stored["metadata"]["managedFields"]}


@pytest.fixture
def cm(ns):
    return ns.url("configmaps", "a")


@pytest.fixture
def wd(ns, widgets):
    """The path of a Widget, and a maker of its applied configurations."""
    return widgets.at(ns, "w"), lambda **spec: widgets.make("w", spec)


def test_apply_creates_with_201_then_200(api, cm):
    made = api.apply(cm, configmap("a", {"k": "1"}), "A").ok(201)
    assert made["data"] == {"k": "1"}
    assert api.apply(cm, configmap("a", {"k": "2"}), "A").ok(200)["data"] == {"k": "2"}


def test_apply_takes_yaml(api, cm):
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: one\n"
    assert api.apply(cm, body, "A").ok(201)["data"] == {"k": "one"}


def test_the_entry_of_an_apply(api, cm):
    made = api.apply(cm, configmap("a", {"k": "1"}, labels={"x": "y"}), "A").ok()
    entry, = made["metadata"]["managedFields"]
    assert re.match(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", entry["time"])
    assert without(entry, "time") == {
        "manager": "A", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:k": {}}, "f:metadata": {"f:labels": {"f:x": {}}}},
    }


def test_a_field_manager_is_required(api, cm):
    api.patch(cm, configmap("a"), "apply").fails(
        422, "Invalid", 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: '
        "is required for apply patch")


def test_the_same_apply_again_changes_nothing(api, cm):
    made = api.apply(cm, configmap("a", {"k": "1"}), "A").ok(201)
    assert api.apply(cm, configmap("a", {"k": "1"}), "A").ok(200) == made


def test_a_field_left_out_is_removed(api, cm):
    api.apply(cm, configmap("a", {"k": "1", "l": "2"}), "A").ok()
    assert api.apply(cm, configmap("a", {"k": "1"}), "A").ok()["data"] == {"k": "1"}


def test_a_field_of_another_manager_is_kept(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    stored = api.apply(cm, configmap("a", {"l": "2"}), "B").ok()
    assert stored["data"] == {"k": "1", "l": "2"}
    assert entries(stored) == {
        ("A", "Apply"): {"f:data": {"f:k": {}}}, ("B", "Apply"): {"f:data": {"f:l": {}}}}


def test_equal_values_are_owned_together(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    stored = api.apply(cm, configmap("a", {"k": "1"}), "B").ok()
    assert set(entries(stored)) == {("A", "Apply"), ("B", "Apply")}
    stored = api.apply(cm, configmap("a"), "A").ok()
    assert stored["data"] == {"k": "1"}
    assert set(entries(stored)) == {("B", "Apply")}
    assert "data" not in api.apply(cm, configmap("a"), "B").ok()


def test_a_conflict_names_the_manager_and_the_field(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    status = api.apply(cm, configmap("a", {"k": "2"}), "B").fails(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "A": .data.k')
    assert status["details"] == {"causes": [{
        "reason": "FieldManagerConflict", "message": 'conflict with "A"', "field": ".data.k"}]}
    assert api.get(cm).ok()["data"] == {"k": "1"}


def test_a_conflict_with_an_updater_names_its_version(api, ns, cm):
    ns.create("configmaps", configmap("a", {"k": "1"}), query={"fieldManager": "U"})
    status = api.apply(cm, configmap("a", {"k": "2"}), "A").fails(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "U" using v1: .data.k')
    assert status["details"]["causes"][0]["message"] == 'conflict with "U" using v1'


def test_a_conflict_on_a_custom_resource_names_its_version(api, wd, widgets):
    url, make = wd
    api.post(url.rsplit("/", 1)[0], make(replicas=1), query={"fieldManager": "U"}).ok(201)
    api.apply(url, make(replicas=2), "A").fails(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "U" using '
        f"{widgets.api_version}: .spec.replicas")


def test_several_conflicts_are_grouped_by_manager(api, ns, cm):
    ns.create("configmaps", configmap("a", {"c": "1", "d": "1"}), query={"fieldManager": "U"})
    api.apply(cm, configmap("a", {"b": "1"}), "A").ok()
    status = api.apply(cm, configmap("a", {"b": "2", "c": "2", "d": "2"}), "B").fails(
        409, "Conflict", 'Apply failed with 3 conflicts: conflicts with "A":\n- .data.b\n'
        'conflicts with "U" using v1:\n- .data.c\n- .data.d')
    assert sorted(c["field"] for c in status["details"]["causes"]) == [
        ".data.b", ".data.c", ".data.d"]


def test_force_takes_the_field(api, cm):
    api.apply(cm, configmap("a", {"k": "1", "l": "1"}), "A").ok()
    stored = api.apply(cm, configmap("a", {"k": "2"}), "B", force=True).ok(200)
    assert stored["data"] == {"k": "2", "l": "1"}
    assert entries(stored) == {
        ("A", "Apply"): {"f:data": {"f:l": {}}}, ("B", "Apply"): {"f:data": {"f:k": {}}}}


def test_an_update_takes_a_field_without_conflict(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    stored = api.patch(cm, {"data": {"k": "2"}}, query={"fieldManager": "U"}).ok()
    assert entries(stored) == {("U", "Update"): {"f:data": {"f:k": {}}}}
    api.apply(cm, configmap("a", {"k": "1"}), "A").fails(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "U" using v1: .data.k')


def test_an_update_of_the_same_value_leaves_the_owner(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    stored = api.patch(cm, {"data": {"k": "1"}}, query={"fieldManager": "U"}).ok()
    assert set(entries(stored)) == {("A", "Apply")}


def test_a_field_removed_by_an_update_leaves_all_sets(api, cm):
    api.apply(cm, configmap("a", {"k": "1", "l": "2"}), "A").ok()
    stored = api.patch(cm, {"data": {"k": None}}, query={"fieldManager": "U"}).ok()
    assert entries(stored) == {("A", "Apply"): {"f:data": {"f:l": {}}}}


def test_one_manager_may_both_apply_and_update(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    stored = api.patch(cm, {"data": {"l": "1"}}, query={"fieldManager": "A"}).ok()
    assert set(entries(stored)) == {("A", "Apply"), ("A", "Update")}


def test_entries_are_in_order_of_operation(api, ns, cm):
    ns.create("configmaps", configmap("a", {"k": "1"}), query={"fieldManager": "A"})
    stored = api.apply(cm, configmap("a", {"l": "1"}), "B").ok()
    assert [(m["manager"], m["operation"]) for m in stored["metadata"]["managedFields"]] == [
        ("B", "Apply"), ("A", "Update")]


def test_apply_refuses_managed_fields(api, cm):
    body = configmap("a", managedFields=[{"manager": "x"}])
    api.apply(cm, body, "A").fails(400, "BadRequest", "metadata.managedFields must be nil")


def test_a_version_in_apply_is_a_lock(api, cm):
    old = api.apply(cm, configmap("a", {"k": "1"}), "A").ok()["metadata"]["resourceVersion"]
    api.apply(cm, configmap("a", {"k": "2"}, resourceVersion=old), "A").ok(200)
    api.apply(cm, configmap("a", {"k": "3"}, resourceVersion=old), "A").fails(409, "Conflict")


def test_a_dry_run_apply_is_not_stored(api, cm):
    made = api.apply(cm, configmap("a", {"k": "1"}), "A", query={"dryRun": "All"}).ok(201)
    assert made["data"] == {"k": "1"}
    api.get(cm).fails(404, "NotFound")


def test_the_name_is_required(api, cm):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "1"}}
    api.apply(cm, body, "A").fails(400, "BadRequest", re.compile("name must be provided"))


def test_another_name_is_refused(api, cm):
    api.apply(cm, configmap("b"), "A").fails(400, "BadRequest")


@pytest.mark.parametrize("body", [{}, {"apiVersion": "v1"}, {"kind": "ConfigMap"},
                                  {"apiVersion": "v2", "kind": "ConfigMap"},
                                  {"apiVersion": "v1", "kind": "Secret"}])
def test_kind_and_version_are_required(api, ns, cm, body):
    ns.create("configmaps", configmap("a"))
    assert api.apply(cm, {**body, "metadata": {"name": "a"}}, "A").code in (400, 500)


def test_a_malformed_body_is_refused(api, cm):
    api.apply(cm, "{: [", "A").fails(400, "BadRequest", re.compile("^error decoding YAML: "))


def test_an_unknown_field_is_named(api, cm):
    answer = api.apply(cm, {**configmap("a"), "bogus": 1}, "A")
    assert answer.code in (400, 500)
    assert ".bogus: field not declared in schema" in answer.json["message"]
    if answer.code == 500:
        assert "reason" not in answer.json


def test_apply_is_validated(api, cm):
    api.apply(cm, configmap("a", {"bad key!": "1"}), "A").fails(422, "Invalid")


def test_managed_fields_can_be_cleared(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    stored = api.patch(cm, {"metadata": {"managedFields": [{}]}}).ok()
    assert "managedFields" not in stored["metadata"]


def test_the_first_apply_after_clearing_finds_an_unknown_owner(api, cm):
    api.apply(cm, configmap("a", {"k": "1"}), "A").ok()
    api.patch(cm, {"metadata": {"managedFields": [{}]}}).ok()
    api.apply(cm, configmap("a", {"k": "2"}), "A").fails(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "before-first-apply" '
        "using v1: .data.k")
    stored = api.apply(cm, configmap("a", {"k": "1", "l": "2"}), "A").ok()
    assert set(entries(stored)) == {("A", "Apply"), ("before-first-apply", "Update")}


def test_ownership_can_be_handed_over_by_writing_managed_fields(api, ns, cm):
    made = ns.create("configmaps", configmap("a", {"k": "1"}), query={"fieldManager": "U"})
    entry = {**made["metadata"]["managedFields"][0], "manager": "A", "operation": "Apply"}
    ops = [{"op": "replace", "path": "/metadata/managedFields", "value": [entry]},
           {"op": "replace", "path": "/metadata/resourceVersion",
            "value": made["metadata"]["resourceVersion"]}]
    stored = api.patch(cm, ops, "json").ok()
    assert set(entries(stored)) == {("A", "Apply")}
    assert "data" not in api.apply(cm, configmap("a"), "A").ok()


def test_metadata_is_tracked_but_not_the_servers_part(api, cm):
    body = configmap("a", labels={"x": "1"}, annotations={"y": "2"},
                     finalizers=["conformance.test/hold"])
    stored = api.apply(cm, body, "A").ok()
    assert entries(stored)[("A", "Apply")] == {"f:metadata": {
        "f:labels": {"f:x": {}}, "f:annotations": {"f:y": {}},
        "f:finalizers": {'v:"conformance.test/hold"': {}}}}
    assert "finalizers" not in api.apply(cm, configmap("a"), "A").ok()["metadata"]


# Lists

def test_list_items_are_owned_by_key(api, wd):
    url, make = wd
    stored = api.apply(url, make(ports=[{"name": "a", "port": 1}]), "A").ok(201)
    assert entries(stored)[("A", "Apply")] == {"f:spec": {"f:ports": {
        'k:{"name":"a"}': {".": {}, "f:name": {}, "f:port": {}}}}}
    stored = api.apply(url, make(ports=[{"name": "b", "port": 2}]), "B").ok()
    assert [p["name"] for p in stored["spec"]["ports"]] == ["a", "b"]
    stored = api.apply(url, make(ports=[]), "A").ok()
    assert [p["name"] for p in stored["spec"]["ports"]] == ["b"]


def test_a_conflict_inside_a_list_item_shows_the_key(api, wd):
    url, make = wd
    api.apply(url, make(ports=[{"name": "a", "port": 1}]), "A").ok()
    api.apply(url, make(ports=[{"name": "a", "port": 2}]), "B").fails(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "A": '
        '.spec.ports[name="a"].port')


def test_two_managers_share_a_list_item(api, wd):
    url, make = wd
    api.apply(url, make(ports=[{"name": "a", "port": 1}]), "A").ok()
    stored = api.apply(url, make(ports=[{"name": "a", "protocol": "UDP"}]), "B", force=True).ok()
    assert stored["spec"]["ports"] == [{"name": "a", "port": 1, "protocol": "UDP"}]
    stored = api.apply(url, make(), "A").ok()
    assert stored["spec"]["ports"] == [{"name": "a", "protocol": "UDP"}]


def test_duplicate_keys_are_refused(api, wd):
    url, make = wd
    answer = api.apply(url, make(ports=[{"name": "a"}, {"name": "a"}]), "A")
    assert answer.code in (400, 422, 500)
    assert 'duplicate entries for key [name="a"]' in answer.json["message"]


def test_sets_are_merged_by_value(api, wd):
    url, make = wd
    stored = api.apply(url, make(tags=["x", "y"]), "A").ok()
    assert entries(stored)[("A", "Apply")] == {
        "f:spec": {"f:tags": {'v:"x"': {}, 'v:"y"': {}}}}
    assert sorted(api.apply(url, make(tags=["y", "z"]), "B").ok()["spec"]["tags"]) == list("xyz")
    assert sorted(api.apply(url, make(), "A").ok()["spec"]["tags"]) == ["y", "z"]


def test_duplicate_set_items_are_refused(api, wd):
    url, make = wd
    answer = api.apply(url, make(tags=["a", "a"]), "A")
    assert answer.code in (400, 422, 500)
    assert 'duplicate entries for key [="a"]' in answer.json["message"]


def test_an_atomic_list_has_one_owner(api, wd):
    url, make = wd
    stored = api.apply(url, make(atoms=["x", "y"]), "A").ok()
    assert entries(stored)[("A", "Apply")] == {"f:spec": {"f:atoms": {}}}
    api.apply(url, make(atoms=["z"]), "B").fails(
        409, "Conflict", 'Apply failed with 1 conflict: conflict with "A": .spec.atoms')
    assert api.apply(url, make(atoms=["z"]), "B", force=True).ok()["spec"]["atoms"] == ["z"]


def test_an_atomic_map_has_one_owner(api, wd):
    url, make = wd
    stored = api.apply(url, make(fixed={"a": "1"}), "A").ok()
    assert entries(stored)[("A", "Apply")] == {"f:spec": {"f:fixed": {}}}
    api.apply(url, make(fixed={"b": "1"}), "B").fails(409, "Conflict")
    stored = api.apply(url, make(fixed={"b": "1"}), "B", force=True).ok()
    assert stored["spec"]["fixed"] == {"b": "1"}


def test_a_granular_map_has_an_owner_for_each_key(api, wd):
    url, make = wd
    api.apply(url, make(opts={"a": "1"}), "A").ok()
    stored = api.apply(url, make(opts={"b": "2"}), "B").ok()
    assert stored["spec"]["opts"] == {"a": "1", "b": "2"}


def test_unknown_content_is_owned_by_path(api, wd):
    url, make = wd
    stored = api.apply(url, make(free={"x": {"y": 1}, "l": [1, 2]}), "A").ok()
    free = entries(stored)[("A", "Apply")]["f:spec"]["f:free"]
    assert free["f:l"] == {}
    assert "f:y" in free["f:x"]


def test_schema_defaults_are_not_owned_by_apply(api, wd):
    url, make = wd
    stored = api.apply(url, make(size="small"), "A").ok()
    assert stored["spec"]["mode"] == "fast"
    assert entries(stored)[("A", "Apply")] == {"f:spec": {"f:size": {}}}


def test_an_unknown_field_of_a_custom_resource_is_named(api, wd):
    url, make = wd
    answer = api.apply(url, make(bogus=1), "A")
    assert answer.code in (400, 500)
    assert ".spec.bogus: field not declared in schema" in answer.json["message"]


def test_a_wrong_type_is_refused(api, wd):
    url, make = wd
    assert api.apply(url, make(ports="text"), "A").code in (400, 422, 500)


# Built-in kinds

def test_containers_are_merged_by_name(api, ns):
    url = ns.url("deployments", "d")
    body = deployment("d")
    api.apply(url, body, "A").ok(201)
    spec = {"containers": [container("side", image="side:1")]}
    more = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {"template": {"spec": spec}}}
    stored = api.apply(url, more, "B").ok(200)
    names = [c["name"] for c in stored["spec"]["template"]["spec"]["containers"]]
    assert names == ["main", "side"]
    fields = entries(stored)[("B", "Apply")]
    assert fields == {"f:spec": {"f:template": {"f:spec": {"f:containers": {
        'k:{"name":"side"}': {".": {}, "f:name": {}, "f:image": {}}}}}}}


def test_service_ports_are_keyed_by_port_and_protocol(api, ns):
    url = ns.url("services", "s")
    body = service("s", ports=[{"port": 80, "protocol": "TCP"}])
    stored = api.apply(url, body, "A").ok(201)
    assert entries(stored)[("A", "Apply")]["f:spec"]["f:ports"] == {
        'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:protocol": {}}}
    assert entries(stored)[("A", "Apply")]["f:spec"]["f:selector"] in ({}, {"f:app": {}})


def test_a_selector_is_owned_whole(api, ns):
    stored = api.apply(ns.url("deployments", "d"), deployment("d"), "A").ok(201)
    assert entries(stored)[("A", "Apply")]["f:spec"]["f:selector"] == {}


def test_replicas_can_be_left_to_another_manager(api, ns):
    url = ns.url("deployments", "d")
    api.apply(url, deployment("d", replicas=0, paused=True), "A").ok(201)
    api.patch(url, {"spec": {"replicas": 3}}, query={"fieldManager": "scaler"}).ok()
    body = without(deployment("d", paused=True), "spec", "replicas")
    assert api.apply(url, body, "A").ok(200)["spec"]["replicas"] == 3


@pytest.mark.since(22, "scale tracks ownership")
def test_scale_takes_the_ownership_of_replicas(api, ns):
    url = ns.url("deployments", "d")
    api.apply(url, deployment("d", replicas=0, paused=True), "A").ok(201)
    api.patch(url + "/scale", {"spec": {"replicas": 3}}, query={"fieldManager": "scaler"}).ok()
    stored = api.get(url).ok()
    assert entries(stored)[("scaler", "Update")] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in entries(stored)[("A", "Apply")]["f:spec"]


# What the server fills in after the request was read has no owner

def owned(stored):
    """All field names in the writer's entry, however deep."""
    found = set()

    def walk(fields):
        for key, value in fields.items():
            found.add(key)
            walk(value)

    for entry in stored["metadata"]["managedFields"]:
        walk(entry["fieldsV1"])
    return found


def test_admission_owns_nothing_of_a_pod(ns):
    made = ns.create("pods", pod("p"))
    assert "f:restartPolicy" in owned(made)
    assert not owned(made) & {"f:priority", "f:preemptionPolicy", "f:serviceAccount",
                              "f:serviceAccountName", "f:tolerations", "f:volumes"}


def test_an_allocated_address_has_no_owner(api, ns):
    made = ns.create("services", service("s"))
    assert "f:sessionAffinity" in owned(made)
    assert not owned(made) & {"f:clusterIP", "f:clusterIPs"}
    address = made["spec"]["clusterIP"]
    body = service("s", ports=[{"port": 80, "protocol": "TCP"}], clusterIP=address)
    api.apply(ns.url("services", "s"), body, "A").ok(200)


def test_a_protecting_finalizer_has_no_owner(ns):
    made = ns.create("persistentvolumeclaims", claim("c"))
    assert "f:accessModes" in owned(made)
    assert "f:finalizers" not in owned(made)


def test_a_generated_selector_has_no_owner(ns):
    made = ns.create("jobs", job("j"))
    assert "f:backoffLimit" in owned(made)
    assert not owned(made) & {"f:selector", "f:controller-uid", "f:job-name"}


# Subresources

def test_status_is_applied_through_its_subresource(api, wd, widgets):
    url, make = wd
    api.apply(url, make(size="small"), "A").ok(201)
    body = widgets.make("w", status={"phase": "Up"})
    stored = api.apply(url + "/status", body, "S").ok(200)
    assert stored["status"] == {"phase": "Up"}
    assert entries(stored)[("S", "Apply")] == {"f:status": {"f:phase": {}}}
    assert stored["spec"]["size"] == "small"


@pytest.mark.since(22, "managedFields name the subresource")
def test_an_entry_names_its_subresource(api, wd, widgets):
    url, make = wd
    api.apply(url, make(size="small"), "A").ok(201)
    stored = api.apply(url + "/status", widgets.make("w", status={"phase": "Up"}), "A").ok()
    found = {m.get("subresource"): m["fieldsV1"] for m in stored["metadata"]["managedFields"]}
    assert found == {None: {"f:spec": {"f:size": {}}}, "status": {"f:status": {"f:phase": {}}}}


def test_status_is_not_applied_through_the_object(api, wd, minor):
    url, make = wd
    stored = api.apply(url, {**make(size="small"), "status": {"phase": "Up"}}, "A").ok(201)
    assert "status" not in stored
    if minor >= 22:
        assert entries(stored)[("A", "Apply")] == {"f:spec": {"f:size": {}}}


def test_conditions_of_two_managers_stand_side_by_side(api, wd, widgets):
    url, make = wd
    api.apply(url, make(), "A").ok(201)
    for manager, kind in (("S", "Ready"), ("T", "Synced")):
        body = widgets.make("w", status={"conditions": [{"type": kind, "status": "True"}]})
        stored = api.apply(url + "/status", body, manager).ok()
    assert sorted(c["type"] for c in stored["status"]["conditions"]) == ["Ready", "Synced"]
    stored = api.apply(url + "/status", widgets.make("w", status={"conditions": []}), "S").ok()
    assert [c["type"] for c in stored["status"]["conditions"]] == ["Synced"]


def test_apply_through_a_subresource_creates_nothing(api, ns, widgets):
    api.apply(widgets.at(ns, "none", "status"), widgets.make("none", status={}), "A").fails(
        404, "NotFound")


@pytest.mark.since(32, "older ones refuse it before they look at the object")
def test_an_item_may_omit_one_of_several_keys(api, ns):
    body = deployment("d")
    body["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"protocol": "TCP"}]
    message = api.apply(ns.url("deployments", "d"), body, "me").fails(422, "Invalid")["message"]
    assert "ports[0].containerPort: Required value" in message
