# SPDX-License-Identifier: GPL-2.0-or-later
"""A store that is older than what runs, damaged, or gone: no job dies, and nothing is silent."""
import glob
import json
import os
import shutil
import signal
import subprocess

import pytest

from local import PROGRAM, Local, wait_for

FILES = ("api.db", "api.db-wal", "api.db-shm", "api.mark")


@pytest.fixture
def own(machine):
    with Local("o") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def stop(c):
    """Our processes end; the pods run on."""
    os.kill(c.process("serve"), signal.SIGTERM)
    wait_for(lambda: not any(c.process(v) for v in ("serve", "apiserver", "node", "operator")), "they end")


def copy(c):
    where = f"{c.share}/copy"
    shutil.rmtree(where, ignore_errors=True)
    os.mkdir(where, 0o700)
    for name in FILES:
        if os.path.exists(f"{c.state}/{name}"):
            shutil.copy2(f"{c.state}/{name}", where)
    return where


def bring_back(c, where, *names):
    for name in FILES:
        if name in names or name.startswith("api.db"):
            if os.path.exists(f"{c.state}/{name}"):
                os.unlink(f"{c.state}/{name}")
            if os.path.exists(f"{where}/{name}"):
                shutil.copy2(f"{where}/{name}", c.state)


def add_nodes_and_work(c, replicas=4):
    """Pods and a job on one of them, of which the copy knows nothing."""
    c.kubectl("scale", "nodeset/compute", f"--replicas={replicas}")
    c.wait_idle(f"compute-{replicas - 1}", seconds=60)
    job = c.submit(f"sleep 30; echo lived", "-w", f"compute-{replicas - 1}", "-o", f"{c.share}/lived")
    c.wait_job(job, "RUNNING")
    return job


def lives_on(c, job):
    assert c.job_state(job) == "RUNNING"


def finish(c, job):
    """The job ends by itself, and has done what it should."""
    c.wait_job(job, "COMPLETED", 60)
    with open(f"{c.share}/lived") as out:
        assert out.read() == "lived\n"


def uids(c):
    items = json.loads(c.kubectl("get", "pods", "-o", "json").stdout)["items"]
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in items}


def recover(c, *args, status=0):
    done = c.slurmkeeper("recover", *args, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def condition(c):
    node = json.loads(c.kubectl("get", "nodes", "-o", "json").stdout)["items"][0]
    return next(x for x in node["status"]["conditions"] if x["type"] == "UnknownPods")


def test_an_older_database_is_refused_then_its_unknown_pods_are_kept_and_adopted(own):
    stop(own)
    where = copy(own)
    own.up()
    job = add_nodes_and_work(own)
    before, known = own.daemons(), uids(own)
    version = int(json.loads(own.kubectl("get", "--raw", "/api/v1/pods").stdout)["metadata"]["resourceVersion"])
    assert condition(own)["status"] == "False"
    stop(own)
    bring_back(own, where)

    refused = own.up(check=False)
    assert refused.returncode == 1
    assert "acknowledged writes are missing" in refused.stderr and "recover --accept-loss" in refused.stderr
    assert own.daemons() == before

    out = recover(own, "--accept-loss")
    assert glob.glob(f"{own.state}/before-recover-*/api.db"), out
    up = own.up()
    assert "that the API server does not know: default/compute-3" in up.stderr
    assert own.daemons() == before
    lives_on(own, job)
    now = json.loads(own.kubectl("get", "--raw", "/api/v1/pods").stdout)
    assert int(now["metadata"]["resourceVersion"]) > version
    watch = own.kubectl("get", "--raw", f"/api/v1/pods?watch=true&resourceVersion={version}&timeoutSeconds=1",
                        check=False)
    assert "too old resource version" in watch.stdout + watch.stderr

    wait_for(lambda: condition(own)["status"] == "True" and "default/compute-3" in condition(own)["message"],
             "the Node tells")
    status = own.slurmkeeper("status", check=False)
    assert status.returncode == 3 and "does not know: default/compute-3" in status.stdout
    listed = recover(own, status=3)
    assert f"job running: {job}" in listed and known["compute-3"] in listed
    # the same name is not started a second time beside it
    own.kubectl("scale", "nodeset/compute", "--replicas=4")
    wait_for(lambda: "compute-3" in uids(own), "the operator makes the pod again")
    assert uids(own)["compute-3"] != known["compute-3"]
    wait_for(lambda: any("recover" in m for _, m in own.events("compute-3")), "an event says why it waits")
    assert own.daemons() == before
    # nor after another start of the node
    pid = own.process("node")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: own.process("node") not in (None, pid), "the node is there again")
    wait_for(lambda: recover(own, status=3), "it is still unknown")
    lives_on(own, job)

    assert "adopted" in recover(own, "--adopt", "--all")
    wait_for(lambda: condition(own)["status"] == "False", "all are known")
    assert uids(own) == known
    own.wait_ready("compute-3")
    assert "known to the store" in recover(own)
    assert own.daemons() == before
    finish(own, job)
    assert own.daemons() == before


