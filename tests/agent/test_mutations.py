# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing that is declared kills slurmctld: known killers, and a few hundred random ones."""
import os
import random
import signal
import threading
import time

import pytest

from agent import Cluster
from slurm import release, wait_for

SEED = int(os.environ.get("SEED", "7"))
ROUNDS = int(os.environ.get("ROUNDS", "150"))

FIRST = ["PartitionName=all Nodes=ALL Default=YES", "PartitionName=debug Nodes=few State=UP"]

# (what, settings, partition lines, other files): a slurmctld 22.05 ends on each of them, at a
# reconfigure or at its next start
KILLERS = [
    ("a partition of unknown nodes", "", ["PartitionName=x Nodes=c[0001-0099]"], {}),
    ("a partition twice", "", ["PartitionName=x Nodes=c0001", "PartitionName=x Nodes=c0002"], {}),
    ("a node twice", "NodeName=c0001 State=CLOUD", [], {}),
    ("a node set of unknown nodes", "NodeSet=x Nodes=nowhere[1-3]", ["PartitionName=x Nodes=x"], {}),
    ("an unknown node set", "", ["PartitionName=x Nodes=few,fewer"], {}),
    ("a plugin that is not there", "JobSubmitPlugins=nothing", [], {}),
    ("a scheduler that is not there", "SchedulerType=sched/nothing", [], {}),
    ("a select type that is not there", "SelectType=select/nothing", [], {}),
    ("a topology without its file", "TopologyPlugin=topology/tree", [],
     {"topology.conf": "SwitchName=s1 Nodes=nowhere\nSwitchName=s1 Nodes=c0001\n"}),
    ("a topology that turns in a circle", "TopologyPlugin=topology/tree", [],
     {"topology.conf": "SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1\n"}),
    ("security labels by a plugin that is not there", "MCSPlugin=mcs/nothing", [], {}),
    ("another socket of munge", "AuthInfo=socket=/nonexistent", [], {}),
    ("licenses that cannot be read", "Licenses=a:b:c:d", [], {}),
    ("another user that is not there", "SlurmUser=nobody-at-all", [], {}),
    ("a bad include", "Include /nonexistent/file", [], {}),
    ("a priority type that is not there", "PriorityType=priority/nothing", [], {}),
    ("a bad gres file", "", [], {"gres.conf": "Name=gpu File=/dev/nvidia[0-\n"}),
    ("down nodes that are not there", "DownNodes=nowhere State=DOWN", [], {}),
    ("an alternate that is not there", "", ["PartitionName=x Nodes=few Alternate=nowhere"], {}),
    ("a node set twice", "NodeSet=few Feature=other\nNodeSet=few Nodes=c0003", [], {}),
    ("a prolog that is not there", "PrologSlurmctld=/etc/slurm/no-such-file", [], {}),
    ("a missing script of the scheduler", "JobSubmitPlugins=lua", [], {}),
    ("two controllers of one name", "SlurmctldHost=localhost(127.0.0.1)", [], {}),
    ("a range that is too long", "", ["PartitionName=x Nodes=c[0001-9999999]"], {}),
    ("a line that never ends", "", ["PartitionName=x Nodes=c0001 \\"], {}),
    ("no partition at all", "", None, {}),
]


@pytest.fixture(scope="module", name="c")
def a_cluster():
    cluster = Cluster(partitions=list(FIRST))
    yield cluster
    cluster.stop()


def alive(c):
    """slurmctld has not died: the only process that left did so because the agent told it to"""
    return c.scontrol("ping", check=False).returncode == 0


@pytest.mark.parametrize("killer", KILLERS, ids=[k[0] for k in KILLERS])
def test_known_killers_are_refused_or_harmless(c, killer):
    _, extra, lines, files = killer
    pid = c.ctld_pid()
    before = len(c.log())
    c.extra, c.more = extra, dict(files)
    c.partitions = FIRST + lines if lines is not None else []
    status, answer = c.request("PUT", "/v1/config", c.body())
    c.extra, c.more, c.partitions = "", {}, list(FIRST)
    print(status, answer.get("class"), answer.get("step"), answer.get("error"))
    assert status in (200, 422), (status, answer)
    if status == 422:
        assert c.ctld_pid() == pid and alive(c)
    wait_for(lambda: alive(c))
    # whatever was taken must also be something to start from
    assert c.push()["result"] in ("applied", "unchanged")
    assert answer.get("step") == "reconfigure" or "fatal" not in c.log()[before:], c.log()[-2000:]


WORDS = ["c0001", "few", "blue", "ALL", "nowhere", "", "-1", "0", "1", "65536", "4294967296", "YES",
         "NO", "FORCE:4", "UNLIMITED", "c[1-", "c[0001-0003]", "a,b", "DEFAULT", "\"x", "é", "#",
         "State=DOWN", "=", "==", "MaxTime", "1-0", "CPU=1", "EXCLUSIVE", "root", "OFF", "\t"]
KEYS = ["PartitionName", "Nodes", "State", "MaxTime", "DefaultTime", "Default", "Hidden", "QOS",
        "AllowGroups", "OverSubscribe", "PreemptMode", "PriorityTier", "MaxNodes", "MinNodes",
        "DefMemPerCPU", "MaxMemPerNode", "Alternate", "CpuBind", "TRESBillingWeights", "GraceTime",
        "SelectTypeParameters", "SuspendTime", "AllocNodes", "DenyAccounts", "LLN", "NodeName",
        "NodeSet", "Feature", "CPUs", "DownNodes", "SchedulerParameters", "Licenses", "GresTypes",
        "PriorityType", "ReturnToService", "JobDefaults", "DefCpuPerGPU", "Include", "Weight"]


