# SPDX-License-Identifier: GPL-2.0-or-later
"""A partition that slurmctld itself refuses: it alone stays as it was, and its author is told; all others are applied."""
import pytest

import release
from local import wait_for
from native import CONF

# what is declared of the partition; what a release must do to refuse it (None: every one does)
CASES = {
    "binding": ({"config": "CpuBind=sideways"}, None),
    "qos": ({"qos": "nope"}, "qos is looked up"),
    "qos-list": ({"allowQos": ["nope"]}, "qos lists are looked up"),
}


@pytest.fixture
def bad(cluster, request):
    """The case's settings; what it makes is taken away again."""
    spec, wanted = CASES[request.param]
    if wanted and not release.has(wanted):
        pytest.skip(f"slurmctld {release.text()} takes it")
    yield spec
    cluster.change("controllers", "slurm", {"extraConf": CONF}).ok()
    cluster.remove_all("partitions", "bad", "good")
    cluster.wait_applied(60)


def refused(c):
    c.wait_state("partitions", "bad", "Ready", "False", "Refused", "slurmctld refuses it")
    accepted = c.state_of("controllers", "slurm", "PartitionsAccepted")
    assert (accepted["status"], accepted["reason"]) == ("False", "RefusedBySlurm"), accepted
    c.wait_applied(60)


@pytest.mark.slurmctld_ends
@pytest.mark.parametrize("bad", CASES, indirect=True)
def test_what_slurmctld_refuses_stays_with_its_partition(cluster, bad):
    nodes = {"nodeSetRefs": [{"name": "compute"}], "maxTime": 60}
    cluster.make("partitions", "bad", {**nodes, **bad}).ok()
    cluster.make("partitions", "good", nodes).ok()
    cluster.wait_live("good", MaxTime="01:00:00")
    refused(cluster)
    # an edit that is a call, and one that is a reconfigure
    before = cluster.started()
    cluster.change("partitions", "good", {"maxTime": 90}).ok()
    cluster.wait_live("good", MaxTime="01:30:00")
    cluster.change("controllers", "slurm", {"extraConf": CONF + "KillWait=44\n"}).ok()
    wait_for(lambda: "KillWait = 44 sec" in " ".join(cluster.slurm("scontrol", "show", "config", check=False).stdout.split()),
             "a setting of the cluster is live")
    refused(cluster)
    assert cluster.started() == before, "slurmctld was restarted"
    # a slurmctld that starts goes without it, too
    cluster.kubectl("delete", "pod", "slurm-controller-0", "--wait=false")
    cluster.wait_rolled()
    cluster.wait_slurmctld()
    cluster.wait_live("good", MaxTime="01:30:00")
    refused(cluster)
    # and when it is mended, it is applied
    cluster.change("partitions", "bad", dict.fromkeys(bad)).ok()
    cluster.wait_live("bad", MaxTime="01:00:00")
    cluster.wait_state("partitions", "bad", "Ready", "True", "Applied")
