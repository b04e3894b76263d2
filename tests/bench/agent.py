# SPDX-License-Identifier: GPL-2.0-or-later
"""What the way through a child process costs: a partition update through the link against a bare one.

A real slurmctld with 1,000 nodes and 500 partitions.  Also: the lists that the agent asks for, and what
an unchanged one costs.
"""
import json
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))

from link import BUILD, WORKER, Link  # noqa: E402
from slurm import Slurm  # noqa: E402

COUNT = 500


def median(link, call, count=50, **fields):
    return statistics.median(link.call(call, **fields)["ms"] for _ in range(count))


def main():
    partitions = ["PartitionName=all Nodes=ALL Default=YES"]
    partitions += [f"PartitionName=p{i} Nodes=c[{1 + i % 900:04d}-{50 + i % 900:04d}]"
                   for i in range(499)]
    slurm = Slurm(nodes=1000, partitions=partitions)
    try:
        out = subprocess.run([os.path.join(BUILD, "tests/agent/agent-measure"), WORKER, slurm.conf,
                              "p7", str(COUNT)], check=True, capture_output=True, text=True).stdout
        figures = json.loads(out)
        print("partition update, 1,000 nodes, 500 partitions: "
              f"bare libslurm {figures['bare_us']:.0f} us (p95 {figures['bare_p95_us']:.0f}), "
              f"through the link {figures['link_us']:.0f} us (p95 {figures['link_p95_us']:.0f}), "
              f"ratio {figures['ratio']:.2f}")
        link = Link(slurm.conf)
        for call in ("ping", "partitions", "nodes", "jobs", "reservations"):
            line = f"{call}: {median(link, call):.2f} ms"
            if call != "ping":
                since = link.ok(call)["time"] + 100
                line += f", unchanged {median(link, call, since=since):.2f} ms"
            if call == "partitions":
                line += f", one of them {median(link, call, only=['p7']):.2f} ms"
            print(line)
        link.close()
    finally:
        slurm.stop()


main()
