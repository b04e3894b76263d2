# SPDX-License-Identifier: GPL-2.0-or-later
"""A real helm, and the API server and operator of tests/e2e/operator."""
import importlib.util
import os
import pathlib
import subprocess

import pytest
import yaml

TOP = pathlib.Path(__file__).resolve().parents[2]


def harness():
    spec = importlib.util.spec_from_file_location("operator_harness", TOP / "tests/e2e/operator/conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HARNESS = harness()
eventually = HARNESS.eventually
Cluster = HARNESS.Cluster
PROGRAM = HARNESS.PROGRAM
HELM = os.environ.get("HELM", "helm")


def helm(*argv, check=True, text=None, kubeconfig=None, home="/tmp"):
    environment = {**os.environ, "HELM_CACHE_HOME": f"{home}/helm-cache", "HELM_CONFIG_HOME": f"{home}/helm-config",
                   "HELM_DATA_HOME": f"{home}/helm-data", **({"KUBECONFIG": str(kubeconfig)} if kubeconfig else {})}
    done = subprocess.run([HELM, *map(str, argv)], input=text, capture_output=True, text=True, timeout=120, check=False,
                          env=environment)
    assert not check or done.returncode == 0, f"helm {' '.join(map(str, argv))}: {done.stderr}"
    return done


def render(chart, values=None, *argv):
    out = helm("template", "slurm", TOP / "charts" / chart, "-n", "slurm", "-f", "-", *argv,
               text=yaml.safe_dump(values or {})).stdout
    return [o for o in yaml.safe_load_all(out) if o]


@pytest.fixture(scope="module", name="cluster")
def a_cluster(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp("helm"))
    try:
        c.start_server()
        yield c
    finally:
        codes = {name: c.stop(name) for name in ("operator", "apiserver")}
    assert not [name for name, code in codes.items() if code not in (0, -15)], codes
