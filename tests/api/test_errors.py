# SPDX-License-Identifier: GPL-2.0-or-later
"""Status errors: paths, methods, media types, malformed and oversized bodies."""
import json
import re

import pytest

from lib.objects import configmap

NO_RESOURCE = "the server could not find the requested resource"
NO_METHOD = "the server does not allow this method on the requested resource"


def test_a_missing_object_is_404(api, ns):
    status = api.get(ns.url("configmaps", "zz")).fails(
        404, "NotFound", 'configmaps "zz" not found')
    assert status["details"] == {"name": "zz", "kind": "configmaps"}
    assert status["metadata"] == {}


def test_a_missing_custom_resource_names_the_group(api, ns, widgets):
    status = api.get(widgets.at(ns, "zz")).fails(
        404, "NotFound", f'{widgets.resource} "zz" not found')
    assert status["details"] == {"name": "zz", "group": widgets.group, "kind": "widgets"}


def test_a_missing_builtin_of_a_group_names_the_group(api, ns):
    status = api.get(ns.url("deployments", "zz")).fails(
        404, "NotFound", 'deployments.apps "zz" not found')
    assert status["details"] == {"name": "zz", "group": "apps", "kind": "deployments"}


def test_errors_are_json(api, ns):
    assert api.get(ns.url("configmaps", "zz")).type == "application/json"


@pytest.mark.parametrize("path", ["/api/v1/nosuchthings", "/apis/apps/v1/nosuchthings"])
def test_an_unknown_resource_of_a_known_version_is_404(api, path):
    status = api.get(path).fails(404, "NotFound", NO_RESOURCE)
    assert status["details"] == {}


def test_an_unknown_subresource_is_404(api, ns):
    ns.create("configmaps", configmap("a"))
    api.get(ns.url("configmaps", "a", "status")).fails(404, "NotFound", NO_RESOURCE)


@pytest.mark.parametrize("path", ["/apis/apps/v99/deployments", "/api/v99/pods", "/apis/apps/v99",
                                  "/api/v99"])
def test_an_unknown_version_of_a_known_group_is_404(api, path):
    api.get(path).fails(404, "NotFound", NO_RESOURCE)


@pytest.mark.parametrize("path", ["/apis/nosuch.group", "/apis/nosuch.group/v1/things"])
def test_an_unknown_group_is_a_plain_404(api, path):
    answer = api.get(path)
    assert answer.code == 404
    assert answer.text.strip() == "404 page not found"
    assert answer.type.startswith("text/plain")


def test_an_unknown_path_is_404(api):
    assert api.get("/nowhere").code == 404


@pytest.mark.parametrize("method, sub", [("POST", "a"), ("PUT", None), ("PATCH", None)])
def test_a_method_that_does_not_fit_is_405(api, ns, method, sub):
    answer = api.request(method, ns.url("configmaps", sub), configmap("a"),
                         type="application/merge-patch+json" if method == "PATCH" else None)
    status = answer.fails(405, "MethodNotAllowed", NO_METHOD)
    assert status["details"] == {}


def test_an_unknown_content_type_is_415(api, ns):
    api.post(ns.url("configmaps"), "x", type="text/weird").fails(
        415, "UnsupportedMediaType", re.compile(
            "^the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf"))


def test_an_unknown_accept_is_406(api, ns, widgets):
    only = "only the following media types are accepted: application/json, application/yaml"
    api.get(ns.url("configmaps"), accept="text/weird").fails(
        406, "NotAcceptable", re.compile("^406: Not Acceptable|^" + only))
    api.get(widgets.at(ns), accept="text/weird").fails(
        406, "NotAcceptable", re.compile("^" + only))


@pytest.mark.parametrize("accept", [
    "*/*", "text/weird, */*", "application/json;q=0.5, text/weird",
    "application/json; charset=utf-8", "", None,
])
def test_accept_headers_that_allow_json(api, ns, accept):
    answer = api.get(ns.url("configmaps"), headers={"Accept": accept})
    assert answer.code == 200
    assert answer.type == "application/json"


