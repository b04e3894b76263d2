# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes die at any time: jobs and daemons do not notice, and everything converges."""
import json
import os
import signal
import socket
import time

import pytest

import release
from local import Local, controller, nodeset, wait_for


@pytest.fixture(scope="module")
def own(machine):
    with Local("s") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def test_up_again_changes_nothing(own):
    before = own.daemons()
    versions = {k: own.get(k, n)["metadata"]["resourceVersion"]
                for k, n in (("controller", "slurm"), ("configmap", "slurm-config"), ("statefulset",
                                                                                     "slurm-controller"))}
    pids = {v: own.process(v) for v in ("serve", "apiserver", "operator", "node")}
    out = own.up().stderr
    assert "was up already" in out and "3 nodes, 3 idle" in out
    assert own.daemons() == before
    assert pids == {v: own.process(v) for v in pids} and all(pids.values())
    assert versions == {k: own.get(k, n)["metadata"]["resourceVersion"]
                        for k, n in (("controller", "slurm"), ("configmap", "slurm-config"),
                                     ("statefulset", "slurm-controller"))}


@pytest.mark.parametrize("verb", ["operator", "apiserver", "node", "serve"])
def test_a_killed_process_harms_no_job(own, verb):
    before = own.daemons()
    restarts = own.kubectl("get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}").stdout
    job = own.submit("sleep 3; echo done", "-N2", "-o", f"{own.share}/{verb}.out")
    own.wait_job(job, "RUNNING")
    pid = own.process(verb)
    os.kill(pid, signal.SIGKILL)
    if verb == "serve":
        wait_for(lambda: own.process("apiserver") is None, "its children end")
        assert own.daemons() == before
        own.up()
    wait_for(lambda: own.process(verb) not in (None, pid), f"{verb} is there again")
    wait_for(lambda: own.kubectl("get", "--raw", "/readyz", check=False).returncode == 0, "the API answers")
    own.wait_job(job, "COMPLETED")
    with open(f"{own.share}/{verb}.out") as out:
        assert out.read() == "done\n"
    assert own.daemons() == before
    # whoever came back works
    wait_for(lambda: own.kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
                                 f'{{"spec":{{"partition":{{"config":"Default=YES MaxTime={len(verb)}"}}}}}}',
                                 check=False).returncode == 0, "a change is taken")
    wait_for(lambda: f"MaxTime=00:0{len(verb)}:00" in own.slurm("scontrol", "show", "partition", "compute", check=False).stdout,
             "the change is live")
    assert own.exec("compute-0", "hostname").stdout == "compute-0\n"
    assert restarts == own.kubectl(
        "get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[*].restartCount}").stdout
    assert own.daemons() == before
    own.wait_idle("compute-0", "compute-1", "compute-2")


def test_everything_killed_at_once(own):
    before = own.daemons()
    job = own.submit("sleep 3", "-N1", "-o", "/dev/null")
    own.wait_job(job, "RUNNING")
    for verb in ("serve", "operator", "node", "apiserver"):
        pid = own.process(verb)
        if pid:
            os.kill(pid, signal.SIGKILL)
    own.up()
    own.wait_job(job, "COMPLETED")
    assert own.daemons() == before


def slurmd_of(own, pod):
    """The process of a pod's slurmd, as the machine sees it."""
    for name, pid in own.daemons():
        with open(f"/proc/{pid}/environ") as environ:
            if name == "slurmd" and f"HOSTNAME={pod}" in environ.read().split("\0"):
                return pid
    return None


def test_a_killed_slurmd_harms_no_job(own):
    """The container goes on for its jobs' sake, and slurmd is started again in it."""
    job = own.submit("sleep 4; echo done", "-w", "compute-1", "-o", f"{own.share}/slurmd.out")
    own.wait_job(job, "RUNNING")
    pid = slurmd_of(own, "compute-1")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: slurmd_of(own, "compute-1") not in (None, pid), "slurmd is there again")
    own.wait_job(job, "COMPLETED")
    with open(f"{own.share}/slurmd.out") as out:
        assert out.read() == "done\n"
    assert "slurmd ended with status 137 while jobs run here" in own.kubectl("logs", "compute-1", "-c", "slurmd").stdout
    state = own.get("pod", "compute-1")["status"]["containerStatuses"][0]
    assert state["restartCount"] == 0
    own.wait_idle("compute-1")
    assert own.slurm("srun", "-w", "compute-1", "hostname").stdout == "compute-1\n"


def reconfigures(own):
    return own.kubectl("logs", "slurm-controller-0", "-c", "slurmctld").stdout.count("Processing Reconfiguration Request")


PATIENCE_S = 12  # of the agent with a node that does not answer: src/agent/apply/handed.c


