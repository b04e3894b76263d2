# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes, jobs and reservations."""
import os
import subprocess
import time

import pytest

from link import EBUSY, EINVAL, EREMOTEIO
from slurm import release, wait_for


def node(link, name="c0001"):
    return link.items("nodes")[name]


def flags(item):
    return set(item["state"].split("+"))


@pytest.fixture(autouse=True)
def healthy(link):
    """Nodes are left as they were."""
    yield
    for name in ("c0001", "c0002"):
        if "DRAIN" in flags(node(link, name)) or "DOWN" in flags(node(link, name)):
            link.ok("node-update", name=name, state="resume")


def test_all_nodes_are_listed_and_holes_are_not(link):
    items = link.ok("nodes")["items"]
    assert len(items) == 1000
    assert items[0]["name"] == "c0001" and items[0]["cpus"] == 4 and items[0]["memory"] == 4000
    assert items[0]["features"] == "blue" and flags(items[0]) >= {"IDLE", "CLOUD"}
    assert items[0]["cpusAllocated"] == 0


def test_drain_has_reason_user_and_time(link):
    link.ok("node-update", name="c0001", state="drain", reason="slurmkeeper: scale in")
    item = node(link)
    assert "DRAIN" in flags(item) and item["state"].startswith("IDLE+")
    assert item["reason"] == "slurmkeeper: scale in" and item["reasonUser"] == "root"
    assert abs(item["reasonTime"] - time.time()) < 30
    assert "DRAIN" not in flags(node(link, "c0002"))


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "\x1b[2J", "tab\there", "\x7f", "x" * 1025])
@pytest.mark.parametrize("key", ["reason", "comment"])
def test_a_reason_is_one_short_line(link, key, text):
    answer = link.call("node-update", name="c0001", state="drain", **{"reason": "r", key: text})
    assert answer["r"] == EINVAL and key in answer["error"], answer
    assert "DRAIN" not in flags(node(link))


@pytest.mark.parametrize("how", ["undrain", "resume", "idle"])
def test_drain_is_taken_back(link, how):
    link.ok("node-update", name="c0001", state="drain", reason="r")
    link.ok("node-update", name="c0001", state=how)
    item = node(link)
    assert "DRAIN" not in flags(item) and "reason" not in item


def test_resume_of_a_node_that_is_up_is_no_error(link):
    link.ok("node-update", name="c0001", state="resume")
    link.ok("node-update", name="c0001", state="undrain")


def test_down_and_back(link):
    link.ok("node-update", name="c0002", state="down", reason="broken")
    assert flags(node(link, "c0002")) >= {"DOWN"} and node(link, "c0002")["reason"] == "broken"
    link.ok("node-update", name="c0002", state="resume")
    assert "DOWN" not in flags(node(link, "c0002"))


def test_other_attributes(link):
    link.ok("node-update", name="c0001", comment="rack 7", extra="{\"pod\":\"c-0\"}",
            features="blue,big", activeFeatures="blue", weight=5)
    item = node(link)
    assert item["comment"] == "rack 7" and item["extra"] == "{\"pod\":\"c-0\"}"
    assert item["features"] == "blue,big" and item["weight"] == 5
    assert item["activeFeatures"] == "blue"
    link.ok("node-update", name="c0001", comment="", extra="", features="blue", weight=1)
    item = node(link)
    assert "comment" not in item and "extra" not in item and item["features"] == "blue"


def test_anothers_reason_is_left_alone(link):
    link.ok("node-update", name="c0001", state="drain", reason="admin: bad fan")
    whole = link.call("node-update", name="c0001", state="undrain", onlyIfReason="slurmkeeper: ")
    assert whole["r"] == EREMOTEIO and "admin: bad fan" in whole["error"]
    assert "DRAIN" in flags(node(link))
    link.ok("node-update", name="c0001", state="drain", reason="slurmkeeper: x")
    assert node(link)["reason"] == "admin: bad fan"
    link.ok("node-update", name="c0001", state="undrain")
    link.ok("node-update", name="c0001", state="drain", reason="slurmkeeper: x")
    link.ok("node-update", name="c0001", state="undrain", onlyIfReason="slurmkeeper: ")
    assert "DRAIN" not in flags(node(link))


@pytest.mark.parametrize("fields,r,text", [
    (dict(name="nowhere", state="drain", reason="x"), EREMOTEIO, "Invalid node name"),
    (dict(name="c[0001-0003]", state="drain", reason="x"), EINVAL, "not the name of one node"),
    (dict(name="ALL", state="drain", reason="x"), EINVAL, "not the name of one node"),
    (dict(name="c0001", state="sleepy"), EINVAL, "no state that a node can be set to"),
    (dict(state="drain"), EINVAL, "'name' is missing"),
    (dict(name="nowhere", state="drain", onlyIfReason="x"), EREMOTEIO, "Invalid node name"),
    *[(dict(name="c0001", **fields), EINVAL, "does not have it") for what, fields in
      {"topology of nodes": {"topology": "t:a"}, "resumeAfter": {"resumeAfter": 60}}.items()
      if not release.has(what)],
])
def test_bad_requests(link, fields, r, text):
    whole = link.call("node-update", **fields)
    assert whole["r"] == r and text in whole["error"], whole


