# SPDX-License-Identifier: GPL-2.0-or-later
"""Workload controllers: what becomes of sets, deployments, jobs and services while they run.

No node takes part: a thread plays it and says of every pod in the namespace that it is ready.
"""
import threading
import time

import pytest

from lib.client import WAIT_S, Api
from lib.objects import budget, deployment, job, pod, service, statefulset


@pytest.fixture(scope="session")
def controllers(api, spaces):
    """Skips where nobody runs them."""
    space = spaces()
    space.create("statefulsets", statefulset("probe"))
    for _ in range(60):
        if space.get("statefulsets", "probe").get("status", {}).get("observedGeneration"):
            return
        time.sleep(0.05)
    pytest.skip("no controllers run here")


class Node(threading.Thread):
    """Makes pods ready, or ended for good, as their label `end` says."""

    def __init__(self, config, ns):
        super().__init__(daemon=True)
        self.api, self.ns, self.stop, self.address = Api(config), ns, threading.Event(), 1

    def step(self, item):
        if "deletionTimestamp" in item["metadata"] or item["status"].get("phase") != "Pending":
            return
        self.address += 1
        phase = item["metadata"].get("labels", {}).get("end", "Running")
        ready = {"type": "Ready", "status": "True" if phase == "Running" else "False",
                 "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        self.api.patch(self.ns.url("pods", item["metadata"]["name"], "status"),
                       {"status": {"phase": phase, "podIP": f"10.9.0.{self.address % 250 + 1}",
                                   "conditions": [ready]}})

    def run(self):
        while not self.stop.is_set():
            for item in self.api.get(self.ns.url("pods")).ok()["items"]:
                self.step(item)
            self.stop.wait(0.05)


@pytest.fixture
def node(controllers, config, ns):
    thread = Node(config, ns)
    thread.start()
    yield thread
    thread.stop.set()
    thread.join()


def until(ns, resource, name, test):
    """Wait until the object, or the list if there is no name, passes the test; returns it."""
    def passes(answer):
        return answer.code == 200 and test(answer.json)
    return ns.api.until(ns.url(resource, name), passes).json


def until_count(ns, resource, n):
    until(ns, resource, None, lambda found: len(found["items"]) == n)


def settled(replicas):
    def test(obj):
        status = obj.get("status", {})
        return (status.get("observedGeneration") == obj["metadata"]["generation"]
                and status.get("readyReplicas", 0) == replicas
                and status.get("updatedReplicas", 0) == replicas
                and status.get("replicas", 0) == replicas)
    return test


def images(ns):
    items = ns.api.get(ns.url("pods")).ok()["items"]
    return {i["spec"]["containers"][0]["image"] for i in items}


