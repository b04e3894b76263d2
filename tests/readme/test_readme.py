# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of the README does what it is there for.

STEPS is the order in which they are run: the README tells of the end before the middle.  A step is the beginning of a
command and what it takes: words to put for placeholders, what its output has, what is run beside it.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import pytest

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path[:0] = [f"{TOP}/tests", f"{TOP}/tests/e2e/slurm"]

import directory  # noqa: E402
import people  # noqa: E402
from local import Local  # noqa: E402

STATE = os.environ["SLURMKEEPER_STATE"]
BACKUP = os.path.join(os.path.dirname(STATE), "backup")
EVAL = 'eval "$(build/slurmkeeper env)"'


def commands():
    """The README's blocks of shell, line by line, without their comments."""
    with open(os.path.join(TOP, "README.md")) as f:
        blocks = re.findall(r"^```sh\n(.*?)^```", f.read(), re.M | re.S)
    lines = [re.sub(r"\s{2,}#.*| #.*", "", line).strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def shell(command, check=True, timeout=240, inside=True, returns=(0,)):
    """As typed in the tree, by somebody who has the exports of `env`."""
    script = f"{EVAL}\n{command}" if inside else command
    done = subprocess.run(["bash", "-c", script], cwd=TOP, text=True, timeout=timeout, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if check:
        assert done.returncode in returns, f"{command}: ended with {done.returncode}:\n{done.stdout[-3000:]}"
    return done.stdout


def wait_for(check, what, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if check():
            return
        time.sleep(0.2)
    nodes = shell("sinfo -N -o '%N %T %P %E'; kubectl get nodesets,pods", check=False)
    raise AssertionError(f"{what}: not within {seconds} s\n{nodes}")


def ann_is_a_user():
    subprocess.run(["useradd", "--create-home", "ann"], check=True)
    os.mkdir("/home/ann/.kube")


def ann_sees():
    out = shell("KUBECONFIG=/home/ann/.kube/config kubectl get partitions")
    assert "debug" in out


def ann_sees_nothing():
    out = shell("KUBECONFIG=/home/ann/.kube/config kubectl get partitions", check=False)
    assert "debug" not in out, out


def a_job_holds_the_nodeset():
    shell("kubectl annotate pod compute-0 nodeset.slinky.slurm.net/pod-cordon-")
    wait_for(lambda: "compute-0" in shell("sinfo -h -N -t idle -p compute -o %N"), "compute-0 takes jobs")
    shell("cd /tmp && sbatch -p compute --no-requeue -o /dev/null --wrap 'sleep 600'")
    wait_for(lambda: "RUNNING" in shell("squeue -h -o %T"), "a job runs")


def its_job_dies():
    wait_for(lambda: shell("squeue -h -t RUNNING,COMPLETING -o %T").split() == [], "its job is dead")


def a_nodeset_called_gpu():
    shell("kubectl apply -f - <<'END'\n"
          '{"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet", "metadata": {"name": "gpu"},'
          ' "spec": {"controllerRef": {"name": "slurm"}, "replicas": 1}}\nEND')
    wait_for(lambda: "gpu-0" in shell("sinfo -h -N -o %N"), "gpu-0 is there")


def debug_has_it():
    wait_for(lambda: "gpu-0" in shell("sinfo -h -N -p debug -o %N"), "debug has gpu-0")
    shell("build/slurmkeeper partition debug nodes-=gpu; kubectl delete nodeset gpu")
    shell("kubectl wait partition/debug --for=condition=Ready --timeout=60s")


def a_login_and_its_people():
    """A LoginSet as docs/logins.md has it, and the directory that its sssd.conf leads to."""
    c = Local("readme", state=STATE)
    with tempfile.TemporaryDirectory() as where:
        directory.start(c, "/home", where, {})
    c.apply(people.login("login"))
    os.rmdir(c.share)


def they_go():
    shell("kubectl delete loginset/login pod/ldap --wait=false")


def it_is_up():
    assert "compute" in shell("sinfo -h")


def it_is_gone():
    assert not os.path.exists(os.path.join(STATE, "api.db"))


def five():
    wait_for(lambda: "compute-4" in shell("sinfo -h -N -t idle -o %N"), "five nodes")


def hour():
    assert "MaxTime=01:00:00" in shell("scontrol show partition compute")


def bigmem():
    wait_for(lambda: "bigmem" in shell("sinfo -h -N -t idle -o %N"), "bigmem is there")
    assert "batch*" in shell("sinfo -h -o %P")


def drained():
    wait_for(lambda: "State=DRAIN" in shell("scontrol show partition debug"), "debug is drained")
    wait_for(lambda: "DRAIN" in shell("kubectl get partition debug"), "its status says so")


def one():
    wait_for(lambda: shell("sinfo -h -N -t idle -p compute -o %N").split() == ["compute-0"], "one node is left")


def cordoned():
    wait_for(lambda: "compute-0" in shell("sinfo -h -N -t drain -o %N"), "compute-0 is drained")


STEPS = [
    ("make run", {"inside": False, "timeout": 900, "has": "slurmkeeper env"}),
    (EVAL, {"inside": False}),
    ("srun -N3 hostname", {"has": "compute-2"}),
    ("kubectl get controllers,nodesets,pods", {"has": "compute-2"}),
    ("kubectl scale nodeset/compute --replicas=5", {"after": five}),
    ("kubectl patch nodeset compute", {}),
    ("kubectl wait nodeset/compute", {"after": hour}),
    ("scontrol show partition compute", {"has": "PartitionName=compute"}),
    ("kubectl apply -f examples/partition.yaml", {"after": bigmem}),
    ("kubectl logs slurm-controller-0", {"has": "slurmctld"}),
    ("build/slurmkeeper status", {"has": "Controller default/slurm"}),
    ("build/slurmkeeper user add ann", {"before": ann_is_a_user, "after": ann_sees}),
    ("build/slurmkeeper user list", {"has": "ann"}),
    ("build/slurmkeeper user remove ann", {"after": ann_sees_nothing}),
    ("kubectl explain partition.spec", {"has": "maxTime"}),
    ("build/slurmkeeper partition debug nodes+=gpu", {"before": a_nodeset_called_gpu, "after": debug_has_it}),
    ("kubectl wait loginset/login", {"needs": directory.need, "before": a_login_and_its_people}),
    ("kubectl exec deploy/login", {"needs": directory.need, "has": "alice:*:21001", "after": they_go}),
    ("kubectl patch partition debug", {"after": drained}),
    ("kubectl get partitions", {"has": "DRAIN"}),
    ("kubectl wait partition/debug", {}),
    ("build/slurmkeeper plan -f FILE", {"put": {"FILE": "examples/quickstart.yaml"}, "returns": (0, 2), "has": "cluster"}),
    ("build/slurmkeeper plan", {"returns": (0, 2), "has": "cluster default/slurm"}),
    ("build/slurmkeeper render -f FILE", {"put": {"FILE": "examples/quickstart.yaml"}, "has": "ClusterName="}),
    ("kubectl annotate controller slurm slurmkeeper.dev/drift-policy=Revert", {}),
    ("kubectl annotate controller slurm slurmkeeper.dev/drift-policy-", {}),
    ("kubectl patch secret slurm-auth-slurm", {}),
    ("kubectl wait controller/slurm --for=condition=KeysCurrent", {}),
    ("build/slurmkeeper backup FILE", {"put": {"FILE": BACKUP}}),
    ("build/slurmkeeper recover", {}),
    ("make stop", {"inside": False}),
    ("make run", {"inside": False, "again": True, "after": it_is_up}),
    ("kubectl scale nodeset/compute --replicas=1", {"after": one}),
    ("kubectl annotate pod compute-0", {"after": cordoned}),
    ("kubectl delete nodeset compute", {"before": a_job_holds_the_nodeset, "beside": True}),
    ("kubectl annotate nodeset compute", {"after": its_job_dies}),
    ("build/slurmkeeper down --purge", {"after": it_is_gone}),
    ("build/slurmkeeper restore FILE", {"put": {"FILE": BACKUP}, "inside": False}),
    ("make run", {"inside": False, "again": True, "after": it_is_up}),
    ("build/slurmkeeper down --purge", {"again": True}),
]


def command_of(beginning):
    """The README's command that begins so; the shortest, if several do."""
    found = [c for c in commands() if c.startswith(beginning)]
    assert found, f"the README has no command '{beginning}'"
    return min(found, key=len)


def test_every_command_has_a_place_in_the_order():
    known = {command_of(beginning) for beginning, _ in STEPS}
    assert [c for c in commands() if c not in known] == []


BESIDE = []


@pytest.fixture(scope="module", autouse=True)
def nothing_stays():
    yield
    for child in BESIDE:
        child.kill()
        child.wait()
    shell("build/slurmkeeper down --purge --force --grace 1", check=False, inside=False)


@pytest.mark.parametrize("step", range(len(STEPS)), ids=[f"{i:02}-{s[0]}" for i, s in enumerate(STEPS)])
def test_it_runs(step):
    beginning, how = STEPS[step]
    command = command_of(beginning)
    for word, value in how.get("put", {}).items():
        command = command.replace(word, value)
    if how.get("needs"):
        how["needs"]()
    if how.get("before"):
        how["before"]()
    if how.get("beside"):
        BESIDE.append(subprocess.Popen(["bash", "-c", f"{EVAL}\n{command}"], cwd=TOP))
        time.sleep(1)
        assert BESIDE[-1].poll() is None, "a job was to hold it"
        return
    out = shell(command, inside=how.get("inside", True), timeout=how.get("timeout", 240),
                returns=how.get("returns", (0,)))
    assert how.get("has", "") in out, out[-2000:]
    for child in BESIDE:
        assert child.wait(timeout=120) == 0
    BESIDE.clear()
    if how.get("after"):
        how["after"]()