def test_an_unknown_transformation_is_406(api, ns):
    api.get(ns.url("configmaps"), accept="application/json;as=Weird;v=v1;g=meta.k8s.io").fails(
        406, "NotAcceptable")


@pytest.mark.parametrize("body", [
    "", "{", "[]", "null", '"text"', "{} {}", '{"kind":"ConfigMap","apiVersion":"v1",', "\x00\x01",
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":5}}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":5}}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":[]}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"binaryData":{"k":"*"}}',
])
def test_a_malformed_body_is_refused(api, ns, body):
    answer = api.post(ns.url("configmaps"), body, type="application/json")
    assert answer.code in (400, 422), answer
    assert answer.json["kind"] == "Status"
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")


def test_a_body_of_another_kind_is_a_bad_request(api, ns):
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    api.post(ns.url("configmaps"), body).fails(
        400, "BadRequest", re.compile('^Secret in version "v1" cannot be handled as a ConfigMap'))


def test_a_body_of_another_version_is_a_bad_request(api, ns):
    body = {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}
    api.post(ns.url("configmaps"), body).fails(400, "BadRequest")


def test_an_unknown_kind_is_a_bad_request(api, ns):
    body = {"apiVersion": "v1", "kind": "Nothing", "metadata": {"name": "a"}}
    api.post(ns.url("configmaps"), body).fails(
        400, "BadRequest", re.compile('no kind "Nothing" is registered for version "v1"|'
                                      '^Nothing in version "v1" cannot be handled as a ConfigMap'))


def test_a_wrong_type_names_the_kind(api, ns):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": 5}}
    api.post(ns.url("configmaps"), body).fails(
        400, "BadRequest", re.compile(
            '^ConfigMap in version "v1" cannot be handled as a ConfigMap'))


def test_a_custom_resource_of_another_kind_is_refused(api, ns, widgets):
    body = {**widgets.make("a", {}), "kind": "Other"}
    assert api.post(widgets.at(ns), body).code in (400, 422)


def test_a_custom_resource_needs_kind_and_version(api, ns, widgets):
    api.post(widgets.at(ns), {"metadata": {"name": "a"}}).fails(400, "BadRequest")


def test_a_body_over_three_mebibytes_is_413(api, ns):
    body = json.dumps(configmap("a", {"k": "x" * (3 << 20)}))
    answer = api.post(ns.url("configmaps"), body, type="application/json")
    assert answer.code == 413
    status = answer.json
    assert status["reason"] == "RequestEntityTooLarge"
    assert status["message"] == "Request entity too large: limit is 3145728"


def test_a_configmap_over_one_mebibyte_is_invalid(api, ns):
    status = api.post(ns.url("configmaps"), configmap("a", {"k": "x" * ((1 << 20) + 1)})).fails(
        422, "Invalid", re.compile("Too long: (must have|may not be more than|must be) .*1048576"))
    assert status["details"]["causes"][0]["reason"] == "FieldValueTooLong"


def test_deep_nesting_does_not_hurt(api, ns):
    body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":' + \
        "[" * 100000 + "]" * 100000 + "}"
    assert api.post(ns.url("configmaps"), body, type="application/json").code in (400, 413, 422)
    ns.create("configmaps", configmap("still-alive"))


def test_invalid_utf8_does_not_hurt(api, ns):
    body = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"\xff\xfe"}}'
    assert api.post(ns.url("configmaps"), body, type="application/json").code in (201, 400)


def test_unicode_is_kept(ns):
    text = "Zürich \u2603 \U0001f600 \u0000 \"quoted\" \\ / \n"
    assert ns.create("configmaps", configmap("a", {"k": text}))["data"]["k"] == text
    assert ns.get("configmaps", "a")["data"]["k"] == text


