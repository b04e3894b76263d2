# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything shown is true: nodes that slurmctld has lost, ghosts, drift, a slurmctld that is gone."""
import json
import os
import signal

import pytest

from local import PROGRAM, Local, nodeset, wait_for

DRIFT = "slurmkeeper.dev/drift-policy"


@pytest.fixture(scope="module")
def own(machine):
    with Local("t") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "Ready", "True")
        c.kubectl("patch", "controller", "slurm", "--type=merge", "-p", json.dumps({"spec": {"extraConf": "SlurmdTimeout=10"}}))
        c.wait_applied()
        c.wait_idle("compute-0", "compute-1", "compute-2")
        yield c


def record(c, node):
    out = c.slurm("scontrol", "-o", "show", "node", node, check=False).stdout
    return out if "NodeName=" in out else None


def plan(c):
    """Exit status and text of a plan without manifests."""
    done = c.slurmkeeper("plan", check=False)
    assert done.returncode in (0, 2), done.stdout + done.stderr
    return done.returncode, done.stdout


def nodes_of(c, partition):
    out = c.slurm("scontrol", "-o", "show", "partition", partition).stdout
    return dict(word.split("=", 1) for word in out.split() if "=" in word)


def test_a_node_that_slurmctld_has_lost_is_told_and_registers_again(own):
    job = own.submit("sleep 600", "-w", "compute-0", "-o", "/dev/null")
    own.wait_job(job, "RUNNING")
    before = own.get("pod", "compute-2")
    own.slurm("scontrol", "delete", "nodename=compute-2")
    wait_for(lambda: ("NodeLost", "slurmctld has no node compute-2, although pod compute-2 runs; its slurmd is started "
                      "again to register") in own.events("compute"), "it is told", 40)
    wait_for(lambda: record(own, "compute-2"), "it is there again", 60)
    own.wait_condition("nodeset", "compute", "Ready", "True")
    after = own.get("pod", "compute-2")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    restarts = [c["restartCount"] for c in after["status"]["containerStatuses"]]
    assert restarts == [c["restartCount"] for c in before["status"]["containerStatuses"]], "its container goes on"
    assert own.slurm("srun", "-w", "compute-2", "hostname").stdout.strip() == "compute-2"
    assert own.job_state(job) == "RUNNING"
    own.slurm("scancel", job)


def test_drift_is_in_plan_status_and_conditions(own):
    assert plan(own) == (0, plan(own)[1])
    own.slurm("scontrol", "update", "partitionname=compute", "state=drain")
    for look in (lambda: plan(own)[1], lambda: own.slurmkeeper("status", check=False).stdout,
                 lambda: own.condition("controller", "slurm", "Drifted")["message"],
                 lambda: own.condition("nodeset", "compute", "Drifted")["message"]):
        wait_for(lambda: "partition compute: State is DRAIN, declared UP" in look(), "it is told everywhere")
    assert plan(own)[0] == 2 and own.slurmkeeper("status", check=False).returncode == 3
    own.slurm("scontrol", "update", "partitionname=compute", "state=up")
    wait_for(lambda: plan(own)[0] == 0, "it is over")
    wait_for(lambda: own.condition("controller", "slurm", "Drifted") is None, "the condition, too")


def test_a_partition_that_slurmctld_has_emptied_is_told_and_healed(own):
    """scontrol of 22.05 takes nodes=+n1 for a list, says no, and leaves the partition without nodes."""
    done = own.slurm("scontrol", "update", "partitionname=compute", "nodes=+compute-1", check=False)
    if done.returncode == 0 or nodes_of(own, "compute")["TotalNodes"] != "0":
        own.slurm("scontrol", "update", "partitionname=compute", "nodes=compute-1")
    wait_for(lambda: "partition compute: Nodes is " in plan(own)[1], "it is told")
    own.kubectl("annotate", "controller", "slurm", f"{DRIFT}=Revert")
    wait_for(lambda: nodes_of(own, "compute")["TotalNodes"] == "3", "its nodes are back")
    wait_for(lambda: plan(own)[0] == 0, "nothing is left")
    own.kubectl("annotate", "controller", "slurm", f"{DRIFT}-")


def test_no_partition_names_a_node_that_is_gone(own):
    own.apply(json.dumps({"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition", "metadata": {"name": "all"},
                          "spec": {"controllerRef": {"name": "slurm"}, "nodeSetRefs": [{"name": "compute"}]}}))
    wait_for(lambda: own.get("partition", "all").get("status", {}).get("totalNodes") == 3, "it has three")
    own.kubectl("scale", "nodeset", "compute", "--replicas=2")
    wait_for(lambda: record(own, "compute-2") is None, "the record goes", 60)
    wait_for(lambda: own.get("partition", "all")["status"].get("totalNodes") == 2, "the status follows", 10)
    assert own.get("partition", "all")["status"]["nodes"] == "compute-[0-1]"
    own.kubectl("scale", "nodeset", "compute", "--replicas=3")
    own.wait_idle("compute-0", "compute-1", "compute-2", seconds=60)
    own.kubectl("delete", "partition", "all")


