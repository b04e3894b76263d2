# SPDX-License-Identifier: GPL-2.0-or-later
"""create: what the server fills in, generateName, dryRun, conflicts and refusals."""
import re

import pytest

from lib.objects import configmap, secret, without

UUID4 = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
SECONDS = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


def test_create_answers_201_and_the_whole_object(ns):
    made = ns.create("configmaps", configmap("a", {"k": "v"}))
    assert (made["kind"], made["apiVersion"]) == ("ConfigMap", "v1")
    assert made["data"] == {"k": "v"}
    assert made["metadata"]["name"] == "a"
    assert made["metadata"]["namespace"] == ns.name


def test_the_server_sets_uid_time_and_version(ns):
    meta = ns.create("configmaps", configmap("a"))["metadata"]
    assert UUID4.match(meta["uid"])
    assert SECONDS.match(meta["creationTimestamp"])
    assert re.match(r"^[1-9][0-9]*$", meta["resourceVersion"])
    assert "selfLink" not in meta
    assert "generation" not in meta


def test_uid_and_time_of_the_author_are_overwritten(ns):
    given = configmap("a", uid="mine", creationTimestamp="2001-01-01T00:00:00Z")
    meta = ns.create("configmaps", given)["metadata"]
    assert UUID4.match(meta["uid"])
    assert not meta["creationTimestamp"].startswith("2001")


def test_a_recreated_object_has_another_uid(api, ns):
    first = ns.create("configmaps", configmap("a"))["metadata"]["uid"]
    api.delete(ns.url("configmaps", "a")).ok(200)
    assert ns.create("configmaps", configmap("a"))["metadata"]["uid"] != first


def test_get_returns_what_create_returned(ns):
    assert ns.create("configmaps", configmap("a", {"k": "v"})) == ns.get("configmaps", "a")


def test_kind_and_version_may_be_left_out_of_a_builtin(api, ns):
    made = api.post(ns.url("configmaps"), {"metadata": {"name": "a"}}).ok(201)
    assert made["kind"] == "ConfigMap"


def test_a_body_without_content_type_is_json(api, ns):
    body = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}'
    assert api.request("POST", ns.url("configmaps"), body).ok(201)["metadata"]["name"] == "a"


def test_a_yaml_body_is_read(api, ns):
    body = ("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
            "data:\n  k: |\n    two\n    lines\n")
    made = api.post(ns.url("configmaps"), body, type="application/yaml").ok(201)
    assert made["data"] == {"k": "two\nlines\n"}


def test_a_yaml_answer_is_given_when_asked_for(api, ns):
    ns.create("configmaps", configmap("a", {"k": "v"}))
    answer = api.get(ns.url("configmaps", "a"), accept="application/yaml")
    assert answer.code == 200
    assert answer.type == "application/yaml"
    assert "kind: ConfigMap" in answer.text.splitlines()


def test_existing_name_is_409_already_exists(api, ns):
    ns.create("configmaps", configmap("a"))
    status = api.post(ns.url("configmaps"), configmap("a")).fails(
        409, "AlreadyExists", 'configmaps "a" already exists')
    assert status["details"] == {"name": "a", "kind": "configmaps"}


