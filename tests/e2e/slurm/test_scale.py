# SPDX-License-Identifier: GPL-2.0-or-later
"""Fewer nodes, other nodes, none: no job dies by our hand, and nothing of others' is touched.

Needs slurmkeeper-agent: without it nobody can tell what runs.
"""
import json
import os
import signal

import pytest

from local import Local, wait_for

OURS = "slurmkeeper: Pod"


@pytest.fixture(scope="module")
def own(machine):
    with Local("s") as c:
        c.up()
        if (c.get("secret", "slurm-agent", check=False) or {}).get("kind") != "Secret":
            pytest.skip("there is no agent in this build")
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def pods(c):
    out = c.kubectl("get", "pods", "-l", "app.kubernetes.io/name=slurmd", "-o", "name").stdout
    return sorted(line.split("/")[1] for line in out.split())


def node(c, name):
    """State and reason."""
    out = c.slurm("sinfo", "-h", "-n", name, "-N", "-o", "%T|%E").stdout.strip()
    return tuple(out.split("\n")[0].split("|", 1)) if out else ("", "")


def wait_pods(c, *names):
    return wait_for(lambda: pods(c) == sorted(names), f"the pods are {names}")


def scale(c, n):
    c.kubectl("scale", "nodeset/compute", f"--replicas={n}")


def work(c, where, seconds=600):
    job = c.submit(f"sleep {seconds}", "-w", where, "-D", "/", "-o", "/dev/null")
    c.wait_job(job, "RUNNING")
    return job


def counters(c):
    s = c.get("nodeset", "compute")["status"]
    return s.get("slurmIdle", 0), s.get("slurmAllocated", 0), s.get("slurmDrain", 0)


def pod_states(c, name):
    return {x["type"][len("SlurmNodeState"):]: x.get("message", "") for x in
            c.get("pod", name)["status"]["conditions"] if x["type"].startswith("SlurmNodeState")}


def test_the_state_of_nodes_is_shown(own):
    wait_for(lambda: counters(own) == (3, 0, 0), "three are idle")
    job = work(own, "compute-1")
    wait_for(lambda: counters(own)[1] == 1, "one is at work", 2)
    own.slurm("scontrol", "update", "nodename=compute-2", "state=drain", "reason=disk")
    wait_for(lambda: pod_states(own, "compute-2") == {"Idle": "disk", "Drain": "disk"}, "the pod shows it", 2)
    label = own.get("pod", "compute-1")["metadata"]["labels"].get("nodeset.slinky.slurm.net/pod-protect")
    assert label == "true"
    own.slurm("scontrol", "update", "nodename=compute-2", "state=resume")
    own.slurm("scancel", job)
    wait_for(lambda: counters(own) == (3, 0, 0), "three are idle")


def test_idle_nodes_go_first_and_busy_ones_when_their_jobs_have_ended(own):
    job = work(own, "compute-2")
    scale(own, 1)
    wait_pods(own, "compute-2")
    assert own.job_state(job) == "RUNNING"
    scale(own, 0)
    wait_for(lambda: node(own, "compute-2")[0] == "draining", "the node is drained")
    assert node(own, "compute-2")[1].startswith(OURS)
    held = own.wait_condition("nodeset", "compute", "ScaledDown", "False", "WaitingForDrain")
    assert job in held["message"]
    assert (pods(own), own.job_state(job)) == (["compute-2"], "RUNNING")
    own.slurm("scancel", job)
    wait_pods(own)


def test_new_pods_are_not_left_down(own):
    scale(own, 3)
    own.wait_idle("compute-0", "compute-1", "compute-2", seconds=60)


def test_who_may_stay_after_all_is_let_back(own):
    jobs = [work(own, f"compute-{i}") for i in range(3)]
    scale(own, 1)
    wait_for(lambda: [node(own, f"compute-{i}")[0] for i in range(3)].count("draining") == 2, "two are drained")
    scale(own, 3)
    wait_for(lambda: counters(own)[2] == 0, "none is drained")
    assert [own.job_state(j) for j in jobs] == ["RUNNING"] * 3
    own.slurm("scancel", *jobs)


