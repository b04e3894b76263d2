# SPDX-License-Identifier: GPL-2.0-or-later
"""Whoever is stopped or killed: the last good configuration goes on, the author sees why, and it converges."""
import itertools
import os
import random
import signal
import time

import pytest

from local import wait_for

minutes = itertools.count(200)


def edit(c):
    n = next(minutes)
    wait_for(lambda: c.change("nodesets", "compute", {"partition": {"config": f"Default=YES MaxTime={n}"}}).code == 200,
             "the edit is taken")
    return f"{n // 60:02}:{n % 60:02}:00"


def converged(c, shown, seconds=40):
    c.wait_live("compute", seconds, MaxTime=shown)
    wait_for(c.agree, "the files agree")
    c.wait_applied(seconds)


def test_a_slurmctld_that_stands_still(cluster):
    pid = cluster.slurmctld()
    os.kill(pid, signal.SIGSTOP)
    try:
        shown = edit(cluster)
        c = cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", seconds=40)
        assert len(c["message"]) > 20
    finally:
        os.kill(pid, signal.SIGCONT)
    converged(cluster, shown)


@pytest.mark.slurmctld_ends
def test_a_slurmctld_that_is_killed_amid_edits(cluster):
    dice = random.Random(5)
    job = cluster.submit("sleep 100", "-n1", "-o", "/dev/null")
    cluster.wait_job(job, "RUNNING")
    cluster.wait_saved()
    pid = cluster.slurmctld()
    edit(cluster)
    time.sleep(dice.random() * 0.03)
    os.kill(pid, signal.SIGKILL)
    shown = edit(cluster)
    cluster.wait_slurmctld(pid)
    converged(cluster, shown, 60)
    assert cluster.job_state(job) == "RUNNING"
    cluster.slurm("scancel", job)


def test_an_agent_that_is_killed_at_any_moment(cluster):
    dice = random.Random(6)
    for _ in range(3):
        pid = cluster.agent()
        for _ in range(dice.randrange(1, 4)):
            shown = edit(cluster)
        time.sleep(dice.random() * 0.03)
        os.kill(pid, signal.SIGKILL)
        shown = edit(cluster)
        wait_for(lambda: cluster.agent() not in (None, pid), "the agent is back", 60)
        converged(cluster, shown, 60)


@pytest.mark.parametrize("verb", ["operator", "apiserver"])
def test_our_own_processes(cluster, verb):
    pid = cluster.process(verb)
    edit(cluster)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: cluster.process(verb) not in (None, pid), f"{verb} is back")

    def answers():
        try:
            return cluster.api.get("/readyz").code == 200
        except OSError:
            return False
    wait_for(answers, "the API answers")
    converged(cluster, edit(cluster))
