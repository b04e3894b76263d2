# SPDX-License-Identifier: GPL-2.0-or-later
"""A reconfigure with a bad file ends slurmctld 22.05.  No declared object can bring that about, and its author is told.

Every case declares something bad.  Its author must be told by the API's answer, by a condition or by an event; slurmctld
stays the same process; an edit elsewhere is live meanwhile or once the bad thing is gone.
"""
import itertools

import pytest

from local import wait_for

CONF = "ReturnToService=2\n"
minutes = itertools.count(100)

EXTRA_CONF = {
    "unknown-nodes": "PartitionName=bad Nodes=nowhere[1-4]\n",
    "twice": "PartitionName=bad Nodes=ALL\nPartitionName=bad Nodes=ALL\n",
    "twice-in-another-case": "PartitionName=bad Nodes=ALL\npartitionname=bad nodes=ALL\n",
    "that-of-a-nodeset": "PartitionName=compute Nodes=ALL\n",
    "a-second-nodeset-line": "NodeSet=compute Feature=x\n",
    "garbage-nodes": "PartitionName=bad Nodes=a[1-\n",
    "wild-range": "PartitionName=bad Nodes=a[1-99999999]\n",
    "unknown-key": "NoSuchKey=1\n",
    "unknown-partition-key": "PartitionName=bad Nodes=ALL Frobnicate=1\n",
    "bad-value": "SlurmctldTimeout=many\n",
    "bad-time": "PartitionName=bad Nodes=ALL MaxTime=tomorrow\n",
    "huge-number": "PartitionName=bad Nodes=ALL PriorityTier=99999999999\n",
    "bad-state": "PartitionName=bad Nodes=ALL State=SIDEWAYS\n",
    "no-such-alternate": "PartitionName=bad Nodes=ALL Alternate=nothing\n",
    "missing-include": "include /etc/slurm/no-such-file.conf\n",
    "include-of-itself": "include slurm.conf\n",
    "a-node-twice": "NodeName=dup State=CLOUD\nNodeName=dup State=CLOUD\n",
    "nodes-without-end": "NodeName=x[1-999999] State=CLOUD\n",
    "no-equals": "PartitionName\n",
    "unicode": "PartitionName=b\u00e4d\u200b Nodes=\u8282\u70b9\n",
    "no-such-plugin": "SelectType=select/nothing\n",
    "auth-plugin": "AuthType=auth/nothing\n",
    "port": "SlurmctldPort=0\n",
    "node-count": "MaxNodeCount=1\n",
    "licences": "Licenses=a:b:c\n",
    "scheduler": "SchedulerType=sched/nothing\n",
    "gres": "GresTypes=gpu\nNodeName=g1 Gres=gpu:x:y:z State=CLOUD\n",
    "topology": "TopologyPlugin=topology/tree\n",
    "down-nodes": "DownNodes=nowhere State=DOWN\n",
    "two-defaults": "PartitionName=bad Nodes=ALL Default=YES\n",
    "prolog": "PrologSlurmctld=/no/such/program\n",
    "fast-schedule": "FastSchedule=2\n",
    "long-line": "PartitionName=bad Nodes=ALL AllowAccounts=" + "a" * 60000 + "\n",
    "carriage-return": "PartitionName=bad Nodes=ALL\rPartitionName=bad Nodes=ALL\n",
    "continuation": "PartitionName=bad Nodes=ALL \\\n",
    "state-dir": "StateSaveLocation=/no/such/dir\n",
}


def answer_edit(c):
    """An edit of a NodeSet's partition gets through."""
    n = next(minutes)
    c.change("nodesets", "compute", {"partition": {"config": f"Default=YES MaxTime={n}"}}).ok()
    c.wait_live("compute", MaxTime=f"{n // 60:02}:{n % 60:02}:00")


def is_told(c, kind, name, answer, marks=()):
    """Does the author see a reason?"""
    if answer.code >= 400:
        assert len(answer.json["message"]) > 20, answer
        return True
    for which in ("Ready", "ConfigApplied"):
        state = c.state_of(kind, name, which)
        if state.get("status") == "False" or any(m in state.get("message", "") for m in marks):
            return True
    return any(reason not in ("SuccessfulCreate", "Applied") and e not in c.known_events
               for e in c.events_of(name) for reason in e[:1])


