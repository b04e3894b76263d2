# SPDX-License-Identifier: GPL-2.0-or-later
"""What an admin changes by scontrol is told within a second, and left alone or put back as the policy says."""
import time

import pytest

from local import wait_for
from native import timed

POLICY = "slurmkeeper.dev/drift-policy"


@pytest.fixture
def debug(cluster):
    """A Partition as declared, whatever the test before has left."""
    cluster.make("partitions", "debug", {"nodeSetRefs": [{"name": "compute"}], "maxTime": 30}).ok()
    cluster.wait_state("partitions", "debug", "Ready", "True", "Applied")
    cluster.wait_state("partitions", "debug", "Drifted", "False")
    yield
    cluster.remove_all("partitions", "debug")


@pytest.fixture
def revert(cluster):
    cluster.kubectl("annotate", "controller", "slurm", f"{POLICY}=Revert")
    cluster.wait_applied()
    yield
    cluster.kubectl("annotate", "controller", "slurm", f"{POLICY}-")


def scontrol(c, *words):
    c.slurm("scontrol", *words)


def test_it_is_told_within_a_second(cluster, debug):
    """A condition and an event with field, declared and live value; five times, each within a second."""
    for i, (word, live) in enumerate([("drain", "DRAIN"), ("up", "UP"), ("down", "DOWN"), ("up", "UP"),
                                      ("inactive", "INACTIVE")]):
        scontrol(cluster, "update", "partitionname=debug", f"state={word}")
        drifted = "False" if live == "UP" else "True"
        took = timed(lambda: cluster.state_of("partitions", "debug", "Drifted").get("status") == drifted,
                     f"Drifted is {drifted}", 5)
        print(f"{word}: told after {took * 1000:.0f} ms")
        assert took < 1
        if live == "UP":
            continue
        c = cluster.state_of("partitions", "debug", "Drifted")
        assert c["reason"] == "ChangedInSlurm" and f"State: declared UP, live {live}" in c["message"]
        told = ("Drifted", f"State is {live} in slurmctld and declared as UP")
        assert timed(lambda: told in cluster.events_of("debug"), f"the event {told}", 5) < 1


def test_it_is_left_until_the_declaration_changes(cluster, debug):
    cluster.make("partitions", "other", {"all": True}).ok()
    scontrol(cluster, "update", "partitionname=debug", "state=drain", "maxtime=90", "prioritytier=8")
    c = cluster.wait_state("partitions", "debug", "Drifted", "True", says="MaxTime")
    for field in ("State: declared UP, live DRAIN", "MaxTime: declared 00:30:00, live 01:30:00",
                  "PriorityTier: declared 1, live 8"):
        assert field in c["message"]
    drift = {d["field"]: (d["declared"], d["live"]) for d in cluster.object("partitions", "debug")["status"]["drift"]}
    assert drift == {"State": ("UP", "DRAIN"), "MaxTime": ("00:30:00", "01:30:00"), "PriorityTier": ("1", "8")}
    # somebody else's edit is no reason
    cluster.change("partitions", "other", {"maxTime": 77}).ok()
    cluster.wait_live("other", MaxTime="01:17:00")
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=23:00:00"}}).ok()
    cluster.wait_live("compute", MaxTime="23:00:00")
    time.sleep(2)
    cluster.wait_live("debug", State="DRAIN", MaxTime="01:30:00", PriorityTier="8")
    # its own declaration wins, as a whole
    cluster.change("partitions", "debug", {"graceTime": 9}).ok()
    cluster.wait_live("debug", State="UP", MaxTime="00:30:00", PriorityTier="1", GraceTime="9")
    cluster.wait_state("partitions", "debug", "Drifted", "False")
    assert not cluster.object("partitions", "debug")["status"].get("drift")
    cluster.remove_all("partitions", "other")


def test_the_partition_of_a_nodeset_drifts_as_well(cluster):
    scontrol(cluster, "update", "partitionname=compute", "state=drain")
    for kind, name in (("nodesets", "compute"), ("controllers", "slurm")):
        took = timed(lambda: "DRAIN" in cluster.state_of(kind, name, "Drifted").get("message", ""), "it is told", 5)
        assert took < 1 and cluster.state_of(kind, name, "Drifted")["status"] == "True"
        wait_for(lambda: ("ChangedInSlurm", "partition compute: State is DRAIN, declared UP") in cluster.events_of(name),
                 f"an event of {name}")
    cluster.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
    cluster.wait_live("compute", State="UP", MaxTime="1-00:00:00")
    for kind, name in (("nodesets", "compute"), ("controllers", "slurm")):
        wait_for(lambda: cluster.state_of(kind, name, "Drifted").get("status") != "True", "it is over")


def test_by_the_other_policy_it_is_put_back(cluster, debug, revert):
    for n in range(3):
        scontrol(cluster, "update", "partitionname=debug", "state=drain", "maxtime=90", "hidden=yes")
        took = timed(lambda: {"State": "UP", "MaxTime": "00:30:00", "Hidden": "NO"}.items() <=
                     cluster.live("debug").items(), "the partition is put back", 10)
        print(f"put back after {took * 1000:.0f} ms")
    cluster.wait_state("partitions", "debug", "Drifted", "False")
    scontrol(cluster, "delete", "partition=debug")
    cluster.wait_live("debug", MaxTime="00:30:00")
    scontrol(cluster, "create", "partition=foreign", "nodes=ALL")
    cluster.wait_gone("foreign")


def test_a_policy_that_does_not_exist_is_told(cluster):
    done = cluster.kubectl("annotate", "controller", "slurm", f"{POLICY}=Sometimes")
    cluster.kubectl("annotate", "controller", "slurm", f"{POLICY}-")
    assert "Warning" in done.stderr and '"Sometimes" is not Report or Revert' in done.stderr
