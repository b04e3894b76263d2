# SPDX-License-Identifier: GPL-2.0-or-later
"""One slurmctld for all tests of a file; those that break it make their own."""
import pytest

from link import Link
from slurm import Slurm


@pytest.fixture(scope="module")
def slurm():
    s = Slurm(extra="MaxNodeCount=1010")
    yield s
    s.stop()


@pytest.fixture
def own():
    """A slurmctld that a test may kill."""
    s = Slurm(nodes=4)
    yield s
    s.stop()


@pytest.fixture
def link(slurm):
    made = Link(slurm.conf)
    yield made
    made.close()


@pytest.fixture
def own_link(own):
    made = Link(own.conf)
    yield made
    made.close()
