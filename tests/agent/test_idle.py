# SPDX-License-Identifier: GPL-2.0-or-later
"""What an idle cluster costs.  Alone in its file: another cluster's calls would count as activity."""
import subprocess
import time

from agent import Cluster
from slurm import wait_for
from test_apply import changed_rpcs, rpc_counts


def test_an_idle_cluster_costs_next_to_nothing():
    c = Cluster(nodes=1000, partitions=["PartitionName=all Nodes=ALL Default=YES"])

    def seconds():
        total = 0
        pids = [c.agent.pid] + [int(p) for p in subprocess.run(
            ["pgrep", "-P", str(c.agent.pid)], capture_output=True, text=True,
            check=False).stdout.split()]
        for pid in pids:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                fields = f.read().rsplit(")", 1)[1].split()
            total += (int(fields[11]) + int(fields[12])) / 100
        return total

    try:
        wait_for(lambda: len(c.state()["nodes"]) == 1000)
        time.sleep(7)
        calls, cpu, start = rpc_counts(c), seconds(), time.monotonic()
        time.sleep(15)
        took = time.monotonic() - start
        cpu = seconds() - cpu
        made = changed_rpcs(calls, rpc_counts(c))
        made.pop("REQUEST_STATS_INFO")
        rate = (sum(made.values()) - 8) / took  # sdiag itself is an occasion to look twice
        print(f"{cpu / took * 100:.2f} % of a core, {rate:.2f} calls a second: {made}")
        assert cpu / took < 0.01
        assert rate <= 1.1, made
    finally:
        c.stop()
