# SPDX-License-Identifier: GPL-2.0-or-later
"""Custom objects against their schema: pruning, defaults, null, types, exact messages."""
import re

import pytest


def create(api, ns, crd, spec, name="w"):
    return api.post(crd.at(ns), crd.make(name, spec))


def stored(api, ns, crd, spec):
    return create(api, ns, crd, spec).ok(201)["spec"]


DEFAULTS = {"mode": "fast", "hint": "none"}


def test_unknown_fields_are_pruned(api, ns, widgets):
    assert stored(api, ns, widgets, {"size": "small", "bogus": 1, "nested": {
        "must": "x", "bogus": {"a": 1}}}) == {
            **DEFAULTS, "size": "small", "nested": {"must": "x", "level": 1}}


def test_unknown_fields_at_the_top_are_pruned(api, ns, widgets):
    made = api.post(widgets.at(ns), widgets.make("w", {}, bogus=1)).ok(201)
    assert "bogus" not in made


def test_unknown_fields_in_list_items_are_pruned(api, ns, widgets):
    assert stored(api, ns, widgets, {"ports": [{"name": "a", "bogus": 1}]})["ports"] == [
        {"name": "a", "protocol": "TCP"}]


def test_preserved_content_is_kept(api, ns, widgets):
    free = {"a": {"b": [1, 2.5, True, None, "x"]}, "known": {"a": "x", "bogus": 1}}
    assert stored(api, ns, widgets, {"free": free})["free"] == {
        "a": {"b": [1, 2.5, True, None, "x"]}, "known": {"a": "x"}}


def test_an_embedded_object_is_kept(api, ns, widgets):
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"any": 1}}
    assert stored(api, ns, widgets, {"embedded": inner})["embedded"] == inner


def test_an_embedded_object_needs_kind_and_version(api, ns, widgets):
    status = create(api, ns, widgets, {"embedded": {"metadata": {}}}).fails(422, "Invalid")
    assert {c["field"] for c in status["details"]["causes"]} >= {
        "spec.embedded.apiVersion", "spec.embedded.kind"}


def test_defaults_are_filled_in(api, ns, widgets):
    assert stored(api, ns, widgets, {}) == DEFAULTS
    assert api.get(widgets.at(ns, "w")).ok()["spec"] == DEFAULTS


def test_defaults_come_only_where_their_parent_is(api, ns, widgets):
    assert "nested" not in stored(api, ns, widgets, {})


def test_a_default_removed_comes_back(api, ns, widgets):
    create(api, ns, widgets, {"mode": "slow"}).ok(201)
    assert api.patch(widgets.at(ns, "w"), {"spec": {"mode": None}}).ok()["spec"]["mode"] == "fast"


def test_null_is_kept_where_nullable(api, ns, widgets):
    spec = stored(api, ns, widgets, {"note": None, "hint": None})
    assert spec["note"] is None
    assert spec["hint"] is None


def test_null_with_a_default_becomes_the_default(api, ns, widgets):
    assert stored(api, ns, widgets, {"mode": None})["mode"] == "fast"


def test_null_elsewhere_is_dropped_or_refused(api, ns, widgets):
    answer = create(api, ns, widgets, {"size": None})
    if answer.code == 201:
        assert "size" not in answer.json["spec"]
    else:
        answer.fails(422, "Invalid")


@pytest.mark.parametrize("value", [80, "web", "80%"])
def test_int_or_string_takes_both(api, gadgets, unique, value):
    made = api.post(gadgets.at(), gadgets.make(unique, {"port": value})).ok(201)
    assert made["spec"]["port"] == value


def test_int_or_string_takes_nothing_else(api, gadgets, unique):
    api.post(gadgets.at(), gadgets.make(unique, {"port": True})).fails(
        422, "Invalid", f'Gadget.{gadgets.group} "{unique}" is invalid: spec.port: Invalid value: '
        '"boolean": spec.port in body must be of type integer,string: "boolean"')


def test_numbers_are_kept_as_they_are(api, ns, widgets):
    made = create(api, ns, widgets, {"ratio": 1, "free": {"big": 9007199254740993, "neg": -0.5}})
    assert '"ratio":1,' in made.text.replace(" ", "") or '"ratio":1}' in made.text.replace(" ", "")
    assert made.ok(201)["spec"]["free"] == {"big": 9007199254740993, "neg": -0.5}


# Refusals: the text after 'Widget.<group> "w" is invalid: ', and the reason of its cause.
# Newer releases name some limits differently.

