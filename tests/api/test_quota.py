# SPDX-License-Identifier: GPL-2.0-or-later
"""Resource quotas: what is used is counted, and what would be too much is refused."""
import pytest

pytestmark = pytest.mark.controllers


def pod(name, **more):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "nobody", "automountServiceAccountToken": False,
                     "containers": [{"name": "c", "image": "x", **more}]}}


def cpu(amount, limit=None):
    return {"resources": {"requests": {"cpu": amount}, **({"limits": {"cpu": limit}} if limit else {})}}


@pytest.fixture(name="limit")
def a_quota(api, ns):
    def make(hard, **spec):
        ns.create("resourcequotas", {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
                                     "spec": {"hard": hard, **spec}})
        api.until(ns.url("resourcequotas", "q"), lambda a: set(a.json.get("status", {}).get("used", {})) == set(hard))
    return make


def wait_used(api, ns, used):
    api.until(ns.url("resourcequotas", "q"), lambda a: a.json["status"]["used"] == used)


def refused(api, ns, resource, obj, **kw):
    return api.post(ns.url(resource), obj, **kw).fails(403, "Forbidden")["message"]


def test_the_last_place_is_given_once(api, ns, limit):
    limit({"pods": "2"})
    for name in ("a", "b"):
        ns.create("pods", pod(name))
    assert refused(api, ns, "pods", pod("c")) == 'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
    wait_used(api, ns, {"pods": "2"})
    api.delete(ns.url("pods", "a"), query={"gracePeriodSeconds": 0}).ok()
    wait_used(api, ns, {"pods": "1"})
    ns.create("pods", pod("c"))


def test_what_containers_request_is_counted(api, ns, limit):
    limit({"requests.cpu": "1", "limits.cpu": "2"})
    ns.create("pods", pod("a", **cpu("600m", "1")))
    assert "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1" in \
        refused(api, ns, "pods", pod("b", **cpu("500m", "500m")))
    ns.create("pods", pod("b", **cpu("400m", "500m")))
    wait_used(api, ns, {"requests.cpu": "1", "limits.cpu": "1500m"})


def test_who_says_nothing_is_refused(api, ns, limit):
    limit({"requests.cpu": "1", "limits.memory": "1Gi"})
    ns.create("pods", pod("b", resources={"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}))
    assert refused(api, ns, "pods", pod("a")) == ('pods "a" is forbidden: failed quota: q: must specify limits.memory for: c; '
                                                  'requests.cpu for: c')


def test_scopes_choose_pods(api, ns, limit):
    limit({"pods": "1"}, scopes=["BestEffort"])
    ns.create("pods", pod("a"))
    assert "exceeded quota" in refused(api, ns, "pods", pod("b"))
    ns.create("pods", pod("b", **cpu("1")))


def test_other_objects_are_counted(api, ns, limit):
    limit({"count/configmaps": "3", "secrets": "1", "services.nodeports": "1"})
    ns.create("secrets", {"metadata": {"name": "s"}})
    assert refused(api, ns, "secrets", {"metadata": {"name": "t"}}) == \
        'secrets "t" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1'
    ns.create("services", {"metadata": {"name": "p"},
                           "spec": {"type": "ClusterIP", "ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "b"}]}})
    grown = api.patch(ns.url("services", "p"), {"spec": {"type": "NodePort"}}).fails(403, "Forbidden")
    assert "requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1" in grown["message"]


def test_a_try_uses_nothing(api, ns, limit):
    limit({"pods": "1"})
    ns.create("pods", pod("a"), query={"dryRun": "All"})
    ns.create("pods", pod("a"))
    assert "exceeded quota" in refused(api, ns, "pods", pod("b"), query={"dryRun": "All"})
