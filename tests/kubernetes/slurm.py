# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster of Slurm in the Kubernetes: what is applied, and how the tests ask it."""
import os
import signal
import time

from machine import eventually

CLUSTER = """
apiVersion: v1
kind: Namespace
metadata: {name: slurm}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab, namespace: slurm}
spec:
  slurmctld: {image: "slurmkeeper/slurmctld:22.05"}
  persistence: {enabled: true}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute, namespace: slurm}
spec:
  controllerRef: {name: lab}
  replicas: 2
  slurmd: {image: "slurmkeeper/slurmd:22.05"}
  partition: {enabled: true, config: "Default=YES MaxTime=INFINITE"}
---
apiVersion: slurmkeeper.dev/v1alpha1
kind: Partition
metadata: {name: debug, namespace: slurm}
spec:
  controllerRef: {name: lab}
  nodeSetRefs: [{name: compute}]
  maxTime: "00:10:00"
"""


class Slurm:
    def __init__(self, kubernetes):
        self.k = kubernetes

    def ask(self, *argv, check=True, pod="lab-controller-0", container="slurmctld"):
        return self.k.kubectl("exec", "-n", "slurm", pod, "-c", container, "--", *argv, check=check).strip()

    def on_node(self, *argv, check=True):
        """As root, where jobs run."""
        return self.ask(*argv, check=check, pod="compute-0", container="slurmd")

    def nodes(self):
        return dict(line.split() for line in self.ask("sinfo", "-hN", "-o", "%N %t").splitlines())

    def wait_idle(self, *names):
        eventually(lambda: {self.nodes().get(n) for n in names} == {"idle"}, f"{names} idle")

    def submit(self, script, *argv):
        return self.ask("sbatch", "--parsable", "-o", "/dev/null", *argv, "--wrap", script)

    def job(self, job):
        text = self.ask("scontrol", "-o", "show", "job", job)
        return dict(item.split("=", 1) for item in text.split() if "=" in item)

    def wait_job(self, job, state):
        eventually(lambda: self.job(job)["JobState"] == state, f"job {job} {state}")

    def partition(self, name):
        text = self.ask("scontrol", "-o", "show", "partition", name)
        return dict(item.split("=", 1) for item in text.split() if "=" in item)


def operators(k):
    return [p for p in k.get("pods", ns="slurmkeeper") if p["metadata"]["name"].startswith("slurmkeeper-operator")
            and not p["metadata"].get("deletionTimestamp")]


def lease(k):
    return k.get("lease", "slurm-operator", ns="slurmkeeper")["spec"]


def leader(k):
    """The pod that leads."""
    holder = lease(k)["holderIdentity"]
    return next(p for p in operators(k) if holder.startswith(p["metadata"]["name"] + "_"))


def process_of(pod):
    """The first process of the operator's container; all processes of the cluster are ours to see."""
    wanted = f"POD_UID={pod['metadata']['uid']}".encode()
    for pid in (int(p) for p in os.listdir("/proc") if p.isdigit()):
        try:
            with open(f"/proc/{pid}/environ", "rb") as text:
                if wanted in text.read().split(b"\0"):
                    return pid
        except OSError:
            pass
    raise AssertionError(f"there is no process of {pod['metadata']['name']}")


def strike(pod, how):
    os.kill(process_of(pod), how)
    return time.monotonic()


FREEZE, KILL, THAW = signal.SIGSTOP, signal.SIGKILL, signal.SIGCONT