def test_a_state_that_is_brought_back_whole_is_told_by_what_runs(own):
    stop(own)
    where = copy(own)
    own.up()
    job = add_nodes_and_work(own)
    before = own.daemons()
    stop(own)
    bring_back(own, where, "api.mark")
    up = own.up()
    assert "default/compute-3" in up.stderr
    assert own.daemons() == before
    lives_on(own, job)
    with open(f"{own.state}/log/apiserver.log") as log:
        assert "not the newest that has run here" in log.read()
    # replicas is three again: an idle one goes, and not the adopted one, which is busy
    assert "adopted" in recover(own, "--adopt", "compute-3")
    wait_for(lambda: len(uids(own)) == 4 and "compute-3" in uids(own), "an idle one goes", 60)
    finish(own, job)


def test_a_removed_database_ends_no_pod_and_what_is_given_up_ends(own):
    job = add_nodes_and_work(own, 3)
    before = own.daemons()
    stop(own)
    for name in ("api.db", "api.db-wal", "api.db-shm"):
        if os.path.exists(f"{own.state}/{name}"):
            os.unlink(f"{own.state}/{name}")
    refused = own.up(check=False)
    assert refused.returncode == 1 and "is missing or empty" in refused.stderr
    assert own.daemons() == before
    recover(own, "--accept-loss")
    up = own.up(check=False, timeout="8")
    assert own.daemons() == before, up.stderr
    listed = wait_for(lambda: own.slurmkeeper("recover", check=False).stdout, "they are listed")
    assert all(p in listed for p in ("default/compute-0", "default/compute-2", "default/slurm-controller-0"))
    refused = recover(own, "--adopt", "slurm-controller-0", status=1)
    assert "storage claim" in refused or "its owner" in refused
    assert own.daemons() == before
    assert "given up" in recover(own, "--give-up", "--all")
    own.up()
    own.wait_idle("compute-0", "compute-1", "compute-2", seconds=40)
    assert not set(own.daemons()) & set(before)
    assert own.job_state(job) is None or own.job_state(job) != "RUNNING"


def test_a_pod_that_was_deleted_while_the_node_was_away_ends(own):
    """In the store that goes on, absence is a deletion, as ever."""
    before = own.daemons()
    os.kill(own.process("serve"), signal.SIGSTOP)
    try:
        os.kill(own.process("node"), signal.SIGKILL)
        own.kubectl("delete", "pod", "compute-2", "--force", "--grace-period=0")
    finally:
        os.kill(own.process("serve"), signal.SIGCONT)
    wait_for(lambda: len(set(before) - set(own.daemons())) == 1, "the deleted pod ends")
    own.wait_idle("compute-2")


def test_a_job_lives_through_a_backup_and_its_return(own):
    backup = f"{own.share}/cluster.backup"
    first = own.submit("sleep 25; echo lived", "-w", "compute-0", "-o", f"{own.share}/first")
    own.wait_job(first, "RUNNING")
    assert "has the keys of all Secrets" in own.slurmkeeper("backup", backup).stderr
    job = add_nodes_and_work(own)
    before, known = own.daemons(), uids(own)
    refused = own.slurmkeeper("restore", backup, check=False)
    assert refused.returncode == 1 and "serves" in refused.stderr
    stop(own)
    out = own.slurmkeeper("restore", backup).stdout
    assert "made since, and lost:      pods default/compute-3" in out and "is kept as it is now" in out
    assert own.daemons() == before
    assert "default/compute-3" in own.up().stderr
    lives_on(own, job)
    lives_on(own, first)
    own.kubectl("scale", "nodeset/compute", "--replicas=4")
    recover(own, "--adopt", "--all")
    finish(own, job)
    own.wait_job(first, "COMPLETED", 60)
    assert own.daemons() == before and uids(own) == known
    assert "nothing" in wait_for(lambda: (lambda d: d.returncode == 0 and d.stdout)(
        own.slurmkeeper("status", check=False)), "nothing is wrong")


