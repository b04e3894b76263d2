# SPDX-License-Identifier: GPL-2.0-or-later
"""Several Slurms on one machine: a cluster has one of them, in everything that it runs.

SLURM names the prefix of the other one, else the newest in /opt (tools/slurm-prefix) for which an agent was built.
"""
import glob
import os
import re
import shutil
import tempfile

import pytest

from local import PROGRAM, Local, run, wait_for


def series(prefix):
    said = run(f"{prefix}/sbin/slurmctld", "-V").stdout
    return re.search(r"\d\d\.\d\d", said).group(0)


def has_agent(prefix):
    worker = f"slurmkeeper-agent-worker-{series(prefix)}"
    near = os.path.dirname(os.path.realpath(PROGRAM))
    return any(os.access(f"{near}/{place}{worker}", os.X_OK)
               for place in ("", "../agent/worker/", "../libexec/slurmkeeper/"))


def find_other():
    named = os.environ.get("SLURM")
    found = [named] if named else [p[:-len("/sbin/slurmctld")] for p in glob.glob("/opt/*/sbin/slurmctld")]
    found = [p for p in found if series(p) != series("/usr") and has_agent(p)]
    return max(found, key=series, default=None)


@pytest.fixture(scope="module", name="other")
def another_slurm():
    prefix = find_other()
    if not prefix:
        pytest.skip("no other Slurm is here (tools/slurm-prefix), or no agent is built for it (-Dslurm)")
    return prefix


@pytest.fixture(scope="module", name="two")
def two_clusters(other):
    """One with the machine's Slurm, one with the other."""
    with Local("wa") as usual, Local("wb") as another:
        usual.up("--slurm", "/usr")
        another.up("--slurm", other)
        yield usual, another


def release_in(pod_of, pod, program):
    return pod_of.exec(pod, program, "-V", container="slurmctld" if "controller" in pod else "slurmd").stdout.split()[1]


def test_two_clusters_with_two_slurms_run_jobs_side_by_side(two, other):
    for cluster, prefix in zip(two, ("/usr", other)):
        assert len(cluster.slurm("srun", "-N3", "hostname").stdout.split()) == 3
        assert series(prefix) in cluster.slurm("srun", "--version").stdout
        assert release_in(cluster, "slurm-controller-0", "slurmctld").startswith(series(prefix))
        assert release_in(cluster, "compute-0", "slurmd").startswith(series(prefix))
        assert re.search(rf"^Slurm {series(prefix)}\S* in {prefix}$", cluster.slurmkeeper("status").stdout, re.M)


def test_each_has_the_agent_of_its_release(two, other):
    """A change is live: the agent's child speaks with slurmctld."""
    for cluster in two:
        cluster.kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
                        '{"spec":{"partition":{"config":"Default=YES MaxTime=77"}}}')
        cluster.wait_condition("nodeset", "compute", "PartitionApplied", "True")
        assert "MaxTime=01:17:00" in cluster.slurm("scontrol", "show", "partition", "compute").stdout
        events = cluster.events("slurm")
        assert any("Applied by rpc" in message for _, message in events), events


def test_the_shell_finds_the_commands_of_the_cluster(two, other):
    usual, another = two
    assert another.env()["PATH"].startswith(f"{other}/sbin:{other}/bin:")
    assert usual.env()["PATH"] == os.environ["PATH"] or usual.env()["PATH"].startswith("/usr/sbin:")


def test_pods_that_run_keep_their_slurm(two, other):
    if series(other) < "24.05" or series("/usr") > "22.05":
        pytest.skip("these two follow each other closely enough: that would be an upgrade (tests/upgrade)")
    usual, _ = two
    done = usual.up("--slurm", other, check=False)
    assert done.returncode == 1
    assert f"Slurm {series('/usr')} cannot become {series(other)} at once" in done.stderr
    assert release_in(usual, "slurm-controller-0", "slurmctld").startswith(series("/usr"))


