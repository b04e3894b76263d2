# SPDX-License-Identifier: GPL-2.0-or-later
"""A thousand nodes and five hundred partitions: an edit of one is one RPC and no reconfigure, and idleness costs nothing."""
import os
import statistics
import time

import pytest

from local import wait_for
from native import CONF, Native

PARTITIONS = 500
LARGE = ("MaxNodeCount=2000\nSuspendProgram=/bin/true\nResumeProgram=/bin/true\nDebugFlags=Protocol\n"
         "NodeName=c[0001-1000] CPUs=4 State=CLOUD\n")


@pytest.fixture(scope="module")
def large(machine):
    with Native("l") as c:
        c.bring_up()
        c.change("controllers", "slurm", {"extraConf": CONF + LARGE}).ok()
        c.wait_applied(60)
        for i in range(PARTITIONS):
            c.make("partitions", f"p{i:03}", {"nodes": f"c[{2 * i + 1:04}-{2 * i + 2:04}]", "maxTime": 10}).ok(201)
        wait_for(lambda: len(c.all_live()) == PARTITIONS + 1, "all partitions are there", 60)
        c.wait_applied(60)
        yield c


def log(c):
    return c.kubectl("logs", "slurm-controller-0", "-c", "slurmctld").stdout


def rpcs(c, since):
    """What slurmctld was asked for that changes something, from its log."""
    lines = log(c)[since:].splitlines()
    return [line for line in lines if "REQUEST_UPDATE_PARTITION" in line or "REQUEST_RECONFIGURE" in line or
            "REQUEST_CREATE_PARTITION" in line or "REQUEST_DELETE_PARTITION" in line]


def test_an_edit_is_one_rpc(large):
    times = []
    for i in range(10):
        since = len(log(large))
        large.change("partitions", f"p{i * 40:03}", {"maxTime": 20 + i}).ok()
        start = time.monotonic()
        large.wait_live(f"p{i * 40:03}", MaxTime=f"00:{20 + i}:00")
        times.append(time.monotonic() - start)
        time.sleep(0.3)
        made = rpcs(large, since)
        updates = [line for line in made if "REQUEST_UPDATE_PARTITION" in line]
        assert len(updates) == 1 and len(made) == 1, made
    print(f"an edit among {PARTITIONS}: median {statistics.median(times) * 1000:.0f} ms")
    assert statistics.median(times) < 1


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def test_idleness_costs_nothing(large):
    time.sleep(6)
    pid, op = large.agent(), large.process("operator")
    before, before_op = cpu_s(pid), cpu_s(op)
    time.sleep(10)
    print(f"agent {(cpu_s(pid) - before) * 10:.1f} % of a core, operator {(cpu_s(op) - before_op) * 10:.1f} %")
    assert cpu_s(pid) - before <= 0.1