def test_a_pod_whose_record_is_damaged_runs_on(own):
    job = own.submit("sleep 20; echo lived", "-w", "compute-1", "-o", f"{own.share}/lived")
    own.wait_job(job, "RUNNING")
    uid = uids(own)["compute-1"]
    before = own.daemons()
    stop(own)
    with open(f"{own.state}/node/pods/{uid}/pod.json", "r+") as f:
        f.truncate(10)
    own.up()
    assert own.daemons() == before
    with open(f"{own.state}/log/node.log") as log:
        assert "is taken over with what the API server has of it" in log.read()
    finish(own, job)
    assert own.daemons() == before
    own.wait_idle("compute-1")


@pytest.mark.parametrize("shift", ["+365d", "-365d"])
def test_a_clock_that_is_a_year_off_ends_no_job(own, shift):
    """Of our processes, that is; pods have the machine's clock, so commands on the machine are not used meanwhile."""
    if not shutil.which("faketime"):
        pytest.skip("faketime is not installed")
    before = own.daemons()
    job = own.submit("sleep 15; echo lived", "-w", "compute-1", "-o", f"{own.share}/lived")
    own.wait_job(job, "RUNNING")
    stop(own)
    serve = subprocess.Popen(["faketime", "-f", shift, PROGRAM, "serve", "--state", own.state, "--name", own.name,
                              "--share", own.share], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: own.process("node") and own.kubectl("get", "pods", check=False).returncode == 0, "it serves")
        # the operator and the agent work: leases, certificates and tokens are no hindrance
        own.kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
                    '{"spec":{"partition":{"config":"Default=YES MaxTime=7"}}}')
        wait_for(lambda: "MaxTime=00:07:00" in own.exec("slurm-controller-0", "scontrol", "show", "partition", "compute",
                                                        container="slurmctld", check=False).stdout, "it is live")
        wait_for(lambda: os.path.exists(f"{own.share}/lived") and os.path.getsize(f"{own.share}/lived"), "the job ends", 60)
        assert own.daemons() == before
        stop(own)
    finally:
        serve.wait(20)
    own.up()
    finish(own, job)
    own.wait_idle("compute-0", "compute-1", "compute-2")
    assert own.daemons() == before


def test_a_store_that_is_exchanged_below_a_running_node_ends_no_pod(own):
    stop(own)
    where = copy(own)
    own.up()
    job = add_nodes_and_work(own)
    before, serve = own.daemons(), own.process("serve")
    os.kill(serve, signal.SIGSTOP)
    try:
        os.kill(own.process("apiserver"), signal.SIGKILL)
        bring_back(own, where, "api.mark")
    finally:
        os.kill(serve, signal.SIGCONT)
    wait_for(lambda: own.kubectl("get", "--raw", "/readyz", check=False).returncode == 0, "the API answers")
    wait_for(lambda: condition(own)["status"] == "True", "the Node tells")
    lives_on(own, job)
    recover(own, "--adopt", "--all")
    finish(own, job)
    # an idle pod may have gone: for a moment the operator has pods of then and replicas of now
    assert ("slurmctld" in {name for name, _ in set(before) & set(own.daemons())})


def test_a_partition_that_an_older_store_does_not_have_keeps_its_jobs(own):
    backup = f"{own.share}/cluster.backup"
    own.slurmkeeper("backup", backup)
    own.apply(json.dumps({"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition",
                          "metadata": {"name": "late", "namespace": "default"},
                          "spec": {"controllerRef": {"name": "slurm"}, "nodeSetRefs": [{"name": "compute"}]}}))
    own.wait_condition("partition", "late", "Ready", "True")
    job = own.submit("sleep 20; echo lived", "-p", "late", "-w", "compute-0", "-o", f"{own.share}/lived")
    own.wait_job(job, "RUNNING")
    before = own.daemons()
    stop(own)
    own.slurmkeeper("restore", backup)
    own.up()
    assert own.daemons() == before
    lives_on(own, job)
    finish(own, job)
