# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields that cannot be changed after creation."""
import re

import pytest

from lib.objects import (claim, configmap, deployment, job, pod, replicaset, secret, service,
                         statefulset)


def refused(api, url, body, text, kind="merge"):
    status = api.patch(url, body, kind).fails(422, "Invalid", re.compile(text))
    return status["details"]["causes"][0]


def test_an_immutable_configmap(api, ns):
    ns.create("configmaps", {**configmap("a", {"k": "1"}), "immutable": True})
    url = ns.url("configmaps", "a")
    frozen = "Forbidden: field is immutable when `immutable` is set"
    cause = refused(api, url, {"data": {"k": "2"}}, f"data: {frozen}")
    assert (cause["reason"], cause["field"]) == ("FieldValueForbidden", "data")
    refused(api, url, {"immutable": False}, f"immutable: {frozen}")
    refused(api, url, {"binaryData": {"b": "dg=="}}, f"binaryData: {frozen}")
    api.patch(url, {"metadata": {"labels": {"x": "y"}}}).ok(200)


def test_an_immutable_secret(api, ns):
    ns.create("secrets", secret("a", data={"k": "dg=="}, immutable=True))
    refused(api, ns.url("secrets", "a"), {"data": {"k": "dw=="}},
            "data: Forbidden: field is immutable when `immutable` is set")


def test_a_configmap_may_become_immutable(api, ns):
    ns.create("configmaps", configmap("a", {"k": "1"}))
    assert api.patch(ns.url("configmaps", "a"), {"immutable": True}).ok()["immutable"] is True


def test_the_type_of_a_secret(api, ns):
    ns.create("secrets", secret("a"))
    cause = refused(api, ns.url("secrets", "a"), {"type": "foo"},
                    'type: Invalid value: "foo": field is immutable')
    assert cause["reason"] == "FieldValueInvalid"


@pytest.mark.parametrize("resource, make", [
    ("deployments", deployment), ("replicasets", replicaset)])
def test_the_selector_of_a_workload(api, ns, resource, make):
    ns.create(resource, make("w"))
    body = {"spec": {"selector": {"matchLabels": {"app": "x"}},
                     "template": {"metadata": {"labels": {"app": "x"}}}}}
    refused(api, ns.url(resource, "w"), body,
            "spec.selector: Invalid value: .*: field is immutable")


@pytest.mark.parametrize("resource, make", [
    ("deployments", deployment), ("replicasets", replicaset), ("statefulsets", statefulset)])
def test_the_selector_must_match_the_template(api, ns, resource, make):
    body = make("w")
    body["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    status = api.post(ns.url(resource), body).fails(422, "Invalid", re.compile(
        "spec.template.metadata.labels: Invalid value: .*`selector` does not match template "
        "`labels`"))
    assert status["details"]["group"] == "apps"


def test_a_selector_is_required(api, ns):
    body = deployment("w")
    del body["spec"]["selector"]
    status = api.post(ns.url("deployments"), body).fails(422, "Invalid")
    assert "spec.selector" in [c["field"] for c in status["details"]["causes"]]


@pytest.mark.parametrize("change", [
    {"serviceName": "other"}, {"podManagementPolicy": "Parallel"},
    {"volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": claim("v")["spec"]}]},
])
def test_most_of_a_statefulset(api, ns, change):
    ns.create("statefulsets", statefulset("s"))
    cause = refused(api, ns.url("statefulsets", "s"), {"spec": change},
                    "spec: Forbidden: updates to statefulset spec for fields other than .*"
                    "'replicas'.*'template'.*'updateStrategy'.* are forbidden")
    assert (cause["reason"], cause["field"]) == ("FieldValueForbidden", "spec")


def test_some_of_a_statefulset_may_change(api, ns):
    ns.create("statefulsets", statefulset("s"))
    body = {"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
                     "template": {"metadata": {"annotations": {"x": "y"}}}}}
    stored = api.patch(ns.url("statefulsets", "s"), body).ok(200)
    assert stored["spec"]["updateStrategy"] == {"type": "OnDelete"}


def test_the_cluster_ip_of_a_service(api, ns):
    made = ns.create("services", service("s"))
    other = made["spec"]["clusterIP"].rsplit(".", 1)[0] + ".249"
    body = {"spec": {"clusterIP": other, "clusterIPs": [other]}}
    status = api.patch(ns.url("services", "s"), body).fails(422, "Invalid")
    assert any(c["field"].startswith("spec.clusterIP") for c in status["details"]["causes"])


def test_the_spec_of_a_claim(api, ns):
    ns.create("persistentvolumeclaims", claim("c"))
    refused(api, ns.url("persistentvolumeclaims", "c"),
            {"spec": {"accessModes": ["ReadWriteMany"]}},
            r"spec: Forbidden: (spec is immutable after creation except resources.requests|"
            "is immutable after creation except resources.requests for bound claims)")


def test_most_of_a_pod(api, ns):
    ns.create("pods", pod("p"))
    cause = refused(api, ns.url("pods", "p"), {"spec": {"hostNetwork": True}},
                    "spec: Forbidden: pod updates may not change fields other than "
                    r"`spec.containers\[\*\].image`, ?`spec.initContainers\[\*\].image`")
    assert cause["field"] == "spec"


def test_the_image_of_a_pod_may_change(api, ns):
    ns.create("pods", pod("p"))
    body = {"spec": {"containers": [{"name": "main", "image": "other:2"}]}}
    stored = api.patch(ns.url("pods", "p"), body, "strategic").ok(200)
    assert stored["spec"]["containers"][0]["image"] == "other:2"


def test_the_template_of_a_job(api, ns):
    ns.create("jobs", job("j"))
    body = {"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}}
    refused(api, ns.url("jobs", "j"), body, "spec.template: Invalid value: .*field is immutable")


def test_the_name_and_uid_of_an_object(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    api.patch(widgets.at(ns, "a"), {"metadata": {"name": "b"}}).fails(400, "BadRequest")
    assert api.patch(widgets.at(ns, "a"), {"metadata": {"uid": "x"}}).code in (409, 422)


def test_the_scope_of_a_definition(api, widgets):
    status = api.patch(widgets.url, {"spec": {"scope": "Cluster"}}).fails(422, "Invalid")
    assert "spec.scope" in [c["field"] for c in status["details"]["causes"]]
