# SPDX-License-Identifier: GPL-2.0-or-later
"""One Kubernetes for the whole run, with the images in it and slurmkeeper installed from deploy/."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile

import pytest
from machine import SCRATCH, Kubernetes, eventually

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))


def images_module():
    loader = importlib.machinery.SourceFileLoader("images", str(TOP / "tools/images"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("images", loader))
    loader.exec_module(module)
    return module


def make_pause(path):
    images = images_module()
    program = SCRATCH / "pause"
    subprocess.run(["gcc", "-Os", "-static", "-o", program, pathlib.Path(__file__).with_name("pause.c")], check=True)
    layer = images.Layer()
    layer.file("pause", program.read_bytes(), 0o755)
    with tempfile.TemporaryDirectory() as scratch:
        archive = images.Archive(scratch)
        archive.image("pause", "test", [images.pack(layer, scratch)], Entrypoint=["/pause"])
        archive.write(path)


@pytest.fixture(scope="session", name="bare")
def a_kubernetes():
    """With the images on every node, and nothing installed."""
    k = Kubernetes(int(os.environ.get("NODES", "2")))
    try:
        make_pause(SCRATCH / "pause.tar")
        k.load(SCRATCH / "pause.tar", *sorted((BUILD / "images").glob("*.tar")))
        yield k
    finally:
        print(k.logs() if os.environ.get("LOGS") else "")


@pytest.fixture(scope="session", name="kubernetes")
def with_slurmkeeper(bare):
    bare.kubectl("apply", "-k", TOP / "deploy")
    if os.environ.get("SLURMKEEPER_LOG"):
        bare.kubectl("set", "env", "deployment/slurmkeeper-operator", "-n", "slurmkeeper",
                     f"SLURMKEEPER_LOG={os.environ['SLURMKEEPER_LOG']}")
        bare.kubectl("rollout", "status", "deployment/slurmkeeper-operator", "-n", "slurmkeeper", "--timeout=100s")
    eventually(lambda: "2/2" in bare.kubectl("get", "deployment", "-n", "slurmkeeper"), "two operators")
    return bare
