# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields that came with Kubernetes 1.33 to 1.36: programs of these releases write them."""
import pytest

from lib.objects import node, pod


@pytest.fixture(autouse=True)
def recent(minor, embedded):
    if minor < 35 and not embedded:
        pytest.skip("needs 1.35: the fields")


def test_a_pod_tells_which_generation_was_seen(api, ns):
    ns.create("pods", pod("a"))
    condition = {"type": "Ready", "status": "False", "observedGeneration": 1}
    body = {"status": {"observedGeneration": 1, "conditions": [condition]}}
    stored = api.patch(ns.url("pods", "a", "status"), body, query={"fieldValidation": "Strict"})
    assert stored.ok(200)["status"]["observedGeneration"] == 1
    kept = ns.get("pods", "a")["status"]["conditions"]
    assert [c["observedGeneration"] for c in kept if c["type"] == "Ready"] == [1]


def test_endpoints_may_be_meant_for_nodes(api, ns):
    slice_ = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
              "metadata": {"name": "a"}, "addressType": "IPv4",
              "endpoints": [{"addresses": ["10.1.2.3"], "hints": {"forNodes": [{"name": "n"}]}}]}
    stored = api.post(f"/apis/discovery.k8s.io/v1/namespaces/{ns.name}/endpointslices", slice_,
                      query={"fieldValidation": "Strict"}).ok(201)
    assert stored["endpoints"][0]["hints"] == {"forNodes": [{"name": "n"}]}


def test_a_node_tells_its_swap(api, unique):
    api.post("/api/v1/nodes", node(unique)).ok(201)
    body = {"status": {"nodeInfo": {"swap": {"capacity": 4096}}}}
    stored = api.patch(f"/api/v1/nodes/{unique}/status", body,
                       query={"fieldValidation": "Strict"}).ok(200)
    assert stored["status"]["nodeInfo"]["swap"] == {"capacity": 4096}
    api.delete(f"/api/v1/nodes/{unique}").ok(200)
