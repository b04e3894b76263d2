# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster with jobs goes from SLURM_OLD to SLURM_NEW.  Each test goes on where the one before it ended."""
import json
import os
import re
import subprocess
import tempfile
import threading
import time

import pytest

from local import PROGRAM, Local, run, wait_for

OLD = os.environ["SLURM_OLD"]
NEW = os.environ["SLURM_NEW"]
NODES = ["compute-0", "compute-1", "compute-2"]
ANNOTATION = "slurmkeeper.dev/slurm-version"


def release(prefix):
    said = run(f"{prefix}/sbin/slurmctld", "-V").stdout
    return ".".join(str(int(part)) if i == 2 else part
                    for i, part in enumerate(re.search(r"(\d\d)\.(\d\d)\.(\d+)", said).groups()))


def series(prefix):
    return ".".join(release(prefix).split(".")[:2])


class Upgrade:
    """The cluster, and what the tests know of it."""

    def __init__(self, cluster):
        self.c = cluster
        self.stream = []  # jobs that are submitted all the time
        self.away = 0     # the most pods that were not ready at one time
        self.stop = threading.Event()
        self.child = None

    def versions(self):
        out = self.c.slurm("scontrol", "-o", "show", "nodes", check=False).stdout
        return dict(re.findall(r"NodeName=(\S+).* Version=(\S+)", out))

    def slurmctld(self):
        done = self.c.exec("slurm-controller-0", "slurmctld", "-V", container="slurmctld", check=False)
        return done.stdout.split()[1].split("-")[0] if done.returncode == 0 and done.stdout else None

    def uid(self, pod):
        return (self.c.get("pod", pod, check=False) or {"metadata": {"uid": None}})["metadata"]["uid"]

    def release_condition(self):
        return self.c.condition("controller", "slurm", "SlurmRelease") or {"status": "", "reason": "", "message": ""}

    def watch(self):
        """Jobs all the time, and how many pods are away."""
        while not self.stop.is_set():
            done = self.c.slurm("sbatch", "--parsable", "-o", "/dev/null", check=False, input="#!/bin/sh\nsleep 0.3\n")
            if done.returncode == 0:
                self.stream.append(done.stdout.strip())
            seen = self.c.get("nodeset", "compute", check=False)
            self.away = max(self.away, 3 - ((seen or {}).get("status") or {}).get("readyReplicas", 0))
            time.sleep(0.3)


@pytest.fixture(scope="module", name="u")
def an_upgrade():
    with Local("up") as cluster, tempfile.TemporaryDirectory(prefix="sk-link-") as where:
        link = f"{where}/slurm"
        os.symlink(OLD, link)
        cluster.up("--slurm", link)
        u = Upgrade(cluster)
        u.link = link
        yield u
        u.stop.set()
        if u.child:
            u.child.terminate()
            u.child.wait()
        print(cluster.logs())


def manifest(version):
    return f"""apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {{name: slurm, namespace: default, annotations: {{{ANNOTATION}: "{version}"}}}}
"""


def test_a_link_that_is_turned_changes_nothing(u):
    """The cluster has what the link led to: the step is declared by up."""
    u.c.wait_idle(*NODES)
    assert re.search(rf"^Slurm {release(OLD)} in {OLD}$", u.c.slurmkeeper("status").stdout, re.M)
    os.unlink(u.link)
    os.symlink(NEW, u.link)
    u.c.kubectl("delete", "pod", "compute-1", "--wait=true")
    u.c.wait_idle(*NODES, seconds=60)
    wait_for(lambda: u.versions() == dict.fromkeys(NODES, release(OLD)), "its new pod has the cluster's Slurm")
    assert u.slurmctld() == release(OLD)
    assert release(OLD) in u.c.slurm("srun", "--version").stdout