def lasting(own):
    """The daemons that a reconfigure leaves alone: from 23.11 on slurmctld goes on as another process."""
    return {d: start for d, start in own.daemons().items() if d[0] == "slurmd" or not release.has("service")}


def test_a_slow_slurmd_gets_one_configuration_at_a_time(own):
    """Two at a time, and slurmd mixes them up, ends, and takes its jobs along."""
    before = lasting(own)
    earlier = reconfigures(own)
    pid = slurmd_of(own, "compute-2")
    os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    try:
        extra = own.get("controller", "slurm")["spec"]["extraConf"]  # without it slurmctld would be started again
        own.apply(controller(extraConf=f"{extra}KillWait=31\n"))
        wait_for(lambda: reconfigures(own) > earlier, "slurmctld hands the first one on")
        for seconds in (32, 33):
            own.apply(controller(extraConf=f"{extra}KillWait={seconds}\n"))
            time.sleep(0.3)
        seen = reconfigures(own)
        assert seen == earlier + 1 or time.monotonic() - begun > PATIENCE_S
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(lambda: " 33 sec" in own.slurm("scontrol", "show", "config", check=False).stdout, "the last one is live")
    own.wait_idle("compute-0", "compute-1", "compute-2")
    own.slurm("srun", "-N3", "true")
    assert lasting(own) == before


def test_down_refuses_while_a_job_runs(own):
    job = own.submit("sleep 600", "-N1", "-o", "/dev/null")
    own.wait_job(job, "RUNNING")
    before = own.daemons()
    done = own.slurmkeeper("down", check=False)
    assert done.returncode == 1
    assert "nothing was done" in done.stderr and f"default/slurm has running jobs: {job}" in done.stderr
    assert "--force" in done.stderr
    assert own.daemons() == before and own.job_state(job) == "RUNNING"
    own.slurm("scancel", job)
    own.wait_job(job, "CANCELLED")


def test_down_refuses_while_nobody_can_tell_of_jobs(own):
    """Pods outlive whoever serves them, and so do their jobs."""
    job = own.submit("sleep 600", "-N1", "-o", "/dev/null")
    own.wait_job(job, "RUNNING")
    before = own.daemons()
    os.kill(own.process("serve"), signal.SIGKILL)
    wait_for(lambda: own.process("serve") is None, "nobody serves the cluster")
    for flags in ([], ["--purge"]):
        done = own.slurmkeeper("down", *flags, check=False)
        assert done.returncode == 1 and "nothing was done" in done.stderr
        assert "nobody serves the cluster" in done.stderr and "slurmkeeper up" in done.stderr
    for verb in ("status", "env", "recover"):
        done = own.slurmkeeper(verb, check=False)
        assert done.returncode == 1 and "its pods and jobs run on" in done.stderr, verb
    own.up()
    assert own.daemons() == before and own.job_state(job) == "RUNNING"
    own.slurm("scancel", job)
    own.wait_job(job, "CANCELLED")


def test_it_comes_back_though_another_has_its_port(own):
    """The kubeconfigs of the last time name a port at which a stranger listens now."""
    def port():
        with open(f"{own.state}/cluster.json", encoding="utf-8") as f:
            return json.load(f)["port"]
    taken = port()
    os.kill(own.process("serve"), signal.SIGTERM)
    wait_for(lambda: own.process("serve") is None and own.process("apiserver") is None, "nobody serves the cluster")
    with socket.create_server(("127.0.0.1", taken)):
        own.up(timeout="30")
    assert port() != taken
    assert own.kubectl("get", "nodesets").stdout


def test_a_second_cluster_of_the_same_name_harms_nothing(own):
    """Bridge and control groups are found by the name: ending one would end the pods of both."""
    job = own.submit("sleep 600", "-N1", "-o", "/dev/null")
    own.wait_job(job, "RUNNING")
    before = own.daemons()
    try:
        with Local("n") as other:
            other.name = own.name
            done = other.up(check=False)
            assert done.returncode == 1
            assert f"the cluster in '{own.state}' is called '{own.name}', too" in done.stderr and "--name" in done.stderr
            with open(f"{other.state}/cluster.json", "w", encoding="utf-8") as f:
                json.dump({"name": own.name, "port": 0}, f)
            other.slurmkeeper("down", "--purge", "--force", "--grace", "1")
        assert own.daemons() == before and own.job_state(job) == "RUNNING"
    finally:
        own.slurm("scancel", job)
    own.wait_job(job, "CANCELLED")


