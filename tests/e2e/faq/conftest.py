# SPDX-License-Identifier: GPL-2.0-or-later
"""As in tests/e2e/slurm, whose clusters are used."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "slurm")]
sys.path.append(os.path.join(HERE, "..", ".."))


@pytest.fixture(scope="session", autouse=True)
def machine():
    if os.geteuid() != 0:
        pytest.skip("pods need root", allow_module_level=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """After a failure: what the cluster's processes said."""
    report = (yield).get_result()
    c = item.funcargs.get("own")
    if report.failed and c:
        report.sections.append(("the cluster's logs", c.logs()))