def test_ghosts_of_other_names_go(own):
    own.apply(nodeset("odd", replicas=2, partition={"enabled": True}, ordinalPadding=3, template={"spec": {"hostname": "rack"}}))
    own.wait_idle("rack000", "rack001", seconds=60)
    own.kubectl("patch", "nodeset", "odd", "--type=merge", "-p",
                json.dumps({"spec": {"ordinalPadding": 0, "template": {"spec": {"hostname": "shelf"}}}}))
    own.wait_idle("shelf0", "shelf1", seconds=90)
    wait_for(lambda: not record(own, "rack000") and not record(own, "rack001"), "the old records go", 60)
    own.kubectl("delete", "nodeset", "odd", timeout=120)
    wait_for(lambda: not record(own, "shelf0") and not record(own, "shelf1"), "all records go", 30)


def test_a_nodeset_that_goes_while_slurmctld_is_silent_leaves_no_records(own):
    own.apply(nodeset("late", replicas=1, partition={"enabled": True}))
    own.wait_idle("late-0", seconds=60)
    # the agent has seen it, too: of a node that nobody has told of nothing is known
    own.wait_condition("nodeset", "late", "NodesApplied", "True")
    pid = next(pid for name, pid in own.daemons() if name == "slurmctld")
    os.kill(pid, signal.SIGSTOP)
    try:
        own.kubectl("delete", "nodeset", "late", "--wait=false")
        own.kubectl("delete", "pod", "late-0", "--force", "--grace-period=0")
        wait_for(lambda: own.get("pod", "late-0", check=False) is None, "its pod is gone", 60)
        wait_for(lambda: own.condition("controller", "slurm", "Ready")["status"] != "True", "it is seen to be silent", 60)
        assert own.condition("nodeset", "compute", "Ready")["status"] != "True", "nobody knows whether nodes serve"
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(lambda: own.get("nodeset", "late", check=False) is None, "the NodeSet goes", 120)
    wait_for(lambda: not record(own, "late-0"), "and its record", 30)


def test_a_bad_key_is_refused_where_it_is_written(own):
    for value, says in (("", "is empty"), ("QUJD", "has 3 bytes")):
        done = own.kubectl("patch", "secret", "slurm-auth-slurm", "--type=merge", "-p",
                           json.dumps({"data": {"slurm.key": value}}), check=False)
        assert done.returncode != 0 and "data[slurm.key]" in done.stderr and says in done.stderr


def test_nodes_are_added_and_taken_away_in_one_command(own):
    own.apply(nodeset("extra", replicas=1))
    wait_for(lambda: record(own, "extra-0"), "its node is there", 60)
    own.apply(json.dumps({"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition", "metadata": {"name": "mixed"},
                          "spec": {"controllerRef": {"name": "slurm"}, "nodeSetRefs": [{"name": "compute"}]}}))
    wait_for(lambda: own.slurm("scontrol", "show", "partition", "mixed", check=False).returncode == 0, "it is live")
    done = own.slurmkeeper("partition", "mixed", "nodes+=extra")
    assert done.stdout == "Partition mixed: nodes=compute,extra\n"
    wait_for(lambda: nodes_of(own, "mixed")["TotalNodes"] == "4", "it has the node")
    done = own.slurmkeeper("partition", "mixed", "nodes-=compute")
    wait_for(lambda: nodes_of(own, "mixed")["Nodes"] == "extra-0", "the others are gone")
    done = own.slurmkeeper("partition", "mixed", "nodes-=compute", check=False)
    assert done.returncode == 1 and "NodeSet compute is not in it" not in done.stdout and done.stderr
    done = own.slurmkeeper("partition", "mixed", "nodes+=compute-1", check=False)
    assert done.returncode == 1 and "nodeSetRefs" in done.stderr, "a single pod of a NodeSet is refused with a reason"
    own.kubectl("delete", "partition", "mixed")
    own.kubectl("delete", "nodeset", "extra", timeout=120)


def test_plan_says_what_to_do_with_values_of_a_chart(own):
    path = f"{own.share}/values.yaml"
    with open(path, "w") as f:
        f.write("controller:\n  slurmctld:\n    image:\n      tag: '25.11'\n")
    done = own.slurmkeeper("plan", "-f", path, check=False)
    assert done.returncode == 1 and "helm template" in done.stderr
    assert PROGRAM