def test_a_stateful_set_makes_one_pod_after_the_other(controllers, api, ns):
    ns.create("statefulsets", statefulset("s", replicas=2))
    until_count(ns, "pods", 1)
    time.sleep(0.3)
    assert ns.names("pods") == ["s-0"]
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    api.patch(ns.url("pods", "s-0", "status"), {"status": ready}).ok()
    until_count(ns, "pods", 2)
    made = ns.get("pods", "s-1")
    assert made["spec"]["hostname"] == "s-1"
    assert made["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "s-1"
    revision = ns.get("statefulsets", "s")["status"]["updateRevision"]
    assert made["metadata"]["labels"]["controller-revision-hash"] == revision


def test_a_stateful_set_keeps_its_pods(node, api, ns):
    ns.create("statefulsets", statefulset("s", replicas=2))
    until(ns, "statefulsets", "s", settled(2))
    before = ns.get("pods", "s-0")["metadata"]["uid"]
    api.delete(ns.url("pods", "s-0")).ok()
    until(ns, "pods", "s-0", lambda o: o["metadata"]["uid"] != before)
    until(ns, "statefulsets", "s", settled(2))
    failed = api.patch(ns.url("pods", "s-1", "status"), {"status": {"phase": "Failed"}}).ok()
    until(ns, "pods", "s-1", lambda o: o["metadata"]["uid"] != failed["metadata"]["uid"])
    until(ns, "statefulsets", "s", settled(2))


def test_rollout_of_a_stateful_set(kubectl, node, ns):
    ns.create("statefulsets", statefulset("s", replicas=2))
    kubectl("rollout", "status", "sts/s", f"--timeout={WAIT_S}s")
    old = images(ns)
    kubectl("set", "image", "sts/s", "main=app:2")
    kubectl("rollout", "status", "sts/s", f"--timeout={WAIT_S}s")
    assert images(ns) == {"app:2"}
    kubectl("rollout", "undo", "sts/s")
    kubectl("rollout", "status", "sts/s", f"--timeout={WAIT_S}s")
    assert images(ns) == old
    assert len(ns.names("controllerrevisions")) == 2
    kubectl("rollout", "restart", "sts/s")
    kubectl("rollout", "status", "sts/s", f"--timeout={WAIT_S}s")
    status = ns.get("statefulsets", "s")["status"]
    assert status["currentRevision"] == status["updateRevision"]


def test_scaling_a_stateful_set(kubectl, node, ns):
    ns.create("statefulsets", statefulset("s", replicas=1, podManagementPolicy="Parallel"))
    kubectl("scale", "sts/s", "--replicas=4")
    until(ns, "statefulsets", "s", settled(4))
    assert ns.names("pods") == ["s-0", "s-1", "s-2", "s-3"]
    kubectl("scale", "sts/s", "--replicas=1")
    until(ns, "statefulsets", "s", settled(1))
    assert ns.names("pods") == ["s-0"]


def test_claims_of_a_stateful_set_stay(node, api, ns):
    template = {"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    ns.create("statefulsets", statefulset("s", replicas=1, volumeClaimTemplates=[template]))
    until(ns, "statefulsets", "s", settled(1))
    volume = ns.get("pods", "s-0")["spec"]["volumes"][0]
    assert volume["persistentVolumeClaim"]["claimName"] == "data-s-0"
    api.delete(ns.url("statefulsets", "s")).ok()
    until_count(ns, "pods", 0)
    assert ns.names("persistentvolumeclaims") == ["data-s-0"]


def test_orphans_are_adopted(node, api, ns):
    ns.create("statefulsets", statefulset("s", replicas=1))
    until(ns, "statefulsets", "s", settled(1))
    uid = ns.get("pods", "s-0")["metadata"]["uid"]
    api.delete(ns.url("statefulsets", "s"), {"propagationPolicy": "Orphan"}).ok()
    api.until_gone(ns.url("statefulsets", "s"))
    again = ns.create("statefulsets", statefulset("s", replicas=1))
    until(ns, "pods", "s-0", lambda p: any(
        r["uid"] == again["metadata"]["uid"] for r in p["metadata"].get("ownerReferences", [])))
    assert ns.get("pods", "s-0")["metadata"]["uid"] == uid


def test_rollout_of_a_deployment(kubectl, node, ns):
    ns.create("deployments", deployment("d", replicas=3))
    kubectl("rollout", "status", "deploy/d", f"--timeout={WAIT_S}s")
    old = images(ns)
    kubectl("set", "image", "deploy/d", "main=app:2")
    kubectl("rollout", "status", "deploy/d", f"--timeout={WAIT_S}s")
    kubectl("rollout", "undo", "deploy/d")
    kubectl("rollout", "status", "deploy/d", f"--timeout={WAIT_S}s")
    until_count(ns, "pods", 3)
    assert images(ns) == old
    revisions = [row.split()[0] for row in kubectl("rollout", "history", "deploy/d").out
                 .splitlines()[2:] if row]
    assert revisions == ["2", "3"]
    assert len(ns.names("replicasets")) == 2


def test_a_paused_deployment_rolls_out_later(kubectl, node, ns):
    ns.create("deployments", deployment("d", replicas=1))
    kubectl("rollout", "status", "deploy/d", f"--timeout={WAIT_S}s")
    kubectl("rollout", "pause", "deploy/d")
    kubectl("set", "image", "deploy/d", "main=app:2")
    time.sleep(0.3)
    assert len(ns.names("replicasets")) == 1
    kubectl("rollout", "resume", "deploy/d")
    kubectl("rollout", "status", "deploy/d", f"--timeout={WAIT_S}s")
    assert len(ns.names("replicasets")) == 2


def test_deleting_a_deployment_deletes_its_pods(node, api, ns):
    ns.create("deployments", deployment("d", replicas=2))
    until(ns, "deployments", "d", settled(2))
    api.delete(ns.url("deployments", "d")).ok()
    until_count(ns, "pods", 0)
    until_count(ns, "replicasets", 0)


def test_endpoints_follow_the_pods(node, api, ns):
    ns.create("services", service("web", selector={"app": "web"}))
    ns.create("pods", pod("p", labels={"app": "web"}, nodeName="nowhere"))
    full = until(ns, "endpoints", "web", lambda e: e.get("subsets"))
    address, = full["subsets"][0]["addresses"]
    assert address["targetRef"]["name"] == "p"
    api.delete(ns.url("pods", "p"), {"gracePeriodSeconds": 0}).ok()
    until(ns, "endpoints", "web", lambda e: not e.get("subsets"))
    api.delete(ns.url("services", "web")).ok()
    api.until_gone(ns.url("endpoints", "web"))


def test_a_budget_counts_its_pods(node, ns):
    ns.create("poddisruptionbudgets", budget("b", minAvailable=1))
    labels = ns.get("poddisruptionbudgets", "b")["spec"]["selector"]["matchLabels"]
    for name in ("p", "q"):
        ns.create("pods", pod(name, labels=labels))
    until(ns, "poddisruptionbudgets", "b",
          lambda b: b.get("status", {}).get("disruptionsAllowed") == 1)
    status = ns.get("poddisruptionbudgets", "b")["status"]
    assert (status["currentHealthy"], status["expectedPods"]) == (2, 2)


@pytest.mark.controllers
def test_a_job_runs_to_its_end(kubectl, node, ns):
    body = job("j", completions=2, parallelism=1)
    body["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {})["end"] = "Succeeded"
    ns.create("jobs", body)
    kubectl("wait", "--for=condition=complete", "job/j", f"--timeout={WAIT_S}s")
    assert ns.get("jobs", "j")["status"]["succeeded"] == 2


@pytest.mark.embedded
def test_a_template_that_is_refused_becomes_an_event(controllers, ns):
    body = statefulset("s", replicas=1)
    body["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "missing", "mountPath": "/x"}]
    ns.create("statefulsets", body)
    event, = until(ns, "events", None, lambda found: found["items"])["items"]
    assert event["reason"] == "FailedCreate"
    assert "missing" in event["message"]
