# SPDX-License-Identifier: GPL-2.0-or-later
"""What the operator sees of Slurm's nodes, and what it does about them: drains of its own, never those of others."""
import time

import pytest

from local import wait_for
from native import timed


def counters(c, name="compute"):
    s = c.object("nodesets", name)["status"]
    return {k: s.get(k, 0) for k in ("slurmIdle", "slurmAllocated", "slurmDown", "slurmDrain")}


def conditions(c, pod):
    found = c.object("pods", pod)["status"]["conditions"]
    return {x["type"][len("SlurmNodeState"):] for x in found
            if x["type"].startswith("SlurmNodeState") and x["status"] == "True"}


def record(c, node):
    out = c.slurm("scontrol", "-o", "show", "node", node, check=False).stdout
    return out if "NodeName=" in out else None


@pytest.fixture(scope="module")
def workers(shared):
    shared.make("nodesets", "work", {"replicas": 3, "partition": {"enabled": True}}).ok()
    shared.wait_idle("work-0", "work-1", "work-2", seconds=40)
    yield
    shared.remove_all("nodesets", "work", seconds=40)


def test_states_are_mirrored(cluster, workers):
    wait_for(lambda: counters(cluster, "work")["slurmIdle"] == 3, "three are idle")
    cluster.slurm("scontrol", "update", "nodename=work-1", "state=drain", "reason=broken fan")
    took = timed(lambda: "Drain" in conditions(cluster, "work-1") and counters(cluster, "work")["slurmDrain"] == 1,
                 "the drain is shown", 5)
    print(f"a drain is shown after {took:.2f} s")
    job = cluster.submit("sleep 60", "-w", "work-0", "-p", "work", "-o", "/dev/null")
    cluster.wait_job(job, "RUNNING")
    took = timed(lambda: conditions(cluster, "work-0") & {"Allocated", "Mixed"} and
                 counters(cluster, "work")["slurmAllocated"] == 1, "the job is shown", 5)
    print(f"a job is shown after {took:.2f} s")
    cluster.slurm("scancel", job)
    cluster.slurm("scontrol", "update", "nodename=work-1", "state=resume")
    wait_for(lambda: counters(cluster, "work")["slurmIdle"] == 3, "three are idle")


def test_scale_down_waits_for_a_job_and_takes_the_record_along(cluster, workers):
    nodes = ("work-0", "work-1", "work-2")
    jobs = {n: cluster.submit("sleep 90", "-w", n, "-p", "work", "-o", "/dev/null") for n in nodes}
    for job in jobs.values():
        cluster.wait_job(job, "RUNNING")
    cluster.change("nodesets", "work", {"replicas": 2}).ok()
    drained = wait_for(lambda: next((n for n in nodes if "DRAIN" in (record(cluster, n) or "")), None),
                       "a node is drained")
    assert "slurmkeeper: " in record(cluster, drained)
    time.sleep(1)
    assert cluster.object("pods", drained), "the pod stays while its job runs"
    assert [cluster.job_state(j) for j in jobs.values()] == ["RUNNING"] * 3
    cluster.slurm("scancel", jobs[drained])
    wait_for(lambda: cluster.object("pods", drained) is None, "the pod goes")
    wait_for(lambda: record(cluster, drained) is None, "the record goes, too", 10)
    cluster.slurm("scancel", "-p", "work")
    assert "down" not in " ".join(cluster.node_states().values())
    cluster.change("nodesets", "work", {"replicas": 3}).ok()
    cluster.wait_idle("work-0", "work-1", "work-2", seconds=40)


def test_a_drain_of_an_admin_is_theirs(cluster, workers):
    cluster.slurm("scontrol", "update", "nodename=work-2", "state=drain", "reason=bad disk")
    cluster.change("nodesets", "work", {"replicas": 2}).ok()
    try:
        wait_for(lambda: cluster.object("pods", "work-2") is None, "the drained one goes")
    except AssertionError:
        raise AssertionError(f"{cluster.node_states()} {record(cluster, 'work-2')} "
                             f"{cluster.object('nodesets', 'work')['status']}") from None
    cluster.change("nodesets", "work", {"replicas": 3}).ok()
    cluster.wait_ready("work-2", seconds=40)
    wait_for(lambda: "NOT_RESPONDING" not in record(cluster, "work-2"), "it is back")
    assert "DRAIN" in record(cluster, "work-2") and "Reason=bad disk" in record(cluster, "work-2")
    cluster.slurm("scontrol", "update", "nodename=work-2", "state=resume")
    cluster.wait_idle("work-2")


def test_a_deleted_nodeset_leaves_no_records(cluster):
    cluster.make("nodesets", "brief", {"replicas": 2, "partition": {"enabled": True}}).ok()
    cluster.wait_idle("brief-0", "brief-1", seconds=40)
    cluster.remove_all("nodesets", "brief", seconds=40)
    wait_for(lambda: not record(cluster, "brief-0") and not record(cluster, "brief-1"), "the records are gone")
