# SPDX-License-Identifier: GPL-2.0-or-later
"""The kind Partition as deploy/crds defines it: what any API server makes of its objects.

What only our admission knows (names that are taken, values in Slurm's language) is marked so.
"""
import pathlib
import threading
import time

import pytest
import yaml

from lib.client import Api

TOP = pathlib.Path(__file__).resolve().parents[2]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "/apis/slurmkeeper.dev/v1alpha1"


def established(crd):
    return any(c["type"] == "Established" and c["status"] == "True"
               for c in (crd.get("status") or {}).get("conditions") or [])


@pytest.fixture(scope="module")
def partitions(api):
    text = (TOP / "deploy/crds/slurmkeeper.dev_partitions.yaml").read_text(encoding="utf-8")
    crd = yaml.safe_load(text)
    url = f"{CRDS}/{crd['metadata']['name']}"
    made = api.post(CRDS, crd)
    if made.code != 409:
        made.ok(201)
    api.until(url, lambda r: r.code == 200 and established(r.json))
    api.until(GROUP, lambda r: r.code == 200)
    yield crd
    if made.code == 201:
        api.delete(url)
        api.until_gone(url)


def at(ns, name=None):
    return f"{GROUP}/namespaces/{ns.name}/partitions" + (f"/{name}" if name else "")


def make(name="debug", **spec):
    return {"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition",
            "metadata": {"name": name}, "spec": {"controllerRef": {"name": "lab"}, **spec}}


def create(api, ns, **spec):
    return api.post(at(ns), make(**spec))


def test_what_is_left_out_is_left_to_slurm(api, ns, partitions):
    spec = create(api, ns, all=True).ok(201)["spec"]
    assert spec == {"controllerRef": {"name": "lab"}, "all": True, "state": "UP"}


def test_settings_are_kept_as_written(api, ns, partitions):
    given = {"nodeSetRefs": [{"name": "a"}, {"name": "b"}], "nodes": "r[1-4]", "maxTime": 60,
             "defaultTime": "1-00:00:00", "default": False, "maxNodes": "UNLIMITED",
             "allowGroups": ["x", "y"], "oversubscribe": "FORCE:2", "priorityTier": 0,
             "config": "SelectTypeParameters=CR_Core"}
    spec = create(api, ns, **given).ok(201)["spec"]
    assert {k: spec[k] for k in given} == given


def test_unknown_settings_are_dropped(api, ns, partitions):
    assert "colour" not in create(api, ns, all=True, colour="red").ok(201)["spec"]


@pytest.mark.parametrize("spec, field", [
    ({"all": True, "state": "SIDEWAYS"}, "spec.state"),
    ({"all": True, "maxTime": True}, "spec.maxTime"),
    ({"all": True, "default": "yes"}, "spec.default"),
    ({"all": True, "priorityTier": -1}, "spec.priorityTier"),
    ({"all": True, "allowGroups": ["a", "a"]}, "spec.allowGroups[1]"),
    ({"all": True, "config": "LLN=YES\nHidden=YES"}, "spec.config"),
    ({"nodeSetRefs": "compute"}, "spec.nodeSetRefs"),
    ({"all": True, "controllerRef": None}, "spec.controllerRef"),
])
def test_bad_settings_name_their_field(api, ns, partitions, spec, field):
    status = create(api, ns, **spec).fails(422, "Invalid")
    assert field in [c["field"] for c in status["details"]["causes"]]


@pytest.mark.since(25, "rules in CEL")
def test_all_leaves_no_room_for_others(api, ns, partitions):
    status = create(api, ns, all=True, nodes="n1").fails(422, "Invalid")
    assert "nodeSetRefs and nodes" in status["message"]


@pytest.mark.embedded
@pytest.mark.parametrize("spec, words", [
    ({"all": True, "maxTime": "soon"}, "spec.maxTime: Invalid value: \"soon\": is not a time"),
    ({"all": True, "maxTime": 1, "config": "MaxTime=2"}, "MaxTime is set by spec.maxTime already"),
    ({"all": True, "partitionName": "DEFAULT"}, "spec.partitionName"),
    ({}, "must name the NodeSets of the partition"),
])
def test_slurm_has_its_say(api, ns, partitions, spec, words):
    assert words in create(api, ns, **spec).fails(422, "Invalid")["message"]


