# SPDX-License-Identifier: GPL-2.0-or-later
"""Custom resource definitions: registration, names, versions, deletion, refusals."""
import copy
import re
import time

import pytest

from lib import crds, objects
from lib.client import WAIT_S
from lib.crds import Crd, condition, obj, version
from lib.objects import CRDS


def simple(group, kind, **more):
    """A definition whose objects have a spec.text."""
    return Crd(group, kind, [version("v1", obj({"spec": obj({"text": crds.STRING})}))], **more)


@pytest.fixture
def made(api, group, crd_bin):
    """Registers a simple definition; returns it."""
    def make(kind, **more):
        crd = simple(group, kind, **more)
        crd_bin.append(crd)
        return crd.install(api)
    return make


def refused(api, crd, field, text=None):
    status = api.post(CRDS, crd.manifest).fails(422, "Invalid", text)
    assert field in [c["field"] for c in status["details"]["causes"]], status
    return status


def test_the_answer_to_a_registration(api, group, crd_bin):
    crd = simple(group, "Answer")
    crd_bin.append(crd)
    stored = api.post(CRDS, crd.manifest).ok(201)
    assert stored["metadata"]["generation"] == 1
    assert stored["spec"]["names"] == {
        "plural": "answers", "singular": "answer", "kind": "Answer", "listKind": "AnswerList"}
    assert stored["spec"]["conversion"] == {"strategy": "None"}
    assert stored["status"]["storedVersions"] == ["v1"]


def test_the_conditions_of_an_accepted_definition(api, widgets):
    stored = api.get(widgets.url).ok()
    found = {c["type"]: (c["status"], c["reason"], c["message"])
             for c in stored["status"]["conditions"]}
    assert found == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }
    assert stored["status"]["acceptedNames"] == stored["spec"]["names"]


def test_a_new_kind_is_in_discovery(api, widgets):
    path = f"/apis/{widgets.group}/v1"
    answer = api.until(path, lambda a: a.code == 200 and any(
        r["name"] == "widgets" for r in a.json["resources"]))
    found = {r["name"]: r for r in answer.ok()["resources"]}
    assert objects.without(found["widgets"], "storageVersionHash") == {
        "name": "widgets", "singularName": "widget", "namespaced": True, "kind": "Widget",
        "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update",
                  "watch"],
        "shortNames": [widgets.short], "categories": [widgets.category],
    }
    assert found["widgets/status"] == {
        "name": "widgets/status", "singularName": "", "namespaced": True, "kind": "Widget",
        "verbs": ["get", "patch", "update"]}
    assert found["widgets/scale"] == {
        "name": "widgets/scale", "singularName": "", "namespaced": True, "group": "autoscaling",
        "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"]}


def test_the_group_of_a_new_kind_is_in_discovery(api, group, gadgets):
    answer = api.until("/apis", lambda a: any(g["name"] == group for g in a.json["groups"]))
    found = next(g for g in answer.ok()["groups"] if g["name"] == group)
    assert found["preferredVersion"] == {"groupVersion": f"{group}/v1", "version": "v1"}
    answer = api.until(f"/apis/{group}", lambda a: a.code == 200 and len(a.json["versions"]) == 2)
    assert [v["version"] for v in answer.ok()["versions"]] == ["v1", "v1beta1"]
    assert answer.ok()["kind"] == "APIGroup"


def test_every_served_version_shows_the_object(api, gadgets, unique):
    api.post(gadgets.at(), gadgets.make(unique, {"text": "x"})).ok(201)
    other = api.get(gadgets.at(name=unique, version="v1beta1")).ok(200)
    assert other["apiVersion"] == f"{gadgets.group}/v1beta1"
    assert other["spec"]["text"] == "x"
    body = {"spec": {"level": 5}}
    changed = api.patch(gadgets.at(name=unique, version="v1beta1"), body).ok(200)
    assert changed["apiVersion"] == f"{gadgets.group}/v1beta1"
    assert api.get(gadgets.at(name=unique)).ok()["spec"] == {"text": "x", "level": 5}


def test_objects_are_created_in_any_served_version(api, gadgets, unique):
    body = gadgets.make(unique, {"text": "x"}, version="v1beta1")
    made = api.post(gadgets.at(version="v1beta1"), body).ok(201)
    assert made["apiVersion"] == f"{gadgets.group}/v1beta1"
    assert api.get(gadgets.at(name=unique)).ok()["apiVersion"] == f"{gadgets.group}/v1"


def test_the_version_of_the_body_must_be_that_of_the_path(api, gadgets, unique):
    body = gadgets.make(unique, {}, version="v1beta1")
    assert api.post(gadgets.at(version="v1"), body).code in (400, 422)


