# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of nodes and pods that no machine can bear are refused, or not acted on.

Definitions are those of deploy/crds; the rules behind them are the embedded server's admission.
"""
import pathlib
import time

import pytest
import yaml

from lib import objects

pytestmark = pytest.mark.embedded
TOP = pathlib.Path(__file__).resolve().parents[2]
GROUP = "slinky.slurm.net/v1beta1"


@pytest.fixture(scope="module")
def kinds(api):
    made = []
    for kind in ("controllers", "nodesets"):
        crd = yaml.safe_load((TOP / f"deploy/crds/slinky.slurm.net_{kind}.yaml").read_text())
        if api.post(objects.CRDS, crd).code == 201:
            made.append(f"{objects.CRDS}/{crd['metadata']['name']}")
        api.until(f"/apis/{GROUP}/{kind}", lambda a: a.code == 200)
    yield
    for url in made:
        api.delete(url)


def at(ns, kind, name=None, sub=None):
    return "/".join(filter(None, [f"/apis/{GROUP}/namespaces/{ns.name}/{kind}", name, sub]))


def nodeset(name="compute", replicas=1):
    return {"apiVersion": GROUP, "kind": "NodeSet", "metadata": {"name": name},
            "spec": {"controllerRef": {"name": "slurm"}, "replicas": replicas}}


def controller(conf):
    return {"apiVersion": GROUP, "kind": "Controller", "metadata": {"name": "slurm"},
            "spec": {"extraConf": conf}}


@pytest.fixture
def cluster(api, ns, kinds):
    api.post(at(ns, "controllers"), controller("MaxNodeCount=10")).ok(201)
    api.post(at(ns, "nodesets"), nodeset("other", 6)).ok(201)
    api.post(at(ns, "nodesets"), nodeset("compute", 1)).ok(201)
    return ns


def refused(answer, *words):
    assert answer.code == 422, repr(answer)
    for word in ("replicas", *words):
        assert word in answer.json["message"], repr(answer)


def test_too_many_nodes_are_refused_by_every_verb(api, cluster):
    url = at(cluster, "nodesets", "compute")
    why = ("10", "MaxNodeCount", "Controller slurm")
    refused(api.post(at(cluster, "nodesets"), nodeset("third", 5)), *why)
    whole = api.get(url).ok(200)
    whole["spec"]["replicas"] = 5
    refused(api.put(url, whole), *why)
    refused(api.patch(url, {"spec": {"replicas": 5}}), *why)
    refused(api.patch(url, [{"op": "replace", "path": "/spec/replicas", "value": 5}], "json"), *why)
    refused(api.apply(url, nodeset("compute", 5), "me", force=True), *why)
    refused(api.patch(at(cluster, "nodesets", "compute", "scale"), {"spec": {"replicas": 5}}), *why)
    scale = api.get(at(cluster, "nodesets", "compute", "scale")).ok(200)
    scale["spec"]["replicas"] = 5
    refused(api.put(at(cluster, "nodesets", "compute", "scale"), scale), *why)
    assert api.get(url).ok(200)["spec"]["replicas"] == 1
    api.patch(url, {"spec": {"replicas": 4}}).ok(200)


def test_the_largest_number_is_refused_without_a_controller(api, ns, kinds):
    refused(api.post(at(ns, "nodesets"), nodeset(replicas=2147483647)), "65536")


def test_max_node_count_cannot_go_below_what_is_declared(api, cluster):
    answer = api.patch(at(cluster, "controllers", "slurm"),
                       {"spec": {"extraConf": "MaxNodeCount=5"}})
    refused(answer, "MaxNodeCount=5", "7 nodes")


@pytest.mark.parametrize("resource,make", [("statefulsets", objects.statefulset),
                                           ("deployments", objects.deployment)])
def test_pods_that_no_node_takes_are_not_made_by_the_thousand(api, ns, resource, make):
    """There is no node here: what is declared waits, and the server is not filled with it."""
    api.until(ns.url("serviceaccounts", "default"), lambda a: a.code == 200)
    many = make("many", replicas=2147483647)
    if resource == "statefulsets":
        many["spec"]["podManagementPolicy"] = "Parallel"
    ns.create(resource, many)
    api.until(ns.url("pods"), lambda a: len(a.json["items"]) >= 200)
    settled = last = -1
    deadline = time.monotonic() + 10
    while settled < 5 and time.monotonic() < deadline:
        now = len(ns.names("pods"))
        settled, last = (settled + 1, now) if now == last else (0, now)
        time.sleep(0.1)
    assert settled == 5 and last <= 300
    api.delete(ns.url(resource, "many"))
