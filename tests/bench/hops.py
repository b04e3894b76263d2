# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the time of one edit goes: its hops, out of the debug logs of operator and agent.

One Partition is edited BENCH_EDITS (50) times, one edit at a time.  Every process of the cluster is on
this machine, so that their clocks are one; each hop is a line in a log (SLURMKEEPER_LOG=debug).  Prints
the median moment of each hop after the API server's answer, and a bare libslurm update for comparison.
`hops.py N NODES` has the edit among N Partitions on that many nodes.  Not part of `make bench`: logs at
this level cost some of the time themselves.
"""
import datetime
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("SLURMKEEPER_LOG", "debug")
import native  # noqa: E402

STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6})Z debug \S+ (.*)")
DEBUG_AGENT = {"spec": {"reconfigure": {"env": [{"name": "SLURMKEEPER_LOG", "value": "debug"}]}}}


def lines_of(text, who):
    for line in text.splitlines():
        m = STAMP.search(line)
        if m:
            when = datetime.datetime.fromisoformat(m[1] + "+00:00").timestamp() * 1000
            yield when, f"{who}: " + re.sub(r"(generation|push) \d+", r"\1", m[2])


def logs(cluster):
    with open(f"{cluster.state}/log/operator.log", errors="replace") as f:
        found = list(lines_of(f.read(), "operator"))
    agent = subprocess.run(["kubectl", "--kubeconfig", f"{cluster.state}/admin.kubeconfig", "logs",
                            "slurm-controller-0", "-c", "reconfigure"], capture_output=True, text=True, check=True).stdout
    return sorted(found + list(lines_of(agent, "agent")))


def edit(cluster, name, count):
    """(begin, answered, live), in milliseconds of the wall clock, of each edit."""
    moments = []
    for i in range(count):
        minutes = 300 + i
        time.sleep(native.PAUSE_S)
        begin = time.time() * 1000
        native.ok(cluster.api.patch(f"{native.PARTITIONS}/{name}", {"spec": {"maxTime": str(minutes)}}))
        answered = time.time() * 1000
        moments.append((begin, answered, cluster.log.when_set(name, minutes, 20) / 1e6))
    return moments


def show(cluster, moments):
    found, hops = logs(cluster), {}
    for k, (begin, answered, live) in enumerate(moments):
        seen = {}
        end = moments[k + 1][0] if k + 1 < len(moments) else live + 500
        for when, what in found:
            if begin <= when < end and when < live + 40:
                seen[what] = seen.get(what, 0) + 1
                hops.setdefault((what, seen[what]), []).append(when - answered)
        hops.setdefault(("asked", 1), []).append(begin - answered)
        hops.setdefault(("LIVE", 1), []).append(live - answered)
    for (what, n), when in sorted(hops.items(), key=lambda h: statistics.median(h[1])):
        if len(when) * 2 > len(moments):
            print(f"{statistics.median(when):9.2f} ms  {what}" + (f"  ({n})" if n > 1 else ""))


def main():
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with native.Cluster("hops") as cluster:
        native.ok(cluster.api.patch(native.CONTROLLER, DEBUG_AGENT))
        time.sleep(8)
        cluster.ask("exists compute 20000")
        if many:
            native.make_many(cluster, many, int(sys.argv[2]))
        else:
            native.ok(cluster.api.post(native.PARTITIONS, {
                "apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition", "metadata": {"name": "p0000"},
                "spec": {"controllerRef": {"name": "slurm"}, "nodeSetRefs": [{"name": "compute"}]}}))
        cluster.ask("exists p0000 60000")
        time.sleep(3)
        bare, _ = native.bare(cluster)
        moments = edit(cluster, "p0000", native.EDITS)
        bare += native.bare(cluster)[0]
        show(cluster, moments)
        unit = statistics.median(bare)
        native.show("bare libslurm update", bare, unit)
        native.show("edit of a Partition", [max(0, live - answered) for _, answered, live in moments], unit)


if __name__ == "__main__":
    main()
