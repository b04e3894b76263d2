# SPDX-License-Identifier: GPL-2.0-or-later
"""What a node is declared to be, slurmctld has: features, weight, resources, limits; and records that nobody needs go.

No job dies for it, and a drain of a person stays."""
import json
import os
import re
import signal

import pytest

from local import PROGRAM, Local, nodeset, wait_for

DRIFT = "slurmkeeper.dev/drift-policy"


@pytest.fixture(scope="module")
def own(machine):
    with Local("d") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "Ready", "True")
        c.kubectl("patch", "nodeset", "compute", "--type=merge", "-p", '{"spec": {"replicas": 1}}')
        c.kubectl("create", "configmap", "gres", "--from-literal=gres.conf=Name=gpu File=/dev/zero")
        c.kubectl("patch", "controller", "slurm", "--type=merge", "-p", json.dumps(
            {"spec": {"extraConf": "GresTypes=gpu\nSlurmdTimeout=10", "configFileRefs": [{"name": "gres"}]}}))
        c.wait_applied()
        wait_for(lambda: "gpu" in c.slurm("scontrol", "show", "config", check=False).stdout, "slurmctld has it", 40)
        make(c, "gpu", 2)
        c.wait_idle("gpu-0", "gpu-1", seconds=60)
        yield c


def make(c, name, replicas, **spec):
    c.apply(nodeset(name, replicas=replicas, partition={"enabled": True}, **spec))


def declare(c, name, **spec):
    c.kubectl("patch", "nodeset", name, "--type=merge", "-p", json.dumps({"spec": spec}))


def record(c, node):
    """The fields of a node; {}: slurmctld has none of that name."""
    out = c.slurm("scontrol", "-o", "show", "node", node, check=False).stdout
    fields = dict(word.split("=", 1) for word in out.split() if "=" in word)
    reason = re.search(r" Reason=(.*?)( \[|$)", out)
    return {**fields, "Reason": reason.group(1) if reason else ""} if "NodeName" in fields else {}


def uids(c, *pods):
    return [(c.get("pod", p, check=False) or {"metadata": {"uid": None}})["metadata"]["uid"] for p in pods]


def wait_record(c, node, seconds=60, **fields):
    try:
        return wait_for(lambda: fields.items() <= record(c, node).items(), "", seconds)
    except AssertionError:
        seen = record(c, node)
        raise AssertionError(f"{node}: {fields} is not there, but { {k: seen.get(k) for k in (*fields, 'State', 'Reason')} }; "
                             f"{c.condition('nodeset', node.rsplit('-', 1)[0], 'NodesApplied')}") from None


def work(c, node):
    job = c.submit("sleep 600", "-p", node.rsplit("-", 1)[0], "-w", node, "-D", "/", "-o", "/dev/null")
    c.wait_job(job, "RUNNING")
    return job


def test_features_and_weight_are_changed_while_pods_and_jobs_stay(own):
    job = work(own, "gpu-1")
    before = uids(own, "gpu-0", "gpu-1")
    for conf, features, weight in (("Features=a100 Weight=3", "a100,gpu", "3"), ("Features=h100", "gpu,h100", "1")):
        declare(own, "gpu", extraConf=conf)
        for node in ("gpu-0", "gpu-1"):
            wait_record(own, node, AvailableFeatures=features, ActiveFeatures=features, Weight=weight)
    own.wait_condition("nodeset", "gpu", "NodesApplied", "True")
    wait_for(lambda: own.get("nodeset", "gpu")["status"]["updatedReplicas"] == 2, "both are up to date")
    assert uids(own, "gpu-0", "gpu-1") == before
    assert own.job_state(job) == "RUNNING"
    assert own.slurm("srun", "-p", "gpu", "-w", "gpu-0", "-C", "h100", "hostname").stdout.strip() == "gpu-0"
    own.slurm("scancel", job)


def test_plan_tells_of_nodes(own):
    manifest = f"{own.share}/gpu.json"
    for conf, says in (("Features=h200", "Features: gpu,h100 -> gpu,h200"), ("Features=h100 Gres=gpu:1", "Gres=gpu:1")):
        with open(manifest, "w") as f:
            f.write(nodeset("gpu", replicas=2, partition={"enabled": True}, extraConf=conf))
        done = own.slurm(PROGRAM, "plan", "-f", manifest, check=False)
        assert done.returncode == 2 and says in done.stdout, done.stdout + done.stderr


def test_what_somebody_changes_is_told_and_put_back_where_that_is_the_policy(own):
    own.slurm("scontrol", "update", "nodename=gpu-0", "features=gpu,mine", "activefeatures=gpu,mine")
    seen = own.wait_condition("nodeset", "gpu", "Drifted", "True")
    assert "gpu-0" in seen["message"] and "gpu,mine" in seen["message"] and "gpu,h100" in seen["message"]
    assert record(own, "gpu-0")["AvailableFeatures"] == "gpu,mine"
    own.kubectl("annotate", "controller", "slurm", f"{DRIFT}=Revert")
    wait_record(own, "gpu-0", AvailableFeatures="gpu,h100")
    wait_for(lambda: own.condition("nodeset", "gpu", "Drifted") is None, "it is over")
    own.kubectl("annotate", "controller", "slurm", f"{DRIFT}-")