@pytest.mark.embedded
def test_what_is_missing_is_a_warning(api, ns, partitions):
    answer = create(api, ns, nodeSetRefs=[{"name": "nil"}])
    answer.ok(201)
    assert any("there is no NodeSet nil" in w for w in answer.warnings)
    assert any("there is no Controller lab" in w for w in answer.warnings)


@pytest.mark.embedded
def test_a_name_is_taken_once_in_a_cluster(api, ns, partitions):
    api.post(at(ns), make("one", all=True, partitionName="x")).ok(201)
    api.post(at(ns), make("two", all=True, partitionName="x")).fails(422, "Invalid")
    other = make("two", all=True, partitionName="x")
    other["spec"]["controllerRef"]["name"] = "elsewhere"
    api.post(at(ns), other).ok(201)


@pytest.mark.embedded
def test_a_name_is_free_again_when_it_is_given_up(api, ns, partitions):
    api.post(at(ns), make("one", all=True, partitionName="x")).ok(201)
    api.patch(at(ns, "one"), {"spec": {"maxTime": 1}}).ok()
    api.post(at(ns), make("two", all=True, partitionName="x")).fails(422, "Invalid")
    api.delete(at(ns, "one")).ok()
    api.until_gone(at(ns, "one"))
    api.post(at(ns), make("two", all=True, partitionName="x")).ok(201)
    api.post(at(ns), make("x", all=True)).fails(422, "Invalid")


@pytest.mark.embedded
def test_of_many_at_once_one_gets_the_name(config, api, ns, partitions):
    codes = []

    def work(number):
        codes.append(Api(config).post(at(ns), make(f"p{number}", all=True, partitionName="x")).code)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(codes) == [201] + [422] * 11


def test_status_is_a_resource_of_its_own(api, ns, partitions):
    made = create(api, ns, all=True).ok(201)
    status = {"state": "DRAIN", "totalNodes": 3, "runningJobs": 0, "live": {"LLN": "NO"},
              "drift": [{"field": "State", "declared": "UP", "live": "DRAIN"}]}
    api.patch(at(ns, "debug"), {"status": status}).ok()
    assert "status" not in api.get(at(ns, "debug")).ok()
    now = api.patch(at(ns, "debug") + "/status", {"status": status, "spec": {"state": "DOWN"}}).ok()
    assert now["status"] == status
    assert now["spec"]["state"] == "UP"
    assert now["metadata"]["generation"] == made["metadata"]["generation"]


def test_kubectl_shows_it(kubectl, api, ns, partitions):
    create(api, ns, all=True).ok(201)
    api.patch(at(ns, "debug") + "/status", {"status": {
        "state": "UP", "totalNodes": 3, "runningJobs": 1, "pendingJobs": 0,
        "conditions": [{"type": "Ready", "status": "True", "reason": "Applied", "message": "",
                        "lastTransitionTime": "2026-01-09T10:00:00Z"}]}}).ok()
    for name in ("partitions", "partition", "part", "parts", "partitions.slurmkeeper.dev"):
        head, row = kubectl("get", name).out.splitlines()
        assert head.split() == ["NAME", "STATE", "NODES", "RUNNING", "PENDING", "READY", "AGE"]
        assert row.split()[:6] == ["debug", "UP", "3", "1", "0", "True"]


def test_kubectl_explains_it(kubectl, api, ns, partitions):
    def explain():
        return kubectl("explain", "partition.spec.preemptMode").out

    until = time.monotonic() + 20  # a server needs its time to publish a new kind
    while True:
        try:
            words = explain()
            break
        except AssertionError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)
    assert "What happens to jobs that are preempted" in words


def test_kubectl_patches_the_state(kubectl, api, ns, partitions):
    create(api, ns, all=True).ok(201)
    kubectl("patch", "partition", "debug", "--type=merge", "-p", '{"spec":{"state":"DRAIN"}}')
    assert api.get(at(ns, "debug")).ok()["spec"]["state"] == "DRAIN"