def test_a_version_that_is_no_longer_served_is_404(api, made):
    crd = made("Fading")
    changed = api.get(crd.url).ok()
    v2 = copy.deepcopy(changed["spec"]["versions"][0])
    v2.update(name="v2", storage=False)
    changed["spec"]["versions"][0]["served"] = False
    changed["spec"]["versions"].append(v2)
    api.put(crd.url, changed).ok(200)
    api.until(crd.at("default", version="v2"), lambda a: a.code == 200)
    api.until(crd.at("default"), lambda a: a.code == 404)


def test_a_definition_may_gain_a_field(api, made, ns):
    crd = made("Growing")
    api.post(crd.at(ns), crd.make("a", {"text": "x", "more": "y"})).ok(201)
    assert "more" not in api.get(crd.at(ns, "a")).ok()["spec"]
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more"
    api.patch(crd.url, [{"op": "add", "path": path, "value": {"type": "string", "default": "d"}}],
              "json").ok(200)
    answer = api.until(crd.at(ns, "a"), lambda a: "more" in a.json["spec"])
    assert answer.ok()["spec"] == {"text": "x", "more": "d"}


def test_defaults_on_read_do_not_change_the_version(api, made, ns):
    crd = made("Reading")
    stored = api.post(crd.at(ns), crd.make("a", {"text": "x"})).ok(201)
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more"
    api.patch(crd.url, [{"op": "add", "path": path, "value": {"type": "string", "default": "d"}}],
              "json").ok(200)
    answer = api.until(crd.at(ns, "a"), lambda a: "more" in a.json["spec"])
    meta = answer.ok()["metadata"]
    assert meta["resourceVersion"] == stored["metadata"]["resourceVersion"]
    assert api.get(crd.at(ns)).ok()["items"][0]["spec"]["more"] == "d"


def test_deletion_takes_the_objects_and_the_endpoint(api, made, ns):
    crd = made("Passing")
    api.post(crd.at(ns), crd.make("a", {})).ok(201)
    gone = api.delete(crd.url).ok(200)
    assert gone["kind"] in ("Status", "CustomResourceDefinition")
    api.until_gone(crd.url)
    api.until(crd.at(ns), lambda a: a.code == 404)
    crd.install(api)
    assert api.get(crd.at(ns)).ok()["items"] == []


