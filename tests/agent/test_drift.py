# SPDX-License-Identifier: GPL-2.0-or-later
"""Drift: told within a second, left alone or put back."""
import time

import pytest

from agent import Cluster
from slurm import release, wait_for
from test_apply import end_job, hold_job


@pytest.fixture(name="c")
def a_cluster():
    cluster = Cluster(partitions=["PartitionName=all Nodes=ALL Default=YES",
                                  "PartitionName=debug Nodes=few State=UP MaxTime=60",
                                  "PartitionName=plain Nodes=c[0004-0006]"])
    yield cluster
    cluster.stop()


def test_what_an_admin_changes_is_told_and_left(c):
    c.push()
    assert c.drift() == {}
    c.scontrol("update", "partitionname=debug", "state=drain", "maxtime=90")
    changed = time.monotonic()
    wait_for(lambda: c.drift() == {("debug", "State"): ("UP", "DRAIN"),
                                   ("debug", "MaxTime"): ("01:00:00", "01:30:00")})
    assert time.monotonic() - changed < 1
    # another partition changes: this one stays as the admin wants it
    c.partitions[0] += " MaxTime=100"
    assert c.push()["result"] == "applied"
    assert c.partition("debug")["State"] == "DRAIN"
    # its own declaration changes: then the declaration wins, as a whole
    c.partitions[1] = "PartitionName=debug Nodes=few State=UP MaxTime=60 PriorityTier=3"
    answer = c.push()
    assert [s for s in answer["steps"] if s["step"] == "rpc"][0]["what"].count("->") == 3
    debug = c.partition("debug")
    assert (debug["State"], debug["MaxTime"], debug["PriorityTier"]) == ("UP", "01:00:00", "3")
    wait_for(lambda: c.drift() == {})


def test_partitions_that_come_and_go_by_hand_are_told(c):
    c.scontrol("create", "partition=hand", "nodes=c0001")
    c.scontrol("delete", "partition=plain")
    wait_for(lambda: c.drift() == {("hand", "PartitionName"): ("", "hand"),
                                   ("plain", "PartitionName"): ("plain", "")})
    c.scontrol("delete", "partition=hand")
    c.scontrol("create", "partition=plain", "nodes=c[0004-0006]", "minnodes=0")
    wait_for(lambda: c.drift() == {})


def test_nodes_of_a_partition_drift(c):
    c.scontrol("update", "partitionname=plain", "nodes=c[0004-0005]")
    wait_for(lambda: c.drift() == {("plain", "Nodes"): ("c[0004-0006]", "c[0004-0005]")})


def test_revert_puts_it_back(c):
    c.push(driftPolicy="Revert")
    c.scontrol("update", "partitionname=debug", "state=drain", "maxtime=90", "hidden=yes")
    wait_for(lambda: c.partition("debug")["State"] == "UP")
    assert c.partition("debug")["MaxTime"] == "01:00:00"
    assert c.partition("debug")["Hidden"] == "NO"
    c.scontrol("delete", "partition=plain")
    wait_for(lambda: "plain" in c.partition_names())
    assert c.partition("plain")["MinNodes"] == "0"
    c.scontrol("create", "partition=hand", "nodes=c0001")
    wait_for(lambda: "hand" not in c.partition_names())
    wait_for(lambda: c.drift() == {})


def test_revert_leaves_a_partition_that_has_jobs(c):
    c.scontrol("create", "partition=hand", "nodes=c0001")
    job = hold_job(c, "hand")
    c.push(driftPolicy="Revert")
    time.sleep(2)
    assert "hand" in c.partition_names()
    end_job(c, job)
    c.scontrol("update", "partitionname=hand", "maxtime=9")
    wait_for(lambda: "hand" not in c.partition_names())


def test_an_applied_default_line_is_no_drift(c):
    c.partitions = ["PartitionName=DEFAULT MaxTime=30 DefMemPerCPU=100 AllowGroups=root "
                    "OverSubscribe=FORCE:2 PreemptMode=OFF GraceTime=20 DefaultTime=5",
                    "PartitionName=all Nodes=ALL Default=YES LLN=YES ReqResv=YES",
                    "PartitionName=debug Nodes=few DisableRootJobs=YES ExclusiveUser=YES "
                    "MaxMemPerNode=2000 TRESBillingWeights=CPU=1.0,Mem=0.25G",
                    "PartitionName=plain Nodes=c[0004-0006],blue AllowAccounts=B,a Alternate=all "
                    "CpuBind=core MaxCPUsPerNode=2 MinNodes=1 MaxNodes=2 RootOnly=YES"]
    answer = c.push()
    assert answer["result"] == "applied", answer
    time.sleep(1.5)
    assert c.drift() == {}
    # and the same from the file
    c.extra = "SchedulerParameters=bf_interval=44"
    c.push()
    time.sleep(1.5)
    assert c.drift() == {}
