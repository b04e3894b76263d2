# SPDX-License-Identifier: GPL-2.0-or-later
"""Partitions become lines of slurm.conf, and say what became of them.

The cases build on one another.  No slurmctld runs here: what is live is not known.
"""
import time

import pytest

from conftest import TOP, eventually

NS = "parts"
CLUSTER = """
apiVersion: v1
kind: Namespace
metadata: {name: parts}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab, namespace: parts}
spec:
  extraConf: |
    PartitionName=taken Nodes=ALL
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute, namespace: parts}
spec: {controllerRef: {name: lab}, replicas: 1, partition: {enabled: true}}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: gpu, namespace: parts}
spec: {controllerRef: {name: lab}, replicas: 1}
"""


def partition(name, more):
    return f"""
apiVersion: slurmkeeper.dev/v1alpha1
kind: Partition
metadata: {{name: {name}, namespace: parts}}
spec:
  controllerRef: {{name: lab}}
  {more}
"""


def lines(cluster):
    conf = cluster.get("configmap", "lab-config", NS)["data"]["slurm.conf"]
    return [line for line in conf.splitlines() if line.startswith("PartitionName=")]


def ready(cluster, name):
    c = cluster.condition("partition", name, "Ready", NS)
    return (c["status"], c["reason"]) if c else None


def refused(cluster, text):
    with pytest.raises(AssertionError) as problem:
        cluster.apply(text)
    return str(problem.value)


@pytest.fixture(scope="module")
def lab(cluster):
    if "operator" not in cluster.children:
        cluster.kubectl("apply", "-f", str(TOP / "deploy/crds"))
        cluster.start_operator("--no-agent")
    cluster.apply(CLUSTER)
    eventually(lambda: "PartitionName=taken Nodes=ALL" in lines(cluster), "slurm.conf")
    return cluster


def test_a_partition_is_a_line(lab):
    lab.apply(partition("debug", "nodeSetRefs: [{name: compute}, {name: gpu}]\n  maxTime: 60\n"
                        "  default: true"))
    line = "PartitionName=debug Nodes=compute,gpu State=UP Default=YES MaxTime=60"
    eventually(lambda: line in lines(lab), "its line")
    assert lines(lab) == ["PartitionName=compute Nodes=compute ", line,
                          "PartitionName=taken Nodes=ALL"]
    eventually(lambda: ready(lab, "debug") == ("Unknown", "Written"), "the condition")
    o = lab.get("partition", "debug", NS)
    assert o["status"]["line"] == line
    assert o["status"]["observedGeneration"] == o["metadata"]["generation"]
    assert o["metadata"]["finalizers"] == ["slurmkeeper.dev/partition"]


def test_a_drain_is_in_the_file_at_once(lab):
    start = time.monotonic()
    lab.kubectl("patch", "partition", "debug", "-n", NS, "--type=merge", "-p",
                '{"spec":{"state":"DRAIN"}}')
    eventually(lambda: "State=DRAIN" in lines(lab)[1], "the new state")
    assert time.monotonic() - start < 3
    eventually(lambda: lab.get("partition", "debug", NS)["status"]["observedGeneration"] == 2,
               "the status")


def test_kubectl_knows_it_well(lab):
    table = lab.kubectl("get", "part", "-n", NS)
    assert table.split()[:7] == ["NAME", "STATE", "NODES", "RUNNING", "PENDING", "READY", "AGE"]
    words = lab.kubectl("explain", "partition.spec.maxTime")
    assert "UNLIMITED" in words
    assert "slurm.conf" in lab.kubectl("explain", "partition.spec.config")
    assert "debug" in lab.kubectl("get", "slurm", "-n", NS)


@pytest.mark.parametrize("more, words", [
    ("all: true\n  maxTime: soon", "spec.maxTime"),
    ("all: true\n  maxTime: 5\n  config: MaxTime=6", "set by spec.maxTime already"),
    ("all: true\n  partitionName: taken", "Controller lab (extraConf)"),
    ("all: true\n  partitionName: compute", "NodeSet compute"),
    ("all: true\n  partitionName: debug", "Partition debug"),
    ("all: true\n  nodes: n1", "all"),
    ("maxTime: 5", "must name the NodeSets"),
    ("all: true\n  state: SIDEWAYS", "spec.state"),
])
def test_bad_ones_are_refused(lab, more, words):
    assert words in refused(lab, partition("bad", more))