def test_static_nodes_are_not_deleted(link):
    whole = link.call("node-delete", name="c0001")
    assert whole["r"] == EREMOTEIO and "only dynamic nodes" in whole["error"]
    assert node(link)


def test_dynamic_nodes_are(slurm, link):
    slurm.scontrol("create", "nodename=dyn1 cpus=2 realmemory=100 state=cloud feature=dyn")
    assert node(link, "dyn1")["features"] == "dyn"
    link.ok("node-delete", name="dyn1")
    assert "dyn1" not in link.items("nodes")
    assert link.ok("node-delete", name="dyn1")["gone"]


def test_jobs_have_nodes_and_times(slurm, link):
    env = {"PATH": os.environ["PATH"], "SLURM_CONF": slurm.conf}
    job = subprocess.run(["sbatch", "--parsable", "-J", "three", "-N3", "-t", "30", "--wrap",
                          "true"], env=env, check=True, capture_output=True,
                         text=True).stdout.strip()
    try:
        def running():
            """the job has its nodes"""
            item = link.items("jobs").get("three", {})
            return item if item.get("state") == "RUNNING" else None
        item = wait_for(running)
        assert item["id"] == int(job) and item["user"] == "root" and item["partition"] == "all"
        assert item["nodes"].startswith("c[0") and item["endTime"] > time.time()
        busy = [n for n in link.ok("nodes")["items"] if n["state"].startswith("ALLOC") or
                n["state"].startswith("MIXED")]
        assert len(busy) == 3 and all(n["cpusAllocated"] > 0 for n in busy)
    finally:
        subprocess.run(["scancel", job], env=env, check=True)
    wait_for(lambda: "three" not in link.items("jobs"))


def put(link, **fields):
    base = dict(name="r1", users="root", nodes="c[0010-0012]", startTime=int(time.time()) + 3600,
                duration=60)
    return link.call("reservation-put", **{**base, **fields})


def test_a_reservation_is_made_changed_and_deleted(slurm, link):
    start = int(time.time()) + 3600
    whole = put(link, flags=["MAINT", "IGNORE_JOBS"])
    assert whole["r"] == 0 and whole["answer"]["created"], whole
    item = link.items("reservations")["r1"]
    assert item["nodes"] == "c[0010-0012]" and item["users"] == "root"
    assert {"MAINT", "IGNORE_JOBS"} <= set(item["flags"])
    assert item["endTime"] - item["startTime"] == 3600
    whole = put(link, nodes="c[0010-0020]", flags=["IGNORE_JOBS"], startTime=start, duration=120)
    assert whole["r"] == 0 and "created" not in whole["answer"], whole
    item = link.items("reservations")["r1"]
    assert item["nodes"] == "c[0010-0020]" and "MAINT" not in item["flags"]
    assert item["endTime"] == start + 7200
    link.ok("reservation-delete", name="r1")
    assert "r1" not in link.items("reservations")
    assert link.ok("reservation-delete", name="r1")["gone"]


def test_a_reservation_by_count_from_now_on(link):
    start = time.time()
    whole = link.call("reservation-put", name="r2", users="root", nodeCount=5, duration=10,
                      partition="all")
    assert whole["r"] == 0, whole
    item = link.items("reservations")["r2"]
    assert item["nodeCount"] == 5 and abs(item["startTime"] - start) < 60
    wait_for(lambda: [n for n in link.ok("nodes")["items"] if "RESERVED" in flags(n)])
    link.ok("reservation-delete", name="r2")


@pytest.mark.parametrize("fields,r", [
    (dict(flags=["NONSENSE"]), EINVAL),
    (dict(nodes="nowhere"), EREMOTEIO),
    (dict(users="nobody-of-that-name"), EREMOTEIO),
    (dict(startTime=1000), EREMOTEIO),
    *([] if release.has("reservation comment") else [(dict(comment="x"), EINVAL)]),
])
def test_bad_reservations(link, fields, r):
    whole = put(link, **fields)
    assert whole["r"] == r, whole
    assert "r1" not in link.items("reservations")


def test_overlap_is_told(link):
    assert put(link)["r"] == 0
    whole = put(link, name="r3")
    assert whole["r"] in (EREMOTEIO, EBUSY), whole
    assert whole["answer"]["error"]["code"] == 2058
    link.ok("reservation-delete", name="r1")


def test_lists_that_did_not_change_are_not_sent(link):
    for call in ("nodes", "jobs", "reservations"):
        answer = link.ok(call)
        assert link.ok(call, since=answer["time"] + 5) == {"ok": True, "unchanged": True}
