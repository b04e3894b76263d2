# SPDX-License-Identifier: GPL-2.0-or-later
"""Validation of names, labels, annotations, keys and references."""
import re

import pytest

from lib.objects import configmap, lease, owner, pod, role, secret, service

SUBDOMAIN = re.compile(
    r"metadata.name: Invalid value: .*a (lowercase RFC 1123|DNS-1123) subdomain must consist of "
    r"lower case alphanumeric characters, '-' or '\.', and must start and end with an alphanumeric "
    r"character \(e\.g\. 'example\.com', regex used for validation is "
    r"'\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\(\\\.\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\)\*'\)")


def refused(answer, field, text=None):
    status = answer.fails(422, "Invalid", text)
    assert field in [c["field"] for c in status["details"]["causes"]]
    return status


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a-", ".a", "a..b", "a b", "ä"])
def test_a_bad_subdomain_name(api, ns, name):
    refused(api.post(ns.url("configmaps"), configmap(name)), "metadata.name", SUBDOMAIN)


@pytest.mark.parametrize("name", ["a", "a.b", "1", "a-b.c-d", "x" * 253])
def test_a_good_subdomain_name(ns, name):
    assert ns.create("configmaps", configmap(name))["metadata"]["name"] == name


def test_a_name_that_is_too_long(api, ns):
    refused(api.post(ns.url("configmaps"), configmap("x" * 254)), "metadata.name",
            re.compile("must be no more than 253 (characters|bytes)"))


@pytest.mark.parametrize("name", ["a.b", "A", "x" * 64, "-a"])
def test_a_bad_namespace_name(api, name):
    refused(api.post("/api/v1/namespaces", {"metadata": {"name": name}}), "metadata.name")


def test_the_text_of_a_bad_namespace_name(api):
    refused(api.post("/api/v1/namespaces", {"metadata": {"name": "a.b"}}), "metadata.name",
            re.compile(r"must not contain dots|a (lowercase RFC 1123|DNS-1123) label must consist of lower case "
                       r"alphanumeric characters or '-', and must start and end with an "
                       r"alphanumeric character \(e\.g\. 'my-name', +or '123-abc', regex used for "
                       r"validation is '\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?'\)"))


@pytest.mark.parametrize("name", ["a.b", "A", "x" * 64])
def test_a_bad_service_name(api, ns, name):
    refused(api.post(ns.url("services"), service(name)), "metadata.name")


def test_a_role_name_is_a_path_segment(api, ns):
    ns.create("roles", role("Any:Name_is fine"))
    refused(api.post(ns.url("roles"), role("a%b")), "metadata.name")
    refused(api.post(ns.url("roles"), role("..")), "metadata.name")


def test_a_bad_generate_name(api, ns):
    answer = api.post(ns.url("configmaps"), {"metadata": {"generateName": "Bad_"}})
    refused(answer, "metadata.generateName")


def test_a_bad_custom_resource_name(api, ns, widgets):
    refused(api.post(widgets.at(ns), widgets.make("Bad", {})), "metadata.name", SUBDOMAIN)


@pytest.mark.parametrize("labels", [
    {"k": "bad value"}, {"k": "-a"}, {"k": "x" * 64}, {"bad key": "v"}, {"": "v"}, {"/k": "v"},
    {"a/b/c": "v"}, {"Bad_Prefix/k": "v"}, {"x" * 64: "v"}, {"a.test/" + "x" * 64: "v"},
])
def test_bad_labels(api, ns, labels):
    refused(api.post(ns.url("configmaps"), configmap("a", labels=labels)), "metadata.labels")


@pytest.mark.parametrize("labels", [
    {"k": ""}, {"k": "A_b.c-1"}, {"a.test/k": "v"}, {"K": "x" * 63}, {"x" * 63: "v"},
    {"p" * 253 + "/k": "v"},
])
def test_good_labels(ns, labels):
    assert ns.create("configmaps", configmap("a", labels=labels))["metadata"]["labels"] == labels