def test_several_faults_are_all_named(api, ns):
    body = configmap("Bad_Name", {"bad key!": "x"}, labels={"l": "bad value!"})
    status = api.post(ns.url("configmaps"), body).fails(
        422, "Invalid", re.compile(r'^ConfigMap "Bad_Name" is invalid: \[metadata.name: .*, '
                                   r"metadata.labels: .*, data\[bad key!\]: .*\]$"))
    assert status["details"]["name"] == "Bad_Name"
    assert status["details"]["kind"] == "ConfigMap"
    assert [c["field"] for c in status["details"]["causes"]] == [
        "metadata.name", "metadata.labels", "data[bad key!]"]
    assert {c["reason"] for c in status["details"]["causes"]} == {"FieldValueInvalid"}


def test_percent_encoding_in_a_path_is_read(api, ns):
    ns.create("configmaps", configmap("a.b"))
    assert api.get(ns.url("configmaps", "a%2Eb")).ok()["metadata"]["name"] == "a.b"


@pytest.mark.since(25, "fieldValidation is understood")
def test_strict_field_validation_names_the_field(api, ns):
    body = {**configmap("a"), "bogus": 1}
    body["metadata"]["foo"] = 2
    api.post(ns.url("configmaps"), body, query={"fieldValidation": "Strict"}).fails(
        400, "BadRequest", re.compile(
            '^ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
            r'unknown field "(bogus|metadata.foo)", unknown field "(bogus|metadata.foo)"$'))


@pytest.mark.since(25, "fieldValidation is understood")
def test_strict_field_validation_names_a_duplicate(api, ns):
    body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}'
    query = {"fieldValidation": "Strict"}
    api.post(ns.url("configmaps"), body, type="application/json", query=query).fails(
        400, "BadRequest", re.compile('strict decoding error: duplicate field "data.k"'))


@pytest.mark.since(25, "fieldValidation is understood")
def test_strict_field_validation_of_a_custom_resource(api, ns, widgets):
    query = {"fieldValidation": "Strict"}
    api.post(widgets.at(ns), widgets.make("a", {"bogus": 1}), query=query).fails(
        400, "BadRequest", re.compile('strict decoding error: unknown field "spec.bogus"'))


@pytest.mark.since(25, "fieldValidation is understood")
def test_strict_field_validation_of_a_patch(api, ns):
    ns.create("configmaps", configmap("a"))
    query = {"fieldValidation": "Strict"}
    for kind in ("merge", "strategic"):
        api.patch(ns.url("configmaps", "a"), {"bogus": 1}, kind, query=query).fails(
            422, "Invalid", re.compile('strict decoding error: unknown field "bogus"'))


@pytest.mark.since(25, "fieldValidation is understood")
def test_unknown_fields_bring_a_warning_by_default(api, ns, widgets):
    answer = api.post(ns.url("configmaps"), {**configmap("a"), "bogus": 1})
    assert "bogus" not in answer.ok(201)
    assert answer.warnings == ['unknown field "bogus"']
    answer = api.post(widgets.at(ns), widgets.make("a", {"bogus": 1}))
    assert "bogus" not in answer.ok(201)["spec"]
    assert answer.warnings == ['unknown field "spec.bogus"']


@pytest.mark.since(25, "fieldValidation is understood")
def test_unknown_fields_can_be_ignored(api, ns):
    answer = api.post(ns.url("configmaps"), {**configmap("a"), "bogus": 1},
                      query={"fieldValidation": "Ignore"})
    assert "bogus" not in answer.ok(201)
    assert answer.warnings == []


@pytest.mark.since(25, "fieldValidation is understood")
def test_an_unknown_field_validation_is_invalid(api, ns):
    api.post(ns.url("configmaps"), configmap("a"), query={"fieldValidation": "Weird"}).fails(
        422, "Invalid", re.compile('^CreateOptions.meta.k8s.io "" is invalid: fieldValidation: '))
