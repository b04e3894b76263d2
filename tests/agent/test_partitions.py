# SPDX-License-Identifier: GPL-2.0-or-later
"""Partitions by RPC: every key, both ways, and that a file and an RPC give the same partition."""
import json
import os
import subprocess

import pytest

from link import BUILD, EBUSY, EINVAL, EREMOTEIO, Link
from slurm import Slurm, release

# Every key that the RPC of all releases takes, with the form in which it reads back.
ALL_KEYS = [
    ("AllocNodes", "login[1-2]", "login[1-2]"),
    ("AllowAccounts", "Phys,chem", "phys,chem"),
    ("AllowGroups", "root,daemon", "root,daemon"),
    ("AllowQos", "high,Low", "high,low"),
    ("Alternate", "all", "all"),
    ("CpuBind", "cores", "core"),
    ("DefaultTime", "10", "00:10:00"),
    ("DefCPUPerGPU", "2", "2"),
    ("DefMemPerGPU", "1000", "1000"),
    ("DefMemPerCPU", "100", "100"),
    ("DenyAccounts", "bad", "bad"),
    ("DenyQos", "worse", "worse"),
    ("DisableRootJobs", "YES", "YES"),
    ("ExclusiveUser", "YES", "YES"),
    ("GraceTime", "90", "90"),
    ("Hidden", "YES", "YES"),
    ("LLN", "YES", "YES"),
    ("MaxCPUsPerNode", "3", "3"),
    ("MaxMemPerNode", "3000", "3000"),
    ("MaxNodes", "7", "7"),
    ("MaxTime", "1-0", "1-00:00:00"),
    ("MinNodes", "2", "2"),
    ("Nodes", "c[0001-0005],c0009", "c[0001-0005,0009]"),
    ("OverSubscribe", "FORCE:3", "FORCE:3"),
    ("OverTimeLimit", "15", "15"),
    ("PreemptMode", "REQUEUE", "REQUEUE"),
    ("PriorityJobFactor", "5", "5"),
    ("PriorityTier", "6", "6"),
    ("QOS", "part", "part"),
    ("ReqResv", "YES", "YES"),
    ("RootOnly", "YES", "YES"),
    ("State", "DRAIN", "DRAIN"),
    ("TRESBillingWeights", "CPU=1.0,Mem=0.25G", "CPU=1.0,Mem=0.25G"),
]
# There is no accounting here, hence no QOS that slurmctld could find.
UNKNOWN_HERE = {key for what, keys in {"qos by reconfigure": ["QOS"], "qos is looked up": ["QOS"],
                                       "qos lists are looked up": ["AllowQos", "DenyQos"]}.items()
                if release.has(what) for key in keys}
KEYS = [row for row in ALL_KEYS if row[0] not in UNKNOWN_HERE]
# These cannot be taken back by RPC.
STAY = {"DefaultTime", "OverTimeLimit", "PreemptMode"}


def config(link, name):
    return link.items("partitions")[name]["config"]


@pytest.fixture
def part(link):
    """A fresh partition; gone afterwards."""
    link.ok("partition-create", name="p", set={"Nodes": "c[0001-0003]"})
    yield "p"
    link.ok("partition-delete", name="p")


def test_a_new_partition_is_like_one_of_the_file(link, part):
    made, from_file = config(link, part), config(link, "all")
    made.pop("Nodes"), from_file.pop("Nodes")
    assert {**from_file, "Default": "NO"} == made


@pytest.mark.parametrize("key,value,back", KEYS, ids=[k[0] for k in KEYS])
def test_a_key_is_set_alone_and_taken_back(link, part, key, value, back):
    before = config(link, part)
    link.ok("partition-update", name=part, set={key: value})
    after = config(link, part)
    assert after[key] == back
    assert {k for k in after if after[k] != before.get(k)} == {key}
    if key in STAY:
        whole = link.call("partition-update", name=part, set={key: ""})
        assert whole["r"] == EINVAL and "reconfigure" in whole["error"]
    else:
        link.ok("partition-update", name=part, set={key: before.get(key, "")})
        assert config(link, part) == before


@pytest.mark.parametrize("value", ["UP", "DOWN", "DRAIN", "INACTIVE"])
def test_scontrol_sees_the_state(slurm, link, part, value):
    link.ok("partition-update", name=part, set={"State": value})
    assert slurm.partition(part)["State"] == value


def test_all_keys_at_once(slurm, link, part):
    link.ok("partition-update", name=part, set={k: v for k, v, _ in KEYS})
    have = config(link, part)
    assert {k: have[k] for k, _, _ in KEYS} == {k: back for k, _, back in KEYS}
    shown = slurm.partition(part)
    assert shown["MaxTime"] == "1-00:00:00" and shown["OverSubscribe"] == "FORCE:3"
    assert shown["Hidden"] == "YES" and shown["PreemptMode"] == "REQUEUE"


def test_one_update_is_one_rpc(slurm, link, part):
    mark = len(slurm.log())
    link.ok("partition-update", name=part, set={k: v for k, v, _ in KEYS})
    text = slurm.log()[mark:]
    # slurmctld rebuilds its scheduling data once for each update
    assert text.count("select_p_reconfigure: select/cons_tres: reconfigure") == 1, text
    assert "reconfigure_controller" not in text


