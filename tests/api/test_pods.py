# SPDX-License-Identifier: GPL-2.0-or-later
"""Subresources of pods: binding, eviction, log, exec; what is answered before any node is asked."""
import re

import pytest

from lib.objects import budget, pod

UPGRADE = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1",
           "X-Stream-Protocol-Version": "v4.channel.k8s.io"}


def binding(name, node):
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}}


def bind(api, ns, name="p", node="nowhere"):
    return api.post(ns.url("pods", name, "binding"), binding(name, node))


def test_a_binding_sets_the_node(api, ns):
    ns.create("pods", pod("p"))
    answer = bind(api, ns).ok(201)
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    stored = ns.get("pods", "p")
    assert stored["spec"]["nodeName"] == "nowhere"
    scheduled, = [c for c in stored["status"]["conditions"] if c["type"] == "PodScheduled"]
    assert scheduled["status"] == "True"


def test_a_bound_pod_is_not_bound_again(api, ns):
    ns.create("pods", pod("p"))
    bind(api, ns).ok(201)
    bind(api, ns, node="elsewhere").fails(
        409, "Conflict", re.compile('pod p is already assigned to node "nowhere"'))


def test_a_missing_pod_cannot_be_bound(api, ns):
    bind(api, ns, "zz").fails(404, "NotFound")


def test_a_binding_needs_a_target(api, ns):
    ns.create("pods", pod("p"))
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {}}
    assert api.post(ns.url("pods", "p", "binding"), body).code in (400, 422, 500)
    assert "nodeName" not in ns.get("pods", "p")["spec"]


# Eviction

def eviction(minor, name="p", **options):
    version = "v1" if minor >= 22 else "v1beta1"
    body = {"apiVersion": "policy/" + version, "kind": "Eviction", "metadata": {"name": name}}
    return {**body, "deleteOptions": options} if options else body


@pytest.fixture
def running(api, ns):
    """A pod with the label app=b that says it runs and is ready."""
    ns.create("pods", pod("p", labels={"app": "b"}))
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    api.patch(ns.url("pods", "p", "status"), {"status": status}).ok()
    return ns.url("pods", "p")


def guard(api, ns, allowed, **spec):
    """A budget over the pod; its status is written here in case no controller does."""
    ns.create("poddisruptionbudgets", budget("b", **spec))
    url = ns.url("poddisruptionbudgets", "b", "status")
    status = {"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 1,
              "desiredHealthy": 1 - allowed, "expectedPods": 1}
    api.patch(url, {"status": status}).ok()
    api.until(url, lambda a: a.json["status"].get("disruptionsAllowed", 0) == allowed)


def test_eviction_deletes_a_pod(api, running, minor):
    answer = api.post(running + "/eviction", eviction(minor)).ok(201)
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    api.get(running).fails(404, "NotFound")


def test_a_budget_stops_an_eviction(api, ns, running, minor):
    guard(api, ns, 0, minAvailable=1)
    answer = api.post(running + "/eviction", eviction(minor))
    status = answer.fails(429, "TooManyRequests",
                          "Cannot evict pod as it would violate the pod's disruption budget.")
    cause, = status["details"]["causes"]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == (
        "The disruption budget b needs 1 healthy pods and has 1 currently")
    assert "deletionTimestamp" not in api.get(running).ok()["metadata"]


def test_a_budget_allows_an_eviction(api, ns, running, minor):
    guard(api, ns, 1, minAvailable=0)
    api.post(running + "/eviction", eviction(minor)).ok(201)
    api.get(running).fails(404, "NotFound")


def test_a_dry_run_evicts_nothing(api, running, minor):
    api.post(running + "/eviction", eviction(minor, dryRun=["All"])).ok(201)
    assert "deletionTimestamp" not in api.get(running).ok()["metadata"]


def test_eviction_of_a_missing_pod_is_404(api, ns, minor):
    api.post(ns.url("pods", "zz", "eviction"), eviction(minor, "zz")).fails(404, "NotFound")


def test_a_budget_takes_only_one_of_its_limits(api, ns):
    body = budget("b", minAvailable=1, maxUnavailable=1)
    api.post(ns.url("poddisruptionbudgets"), body).fails(
        422, "Invalid", re.compile("minAvailable and maxUnavailable cannot be both set"))


# Log and exec of pods that no node has

def test_the_log_of_an_unscheduled_pod_is_empty(api, ns):
    ns.create("pods", pod("p"))
    answer = api.get(ns.url("pods", "p", "log"), accept="*/*")
    assert answer.code in (200, 204)
    assert answer.body == b""


def test_the_log_of_a_missing_pod_is_404(api, ns):
    api.get(ns.url("pods", "zz", "log")).fails(404, "NotFound", 'pods "zz" not found')


def test_bad_log_options_are_refused(api, ns):
    ns.create("pods", pod("p"))
    api.get(ns.url("pods", "p", "log"), query={"tailLines": "-1"}).fails(
        422, "Invalid", re.compile('PodLogOptions "p" is invalid: tailLines: Invalid value: -1: '
                                   "must be greater than or equal to 0"))
    assert api.get(ns.url("pods", "p", "log"), query={"tailLines": "x"}).code == 400


def two(ns):
    ns.create("pods", pod("p", containers=[{"name": n, "image": "x"} for n in "ab"]))


def test_the_log_needs_a_container(api, ns):
    two(ns)
    api.get(ns.url("pods", "p", "log")).fails(
        400, "BadRequest", "a container name must be specified for pod p, choose one of: [a b]")
    api.get(ns.url("pods", "p", "log"), query={"container": "zz"}).fails(
        400, "BadRequest", "container zz is not valid for pod p")


def run(api, ns, **query):
    query = {"command": "true", "stdout": True, **query}
    return api.post(ns.url("pods", "p", "exec"), "", query=query, headers=UPGRADE)


def test_exec_needs_a_host(api, ns):
    ns.create("pods", pod("p"))
    run(api, ns).fails(400, "BadRequest", "pod p does not have a host assigned")


def test_exec_needs_a_container(api, ns):
    two(ns)
    run(api, ns, container="zz").fails(400, "BadRequest", "container zz is not valid for pod p")
    run(api, ns).fails(
        400, "BadRequest", "a container name must be specified for pod p, choose one of: [a b]")


def test_exec_in_a_missing_pod_is_404(api, ns):
    run(api, ns).fails(404, "NotFound", 'pods "p" not found')


def test_attach_and_port_forward_need_a_host(api, ns):
    ns.create("pods", pod("p"))
    for sub in ("attach", "portforward"):
        answer = api.post(ns.url("pods", "p", sub), "", query={"stdout": True}, headers=UPGRADE)
        answer.fails(400, "BadRequest", "pod p does not have a host assigned")
