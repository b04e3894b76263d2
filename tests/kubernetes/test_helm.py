# SPDX-License-Identifier: GPL-2.0-or-later
"""The charts on a real Kubernetes: installed, tested, changed, rolled back with a job running, and taken away."""
import json
import os
import subprocess

import pytest
import yaml
from conftest import TOP
from machine import PROGRAMS, SCRATCH, eventually
from slurm import Slurm

VALUES = {
    "controller": {"slurmctld": {"image": "slurmkeeper/slurmctld:22.05"}, "persistence": {"enabled": False}},
    "nodesetDefaults": {"slurmd": {"image": {"repository": "slurmkeeper/slurmd", "tag": "22.05"}}},
    "nodesets": {"compute": {"replicas": 1, "partition": {"enabled": True, "config": "Default=YES"}}},
}


@pytest.fixture(scope="module", name="helm")
def a_helm(bare):
    home = SCRATCH / "helm"

    def run(*argv, values=None):
        environment = {**os.environ, "KUBECONFIG": str(bare.control.kubeconfig), "HELM_CACHE_HOME": str(home / "cache"),
                       "HELM_CONFIG_HOME": str(home / "config"), "HELM_DATA_HOME": str(home / "data")}
        done = subprocess.run([PROGRAMS / "helm", *map(str, argv)], input=yaml.safe_dump(values) if values else None, text=True,
                              capture_output=True, env=environment, timeout=200, check=False)
        assert done.returncode == 0, f"helm {' '.join(map(str, argv))}: {done.stderr}"
        return done.stdout
    return run


class Charted(Slurm):
    """The names that the chart gives."""

    def ask(self, *argv, check=True, pod="slurm-controller-0", container="slurmctld"):
        return super().ask(*argv, check=check, pod=pod, container=container)

    def on_node(self, *argv, check=True):
        return self.ask(*argv, check=check, pod="slurm-worker-compute-0", container="slurmd")


@pytest.fixture(scope="module", name="slurm")
def of_the_chart(bare):
    return Charted(bare)


def test_both_charts_are_installed(bare, helm, slurm):
    helm("install", "slurmkeeper", TOP / "charts/slurmkeeper", "-n", "slurmkeeper", "--create-namespace", "--wait", "--timeout=150s")
    helm("install", "slurm", TOP / "charts/slurm", "-n", "slurm", "--create-namespace", "-f", "-", values=VALUES)
    bare.kubectl("wait", "-n", "slurm", "controller/slurm", "nodeset/slurm-worker-compute", "--for=condition=Ready", "--timeout=180s",
                 timeout=200)
    slurm.wait_idle("compute-0")
    assert slurm.on_node("srun", "hostname") == "compute-0"


def test_helm_test_passes(helm):
    assert "Succeeded" in helm("test", "slurm", "-n", "slurm", "--timeout=100s")


def test_an_upgrade_and_a_rollback_are_live_and_harm_no_job(helm, slurm):
    job = slurm.submit("sleep 600")
    slurm.wait_job(job, "RUNNING")
    before = slurm.job(job)
    helm("upgrade", "slurm", TOP / "charts/slurm", "-n", "slurm", "--reuse-values", "--set",
         "nodesets.compute.partition.config=Default=YES MaxTime=60")
    eventually(lambda: slurm.partition("compute")["MaxTime"] == "01:00:00", "the upgrade in slurmctld")
    helm("rollback", "slurm", "1", "-n", "slurm")
    eventually(lambda: slurm.partition("compute")["MaxTime"] == "UNLIMITED", "the rollback in slurmctld")
    now = slurm.job(job)
    assert [now[k] for k in ("JobState", "StartTime", "Restarts")] == [before[k] for k in ("JobState", "StartTime", "Restarts")]
    history = json.loads(helm("history", "slurm", "-n", "slurm", "-o", "json"))
    assert [h["status"] for h in history] == ["superseded", "superseded", "deployed"]
    slurm.ask("scancel", job)


def test_an_uninstallation_leaves_nothing_that_runs(bare, helm):
    helm("uninstall", "slurm", "-n", "slurm", "--timeout=100s")
    eventually(lambda: not bare.get("nodesets") and not bare.get("controllers") and not bare.get("pods"), "all of it is gone")
    helm("uninstall", "slurmkeeper", "-n", "slurmkeeper")
    bare.kubectl("delete", "namespace", "slurm", "slurmkeeper", timeout=150)