def test_a_drain_of_somebody_else_stays(own):
    own.wait_idle("compute-0", "compute-1", "compute-2")
    own.slurm("scontrol", "update", "nodename=compute-0", "state=drain", "reason=disk")
    own.kubectl("annotate", "pod", "compute-1", "nodeset.slinky.slurm.net/pod-cordon=true")
    wait_for(lambda: node(own, "compute-1")[0] == "drained", "the cordoned one is drained")
    own.kubectl("annotate", "pod", "compute-1", "nodeset.slinky.slurm.net/pod-cordon-")
    wait_for(lambda: node(own, "compute-1")[0] == "idle", "it is let back")
    assert node(own, "compute-0") == ("drained", "disk")
    own.slurm("scontrol", "update", "nodename=compute-0", "state=resume")


def test_a_new_template_waits_for_jobs(own):
    own.wait_idle("compute-0", "compute-1", "compute-2")
    job = work(own, "compute-1")
    before = {p: own.get("pod", p)["metadata"]["uid"] for p in pods(own)}
    own.kubectl("patch", "nodeset", "compute", "--type=merge", "-p", json.dumps({"spec": {"extraConf": "MemSpecLimit=7"}}))
    wait_for(lambda: own.get("nodeset", "compute")["status"]["updatedReplicas"] == 2, "two are new", 60)
    assert own.job_state(job) == "RUNNING"
    assert own.get("pod", "compute-1")["metadata"]["uid"] == before["compute-1"]
    own.slurm("scancel", job)
    wait_for(lambda: own.get("nodeset", "compute")["status"]["updatedReplicas"] == 3, "all are new", 60)
    own.wait_idle("compute-0", "compute-1", "compute-2", seconds=60)


def test_a_template_that_does_not_start_can_be_put_right(own):
    # a node that takes no jobs yet is replaced at once, beyond the bound
    own.wait_idle("compute-0", "compute-1", "compute-2", seconds=60)
    own.wait_condition("nodeset", "compute", "Ready", "True", seconds=60)
    own.kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
                json.dumps({"spec": {"slurmd": {"command": ["/bin/false"]}}}))
    wait_for(lambda: "container slurmd" in own.wait_condition("nodeset", "compute", "Ready", "False")["message"],
             "the condition says why")
    wait_for(lambda: len([s for s in own.node_states().values() if s == "idle"]) == 2, "two go on")
    own.kubectl("patch", "nodeset", "compute", "--type=json", "-p", '[{"op":"remove","path":"/spec/slurmd"}]')
    own.wait_idle("compute-0", "compute-1", "compute-2", seconds=60)


def test_an_operator_that_is_killed_in_the_middle_goes_on(own):
    job = work(own, "compute-1")
    scale(own, 0)
    os.kill(own.process("operator"), signal.SIGKILL)
    wait_pods(own, "compute-1")
    assert own.job_state(job) == "RUNNING"
    scale(own, 1)
    wait_for(lambda: node(own, "compute-1")[0] in ("mixed", "allocated"), "it is let back")
    own.slurm("scancel", job)


def test_deletion_waits_for_jobs(own):
    own.wait_idle("compute-1")
    job = work(own, "compute-1", 30)
    own.kubectl("delete", "nodeset", "compute", "--wait=false", "--cascade=foreground")
    own.kubectl("delete", "controller", "slurm", "--wait=false")
    wait_for(lambda: node(own, "compute-1")[0] == "draining", "the node is drained")
    assert "compute" in own.wait_condition("controller", "slurm", "Deleting", "True")["message"]
    assert own.job_state(job) == "RUNNING"
    own.wait_job(job, "COMPLETED", 60)
    wait_for(lambda: own.get("nodeset", "compute", check=False) is None, "the NodeSet goes")
    wait_for(lambda: own.get("controller", "slurm", check=False) is None, "the Controller goes")
    wait_for(lambda: own.get("statefulset", "slurm-controller", check=False) is None, "slurmctld goes")