def test_plan_shows_the_procedure(u):
    u.c.wait_idle(*NODES)
    path = f"{u.c.share}/upgrade.yaml"
    with open(path, "w") as f:
        f.write(manifest(release(NEW)))
    done = run(PROGRAM, "plan", "-f", path, "--kubeconfig", u.c.kubeconfig, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    first = [i for i, line in enumerate(lines)
             if f"slurmctld: Slurm {release(OLD)} -> {release(NEW)}, before its nodes" in line]
    then = [i for i, line in enumerate(lines) if f"NodeSet compute: Slurm {release(NEW)}, when slurmctld is it" in line]
    assert first and then and first[0] < then[0], done.stdout


def test_a_step_that_slurm_does_not_make_is_in_the_plan(u):
    path = f"{u.c.share}/back.yaml"
    with open(path, "w") as f:
        f.write(manifest("22.05.8"))
    done = run(PROGRAM, "plan", "-f", path, "--kubeconfig", u.c.kubeconfig, check=False)
    assert done.returncode == 1
    assert f"Slurm {series(OLD)} cannot become 22.05 again" in done.stdout, done.stdout


def test_a_step_that_slurm_does_not_make_changes_nothing(u):
    before = u.uid("slurm-controller-0")
    u.c.kubectl("annotate", "controller", "slurm", f"{ANNOTATION}=22.05.8")
    seen = u.c.wait_condition("controller", "slurm", "SlurmRelease", "False", "StepNotAllowed")
    assert f"stay with {series(OLD)} or later" in seen["message"], seen
    assert ("StepNotAllowed", seen["message"]) in u.c.events("slurm")
    u.c.kubectl("annotate", "controller", "slurm", f"{ANNOTATION}-")
    wait_for(lambda: not u.c.condition("controller", "slurm", "SlurmRelease") or
             u.release_condition()["status"] == "True", "nothing is to be done")
    assert u.uid("slurm-controller-0") == before
    assert u.slurmctld() == release(OLD)


def test_slurmctld_goes_first_then_idle_nodes(u):
    """One node has a job that waits for a file; the others are free."""
    u.c.wait_idle(*NODES)
    u.gate = f"{u.c.share}/gate"
    u.long = u.c.submit(f"srun echo before; while [ ! -e {u.gate} ]; do sleep 0.2; done; srun echo after; echo done",
                        "-w", "compute-2", "-o", f"{u.c.share}/long.out")
    u.c.wait_job(u.long, "RUNNING")
    u.busy = u.uid("compute-2")
    threading.Thread(target=u.watch, daemon=True).start()
    u.log = open(f"{u.c.share}/up.log", "w+")
    u.child = subprocess.Popen([PROGRAM, "up", "--state", u.c.state, "--slurm", u.link, "--timeout", "300"],
                               stdout=u.log, stderr=u.log)
    order = []
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and u.child.poll() is None:
        seen = (u.slurmctld(), tuple(sorted(u.versions().items())))
        if seen[0] and (not order or order[-1] != seen):
            order.append(seen)
        reason = u.release_condition()
        if reason["reason"] == "UpgradingNodes" and "2 of 3 nodes do" in reason["message"]:
            break
        time.sleep(0.1)
    assert u.child.poll() is None, open(u.log.name).read()
    assert u.release_condition()["message"].endswith("as no job can run on them: compute-2"), u.release_condition()
    assert u.slurmctld() == release(NEW)
    # no node was newer than its slurmctld at any time
    for slurmctld, nodes in order:
        if slurmctld == release(OLD):
            assert all(v == release(OLD) for _, v in nodes), order
    assert u.uid("compute-2") == u.busy
    assert u.c.job_state(u.long) == "RUNNING"


def test_the_node_with_a_job_follows_it(u):
    with open(u.gate, "w"):
        pass
    u.c.wait_job(u.long, "COMPLETED", seconds=60)
    assert open(f"{u.c.share}/long.out").read().split() == ["before", "after", "done"]
    assert u.child.wait(timeout=180) == 0, open(u.log.name).read()
    # the last pod's node may be on its way up at that moment
    wait_for(lambda: u.release_condition()["message"] == f"slurmctld and all 3 nodes run Slurm {release(NEW)}",
             "the condition says so", 60)
    assert u.release_condition()["status"] == "True" and u.release_condition()["reason"] == "Current"
    assert u.versions() == {n: release(NEW) for n in NODES}
    assert u.uid("compute-2") != u.busy


def test_no_job_was_lost_and_the_bounds_were_kept(u):
    u.stop.set()
    time.sleep(1)
    assert u.stream
    wait_for(lambda: all(u.c.job_state(j) not in ("PENDING", "RUNNING", "COMPLETING") for j in u.stream),
             "the last jobs have ended", 60)
    states = {j: u.c.job_state(j) for j in u.stream}
    assert set(states.values()) == {"COMPLETED"}, states  # MinJobAge is five minutes: none is forgotten
    assert u.away <= 1


def test_commands_and_status_are_the_new_ones(u):
    assert release(NEW) in u.c.slurm("srun", "--version").stdout
    assert len(u.c.slurm("srun", "-N3", "hostname").stdout.split()) == 3
    assert re.search(rf"^Slurm {release(NEW)} in {NEW}$", u.c.slurmkeeper("status").stdout, re.M)


def test_edits_are_live_after_it(u):
    u.c.kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
                '{"spec":{"partition":{"config":"Default=YES MaxTime=77"}}}')
    u.c.wait_condition("nodeset", "compute", "PartitionApplied", "True")
    assert "MaxTime=01:17:00" in u.c.slurm("scontrol", "show", "partition", "compute").stdout


def test_another_release_in_the_same_prefix_is_told_and_declared(u):
    """As after an upgrade by apt; here it is the record that is older."""
    path = f"{u.c.state}/cluster.json"
    with open(path) as f:
        kept = json.load(f)
    with open(path, "w") as f:
        json.dump({**kept, "slurmRelease": release(OLD)}, f)
    said = u.c.slurmkeeper("status", check=False).stdout
    assert f"the Slurm in {NEW} is {release(NEW)} now, and the cluster's is {release(OLD)}: 'slurmkeeper up'" in said, said
    u.c.up()
    with open(path) as f:
        assert json.load(f)["slurmRelease"] == release(NEW)
    assert f"is {release(NEW)} now" not in u.c.slurmkeeper("status", check=False).stdout


def test_there_is_no_way_back(u):
    done = u.c.up("--slurm", OLD, check=False)
    assert done.returncode == 1
    assert f"Slurm {series(NEW)} cannot become {series(OLD)} again" in done.stderr, done.stderr
    assert u.slurmctld() == release(NEW)


def test_it_comes_back_as_it_is(u):
    u.c.slurmkeeper("down")
    u.c.up()
    assert u.slurmctld() == release(NEW)
    assert len(u.c.slurm("srun", "-N3", "hostname").stdout.split()) == 3