def test_the_text_of_a_bad_label_value(api, ns):
    refused(api.post(ns.url("configmaps"), configmap("a", labels={"k": "bad value"})),
            "metadata.labels", re.compile(
                'metadata.labels: Invalid value: "bad value": a valid label must be an empty '
                "string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
                r"end with an alphanumeric character \(e.g. 'MyValue', +or 'my_value', +or "
                "'12345', regex used for validation is "
                r"'\(\(\[A-Za-z0-9\]\[-A-Za-z0-9_.\]\*\)\?\[A-Za-z0-9\]\)\?'\)"))


def test_annotations_have_free_values_and_checked_keys(api, ns):
    ns.create("configmaps", configmap("a", annotations={"k": "any thing!\n" * 9, "K/x": ""}))
    answer = api.post(ns.url("configmaps"), configmap("b", annotations={"bad key": "v"}))
    refused(answer, "metadata.annotations")


def test_annotations_together_have_a_limit(api, ns):
    big = {"k": "x" * (256 * 1024)}
    refused(api.post(ns.url("configmaps"), configmap("a", annotations=big)),
            "metadata.annotations", re.compile("metadata.annotations: Too long: .*262144"))


@pytest.mark.parametrize("key", ["a b", "", ".", "..", "..a", "a/b", "x" * 254])
def test_bad_configmap_keys(api, ns, key):
    assert api.post(ns.url("configmaps"), configmap("a", {key: "v"})).code == 422
    assert api.post(ns.url("secrets"), secret("a", data={key: "dg=="})).code == 422


def test_the_text_of_a_bad_configmap_key(api, ns):
    status = refused(api.post(ns.url("configmaps"), configmap("a", {"a b": "v"})), "data[a b]")
    assert status["message"] == (
        'ConfigMap "a" is invalid: data[a b]: Invalid value: "a b": a valid config key must '
        "consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
        "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')")


@pytest.mark.parametrize("key", ["a", "A_b.c-1", ".a", "x" * 253])
def test_good_configmap_keys(ns, key):
    assert ns.create("configmaps", configmap("a", {key: "v"}))["data"] == {key: "v"}


def test_a_key_in_both_maps_is_refused(api, ns):
    body = {**configmap("a", {"k": "v"}), "binaryData": {"k": "dg=="}}
    refused(api.post(ns.url("configmaps"), body), "data[k]")


@pytest.mark.parametrize("name", ["plain", "bad name/x", "a/b/c"])
def test_a_finalizer_must_be_qualified(api, ns, name):
    assert api.post(ns.url("configmaps"), configmap("a", finalizers=[name])).code == 422


def test_the_text_of_an_unqualified_finalizer(api, ns, widgets):
    made = widgets.make("a", {})
    made["metadata"]["finalizers"] = ["plain"]
    answer = api.post(widgets.at(ns), made)
    text = "name is neither a standard finalizer name nor is it fully qualified"
    if answer.code == 422:
        assert text in answer.json["message"]
    else:
        answer.ok(201)


@pytest.mark.parametrize("missing", ["apiVersion", "kind", "name", "uid"])
def test_an_owner_reference_must_be_complete(api, ns, missing):
    ref = owner(ns.create("secrets", secret("s")) | {"apiVersion": "v1", "kind": "Secret"})
    del ref[missing]
    answer = api.post(ns.url("configmaps"), configmap("a", ownerReferences=[ref]))
    status = answer.fails(422, "Invalid")
    assert any("ownerReferences" in c["field"] for c in status["details"]["causes"])


def test_only_one_owner_may_be_the_controller(api, ns):
    refs = [owner(ns.create("secrets", secret(n)), controller=True) for n in "xy"]
    answer = api.post(ns.url("configmaps"), configmap("a", ownerReferences=refs))
    refused(answer, "metadata.ownerReferences", re.compile(
        "Only one reference can have Controller set to true"))


def test_an_event_cannot_own(api, ns):
    ref = {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}
    refused(api.post(ns.url("configmaps"), configmap("a", ownerReferences=[ref])),
            "metadata.ownerReferences")


