# SPDX-License-Identifier: GPL-2.0-or-later
"""delete and deletecollection: answers, options, grace, preconditions, finalizers."""
import re

import pytest

from lib.objects import claim, configmap, pod, secret, service, service_account

HOLD = "conformance.test/hold"


def options(**more):
    return {"kind": "DeleteOptions", "apiVersion": "v1", **more}


def test_delete_answers_a_success_status(api, ns):
    uid = ns.create("configmaps", configmap("a"))["metadata"]["uid"]
    assert api.delete(ns.url("configmaps", "a")).ok(200) == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": uid},
    }
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")


def test_delete_of_a_custom_resource_names_the_group(api, ns, widgets):
    uid = api.post(widgets.at(ns), widgets.make("a", {})).ok(201)["metadata"]["uid"]
    status = api.delete(widgets.at(ns, "a")).ok(200)
    assert status["details"] == {
        "name": "a", "group": widgets.group, "kind": "widgets", "uid": uid}


@pytest.mark.parametrize("resource, obj", [
    ("pods", pod("x")), ("serviceaccounts", service_account("x")),
], ids=["pods", "serviceaccounts"])
def test_delete_of_some_kinds_answers_the_object(api, ns, resource, obj):
    uid = ns.create(resource, obj)["metadata"]["uid"]
    gone = api.delete(ns.url(resource, "x")).ok(200)
    assert gone["kind"] == obj["kind"]
    assert gone["metadata"]["uid"] == uid


def test_delete_of_a_service_answers_success_or_the_service(api, ns, minor):
    ns.create("services", service("x"))
    assert api.delete(ns.url("services", "x")).ok(200)["kind"] == (
        "Service" if minor >= 23 else "Status")


def test_delete_of_a_missing_object_is_404(api, ns):
    api.delete(ns.url("configmaps", "zz")).fails(404, "NotFound", 'configmaps "zz" not found')


def test_delete_with_options_in_the_body(api, ns):
    ns.create("configmaps", configmap("a"))
    body = options(propagationPolicy="Background", gracePeriodSeconds=0)
    assert api.delete(ns.url("configmaps", "a"), body).ok(200)["status"] == "Success"


def test_the_body_may_leave_out_its_kind(api, ns):
    ns.create("configmaps", configmap("a"))
    api.delete(ns.url("configmaps", "a"), {"propagationPolicy": "Background"}).ok(200)


def test_a_dry_run_deletes_nothing(api, ns):
    for name, kw in (("a", {"query": {"dryRun": "All"}}), ("b", {"body": options(dryRun=["All"])})):
        ns.create("configmaps", configmap(name))
        api.delete(ns.url("configmaps", name), **kw).ok(200)
        ns.get("configmaps", name)


def test_an_unknown_dry_run_value_is_invalid(api, ns):
    ns.create("configmaps", configmap("a"))
    api.delete(ns.url("configmaps", "a"), query={"dryRun": "x"}).fails(
        422, "Invalid", re.compile('^DeleteOptions.meta.k8s.io "" is invalid: dryRun: '))


def test_an_unknown_propagation_policy_is_invalid(api, ns):
    ns.create("configmaps", configmap("a"))
    api.delete(ns.url("configmaps", "a"), options(propagationPolicy="Sideways")).fails(
        422, "Invalid", re.compile("propagationPolicy: (Invalid|Unsupported) value: .*Sideways"))


def test_an_empty_propagation_policy_is_invalid(api, ns):
    ns.create("configmaps", configmap("a"))
    api.delete(ns.url("configmaps", "a"), options(propagationPolicy="")).fails(422, "Invalid")
    ns.get("configmaps", "a")


def test_policy_and_orphan_dependents_exclude_each_other(api, ns):
    ns.create("configmaps", configmap("a"))
    body = options(propagationPolicy="Orphan", orphanDependents=True)
    api.delete(ns.url("configmaps", "a"), body).fails(
        422, "Invalid", re.compile("orphanDependents and deletionPropagation cannot be both set"))


def test_the_uid_precondition_holds(api, ns):
    uid = ns.create("configmaps", configmap("a"))["metadata"]["uid"]
    url = ns.url("configmaps", "a")
    api.delete(url, options(preconditions={"uid": "other"})).fails(
        409, "Conflict", 'Operation cannot be fulfilled on ConfigMap "a": the UID in the '
        f"precondition (other) does not match the UID in record ({uid}). The object might have "
        "been deleted and then recreated")
    api.delete(url, options(preconditions={"uid": uid})).ok(200)


def test_the_version_precondition_holds(api, ns):
    version = ns.create("configmaps", configmap("a"))["metadata"]["resourceVersion"]
    url = ns.url("configmaps", "a")
    api.delete(url, options(preconditions={"resourceVersion": "1"})).fails(
        409, "Conflict", 'Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in '
        f"the precondition (1) does not match the ResourceVersion in record ({version}). The "
        "object might have been modified")
    api.delete(url, options(preconditions={"resourceVersion": version})).ok(200)