def test_what_slurmctld_refuses_stays_with_its_partition(two):
    """From 24.11.6 on a QOS that is not known is refused; the rest of what is declared is live."""
    _, another = two
    if another.slurm("srun", "--version").stdout.split()[1] < "24.11.6":
        pytest.skip("this release takes or dies of a QOS that it does not know")
    for name, more in (("bad", "qos: nope, "), ("good", "")):
        another.apply(f"""apiVersion: slurmkeeper.dev/v1alpha1
kind: Partition
metadata: {{name: {name}}}
spec: {{controllerRef: {{name: slurm}}, nodeSetRefs: [{{name: compute}}], {more}maxTime: 60}}
""")
    seen = another.wait_condition("partition", "bad", "Ready", "False", "Refused")
    assert "slurmctld refuses it" in seen["message"] and "qos" in seen["message"].lower(), seen
    another.wait_condition("partition", "good", "Ready", "True")
    another.kubectl("patch", "partition", "good", "--type=merge", "-p", '{"spec":{"maxTime":90}}')
    wait_for(lambda: "MaxTime=01:30:00" in another.slurm("scontrol", "show", "partition", "good", check=False).stdout,
             "a later edit is live", 5)
    config = another.wait_applied()
    assert config["reason"] == "Applied"
    accepted = another.condition("controller", "slurm", "PartitionsAccepted")
    assert accepted["status"] == "False" and accepted["reason"] == "RefusedBySlurm", accepted
    # a setting of the cluster, and a new start of slurmctld, go without it as well
    another.kubectl("patch", "controller", "slurm", "--type=merge", "-p",
                    '{"spec":{"extraConf":"SchedulerParameters=bf_interval=44"}}')
    wait_for(lambda: "bf_interval=44" in another.slurm("scontrol", "show", "config", check=False).stdout,
             "a setting is live", 20)
    another.kubectl("delete", "pod", "slurm-controller-0", "--wait=false")
    wait_for(lambda: "good" in another.slurm("sinfo", "-h", "-o", "%R", check=False).stdout.split(),
             "slurmctld is back", 40)
    another.kubectl("patch", "partition", "bad", "--type=merge", "-p", '{"spec":{"qos":null}}')
    another.wait_condition("partition", "bad", "Ready", "True")


@pytest.fixture(name="room")
def room_for_another(two, other):
    """Two of the same Slurm, with the same name in Slurm, beside each other."""
    if series(other) < "25.05":
        pytest.skip("Slurm before 25.05 has room for one sackd on a machine")
    return two[1]


def test_the_first_of_path_is_taken_and_kept(room, other):
    path = f"{other}/bin:{os.environ['PATH']}"
    with Local("wp") as c:
        c.up(env={**os.environ, "PATH": path})
        assert c.env()["SLURM_SACK_SOCKET"] == f"/run/slurmkeeper-{c.name}-default-slurm/sack.socket"
        assert "SLURM_SACK_SOCKET" not in room.env()
        assert len(room.slurm("srun", "-N3", "hostname").stdout.split()) == 3
        assert f" in {other}" in c.slurmkeeper("status").stdout
        assert len(c.slurm("srun", "-N3", "hostname").stdout.split()) == 3
        c.slurmkeeper("down")
        said = c.up().stderr  # PATH has another one first now
        assert f" in {other}" in c.slurmkeeper("status").stdout, said
    assert not os.path.exists(f"/run/slurmkeeper-{c.name}-default-slurm")


def test_a_prefix_that_pods_would_not_see_is_mounted(room, other):
    """Nothing below /var is the machine's in a pod."""
    place = tempfile.mkdtemp(prefix="sk-slurm-", dir="/var/tmp")
    os.chmod(place, 0o755)
    try:
        for name in ("bin", "sbin", "lib"):
            os.symlink(f"{other}/{name}", f"{place}/{name}")
        with Local("wm") as c:
            c.up("--slurm", place)
            assert len(c.slurm("srun", "-N3", "hostname").stdout.split()) == 3
            assert c.exec("compute-0", "sh", "-c", "command -v slurmd", container="slurmd").stdout.strip() == \
                f"{place}/sbin/slurmd"
    finally:
        shutil.rmtree(place)


def test_a_step_that_slurm_does_not_make_is_refused(other):
    """22.05 to 26.05 at once: slurmctld could not read its state."""
    if series(other) < "24.05" or series("/usr") > "22.05":
        pytest.skip("these two follow each other closely enough")
    with Local("ws") as c:
        c.up("--slurm", "/usr")
        c.slurmkeeper("down")
        done = c.up("--slurm", other, check=False)
        assert done.returncode == 1
        assert f"Slurm 22.05 cannot become {series(other)} at once" in done.stderr
        c.up()
        assert len(c.slurm("srun", "-N3", "hostname").stdout.split()) == 3


@pytest.mark.parametrize("prefix, says", [
    ("/nonexistent", "the Slurm in '/nonexistent' lacks sbin/slurmctld, sbin/slurmd, bin/sinfo"),
    ("opt/slurm", "is not the absolute path of a prefix"),
])
def test_a_prefix_without_slurm_is_refused(prefix, says):
    with Local("wn") as c:
        done = c.up("--slurm", prefix, check=False)
        assert done.returncode == 1 and says in done.stderr, done.stderr
