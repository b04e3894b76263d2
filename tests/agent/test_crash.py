# SPDX-License-Identifier: GPL-2.0-or-later
"""Killed anywhere, the agent or slurmctld: what starts again converges, and nothing is lost."""
import os
import signal
import subprocess
import threading
import time

import pytest

from agent import CRASHING, Cluster
from slurm import wait_for
from test_apply import end_job, hold_job

FIRST = ["PartitionName=all Nodes=ALL Default=YES", "PartitionName=debug Nodes=few State=UP",
         "PartitionName=old Nodes=c0004"]


def changed(c):
    """A call of each kind."""
    c.partitions = ["PartitionName=all Nodes=ALL Default=YES MaxTime=60",
                    "PartitionName=debug Nodes=few State=DRAIN",
                    "PartitionName=new Nodes=c0005 MaxTime=5"]


def reconfigured(c):
    changed(c)
    c.extra = "SchedulerParameters=bf_interval=43\nNodeSet=green Feature=green"
    c.partitions.append("PartitionName=green Nodes=green")


def restarted(c):
    changed(c)
    c.extra = "MaxNodeCount=1500"
    c.more["prolog.sh"] = "#!/bin/sh\n"


def converged(c):
    """What is declared is live, in the files and in slurmctld's memory, and the agent says so"""
    names = {line.split()[0].split("=")[1] for line in c.partitions}
    state = c.state()
    config = state.get("config", {})
    return (c.scontrol("ping", check=False).returncode == 0 and c.partition_names() == names
            and c.live_conf() == c.text() and state["slurmctld"]["up"] and not state["drift"]
            and not os.path.exists(f"{c.live}/.slurmkeeper/pending") and not config["waiting"])


def crash_points(kind):
    """How many there are: a run that is not killed tells."""
    c = Cluster(partitions=list(FIRST), agent=CRASHING)
    try:
        c.stop_agent()
        log, at = f"{c.dir}/points", f"{c.dir}/crash"
        c.start_agent(SLURMKEEPER_CRASH_FILE=at, SLURMKEEPER_CRASH_LOG=log)
        with open(at, "w", encoding="utf-8") as f:
            f.write("100000")
        kind(c)
        c.push()
        with open(log, encoding="utf-8") as f:
            return f.read().splitlines()
    finally:
        c.stop()


@pytest.mark.parametrize("kind", [changed, reconfigured, restarted])
def test_killed_at_every_step_it_converges(kind):
    points = crash_points(kind)
    assert len(points) >= 8, points
    c = Cluster(partitions=list(FIRST), agent=CRASHING)
    log, at = f"{c.dir}/points", f"{c.dir}/crash"
    fields = (list(c.partitions), c.extra, dict(c.more))
    try:
        for n in range(1, len(points) + 1):
            c.partitions, c.extra, c.more = list(fields[0]), fields[1], dict(fields[2])
            c.stop_agent()
            c.start_agent(SLURMKEEPER_CRASH_FILE=at, SLURMKEEPER_CRASH_LOG=log)
            c.push()
            wait_for(lambda: converged(c))
            with open(at, "w", encoding="utf-8") as f:
                f.write(str(n))
            kind(c)
            c.request("PUT", "/v1/config", c.body())
            c.agent.wait(20)
            assert c.agent.returncode == -signal.SIGKILL, (n, points[n - 1])
            c.start_agent()
            # killed before it had written it down, it knows nothing: whoever pushed tries again
            if not os.path.exists(f"{c.live}/.slurmkeeper/pending") and not converged(c):
                c.push()
            wait_for(lambda: converged(c), 30)
    finally:
        print(c.agent_said()[-6000:])
        c.stop()


def test_killed_while_it_undoes_it_converges_to_the_old_state():
    c = Cluster(partitions=list(FIRST), agent=CRASHING)
    log, at = f"{c.dir}/points", f"{c.dir}/crash"
    try:
        c.stop_agent()
        c.start_agent(SLURMKEEPER_CRASH_FILE=at, SLURMKEEPER_CRASH_LOG=log)
        old = list(c.partitions)
        conf = c.live_conf()
        # slurmctld cannot know this one, and only tells when it is created
        bad = old + ["PartitionName=x1 Nodes=c0001 MaxTime=5",
                     "PartitionName=x2 Nodes=c0001 TRESBillingWeights=CPU=1,GRES/none=2"]
        c.partitions = bad
        status, answer = c.request("PUT", "/v1/config", c.body())
        if status == 200:
            pytest.skip("this slurmctld takes it")
        for n in range(1, 12):
            with open(at, "w", encoding="utf-8") as f:
                f.write(str(n))
            c.partitions = bad
            c.request("PUT", "/v1/config", c.body())
            if c.agent.poll() is None:
                os.unlink(at)
                break
            c.start_agent(SLURMKEEPER_CRASH_FILE=at, SLURMKEEPER_CRASH_LOG=log)
            c.partitions = list(old)
            wait_for(lambda: converged(c) and c.live_conf() == conf, 30)
    finally:
        c.stop()