# Finalizers

def held(ns, name="a"):
    return ns.create("configmaps", configmap(name, finalizers=[HOLD]))


def test_a_finalizer_holds_a_deleted_object(api, ns):
    held(ns)
    gone = api.delete(ns.url("configmaps", "a")).ok(200)
    assert gone["kind"] == "ConfigMap"
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 0
    assert gone["metadata"]["finalizers"] == [HOLD]
    assert ns.get("configmaps", "a")["metadata"]["deletionTimestamp"] == \
        gone["metadata"]["deletionTimestamp"]


def test_a_second_delete_of_a_held_object_changes_nothing(api, ns):
    held(ns)
    first = api.delete(ns.url("configmaps", "a")).ok(200)
    assert api.delete(ns.url("configmaps", "a")).ok(200) == first


def test_the_last_finalizer_taken_away_removes_it(api, ns):
    held(ns)
    api.delete(ns.url("configmaps", "a")).ok(200)
    last = api.patch(ns.url("configmaps", "a"), {"metadata": {"finalizers": []}}).ok(200)
    assert last["kind"] == "ConfigMap"
    assert "finalizers" not in last["metadata"]
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")


def test_one_of_two_finalizers_still_holds(api, ns):
    ns.create("configmaps", configmap("a", finalizers=[HOLD, HOLD + "2"]))
    url = ns.url("configmaps", "a")
    api.delete(url).ok(200)
    api.patch(url, {"metadata": {"finalizers": [HOLD]}}).ok(200)
    ns.get("configmaps", "a")
    api.patch(url, {"metadata": {"finalizers": None}}).ok(200)
    api.get(url).fails(404, "NotFound")


def test_no_finalizer_can_be_added_while_deleting(api, ns):
    held(ns)
    url = ns.url("configmaps", "a")
    api.delete(url).ok(200)
    api.patch(url, {"metadata": {"finalizers": [HOLD, "conformance.test/new"]}}).fails(
        422, "Invalid", re.compile("metadata.finalizers: Forbidden: no new finalizers can be added "
                                   "if the object is being deleted, found new finalizers "
                                   r'\[\]string{"conformance.test/new"}'))
    api.patch(url, {"metadata": {"finalizers": None}}).ok(200)


def test_a_held_object_may_still_be_changed(api, ns):
    held(ns)
    url = ns.url("configmaps", "a")
    api.delete(url).ok(200)
    assert api.patch(url, {"data": {"k": "1"}}).ok(200)["data"] == {"k": "1"}
    api.patch(url, {"metadata": {"finalizers": None}}).ok(200)


def test_a_held_name_cannot_be_created_again(api, ns):
    held(ns)
    api.delete(ns.url("configmaps", "a")).ok(200)
    api.post(ns.url("configmaps"), configmap("a")).fails(
        409, "AlreadyExists", 'object is being deleted: configmaps "a" already exists')
    api.patch(ns.url("configmaps", "a"), {"metadata": {"finalizers": None}}).ok(200)


def test_deletion_raises_the_generation_of_a_held_object(api, ns, widgets):
    made = widgets.make("a", {})
    made["metadata"]["finalizers"] = [HOLD]
    api.post(widgets.at(ns), made).ok(201)
    assert api.delete(widgets.at(ns, "a")).ok(200)["metadata"]["generation"] == 2
    assert api.delete(widgets.at(ns, "a")).ok(200)["metadata"]["generation"] == 2
    api.patch(widgets.at(ns, "a"), {"metadata": {"finalizers": None}}).ok()


def test_the_deletion_time_cannot_be_taken_back(api, ns):
    held(ns)
    url = ns.url("configmaps", "a")
    gone = api.delete(url).ok(200)["metadata"]
    after = api.patch(url, {"metadata": {"deletionTimestamp": None}, "data": {"k": "1"}}).ok()
    assert after["metadata"]["deletionTimestamp"] == gone["deletionTimestamp"]
    api.patch(url, {"metadata": {"finalizers": None}}).ok(200)


def test_the_deletion_time_cannot_be_set_by_the_author(ns):
    made = ns.create("configmaps", configmap(
        "a", deletionTimestamp="2001-01-01T00:00:00Z", deletionGracePeriodSeconds=5))
    assert "deletionTimestamp" not in made["metadata"]
    assert "deletionGracePeriodSeconds" not in made["metadata"]


# Pods and grace

def bound(api, ns, **spec):
    """A pod that looks as if it ran on a node."""
    return ns.create("pods", pod("p", nodeName="nowhere", **spec))


