# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of the quick start are held to what they asked for; an author may say otherwise."""
import os

from local import controller, quick_start, run, wait_for
from test_reach import ordinary_user

USER = ordinary_user()
EAT = "b = bytearray(200 << 20); print('ate')"


def cores(text):
    ranges = [part.split("-") for part in text.split()[-1].split(",")]
    return {n for r in ranges for n in range(int(r[0]), int(r[-1]) + 1)}


def test_memory_is_limited(cluster):
    done = cluster.slurm("srun", "--mem=50M", "python3", "-c", EAT, user=USER, check=False)
    assert done.returncode != 0 and "ate" not in done.stdout and "Out Of Memory" in done.stderr, done
    assert cluster.slurm("srun", "--mem=400M", "python3", "-c", EAT, user=USER).stdout == "ate\n"


def test_who_says_nothing_has_a_part_of_the_node(cluster):
    out = cluster.slurm("srun", "sh", "-c", "scontrol show job $SLURM_JOB_ID; grep Cpus_allowed_list /proc/self/status")
    threads = int(cluster.slurm("scontrol", "show", "node", "compute-0").stdout.split("ThreadsPerCore=")[1].split()[0])
    assert f"MinMemoryCPU=512M" in out.stdout
    assert len(cores(out.stdout)) == threads


def test_jobs_do_not_share_cores(cluster):
    if os.cpu_count() < 2:
        return
    out = cluster.slurm("srun", "-n2", "-N1", "grep", "-h", "Cpus_allowed_list", "/proc/self/status", user=USER).stdout
    one, other = (cores(line) for line in out.splitlines())
    assert not one & other, out


def test_pmix_is_found_or_not_missed(cluster):
    log = cluster.kubectl("logs", "compute-0", "-c", "slurmd").stdout
    if run("sh", "-c", "ls /usr/lib/*/pmix2/lib/libpmix.so", check=False).returncode == 0:
        assert "pmix" not in log
        assert cluster.slurm("srun", "--mpi=pmix", "-n1", "true", check=False).returncode == 0


def test_the_author_may_say_otherwise(cluster):
    def plugins():
        out = cluster.slurm("scontrol", "show", "config", check=False).stdout
        return out.split("TaskPlugin ")[1].split()[1] if "TaskPlugin " in out else None
    other = "ReturnToService=2\nSelectTypeParameters=CR_Core_Memory\nTaskPlugin=task/affinity\n"
    cluster.apply(controller(**{**quick_start(), "extraConf": other}))
    try:
        wait_for(lambda: plugins() == "task/affinity", "the plugin is another", 60)
        wait_for(lambda: cluster.slurm("srun", "-N3", "--mem=50M", "python3", "-c", EAT, check=False).stdout == "ate\n" * 3,
                 "nobody is limited", 60)
    finally:
        cluster.apply(controller(**quick_start()))
        wait_for(lambda: plugins() == "task/affinity,task/cgroup", "the plugin is as before", 60)