@pytest.mark.slurmctld_ends  # looked at inside: some of it is taken, by a restart
@pytest.mark.parametrize("case", sorted(EXTRA_CONF))
def test_extra_conf(cluster, case):
    cluster.known_events = cluster.events_of("slurm")
    pid = cluster.slurmctld()
    settled = cluster.object("controllers", "slurm")["metadata"]["generation"]
    answer = cluster.change("controllers", "slurm", {"extraConf": CONF + EXTRA_CONF[case]})
    try:
        if answer.code < 400:
            def seen():
                o = cluster.object("controllers", "slurm")
                c = next((c for c in o["status"]["conditions"] if c["type"] == "ConfigApplied"), {})
                return c.get("observedGeneration", 0) > settled and (
                    c["status"] == "True" or is_told(cluster, "controllers", "slurm", answer)) and c
            state = wait_for(seen, "the configuration was looked at")
            if state["status"] == "True":
                state = cluster.wait_state("controllers", "slurm", "ConfigApplied", "True")
                print(f"{case}: taken: {state['message']}")
            else:
                print(f"{case}: {state['reason']}: {state['message']}")
        else:
            assert is_told(cluster, "controllers", "slurm", answer)
            print(f"{case}: {answer.json['message']}")
    finally:
        cluster.change("controllers", "slurm", {"extraConf": CONF}).ok()
    cluster.wait_applied(60)
    cluster.wait_live("compute", 30, State="UP")
    if case not in RESTARTS:
        assert cluster.slurmctld() == pid
    answer_edit(cluster)


# taken, and by nature a restart: done by the agent, with slurmctld's jobs
RESTARTS = {"gres", "node-count", "topology"}
for mark in RESTARTS:
    assert mark in EXTRA_CONF

NODESET_CONFIG = {
    "unknown-key": "Frobnicate=1", "bad-time": "MaxTime=tomorrow", "line-break": "MaxTime=1\nPartitionName=compute Nodes=ALL",
    "carriage-return": "MaxTime=1\rPartitionName=compute Nodes=ALL", "another-name": "PartitionName=other",
    "nodes": "Nodes=nowhere", "huge": "PriorityTier=99999999999", "unicode": "AllowAccounts=\u8282\u70b9",
    "comment": "# MaxTime=1", "continuation": "MaxTime=1 \\", "empty-value": "MaxTime=", "no-value": "MaxTime",
    "quote": 'AllowAccounts="a', "equals": "=", "nul": "MaxTime=1\u0000x", "negative": "MaxNodes=-5",
    "long": "AllowAccounts=" + "a" * 70000,
}


@pytest.mark.parametrize("case", sorted(NODESET_CONFIG))
def test_partition_config_of_a_nodeset(cluster, case):
    cluster.known_events = cluster.events_of("compute")
    answer = cluster.change("nodesets", "compute", {"partition": {"config": NODESET_CONFIG[case]}})
    if answer.code >= 400:
        assert is_told(cluster, "nodesets", "compute", answer)
    answer_edit(cluster)
    cluster.wait_applied()


PARTITIONS = {
    "no-nodes": {"nodes": "nowhere[1-9]"}, "garbage": {"nodes": "a[1-"}, "wild": {"nodes": "a[1-99999999]"},
    "name-of-a-nodeset": {"partitionName": "compute", "all": True},
    "name-in-another-case": {"partitionName": "COMPUTE", "all": True},
    "default-as-a-name": {"partitionName": "DEFAULT", "all": True},
    "space-in-name": {"partitionName": "a b", "all": True},
    "line-break-in-name": {"partitionName": "a\nPartitionName=b", "all": True},
    "line-break-in-config": {"all": True, "config": "MaxTime=1\nPartitionName=compute Nodes=ALL"},
    "line-break-in-nodes": {"nodes": "ALL\nPartitionName=compute Nodes=ALL"},
    "line-break-in-list": {"all": True, "allowAccounts": ["a\nPartitionName=compute Nodes=ALL"]},
    "blank-in-list": {"all": True, "allowAccounts": ["a Nodes=nowhere"]},
    "unknown-key": {"all": True, "config": "Frobnicate=1"}, "twice": {"all": True, "config": "MaxTime=1 MaxTime=2"},
    "nodes-in-config": {"all": True, "config": "Nodes=nowhere"},
    "name-in-config": {"all": True, "config": "PartitionName=compute"},
    "huge": {"all": True, "priorityTier": 99999999999}, "negative": {"all": True, "priorityTier": -1},
    "time": {"all": True, "maxTime": "tomorrow"}, "share": {"all": True, "oversubscribe": "FORCE:x"},
    "unicode": {"all": True, "partitionName": "\u8282\u70b9"}, "alternate": {"all": True, "alternate": "nothing"},
    "qos": {"all": True, "qos": "none such"}, "nothing": {}, "second-default": {"all": True, "default": True},
    "groups": {"all": True, "allowGroups": ["no-such-group"]}, "nodeset": {"nodeSetRefs": [{"name": "nothing"}]},
}