def test_a_missing_nodeset_is_warned_about_and_told(lab):
    lab.apply(partition("half", "nodeSetRefs: [{name: gpu}, {name: later}]"))
    eventually(lambda: "PartitionName=half Nodes=gpu State=UP" in lines(lab), "its line")
    eventually(lambda: ready(lab, "half") == ("False", "NodeSetNotFound"), "the condition")
    eventually(lambda: [e for e in lab.get("events", ns=NS) if e["reason"] == "NodeSetNotFound"],
               "the event")
    lab.apply("""
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: later, namespace: parts}
spec: {controllerRef: {name: lab}, replicas: 0}
""")
    eventually(lambda: "PartitionName=half Nodes=gpu,later State=UP" in lines(lab), "all its nodes")
    eventually(lambda: ready(lab, "half") == ("Unknown", "Written"), "the condition")
    lab.kubectl("delete", "nodeset", "later", "-n", NS, "--timeout=20s")
    eventually(lambda: "PartitionName=half Nodes=gpu State=UP" in lines(lab), "what is left")
    eventually(lambda: ready(lab, "half") == ("False", "NodeSetNotFound"), "the condition")


def test_a_bad_one_leaves_the_rest_alone(lab):
    # Which hosts there are shows only in the whole file: admission cannot tell.
    lab.apply(partition("hosts", "nodes: nowhere[1-4]"))
    eventually(lambda: ready(lab, "hosts") == ("False", "Invalid"), "the condition")
    assert not [line for line in lines(lab) if "hosts" in line]
    eventually(lambda: lab.condition("controller", "lab", "PartitionsAccepted", NS),
               "the Controller's word")
    lab.kubectl("patch", "partition", "debug", "-n", NS, "--type=merge", "-p",
                '{"spec":{"state":"UP"}}')
    eventually(lambda: "State=UP" in lines(lab)[1], "the others' changes")
    # With the hosts it is taken in.
    lab.kubectl("patch", "controller", "lab", "-n", NS, "--type=merge", "-p",
                '{"spec":{"extraConf":"NodeName=nowhere[1-4] State=CLOUD\\n'
                'PartitionName=taken Nodes=ALL\\n"}}')
    eventually(lambda: "PartitionName=hosts Nodes=nowhere[1-4] State=UP" in lines(lab), "its line")
    eventually(lambda: ready(lab, "hosts") == ("Unknown", "Written"), "the condition")
    eventually(lambda: not lab.condition("controller", "lab", "PartitionsAccepted", NS),
               "the Controller's silence")


def test_one_default(lab):
    lab.apply(partition("other", "all: true\n  default: true"))
    eventually(lambda: "PartitionName=other Nodes=ALL State=UP" in lines(lab), "its line")
    eventually(lambda: lab.condition("partition", "other", "Default", NS), "the condition")
    lab.kubectl("patch", "partition", "debug", "-n", NS, "--type=merge", "-p",
                '{"spec":{"default":false}}')
    eventually(lambda: "PartitionName=other Nodes=ALL State=UP Default=YES" in lines(lab),
               "the next default")
    eventually(lambda: not lab.condition("partition", "other", "Default", NS), "the condition's end")


def test_a_deleted_one_goes_with_its_line(lab):
    for name in ("debug", "half", "hosts", "other"):
        lab.kubectl("delete", "partition", name, "-n", NS, "--timeout=20s")
    assert lines(lab) == ["PartitionName=compute Nodes=compute ", "PartitionName=taken Nodes=ALL"]
    assert lab.get("partitions", ns=NS) == []


def test_the_example_works(lab):
    """As the README has it: after the quick start, and after its partition was edited."""
    ns = "parts-example"
    lab.kubectl("create", "namespace", ns)
    lab.kubectl("apply", "--server-side", "-f", str(TOP / "examples/quickstart.yaml"), "-n", ns)
    lab.kubectl("patch", "nodeset", "compute", "-n", ns, "--type=merge", "-p",
                '{"spec":{"partition":{"config":"Default=YES MaxTime=1:00:00"}}}')
    lab.kubectl("apply", "-f", str(TOP / "examples/partition.yaml"), "-n", ns)
    eventually(lambda: len(lab.get("partitions", ns=ns)) == 3, "three Partitions")
    eventually(lambda: "PartitionName=maintenance Nodes=ALL" in
               lab.get("configmap", "slurm-config", ns)["data"]["slurm.conf"], "their lines")
    conf = lab.get("configmap", "slurm-config", ns)["data"]["slurm.conf"]
    assert [line.split()[0] for line in conf.splitlines() if "Default=YES" in line] == ["PartitionName=batch"]
    for one in lab.get("partitions", ns=ns):
        assert "Default" not in [c["type"] for c in one.get("status", {}).get("conditions", [])]
