# SPDX-License-Identifier: GPL-2.0-or-later
"""Partitions, live: what is declared is in slurmctld, what slurmctld has is in the object, and no job is lost by it.

Needs slurmkeeper-agent: without it a change takes the way of files.
"""
import json
import random
import statistics
import time

import pytest

import release
from local import PROGRAM, Local, nodeset, run, wait_for

EDITS = 200


def partition(name, **spec):
    return json.dumps({"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition", "metadata": {"name": name},
                       "spec": {"controllerRef": {"name": "slurm"}, **spec}})


@pytest.fixture(scope="module")
def own(machine):
    with Local("p") as c:
        c.up()
        if (c.get("secret", "slurm-agent", check=False) or {}).get("kind") != "Secret":
            pytest.skip("there is no agent in this build")
        c.wait_condition("nodeset", "compute", "Ready", "True")
        c.apply(partition("debug", nodeSetRefs=[{"name": "compute"}], maxTime=30))
        c.wait_condition("partition", "debug", "Ready", "True", "Applied")
        yield c


def live(c, name="debug"):
    out = c.slurm("scontrol", "-o", "show", "partition", name, check=False).stdout
    return dict(word.split("=", 1) for word in out.split() if "=" in word)


def wait_live(c, name="debug", **fields):
    return wait_for(lambda: fields.items() <= live(c, name).items(), f"partition {name} has {fields}")


def patch(c, name="debug", **spec):
    c.kubectl("patch", "partition", name, "--type=merge", "-p", json.dumps({"spec": spec}))


def status(c, name="debug"):
    return c.get("partition", name).get("status", {})


def test_it_is_there_with_its_settings(own):
    assert live(own)["MaxTime"] == "00:30:00"
    assert own.slurm("sinfo", "-h", "-p", "debug", "-o", "%D").stdout.strip() == "3"
    seen = wait_for(lambda: status(own) if status(own).get("totalNodes") == 3 else None, "its nodes are shown")
    assert (seen["state"], seen["runningJobs"], seen["pendingJobs"]) == ("UP", 0, 0)
    assert seen["nodes"] == "compute-[0-2]"
    assert seen["live"]["MaxTime"] == "00:30:00"


def test_a_drain_is_as_immediate_as_scontrol(own):
    times = []
    for state in ("DRAIN", "UP") * 5:
        patch(own, state=state)
        start = time.monotonic()
        wait_live(own, State=state)
        times.append(time.monotonic() - start)
    print(f"from kubectl's return to scontrol, median {statistics.median(times) * 1000:.0f} ms")
    assert statistics.median(times) < 1


def test_all_kinds_of_settings_arrive(own):
    patch(own, maxTime="2-00:00:00", defaultTime=90, priorityTier=7, maxNodes=2, minNodes=1, hidden=True, lln=True,
          oversubscribe="YES:2", allowGroups=["root", "slurm"], graceTime=30, defMemPerCPU=100, rootOnly=False)
    wait_live(own, MaxTime="2-00:00:00", DefaultTime="01:30:00", PriorityTier="7", MaxNodes="2", MinNodes="1",
              Hidden="YES", LLN="YES", OverSubscribe="YES:2", AllowGroups="root,slurm", GraceTime="30",
              DefMemPerCPU="100", RootOnly="NO")
    own.wait_condition("partition", "debug", "Ready", "True", "Applied")
    patch(own, defaultTime=None, priorityTier=None, maxNodes=None, minNodes=None, hidden=None, lln=None,
          oversubscribe=None, allowGroups=None, graceTime=None, defMemPerCPU=None, rootOnly=None, maxTime=30)
    wait_live(own, MaxTime="00:30:00", DefaultTime="NONE", PriorityTier="1", MaxNodes="UNLIMITED", Hidden="NO",
              LLN="NO", OverSubscribe="NO", AllowGroups="ALL", GraceTime="0", DefMemPerNode="UNLIMITED")
    own.wait_condition("partition", "debug", "Ready", "True", "Applied")


def test_jobs_are_counted(own):
    job = own.submit("sleep 30", "-p", "debug", "-N3", "--exclusive")
    waiting = own.submit("sleep 1", "-p", "debug", "-N3", "--exclusive")
    wait_for(lambda: (status(own)["runningJobs"], status(own)["pendingJobs"]) == (1, 1), "both jobs are counted")
    own.slurm("scancel", job, waiting)
    wait_for(lambda: (status(own)["runningJobs"], status(own)["pendingJobs"]) == (0, 0), "none is left")


def test_drift_is_told_and_ends_with_the_next_declaration(own):
    own.slurm("scontrol", "update", "partitionname=debug", "state=down", "maxtime=5")
    c = own.wait_condition("partition", "debug", "Drifted", "True", "ChangedInSlurm")
    assert "State: declared UP, live DOWN" in c["message"] and "MaxTime: declared 00:30:00, live 00:05:00" in c["message"]
    wait_for(lambda: ("Drifted", "State is DOWN in slurmctld and declared as UP") in own.events("debug"), "the event")
    assert {d["field"]: d["live"] for d in status(own)["drift"]} == {"State": "DOWN", "MaxTime": "00:05:00"}
    time.sleep(2)
    assert live(own)["State"] == "DOWN"  # reported, and left alone
    patch(own, priorityTier=3)
    wait_live(own, State="UP", MaxTime="00:30:00", PriorityTier="3")
    own.wait_condition("partition", "debug", "Drifted", "False")


