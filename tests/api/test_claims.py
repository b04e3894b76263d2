# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims that are deleted while pods use them."""
from lib.objects import claim, pod


def using(name, claim_name="c"):
    return pod(name, nodeName="nowhere", volumes=[
        {"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}])


def end(api, ns, name):
    api.delete(ns.url("pods", name), {"gracePeriodSeconds": 0}).ok(200)


def test_a_claim_stays_until_its_last_pod_is_gone(api, ns):
    ns.create("persistentvolumeclaims", claim("c"))
    ns.create("pods", using("a"))
    ns.create("pods", using("b"))
    gone = api.delete(ns.url("persistentvolumeclaims", "c")).ok(200)
    assert gone["metadata"]["deletionTimestamp"]
    end(api, ns, "a")
    assert ns.get("persistentvolumeclaims", "c")["metadata"]["finalizers"] == [
        "kubernetes.io/pvc-protection"]
    end(api, ns, "b")
    api.until_gone(ns.url("persistentvolumeclaims", "c"))


def test_a_pod_that_has_ended_holds_its_claim_until_it_is_gone(api, ns):
    ns.create("persistentvolumeclaims", claim("c"))
    ns.create("pods", using("a"))
    api.delete(ns.url("persistentvolumeclaims", "c")).ok(200)
    api.patch(ns.url("pods", "a", "status"), {"status": {"phase": "Succeeded"}}).ok(200)
    assert ns.get("persistentvolumeclaims", "c")["metadata"]["finalizers"]
    end(api, ns, "a")
    api.until_gone(ns.url("persistentvolumeclaims", "c"))


def test_a_pod_without_a_node_does_not_hold_a_claim(api, ns):
    ns.create("persistentvolumeclaims", claim("c"))
    waiting = using("a")
    del waiting["spec"]["nodeName"]
    ns.create("pods", waiting)
    api.delete(ns.url("persistentvolumeclaims", "c")).ok(200)
    api.until_gone(ns.url("persistentvolumeclaims", "c"))


def test_a_namespace_with_a_claim_in_use_goes(api, spaces):
    ns = spaces()
    ns.create("persistentvolumeclaims", claim("c"))
    ns.create("pods", using("a"))
    api.delete("/api/v1/namespaces/" + ns.name).ok(200)
    api.until(ns.url("pods", "a"),
              lambda a: a.code == 404 or "deletionTimestamp" in a.json["metadata"])
    api.delete(ns.url("pods", "a"), {"gracePeriodSeconds": 0})
    api.until_gone("/api/v1/namespaces/" + ns.name)
