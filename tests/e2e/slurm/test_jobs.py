# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs from the machine itself, by `slurmkeeper env`, as root and as an ordinary user."""
import os
import subprocess

import pytest

from local import as_user, wait_for

USERS = [None, "nobody"]
IDS = ["root", "user"]


def test_the_first_job_comes_within_ten_seconds(cluster):
    assert cluster.first_job_s < 10


def test_three_idle_nodes(cluster):
    assert cluster.wait_idle("compute-0", "compute-1", "compute-2")


@pytest.mark.parametrize("user", USERS, ids=IDS)
def test_srun_on_three_nodes(cluster, user):
    out = cluster.slurm("srun", "-N3", "hostname", user=user).stdout.split()
    assert sorted(out) == ["compute-0", "compute-1", "compute-2"]
    assert cluster.slurm("srun", "id", "-un", user=user).stdout.strip() == (user or "root")


@pytest.mark.parametrize("user", USERS, ids=IDS)
def test_sbatch_writes_into_a_shared_directory(cluster, user):
    job = cluster.submit("srun hostname | sort; id -un; pwd", "-N3", "-o", "%x-%j.out", "-J", user or "root",
                         user=user)
    path = f"{cluster.share}/{user or 'root'}-{job}.out"
    wait_for(lambda: os.path.exists(path) and len(open(path).read().split()) == 5, "the job's output")
    assert open(path).read().split() == ["compute-0", "compute-1", "compute-2", user or "root", cluster.share]
    assert os.stat(path).st_uid == as_user(user or "root")["user"]
    cluster.wait_job(job, "COMPLETED")


@pytest.mark.parametrize("user", USERS, ids=IDS)
def test_scancel_ends_a_job(cluster, user):
    job = cluster.submit("sleep 271828", "-o", "/dev/null", user=user)
    cluster.wait_job(job, "RUNNING")
    cluster.slurm("scancel", job, user=user)
    cluster.wait_job(job, "CANCELLED", seconds=60)  # Slurm's KillWait is 30 s
    wait_for(lambda: subprocess.run(["pgrep", "-xf", "sleep 271828"], check=False, capture_output=True).returncode,
             "its processes are gone")


def test_a_user_cannot_cancel_the_job_of_root(cluster):
    job = cluster.submit("sleep 60", "-o", "/dev/null")
    cluster.wait_job(job, "RUNNING")
    assert cluster.slurm("scancel", job, user="nobody", check=False).returncode != 0
    assert cluster.job_state(job) == "RUNNING"
    cluster.slurm("scancel", job)
    cluster.wait_job(job, "CANCELLED")


@pytest.mark.parametrize("user", USERS, ids=IDS)
def test_salloc_without_a_terminal(cluster, user):
    out = cluster.slurm("salloc", "-N2", "sh", "-c", "echo on $SLURM_NODELIST; srun hostname", user=user)
    assert "on compute-[" in out.stdout
    assert len([x for x in out.stdout.split() if x.startswith("compute-") and "[" not in x]) == 2


def test_srun_passes_input_and_exit_status(cluster):
    done = cluster.slurm("srun", "sh", "-c", "cat; exit 7", input="hello\n", check=False)
    assert (done.stdout, done.returncode) == ("hello\n", 7)


def test_the_kubeconfig_is_for_root_alone(cluster):
    assert "KUBECONFIG" in cluster.env()
    mine = cluster.env(user="nobody")
    assert "KUBECONFIG" not in mine and mine["SLURM_CONF"].startswith(cluster.state)
    assert not os.stat(cluster.kubeconfig).st_mode & 0o077


def test_status_shows_one_screen(cluster):
    cluster.wait_idle("compute-0", "compute-1", "compute-2")
    out = cluster.slurmkeeper("status").stdout
    assert "Controller default/slurm" in out and "compute-[0-2]" in out and "3 of 3 ready" in out
    assert out.split("What is wrong")[1].split() == ["nothing"]