def test_a_changed_configmap_reaches_the_pods(own):
    own.kubectl("create", "configmap", "files", "--from-literal=gres.conf=# one")
    own.kubectl("create", "configmap", "hooks", "--from-literal=hello.sh=#!/bin/sh\necho first >>/tmp/hooks\n")
    own.apply(controller(extraConf="ReturnToService=2\n", configFileRefs=[{"name": "files"}],
                         prologScriptRefs=[{"name": "hooks"}]))

    def inside(path, pod="slurm-controller-0", container="slurmctld"):
        return own.exec(pod, "cat", path, container=container, check=False).stdout
    wait_for(lambda: "one" in inside("/etc/slurm/gres.conf"), "the file is in the controller's pod")
    wait_for(lambda: "Prolog=" in inside("/etc/slurm/slurm.conf"), "the prolog is in slurm.conf")
    own.kubectl("patch", "configmap", "files", "--type=merge", "-p", '{"data":{"gres.conf":"# two"}}')
    wait_for(lambda: "two" in inside("/etc/slurm/gres.conf"), "the changed file")

    def prolog_ran(word):
        own.slurm("srun", "-w", "compute-0", "true", check=False)
        return word in inside("/tmp/hooks", "compute-0", "slurmd")
    wait_for(lambda: prolog_ran("first"), "the prolog runs")
    own.kubectl("patch", "configmap", "hooks", "--type=merge", "-p",
                '{"data":{"hello.sh":"#!/bin/sh\\necho second >>/tmp/hooks\\n"}}')
    wait_for(lambda: prolog_ran("second"), "the changed prolog runs")
    own.apply(controller(extraConf="ReturnToService=2\n"))
    wait_for(lambda: "Prolog=" not in inside("/etc/slurm/slurm.conf"), "the prolog is gone")


def test_two_clusters_side_by_side(own):
    with Local("t") as other:
        other.up()
        for c in (own, other):
            assert len(c.slurm("srun", "-N3", "hostname").stdout.split()) == 3
        assert own.env() != other.env()
        mine, theirs = own.daemons(), other.daemons()
        assert mine and theirs and not set(mine) & set(theirs)
        own.kubectl("create", "configmap", "only-here")
        assert other.get("configmap", "only-here", check=False) is None
        other.slurmkeeper("down", "--purge")
        assert own.daemons() == mine
        assert len(own.slurm("srun", "-N3", "hostname").stdout.split()) == 3


def test_a_namespace_goes_with_its_cluster_in_seconds(own):
    """Pods do not wait for a slurmctld that goes as they do."""
    own.kubectl("create", "namespace", "brief")
    own.apply(controller(namespace="brief"))
    own.apply(nodeset("few", namespace="brief", replicas=2))
    for pod in ("few-0", "few-1", "slurm-controller-0"):
        own.wait_ready(pod, "brief")
    start = time.monotonic()
    own.kubectl("delete", "namespace", "brief")
    assert time.monotonic() - start < 6
    own.wait_idle("compute-0", "compute-1", "compute-2")


@pytest.mark.parametrize("conf", ["ReturnToService=2\n", ""], ids=["returns", "plain"])
def test_down_and_up_bring_the_declared_cluster_back(own, conf):
    own.apply(controller(extraConf=conf + "PartitionName=all Nodes=ALL\n"))
    own.apply(nodeset("extra", replicas=1))
    own.wait_idle("compute-0", "compute-1", "compute-2", "extra-0")
    job = own.submit("sleep 1", "-d", "singleton", "-b", "now+1hour", "-o", "/dev/null")
    own.slurmkeeper("down")
    assert own.process("serve") is None and not own.daemons()
    out = own.up().stderr
    assert "as they were" in out and "4 nodes" in out
    states = own.wait_idle("compute-0", "compute-1", "compute-2", "extra-0")
    assert sorted(states) == ["compute-0", "compute-1", "compute-2", "extra-0"]
    assert own.job_state(job) == "PENDING"
    out = own.slurm("srun", "-p", "all", "-N4", "hostname").stdout.split()
    assert len(out) == 4
    own.slurm("scancel", job)
    own.kubectl("delete", "nodeset", "extra", "--wait=false")
    own.kubectl("delete", "pod", "extra-0", "--ignore-not-found")
    wait_for(lambda: own.get("nodeset", "extra", check=False) is None, "the NodeSet is gone")


def test_an_idle_cluster_is_quiet(own):
    """Nothing is written when nothing changes."""
    time.sleep(1)
    before = own.kubectl("get", "--raw", "/api/v1/namespaces?limit=1").stdout.split('"resourceVersion":"')[1]
    time.sleep(3)
    after = own.kubectl("get", "--raw", "/api/v1/namespaces?limit=1").stdout.split('"resourceVersion":"')[1]
    assert int(after.split('"')[0]) - int(before.split('"')[0]) <= 2  # the node's Lease
