#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The operator with 1,000 NodeSets and 10,000 pods: its memory, and what looking at all of it again costs.

The pods are made by the operator itself and run nowhere: there is no node.  Then it is started again: it plans for every
NodeSet, and as nothing has changed it must write nothing.  Processor time is what counts, taken over the whole start;
the time that listing takes is in it.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

BUILD = os.environ.get("BUILD", "build")
PROGRAM = f"{BUILD}/src/cli/slurmkeeper"
NODESETS, REPLICAS = 1000, 10
LIMIT_MIB, LIMIT_MS, LIMIT_S = 64, 1.0, 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Bench:
    def __init__(self, state):
        self.state = pathlib.Path(state)
        self.kubeconfig = str(self.state / "server/admin.kubeconfig")
        self.metrics_port = free_port()
        self.children = {}

    def start(self, name, *args):
        with open(self.state / f"{name}.log", "ab") as log:
            self.children[name] = subprocess.Popen([PROGRAM, name, *args], stdout=log, stderr=log)

    def stop(self, name):
        child = self.children.pop(name)
        child.send_signal(signal.SIGTERM)
        child.wait(30)

    def start_operator(self):
        self.start("operator", "--no-agent", "--kubeconfig", self.kubeconfig, "--metrics", f"127.0.0.1:{self.metrics_port}")

    def kubectl(self, *args, text=None):
        return subprocess.run(["kubectl", "--kubeconfig", self.kubeconfig, *args], input=text, text=True, check=True,
                              capture_output=True, timeout=300).stdout

    def version(self):
        """The store's: it grows with every write."""
        return int(json.loads(self.kubectl("get", "--raw", "/api/v1/pods?limit=1"))["metadata"]["resourceVersion"])

    def pods(self):
        page = json.loads(self.kubectl("get", "--raw", "/api/v1/pods?limit=1"))
        return page["metadata"].get("remainingItemCount", 0) + len(page["items"])

    def metric(self, name):
        """The sum over all labels."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=5) as r:
                text = r.read().decode()
        except OSError:
            return 0
        return sum(float(m) for m in re.findall(rf'^{name}(?:\{{[^}}]*\}})? (\S+)$', text, re.M))

    def planned(self):
        """How many times the operator has planned for something."""
        return int(self.metric("slurmkeeper_reconciles_total"))

    def plan_ms(self):
        return self.metric("slurmkeeper_reconcile_seconds_sum") * 1000

    def used_ms(self, name):
        with open(f"/proc/{self.children[name].pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def rss_mib(self, name):
        with open(f"/proc/{self.children[name].pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024


def wait(check, what, seconds):
    until = time.monotonic() + seconds
    while not check():
        if time.monotonic() > until:
            sys.exit(f"operator: {what}: not within {seconds} s")
        time.sleep(2)


def quiet(b, seconds=2.0):
    """Wait until neither the store nor the operator has anything to do."""
    last, since = None, time.monotonic()
    while time.monotonic() - since < seconds:
        now = (b.version(), b.planned())
        if now != last:
            last, since = now, time.monotonic()
        time.sleep(0.5)
    return last


def manifests():
    yield {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "Controller",
           "metadata": {"name": "slurm", "namespace": "default"}}
    for i in range(NODESETS):
        yield {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet",
               "metadata": {"name": f"set-{i}", "namespace": "default"},
               "spec": {"controllerRef": {"name": "slurm"}, "replicas": REPLICAS,
                        "partition": {"enabled": True, "config": f"PriorityTier={i + 1}"}}}


def measure(b):
    b.start("apiserver", "--state", str(b.state / "server"), "--listen", f"127.0.0.1:{free_port()}")
    wait(lambda: os.path.exists(b.kubeconfig) and
         subprocess.run(["kubectl", "--kubeconfig", b.kubeconfig, "get", "--raw", "/readyz"], check=False,
                        capture_output=True).returncode == 0, "the API server", 20)
    b.kubectl("create", "-f", "-", text=subprocess.run([PROGRAM, "crds"], check=True, capture_output=True, text=True).stdout)
    b.kubectl("wait", "--for=condition=Established", "crd", "--all")
    b.kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(manifests())}))
    b.start_operator()
    start = time.monotonic()
    wait(lambda: b.pods() >= NODESETS * REPLICAS, "10,000 pods", 900)
    made_s = time.monotonic() - start
    quiet(b)
    rss = b.rss_mib("operator")
    b.stop("operator")
    before = b.version()
    b.start_operator()
    wait(lambda: b.planned() >= NODESETS, "a plan for every NodeSet", 60)
    quiet(b)
    return {"made_s": made_s, "rss": max(rss, b.rss_mib("operator")), "writes": b.version() - before, "plans": b.planned(),
            "each_ms": b.plan_ms() / b.planned(), "all_ms": b.used_ms("operator") / b.planned()}


def main():
    with tempfile.TemporaryDirectory() as state:
        b = Bench(state)
        try:
            m = measure(b)
        finally:
            for child in b.children.values():
                child.kill()
                child.wait()
    print(f"operator: {NODESETS} NodeSets, {NODESETS * REPLICAS} pods made in {m['made_s']:.0f} s (limit {LIMIT_S}); resident "
          f"{m['rss']:.1f} MiB (limit {LIMIT_MIB}); started again: {m['plans']} plans, {m['writes']} writes (limit 0), "
          f"{m['each_ms']:.2f} ms each (limit {LIMIT_MS:.0f}; {m['all_ms']:.2f} ms with the start and the lists)")
    good = m["rss"] < LIMIT_MIB and m["writes"] == 0 and m["each_ms"] < LIMIT_MS and m["made_s"] < LIMIT_S
    return 0 if good else 1


sys.exit(main())