def test_drift_is_reverted_where_that_is_the_policy(own):
    own.kubectl("annotate", "controller", "slurm", "slurmkeeper.dev/drift-policy=Revert")
    try:
        wait_for(lambda: own.slurm("scontrol", "update", "partitionname=debug", "state=down") and
                 wait_live(own, State="UP"), "the state is put back")
    finally:
        own.kubectl("annotate", "controller", "slurm", "slurmkeeper.dev/drift-policy-")


def test_a_plan_tells_how(own):
    env = own.env()

    def plan(**spec):
        given = partition("debug", **{"nodeSetRefs": [{"name": "compute"}], "maxTime": 30, "priorityTier": 3, **spec})
        done = run(PROGRAM, "plan", "-f", "-", "-o", "json", input=given, env=env, check=False)
        (found,) = json.loads(done.stdout)["clusters"]
        return done.returncode, found["source"], found["class"], [c["change"] for c in found["changes"]]

    assert plan() == (0, "agent", "none", [])
    assert plan(maxTime=60) == (2, "agent", "rpc", ["partition debug: MaxTime: 00:30:00 -> 01:00:00"])
    code, source, what, _ = plan(config="SelectTypeParameters=CR_Core")
    assert (code, source, what) == (2, "agent", release.node_class())
    assert live(own)["MaxTime"] == "00:30:00"


def test_a_new_partition_and_nodeset_come_at_once(own):
    own.apply(nodeset("extra", replicas=0))
    own.apply(partition("both", nodeSetRefs=[{"name": "compute"}, {"name": "extra"}], default=False))
    wait_live(own, "both", NodeSets="compute,extra", Default="NO")
    own.kubectl("delete", "partition", "both", "--timeout=20s")
    assert live(own, "both") == {}
    own.kubectl("delete", "nodeset", "extra", "--timeout=20s")


def test_what_slurm_would_refuse_concerns_nobody_else(own):
    own.apply(partition("nowhere", nodes="no[1-4]"))
    own.wait_condition("partition", "nowhere", "Ready", "False", "Invalid")
    patch(own, maxTime=31)
    wait_live(own, MaxTime="00:31:00")
    assert live(own, "nowhere") == {}
    refused = own.apply(partition("taken", partitionName="compute", all=True), check=False)
    assert refused.returncode != 0 and "NodeSet compute" in refused.stderr
    own.kubectl("delete", "partition", "nowhere", "--timeout=20s")
    patch(own, maxTime=30)
    wait_live(own, MaxTime="00:30:00")


def test_no_job_is_lost_by_edits(own):
    dice = random.Random(4)
    jobs = [own.submit("sleep 600", "-p", "debug", "-n1") for _ in range(3)]
    for job in jobs:
        own.wait_job(job, "RUNNING")
    held = own.submit("true", "-p", "debug", "-H")
    choices = {"state": ["UP", "DOWN", "DRAIN", "INACTIVE"], "maxTime": [5, 60, "UNLIMITED"],
               "priorityTier": [1, 50, None], "hidden": [True, False, None], "maxNodes": [1, 3, "UNLIMITED"],
               "oversubscribe": ["NO", "YES:2", "EXCLUSIVE", None], "graceTime": [0, 60, None],
               "nodeSetRefs": [[{"name": "compute"}], [{"name": "compute"}, {"name": "missing"}]],
               "allowAccounts": [["a"], None], "preemptMode": ["OFF", None], "rootOnly": [True, False]}
    for _ in range(EDITS):
        key = dice.choice(sorted(choices))
        patch(own, **{key: dice.choice(choices[key])})
    patch(own, **{**dict.fromkeys(choices), "state": "UP", "nodeSetRefs": [{"name": "compute"}]})
    own.wait_condition("partition", "debug", "Ready", "True", "Applied")
    assert [own.job_state(j) for j in jobs] == ["RUNNING"] * 3
    assert own.job_state(held) == "PENDING"
    own.slurm("scancel", held, *jobs)


def test_a_restart_of_slurmctld_changes_nothing(own):
    before = live(own)
    own.kubectl("delete", "pod", "slurm-controller-0")
    own.wait_ready("slurm-controller-0", seconds=60)
    wait_for(lambda: live(own).get("MaxTime"), "slurmctld answers", 30)
    after = live(own)
    assert {k: after[k] for k in ("MaxTime", "State", "PriorityTier", "NodeSets")} == \
        {k: before[k] for k in ("MaxTime", "State", "PriorityTier", "NodeSets")}


def test_a_deleted_one_waits_for_its_jobs(own):
    job = own.submit("sleep 600", "-p", "debug", "-n1")
    own.wait_job(job, "RUNNING")
    own.kubectl("delete", "partition", "debug", "--wait=false")
    wait_live(own, State="DRAIN")
    c = wait_for(lambda: own.condition("partition", "debug", "Ready") if job in
                 own.condition("partition", "debug", "Ready")["message"] else None, "the job is named")
    assert c["reason"] == "Deleting"
    assert own.job_state(job) == "RUNNING"
    own.slurm("scancel", job)
    wait_for(lambda: own.get("partition", "debug", check=False) is None, "the object goes")
    assert live(own) == {}
