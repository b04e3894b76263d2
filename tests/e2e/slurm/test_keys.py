# SPDX-License-Identifier: GPL-2.0-or-later
"""The key by which daemons know each other changes while jobs run: nobody notices, and the condition says how far it is.

With munge, and with auth/slurm where the release has sets of keys (slurm.jwks).
"""
import base64
import os
import secrets
import signal

import pytest

import release
from local import Local, wait_for

LONG_S = 120  # of one stage
MANIFEST = """apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: slurm, annotations: {slurmkeeper.dev/key-overlap: "5"}}
spec: {extraConf: "ReturnToService=2AUTH"}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute}
spec: {controllerRef: {name: slurm}, replicas: 3, partition: {config: "Default=YES"}}
"""


@pytest.fixture(scope="module", params=["auth/munge", "auth/slurm"], name="own")
def a_cluster(machine, request):
    if request.param == "auth/slurm" and not release.has("sets of keys"):
        pytest.skip("this release has no sets of keys")
    with Local("k") as c:
        path = f"{c.share}/cluster.yaml"
        with open(path, "w", encoding="utf-8") as f:
            f.write(MANIFEST.replace("AUTH", "\\nAuthType=auth/slurm" if request.param == "auth/slurm" else ""))
        c.up("-f", path)
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def new_key(n=64):
    return secrets.token_urlsafe(n)


def put_key(c, text, name="slurm-auth-slurm", key="slurm.key"):
    data = base64.b64encode(text.encode()).decode()
    return c.kubectl("patch", "secret", name, "--type=merge", "-p", f'{{"data":{{"{key}":"{data}"}}}}', check=False)


def live(c, member="current"):
    data = c.get("secret", "slurm-keys")["data"].get(member)
    return data and base64.b64decode(data).decode()


def stage(c):
    return c.get("secret", "slurm-keys")["metadata"]["annotations"]["slurmkeeper.dev/key-stage"]


def is_current(c, key):
    said = c.condition("controller", "slurm", "KeysCurrent")
    return said and said["reason"] == "Current" and live(c) == key and stage(c).endswith("-rest")


def wait_current(c, key):
    wait_for(lambda: is_current(c, key), "everybody has the new key alone", 4 * LONG_S)


def node_states(c):
    """slurmctld may be on its way up again: with auth/slurm it starts with its new keys."""
    return wait_for(lambda: c.slurm("sinfo", "-h", "-N", "-o", "%N %T", check=False).stdout, "slurmctld answers")


class Work:
    """Jobs of every kind that are there while keys change, and must not notice."""

    def __init__(self, c, tag):
        self.c, self.tag = c, tag
        self.stop = f"{c.share}/stop-{tag}"
        self.by_slurm = "slurm.jwks" in c.get("secret", "slurm-keys")["data"]
        hold = f"while [ ! -e {self.stop} ]; do sleep 0.2; done"
        self.batch = c.submit(f"{hold}; echo batch done", "-N1", "-o", f"{c.share}/batch-{tag}")
        self.steps = c.submit(f"while [ ! -e {self.stop} ]; do srun -N2 -n2 sh -c 'echo begin; sleep 1; echo end' || echo lost; done; "
                              "echo steps done", "-N2", "-o", f"{c.share}/steps-{tag}")
        self.pending = c.submit("echo pending done", "-N3", "--exclusive", "-o", f"{c.share}/pending-{tag}")
        c.wait_job(self.batch, "RUNNING")
        c.wait_job(self.steps, "RUNNING")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        with open(self.stop, "w", encoding="utf-8"):
            pass

    def all_end_well(self):
        """Completion gets through to slurmctld afterwards; nothing was requeued."""
        self.end()
        for job in (self.batch, self.steps, self.pending):
            self.c.wait_job(job, "COMPLETED", LONG_S)
            wait_for(lambda: "Restarts=0" in self.c.slurm("scontrol", "show", "job", job, check=False).stdout,
                     f"job {job} ran once")
        for name, said in (("batch", "batch done"), ("steps", "steps done"), ("pending", "pending done")):
            with open(f"{self.c.share}/{name}-{self.tag}", encoding="utf-8") as f:
                text = f.read()
            assert said in text and text.split().count("begin") == text.split().count("end"), text
            # with auth/slurm nobody answers commands in the moment in which slurmd or slurmctld reads its keys again
            assert "lost" not in text or self.by_slurm, text


def test_jobs_live_through_a_new_key(own):
    with Work(own, "one") as work:
        key = new_key()
        before = own.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}").stdout
        assert put_key(own, key).returncode == 0
        wait_for(lambda: own.condition("controller", "slurm", "KeysCurrent")["status"] == "False" or stage(own) != "0-rest",
                 "the change is told")
        wait_current(own, key)
        assert "*" not in node_states(own) and "down" not in node_states(own)
        assert own.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}").stdout == before
        work.all_end_well()
        assert len(own.slurm("srun", "-N3", "hostname").stdout.split()) == 3
        wait_for(lambda: "[keys" not in own.slurm("scontrol", "show", "nodes").stdout, "nodes' comments are as before", LONG_S)


def test_a_bad_key_changes_nothing(own):
    key = live(own)
    for bad, said in (("", "is empty"), ("short", "has 5 bytes")):
        if put_key(own, bad).returncode != 0:
            continue  # refused where it was written
        seen = own.wait_condition("controller", "slurm", "KeysCurrent", "False", "KeyRefused")
        assert said in seen["message"] and "goes on with the key that it has" in seen["message"], seen
        assert live(own) == key and stage(own).endswith("-rest")
        assert said in own.slurmkeeper("status", check=False).stdout
    assert len(own.slurm("srun", "-N3", "hostname").stdout.split()) == 3
    own.kubectl("delete", "pod", "compute-0", "--wait=true", timeout=120)
    wait_for(lambda: len(own.slurm("srun", "-N3", "hostname", check=False).stdout.split()) == 3,
             "a new pod has the old key", LONG_S)
    assert put_key(own, key).returncode == 0
    own.wait_condition("controller", "slurm", "KeysCurrent", "True", "Current")


def test_the_operator_is_killed_and_the_key_changes_again(own):
    with Work(own, "two") as work:
        last = None
        for _ in range(3):
            last = new_key()
            before = stage(own)
            assert put_key(own, last).returncode == 0
            wait_for(lambda: stage(own) != before or not stage(own).endswith("-rest"), "the change goes on", LONG_S)
            pid = own.process("operator")
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: own.process("operator") not in (None, pid), "the operator is there again")
        wait_current(own, last)
        work.all_end_well()
        assert len(own.slurm("srun", "-N3", "hostname").stdout.split()) == 3


def test_a_new_jwt_key_signs_tokens(own):
    """Tokens of the old key are not taken any more; what runs does not notice."""
    with Work(own, "three") as work:
        key = new_key()
        assert put_key(own, key, "slurm-auth-jwt", "jwt.key").returncode == 0
        wait_for(lambda: live(own, "jwt.key") == key, "pods have it")
        wait_for(lambda: key in own.exec("slurm-controller-0", "cat", "/etc/slurm/jwt.key", container="slurmctld",
                                         check=False).stdout, "slurmctld's files have it", LONG_S)
        wait_for(lambda: "SLURM_JWT=" in own.slurm("scontrol", "token", check=False).stdout, "tokens are made", LONG_S)
        work.all_end_well()
