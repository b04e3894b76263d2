# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: one cluster for most tests; slurmctld must be the same process after each test that does not say otherwise."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "slurm"), os.path.join(HERE, "..", "..", "api"),
                os.path.join(HERE, "..", "..")]

from elsewhere import KUBECONFIG, Elsewhere  # noqa: E402
from native import Native, missing  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "slurmctld_ends: the test ends slurmctld itself")


@pytest.fixture(scope="session")
def machine():
    if os.geteuid() != 0:
        pytest.skip("pods need root")
    why = None if KUBECONFIG else missing()
    if why:
        pytest.exit(f"cannot run: {why}", returncode=1)


@pytest.fixture(scope="session")
def shared(machine):
    with Elsewhere() if KUBECONFIG else Native("n") as c:
        c.bring_up()
        yield c


@pytest.fixture
def cluster(shared, request):
    before = shared.started()
    yield shared
    if not request.node.get_closest_marker("slurmctld_ends"):
        assert shared.started() == before, "slurmctld was restarted"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """After a failure: what the cluster's processes said."""
    report = (yield).get_result()
    c = item.funcargs.get("cluster") or item.funcargs.get("large")
    if report.failed and c:
        report.sections.append(("the cluster's logs", c.logs()))
        said = c.kubectl("logs", "slurm-controller-0", "-c", "reconfigure", "--tail=60", check=False).stdout
        report.sections.append(("the agent's log", said))
