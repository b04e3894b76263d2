# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands of Slurm need to know of a cluster whose nodes are dynamic: on the machine and inside of jobs."""
import json
import os
import re
import subprocess

from local import controller, nodeset, quick_start, read_until, run, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, "..", "..", "..", "images", "entrypoint", "lib")
USER = "nobody"


def client_nodes(cluster):
    with open(cluster.env()["SLURM_CONF"], encoding="utf-8") as f:
        return re.findall(r"^NodeName=(\S+) NodeAddr=(\S+)$", f.read(), re.M)


def running_step(cluster, *args, command="sleep 60"):
    job = cluster.submit(f"srun {' '.join(args)} {command}", "-N3", "-o", "/dev/null")
    wait_for(lambda: f"{job}.0" in cluster.slurm("squeue", "-h", "-s", "-j", job, "-o", "%i").stdout, "the step runs")
    return job


def test_the_machines_file_names_the_nodes_that_there_are(cluster):
    pods = {p: cluster.get("pod", p)["status"]["podIP"] for p in ("compute-0", "compute-1", "compute-2")}
    assert client_nodes(cluster) == sorted(pods.items())
    held = cluster.exec("slurm-controller-0", "cat", "/etc/slurm/slurm.conf", container="slurmctld").stdout
    assert "NodeName" not in held


def test_it_follows_scaling(cluster):
    cluster.kubectl("scale", "nodeset", "compute", "--replicas=4")
    try:
        cluster.wait_idle("compute-3", seconds=60)
        assert [n for n, _ in client_nodes(cluster)][-1] == "compute-3"
        started = cluster.slurm("scontrol", "show", "config").stdout
    finally:
        cluster.kubectl("scale", "nodeset", "compute", "--replicas=3")
    wait_for(lambda: len(client_nodes(cluster)) == 3, "its line is gone", 60)
    now = cluster.slurm("scontrol", "show", "config").stdout
    booted = re.compile(r"^(BOOT_TIME|HASH_VAL) .*$", re.M)
    assert booted.findall(started) == booted.findall(now), "slurmctld read its file again"