@pytest.fixture(name="c")
def a_cluster():
    cluster = Cluster(partitions=list(FIRST))
    yield cluster
    cluster.stop()


def test_slurmctld_is_down(c):
    c.kill_entry()
    wait_for(lambda: not c.state()["slurmctld"]["up"])
    changed(c)
    start = time.monotonic()
    answer = c.push()
    assert time.monotonic() - start < 6
    assert answer["result"] == "pending" and answer["reason"], answer
    assert "PartitionName=new" in c.live_conf() and "PartitionName=old" in c.live_conf()
    bad = c.body()
    bad["files"]["slurm.conf"] += "PartitionName=bad Nodes=nowhere\n"
    assert c.request("PUT", "/v1/config", bad)[0] == 422
    c.start()
    wait_for(lambda: converged(c))


def test_slurmctld_is_down_and_the_change_is_heavy(c):
    c.kill_entry()
    restarted(c)
    assert c.push()["result"] == "pending"
    c.start()
    wait_for(lambda: converged(c))
    assert "MaxNodeCount            = 1500" in c.scontrol("show", "config").stdout
    # once from the new files; and once more if that was in the second in which they were written
    assert c.log().count("Running as primary controller") in (2, 3)


def test_slurmctld_hangs(c):
    c.signal_ctld(signal.SIGSTOP)
    changed(c)
    start = time.monotonic()
    answer = c.push()
    assert answer["result"] == "pending", answer
    assert time.monotonic() - start < 20
    assert c.request("GET", "/healthz")[0] == 200
    c.signal_ctld(signal.SIGCONT)
    wait_for(lambda: converged(c), 60)


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.004, 0.006, 0.01, 0.02, 0.04])
@pytest.mark.parametrize("kind", [changed, reconfigured])
def test_slurmctld_is_killed_in_the_middle(c, kind, delay):
    kind(c)
    timer = threading.Timer(delay, c.signal_ctld, (signal.SIGKILL,))
    timer.start()
    status, answer = c.request("PUT", "/v1/config", c.body())
    assert status in (200, 503), (status, answer)
    timer.join()
    wait_for(lambda: c.scontrol("ping", check=False).returncode == 0)
    if status == 503:
        c.push()
    wait_for(lambda: converged(c), 30)


def test_kept_partitions_survive_a_restart_of_the_agent(c):
    job = hold_job(c, "old")
    c.partitions.pop()
    assert c.push()["result"] == "pending"
    c.stop_agent(signal.SIGKILL)
    c.start_agent()
    assert "PartitionName=old" in c.live_conf()
    wait_for(lambda: c.state()["config"]["waiting"] == [{"partition": "old", "jobs": [job]}])
    end_job(c, job)
    wait_for(lambda: converged(c))


def test_live_files_that_somebody_edited_are_put_back_at_the_start(c):
    good = c.live_conf()
    c.stop_agent()
    with open(c.conf, "a", encoding="utf-8") as f:
        f.write("PartitionName=edited Nodes=ALL\n")
    c.start_agent()
    assert c.live_conf() == good


def test_a_damaged_record_is_set_aside(c):
    changed(c)
    c.push()
    c.stop_agent(signal.SIGKILL)
    for name in ("good", "history"):
        with open(f"{c.live}/.slurmkeeper/{name}", "r+b") as f:
            f.seek(40)
            f.write(b"\0garbage")
    with open(f"{c.live}/.slurmkeeper/pending", "wb") as f:
        f.write(b"{")
    c.start_agent()
    wait_for(lambda: converged(c))
    assert os.path.exists(f"{c.live}/.slurmkeeper/good.bad")


def test_a_full_disk_is_told_and_changes_nothing(c, tmp_path):
    """The live directory refuses new files: here by being immutable to its mode's owner."""
    if os.system(f"chattr +i {c.live}/.slurmkeeper 2>/dev/null") != 0:
        pytest.skip("no immutable directories here")
    before = c.live_conf()
    try:
        changed(c)
        answer = c.push(expect=422)
        assert "cannot" in answer["error"]
        assert c.live_conf() == before
    finally:
        os.system(f"chattr -i {c.live}/.slurmkeeper")
    c.push()
    wait_for(lambda: converged(c))


def test_the_first_files_can_come_by_push(c):
    c.kill_entry()
    c.stop_agent()
    subprocess.run(["rm", "-rf", c.live], check=True)
    os.mkdir(c.live)
    c.launch_agent()
    wait_for(lambda: c.request("GET", "/healthz")[0] == 200)
    answer = c.push()
    assert answer["result"] == "pending", answer
    assert c.live_conf() == c.text()
    c.start()
    wait_for(lambda: converged(c), 30)
