# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings that came with a later Slurm: set, changed and left out again where the release has them, refused by name where not.

What is live is what scontrol shows; slurmctld goes on as the same process wherever a call is enough.
"""
import glob
import itertools
import os
import re

import pytest

import release
from local import run, wait_for
from native import path

# field, what scontrol calls it, two values with what it shows for each, what it shows without
FIELDS = [
    ("maxCPUsPerSocket", "MaxCPUsPerSocket", (2, "2"), (1, "1"), "UNLIMITED"),
    ("powerDownOnIdle", "PowerDownOnIdle", (True, "YES"), (False, "NO"), "NO"),
    ("exclusiveTopo", "ExclusiveTopo", (True, "YES"), (False, "NO"), "NO"),
]


@pytest.fixture(scope="module")
def newer(shared):
    shared.make("partitions", "newer", {"nodeSetRefs": [{"name": "compute"}]}).ok()
    shared.wait_live("newer", State="UP")
    yield
    shared.remove_all("partitions", "newer")


def live(c):
    """What scontrol shows; PowerDownOnIdle, which it leaves out where nothing saves power, as it writes it into a file."""
    fields = c.live("newer")
    c.slurm("scontrol", "write", "config", f"{c.share}/written", check=False)
    for name in glob.glob(f"{c.share}/written*"):
        with open(name) as f:
            line = re.search(r"^PartitionName=newer .*", f.read(), re.M)
        os.unlink(name)
        fields.setdefault("PowerDownOnIdle", "YES" if line and "PowerDownOnIdle=YES" in line.group(0) else "NO")
    return fields


def refused(c, what, name, spec):
    """By the API's answer or by a condition; nothing of it is live, and others' edits are."""
    before = c.live("newer")
    answer = c.change("partitions", "newer", spec)
    said = answer.json["message"] if answer.code >= 400 else \
        c.wait_state("partitions", "newer", "Ready", "False", says=name)["message"]
    assert release.needs(what, name) in said, said
    c.change("partitions", "newer", {field: None for field in spec}).ok()
    c.wait_state("partitions", "newer", "Ready", "True", "Applied")
    assert c.live("newer") == before


def shown(c, fields):
    """In slurmctld, and nothing has drifted from it."""
    wait_for(lambda: fields.items() <= live(c).items(), f"{fields}, but {live(c)}")
    c.wait_state("partitions", "newer", "Ready", "True", "Applied")
    wait_for(c.agree, "the files agree")
    assert c.state_of("partitions", "newer", "Drifted").get("status") != "True", c.state_of("partitions", "newer", "Drifted")


@pytest.mark.parametrize("field, key, first, second, without", FIELDS, ids=[f[0] for f in FIELDS])
def test_a_field(cluster, newer, field, key, first, second, without):
    if not release.has(field):
        return refused(cluster, field, field[0].upper() + field[1:], {field: first[0]})
    for value, text in (first, second, first, (None, without)):
        cluster.change("partitions", "newer", {field: value}).ok()
        shown(cluster, {key: text})
    return None


def test_exclusive(cluster, newer):
    """From each of its values to each other, and away."""
    if not release.has("exclusive"):
        refused(cluster, "exclusive", "Exclusive", {"exclusive": "NODE"})
        return
    for value in itertools.chain.from_iterable(itertools.permutations([None, "NODE", "USER", "TOPO", "NO"], 2)):
        cluster.change("partitions", "newer", {"exclusive": value}).ok()
        shown(cluster, {"Exclusive": value or "NO"})
    cluster.change("partitions", "newer", {"exclusive": None}).ok()
    shown(cluster, {"Exclusive": "NO"})


def test_signs_in_a_list_of_nodes_are_for_scontrol(cluster, newer):
    """Slurm takes nodes+= from 23.11 on; a declaration says what is to be, on every release."""
    before = cluster.live("newer")
    answer = cluster.change("partitions", "newer", {"nodeSetRefs": None, "nodes": "+compute-0"})
    assert answer.code >= 400 and "a declaration names all nodes" in answer.json["message"], answer.json
    assert cluster.live("newer") == before


@pytest.mark.slurmctld_ends
def test_a_setting_of_a_later_release_outlives_slurmctld(cluster, newer):
    """It is in the file, too: slurmctld starts with it."""
    spec = {field: first[0] for field, _, first, *_ in FIELDS if release.has(field)}
    if not spec:
        pytest.skip("this release has none of them")
    fields = {key: first[1] for field, key, first, *_ in FIELDS if release.has(field)}
    cluster.change("partitions", "newer", spec).ok()
    shown(cluster, fields)
    cluster.kubectl("delete", "pod", "slurm-controller-0", "--wait=false")
    cluster.wait_rolled()
    cluster.wait_slurmctld()
    shown(cluster, fields)
    cluster.change("partitions", "newer", dict.fromkeys(spec)).ok()
    shown(cluster, {key: without for field, key, _, _, without in FIELDS if release.has(field)})


# files of a topology, and functions that name their parts

SWITCHES = "SwitchName=left Nodes=compute-[0-1]\nSwitchName=right Nodes=compute-2\nSwitchName=top Switches=left,right\n"


def yaml(left, right):
    return ("- topology: plain\n  cluster_default: true\n  flat: true\n"
            "- topology: racks\n  cluster_default: false\n  tree:\n    switches:\n"
            f"      - switch: left\n        nodes: {left}\n"
            f"      - switch: right\n        nodes: {right}\n"
            "      - switch: top\n        children: left,right\n")


class Files:
    """A ConfigMap of files beside slurm.conf, and what extraConf says for it; taken back at the end."""

    def __init__(self, cluster, extra="", **files):
        self.c, self.extra = cluster, extra
        self.files = {name.replace("_", "."): text for name, text in files.items()}

    def __enter__(self):
        self.was = self.c.object("controllers", "slurm")["spec"].get("extraConf")
        self.c.make("configmaps", "later", data=self.files).ok()
        self.answer = self.c.change("controllers", "slurm", {"configFileRefs": [{"name": "later"}],
                                                             "extraConf": (self.was or "") + self.extra})
        return self

    def __exit__(self, *_):
        self.c.change("controllers", "slurm", {"configFileRefs": None, "extraConf": self.was}).ok()
        self.c.remove("configmaps", "later")
        self.settle()

    def settle(self):
        self.c.wait_applied(60)
        self.c.wait_rolled()
        self.c.wait_slurmctld()

    def rewrite(self, **files):
        data = {name.replace("_", "."): text for name, text in files.items()}
        self.c.api.patch(path("configmaps", "later"), {"data": data}).ok()


def below(c, switch):
    """The nodes of a switch of the topology racks."""
    shown = c.slurm("scontrol", "show", "topology", "racks", check=False).stdout
    found = re.search(rf"^SwitchName={switch} .*Nodes=(\S+)", shown, re.M)
    return found and found.group(1)


@pytest.mark.slurmctld_ends
def test_topology_yaml_and_the_topology_of_a_partition(cluster, newer):
    with Files(cluster, topology_yaml=yaml("compute-[0-1]", "compute-2")) as files:
        if not release.has("topology.yaml"):
            said = files.answer.json["message"] if files.answer.code >= 400 else \
                cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", says="topology.yaml")["message"]
            assert release.needs("topology.yaml", "topology.yaml") + "; write topology.conf" in said, said
            refused_topology(cluster)
            return
        files.settle()
        for value in ("racks", "plain", "racks", None):
            cluster.change("partitions", "newer", {"topology": value}).ok()
            wait_for(lambda: cluster.live("newer").get("Topology", "N/A") == (value or "N/A"),
                     f"{value}: {cluster.live('newer')}")
            cluster.wait_state("partitions", "newer", "Ready", "True", "Applied")
        wait_for(lambda: below(cluster, "left") == "compute-[0-1]", "the topology is known")
        unknown_topology(cluster)
        files.rewrite(topology_yaml=yaml("compute-0", "compute-[1-2]"))
        wait_for(lambda: below(cluster, "right") == "compute-[1-2]", "the changed topology is known")


def refused_topology(c):
    before = c.live("newer")
    answer = c.change("partitions", "newer", {"topology": "racks"})
    said = answer.json["message"] if answer.code >= 400 else \
        c.wait_state("partitions", "newer", "Ready", "False", says="Topology")["message"]
    assert release.needs("topology", "Topology") in said, said
    c.change("partitions", "newer", {"topology": None}).ok()
    assert c.live("newer") == before


def unknown_topology(c):
    """One that the file does not have stays with its partition."""
    c.change("partitions", "newer", {"topology": "nowhere"}).ok()
    c.wait_state("partitions", "newer", "Ready", "False", "Refused")
    c.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=77"}}).ok()
    c.wait_live("compute", MaxTime="01:17:00")
    c.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
    c.change("partitions", "newer", {"topology": None}).ok()
    c.wait_state("partitions", "newer", "Ready", "True", "Applied")


def racked(place):
    return {"replicas": 1, "extraConf": f"Topology={place}"}


@pytest.mark.slurmctld_ends
def test_the_topology_of_nodes(cluster):
    """A NodeSet says where its nodes are; another place is live in the pod that runs."""
    if not release.has("topology of nodes"):
        answer = cluster.make("nodesets", "racked", racked("racks:left"))
        assert answer.code >= 400 and release.needs("topology of nodes", "Topology") in answer.json["message"], answer.json
        return
    with Files(cluster, topology_yaml=yaml("compute-[0-1]", "compute-2")) as files:
        files.settle()
        try:
            cluster.make("nodesets", "racked", racked("racks:left")).ok()
            cluster.wait_state("nodesets", "racked", "NodesApplied", "True", "AsDeclared", seconds=60)
            uid = cluster.object("pods", "racked-0")["metadata"]["uid"]
            for place in ("left", "right", "left"):
                cluster.change("nodesets", "racked", {"extraConf": f"Topology=racks:{place}"}).ok()
                wait_for(lambda: f"Topology=racks:{place}" in
                         cluster.slurm("scontrol", "-o", "show", "node", "racked-0").stdout, f"racked-0 is {place}")
                wait_for(lambda: "racked-0" in (below(cluster, place) or ""), f"{place} has racked-0: {below(cluster, place)}")
            assert cluster.object("pods", "racked-0")["metadata"]["uid"] == uid
        finally:
            cluster.remove_all("nodesets", "racked", seconds=60)


@pytest.mark.slurmctld_ends
def test_functions_in_lists_of_nodes(cluster, newer):
    if not release.has("functions in lists of nodes"):
        answer = cluster.change("partitions", "newer", {"nodeSetRefs": None, "nodes": "switch{left}"})
        said = answer.json["message"] if answer.code >= 400 else \
            cluster.wait_state("partitions", "newer", "Ready", "False", says="braces")["message"]
        assert "has a function in braces, which needs Slurm 24.11; this cluster runs " + release.series() in said, said
        cluster.change("partitions", "newer", {"nodeSetRefs": [{"name": "compute"}], "nodes": None}).ok()
        return
    with Files(cluster, "TopologyPlugin=topology/tree\n", topology_conf=SWITCHES) as files:
        files.settle()
        for nodes, hosts in (("switch{left}", "compute-[0-1]"), ("switch{right}", "compute-2")):
            cluster.change("partitions", "newer", {"nodeSetRefs": None, "nodes": nodes}).ok()
            cluster.wait_state("partitions", "newer", "Ready", "True", "Applied")
            cluster.wait_live("newer", Nodes=hosts)
        cluster.kubectl("delete", "pod", "slurm-controller-0", "--wait=false")
        files.settle()
        cluster.wait_live("newer", Nodes="compute-2")
        cluster.change("partitions", "newer", {"nodeSetRefs": [{"name": "compute"}], "nodes": None}).ok()
        cluster.wait_live("newer", Nodes="compute-[0-2]")


def page(c, name):
    """One of slurmctld's own pages; None: there is none."""
    pid = c.slurmctld()
    done = pid and run("nsenter", "-t", str(pid), "-n", "curl", "-sf", "-m", "5", f"http://127.0.0.1:6817/{name}", check=False)
    return done.stdout if done and done.returncode == 0 else None


@pytest.mark.slurmctld_ends
def test_metrics_of_slurmctld(cluster):
    """Served while they are asked for; a release without them goes on without, and its author is told."""
    answer = cluster.change("controllers", "slurm", {"metrics": {"enabled": True}})
    answer.ok()
    try:
        if not release.has("openmetrics"):
            assert "slurmctld has metrics from Slurm 25.11 on" in str(answer.warnings), answer.warnings
            cluster.wait_applied()
            assert "MetricsType" not in cluster.declared_conf()
            return
        wait_for(lambda: "slurm_nodes" in (page(cluster, "metrics/nodes") or ""), "metrics are served", 60)
        assert "slurm_partition" in page(cluster, "metrics/partitions")
    finally:
        cluster.change("controllers", "slurm", {"metrics": None}).ok()
        cluster.wait_applied(60)
    wait_for(lambda: "slurm_nodes" not in (page(cluster, "metrics/nodes") or ""), "metrics are served no more", 60)
