# SPDX-License-Identifier: GPL-2.0-or-later
"""What changes cost each process of a cluster in processor time, so that it can be told on a machine that is busy.

`cost.py [PARTITIONS [NODES]]` (500 on 1,000 nodes): so many Partitions by one `kubectl apply`, BENCH_EDITS (25)
edits of one of them, then all of them deleted by one `kubectl delete`.  Prints milliseconds for each change, by
process, and how long it took.  Not part of `make bench`: it compares nothing.
"""
import json
import os
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import native  # noqa: E402

EDITS = int(os.environ.get("BENCH_EDITS", "25"))
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
NAMES = ("apiserver", "operator", "node", "agent", "slurmctld", "munged")


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def role(pid, state):
    """What a process of this cluster is, or None."""
    words = [w.decode(errors="replace") for w in read(f"/proc/{pid}/cmdline").split(b"\0")]
    program = os.path.basename(words[0])
    if program == "slurmkeeper" and words[1:2] and words[1] in NAMES and any(state in w for w in words):
        return words[1]
    if state.encode() not in read(f"/proc/{pid}/mountinfo"):
        return None
    return "agent" if program.startswith("slurmkeeper-agent") else program if program in NAMES else None


def spent(state):
    """{role: milliseconds of processor time}, with that of children that have ended."""
    took = dict.fromkeys(NAMES, 0.0)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        what = role(pid, state)
        fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if what and fields:
            took[what] += sum(map(int, fields[11:15])) * TICK_MS
    return took


def kubectl_ms():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


class Phase:
    """Prints what happened while it was open, for each of `n` changes."""

    def __init__(self, cluster, what, n):
        self.cluster, self.what, self.n = cluster, what, n

    def __enter__(self):
        self.before, self.kubectl, self.start = spent(self.cluster.state), kubectl_ms(), time.monotonic()

    def __exit__(self, *exc):
        took_ms = (time.monotonic() - self.start) * 1000
        time.sleep(3)  # what is done after the last answer counts, too
        after = spent(self.cluster.state)
        costs = {name: after[name] - self.before[name] for name in NAMES} | {"kubectl": kubectl_ms() - self.kubectl}
        print(f"{self.what:<34} {took_ms / self.n:8.2f} ms each; processor time:",
              ", ".join(f"{name} {ms / self.n:.2f}" for name, ms in costs.items()), flush=True)


def kubectl(cluster, *words, text=None):
    subprocess.run(["kubectl", "--kubeconfig", f"{cluster.state}/admin.kubeconfig", *words], input=text, text=True,
                   check=True, stdout=subprocess.DEVNULL, timeout=1200)


def edit(cluster, name):
    for i in range(EDITS):
        native.ok(cluster.api.patch(f"{native.PARTITIONS}/{name}", {"spec": {"maxTime": str(300 + i)}}))
        cluster.log.when_set(name, 300 + i, 60)


def main():
    many, nodes = (int(word) for word in (sys.argv[1:] + ["500", "1000"][len(sys.argv) - 1:]))
    with native.Cluster("cost") as cluster:
        native.ok(cluster.api.patch(native.CONTROLLER, {"spec": {"extraConf": native.nodes_conf(nodes)}}))
        time.sleep(5)
        cluster.ask("exists compute 60000")
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [native.partition(i) for i in range(many)]})
        with Phase(cluster, "nothing at all, for 5 s", 1):
            time.sleep(5)
        with Phase(cluster, f"{many} Partitions by one apply", many):
            kubectl(cluster, "apply", "-f", "-", text=text)
            cluster.ask(f"seldom p{many - 1:04} 600000")
        with Phase(cluster, f"{EDITS} edits of one of them", EDITS):
            edit(cluster, "p0000")
        with Phase(cluster, "all of them deleted", many):
            kubectl(cluster, "delete", "partitions.slurmkeeper.dev", "--all", "--wait=false")
            while cluster.api.get(native.PARTITIONS + "?limit=1").json["items"]:
                time.sleep(0.1)


if __name__ == "__main__":
    main()