@pytest.mark.parametrize("case", sorted(PARTITIONS))
def test_partition(cluster, case):
    cluster.known_events = set()
    answer = cluster.make("partitions", "hostile", PARTITIONS[case])
    try:
        if answer.code < 400:
            state = wait_for(lambda: cluster.state_of("partitions", "hostile", "Ready"), "a condition")
            state = wait_for(lambda: cluster.state_of("partitions", "hostile", "Ready").get("reason") != "Pending" and
                             cluster.state_of("partitions", "hostile", "Ready"), "a condition")
            print(f"{case}: {state['status']} {state['reason']}: {state['message']}")
        else:
            print(f"{case}: {answer.json['message']}")
            assert is_told(cluster, "partitions", "hostile", answer)
        answer_edit(cluster)
    finally:
        cluster.remove_all("partitions", "hostile")
    cluster.wait_applied()


def test_a_nodeset_called_like_a_partition_and_the_other_way_round(cluster):
    cluster.make("partitions", "both", {"all": True}).ok()
    cluster.wait_live("both", State="UP")
    answer = cluster.make("nodesets", "both", {"replicas": 0, "partition": {"enabled": True}})
    print(answer.code, answer.json.get("message"))
    answer_edit(cluster)
    if answer.code < 400:
        wait_for(lambda: cluster.state_of("nodesets", "both", "Ready").get("status") == "False" or
                 cluster.state_of("partitions", "both", "Ready").get("status") == "False", "one of them is told")
        cluster.remove_all("nodesets", "both")
    cluster.remove_all("partitions", "both")
    cluster.wait_applied()


FILES = {
    "gres.conf": ["Name=gpu File=/dev/nothing[", "Frobnicate=1", "NodeName=nowhere Name=gpu Count=x"],
    "topology.conf": ["SwitchName=s1 Nodes=nowhere", "SwitchName=s1 Switches=s1", "garbage"],
    "cgroup.conf": ["Frobnicate=1", "CgroupPlugin=nothing"],
    "slurm.conf": ["PartitionName=bad Nodes=nowhere"],
    "more.conf": ["PartitionName=bad Nodes=nowhere", "PartitionName=compute Nodes=ALL", "Frobnicate=1"],
    "plugstack.conf": ["required /no/such/plugin.so"],
    "job_container.conf": ["Frobnicate=1"],
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_files_by_reference(cluster, name):
    extra = CONF + ("include more.conf\n" if name == "more.conf" else "")
    pid = cluster.slurmctld()
    cluster.remove("configmaps", "files")
    cluster.make("configmaps", "files", data={name: "# nothing\n"}).ok()
    answer = cluster.change("controllers", "slurm", {"configFileRefs": [{"name": "files"}], "extraConf": extra})
    if answer.code >= 400:
        assert is_told(cluster, "controllers", "slurm", answer)
        print(answer.json["message"])
        cluster.remove("configmaps", "files")
        return
    try:
        for text in FILES[name]:
            seen = cluster.object("controllers", "slurm")["status"]
            cluster.api.patch("/api/v1/namespaces/default/configmaps/files", {"data": {name: text + "\n"}}).ok()
            try:
                state = wait_for(lambda: cluster.object("controllers", "slurm")["status"] != seen and
                                 cluster.state_of("controllers", "slurm", "ConfigApplied"), "", 2)
            except AssertionError:
                state = cluster.state_of("controllers", "slurm", "ConfigApplied")
            print(f"{name} '{text}': {state['status']} {state['reason']}: {state['message']}")
            assert cluster.slurm("scontrol", "ping").returncode == 0
            assert cluster.slurmctld() == pid
            cluster.api.patch("/api/v1/namespaces/default/configmaps/files", {"data": {name: "# nothing\n"}}).ok()
            cluster.wait_applied()
    finally:
        cluster.change("controllers", "slurm", {"configFileRefs": None, "extraConf": CONF}).ok()
        cluster.remove("configmaps", "files")
    cluster.wait_applied()
    answer_edit(cluster)