# The smallest mistakes in kinds that the operator writes

@pytest.mark.parametrize("change, field", [
    ({"containers": []}, "spec.containers"),
    ({"containers": [{"image": "x"}]}, "spec.containers[0].name"),
    ({"containers": [{"name": "Bad", "image": "x"}]}, "spec.containers[0].name"),
    ({"containers": [{"name": "a", "image": "x"}, {"name": "a", "image": "x"}]},
     "spec.containers[1].name"),
    ({"containers": [{"name": "a"}]}, "spec.containers[0].image"),
    ({"restartPolicy": "Sometimes"}, "spec.restartPolicy"),
    ({"dnsPolicy": "Weird"}, "spec.dnsPolicy"),
    ({"volumes": [{"name": "v"}, {"name": "v"}]}, "spec.volumes[1].name"),
    ({"containers": [{"name": "a", "image": "x", "volumeMounts": [
        {"name": "none", "mountPath": "/x"}]}]}, "spec.containers[0].volumeMounts[0].name"),
    ({"containers": [{"name": "a", "image": "x", "ports": [{"containerPort": 0}]}]},
     "spec.containers[0].ports[0].containerPort"),
    ({"containers": [{"name": "a", "image": "x", "ports": [{"containerPort": 70000}]}]},
     "spec.containers[0].ports[0].containerPort"),
    ({"containers": [{"name": "a", "image": "x", "env": [{"name": "A=B"}]}]},
     "spec.containers[0].env[0].name"),
    ({"containers": [{"name": "a", "image": "x", "imagePullPolicy": "Weird"}]},
     "spec.containers[0].imagePullPolicy"),
    ({"containers": [{"name": "a", "image": "x", "resources": {
        "requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]},
     "spec.containers[0].resources.requests"),
    ({"hostname": "Bad_Host"}, "spec.hostname"),
    ({"nodeSelector": {"k": "bad value"}}, "spec.nodeSelector"),
])
def test_a_bad_pod_names_the_field(api, ns, change, field):
    api.until(ns.url("serviceaccounts", "default"), lambda a: a.code == 200)
    refused(api.post(ns.url("pods"), pod("p", **change)), field)


@pytest.mark.parametrize("quantity", ["x", "1.5.5", "1kk"])
def test_a_bad_quantity_is_refused(api, ns, quantity):
    limits = {"limits": {"memory": quantity}}
    body = pod("p", containers=[{"name": "a", "image": "x", "resources": limits}])
    assert api.post(ns.url("pods"), body).code in (400, 422)


@pytest.mark.parametrize("spec, field", [
    ({"ports": []}, "spec.ports"),
    ({"ports": [{"port": 0}]}, "spec.ports[0].port"),
    ({"ports": [{"port": 80}, {"port": 81}]}, "spec.ports[0].name"),
    ({"ports": [{"port": 80, "protocol": "ICMP"}]}, "spec.ports[0].protocol"),
    ({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]}, "spec.ports[1]"),
    ({"type": "Weird"}, "spec.type"),
    ({"clusterIP": "not-an-ip"}, "spec.clusterIP"),
    ({"type": "ExternalName"}, "spec.externalName"),
    ({"sessionAffinity": "Weird"}, "spec.sessionAffinity"),
])
def test_a_bad_service_names_the_field(api, ns, spec, field):
    status = api.post(ns.url("services"), service("s", **spec)).fails(422, "Invalid")
    assert any(c["field"].startswith(field) for c in status["details"]["causes"]), status


def test_a_bad_lease_names_the_field(api, ns):
    refused(api.post(ns.url("leases"), lease("l", leaseDurationSeconds=0)),
            "spec.leaseDurationSeconds", re.compile("must be greater than 0"))


def test_a_bad_time_is_a_bad_request(api, ns):
    api.post(ns.url("leases"), lease("l", renewTime="yesterday")).fails(400, "BadRequest")