def mutated(rng, lines):
    lines = list(lines)
    for _ in range(rng.randint(1, 3)):
        kind = rng.randint(0, 5)
        at = rng.randrange(len(lines)) if lines else 0
        if kind == 0 or not lines:
            lines.insert(at, " ".join(f"{rng.choice(KEYS)}={rng.choice(WORDS)}"
                                      for _ in range(rng.randint(1, 3))))
        elif kind == 1:
            del lines[at]
        elif kind == 2:
            lines.append(lines[at])
        elif kind == 3:
            lines[at] += f" {rng.choice(KEYS)}={rng.choice(WORDS)}"
        elif kind == 4 and lines[at]:
            i = rng.randrange(len(lines[at]))
            lines[at] = lines[at][:i] + rng.choice("=,[]-# \\\"x0") + lines[at][i + 1:]
        else:
            lines[at] = lines[at].replace("=", rng.choice(["=", "+=", "-=", " "]), 1)
    return lines


def test_random_files_do_not_kill_it(c):
    rng = random.Random(SEED)
    taken = refused = 0
    base = c.text().splitlines()
    # addresses and directories stay, or the test itself would lose it
    fixed, free = base[:19], base[19:]
    before = len(c.log())
    for n in range(ROUNDS):
        text = "\n".join(fixed + mutated(rng, free)) + "\n"
        status, answer = c.request("PUT", "/v1/config", {"files": {"slurm.conf": text}})
        assert status in (200, 422), (n, status, answer, text)
        taken += status == 200
        refused += status == 422
        assert alive(c), (n, text, answer, c.log()[-2000:])
        assert "fatal" not in c.log()[before:], (n, text, answer, c.log()[-2000:])
    print(f"{taken} taken, {refused} refused")
    assert taken > ROUNDS / 20 and refused > ROUNDS / 20
    c.push()
    wait_for(lambda: c.partition_names() == {"all", "debug"})


@pytest.mark.parametrize("line", ["SlurmSchedLogFile=/no/such/dir/file",
                                  "JobCompType=jobcomp/filetxt\nJobCompLoc=/no/such/dir/file",
                                  "AccountingStorageType=accounting_storage/nothing"])
def test_what_no_rehearsal_can_find_is_undone_at_once(line):
    """A rehearsal writes no logs; slurmctld ends on what it cannot open, and comes back on the old files."""
    c = Cluster(partitions=list(FIRST))
    try:
        conf = c.live_conf()
        text = "".join(row for row in conf.splitlines(True) if not row.startswith("AccountingStorageType")) + line + "\n"
        status, answer = c.request("PUT", "/v1/config", {"files": {"slurm.conf": text}})
        step, words = release.end_of_a_start()
        if "nothing" in line and release.has("service"):
            step, words = "parse", "accounting_storage/nothing"
        assert (status, answer["step"]) == (422, step), answer
        assert words in answer["error"], answer
        assert "Unspecified" not in answer["error"], answer
        assert c.live_conf() == conf
        wait_for(lambda: alive(c))
        c.partitions[1] += " MaxTime=9"
        assert c.push()["result"] == "applied"
    finally:
        c.stop()


@pytest.mark.skipif(release.has("service"), reason="slurmctld goes on: it refuses such files by itself")
@pytest.mark.parametrize("away_s", [0, 0.5, 4])
def test_it_is_undone_by_the_next_agent_too(away_s):
    """The agent is killed while slurmctld ends on what it was told; the entry point alone knows of what."""
    c = Cluster(partitions=list(FIRST))
    try:
        conf = c.live_conf()
        bad = {"files": {"slurm.conf": conf + "SlurmSchedLogFile=/no/such/dir/file\n"}}
        threading.Thread(target=lambda: c.request("PUT", "/v1/config", bad)).start()
        wait_for(lambda: os.path.exists(c.marker), every=0.001)
        wait_for(lambda: not os.path.exists(c.marker), every=0.001)
        c.stop_agent(signal.SIGKILL)
        time.sleep(away_s)
        c.launch_agent()
        wait_for(lambda: c.live_conf() == conf and alive(c))
        wait_for(lambda: "slurmctld has ended on it: " in (c.state()["config"].get("error") or ""))
        c.partitions[1] += " MaxTime=9"
        assert c.push()["result"] == "applied"
    finally:
        c.stop()


def test_what_slurm_takes_otherwise_than_meant_is_warned_about(c):
    """None of these ends slurmctld 22.05: it keeps the name, or goes without the line."""
    c.extra = "DownNodes=nowhere State=DOWN\nNodeSet=few Feature=other"
    c.partitions = FIRST + ["PartitionName=x Nodes=few Alternate=nowhere"]
    answer = c.push()
    c.extra, c.partitions = "", list(FIRST)
    assert answer["result"] == "applied"
    said = " ".join(p["message"] for p in answer["problems"])
    assert "DownNodes: there is no node nowhere" in said
    assert "node set few stands twice; the first one counts" in said
    assert "its Alternate nowhere is not a partition of this configuration" in said
    assert "Alternate=nowhere" in c.scontrol("show", "partition", "x").stdout
    c.push()
