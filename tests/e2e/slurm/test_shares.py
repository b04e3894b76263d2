# SPDX-License-Identifier: GPL-2.0-or-later
"""Which directories of the machine pods see: what was declared, and the current one for this time only."""
import json
import os
import shutil
import tempfile

import pytest

from local import Local


@pytest.fixture(scope="module")
def own():
    """A cluster that is brought up in a directory of nobody's, without --share."""
    here = tempfile.mkdtemp(prefix="sk-here-", dir="/")
    with Local("s") as c:
        c.here = here
        c.said = c.slurmkeeper("up", "--name", c.name, "--share", c.share, cwd=here, timeout=120)
        try:
            yield c
        finally:
            shutil.rmtree(here, ignore_errors=True)


def sees(c, path):
    return c.exec("compute-0", "test", "-e", path, check=False).returncode == 0


def declared(c):
    with open(f"{c.state}/cluster.json") as f:
        return json.load(f)["declaredShares"]


def test_the_current_directory_is_shared_and_told(own):
    assert own.here in own.said.stdout + own.said.stderr
    with open(f"{own.here}/x", "w"):
        pass
    assert sees(own, f"{own.here}/x") and sees(own, own.share)


def test_no_process_of_the_cluster_stays_there(own):
    """A memory dump with keys would be written where root of a pod reads it."""
    for verb in ("serve", "apiserver", "operator", "node"):
        assert os.readlink(f"/proc/{own.process(verb)}/cwd") == own.state, verb


def test_roots_home_is_not_shared(own):
    marker = tempfile.NamedTemporaryFile(dir="/root")
    assert not sees(own, marker.name)


def test_a_share_cannot_be_added_to_a_cluster_that_runs(own):
    done = own.slurmkeeper("up", "--share", own.here, check=False)
    assert done.returncode == 1 and "does not share" in done.stderr and "slurmkeeper down" in done.stderr
    own.slurmkeeper("up", "--share", own.share, timeout=120)


def test_only_what_was_declared_is_kept(own):
    """The same cluster, brought up elsewhere: the first directory is not shared any more."""
    assert declared(own) == [own.share]
    own.slurmkeeper("down", timeout=60)
    said = own.slurmkeeper("up", "--name", own.name, cwd="/root", timeout=120)
    assert "jobs may write here" not in said.stdout + said.stderr
    own.wait_ready("compute-0", seconds=60)
    assert declared(own) == [own.share]
    assert sees(own, own.share)
    assert not sees(own, f"{own.here}/x")
    assert not [name for name in os.listdir("/root") if sees(own, f"/root/{name}")]