REFUSALS = [
    ("enum", {"size": "medium"}, "spec.size",
     'Unsupported value: "medium": supported values: "small", "large"', "FieldValueNotSupported"),
    ("type", {"size": 5}, "spec.size",
     'Invalid value: "integer": spec.size in body must be of type string: "integer"', None),
    ("boolean", {"flag": "yes"}, "spec.flag",
     'Invalid value: "string": spec.flag in body must be of type boolean: "string"', None),
    ("fraction", {"replicas": 1.5}, "spec.replicas",
     'Invalid value: "number": spec.replicas in body must be of type integer: "number"', None),
    ("object", {"nested": "x"}, "spec.nested",
     'Invalid value: "string": spec.nested in body must be of type object: "string"', None),
    ("array", {"atoms": {}}, "spec.atoms",
     'Invalid value: "object": spec.atoms in body must be of type array: "object"', None),
    ("minimum", {"replicas": -1}, "spec.replicas",
     "Invalid value: -1: spec.replicas in body should be greater than or equal to 0",
     "FieldValueInvalid"),
    ("maximum", {"replicas": 11}, "spec.replicas",
     "Invalid value: 11: spec.replicas in body should be less than or equal to 10",
     "FieldValueInvalid"),
    ("pattern", {"mode": "ABC"}, "spec.mode",
     "Invalid value: \"ABC\": spec.mode in body should match '^[a-z]+$'", "FieldValueInvalid"),
    ("set", {"tags": ["a", "a"]}, "spec.tags[1]", 'Duplicate value: "a"', "FieldValueDuplicate"),
    ("map", {"ports": [{"name": "a"}, {"name": "a"}]}, "spec.ports[1]",
     ('Duplicate value: map[string]interface {}{"name":"a"}', 'Duplicate value: {"name":"a"}'),
     "FieldValueDuplicate"),
    ("format", {"when": "yesterday"}, "spec.when",
     'Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"', None),
    ("map value", {"opts": {"a": 5}}, "spec.opts.a",
     'Invalid value: "integer": spec.opts.a in body must be of type string: "integer"', None),
]


@pytest.mark.parametrize("spec, field, text, reason", [r[1:] for r in REFUSALS],
                         ids=[r[0] for r in REFUSALS])
def test_a_refusal(api, ns, widgets, spec, field, text, reason):
    status = create(api, ns, widgets, spec).fails(
        422, "Invalid", re.compile(rf'^Widget\.{widgets.group} "w" is invalid: \[?spec\.'))
    cause = status["details"]["causes"][0]
    assert cause["field"] == field
    assert cause["message"] in ((text,) if isinstance(text, str) else text)
    assert f"{field}: {cause['message']}" in status["message"]
    if reason:
        assert cause["reason"] == reason
    else:
        assert cause["reason"] in ("FieldValueInvalid", "FieldValueTypeInvalid")
    assert status["details"]["name"] == "w"
    assert status["details"]["group"] == widgets.group
    assert status["details"]["kind"] == "Widget"


