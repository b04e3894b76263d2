# SPDX-License-Identifier: GPL-2.0-or-later
"""update (PUT): optimistic locking, what may change, generation and resourceVersion."""
import re

import pytest

from lib.objects import configmap, deployment, endpoints, event, lease, secret, without


def stale(resource, name):
    return (f'Operation cannot be fulfilled on {resource} "{name}": the object has been modified; '
            "please apply your changes to the latest version and try again")


def test_update_replaces_the_object(api, ns):
    made = ns.create("configmaps", configmap("a", {"k": "1", "l": "2"}))
    stored = api.put(ns.url("configmaps", "a"), {**made, "data": {"k": "3"}}).ok(200)
    assert stored["data"] == {"k": "3"}
    assert ns.get("configmaps", "a") == stored


def test_update_raises_the_version_and_keeps_the_identity(api, ns):
    made = ns.create("configmaps", configmap("a", {"k": "1"}))["metadata"]
    body = configmap("a", {"k": "2"}, resourceVersion=made["resourceVersion"])
    meta = api.put(ns.url("configmaps", "a"), body).ok(200)["metadata"]
    assert int(meta["resourceVersion"]) > int(made["resourceVersion"])
    assert (meta["uid"], meta["creationTimestamp"]) == (made["uid"], made["creationTimestamp"])


def test_an_update_that_changes_nothing_keeps_the_version(api, ns):
    made = ns.create("configmaps", configmap("a", {"k": "1"}))
    again = api.put(ns.url("configmaps", "a"), made).ok(200)
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_versions_rise_over_all_objects(api, ns):
    versions = [int(ns.create("configmaps", configmap(n))["metadata"]["resourceVersion"])
                for n in "ab"]
    versions.append(int(ns.create("secrets", secret("a"))["metadata"]["resourceVersion"]))
    changed = api.patch(ns.url("configmaps", "a"), {"data": {"k": "1"}}).ok()
    versions.append(int(changed["metadata"]["resourceVersion"]))
    assert versions == sorted(set(versions))


def test_a_stale_version_is_a_conflict(api, ns):
    made = ns.create("configmaps", configmap("a", {"k": "1"}))
    api.patch(ns.url("configmaps", "a"), {"data": {"k": "2"}}).ok()
    status = api.put(ns.url("configmaps", "a"), {**made, "data": {"k": "3"}}).fails(
        409, "Conflict", stale("configmaps", "a"))
    assert status["details"] == {"name": "a", "kind": "configmaps"}


def test_a_stale_version_of_a_custom_resource_names_the_group(api, ns, widgets):
    made = api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    api.patch(widgets.at(ns, "a"), {"spec": {"size": "small"}}).ok()
    status = api.put(widgets.at(ns, "a"), made).fails(
        409, "Conflict", stale(widgets.resource, "a"))
    assert status["details"] == {"name": "a", "group": widgets.group, "kind": "widgets"}


def test_a_configmap_may_be_overwritten_without_a_version(api, ns):
    ns.create("configmaps", configmap("a", {"k": "1"}))
    assert api.put(ns.url("configmaps", "a"), configmap("a", {"l": "2"})).ok()["data"] == {"l": "2"}


def test_a_custom_resource_needs_a_version(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    status = api.put(widgets.at(ns, "a"), widgets.make("a", {})).fails(
        422, "Invalid", re.compile(
            f'{widgets.resource} "a" is invalid: metadata.resourceVersion: '
            "Invalid value: 0(x0)?: must be specified for an update"))
    assert status["details"]["causes"][0]["field"] == "metadata.resourceVersion"


def test_a_lease_needs_a_version(api, ns):
    ns.create("leases", lease("l", holderIdentity="me"))
    api.put(ns.url("leases", "l"), lease("l", holderIdentity="you")).fails(
        422, "Invalid", re.compile(
            "metadata.resourceVersion: Invalid value: 0(x0)?: must be specified"))


@pytest.mark.parametrize("resource, kind", [("configmaps", "ConfigMap"), ("secrets", "Secret")])
def test_update_of_a_missing_object_is_404(api, ns, resource, kind):
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "zz"}}
    api.put(ns.url(resource, "zz"), body).fails(404, "NotFound", f'{resource} "zz" not found')


def test_update_creates_a_missing_lease(api, ns):
    api.put(ns.url("leases", "l"), lease("l", holderIdentity="me")).ok(201)
    assert ns.get("leases", "l")["spec"]["holderIdentity"] == "me"


def test_update_creates_missing_endpoints_and_events(api, ns):
    api.put(ns.url("endpoints", "e"), endpoints("e")).ok(201)
    api.put(ns.url("events", "e"), event("e", ns.name)).ok(201)


def test_a_version_on_a_missing_object_is_a_failure(api, ns):
    body = configmap("zz", resourceVersion="5")
    api.put(ns.url("configmaps", "zz"), body).fails(404, "NotFound")


def test_the_name_of_the_body_must_be_that_of_the_path(api, ns):
    ns.create("configmaps", configmap("a"))
    api.put(ns.url("configmaps", "a"), configmap("other")).fails(
        400, "BadRequest", "the name of the object (other) does not match the name on the URL (a)")


