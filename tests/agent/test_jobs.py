# SPDX-License-Identifier: GPL-2.0-or-later
"""No job is lost or changed by edits of partitions: a real slurmd runs some, others wait."""
import os
import random
import socket
import subprocess
import time

import pytest

from agent import Cluster
from slurm import die_with_parent, release, wait_for
from test_apply import end_job, hold_job

EDITS = int(os.environ.get("EDITS", "200"))
SEED = int(os.environ.get("SEED", "11"))
HOST = socket.gethostname().split(".")[0]
NODE = f"NodeName={HOST} NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 Feature=real State=UNKNOWN"
FIRST = [f"PartitionName=real Nodes={HOST} Default=YES OverSubscribe=FORCE:8",
         "PartitionName=side Nodes=c[0001-0004]", "PartitionName=third Nodes=ALL"]


def end_all(c):
    """Jobs outlive slurmd: none may be left behind."""
    environment = {"PATH": os.environ["PATH"], "SLURM_CONF": c.conf}
    subprocess.run([release.program("scancel"), "-f", "-u", "root"], check=False, env=environment)
    end = time.monotonic() + 10
    while time.monotonic() < end and subprocess.run(
            [release.program("squeue"), "-h"], check=False, capture_output=True, env=environment).stdout:
        time.sleep(0.1)


@pytest.fixture(name="c")
def a_cluster():
    cluster = Cluster(partitions=list(FIRST), extra=NODE)
    slurmd = None
    try:
        cluster.more["cgroup.conf"] = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"
        cluster.push()
        os.makedirs(f"{cluster.dir}/spool", exist_ok=True)
        slurmd = subprocess.Popen(
            [release.program("slurmd"), "-D", "-f", cluster.conf, "-L", f"{cluster.dir}/slurmd.log"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent, env={"PATH": os.environ["PATH"]})
        try:
            wait_for(lambda: "State=IDLE" in cluster.scontrol("show", "node", HOST).stdout)
        except AssertionError:
            with open(f"{cluster.dir}/slurmd.log", encoding="utf-8", errors="replace") as f:
                pytest.skip(f"slurmd does not run here: {f.read()[-300:]}")
        yield cluster
    finally:
        if slurmd:
            end_all(cluster)
            slurmd.kill()
            slurmd.wait()
        cluster.stop()


def job_facts(c, job):
    """What must not change: everything but what depends on the time of asking."""
    text = c.scontrol("-o", "show", "job", str(job)).stdout
    facts = dict(pair.split("=", 1) for pair in text.split() if "=" in pair)
    return {k: facts.get(k) for k in ("JobId", "JobState", "Partition", "StartTime", "NodeList",
                                      "TimeLimit", "Requeue", "Restarts", "BatchHost", "NumNodes",
                                      "ExitCode", "SubmitTime")}


def run_job(c, partition, seconds):
    out = subprocess.run(
        [release.program("sbatch"), "--parsable", "-p", partition, "-t", "30", "--mem=10", "-o", "/dev/null",
         f"--wrap=sleep {seconds}; touch {c.dir}/done.$SLURM_JOB_ID"],
        capture_output=True, text=True, check=True, cwd="/",
        env={"PATH": os.environ["PATH"], "SLURM_CONF": c.conf}).stdout
    return int(out)


def edit(rng, lines):
    """One random edit that deletes no partition with jobs."""
    settings = ["MaxTime=60", "MaxTime=UNLIMITED", "State=DRAIN", "State=DOWN", "State=UP",
                "PriorityTier=9", "Hidden=YES", "MaxNodes=1", "AllowGroups=root", "LLN=YES",
                "GraceTime=10", "DefMemPerCPU=5", "RootOnly=YES", "PriorityJobFactor=3"]
    kind = rng.randint(0, 4)
    if kind <= 2:
        at = rng.randrange(3)
        lines[at] = FIRST[at] + " " + " ".join(rng.sample(settings, rng.randint(0, 2)))
    elif kind == 3:
        lines.append(f"PartitionName=x{rng.randint(0, 5)} Nodes=c[0005-0009] MaxTime=7")
    elif len(lines) > 3:
        del lines[rng.randrange(3, len(lines))]
    seen, kept = set(), []
    for line in lines:
        name = line.split()[0]
        if name not in seen:
            kept.append(line)
        seen.add(name)
    lines[:] = kept


def test_jobs_survive_random_edits(c):
    rng = random.Random(SEED)
    running = [run_job(c, "real", 600), run_job(c, "real", 600)]
    wait_for(lambda: all(job_facts(c, j)["JobState"] == "RUNNING" for j in running))
    waiting = [hold_job(c, "side"), hold_job(c, "third"), hold_job(c, "real")]
    facts = {j: job_facts(c, j) for j in running + waiting}
    for n in range(EDITS):
        edit(rng, c.partitions)
        status, answer = c.request("PUT", "/v1/config", c.body())
        assert status == 200 and answer["result"] in ("applied", "unchanged"), (n, answer)
        if n % 20 == 0:  # and something heavier now and then
            c.extra = f"{NODE}\nSchedulerParameters=bf_interval={30 + n}"
    for j, before in facts.items():
        assert job_facts(c, j) == before
    # and the cluster is as good as ever
    c.partitions = list(FIRST)
    c.push()
    for j in running:
        end_job(c, j)
    quick = run_job(c, "real", 0)
    wait_for(lambda: os.path.exists(f"{c.dir}/done.{quick}"), 40)


def test_a_deleted_partition_lets_its_job_end(c):
    job = run_job(c, "real", 3)
    wait_for(lambda: job_facts(c, job)["JobState"] == "RUNNING")
    c.partitions = ["PartitionName=side Nodes=c[0001-0004] Default=YES"]
    answer = c.push()
    assert answer["result"] == "pending"
    assert {"partition": "real", "jobs": [job]} in answer["waiting"]
    # another process of slurmctld in between
    c.extra = NODE + "\nMaxNodeCount=1200"
    assert c.push()["class"] == release.node_class()
    assert job_facts(c, job)["JobState"] == "RUNNING"
    node = next(n for n in c.state()["nodes"] if n["name"] == HOST)
    assert node["jobs"] == [job] and node["busyUntil"] > time.time()
    wait_for(lambda: os.path.exists(f"{c.dir}/done.{job}"))
    wait_for(lambda: c.partition_names() == {"side"})
    assert job_facts(c, job)["JobState"] == "COMPLETED"


def test_a_node_with_a_job_does_not_leave_the_files(c):
    job = run_job(c, "real", 4)
    wait_for(lambda: job_facts(c, job)["JobState"] == "RUNNING")
    c.extra = ""
    c.partitions = ["PartitionName=side Nodes=c[0001-0004] Default=YES"]
    status, answer = c.request("PUT", "/v1/config", c.body())
    assert status == 503, answer
    assert str(job) in answer["error"] or "real" in answer["error"], answer
    assert job_facts(c, job)["JobState"] == "RUNNING"
    wait_for(lambda: os.path.exists(f"{c.dir}/done.{job}"))
    wait_for(lambda: c.state()["jobs"]["running"] == 0)
    answer = c.push()
    assert answer["result"] == "applied" and answer["class"] == release.node_class(), answer
    assert c.partition_names() == {"side"}
