# SPDX-License-Identifier: GPL-2.0-or-later
"""Which pods the one node takes, and what the others are told."""
import json

from cluster import condition, container, pod, sleeper, wait_for


def unschedulable(cluster, name):
    def look():
        seen = cluster.get("pod", name)
        for c in seen["status"].get("conditions", []):
            if c["type"] == "PodScheduled" and c["status"] == "False":
                return c["message"]
        return None
    return wait_for(look, f"{name} is refused")


def test_the_node_tells_what_it_has(cluster):
    node = json.loads(cluster.kubectl("get", "nodes", "-o", "json").stdout)["items"][0]
    assert int(node["status"]["allocatable"]["cpu"]) >= 1
    assert node["status"]["allocatable"]["memory"].endswith("Ki")
    assert node["metadata"]["labels"]["kubernetes.io/os"] == "linux"
    lease = json.loads(cluster.kubectl("get", "lease", "-n", "kube-node-lease", "-o", "json").stdout)["items"][0]
    assert lease["spec"]["holderIdentity"] == node["metadata"]["name"]


def test_too_much_is_refused_with_the_reason(cluster, pods):
    name = pods("big")
    cluster.apply(pod(name, container(["sleep", "9"], resources={"requests": {"cpu": "999", "memory": "1Ki"}})))
    assert unschedulable(cluster, name) == "0/1 nodes are available: 1 Insufficient cpu."
    assert ("FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu.") in cluster.events(name)
    assert cluster.kubectl("get", "pod", name, "--no-headers").stdout.split()[2] == "Pending"


def test_a_pod_waits_until_another_makes_room(cluster, pods):
    a, b = pods("room"), pods("waits")
    node = json.loads(cluster.kubectl("get", "nodes", "-o", "json").stdout)["items"][0]
    memory = int(node["status"]["allocatable"]["memory"][:-2])
    half = {"requests": {"memory": f"{memory * 6 // 10}Ki"}}
    cluster.apply(pod(a, container(["sleep", "99"], resources=half)))
    cluster.wait_ready(a)
    cluster.apply(pod(b, container(["sleep", "99"], resources=half)))
    assert "Insufficient memory" in unschedulable(cluster, b)
    cluster.kubectl("delete", "pod", a)
    cluster.wait_ready(b)


def test_selectors_taints_and_cordons_count(own_cluster):
    c = own_cluster
    node = c.kubectl("get", "nodes", "-o", "name").stdout.strip()
    c.apply(sleeper("picky", nodeSelector={"disk": "ssd"}))
    assert "didn't match Pod's node affinity/selector" in unschedulable(c, "picky")
    c.kubectl("label", node, "disk=ssd")
    c.wait_ready("picky")
    c.kubectl("cordon", node.split("/")[1])
    c.apply(sleeper("cordoned"))
    assert "unschedulable" in unschedulable(c, "cordoned")
    c.kubectl("uncordon", node.split("/")[1])
    c.wait_ready("cordoned")
    c.kubectl("taint", "node", node.split("/")[1], "k=v:NoSchedule")
    c.apply(sleeper("tainted"), sleeper("tolerant", tolerations=[{"key": "k", "operator": "Exists"}]))
    assert "untolerated taint {k: v}" in unschedulable(c, "tainted")
    c.wait_ready("tolerant")
    c.kubectl("delete", node)
    wait_for(lambda: c.node_ready(), "the Node is made again")


def test_many_pods_at_once(cluster, pods):
    names = [pods("many") for _ in range(12)]
    cluster.apply(*[sleeper(n) for n in names])
    for n in names:
        cluster.wait_ready(n, 60)
