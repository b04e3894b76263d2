# SPDX-License-Identifier: GPL-2.0-or-later
"""Garbage collection by owner references: background, foreground, orphan, dangling owners."""
import pytest

from lib.objects import configmap, owner, secret

HOLD = "conformance.test/hold"


@pytest.fixture
def family(ns):
    """A ConfigMap 'parent' that owns the Secret 'child'."""
    parent = ns.create("configmaps", configmap("parent"))
    made = secret("child")
    made["metadata"]["ownerReferences"] = [owner(parent, blockOwnerDeletion=True)]
    ns.create("secrets", made)
    return parent


def delete(api, ns, policy, **more):
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy, **more}
    return api.delete(ns.url("configmaps", "parent"), body).ok(200)


def held_child(api, ns):
    api.patch(ns.url("secrets", "child"), {"metadata": {"finalizers": [HOLD]}}).ok()


def release_child(api, ns):
    api.patch(ns.url("secrets", "child"), {"metadata": {"finalizers": None}}).ok()


def test_background_deletion_takes_the_owner_first(api, ns, family):
    held_child(api, ns)
    assert delete(api, ns, "Background")["status"] == "Success"
    api.get(ns.url("configmaps", "parent")).fails(404, "NotFound")
    api.until(ns.url("secrets", "child"), lambda a: "deletionTimestamp" in a.json["metadata"])
    release_child(api, ns)
    api.until_gone(ns.url("secrets", "child"))


def test_deletion_without_a_policy_takes_the_dependents(api, ns, family):
    api.delete(ns.url("configmaps", "parent")).ok(200)
    api.until_gone(ns.url("secrets", "child"))


def test_foreground_deletion_takes_the_dependents_first(api, ns, family):
    held_child(api, ns)
    gone = delete(api, ns, "Foreground")
    assert gone["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in gone["metadata"]
    api.until(ns.url("secrets", "child"), lambda a: "deletionTimestamp" in a.json["metadata"])
    ns.get("configmaps", "parent")
    release_child(api, ns)
    api.until_gone(ns.url("configmaps", "parent"))
    api.get(ns.url("secrets", "child")).fails(404, "NotFound")


def test_foreground_deletion_does_not_wait_for_who_does_not_block(api, ns, family):
    ref = owner(family, blockOwnerDeletion=False)
    body = {"metadata": {"ownerReferences": [ref], "finalizers": [HOLD]}}
    api.patch(ns.url("secrets", "child"), body).ok()
    delete(api, ns, "Foreground")
    api.until_gone(ns.url("configmaps", "parent"))
    release_child(api, ns)
    api.until_gone(ns.url("secrets", "child"))


def test_foreground_deletion_ends_when_a_dependent_lets_go(api, ns, family):
    held_child(api, ns)
    delete(api, ns, "Foreground")
    api.until(ns.url("secrets", "child"), lambda a: "deletionTimestamp" in a.json["metadata"])
    api.patch(ns.url("secrets", "child"), {"metadata": {"ownerReferences": None}}).ok()
    api.until_gone(ns.url("configmaps", "parent"))
    release_child(api, ns)


def test_foreground_deletion_ends_where_another_owner_keeps_the_dependent(api, ns, family):
    other = ns.create("configmaps", configmap("other"))
    refs = [owner(family, blockOwnerDeletion=True), owner(other, blockOwnerDeletion=True)]
    api.patch(ns.url("secrets", "child"), {"metadata": {"ownerReferences": refs}}).ok()
    delete(api, ns, "Foreground")
    api.until_gone(ns.url("configmaps", "parent"))
    assert [r["name"] for r in ns.get("secrets", "child")["metadata"]["ownerReferences"]] == ["other"]


def test_foreground_deletion_without_dependents_ends(api, ns):
    ns.create("configmaps", configmap("parent"))
    delete(api, ns, "Foreground")
    api.until_gone(ns.url("configmaps", "parent"))


def test_orphaned_dependents_live_on_without_owner(api, ns, family):
    delete(api, ns, "Orphan")
    api.until_gone(ns.url("configmaps", "parent"))
    assert "ownerReferences" not in ns.get("secrets", "child")["metadata"]


def test_the_old_orphan_option_still_works(api, ns, family):
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "orphanDependents": True}
    api.delete(ns.url("configmaps", "parent"), body).ok(200)
    api.until_gone(ns.url("configmaps", "parent"))
    assert "ownerReferences" not in ns.get("secrets", "child")["metadata"]


