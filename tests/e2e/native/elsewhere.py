# SPDX-License-Identifier: GPL-2.0-or-later
"""The same cluster on a Kubernetes that is there already: ON_KUBERNETES names its kubeconfig.

slurmkeeper is installed there; its pods' processes are seen here, as in tests/kubernetes.  Slurm's commands run in slurmctld's
pod.  Tests that stop processes of `slurmkeeper up` cannot run there: it has none.
"""
import json
import os
import tempfile

from lib.client import Api
from lib.kubeconfig import Kubeconfig
from local import run, wait_for
from native import BARE, Native

KUBECONFIG = os.environ.get("ON_KUBERNETES")
RELEASE = os.environ.get("ON_KUBERNETES_SLURM", "22.05")
POD = "slurm-controller-0"


class Elsewhere(Native):
    def __init__(self):  # pylint: disable=super-init-not-called
        self.state = tempfile.mkdtemp(prefix="sk-elsewhere-")
        self.kubeconfig, self.program = KUBECONFIG, "kubectl"
        self.api = Api(Kubeconfig(KUBECONFIG, self.state))

    def __exit__(self, *_):
        self.kubectl("delete", "partitions.slurmkeeper.dev,nodesets", "--all", timeout=120)
        self.kubectl("delete", "controllers", "--all", timeout=120)
        wait_for(lambda: not self.object("pods", POD), "slurmctld's pod is gone", 60)

    def bring_up(self, *args):
        assert not args
        self.apply("\n---\n".join(json.dumps(o) for o in (
            {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "Controller", "metadata": {"name": "slurm"},
             "spec": {"extraConf": BARE, "persistence": {"enabled": False},
                      "slurmctld": {"image": f"slurmkeeper/slurmctld:{RELEASE}"}}},
            {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet", "metadata": {"name": "compute"},
             "spec": {"controllerRef": {"name": "slurm"}, "replicas": 3, "oversubscribeNode": True,
                      "partition": {"enabled": True, "config": "Default=YES MaxTime=24:00:00"}}})))
        self.wait_condition("nodeset", "compute", "Ready", "True", seconds=180)

    def make(self, kind, name, spec=None, **more):
        if kind == "nodesets":  # there may be more of them than machines
            spec = {"oversubscribeNode": True, **(spec or {})}
        return super().make(kind, name, spec, **more)

    def slurm(self, *argv, check=True, timeout=30, **more):
        stdin = ["-i"] if "input" in more else []
        return run("kubectl", "--kubeconfig", KUBECONFIG, "exec", *stdin, POD, "-c", "slurmctld", "--", *argv, check=check,
                   timeout=timeout, **more)

    def daemons(self):
        """slurmctld's process: of those in its pod the one that started first; a rehearsal's is younger."""
        found = {}
        for pid in (p for p in os.listdir("/proc") if p.isdigit()):
            try:
                name = os.path.basename(os.readlink(f"/proc/{pid}/exe")).replace("-wlm", "")
                if name != "slurmctld" or self.in_pod("/etc/hostname", pid).strip() != POD or \
                        "ClusterName=default_slurm\n" not in self.in_pod("/etc/slurm/slurm.conf", pid):
                    continue
                with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                    found[(name, int(pid))] = f.read().rsplit(")", 1)[1].split()[19]
            except OSError:
                continue
        return found

    def started(self):
        return self.slurmctld()

    def logs(self):
        return self.kubectl("logs", "-n", "slurmkeeper", "-l", "app.kubernetes.io/name=slurmkeeper-operator", "--tail=60",
                            check=False).stdout
