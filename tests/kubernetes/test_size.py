# SPDX-License-Identifier: GPL-2.0-or-later
"""2,000 worker pods that no kubelet runs: how long an operator needs after its start, and what it costs.

Figures are printed; the limits are those that are promised, on a machine that does other things meanwhile.
"""
import concurrent.futures
import http.client
import json
import os
import re
import ssl
import time

import pytest
from machine import HUB, eventually
from slurm import operators, process_of

PODS = int(os.environ.get("PODS", "2000"))
CLUSTER = f"""
apiVersion: v1
kind: Namespace
metadata: {{name: size}}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {{name: big, namespace: size}}
spec:
  slurmctld: {{image: "slurmkeeper/slurmctld:22.05"}}
  persistence: {{enabled: false}}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {{name: many, namespace: size}}
spec:
  controllerRef: {{name: big}}
  replicas: {PODS}
  oversubscribeNode: true
  slurmd: {{image: "slurmkeeper/slurmd:22.05"}}
  template: {{spec: {{schedulerName: nobody}}}}
"""
RUNNING = json.dumps({"status": {
    "phase": "Running", "podIP": "10.212.200.1", "podIPs": [{"ip": "10.212.200.1"}],
    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})


class Api:
    """Connections that stay: thousands of kubectls would take longer than the test."""

    def __init__(self, kubernetes):
        ca = kubernetes.control.ca.at
        self.context = ssl.create_default_context(cafile=ca / "ca.crt")
        self.context.load_cert_chain(ca / "admin.crt", ca / "admin.key")

    def patch_all(self, paths, body):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda some: self.patch_some(some, body), [paths[i::4] for i in range(4)]))

    def patch_some(self, paths, body):
        c = http.client.HTTPSConnection(HUB, 6443, context=self.context, timeout=60)
        for path in paths:
            c.request("PATCH", path, body, {"Content-Type": "application/merge-patch+json"})
            answer = c.getresponse()
            text = answer.read()
            assert answer.status == 200, text


def pods(kubernetes, phase=""):
    out = kubernetes.kubectl("get", "pods", "-n", "size", "-l", "app.kubernetes.io/name=slurmd", "-o", "name",
                             *([f"--field-selector=status.phase={phase}"] if phase else []))
    return out.split()


def memory_mib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as text:
        return int(re.search(r"VmRSS:\s+(\d+)", text.read()).group(1)) / 1024


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as text:
        fields = text.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module", name="many")
def many_pods(kubernetes):
    api = Api(kubernetes)
    since = time.monotonic()
    kubernetes.apply(CLUSTER)
    set_running = set()

    def set_all_running():
        """The operator makes further pods as those that it has made come up."""
        names = {name.split("/")[1] for name in pods(kubernetes)} - set_running
        api.patch_all([f"/api/v1/namespaces/size/pods/{name}/status" for name in sorted(names)], RUNNING)
        set_running.update(names)
        return len(set_running) == PODS
    eventually(set_all_running, "the pods", 400)
    print(f"\n{PODS} pods made and set running: {time.monotonic() - since:.1f} s")
    eventually(lambda: kubernetes.get("nodeset", "many", ns="size")["status"]["readyReplicas"] == PODS, "all ready", 120)
    yield api
    kubernetes.kubectl("annotate", "nodeset/many", "controller/big", "-n", "size", "slurmkeeper.dev/force-delete=true")
    kubernetes.kubectl("delete", "namespace", "size", "--wait=false")


def test_a_cold_start_is_over_soon(kubernetes, many):
    kubernetes.kubectl("scale", "deployment/slurmkeeper-operator", "-n", "slurmkeeper", "--replicas=0")
    eventually(lambda: not operators(kubernetes), "no operator")
    kubernetes.kubectl("patch", "nodeset", "many", "-n", "size", "--type=merge", "-p",
                       json.dumps({"spec": {"replicas": PODS + 1}}))
    kubernetes.kubectl("scale", "deployment/slurmkeeper-operator", "-n", "slurmkeeper", "--replicas=1")
    pod = eventually(lambda: next((p for p in operators(kubernetes) if p["status"].get("podIP")), None), "an operator")
    since = time.monotonic()
    eventually(lambda: kubernetes.kubectl("get", "pod", f"many-{PODS}", "-n", "size", "-o", "name", check=False),
               "what was asked for meanwhile is done", 60)
    took = time.monotonic() - since
    print(f"\ncold start with {PODS} pods, until what was asked for is done: {took:.1f} s; "
          f"{memory_mib(process_of(pod)):.0f} MiB")
    assert took < 30
    assert memory_mib(process_of(pod)) < 128


def writes(kubernetes):
    """By operators, without the lease."""
    found = []
    for line in kubernetes.control.audit.read_text().splitlines():
        e = json.loads(line)
        ref = e.get("objectRef") or {}
        if "slurmkeeper-operator" in e["user"]["username"] and ref.get("resource") != "leases" and \
                e["verb"] in ("create", "update", "patch", "delete"):
            found.append((e["verb"], ref.get("resource"), ref.get("subresource"), ref.get("name")))
    return found


def test_an_idle_minute_costs_next_to_nothing(kubernetes, many):
    # no slurmd runs in them: one that is ready and unknown to Slurm would be asked to register each minute
    many.patch_all([f"/api/v1/namespaces/size/pods/{name.split('/')[1]}/status" for name in pods(kubernetes)],
                   RUNNING.replace('"True"', '"False"'))
    before = -1
    while before != len(writes(kubernetes)):  # what was begun comes to its end
        before = len(writes(kubernetes))
        time.sleep(15)
    pid = process_of(operators(kubernetes)[0])
    cpu = cpu_s(pid)
    time.sleep(60)
    cpu = cpu_s(pid) - cpu
    done = writes(kubernetes)[before:]
    print(f"\nan idle minute: {cpu:.2f} s of CPU, {len(done)} writes, {memory_mib(pid):.0f} MiB")
    assert not done
    assert cpu < 0.6
    assert memory_mib(pid) < 128
