# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmkeeper plan: what manifests would change, and how, against a running cluster that it leaves alone."""
import json
import os
import pty
import re

import pytest

import release
from jobs import Jobs
from local import PROGRAM, nodeset, run, wait_for
from native import CONF


def controller(extra=""):
    return json.dumps({"apiVersion": "slinky.slurm.net/v1beta1", "kind": "Controller", "metadata": {"name": "slurm"},
                       "spec": {"extraConf": CONF + extra}})


def compute(config="Default=YES MaxTime=24:00:00"):
    return nodeset("compute", replicas=3, partition={"config": config})


def partition(name, **spec):
    return json.dumps({"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition", "metadata": {"name": name},
                       "spec": {"controllerRef": {"name": "slurm"}, "all": True, **spec}})


NODES = release.node_class()
# manifests, and what they are: the heaviest class, and every change with its class
CASES = {
    "nothing": ([controller(), compute()], "none", []),
    "the same in other words": ([compute("MaxTime=1-0 Default=yes")], "none", []),
    "rpc": ([compute("Default=YES MaxTime=60")], "rpc", [("rpc", "partition compute: MaxTime: 1-00:00:00 -> 01:00:00")]),
    "a new partition": ([partition("fresh", maxTime=5)], "rpc", [("rpc", "partition fresh: added")]),
    "rpc by extraConf": ([controller("PartitionName=more Nodes=ALL\n")], "rpc", [("rpc", "partition more: added")]),
    "reconfigure": ([controller("SchedulerParameters=bf_interval=55\n")], "reconfigure",
                    [("reconfigure", "SchedulerParameters: (not set) -> bf_interval=55")]),
    "node count": ([controller("MaxNodeCount=200\n")], NODES, [(NODES, "MaxNodeCount: 1024 -> 200")]),
    "all at once": ([controller("MaxNodeCount=200\nSchedulerTimeSlice=40\n"), compute("Default=YES MaxTime=60")], NODES,
                    [(NODES, "MaxNodeCount: 1024 -> 200"), ("reconfigure", "SchedulerTimeSlice: (not set) -> 40"),
                     ("rpc", "partition compute: MaxTime: 1-00:00:00 -> 01:00:00")]),
}


@pytest.fixture
def files(cluster, tmp_path):
    """Writes manifests, each to a file of its own, and gives the arguments that name them."""
    cluster.change("controllers", "slurm", {"extraConf": CONF}).ok()
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
    cluster.wait_live("compute", MaxTime="1-00:00:00")
    cluster.wait_applied()

    def write(manifests):
        args = []
        for i, text in enumerate(manifests):
            (tmp_path / f"{i}.yaml").write_text(text)
            args += ["-f", str(tmp_path / f"{i}.yaml")]
        return args
    return write


def plan(c, *args):
    return run(PROGRAM, "plan", *args, env=c.slurm_env, check=False)


def what_is_declared(c):
    """Specs and their numbers; statuses may still be settling."""
    found = [c.object(kind, name) for kind, name in (("controllers", "slurm"), ("nodesets", "compute"))]
    return [(o["metadata"]["generation"], o["metadata"].get("annotations"), o["spec"]) for o in found]


@pytest.mark.parametrize("case", CASES)
def test_it_tells_what_and_how(cluster, files, case):
    manifests, heaviest, changes = CASES[case]
    declared = what_is_declared(cluster)
    before, conf = cluster.all_live(), cluster.in_pod("/etc/slurm/slurm.conf")
    args = files(manifests)
    text, data = plan(cluster, *args), plan(cluster, *args, "-o", "json")
    assert text.returncode == data.returncode == (2 if changes else 0), text.stdout + text.stderr
    (found,) = json.loads(data.stdout)["clusters"]
    assert (found["source"], found["class"]) == ("agent", heaviest)
    assert sorted((x["class"], x["change"]) for x in found["changes"]) == sorted(changes)
    for how, what in changes:
        assert re.search(rf"^\s*{how}\s+{re.escape(what)}$", text.stdout, re.M), text.stdout
    assert ("slurmctld is restarted, jobs go on" in text.stdout) == (heaviest == "restart")
    assert "\033" not in text.stdout, "no colour but on a terminal"
    # and nothing was done
    assert cluster.all_live() == before and cluster.in_pod("/etc/slurm/slurm.conf") == conf
    assert what_is_declared(cluster) == declared


def test_what_it_tells_is_what_happens(cluster, files):
    manifest = compute("Default=YES MaxTime=61")
    assert plan(cluster, *files([manifest])).returncode == 2
    cluster.apply(manifest)
    cluster.wait_live("compute", MaxTime="01:01:00")
    assert plan(cluster, *files([manifest])).returncode == 0


def test_bad_manifests_are_errors(cluster, files):
    for manifest, says in ((compute("MaxTime=soon"), "'soon' is not a time"), (controller("Frobnicate=1\n"), "unknown key"),
                           (partition("fresh", nodes="a[1-"), "not a host list"), ("kind: [", "")):
        done = plan(cluster, *files([manifest]))
        assert done.returncode == 1 and says in done.stderr and done.stderr, done
    assert plan(cluster, "-f", "/no/such/file").returncode == 1


def test_drift_is_a_change_that_the_declaration_would_make(cluster, files):
    cluster.slurm("scontrol", "update", "partitionname=compute", "state=drain")
    done = plan(cluster, *files([compute("Default=YES MaxTime=62")]))
    assert done.returncode == 2 and "MaxTime" in done.stdout
    cluster.apply(compute("Default=YES MaxTime=62"))
    cluster.wait_live("compute", State="UP", MaxTime="01:02:00")


def test_it_is_in_colour_on_a_terminal(cluster, files):
    args = files([compute("Default=YES MaxTime=63")])
    master, slave = pty.openpty()
    env = {**cluster.slurm_env, "TERM": "xterm"}
    done = run("sh", "-c", 'exec "$0" plan "$@" >&3', PROGRAM, *args, env=env, check=False, pass_fds=(3,),
               preexec_fn=lambda: os.dup2(slave, 3))
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert done.returncode == 2 and "\033[" in shown and "MaxTime" in shown, shown


@pytest.mark.skipif(NODES != "restart", reason="MaxNodeCount needs no restart in this release")
@pytest.mark.slurmctld_ends
def test_a_restart_is_warned_about_and_jobs_go_on(cluster, files):
    jobs = Jobs(cluster, "plan")
    jobs.run("-n1")
    jobs.run("-N2", "-n2")
    jobs.held = jobs.wait("-n1", "-H")
    jobs.settle()
    pid, deaths = cluster.slurmctld(), cluster.deaths()
    args = files([controller("MaxNodeCount=300\n")])
    assert "restart" in plan(cluster, *args).stdout and cluster.slurmctld() == pid
    # an rpc-class edit has no such warning
    assert "restarted" not in cluster.apply(compute("Default=YES MaxTime=800")).stderr
    done = cluster.kubectl("apply", *args)
    assert "Warning: spec.extraConf: slurmctld is restarted for this (jobs go on): MaxNodeCount" in done.stderr, done.stderr
    wait_for(lambda: re.search(r"MaxNodeCount\s*= 300", cluster.slurm("scontrol", "show", "config", check=False).stdout),
             "the change is live")
    cluster.wait_applied()
    assert cluster.slurmctld() != pid and not cluster.deaths(deaths)
    jobs.check()
    cluster.change("controllers", "slurm", {"extraConf": CONF}).ok()
    cluster.wait_applied()
    jobs.check()
    jobs.finish(jobs.held)
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
