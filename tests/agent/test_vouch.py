# SPDX-License-Identifier: GPL-2.0-or-later
"""What the agent takes for certain (src/agent/vouch.c) libslurm's own parser takes, too, and slurmctld does not die of it."""
import os
import random
import subprocess

from agent import Cluster
from link import BUILD

SEED = int(os.environ.get("SEED", "11"))
LINES = int(os.environ.get("LINES", "6000"))
AT_ONCE = 400

NUMBERS = ["0", "1", "7", "60", "9999", "10000", "65535", "65536", "123456789", "4294967295", "99999999999", "010", "0x1f", "-1",
           "+5", "1K", "", "1.5", "UNLIMITED", "INFINITE", "unlimited", "many"]
TIMES = ["0", "5", "1440", "999999", "9999999", "90:30", "24:00:00", "9999:59:59", "99999:00:00", "1:61:00", "24:00:99", "1-0",
         "1-00:00:00", "UNLIMITED", "INFINITE", "soon", "", "24:0:0"]
BOOLS = ["YES", "NO", "yes", "TRUE", "1", "", "maybe"]
NAMES = ["ALL", "a", "a,b", "a.b-c_d", "", "a b", "\"a,b\"", "a;b", "a=b", ",", "[", "x" * 300]
NODES = ["ALL", "few", "c0001", "c[0001-0004]", "c[0001-0002],c0009", "c[", "c]", "[1-2]", "c[1-2", ",", "-", "..", "few,few", "NONE"]
VALUES = {
    "Nodes": NODES, "AllocNodes": NODES, "Default": BOOLS, "Hidden": BOOLS, "LLN": BOOLS, "ReqResv": BOOLS, "RootOnly": BOOLS,
    "DisableRootJobs": BOOLS, "ExclusiveUser": BOOLS, "ExclusiveTopo": BOOLS, "PowerDownOnIdle": BOOLS,
    "MaxTime": TIMES, "DefaultTime": TIMES, "OverTimeLimit": NUMBERS, "GraceTime": NUMBERS, "MaxNodes": NUMBERS, "MinNodes": NUMBERS,
    "MaxCPUsPerNode": NUMBERS, "MaxCPUsPerSocket": NUMBERS, "DefMemPerCPU": NUMBERS, "DefMemPerNode": NUMBERS, "MaxMemPerCPU": NUMBERS,
    "MaxMemPerNode": NUMBERS, "DefCPUPerGPU": NUMBERS, "DefMemPerGPU": NUMBERS, "PriorityTier": NUMBERS, "PriorityJobFactor": NUMBERS,
    "Priority": NUMBERS, "ResumeTimeout": NUMBERS, "SuspendTimeout": NUMBERS, "SuspendTime": NUMBERS,
    "AllowAccounts": NAMES, "AllowGroups": NAMES, "AllowQos": NAMES, "DenyAccounts": NAMES, "DenyQos": NAMES, "Alternate": NAMES,
    "QOS": NAMES, "Topology": NAMES, "OverSubscribe": ["NO", "EXCLUSIVE", "YES", "FORCE", "YES:4", "FORCE:0", "FORCE:x", "SOME"],
    "Shared": ["NO", "EXCLUSIVE", "YES:4", "?"], "State": ["UP", "DOWN", "DRAIN", "INACTIVE", "up", "UPWARDS", "AWAY", ""],
    "PreemptMode": ["OFF", "CANCEL", "REQUEUE", "?"], "TRESBillingWeights": ["CPU=1.0", "CPU", "="], "CpuBind": ["none", "core", "?"],
    "SelectTypeParameters": ["CR_Core", "CR_Nothing"], "Exclusive": ["NO", "NODE"], "Bogus": ["1"],
}


def line_of(rng, number):
    keys = rng.sample(sorted(VALUES), rng.randint(1, 6))
    pairs = rng.choice([" ", " ", "  "]).join(f"{key}={rng.choice(VALUES[key])}" for key in keys)
    line = f"PartitionName=p{number} {pairs}" + rng.choice(["", "", " ", "  "])
    if rng.random() < 0.1:  # and something that nobody meant
        at = rng.randrange(len(line))
        line = line[:at] + rng.choice("\\\"'#= \t,[]{}x0+-") + line[at:]
    return line


def certain(lines, release):
    out = subprocess.run([os.path.join(BUILD, "tests/agent/agent-vouch"), release], input="\n".join(lines) + "\n",
                         capture_output=True, text=True, check=True).stdout
    return out.splitlines()


def test_what_is_certain_the_parser_takes(own, own_link, tmp_path):
    rng = random.Random(SEED)
    release = own_link.ok("ping")["release"]
    lines = [line_of(rng, i) for i in range(LINES)]
    taken = certain(lines, release)
    with open(own.conf) as f:
        head = f.read()
    assert LINES / 50 < len(taken) < LINES, len(taken)
    for at in range(0, len(taken), AT_ONCE):
        (tmp_path / "slurm.conf").write_text(head + "\n".join(taken[at:at + AT_ONCE]) + "\n")
        whole = own_link.call("parse", dir=str(tmp_path))
        assert whole["r"] == 0, whole
    print(f"{len(taken)} of {len(lines)} lines")


def test_every_plain_value_of_every_key_is_taken_alone(own, own_link, tmp_path):
    release = own_link.ok("ping")["release"]
    taken = certain([f"PartitionName=p Nodes=c0001 {key}={value}" for key in VALUES for value in VALUES[key]], release)
    with open(own.conf) as f:
        head = f.read()
    lines = [line.replace("=p ", f"=p{i} ", 1) for i, line in enumerate(taken)]
    (tmp_path / "slurm.conf").write_text(head + "\n".join(lines) + "\n")
    whole = own_link.call("parse", dir=str(tmp_path))
    assert whole["r"] == 0, whole


def plain_lines(rng):
    """Node sets of features, and partitions over them and over nodes: sound, and as plain as ours are."""
    sets = [f"s{i}" for i in range(rng.randint(0, 5))]
    lines = [f"NodeSet={name} Feature={rng.choice(['blue', 'red', name])}" for name in sets]
    for i in range(6):  # always the same ones: one that leaves is kept in the file for a while, and that is not plain
        nodes = ",".join(rng.sample(sets + ["few", "c0001", "c[0004-0006]"], rng.randint(1, 3)))
        lines.append(f"PartitionName=q{i} Nodes={nodes}" + rng.choice(["", " MaxTime=90", " State=DRAIN", " MaxNodes=3 Hidden=YES"]))
    return lines


def test_slurmctld_lives_through_plain_node_sets_without_a_rehearsal():
    rng = random.Random(SEED)
    c = Cluster(partitions=["PartitionName=all Nodes=ALL Default=YES"])
    try:
        pid, reconfigured = c.ctld_pid(), 0
        for n in range(int(os.environ.get("ROUNDS", "40"))):
            c.partitions = ["PartitionName=all Nodes=ALL Default=YES"] + plain_lines(rng)
            answer = c.push()
            steps = [s["step"] for s in answer["steps"]]
            assert answer["result"] in ("applied", "unchanged") and "rehearse" not in steps, (n, c.partitions, answer)
            assert c.ctld_pid() == pid and "fatal" not in c.log(), (n, c.partitions, c.log()[-2000:])
            reconfigured += "reconfigure" in steps
        assert reconfigured > 5
    finally:
        c.stop()
