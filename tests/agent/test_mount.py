# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that come by the mount, as the kubelet brings them; the first files of a pod."""
import os
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from agent import AGENT, Cluster
from slurm import wait_for

FIRST = ["PartitionName=all Nodes=ALL Default=YES", "PartitionName=debug Nodes=few State=UP"]


class Volume:
    """A projected volume: names are links into ..data, which is a link that is swapped."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="sk-mount-")
        self.n = 0

    def put(self, files):
        self.n += 1
        data = f"..data_{self.n}"
        os.mkdir(f"{self.dir}/{data}")
        for name, text in files.items():
            with open(f"{self.dir}/{data}/{name}", "w", encoding="utf-8") as f:
                f.write(text)
            if not os.path.lexists(f"{self.dir}/{name}"):
                os.symlink(f"..data/{name}", f"{self.dir}/{name}")
        os.symlink(data, f"{self.dir}/..tmp")
        os.rename(f"{self.dir}/..tmp", f"{self.dir}/..data")


@pytest.fixture(name="volume")
def a_volume():
    volume = Volume()
    yield volume
    subprocess.run(["rm", "-rf", volume.dir], check=True)


@pytest.fixture(name="c")
def a_cluster(volume):
    cluster = Cluster(partitions=list(FIRST), mount=volume.dir)
    volume.put(cluster.files())
    yield cluster
    cluster.stop()


def test_a_changed_mount_is_applied(c, volume):
    c.partitions[1] += " MaxTime=33"
    volume.put(c.files())
    start = time.monotonic()
    wait_for(lambda: c.partition("debug")["MaxTime"] == "00:33:00")
    assert time.monotonic() - start < 2
    for line in (f"Start '{c.live}' polling", "Reconfiguring Slurm...", "SUCCESS"):
        wait_for(lambda: line in c.agent_said())


def test_a_mount_that_lags_behind_pushes_is_old_news(c, volume):
    first = c.files()
    c.partitions[1] += " MaxTime=33"
    second = c.files()
    c.push()
    c.partitions[1] += " PriorityTier=5"
    c.push()
    for files in (second, first):
        volume.put(files)
        time.sleep(1)
        assert c.partition("debug")["PriorityTier"] == "5"
    # also with a file that no push has, and after a restart
    volume.put({**second, "notes.txt": "x"})
    c.stop_agent()
    c.start_agent()
    time.sleep(1)
    assert c.partition("debug")["PriorityTier"] == "5"


def test_a_push_beside_a_bad_mount_gets_its_own_answer(c, volume):
    """They come in the same moment, in either order: a good declaration is not told what is wrong with the other."""
    first, bad = c.files(), {**c.files(), "gres.conf": "Frobnicate=1\n"}
    for n in range(12):
        volume.put({**bad, "notes.txt": str(n)})
        time.sleep(0.045 + n * 0.001)
        c.partitions[1] = f"{FIRST[1]} MaxTime={n + 1}"
        assert c.push()["result"] == "applied"
        volume.put(first)


def test_who_slurmctld_is_cannot_change_by_the_mount(c, volume):
    started = c.ctld_pid()
    for line in ("ClusterName=other", "StateSaveLocation=/tmp", "SlurmctldPort=7000"):
        volume.put({**c.files(), "slurm.conf": c.files()["slurm.conf"] + line + "\n"})
        wait_for(lambda: line.split("=")[0] + " is" in (c.state()["config"].get("error") or ""))
        assert c.ctld_pid() == started
    volume.put(c.files())


def test_a_bad_mount_is_refused_and_tried_again(c, volume):
    good = c.live_conf()
    c.partitions.append("PartitionName=bad Nodes=nowhere")
    volume.put(c.files())
    wait_for(lambda: "trying again" in c.agent_said())
    assert c.live_conf() == good
    wait_for(lambda: c.agent_said().count("the mounted files were refused") >= 2)
    assert c.state()["config"]["error"]
    c.partitions.pop()
    c.partitions[1] += " MaxTime=34"
    volume.put(c.files())
    wait_for(lambda: c.partition("debug")["MaxTime"] == "00:34:00")


def test_a_refused_mount_does_not_come_back_after_a_push(c, volume):
    c.partitions.append("PartitionName=late Nodes=elsewhere")
    volume.put(c.files())
    wait_for(lambda: "trying again" in c.agent_said())
    # a push makes that mount valid in itself; it is older all the same
    c.partitions[-1] = "PartitionName=newer Nodes=c0001"
    c.push()
    time.sleep(4)
    assert c.partition_names() == {"all", "debug", "newer"}


def test_a_changed_key_restarts_slurmctld(c, volume):
    pid = c.ctld_pid()
    volume.put({**c.files(), "jwt.key": "first"})
    wait_for(lambda: c.ctld_pid() != pid)
    wait_for(lambda: c.scontrol("ping", check=False).returncode == 0)
    with open(f"{c.live}/jwt.key", encoding="utf-8") as f:
        assert f.read() == "first"
    wait_for(lambda: c.state()["config"].get("result") == "applied")
    c.partitions[1] += " MaxTime=35"
    assert c.push()["class"] == "rpc", "pushes leave the keys alone"
    assert os.path.exists(f"{c.live}/jwt.key")


def test_seed_copies_once(tmp_path):
    mount, live = tmp_path / "mount", tmp_path / "live"
    mount.mkdir()
    (mount / "slurm.conf").write_text("ClusterName=a\n")
    (mount / "slurm.key").write_text("k1")
    (mount / "slurm.key").chmod(0o600)
    (mount / "slurm.conf").chmod(0o600)
    (mount / "prolog.sh").write_text("#!/bin/sh\n")
    (mount / "prolog.sh").chmod(0o700)

    def seed():
        return subprocess.run([AGENT, "seed", "--mount", str(mount), "--live", str(live),
                               "--proven", ""], check=False, capture_output=True, text=True)

    assert seed().returncode == 0
    assert (live / "slurm.conf").read_text() == "ClusterName=a\n"
    assert (live / "slurm.conf").stat().st_mode & 0o777 == 0o644, "slurmctld is another user"
    assert (live / "prolog.sh").stat().st_mode & 0o777 == 0o755
    assert (live / "slurm.key").stat().st_mode & 0o777 == 0o600
    (mount / "slurm.conf").write_text("ClusterName=b\n")
    (mount / "slurm.key").write_text("k2")
    assert seed().returncode == 0
    assert (live / "slurm.conf").read_text() == "ClusterName=a\n", "what is live may be newer"
    assert (live / "slurm.key").read_text() == "k2"
    assert (live / ".slurmkeeper").stat().st_mode & 0o777 == 0o700
    result = subprocess.run([AGENT, "seed", "--mount", str(tmp_path / "none"), "--live", str(live)],
                            check=False, capture_output=True, text=True)
    assert result.returncode == 1 and "none" in result.stderr


def seed(c, volume):
    done = subprocess.run([AGENT, "seed", "--mount", volume.dir, "--live", c.live, "--proven",
                           f"{c.dir}/state/.slurmkeeper"], check=True, capture_output=True, text=True)
    return done.stderr


@pytest.fixture(name="pod")
def a_pod(volume):
    """A cluster whose pods can be replaced: what slurmctld served with lies with its state."""
    cluster = Cluster(partitions=list(FIRST), mount=volume.dir)
    volume.put(cluster.files())
    cluster.stop_agent()
    cluster.options = ["--proven", f"{cluster.dir}/state/.slurmkeeper"]
    cluster.start_agent()
    yield cluster
    cluster.stop()


def new_pod(c, volume):
    """Everything ends, and the live files are gone: as when a pod is replaced by another."""
    c.stop_agent()
    c.kill_entry()
    shutil.rmtree(c.live)
    said = seed(c, volume)
    c.launch_agent()
    c.start()
    return said


def test_a_new_pod_starts_from_what_slurmctld_served_with(pod, volume):
    c = pod
    c.partitions[1] += " MaxTime=33"
    assert c.push()["result"] == "applied"
    wait_for(lambda: os.path.exists(f"{c.dir}/state/.slurmkeeper/proven"))
    good = c.files()
    bad = dict(good)
    bad["slurm.conf"] += "TopologyPlugin=topology/tree\n"
    bad["topology.conf"] = "SwitchName=s1 Switches=s1\n"
    volume.put(bad)
    wait_for(lambda: "invalid child" in c.agent_said())
    assert "last served with" in new_pod(c, volume)
    wait_for(lambda: c.request("GET", "/v1/state")[1].get("slurmctld", {}).get("up"))
    assert c.partition("debug")["MaxTime"] == "00:33:00"
    status, answer = c.request("PUT", "/v1/config", {"generation": 9, "files": bad})
    assert status == 422 and "invalid child" in answer["error"], answer
    assert c.partition("debug")["MaxTime"] == "00:33:00"
    volume.put({**good, "slurm.conf": good["slurm.conf"].replace("MaxTime=33", "MaxTime=55")})
    wait_for(lambda: c.partition("debug")["MaxTime"] == "00:55:00")


def test_files_that_slurmctld_does_not_start_with_are_told(pod, volume):
    c = pod
    c.stop_agent()
    shutil.rmtree(f"{c.dir}/state/.slurmkeeper")
    bad = dict(c.files())
    bad["slurm.conf"] += "TopologyPlugin=topology/tree\n"
    bad["topology.conf"] = "SwitchName=s1 Switches=s1\n"
    volume.put(bad)
    c.kill_entry()
    shutil.rmtree(c.live)
    seed(c, volume)
    c.launch_agent()
    c.start_entry()

    def config():
        return c.request("GET", "/v1/state")[1].get("config", {})
    wait_for(lambda: config().get("result") == "pending")
    assert "has not answered yet" in config()["reason"]
    wait_for(lambda: config().get("result") == "refused", 30)
    assert "invalid child" in config()["error"]
    assert not os.path.exists(f"{c.dir}/state/.slurmkeeper/proven")
    volume.put(c.files())
    wait_for(lambda: config().get("result") == "applied", 30)
    wait_for(lambda: os.path.exists(f"{c.dir}/state/.slurmkeeper/proven"))