def test_deletion_waits_for_held_objects(api, made, ns):
    crd = made("Holding")
    body = crd.make("a", {})
    body["metadata"]["finalizers"] = ["conformance.test/hold"]
    api.post(crd.at(ns), body).ok(201)
    gone = api.delete(crd.url).ok(200)
    assert gone["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert gone["metadata"]["generation"] == 1
    assert "deletionGracePeriodSeconds" not in gone["metadata"]
    api.until(crd.url, lambda a: condition(a.json, "Terminating") == "True")
    api.until(crd.at(ns, "a"), lambda a: "deletionTimestamp" in a.json["metadata"])
    api.patch(crd.at(ns, "a"), {"metadata": {"finalizers": None}}).ok(200)
    api.until_gone(crd.url)


def test_a_terminating_kind_takes_no_new_objects(api, made, ns):
    crd = made("Closing")
    body = crd.make("a", {})
    body["metadata"]["finalizers"] = ["conformance.test/hold"]
    api.post(crd.at(ns), body).ok(201)
    api.delete(crd.url).ok(200)
    deadline = time.monotonic() + WAIT_S
    while api.post(crd.at(ns), crd.make("b", {}), query={"dryRun": "All"}).code == 201:
        assert time.monotonic() < deadline
    assert api.post(crd.at(ns), crd.make("b", {})).code in (403, 405)  # 403 since 1.34
    api.patch(crd.at(ns, "a"), {"metadata": {"finalizers": None}}).ok(200)


def test_names_that_clash_are_not_accepted(api, made, group, crd_bin):
    made("Clash")
    other = Crd(group, "Clash", [version("v1", obj({}))])
    other.plural = "clashtwos"
    other.name = f"clashtwos.{group}"
    other.url = f"{CRDS}/{other.name}"
    other.manifest["metadata"]["name"] = other.name
    other.manifest["spec"]["names"] = {
        "plural": "clashtwos", "kind": "Clash", "singular": "clashtwo", "listKind": "ClashTwoList"}
    crd_bin.append(other)
    api.post(CRDS, other.manifest).ok(201)
    answer = api.until(other.url, lambda a: condition(a.json, "NamesAccepted") == "False")
    found = {c["type"]: (c["status"], c["reason"], c["message"])
             for c in answer.ok()["status"]["conditions"]}
    assert found["NamesAccepted"] == ("False", "KindConflict", '"Clash" is already in use')
    assert found["Established"] == ("False", "NotAccepted", "not all names are accepted")
    assert api.get(other.at("default")).code == 404


def test_short_names_may_clash_between_groups(api, widgets, unique, crd_bin):
    crd = simple(unique + ".test", "Widget", shortNames=[widgets.short])
    crd_bin.append(crd)
    crd.install(api)


def test_a_cluster_wide_kind(api, gadgets, ns, unique):
    made = api.post(gadgets.at(), gadgets.make(unique, {})).ok(201)
    assert "namespace" not in made["metadata"]
    assert api.get(gadgets.at(ns)).code == 404


def test_a_namespaced_kind_is_listed_cluster_wide(api, widgets, ns):
    api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    items = api.get(widgets.at()).ok()["items"]
    assert any(i["metadata"]["namespace"] == ns.name for i in items)


# Refusals

def test_the_name_must_be_plural_and_group(api, group):
    crd = simple(group, "Misnamed")
    crd.manifest["metadata"]["name"] = "other." + group
    refused(api, crd, "metadata.name", re.compile(
        'must be spec.names.plural\\+"."\\+spec.group'))


def test_a_schema_is_required(api, group):
    crd = simple(group, "Bare")
    del crd.manifest["spec"]["versions"][0]["schema"]
    status = api.post(CRDS, crd.manifest).fails(422, "Invalid")
    assert "spec.versions[0].schema.openAPIV3Schema: Required value" in status["message"]


def test_a_schema_must_be_structural(api, group):
    def text(schema):
        crd = Crd(group, "Loose", [version("v1", schema)])
        return api.post(CRDS, crd.manifest).fails(422, "Invalid")["message"]

    assert "must not be empty for specified object fields" in text(obj({"spec": {}}))
    assert "must not be empty at the root" in text({"properties": {"spec": obj({})}})
    both = obj({"a": crds.STRING}, additionalProperties=crds.STRING)
    assert "additionalProperties and properties are mutual exclusive" in text(obj({"spec": both}))
    assert 'Unsupported value: "nothing"' in text(obj({"spec": {"type": "nothing"}}))


def test_unknown_fields_cannot_be_preserved_by_the_old_switch(api, group):
    crd = simple(group, "Old")
    crd.manifest["spec"]["preserveUnknownFields"] = True
    refused(api, crd, "spec.preserveUnknownFields", re.compile(
        "Invalid value: true: (cannot|must) "))


def test_exactly_one_version_is_stored(api, group):
    schema = obj({})
    crd = Crd(group, "Twice", [version("v1", schema), version("v2", schema)])
    refused(api, crd, "spec.versions", re.compile("exactly one version marked as storage"))
    crd = Crd(group, "Never", [version("v1", schema, storage=False)])
    refused(api, crd, "spec.versions")


def test_a_version_stands_only_once(api, group):
    schema = obj({})
    crd = Crd(group, "Same", [version("v1", schema), version("v1", schema, storage=False)])
    assert api.post(CRDS, crd.manifest).code == 422


def test_a_protected_group_needs_approval(api, unique):
    crd = simple(unique + ".k8s.io", "Guarded")
    refused(api, crd, "metadata.annotations[api-approved.kubernetes.io]")


@pytest.mark.parametrize("change, field", [
    ({"scope": "Galaxy"}, "spec.scope"),
    ({"group": ""}, "spec.group"),
    ({"versions": []}, "spec.versions"),
])
def test_a_bad_definition_names_the_field(api, group, change, field):
    crd = simple(group, "Wrong")
    crd.manifest["spec"].update(change)
    refused(api, crd, field)


def test_a_bad_kind_or_plural_is_refused(api, group):
    for names in ({"plural": "Bads", "kind": "Bad"}, {"plural": "bads", "kind": "Bad Kind"}):
        crd = simple(group, "Bad")
        crd.manifest["spec"]["names"] = names
        assert api.post(CRDS, crd.manifest).code == 422


def test_a_default_must_fit_its_schema(api, group):
    spec = obj({"n": {"type": "integer", "default": "text"}})
    crd = Crd(group, "Misfit", [version("v1", obj({"spec": spec}))])
    status = api.post(CRDS, crd.manifest).fails(422, "Invalid")
    assert any(c["field"].endswith("properties[spec].properties[n].default")
               for c in status["details"]["causes"]), status


def test_a_bad_printer_column_is_refused(api, group):
    columns = [{"name": "X", "type": "nothing", "jsonPath": ".spec.x"}]
    crd = Crd(group, "Column", [version("v1", obj({}), additionalPrinterColumns=columns)])
    status = api.post(CRDS, crd.manifest).fails(422, "Invalid")
    assert any("additionalPrinterColumns[0].type" in c["field"]
               for c in status["details"]["causes"]), status


def test_list_map_keys_must_exist(api, group):
    items = {"type": "array", "items": obj({"a": crds.STRING}), "x-kubernetes-list-type": "map",
             "x-kubernetes-list-map-keys": ["b"]}
    crd = Crd(group, "Keyless", [version("v1", obj({"spec": obj({"l": items})}))])
    assert api.post(CRDS, crd.manifest).code == 422