def test_the_policy_may_come_in_the_query(api, ns, family):
    query = {"propagationPolicy": "Orphan"}
    api.delete(ns.url("configmaps", "parent"), query=query).ok(200)
    api.until_gone(ns.url("configmaps", "parent"))
    ns.get("secrets", "child")


def test_a_second_owner_keeps_the_object(api, ns, family):
    other = ns.create("configmaps", configmap("other"))
    body = {"metadata": {"ownerReferences": [owner(family), owner(other)]}}
    api.patch(ns.url("secrets", "child"), body).ok()
    delete(api, ns, "Background")
    answer = api.until(ns.url("secrets", "child"), lambda a: len(
        a.json["metadata"].get("ownerReferences", [])) < 2)
    assert [r["name"] for r in answer.ok()["metadata"]["ownerReferences"]] == ["other"]


def test_a_dangling_owner_deletes_the_object(api, ns):
    ref = {"apiVersion": "v1", "kind": "ConfigMap", "name": "never",
           "uid": "11111111-1111-4111-8111-111111111111"}
    ns.create("secrets", {"metadata": {"name": "child", "ownerReferences": [ref]}})
    api.until_gone(ns.url("secrets", "child"))


def test_an_owner_of_the_same_name_but_another_uid_is_dangling(api, ns):
    parent = ns.create("configmaps", configmap("parent"))
    ref = owner(parent, uid="11111111-1111-4111-8111-111111111111")
    ns.create("secrets", {"metadata": {"name": "child", "ownerReferences": [ref]}})
    api.until_gone(ns.url("secrets", "child"))
    ns.get("configmaps", "parent")


def test_an_owner_in_another_namespace_does_not_count(api, ns, spaces):
    parent = spaces().create("configmaps", configmap("parent"))
    made = {"metadata": {"name": "child", "ownerReferences": [owner(parent)]}}
    ns.create("secrets", made)
    api.until_gone(ns.url("secrets", "child"))


def test_grandchildren_go_too(api, ns, family):
    child = ns.get("secrets", "child")
    ns.create("configmaps", configmap("grandchild", ownerReferences=[owner(child)]))
    delete(api, ns, "Background")
    api.until_gone(ns.url("configmaps", "grandchild"))


def test_foreground_deletion_goes_down_the_generations(api, ns, family):
    child = ns.get("secrets", "child")
    refs = [owner(child, blockOwnerDeletion=True)]
    ns.create("configmaps", configmap("grandchild", ownerReferences=refs, finalizers=[HOLD]))
    delete(api, ns, "Foreground")
    url = ns.url("configmaps", "grandchild")
    api.until(url, lambda a: "deletionTimestamp" in a.json["metadata"])
    ns.get("secrets", "child")
    ns.get("configmaps", "parent")
    api.patch(url, {"metadata": {"finalizers": None}}).ok()
    api.until_gone(ns.url("configmaps", "parent"))
    api.get(ns.url("secrets", "child")).fails(404, "NotFound")


def test_the_policy_is_kept_while_a_finalizer_holds_the_owner(api, ns, family):
    api.patch(ns.url("configmaps", "parent"), {"metadata": {"finalizers": [HOLD]}}).ok()
    gone = delete(api, ns, "Orphan")
    assert sorted(gone["metadata"]["finalizers"]) == [HOLD, "orphan"]
    answer = api.until(ns.url("configmaps", "parent"),
                       lambda a: a.json["metadata"]["finalizers"] == [HOLD])
    assert answer.code == 200
    assert "ownerReferences" not in ns.get("secrets", "child")["metadata"]
    api.patch(ns.url("configmaps", "parent"), {"metadata": {"finalizers": None}}).ok()
    api.until_gone(ns.url("configmaps", "parent"))


def test_a_cluster_wide_owner_of_a_namespaced_object(api, ns, unique):
    parent = api.post("/api/v1/nodes", {"metadata": {"name": unique}}).ok(201)
    made = {"metadata": {"name": "child", "ownerReferences": [owner(parent)]}}
    ns.create("secrets", made)
    api.delete("/api/v1/nodes/" + unique).ok(200)
    api.until_gone(ns.url("secrets", "child"))