def test_sattach_and_a_signal_reach_a_step(cluster):
    script = "trap \"echo heard\" USR1; touch begun-$SLURM_PROCID; while :; do echo tick; sleep 0.2; done"
    job = running_step(cluster, command=f"sh -c '{script}'")
    wait_for(lambda: all(os.path.exists(f"{cluster.share}/begun-{i}") for i in range(3)), "its tasks run")
    env = cluster.env()
    child = subprocess.Popen(["sattach", f"{job}.0"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        read_until(child, "tick")
        done = cluster.slurm("scancel", "-s", "USR1", f"{job}.0")
        assert "can't find address" not in done.stderr
        read_until(child, "heard")
    finally:
        child.kill()
        child.wait()
        cluster.slurm("scancel", job)
    wait_for(lambda: cluster.job_state(job) == "CANCELLED", "it is cancelled")


def test_root_runs_a_step_without_an_allocation(cluster):
    out = cluster.slurm("srun", "-Z", "-w", "compute-1", "hostname").stdout
    assert out.strip() == "compute-1"


def test_commands_of_a_job_find_its_node(cluster):
    script = "scontrol show slurmd; scontrol listpids; scontrol show daemons"
    out = cluster.slurm("srun", "-w", "compute-2", "sh", "-c", script, user=USER)
    assert "Active Steps" in out.stdout and re.search(r"^slurmd *$", out.stdout, re.M), out
    assert re.search(r"^\d+ +\d+ +0 +0 +0", out.stdout, re.M), out
    assert "rror" not in out.stderr


def test_commands_of_a_job_reach_other_nodes(cluster):
    job = running_step(cluster)
    try:
        out = cluster.slurm("srun", "--overlap", "--jobid", job, "-N1", "-n1", "-w", "compute-1", "scancel", "-s", "CONT",
                            f"{job}.0")
        assert "can't find address" not in out.stderr
    finally:
        cluster.slurm("scancel", job)
    wait_for(lambda: cluster.job_state(job) == "CANCELLED", "it is cancelled")


def test_nodes_stand_in_the_order_of_their_numbers(cluster):
    out = cluster.slurm("srun", "-N3", "-l", "sh", "-c", "echo $SLURM_JOB_NODELIST $(hostname)").stdout
    assert sorted(out.splitlines()) == [f"{i}: compute-[0-2] compute-{i}" for i in range(3)]


def test_a_new_nodeset_registers_in_order(cluster):
    cluster.apply(nodeset("many", replicas=5, partition={"enabled": True}))
    try:
        cluster.wait_idle(*[f"many-{i}" for i in range(5)], seconds=60)
        out = cluster.slurm("srun", "-p", "many", "-N5", "-n5", "printenv", "SLURM_JOB_NODELIST").stdout
        assert set(out.split()) == {"many-[0-4]"}
    finally:
        cluster.kubectl("delete", "nodeset", "many")


def test_srun_hears_what_slurmctld_says_of_its_step(cluster):
    child = subprocess.Popen(["srun", "-N2", "-w", "compute-[0-1]", "sleep", "60"], env=cluster.env(), cwd=cluster.share,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        wait_for(lambda: "sleep" in cluster.slurm("squeue", "-h", "-s", "-o", "%j").stdout, "the step runs")
        cluster.slurm("scontrol", "update", "nodename=compute-1", "state=down", "reason=test")
        read_until(child, "Node failure on compute-1")
    finally:
        child.kill()
        child.wait()
        cluster.slurm("scontrol", "update", "nodename=compute-1", "state=resume", check=False)
    cluster.wait_idle("compute-0", "compute-1", seconds=60)


def bash(script, *args, stdin="", **env):
    return subprocess.run(["bash", "-c", script, "bash", *args], capture_output=True, text=True, input=stdin, check=True,
                          env={**os.environ, **env}).stdout


def test_whose_turn_it_is():
    for name, known, ahead in [("a-2", "", 2), ("a-2", "a-0 a-1", 0), ("a-2", "a-1 b-0 ax-0 a-x", 1), ("a-2", "a-2", -1),
                               ("a-010", "a-000 a-009", 8), ("a-08", "a-07 a-09", 7), ("b-1", "a-b-0", 1)]:
        out = bash(f". {SCRIPTS}/order.sh; nodes_ahead $1", name, stdin="".join(f"{k}\n" for k in known.split()))
        assert int(out) == ahead, (name, known)


def test_what_jobs_files_name(tmp_path):
    """One line for each NodeSet, and no name twice: that would be fatal."""
    cases = [("compute-1", "NodeSet=compute Feature=compute", ["compute-[0-1023]"]),
             ("gpu-007", "NodeSet=gpu Feature=gpu", ["gpu-[000-1023]"]),
             ("gpu-2000", "NodeSet=gpu Feature=gpu", ["gpu-[0-2000]"]),
             ("k8s-host", "NodeSet=gpu Feature=gpu", ["gpu-[0-1023]", "k8s-host"]),
             ("x-1", "NodeName=gpu-[1-3] CPUs=1\nNodeSet=gpu Feature=gpu\nNodeSet=x Feature=x", ["x-[0-1023]"]),
             ("x-1", "nodename=x-[1-3]\nNodeSet=x Feature=x", [])]
    source = f"{SCRIPTS}/slurmstepd"
    with open(source, encoding="utf-8") as f:
        functions = re.search(r"^most=.*?^}\n\n# nodes FILE.*?^}\n", f.read(), re.M | re.S).group()
    for host, conf, expected in cases:
        path = tmp_path / "slurm.conf"
        path.write_text(conf + "\n")
        out = bash(f"hostname() {{ echo {host}; }}\n{functions}\nnodes {path}")
        assert out.split() == [f"NodeName={n}" for n in expected], (host, conf)


def test_a_declared_node_is_named_once(cluster):
    good = quick_start()
    cluster.apply(controller(**{**good, "extraConf": good["extraConf"] + "NodeName=far-1 State=FUTURE\n"}))
    try:
        wait_for(lambda: "NodeName=far-1" in open(cluster.env()["SLURM_CONF"], encoding="utf-8").read(), "it is there")
        assert len(client_nodes(cluster)) == 3
        assert cluster.slurm("srun", "-N3", "hostname").stdout
    finally:
        cluster.apply(controller(**good))


def test_sbatch_says_when_the_nodes_do_not_share_its_directory(cluster, tmp_path):
    def submit(*args, where):
        done = run("sbatch", "--parsable", "-o", "/dev/null", *args, "--wrap", "true", env=cluster.env(), cwd=where)
        assert done.stdout.strip().isdigit()
        return done.stderr
    said = submit(where=str(tmp_path))
    assert f"do not share '{tmp_path}'" in said and cluster.share in said and "/home" in said, said
    assert submit(where=cluster.share) == ""
    assert submit("--chdir", cluster.share, where=str(tmp_path)) == ""
    assert "do not share '/tmp'" in submit("-D/tmp", where=cluster.share)
    plugins = os.path.join(os.path.dirname(cluster.env()["SLURM_CONF"]), "plugstack.conf")
    with open(plugins, encoding="utf-8") as f:
        assert f.read().count("share=") >= 3


def test_the_clusters_own_plugins_stay(cluster):
    cluster.kubectl("create", "configmap", "plugins", "--from-literal=plugstack.conf=# of the cluster")
    before = cluster.get("controller", "slurm")["spec"]
    path = os.path.join(os.path.dirname(cluster.env()["SLURM_CONF"]), "plugstack.conf")

    def lines():
        with open(path, encoding="utf-8") as f:
            return f.read().splitlines()
    refs = before["configFileRefs"]
    cluster.kubectl("patch", "controller", "slurm", "--type", "merge", "-p",
                    json.dumps({"spec": {"configFileRefs": refs + [{"name": "plugins"}]}}))
    try:
        wait_for(lambda: lines()[0] == "# of the cluster" and "slurmkeeper-spank.so" in lines()[1], "both are there")
    finally:
        cluster.kubectl("patch", "controller", "slurm", "--type", "merge", "-p", json.dumps({"spec": {"configFileRefs": refs}}))
        cluster.kubectl("delete", "configmap", "plugins")
    wait_for(lambda: len(lines()) == 1, "ours alone")


def test_a_step_that_waits_begins_when_the_one_before_has_ended(cluster):
    """slurmctld of 22.05 looks for srun's host among its nodes, and else tells itself."""
    steps = "for i in 1 2 3 4 5 6 7 8; do timeout 30 srun -n1 --exact sleep 0.1 & done; wait; squeue -h -s -j $SLURM_JOB_ID; echo over"
    out = cluster.slurm("salloc", "-N1", "-n2", "bash", "-c", steps, timeout=60)
    assert out.stdout.split() == ["over"], out