def test_existing_name_in_a_group_names_the_group(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    status = api.post(widgets.at(ns), widgets.make("a", {})).fails(
        409, "AlreadyExists", f'{widgets.resource} "a" already exists')
    assert status["details"] == {"name": "a", "group": widgets.group, "kind": "widgets"}


def test_create_in_a_missing_namespace_is_404(api, unique):
    path = f"/api/v1/namespaces/{unique}/configmaps"
    status = api.post(path, configmap("a")).fails(
        404, "NotFound", f'namespaces "{unique}" not found')
    assert status["details"] == {"name": unique, "kind": "namespaces"}


def test_a_name_is_required(api, ns):
    status = api.post(ns.url("configmaps"), {"kind": "ConfigMap", "apiVersion": "v1"}).fails(
        422, "Invalid",
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required')
    assert status["details"]["causes"] == [{
        "reason": "FieldValueRequired", "field": "metadata.name",
        "message": "Required value: name or generateName is required",
    }]


def test_generate_name_adds_five_characters(ns):
    made = ns.create("configmaps", {"metadata": {"generateName": "gen-"}})["metadata"]
    assert re.match(r"^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$", made["name"])
    assert made["generateName"] == "gen-"


def test_generate_name_makes_different_names(ns):
    body = {"metadata": {"generateName": "gen-"}}
    names = {ns.create("configmaps", body)["metadata"]["name"] for _ in range(8)}
    assert len(names) == 8


def test_generate_name_is_cut_to_leave_room(ns):
    made = ns.create("configmaps", {"metadata": {"generateName": "g" * 80}})["metadata"]
    assert len(made["name"]) == 63
    assert made["name"].startswith("g" * 58)


def test_name_wins_over_generate_name(ns):
    made = ns.create("configmaps", {"metadata": {"name": "a", "generateName": "gen-"}})
    assert made["metadata"]["name"] == "a"


def test_dry_run_shows_the_object_and_stores_nothing(api, ns):
    made = api.post(ns.url("configmaps"), configmap("a"), query={"dryRun": "All"}).ok(201)
    assert UUID4.match(made["metadata"]["uid"])
    assert "resourceVersion" not in made["metadata"]
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")


def test_dry_run_still_refuses_what_exists(api, ns):
    ns.create("configmaps", configmap("a"))
    api.post(ns.url("configmaps"), configmap("a"), query={"dryRun": "All"}).fails(
        409, "AlreadyExists")


def test_an_unknown_dry_run_value_is_invalid(api, ns):
    api.post(ns.url("configmaps"), configmap("a"), query={"dryRun": "Some"}).fails(
        422, "Invalid", re.compile(
            r'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: '
            r'(\["Some"\]|\[\]string{"Some"}): supported values: "All"'))


def test_resource_version_must_not_be_given(api, ns):
    status = api.post(ns.url("configmaps"), configmap("a", resourceVersion="5")).json
    assert status["code"] == 500
    assert status["message"] == "resourceVersion should not be set on objects to be created"
    assert "reason" not in status


def test_the_namespace_of_the_body_must_be_that_of_the_path(api, ns):
    api.post(ns.url("configmaps"), configmap("a", namespace="other")).fails(
        400, "BadRequest", re.compile("the namespace of the (provided )?object"))


def test_the_namespace_may_be_left_out_of_the_body(ns):
    assert ns.create("configmaps", configmap("a"))["metadata"]["namespace"] == ns.name


def test_create_is_not_allowed_on_an_object_path(api, ns):
    api.post(ns.url("configmaps", "a"), configmap("a")).fails(
        405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def test_string_data_of_a_secret_becomes_data(ns):
    made = ns.create("secrets", secret("s", stringData={"a": "hello"}, data={"b": "aGk="}))
    assert made["data"] == {"a": "aGVsbG8=", "b": "aGk="}
    assert "stringData" not in made
    assert made["type"] == "Opaque"


def test_string_data_wins_over_data(ns):
    made = ns.create("secrets", secret("s", stringData={"a": "hello"}, data={"a": "aGk="}))
    assert made["data"] == {"a": "aGVsbG8="}


def test_empty_maps_are_dropped(ns):
    made = ns.create("configmaps", configmap("a", {}, labels={}, annotations={}))
    assert "data" not in made
    assert "labels" not in made["metadata"]


def test_null_counts_as_absent(ns):
    made = ns.create("configmaps", {"metadata": {"name": "a", "labels": None}, "data": None})
    assert "labels" not in made["metadata"]


@pytest.mark.before(25, "unknown fields bring a warning")
def test_unknown_fields_of_a_builtin_are_dropped(ns):
    made = ns.create("configmaps", {**configmap("a", {"k": "v"}), "bogus": 1})
    assert "bogus" not in made


def test_generation_starts_at_one(ns, widgets, api):
    made = api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    assert made["metadata"]["generation"] == 1


def test_a_dry_run_create_of_a_custom_object_is_not_stored(ns, widgets, api):
    made = api.post(widgets.at(ns), widgets.make("a", {}), query={"dryRun": "All"}).ok(201)
    assert made["spec"]["mode"] == "fast"
    api.get(widgets.at(ns, "a")).fails(404, "NotFound")


def test_managed_fields_of_create_belong_to_the_user_agent(ns):
    entry, = ns.create("configmaps", configmap("a", {"k": "v"}))["metadata"]["managedFields"]
    assert entry["manager"] == "conformance"
    assert without(entry, "time") == {
        "manager": "conformance", "operation": "Update", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:k": {}}},
    }


def test_the_field_manager_of_the_query_is_recorded(ns):
    made = ns.create("configmaps", configmap("a", {"k": "v"}), query={"fieldManager": "me"})
    assert made["metadata"]["managedFields"][0]["manager"] == "me"


def test_a_field_manager_that_is_too_long_is_invalid(api, ns):
    api.post(ns.url("configmaps"), configmap("a"), query={"fieldManager": "m" * 129}).fails(
        422, "Invalid", re.compile(r'^CreateOptions.meta.k8s.io "" is invalid: fieldManager: '))
