# SPDX-License-Identifier: GPL-2.0-or-later
"""The state: whole, by differences, as soon as it changes, for many watchers at the price of one."""
import threading
import time

import pytest

from agent import Cluster
from slurm import release, wait_for
from test_apply import changed_rpcs, end_job, hold_job, rpc_counts


@pytest.fixture(scope="module", name="c")
def a_cluster():
    cluster = Cluster(nodes=30, partitions=["PartitionName=all Nodes=ALL Default=YES",
                                            "PartitionName=debug Nodes=few State=UP"])
    yield cluster
    cluster.stop()


def test_everything_is_told_at_first(c):
    s = c.state()
    assert s["full"] and s["slurmctld"]["up"] and s["slurmctld"]["release"] == release.text()
    assert {p["name"] for p in s["partitions"]} == {"all", "debug"}
    assert len(s["nodes"]) == 30
    node = next(n for n in s["nodes"] if n["name"] == "c0001")
    assert node["cpus"] == 4 and node["jobs"] == [] and "IDLE" in node["state"]
    debug = next(p for p in s["partitions"] if p["name"] == "debug")
    assert debug["config"]["State"] == "UP" and debug["nodesets"] == "few"
    assert (debug["pending"], debug["running"]) == (0, 0)


def test_a_change_is_told_alone_and_soon(c):
    version = c.state()["version"]
    times = []

    def change():
        time.sleep(0.5)
        c.scontrol("update", "nodename=c0007", "state=drain", "reason=bolt")
        times.append(time.monotonic())

    thread = threading.Thread(target=change)
    thread.start()
    s = c.state(version, 20)
    seen = time.monotonic()
    thread.join()
    assert not s["full"]
    assert [n["name"] for n in s["nodes"]] == ["c0007"]
    assert "DRAIN" in s["nodes"][0]["state"] and s["nodes"][0]["reason"] == "bolt"
    assert s["partitions"] == [] and s["removed"] == {"nodes": [], "partitions": [],
                                                      "reservations": []}
    assert seen - times[0] < 1.0
    c.scontrol("update", "nodename=c0007", "state=resume")


def test_nothing_new_waits_for_its_time(c):
    time.sleep(6)
    version = c.state()["version"]
    start = time.monotonic()
    s = c.state(version, 1)
    assert s["version"] == version and not s["full"] and s["nodes"] == []
    assert 0.9 < time.monotonic() - start < 3


def test_versions_of_nobody_get_everything(c):
    for since in ("nonsense", "deadbeef-3", c.state()["version"] + "999"):
        assert c.state(since, 5)["full"], since


def test_jobs_are_counted_and_partitions_that_go_are_told(c):
    job = hold_job(c, "debug")
    wait_for(lambda: c.state()["jobs"] == {"pending": 1, "running": 0})
    debug = next(p for p in c.state()["partitions"] if p["name"] == "debug")
    assert debug["pending"] == 1
    end_job(c, job)
    wait_for(lambda: c.state()["jobs"] == {"pending": 0, "running": 0})
    c.scontrol("create", "partition=gone", "nodes=c0001")
    wait_for(lambda: "gone" in {p["name"] for p in c.state()["partitions"]})
    version = c.state()["version"]
    c.scontrol("delete", "partition=gone")
    wait_for(lambda: c.state(version, 5)["removed"]["partitions"] == ["gone"])


def test_reservations_are_made_told_and_removed(c):
    body = {"startTime": int(time.time()) + 3600, "duration": 60, "nodes": "c0002", "users": "root",
            "flags": ["MAINT", "IGNORE_JOBS"]}
    status, answer = c.request("PUT", "/v1/reservations/upkeep", body)
    assert status == 200, answer
    wait_for(lambda: [r["name"] for r in c.state()["reservations"]] == ["upkeep"])
    assert c.request("DELETE", "/v1/reservations/upkeep")[0] == 200
    wait_for(lambda: c.state()["reservations"] == [])


def test_nodes_are_drained_and_resumed_by_request(c):
    assert c.request("POST", "/v1/nodes/c0003",
                     {"action": "drain", "reason": "slurmkeeper: test"})[0] == 200
    assert "DRAIN" in c.scontrol("show", "node", "c0003").stdout
    status, _ = c.request("POST", "/v1/nodes/c0003",
                          {"action": "undrain", "onlyIfReason": "somebody: "})
    assert status != 200
    assert c.request("POST", "/v1/nodes/c0003", {"action": "undrain",
                                                 "onlyIfReason": "slurmkeeper: "})[0] == 200
    wait_for(lambda: "DRAIN" not in c.scontrol("show", "node", "c0003").stdout)
    assert c.request("POST", "/v1/nodes/c0003", {"action": "explode"})[0] == 400
    assert c.request("POST", "/v1/nodes/none", {"action": "drain", "reason": "x"})[0] == 404


def test_many_watchers_cost_no_more_than_one(c):
    time.sleep(6)
    version = c.state()["version"]
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(c.state(version, 20)))
               for _ in range(40)]
    for t in threads:
        t.start()
    time.sleep(0.3)
    before = rpc_counts(c)
    c.scontrol("update", "nodename=c0009", "comment=seen")
    for t in threads:
        t.join()
    after = changed_rpcs(before, rpc_counts(c))
    assert len(answers) == 40
    assert all([n["name"] for n in a["nodes"]] == ["c0009"] for a in answers)
    assert after.get("REQUEST_NODE_INFO", 0) <= 6, after


def test_metrics_and_health(c):
    status, answer = c.request("GET", "/metrics")
    assert status == 200
    assert "slurmkeeper_agent_slurmctld_up 1" in answer["text"]
    assert 'slurmkeeper_agent_slurm_calls{lane="read"}' in answer["text"]
    assert c.request("GET", "/healthz")[0] == 200
