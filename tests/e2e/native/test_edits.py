# SPDX-License-Identifier: GPL-2.0-or-later
"""What is declared of partitions is in slurmctld, in the files, and stays so when slurmctld starts again."""
import os
import signal

import pytest

import release
from local import wait_for

# field of Partition, value, what scontrol shows for it, what it shows when the field is left out again
FIELDS = [
    ("maxTime", "2-00:00:00", "MaxTime", "2-00:00:00", "UNLIMITED"),
    ("maxTime", 90, "MaxTime", "01:30:00", "UNLIMITED"),
    ("defaultTime", "1:00:00", "DefaultTime", "01:00:00", "NONE"),
    ("overTimeLimit", 5, "OverTimeLimit", "5", "NONE"),
    ("graceTime", 30, "GraceTime", "30", "0"),
    ("priorityTier", 7, "PriorityTier", "7", "1"),
    ("priorityJobFactor", 9, "PriorityJobFactor", "9", "1"),
    ("maxNodes", 2, "MaxNodes", "2", "UNLIMITED"),
    ("minNodes", 2, "MinNodes", "2", None),
    ("maxCPUsPerNode", 1, "MaxCPUsPerNode", "1", "UNLIMITED"),
    ("maxMemPerNode", 512, "MaxMemPerNode", "512", "UNLIMITED"),
    ("maxMemPerCPU", 256, "MaxMemPerCPU", "256", None),
    ("defMemPerNode", 128, "DefMemPerNode", "128", "UNLIMITED"),
    ("defMemPerCPU", 64, "DefMemPerCPU", "64", None),
    ("allowGroups", ["root", "slurm"], "AllowGroups", "root,slurm", "ALL"),
    ("allowAccounts", ["one", "two"], "AllowAccounts", "one,two", "ALL"),
    ("denyAccounts", ["bad"], "DenyAccounts", "bad", None),
    ("allowQos", ["high"], "AllowQos", "high", "ALL"),
    ("denyQos", ["low"], "DenyQos", "low", None),
    ("allocNodes", "compute-0", "AllocNodes", "compute-0", "ALL"),
    ("oversubscribe", "FORCE:2", "OverSubscribe", "FORCE:2", "NO"),
    ("oversubscribe", "EXCLUSIVE", "OverSubscribe", "EXCLUSIVE", "NO"),
    ("preemptMode", "CANCEL", "PreemptMode", "CANCEL", None),
    ("alternate", "compute", "Alternate", "compute", None),
    ("hidden", True, "Hidden", "YES", "NO"),
    ("rootOnly", True, "RootOnly", "YES", "NO"),
    ("reqResv", True, "ReqResv", "YES", "NO"),
    ("lln", True, "LLN", "YES", "NO"),
    ("exclusiveUser", True, "ExclusiveUser", "YES", "NO"),
    ("disableRootJobs", True, "DisableRootJobs", "YES", "NO"),
    ("state", "DRAIN", "State", "DRAIN", "UP"),
    ("state", "DOWN", "State", "DOWN", "UP"),
    ("state", "INACTIVE", "State", "INACTIVE", "UP"),
    ("config", "GraceTime=44", "GraceTime", "44", "0"),
]


@pytest.fixture(scope="module")
def fields(shared):
    shared.make("partitions", "fields", {"nodeSetRefs": [{"name": "compute"}]}).ok()
    shared.wait_live("fields", State="UP")
    yield
    shared.remove_all("partitions", "fields")


@pytest.mark.parametrize("field, value, key, shown, without", FIELDS, ids=[f"{f[0]}-{f[3]}" for f in FIELDS])
def test_a_field(cluster, fields, field, value, key, shown, without):
    if field in ("allowQos", "denyQos") and release.has("qos lists are looked up"):
        pytest.skip("slurmctld refuses a QOS that is not there, and there is none without accounting (test_refused)")
    answer = cluster.change("partitions", "fields", {field: value})
    if answer.code == 400 and "unknown field" in answer.text:
        pytest.skip(f"no field {field}")
    answer.ok()
    cluster.wait_live("fields", **{key: shown})
    cluster.change("partitions", "fields", {field: None}).ok()
    wait_for(lambda: cluster.live("fields").get(key) in ((without,) if without else (None, "", "NO", "OFF", "0", "1")),
             f"{key} is back ({cluster.live('fields').get(key)})")
    cluster.wait_state("partitions", "fields", "Ready", "True", "Applied")


def test_an_edit_of_partition_config(cluster):
    for config, shown in (("Default=YES MaxTime=1:00:00", "01:00:00"), ("Default=YES MaxTime=24:00:00", "1-00:00:00")):
        cluster.change("nodesets", "compute", {"partition": {"config": config}}).ok()
        cluster.wait_live("compute", MaxTime=shown, Default="YES")
        wait_for(cluster.agree, "the files agree")


def test_an_edit_that_is_waited_for_is_live(cluster):
    """The way of a script: edit, wait, use.  Settings come, change and go."""
    for config, shown in (("Default=YES MaxTime=2:00:00 PriorityTier=7", ("02:00:00", "7")),
                          ("Default=YES MaxTime=2:00:00", ("02:00:00", "1")),
                          ("Default=YES PriorityTier=3", ("UNLIMITED", "3")),
                          ("Default=YES MaxTime=24:00:00", ("1-00:00:00", "1"))):
        made = cluster.change("nodesets", "compute", {"partition": {"config": config}}).ok()
        cluster.kubectl("wait", "nodeset/compute", "--for=condition=PartitionApplied", "--timeout=20s")
        seen = cluster.live("compute")
        assert (seen["MaxTime"], seen["PriorityTier"]) == shown, config
        c = cluster.state_of("nodesets", "compute", "PartitionApplied")
        assert (c["status"], c["observedGeneration"]) == ("True", made["metadata"]["generation"])


