# SPDX-License-Identifier: GPL-2.0-or-later
"""Which directories of the machine pods see: what was declared, and the current one for this time only."""
import json
import os
import shutil
import tempfile

import pytest

from local import Local, wait_for


@pytest.fixture(scope="module")
def own():
    """A cluster that is brought up in a directory of nobody's, without --share."""
    here = tempfile.mkdtemp(prefix="sk-here-", dir="/")
    with Local("s") as c:
        c.here = here
        os.mkdir(f"{c.share}/inner")
        c.said = c.slurmkeeper("up", "--name", c.name, "--share", c.share, "--share", f"{c.share}/inner", cwd=here,
                               timeout=120)
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


def test_a_share_in_a_share_is_the_same_directory(own):
    own.exec("compute-0", "touch", f"{own.share}/inner/x")
    assert os.path.exists(f"{own.share}/inner/x")


def test_a_share_that_leads_out_of_another_is_refused(own):
    with Local("l") as other:
        os.symlink("/opt", f"{other.share}/link")
        done = other.slurmkeeper("up", "--name", other.name, "--share", other.share, "--share", f"{other.share}/link",
                                 check=False)
        assert done.returncode == 1 and "leads out of it: name '/opt' instead" in done.stderr


@pytest.fixture
def led_out(own):
    """What root in a pod can do to a directory in a share: the next mount of it would have root's home."""
    os.rename(f"{own.share}/inner", f"{own.share}/moved")
    os.symlink("/root", f"{own.share}/inner")
    yield f"{own.share}/inner"
    os.unlink(f"{own.share}/inner")
    os.rename(f"{own.share}/moved", f"{own.share}/inner")


def test_a_replaced_share_shows_nothing_of_the_machine(own, led_out):
    marker = tempfile.NamedTemporaryFile(dir="/root")
    before = own.get("pod", "compute-0")["metadata"]["uid"]
    own.kubectl("delete", "pod", "compute-0")
    wait_for(lambda: (own.get("pod", "compute-0", check=False) or {"metadata": {"uid": before}})["metadata"]["uid"] != before,
             "another pod", seconds=60)
    own.wait_ready("compute-0", seconds=60)
    assert not sees(own, marker.name) and not sees(own, f"{led_out}/{os.path.basename(marker.name)}")


def test_a_replaced_hostpath_in_a_share_is_not_mounted(own, led_out):
    mount = {"name": "v", "mountPath": "/v"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "led-out"},
           "spec": {"volumes": [{"name": "v", "hostPath": {"path": led_out}}],
                    "containers": [{"name": "c", "image": "x", "command": ["sleep", "600"], "volumeMounts": [mount]}]}}
    own.apply(json.dumps(pod))
    wait_for(lambda: [m for _, m in own.events("led-out") if "which jobs may write" in m and "leads out" in m],
             "an event says why", seconds=60)
    assert own.exec("led-out", "true", check=False).returncode != 0
    own.kubectl("delete", "pod", "led-out", "--force", "--grace-period=0")


def test_a_hostpath_in_a_share_is_mounted(own):
    mounts = [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/w", "subPath": "deep"}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "volume"},
           "spec": {"volumes": [{"name": "v", "hostPath": {"path": f"{own.share}/inner/new"}}],
                    "containers": [{"name": "c", "image": "x", "command": ["sleep", "600"], "volumeMounts": mounts}]}}
    own.apply(json.dumps(pod))
    own.wait_ready("volume", seconds=60)
    own.exec("volume", "touch", "/v/x", "/w/y")
    assert os.path.exists(f"{own.share}/inner/new/x") and os.path.exists(f"{own.share}/inner/new/deep/y")
    own.kubectl("delete", "pod", "volume", "--grace-period=1")
    assert os.path.exists(f"{own.share}/inner/new/deep/y")


def test_roots_home_is_not_shared(own):
    marker = tempfile.NamedTemporaryFile(dir="/root")
    assert not sees(own, marker.name)


def test_a_share_cannot_be_added_to_a_cluster_that_runs(own):
    done = own.slurmkeeper("up", "--share", own.here, check=False)
    assert done.returncode == 1 and "does not share" in done.stderr and "slurmkeeper down" in done.stderr
    own.slurmkeeper("up", "--share", own.share, timeout=120)


def test_only_what_was_declared_is_kept(own):
    """The same cluster, brought up elsewhere: the first directory is not shared any more."""
    assert declared(own) == [own.share, f"{own.share}/inner"]
    own.slurmkeeper("down", timeout=60)
    said = own.slurmkeeper("up", "--name", own.name, cwd="/root", timeout=120)
    assert "jobs may write here" not in said.stdout + said.stderr
    own.wait_ready("compute-0", seconds=60)
    assert declared(own) == [own.share, f"{own.share}/inner"]
    assert sees(own, own.share)
    assert not sees(own, f"{own.here}/x")
    assert not [name for name in os.listdir("/root") if sees(own, f"/root/{name}")]