def test_a_nodeset_is_known_by_its_name(link, part):
    link.ok("partition-update", name=part, set={"Nodes": "few,c0009"})
    item = link.items("partitions")[part]
    assert item["nodesets"] == "few"
    assert item["nodes"] == "c[0001-0003,0009]" and item["totalNodes"] == 4


def test_no_nodes_and_all_nodes(link, part):
    link.ok("partition-update", name=part, set={"Nodes": ""})
    assert "Nodes" not in config(link, part)
    link.ok("partition-update", name=part, set={"Nodes": "ALL"})
    assert config(link, part)["Nodes"] == "c[0001-1000]"


def test_the_default_moves(link, part):
    link.ok("partition-update", name=part, set={"Default": "YES"})
    assert config(link, "all")["Default"] == "NO"
    link.ok("partition-update", name="all", set={"Default": "YES"})
    assert config(link, part)["Default"] == "NO"


@pytest.mark.parametrize("given,text", [
    ({"Nodes": "nowhere"}, "Invalid node name"),
    ({"TRESBillingWeights": "bogus=x"}, "TRESBillingWeights"),
])
def test_slurmctlds_no_is_told(link, part, given, text):
    whole = link.call("partition-update", name=part, set=given)
    assert whole["r"] in (EREMOTEIO, EINVAL), whole
    assert text in whole["error"], whole


def test_a_refused_create_leaves_nothing(link):
    whole = link.call("partition-create", name="bad", set={"Nodes": "c0001,nowhere"})
    assert whole["r"] == EREMOTEIO and whole["answer"]["error"]["code"] == 2018
    assert "bad" not in link.items("partitions")


def test_creating_what_is_there_and_changing_what_is_not(link, part):
    whole = link.call("partition-create", name=part, set={"Nodes": "c0001"})
    assert whole["r"] == EREMOTEIO and whole["answer"]["error"]["code"] == 2000
    assert config(link, part)["Nodes"] == "c[0001-0003]"
    whole = link.call("partition-update", name="nothing", set={"State": "UP"})
    assert whole["r"] == EREMOTEIO and whole["answer"]["error"]["code"] == 2000
    assert link.ok("partition-delete", name="nothing")["gone"]


def test_a_partition_with_a_job_is_busy(slurm, link, part):
    env = {"PATH": os.environ["PATH"], "SLURM_CONF": slurm.conf}
    job = subprocess.run(["sbatch", "--parsable", "-H", "-p", part, "--wrap", "true"], env=env,
                         check=True, capture_output=True, text=True).stdout.strip()
    try:
        whole = link.call("partition-delete", name=part)
        assert whole["r"] == EBUSY and whole["answer"]["error"]["code"] == 2075
        jobs = link.items("jobs")
        assert jobs["wrap"]["id"] == int(job) and jobs["wrap"]["partition"] == part
        assert jobs["wrap"]["state"] == "PENDING"
    finally:
        subprocess.run(["scancel", job], env=env, check=True)


def test_nothing_new_costs_nothing(link):
    answer = link.ok("partitions")
    again = link.ok("partitions", since=answer["time"] + 2)
    assert again == {"ok": True, "unchanged": True}


def test_only_those_that_were_asked_for(link, part):
    assert [i["name"] for i in link.ok("partitions", only=[part, "none"])["items"]] == [part]
    assert link.ok("partitions", only=[])["items"] == []
    assert [i["name"] for i in link.ok("nodes", only=["c0003"])["items"]] == ["c0003"]


def drift(slurm, link):
    answer = json.dumps(link.ok("partitions"))
    return subprocess.run([os.path.join(BUILD, "tests/agent/agent-drift"), slurm.conf, release.text()],
                          input=answer, capture_output=True, text=True, check=True).stdout


LINES = [f"PartitionName=k{i} Nodes=c[0001-0004] {key}={value}" if key != "Nodes" else
         f"PartitionName=k{i} Nodes={value}" for i, (key, value, _) in enumerate(KEYS)]


def test_file_and_rpc_give_the_same_partition():
    """Each key in a file of its own line; the same by RPC; src/slurm sees no drift in either."""
    lines = ["PartitionName=DEFAULT MaxTime=5-0 PriorityTier=3", "PartitionName=all Nodes=ALL"]
    slurm = Slurm(nodes=20, partitions=lines + LINES + ["PartitionName=few Nodes=few,c0007"])
    try:
        link = Link(slurm.conf)
        assert drift(slurm, link) == ""
        before = link.items("partitions")
        for i, (key, value, _) in enumerate(KEYS):
            keys = {"Nodes": "c[0001-0004]", "MaxTime": "5-0", "PriorityTier": "3", key: value}
            link.ok("partition-delete", name=f"k{i}")
            link.ok("partition-create", name=f"k{i}", set=keys)
        assert drift(slurm, link) == ""
        after = link.items("partitions")
        assert {n: p["config"] for n, p in before.items()} == \
               {n: p["config"] for n, p in after.items()}
        link.ok("partition-update", name="k0", set={"State": "DOWN"})
        assert drift(slurm, link) == "k0 State: UP -> DOWN\n"
        link.ok("reconfigure")
        assert drift(slurm, link) == ""
        link.close()
    finally:
        slurm.stop()