def test_an_edit_that_slurmctld_does_not_get_is_not_live(cluster):
    """Another part of the configuration is refused, and with it the edit; then that part is mended."""
    before = cluster.live("compute")
    extra = cluster.object("controllers", "slurm")["spec"].get("extraConf")
    cluster.change("controllers", "slurm", {"extraConf": "PriorityType=priority/nothing\n"}).ok()
    cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", "Refused")
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=5"}}).ok()
    c = cluster.wait_state("nodesets", "compute", "PartitionApplied", "False", "Refused")
    assert "Controller slurm" in c["message"], c
    assert cluster.live("compute") == before
    cluster.change("controllers", "slurm", {"extraConf": extra}).ok()
    cluster.kubectl("wait", "nodeset/compute", "--for=condition=PartitionApplied", "--timeout=20s")
    assert cluster.live("compute")["MaxTime"] == "00:05:00"
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
    cluster.kubectl("wait", "nodeset/compute", "--for=condition=PartitionApplied", "--timeout=20s")


def test_a_partition_changed_by_scontrol_is_not_as_declared(cluster):
    cluster.slurm("scontrol", "update", "PartitionName=compute", "MaxTime=3")
    c = cluster.wait_state("nodesets", "compute", "PartitionApplied", "False", "ChangedInSlurm")
    assert "MaxTime is 00:03:00" in c["message"], c
    # an edit of that very setting ends it
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=4"}}).ok()
    cluster.kubectl("wait", "nodeset/compute", "--for=condition=PartitionApplied", "--timeout=20s")
    assert cluster.live("compute")["MaxTime"] == "00:04:00"
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
    cluster.kubectl("wait", "nodeset/compute", "--for=condition=PartitionApplied", "--timeout=20s")
    assert cluster.live("compute")["MaxTime"] == "1-00:00:00"


def test_nodes_by_nodesets_all_and_names(cluster):
    cluster.make("nodesets", "other", {"replicas": 1, "partition": {"enabled": False}}).ok()
    cluster.make("partitions", "both", {"nodeSetRefs": [{"name": "compute"}, {"name": "other"}]}).ok()
    cluster.make("partitions", "every", {"all": True}).ok()
    cluster.wait_live("both", Nodes="compute-[0-2],other-0")
    cluster.wait_live("every", Nodes="compute-[0-2],other-0")
    assert cluster.live("other") == {}
    cluster.change("partitions", "both", {"nodeSetRefs": [{"name": "other"}]}).ok()
    cluster.wait_live("both", Nodes="other-0")
    cluster.change("partitions", "both", {"nodeSetRefs": None, "all": True}).ok()
    cluster.wait_live("both", Nodes="compute-[0-2],other-0")
    cluster.remove_all("partitions", "both", "every")
    cluster.remove_all("nodesets", "other")
    wait_for(lambda: "other-0" not in cluster.node_states(), "the record of its node is gone")


def test_a_nodeset_that_is_not_there_leaves_the_rest_alone(cluster):
    cluster.make("partitions", "half", {"nodeSetRefs": [{"name": "compute"}, {"name": "nothing"}]}).ok()
    cluster.wait_live("half", Nodes="compute-[0-2]")
    c = wait_for(lambda: cluster.state_of("partitions", "half", "Ready"), "a condition")
    assert "nothing" in cluster.wait_state("partitions", "half", "Ready", c["status"], says="nothing")["message"]
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=7"}}).ok()
    cluster.wait_live("compute", MaxTime="00:07:00")
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
    cluster.remove_all("partitions", "half")


def test_the_default_line_counts(cluster):
    before = cluster.object("controllers", "slurm")["spec"]["extraConf"]
    cluster.make("partitions", "plain", {"nodeSetRefs": [{"name": "compute"}]}).ok()
    cluster.wait_live("plain", MaxTime="UNLIMITED")
    cluster.change("controllers", "slurm",
                   {"extraConf": before + "PartitionName=DEFAULT MaxTime=3:00:00 PriorityTier=4\n"
                                          "PartitionName=late Nodes=ALL\n"}).ok()
    cluster.wait_live("late", MaxTime="03:00:00", PriorityTier="4")
    wait_for(cluster.agree, "the files agree")
    cluster.change("controllers", "slurm", {"extraConf": before}).ok()
    cluster.wait_gone("late")
    cluster.remove_all("partitions", "plain")


@pytest.mark.slurmctld_ends
def test_a_restart_of_slurmctld_changes_nothing(cluster):
    cluster.make("partitions", "kept", {"nodeSetRefs": [{"name": "compute"}], "maxTime": "3:00:00", "priorityTier": 5,
                                        "hidden": True, "state": "DRAIN", "oversubscribe": "YES:3"}).ok()
    cluster.wait_live("kept", State="DRAIN", PriorityTier="5")
    before = cluster.all_live()
    job = cluster.submit("sleep 60", "-n1", "-o", "/dev/null")
    cluster.wait_job(job, "RUNNING")
    cluster.wait_saved()
    pid = cluster.slurmctld()
    os.kill(pid, signal.SIGKILL)
    cluster.wait_slurmctld(pid)
    wait_for(lambda: cluster.all_live() == before, "all partitions are as they were")
    assert cluster.job_state(job) == "RUNNING"
    cluster.slurm("scancel", job)
    assert cluster.agree()
    cluster.wait_state("controllers", "slurm", "Ready", "True")
    cluster.wait_idle("compute-0", "compute-1", "compute-2")
    cluster.remove_all("partitions", "kept")
