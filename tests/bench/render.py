#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long `slurmkeeper render` takes for 1,000 NodeSets: the best of several runs, and a ratio to one NodeSet.

Processor time is what counts: it is one thread that waits for nothing, and others on the machine do not disturb it.
"""
import os
import resource
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
RUNS = 11
LIMIT_MS = 50

CONTROLLER = "apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\nmetadata:\n  name: slurm\n"
NODESET = """---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata:
  name: nodes-{i}
spec:
  controllerRef:
    name: slurm
  replicas: 8
  slurmd:
    resources:
      limits:
        cpu: "4"
        memory: 8Gi
  partition:
    config: MaxTime=24:00:00 PriorityTier={i}
"""


def used_ms():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1000


def measure(count):
    """The shortest time in milliseconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as manifest:
        manifest.write(CONTROLLER + "".join(NODESET.format(i=i + 1) for i in range(count)))
        manifest.flush()
        best = float("inf")
        for _ in range(RUNS):
            start = used_ms()
            done = subprocess.run(
                [f"{BUILD}/src/cli/slurmkeeper", "render", "-f", manifest.name],
                stdout=subprocess.PIPE, check=True)
            best = min(best, used_ms() - start)
        lines = done.stdout.decode().count("PartitionName=")
        assert lines == count, f"{lines} partitions of {count} NodeSets"
        return best


def main():
    one = measure(1)
    thousand = measure(1000)
    print(f"render: 1 NodeSet {one:.1f} ms, 1,000 NodeSets {thousand:.1f} ms "
          f"({thousand / one:.1f} times; limit {LIMIT_MS} ms)")
    return 0 if thousand < LIMIT_MS else 1


sys.exit(main())
