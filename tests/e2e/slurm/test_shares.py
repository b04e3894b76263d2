# SPDX-License-Identifier: GPL-2.0-or-later
"""Which directories of the machine pods see: what was declared, and the current one for this time only."""
import json
import os
import shutil
import tempfile

import pytest

from local import PROGRAM, Local, run, wait_for


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


def leads_out(c):
    os.symlink("/opt", f"{c.share}/link")
    return c.state, [c.share, f"{c.share}/link"], "leads out of it: name '/opt' instead"


def leads_in(c):
    """The share is no link in another one, but a link into it: a directory there can be moved away."""
    os.mkdir(f"{c.share}/inner")
    os.symlink(f"{c.share}/inner", f"{c.share}-link")
    return c.state, [c.share, f"{c.share}-link"], "leads through"


def leads_through(c):
    """It ends elsewhere, by way of a link that jobs may exchange."""
    os.symlink("/opt", f"{c.share}/link")
    os.symlink(f"{c.share}/link", f"{c.share}-link")
    return c.state, [c.share, f"{c.share}-link"], "leads through"


def has_the_state(c):
    """Files of the state directory can be hidden; a directory above it can still be moved away."""
    os.mkdir(f"{c.share}/deep")
    return f"{c.share}/deep/state", [c.share], "lies in"


def has_the_state_by_a_link(c):
    os.symlink(c.share, f"{c.share}-link")
    return f"{c.share}/deep/state", [f"{c.share}-link"], "lies in"


@pytest.mark.parametrize("wish", [leads_out, leads_in, leads_through, has_the_state, has_the_state_by_a_link])
def test_no_path_that_root_follows_leads_through_a_share(wish):
    with Local("l") as other:
        state, shares, words = wish(other)
        options = [word for share in shares for word in ("--share", share)]
        try:
            done = run(PROGRAM, "up", "--state", state, "--name", other.name, *options, check=False, timeout=60)
            assert done.returncode == 1 and words in done.stderr
            assert not run(PROGRAM, "status", "--state", state, check=False).returncode == 0
        finally:
            if os.path.lexists(f"{other.share}-link"):
                os.unlink(f"{other.share}-link")


def test_srv_is_not_shared_where_the_state_directory_lies_in_it():
    top = tempfile.mkdtemp(prefix="sk-srv-", dir="/srv")
    with Local("v", state=f"{top}/state") as other:
        try:
            other.up()
            assert not sees(other, top)
            assert sees(other, other.share)
        finally:
            other.slurmkeeper("down", "--purge", "--force", "--grace", "1", timeout=60)
            shutil.rmtree(top, ignore_errors=True)


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


def test_a_hostpath_that_leads_through_a_share_is_not_mounted(own):
    os.makedirs(f"{own.share}/aim", exist_ok=True)
    link = f"{own.share}-link"
    os.symlink(f"{own.share}/aim", link)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "through"},
           "spec": {"volumes": [{"name": "v", "hostPath": {"path": link}}],
                    "containers": [{"name": "c", "image": "x", "command": ["sleep", "600"],
                                    "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}
    own.apply(json.dumps(pod))
    try:
        wait_for(lambda: [m for _, m in own.events("through") if "leads through" in m], "an event says why", seconds=60)
        assert own.exec("through", "true", check=False).returncode != 0
    finally:
        own.kubectl("delete", "pod", "through", "--force", "--grace-period=0")
        os.unlink(link)


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