def test_the_namespace_of_the_body_must_be_that_of_the_path(api, ns):
    ns.create("configmaps", configmap("a"))
    api.put(ns.url("configmaps", "a"), configmap("a", namespace="other")).fails(400, "BadRequest")


def test_a_uid_that_differs_is_a_conflict(api, ns):
    made = ns.create("configmaps", configmap("a"))
    made["metadata"]["uid"] = "other"
    status = api.put(ns.url("configmaps", "a"), made).fails(409, "Conflict")
    assert "Precondition failed: UID in precondition: other, UID in object meta: " in \
        status["message"]


def test_the_creation_time_cannot_be_changed(api, ns):
    made = ns.create("configmaps", configmap("a"))
    time = made["metadata"]["creationTimestamp"]
    made["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z"
    made["data"] = {"k": "1"}
    assert api.put(ns.url("configmaps", "a"), made).ok()["metadata"]["creationTimestamp"] == time


def test_a_dry_run_update_is_not_stored(api, ns):
    made = ns.create("configmaps", configmap("a", {"k": "1"}))
    shown = api.put(ns.url("configmaps", "a"), {**made, "data": {"k": "2"}},
                    query={"dryRun": "All"}).ok(200)
    assert shown["data"] == {"k": "2"}
    assert ns.get("configmaps", "a") == made


def test_an_unknown_dry_run_value_is_invalid(api, ns):
    made = ns.create("configmaps", configmap("a"))
    api.put(ns.url("configmaps", "a"), made, query={"dryRun": "x"}).fails(
        422, "Invalid", re.compile(
            r'UpdateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: '
            r'(\["x"\]|\[\]string{"x"}): supported values: "All"'))


def test_update_is_not_allowed_on_the_collection(api, ns):
    api.put(ns.url("configmaps"), configmap("a")).fails(405, "MethodNotAllowed")


def test_generation_follows_the_spec_of_a_deployment(api, ns):
    # Paused, so that no controller adds an annotation meanwhile.
    made = ns.create("deployments", deployment("d", paused=True))
    url = ns.url("deployments", "d")
    assert made["metadata"]["generation"] == 1
    meta = api.patch(url, {"metadata": {"labels": {"x": "y"}}}).ok()["metadata"]
    assert meta["generation"] == 1
    meta = api.patch(url, {"spec": {"minReadySeconds": 5}}).ok()["metadata"]
    assert meta["generation"] == 2
    # Of a Deployment, annotations count as well.
    meta = api.patch(url, {"metadata": {"annotations": {"x": "y"}}}).ok()["metadata"]
    assert meta["generation"] == 3
    meta = api.patch(url, {"metadata": {"generation": 77}}).ok()["metadata"]
    assert meta["generation"] == 3


def test_generation_follows_the_spec_of_a_custom_resource(api, ns, widgets):
    made = api.post(widgets.at(ns), widgets.make("a", {"size": "small"})).ok(201)
    assert made["metadata"]["generation"] == 1
    steps = [
        (widgets.at(ns, "a"), {"metadata": {"annotations": {"x": "y"}}}, 1),
        (widgets.at(ns, "a", "status"), {"status": {"phase": "Up"}}, 1),
        (widgets.at(ns, "a"), {"spec": {"size": "large"}}, 2),
        (widgets.at(ns, "a"), {"spec": {"size": "large"}}, 2),
    ]
    for url, body, generation in steps:
        assert api.patch(url, body).ok()["metadata"]["generation"] == generation


def test_without_a_status_subresource_any_change_counts(api, gadgets, unique):
    api.post(gadgets.at(), gadgets.make(unique, {"text": "x"})).ok(201)
    url = gadgets.at(name=unique)
    assert api.patch(url, {"status": {"done": "yes"}}).ok()["metadata"]["generation"] == 2
    assert api.patch(url, {"metadata": {"labels": {"x": "y"}}}).ok()["metadata"]["generation"] == 2
    assert api.get(url).ok(200)["status"] == {"done": "yes"}



def test_status_in_an_update_of_the_object_is_ignored(api, ns, widgets):
    made = api.post(widgets.at(ns), widgets.make("a", {}, status={"phase": "Up"})).ok(201)
    assert "status" not in made
    stored = api.put(widgets.at(ns, "a"), {**made, "status": {"phase": "Up"}}).ok()
    assert "status" not in stored
    assert stored["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_managed_fields_left_out_of_an_update_are_kept(api, ns):
    made = ns.create("configmaps", configmap("a", {"k": "1"}), query={"fieldManager": "one"})
    body = without({**made, "data": {"k": "1", "l": "2"}}, "metadata", "managedFields")
    stored = api.put(ns.url("configmaps", "a"), body, query={"fieldManager": "two"}).ok()
    managers = {m["manager"]: m["fieldsV1"] for m in stored["metadata"]["managedFields"]}
    assert managers == {
        "one": {"f:data": {".": {}, "f:k": {}}},
        "two": {"f:data": {"f:l": {}}},
    }