def test_a_refusal_in_a_list_names_the_index(api, ns, widgets, minor):
    place = "[1]" if minor >= 26 else ""
    status = create(api, ns, widgets, {"tags": ["a", 5]}).fails(422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "spec.tags" + place
    status = create(api, ns, widgets, {"ports": [{"name": "a"}, {"port": 1}]}).fails(422, "Invalid")
    cause = status["details"]["causes"][0]
    assert cause["reason"] == "FieldValueRequired"
    if minor >= 26:
        assert cause["field"] == "spec.ports[1].name"


def test_a_missing_field(api, ns, widgets):
    status = create(api, ns, widgets, {"nested": {}}).fails(
        422, "Invalid", f'Widget.{widgets.group} "w" is invalid: spec.nested.must: Required value')
    assert status["details"]["causes"] == [{
        "field": "spec.nested.must", "reason": "FieldValueRequired", "message": "Required value"}]


def test_a_missing_field_at_the_top(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w")).fails(
        422, "Invalid", f'Widget.{widgets.group} "w" is invalid: spec: Required value')


@pytest.mark.parametrize("spec, field, texts", [
    ({"mode": "abcdef"}, "spec.mode", "at most 5 chars long|Too long: may not be "),
    ({"atoms": []}, "spec.atoms", "spec.atoms in body should have at least 1 items"),
    ({"atoms": list("abcd")}, "spec.atoms",
     "should have at most 3 items|Too many: 4: must have at most 3 items"),
])
def test_a_limit_is_named(api, ns, widgets, spec, field, texts):
    status = create(api, ns, widgets, spec).fails(422, "Invalid", re.compile(texts))
    assert [c["field"] for c in status["details"]["causes"]] == [field]


def test_several_refusals_come_together(api, ns, widgets):
    status = create(api, ns, widgets, {"size": "medium", "replicas": 11}).fails(422, "Invalid")
    assert sorted(c["field"] for c in status["details"]["causes"]) == [
        "spec.replicas", "spec.size"]
    assert re.match(r"^Widget\.\S+ \"w\" is invalid: \[spec\..*, spec\..*\]$", status["message"])


def test_an_update_is_checked_too(api, ns, widgets):
    create(api, ns, widgets, {"size": "small"}).ok(201)
    api.patch(widgets.at(ns, "w"), {"spec": {"size": "medium"}}).fails(422, "Invalid")
    assert api.get(widgets.at(ns, "w")).ok()["spec"]["size"] == "small"


def test_metadata_is_not_pruned_by_the_schema(api, ns, widgets):
    body = widgets.make("w", {})
    body["metadata"].update(labels={"x": "y"}, annotations={"a": "b"})
    made = api.post(widgets.at(ns), body).ok(201)["metadata"]
    assert made["labels"] == {"x": "y"}
    assert made["annotations"] == {"a": "b"}


def test_bad_metadata_of_a_custom_resource_is_refused(api, ns, widgets):
    body = widgets.make("w", {})
    body["metadata"]["labels"] = {"x": 5}
    assert api.post(widgets.at(ns), body).code in (400, 422)


def test_a_custom_resource_is_read_from_yaml(api, ns, widgets):
    body = (f"apiVersion: {widgets.api_version}\nkind: Widget\nmetadata: {{name: w}}\n"
            "spec:\n  size: small\n  replicas: 3\n  flag: true\n  ratio: 0.5\n")
    made = api.post(widgets.at(ns), body, type="application/yaml").ok(201)
    assert made["spec"] == {**DEFAULTS, "size": "small", "replicas": 3, "flag": True, "ratio": 0.5}


@pytest.mark.embedded  # 1.36 ends the connection at such a body
def test_a_custom_resource_is_not_read_from_protobuf(api, ns, widgets):
    answer = api.post(widgets.at(ns), b"k8s\x00", type="application/vnd.kubernetes.protobuf")
    assert answer.code in (400, 415)


def test_json_patch_on_a_custom_resource(api, ns, widgets):
    create(api, ns, widgets, {"atoms": ["a"]}).ok(201)
    ops = [{"op": "add", "path": "/spec/atoms/-", "value": "b"},
           {"op": "test", "path": "/spec/mode", "value": "fast"}]
    assert api.patch(widgets.at(ns, "w"), ops, "json").ok()["spec"]["atoms"] == ["a", "b"]


RULED = {"a": {"type": "integer"}, "s": {"type": "string", "maxLength": 10}, "q": {"x-kubernetes-int-or-string": True},
         "l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 10}},
         "m": {"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string", "maxLength": 10}}}


def define(api, rule):
    spec = {"type": "object", "properties": RULED, "x-kubernetes-validations": [{"rule": rule}]}
    return api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "ruled.checks.test"},
        "spec": {"group": "checks.test", "scope": "Namespaced",
                 "names": {"plural": "ruled", "singular": "rule", "kind": "Rule", "listKind": "RuleList"},
                 "versions": [{"name": "v1", "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}},
        query={"dryRun": "All"})


@pytest.mark.since(29, "CEL in definitions is GA")
@pytest.mark.parametrize("rule, words", [
    ("self.a == 'x'", "1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.a == 'x'\n | .......^"),
    ("self.zzz == 1", "1:5: undefined field 'zzz'"),
    ("has(self.qq)", "1:4: undefined field 'qq'"),
    ("self.a.startsWith('x')", "1:18: found no matching overload for 'startsWith' applied to 'int.(string)'"),
    ("1 in self.l", "1:3: found no matching overload for '@in' applied to '(int, list(string))'"),
    ("self.m['k'] == 5", "1:13: found no matching overload for '_==_' applied to '(string, int)'"),
    ("self.a > 1 ? 'x' : 3", "1:12: found no matching overload for '_?_:_' applied to '(bool, string, int)'"),
    ("self.l.all(x, x == 1)", "1:17: found no matching overload for '_==_' applied to '(string, int)'"),
    ("self.a", "cel expression must evaluate to a bool"),
])
def test_a_rule_that_can_never_work_is_refused(api, rule, words):
    assert words in define(api, rule).fails(422, "Invalid")["message"]


@pytest.mark.since(29, "CEL in definitions is GA")
@pytest.mark.parametrize("rule", [
    "self.a > 1 && self.s.size() < 5", "self.q == 1 || self.q == 'x'", "self.m.k == 'x' && 'k' in self.m",
    "self.l.map(x, size(x)).sum() > 3", "self.a > 1.5", "oldSelf.a == self.a", "dyn(self.a) == 'x'"])
def test_a_rule_that_may_work_is_taken(api, rule):
    define(api, rule).ok(201)