def test_a_record_is_made_again_when_no_job_runs(own):
    job = work(own, "gpu-1")
    declare(own, "gpu", extraConf="Gres=gpu:1 MemSpecLimit=100")
    wait_record(own, "gpu-0", Gres="gpu:1", MemSpecLimit="100", State="IDLE+DYNAMIC_NORM")
    seen = own.wait_condition("nodeset", "gpu", "NodesApplied", "False", "WaitingForIdle")
    assert "gpu-1" in seen["message"]
    assert own.job_state(job) == "RUNNING"
    assert record(own, "gpu-1")["Gres"] == "(null)"
    own.slurm("scancel", job)
    wait_record(own, "gpu-1", Gres="gpu:1", State="IDLE+DYNAMIC_NORM")
    own.wait_condition("nodeset", "gpu", "NodesApplied", "True")
    declare(own, "gpu", extraConf="Gres=gpu:1")
    for node in ("gpu-0", "gpu-1"):
        wait_for(lambda: "MemSpecLimit" not in (record(own, node) or {"MemSpecLimit": 1}), "what was taken away is gone", 60)
    own.wait_idle("gpu-0", "gpu-1", seconds=60)


def test_changed_limits_are_in_the_record(own):
    own.wait_idle("gpu-0", "gpu-1", seconds=60)
    total = int(record(own, "gpu-0")["CPUTot"])
    if total < 2:
        pytest.skip("this machine has one processor only")
    for cpus in (1, None):
        declare(own, "gpu", slurmd={"resources": {"limits": {"cpu": cpus}}})
        wait_record(own, "gpu-0", CPUEfctv=str(cpus or total))
        own.wait_idle("gpu-0", "gpu-1", seconds=60)


def test_a_refused_registration_is_healed_by_declaration(own):
    own.slurm("scontrol", "update", "nodename=gpu-1", "state=drain", "reason=broken fan")
    declare(own, "gpu", extraConf="Gres=gpu:2")
    wait_for(lambda: "INVALID_REG" in record(own, "gpu-0").get("State", ""), "one device is less than two", 60)
    seen = own.wait_condition("nodeset", "gpu", "NodesApplied", "False", "Refused")
    assert "gres/gpu count reported lower" in seen["message"]
    # A corrected file.
    own.kubectl("patch", "configmap", "gres", "--type=merge", "-p",
                json.dumps({"data": {"gres.conf": "Name=gpu File=/dev/zero\nName=gpu File=/dev/null"}}))
    wait_record(own, "gpu-0", State="IDLE+DYNAMIC_NORM", Gres="gpu:2")
    # A corrected NodeSet.
    declare(own, "gpu", extraConf="Gres=gpu:3")
    wait_for(lambda: "INVALID_REG" in record(own, "gpu-0").get("State", ""), "two are less than three", 60)
    declare(own, "gpu", extraConf="Gres=gpu:2")
    wait_record(own, "gpu-0", State="IDLE+DYNAMIC_NORM", Gres="gpu:2")
    # The drain of a person stays.
    assert "DRAIN" in record(own, "gpu-1")["State"] and record(own, "gpu-1")["Reason"] == "broken fan"
    own.slurm("scontrol", "update", "nodename=gpu-1", "state=resume")
    wait_record(own, "gpu-1", Gres="gpu:2", State="IDLE+DYNAMIC_NORM")


def test_ghosts_go(own):
    """Pods that end without a word to slurmctld, and without the operator having drained their nodes."""
    make(own, "brief", 3, slurmd={"lifecycle": {"preStop": {"exec": {"command": ["true"]}}}})
    own.wait_idle("brief-0", "brief-1", "brief-2", seconds=60)
    own.slurm("scontrol", "update", "nodename=brief-1", "state=drain", "reason=broken fan")
    operator = own.process("operator")
    os.kill(operator, signal.SIGSTOP)
    try:
        declare(own, "brief", replicas=0)
        for pod in ("brief-0", "brief-1", "brief-2"):
            own.kubectl("delete", "pod", pod, "--force", "--grace-period=0", check=False)
    finally:
        os.kill(operator, signal.SIGCONT)
    wait_for(lambda: not record(own, "brief-0") and not record(own, "brief-2"), "records without pods go", 120)
    wait_for(lambda: "NOT_RESPONDING" in record(own, "brief-1")["State"], "the other is seen to be gone", 120)
    assert record(own, "brief-1")["Reason"] == "broken fan"
    own.slurm("scontrol", "update", "nodename=brief-1", "state=resume", check=False)
    wait_for(lambda: not record(own, "brief-1"), "it goes, too, when nobody holds it", 120)
