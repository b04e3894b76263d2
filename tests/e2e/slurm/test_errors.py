# SPDX-License-Identifier: GPL-2.0-or-later
"""What is wrong is told where its author looks, with what to do, and the running cluster goes on."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import time

import pytest

from local import PROGRAM, Local, controller, nodeset, quick_start, run, wait_for

GOOD = quick_start()
CONF = GOOD["extraConf"]


@pytest.fixture(scope="module")
def long_job(cluster):
    job = cluster.submit("sleep 600", "-N1", "-o", "/dev/null")
    cluster.wait_job(job, "RUNNING")
    yield job
    cluster.slurm("scancel", job)
    cluster.wait_job(job, "CANCELLED")
    # Slurm 22.05 loses count of the jobs on a dynamic node when it is reconfigured while one runs: the node stays
    # "allocated", though it takes jobs, until slurmctld is started again.
    cluster.kubectl("delete", "pod", "slurm-controller-0")
    cluster.wait_ready("slurm-controller-0")
    cluster.wait_idle("compute-0", "compute-1", "compute-2")


@pytest.fixture
def running(cluster, long_job):
    """A job and the slurmds, which must come through.

    slurmctld may be started again by a change that another release would take by reconfigure.
    """
    before = {k: v for k, v in cluster.daemons().items() if k[0] == "slurmd"}
    yield
    assert cluster.job_state(long_job) == "RUNNING"
    assert before.items() <= cluster.daemons().items()


@pytest.mark.parametrize("text, why", [
    ("SchedulerTypo=sched/backfill\n", "unknown key SchedulerTypo; did you mean SchedulerType?"),
    ("PartitionName=x Nodes=nosuch\n", "there is no node or node set nosuch in this configuration"),
    ("PartitionName=compute Nodes=ALL\n", "compute"),
    ("PartitionName=y Nodes=ALL MaxTime=soon\n", "MaxTime"),
    ("SlurmctldPort=many\n", "SlurmctldPort"),
    ("SlurmctldHost=elsewhere\n", "SlurmctldHost is the pod's name and cannot be set; remove the line"),
    ("ClusterName=other\n", "ClusterName comes from spec.clusterName and cannot be set; remove the line"),
    ("PrologSlurmctld=/etc/slurm/none.sh\n", "has a key 'none.sh'"),
    ("Include /etc/shadow\n", "Include"),
    ("this is not a setting\n", "line 1"),
], ids=["key", "nodes", "twice", "value", "number", "host", "name", "prolog", "include", "text"])
def test_a_configuration_that_slurm_refuses(cluster, running, text, why):
    good = cluster.get("configmap", "slurm-config")["data"]["slurm.conf"]
    done = cluster.apply(controller(**{**GOOD, "extraConf": text}), check=False)
    try:
        if done.returncode:
            assert why in done.stderr
            return
        seen = cluster.wait_condition("controller", "slurm", "ConfigApplied", "False", "ConfigInvalid")
        assert seen["message"].startswith("the configuration was not changed: ") and why in seen["message"]
        assert "spec.extraConf" in seen["message"]
        assert cluster.get("configmap", "slurm-config")["data"]["slurm.conf"] == good
        assert ("ConfigInvalid", seen["message"]) in cluster.events("slurm")
        assert cluster.condition("controller", "slurm", "Ready")["status"] == "True"
        assert seen["message"] in run_status(cluster)
    finally:
        cluster.apply(controller(**GOOD))
    cluster.wait_applied()


def test_a_setting_of_the_operators_in_an_included_file(cluster, running):
    including = controller(extraConf=CONF + "Include more.conf\n", configFileRefs=GOOD["configFileRefs"] + [{"name": "more"}])
    bad = json.dumps({"data": {"more.conf": "KillWait=31\nStateSaveLocation=/tmp\n"}})
    cluster.kubectl("create", "configmap", "more", "--from-literal=more.conf=KillWait=31\n")
    try:
        cluster.kubectl("patch", "configmap", "more", "--type=merge", "-p", bad)
        done = cluster.apply(including, check=False)
        assert done.returncode != 0 and "more.conf line 2: StateSaveLocation is the pod's volume" in done.stderr
        # A file that turns bad later: the condition says so.
        cluster.kubectl("patch", "configmap", "more", "--type=merge", "-p", '{"data": {"more.conf": "KillWait=31\\n"}}')
        cluster.apply(including)
        cluster.wait_applied()
        cluster.kubectl("patch", "configmap", "more", "--type=merge", "-p", bad)
        seen = cluster.wait_condition("controller", "slurm", "ConfigApplied", "False", "ConfigInvalid")
        assert "more.conf line 2: StateSaveLocation is the pod's volume and cannot be set" in seen["message"]
    finally:
        cluster.apply(controller(**GOOD))
        cluster.kubectl("delete", "configmap", "more")
    cluster.wait_applied()


def test_what_slurm_takes_but_does_not_do_is_warned_about(cluster, running):
    done = cluster.apply(controller(**{**GOOD, "extraConf": CONF + "DownNodes=nowhere State=DOWN\n"}))
    try:
        assert f"Warning: spec.extraConf: line {len(CONF.splitlines()) + 1}: DownNodes: there is no node nowhere" in done.stderr
        wait_for(lambda: "DownNodes: there is no node nowhere" in
                 cluster.condition("controller", "slurm", "ConfigApplied")["message"], "the condition says so")
        assert cluster.condition("controller", "slurm", "ConfigApplied")["status"] == "True"
    finally:
        cluster.apply(controller(**GOOD))
    wait_for(lambda: cluster.condition("controller", "slurm", "ConfigApplied")["message"] ==
             "slurmctld has the configuration", "nothing is wrong any more")


def run_status(cluster):
    done = cluster.slurmkeeper("status", check=False)
    assert done.returncode == 3
    return done.stdout


def test_a_nodeset_whose_controller_is_missing(cluster, running):
    said = cluster.apply(nodeset("orphan", controller="nobody")).stderr
    assert "there is no Controller nobody in namespace default yet" in said
    try:
        seen = cluster.wait_condition("nodeset", "orphan", "Ready", "False", "ControllerNotFound")
        assert seen["message"] == "there is no Controller nobody in namespace default; create it, or correct " \
            "spec.controllerRef.name"
        assert "orphan" not in cluster.get("configmap", "slurm-config")["data"]["slurm.conf"]
        assert "NodeSet default/orphan: there is no Controller nobody" in run_status(cluster)
    finally:
        cluster.kubectl("delete", "nodeset", "orphan")


def test_two_nodesets_with_one_slurm_name(cluster, running):
    done = cluster.apply(nodeset("other", template={"spec": {"hostname": "compute-"}}), check=False)
    assert done.returncode == 1
    assert "NodeSet compute of the same cluster has the name compute in Slurm already; choose another name or " \
        "hostname" in done.stderr
    assert cluster.get("nodeset", "other", check=False) is None


def test_a_bad_partition_line_is_refused(cluster, running):
    done = cluster.kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
                           '{"spec":{"partition":{"config":"MaxTme=1"}}}', check=False)
    assert done.returncode == 1 and "MaxTme" in done.stderr and "did you mean MaxTime?" in done.stderr


def test_a_command_that_does_not_start(cluster, running):
    cluster.apply(nodeset("broken", replicas=1, slurmd={"command": ["/no/such/program"]}))
    try:
        def told():
            c = cluster.condition("nodeset", "broken", "Ready")
            return c if c and "/no/such/program" in c["message"] else None
        seen = wait_for(told, "the condition names the command")
        assert seen["status"] == "False" and seen["message"].startswith("0 of 1 pods are ready; pod broken-0: ")
        assert "no such file or directory" in seen["message"]
    finally:
        cluster.kubectl("delete", "nodeset", "broken", "--wait=false")
        cluster.kubectl("delete", "pod", "broken-0", "--ignore-not-found", "--wait=false")
    wait_for(lambda: cluster.get("nodeset", "broken", check=False) is None, "it is gone")


def test_a_command_that_ends_at_once(cluster, running):
    cluster.apply(nodeset("brief", replicas=1, slurmd={"command": ["sh", "-c", "echo no luck; exit 3"]}))
    try:
        def told():
            c = cluster.condition("nodeset", "brief", "Ready")
            return c if c and "ended with status 3; see kubectl logs brief-0 -c slurmd -p" in c["message"] else None
        wait_for(told, "the condition tells of the end")
        assert cluster.kubectl("logs", "brief-0", "-c", "slurmd", "-p").stdout == "no luck\n"
    finally:
        cluster.kubectl("delete", "nodeset", "brief", "--wait=false")
        cluster.kubectl("delete", "pod", "brief-0", "--ignore-not-found", "--wait=false")
    wait_for(lambda: cluster.get("nodeset", "brief", check=False) is None, "it is gone")


def test_more_memory_than_there_is(cluster, running):
    cluster.apply(nodeset("huge", replicas=1, slurmd={"resources": {"requests": {"memory": "9000Gi"}}}))
    try:
        wait_for(lambda: "Insufficient memory" in
                 ((cluster.condition("nodeset", "huge", "Ready") or {}).get("message") or ""), "it says so")
    finally:
        cluster.kubectl("delete", "nodeset", "huge")


def test_bad_manifests_stop_up(cluster, tmp_path, running):
    bad = tmp_path / "bad.yaml"
    for text, why in (
        ("kind: [", "bad.yaml"),
        ("apiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nmetadata: {name: x}\nspec: {replicas: many}\n",
         "replicas"),
        ("apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: x}\n", "Widget"),
        ("just text\n", "bad.yaml"),
    ):
        bad.write_text(text)
        done = cluster.up("-f", str(bad), check=False)
        assert done.returncode == 1 and why in done.stderr, done.stderr
    done = cluster.up("-f", str(tmp_path / "none.yaml"), check=False)
    assert done.returncode == 1 and "none.yaml" in done.stderr and "No such file" in done.stderr


def test_a_slurmctld_that_is_never_ready_fails_up_with_its_log(tmp_path):
    manifest = tmp_path / "bad.yaml"
    manifest.write_text(controller(slurmctld={"command": ["sh", "-c", "echo I do not feel well; exit 1"]}))
    with Local("x") as own:
        done = own.up("-f", str(manifest), check=False, timeout="5")
        assert done.returncode == 1
        assert "slurmctld does not answer" in done.stderr
        assert "slurmctld: I do not feel well" in done.stderr, done.stderr


def test_a_range_in_use_is_told_at_once_and_can_be_changed(cluster):
    taken = run("ip", "-o", "-4", "addr", "show", "dev", f"sk-{cluster.name}").stdout.split()[3].replace(".0.1/", ".0.0/")
    with Local("r") as own:
        start = time.monotonic()
        done = own.up("--pod-cidr", taken, check=False)
        assert time.monotonic() - start < 15
        assert done.returncode == 1
        assert f"the cluster's node does not start: the range {taken} of pod addresses is in use" in done.stderr
        assert own.process("serve") is None
        own.up("--pod-cidr", "10.211.0.0/16")
        done = own.up("--pod-cidr", "10.212.0.0/16", check=False)
        assert done.returncode == 1 and "have addresses in 10.211.0.0/16, not in 10.212.0.0/16" in done.stderr
        done = own.up("--pod-cidr", "10.212.0.1/16", check=False)
        assert done.returncode == 2 and "--pod-cidr: '10.212.0.1/16' has bits set after its prefix" in done.stderr


@pytest.fixture
def small_disk(tmp_path):
    """A state directory that is full soon."""
    path = tmp_path / "state"
    path.mkdir()
    os.chmod(tmp_path, 0o755)
    run("mount", "-t", "tmpfs", "-o", "size=24m,mode=711", "small", str(path))
    yield str(path)
    subprocess.run(["umount", "-l", str(path)], check=False)


def test_a_full_disk(small_disk):
    with Local("f", state=small_disk) as own:
        own.up()
        job = own.submit(f"touch {own.share}/begun; sleep 3", "-o", "/dev/null")
        wait_for(lambda: os.path.exists(f"{own.share}/begun"), "slurmd has written the job's script, and started it")
        before = own.daemons()
        fill = open(f"{small_disk}/fill", "wb", buffering=0)  # what does not fit is not kept for later
        with pytest.raises(OSError):
            while True:
                fill.write(b"x" * 65536)

        def refused():
            done = own.kubectl("create", "configmap", f"full-{len(tried)}", "--from-literal=a=" + "x" * 60000,
                               check=False)
            tried.append(done.stderr)
            return done.returncode and done.stderr
        tried = []
        said = wait_for(refused, "a write is refused")
        assert "disk" in said and "full" in said, said
        assert own.job_state(job) in ("RUNNING", "COMPLETING", "COMPLETED")
        assert own.daemons() == before
        assert f"the disk that holds '{small_disk}' is full" in own.slurmkeeper("status", check=False).stdout
        os.unlink(f"{small_disk}/fill")
        fill.close()
        wait_for(lambda: own.kubectl("create", "configmap", "fits", "--from-literal=a=b", check=False)
                 .returncode == 0, "it is taken again")
        own.wait_job(job, "COMPLETED")
        own.kubectl("scale", "nodeset/compute", "--replicas=4")
        own.wait_idle("compute-0", "compute-1", "compute-2", "compute-3")
        assert len(own.slurm("srun", "-N4", "hostname").stdout.split()) == 4
        assert before.items() <= own.daemons().items()


def test_up_on_a_full_disk_says_so(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=64k,mode=711", "small", str(state))
    try:
        with Local("g", state=str(state)) as own:
            done = own.up(check=False, timeout="20")
            assert done.returncode == 1
            assert f"the disk that holds '{state}' is full" in done.stderr and "make room" in done.stderr
    finally:
        subprocess.run(["umount", "-l", str(state)], check=False)


def test_who_is_not_root_is_told_what_needs_it(cluster):
    done = cluster.up(check=False, user=65534)
    assert done.returncode == 1
    assert "need root" in done.stderr and "run it with sudo" in done.stderr
    done = cluster.slurmkeeper("down", check=False, user=65534)
    assert done.returncode == 1 and "sudo" in done.stderr


def begin(c, *words):
    return subprocess.Popen([PROGRAM, *words, "--state", c.state], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def test_a_port_that_another_is_about_to_take_is_left_alone():
    """A cluster that starts in the same moment has chosen the first free port, and does not listen there yet."""
    with Local("p") as c, contextlib.ExitStack() as held:
        for port in range(6443, 6453):
            name = held.enter_context(socket.socket(socket.AF_UNIX))
            with contextlib.suppress(OSError):  # whoever has the name has the port
                name.bind(f"\0slurmkeeper-port-{port}")
        c.up()
        with open(f"{c.state}/cluster.json", encoding="utf-8") as f:
            assert json.load(f)["port"] >= 6453


def test_an_interrupted_up_and_down_say_how_to_go_on():
    """Ctrl-C: in `up` as soon as something goes on without it, in `down` when the cluster's processes have ended."""
    with Local("i") as c:
        up = begin(c, "up", "--name", c.name, "--share", c.share)
        wait_for(lambda: os.path.exists(f"{c.state}/serve.json"), "it is served")
        up.send_signal(signal.SIGINT)
        assert "interrupted; the cluster goes on coming up" in up.communicate(timeout=30)[1] and up.returncode == 130
        c.up()
        slurmd = next(pid for name, pid in c.daemons() if name == "slurmd")
        os.kill(slurmd, signal.SIGSTOP)  # its pod takes all the time that it is given
        down = begin(c, "down", "--grace", "60")
        wait_for(lambda: c.process("node") is None, "nobody serves it")
        down.send_signal(signal.SIGINT)
        assert "interrupted, and not all is down" in down.communicate(timeout=30)[1] and down.returncode == 130
        c.slurmkeeper("down", "--force", "--grace", "1")
        c.up()