def test_an_unscheduled_pod_goes_at_once(api, ns):
    ns.create("pods", pod("p"))
    assert api.delete(ns.url("pods", "p")).ok(200)["kind"] == "Pod"
    api.get(ns.url("pods", "p")).fails(404, "NotFound")


def test_a_scheduled_pod_waits_for_its_grace(api, ns):
    bound(api, ns)
    url = ns.url("pods", "p")
    gone = api.delete(url).ok(200)
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 30
    assert "deletionTimestamp" in ns.get("pods", "p")["metadata"]
    api.delete(url, options(gracePeriodSeconds=0)).ok(200)
    api.get(url).fails(404, "NotFound")


def test_grace_comes_from_the_pod_or_the_options(api, ns):
    bound(api, ns, terminationGracePeriodSeconds=77)
    url = ns.url("pods", "p")
    assert api.delete(url).ok()["metadata"]["deletionGracePeriodSeconds"] == 77
    body = options(gracePeriodSeconds=7)
    assert api.delete(url, body).ok()["metadata"]["deletionGracePeriodSeconds"] == 7
    api.delete(url, query={"gracePeriodSeconds": 0}).ok()
    api.get(url).fails(404, "NotFound")


def test_grace_can_only_be_shortened(api, ns):
    bound(api, ns)
    url = ns.url("pods", "p")
    api.delete(url, options(gracePeriodSeconds=10)).ok()
    body = options(gracePeriodSeconds=100)
    assert api.delete(url, body).ok()["metadata"]["deletionGracePeriodSeconds"] == 10
    api.delete(url, options(gracePeriodSeconds=0)).ok()


def test_a_finished_pod_goes_at_once(api, ns):
    bound(api, ns)
    api.patch(ns.url("pods", "p", "status"), {"status": {"phase": "Succeeded"}}).ok()
    api.delete(ns.url("pods", "p")).ok(200)
    api.get(ns.url("pods", "p")).fails(404, "NotFound")


def test_a_claim_is_protected_by_its_finalizer(api, ns):
    made = ns.create("persistentvolumeclaims", claim("c"))
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    api.delete(ns.url("persistentvolumeclaims", "c")).ok(200)


# Collections

def test_a_collection_is_deleted_by_selector(api, ns):
    for name, label in (("a", "x"), ("b", "x"), ("c", "y")):
        ns.create("configmaps", configmap(name, labels={"l": label}))
    gone = api.delete(ns.url("configmaps"), query={"labelSelector": "l=x"}).ok(200)
    assert gone["kind"] == "ConfigMapList"
    assert [i["metadata"]["name"] for i in gone["items"]] == ["a", "b"]
    assert ns.names("configmaps", labelSelector="l") == ["c"]


def test_a_collection_is_deleted_by_field(api, ns):
    for name in "ab":
        ns.create("configmaps", configmap(name, labels={"l": "x"}))
    query = {"fieldSelector": "metadata.name=a", "labelSelector": "l=x"}
    api.delete(ns.url("configmaps"), query=query).ok(200)
    assert ns.names("configmaps", labelSelector="l") == ["b"]


def test_an_empty_collection_is_deleted_too(api, ns, widgets):
    assert api.delete(widgets.at(ns)).ok(200)["items"] == []


def test_a_collection_of_custom_resources_is_deleted(api, ns, widgets):
    for name in "ab":
        api.post(widgets.at(ns), widgets.make(name, {})).ok(201)
    assert api.delete(widgets.at(ns)).ok(200)["kind"] == "WidgetList"
    assert api.get(widgets.at(ns)).ok()["items"] == []


def test_a_collection_is_deleted_in_one_namespace_only(api, widgets):
    # A dry run, so that a server that gets this wrong loses nothing.
    for path in ("/api/v1/configmaps", "/api/v1/pods", "/apis/apps/v1/deployments"):
        api.delete(path, query={"dryRun": "All"}).fails(405, "MethodNotAllowed")
    assert api.delete(widgets.at(), query={"dryRun": "All"}).code in (404, 405)


def test_a_dry_run_deletes_no_collection(api, ns):
    ns.create("secrets", secret("a"))
    api.delete(ns.url("secrets"), query={"dryRun": "All"}).ok(200)
    ns.get("secrets", "a")


def test_deletion_of_a_collection_respects_finalizers(api, ns):
    held(ns)
    ns.create("configmaps", configmap("b"))
    query = {"fieldSelector": "metadata.name!=kube-root-ca.crt"}
    api.delete(ns.url("configmaps"), query=query).ok()
    assert "deletionTimestamp" in ns.get("configmaps", "a")["metadata"]
    api.get(ns.url("configmaps", "b")).fails(404, "NotFound")
    api.patch(ns.url("configmaps", "a"), {"metadata": {"finalizers": None}}).ok()
