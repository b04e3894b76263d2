# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: one cluster of the quick start for most tests; every test tells how long it took."""
import os
import shutil
import sys
import time

import pytest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from local import KUBECTLS, Local


def missing():
    for program in ("runc", "ip", "nft", "kubectl", "slurmctld", "slurmd", "sinfo", "munged"):
        if not shutil.which(program):
            return f"{program} is not installed (tools/packages run test)"
    return None


@pytest.fixture(scope="session", autouse=True)
def machine():
    if os.geteuid() != 0:
        pytest.skip("pods need root", allow_module_level=True)
    why = missing()
    if why:
        pytest.exit(f"cannot run: {why}", returncode=1)


@pytest.fixture(scope="session")
def cluster(machine):
    """The quick start, brought up once."""
    with Local("q") as c:
        start = time.monotonic()
        c.up()
        assert c.slurm("srun", "-N3", "hostname").stdout.split()
        c.first_job_s = time.monotonic() - start
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


@pytest.fixture(params=KUBECTLS, ids=[os.path.basename(k) for k in KUBECTLS])
def kubectl(request, cluster):
    """Each kubectl there is: a current one (WebSocket), Debian's 1.20 (SPDY)."""
    cluster.program = request.param
    yield cluster.kubectl
    cluster.program = KUBECTLS[0]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """After a failure: what the cluster's processes said."""
    report = (yield).get_result()
    c = item.funcargs.get("cluster") or item.funcargs.get("own")
    if report.failed and c:
        report.sections.append(("the cluster's logs", c.logs()))
