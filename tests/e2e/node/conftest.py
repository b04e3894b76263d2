# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: one cluster for most tests, one of its own for those that break it."""
import os
import shutil
import subprocess
import uuid

import pytest

from cluster import Cluster

RUN = uuid.uuid4().hex[:4]


def missing():
    for program in ("runc", "ip", "kubectl"):
        if not shutil.which(program):
            return f"{program} is not installed (tools/packages run test)"
    done = subprocess.run(["ip", "link", "add", "sk-probe", "type", "bridge"], check=False,
                          capture_output=True, text=True)
    if done.returncode:
        return f"the kernel makes no bridges: {done.stderr.strip()}"
    subprocess.run(["ip", "link", "del", "sk-probe"], check=False)
    return None


@pytest.fixture(scope="session", autouse=True)
def machine():
    if os.geteuid() != 0:
        pytest.skip("containers need root", allow_module_level=True)
    why = missing()
    if why:
        pytest.exit(f"cannot run: {why}", returncode=1)


def make(name):
    c = Cluster(f"{name}{RUN}")
    try:
        c.start()
        yield c
    finally:
        if os.environ.get("NODE_LOGS"):
            print(c.log("node"))
        c.destroy()


@pytest.fixture(scope="session")
def cluster(machine):
    yield from make("e")


@pytest.fixture
def own_cluster(machine):
    """A cluster that the test may hurt."""
    yield from make("o")


@pytest.fixture
def pods(cluster, request):
    """Names that are unique to the test; what it made is deleted afterwards."""
    made = []

    def name(stem):
        made.append(f"{stem}-{uuid.uuid4().hex[:5]}")
        return made[-1]

    yield name
    if made:
        cluster.kubectl("delete", "pod", "--ignore-not-found", "--wait=false", "--grace-period=0",
                        "--force", *made)


KUBECTLS = ["kubectl"]
if os.access(os.environ.get("KUBECTL_120", ""), os.X_OK):
    KUBECTLS.append(os.environ["KUBECTL_120"])


@pytest.fixture(params=KUBECTLS, ids=[os.path.basename(k) for k in KUBECTLS])
def kubectl(request):
    """Each kubectl that is there: a current one (WebSocket), Debian's (SPDY)."""
    return request.param
