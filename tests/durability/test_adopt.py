# SPDX-License-Identifier: GPL-2.0-or-later
"""A pod that runs is put back into a store that does not know it, as it was; by administrators alone."""
import json
import uuid

import pytest

from server import Server

PODS = "/api/v1/namespaces/default/pods"
ADOPT = f"{PODS}?slurmkeeperAdopt=true"
SETS = "/apis/apps/v1/namespaces/default/statefulsets"


@pytest.fixture
def api(tmp_path):
    s = Server(tmp_path)
    s.start()
    yield s.api()
    s.kill()


def pod(name="p", **more):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": str(uuid.uuid4()),
                         "resourceVersion": "77", "creationTimestamp": "2026-01-01T00:00:00Z",
                         "labels": {"app": name}, **more},
            "spec": {"nodeName": "here", "restartPolicy": "Always", "containers": [{"name": "c", "image": "i"}]},
            "status": {"phase": "Running", "podIP": "10.0.0.7"}}


def test_uid_age_and_status_stay(api):
    mine = pod()
    got = api.post(ADOPT, mine).ok(201)
    assert got["metadata"]["uid"] == mine["metadata"]["uid"]
    assert got["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert got["metadata"]["resourceVersion"] != "77"
    assert got["status"]["podIP"] == "10.0.0.7" and got["spec"]["nodeName"] == "here"
    assert api.post(ADOPT, mine).code == 409


def test_one_of_the_same_name_gives_way_at_once(api):
    other = api.post(PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}).ok(201)
    before = other["metadata"]["resourceVersion"]
    mine = pod()
    api.post(ADOPT, mine).ok(201)
    watch = api.get(f"{PODS}?watch=true&resourceVersion={before}&timeoutSeconds=1").text
    events = [json.loads(line) for line in watch.splitlines()]
    assert [(e["type"], e["object"]["metadata"]["uid"]) for e in events[-2:]] == \
        [("DELETED", other["metadata"]["uid"]), ("ADDED", mine["metadata"]["uid"])]


def test_owners_are_found_by_name_and_a_pod_without_them_is_refused(api):
    ref = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": str(uuid.uuid4()), "controller": True}
    refused = api.post(ADOPT, pod("s-0", ownerReferences=[ref]))
    assert refused.code == 409 and "StatefulSet s, is not in the store" in refused.text
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    owner = api.post(SETS, {"metadata": {"name": "s"}, "spec": {
        "serviceName": "x", "replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template}}).ok(201)
    got = api.post(ADOPT, pod("s-0", ownerReferences=[ref])).ok(201)
    assert got["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]


def test_a_claim_that_is_not_the_pods_own_refuses_it(api):
    mine = pod()
    mine["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "state"}}]
    refused = api.post(ADOPT, mine)
    assert refused.code == 409 and "storage claim state is not in the store" in refused.text
    api.post("/api/v1/namespaces/default/persistentvolumeclaims", {
        "metadata": {"name": "state"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                                "resources": {"requests": {"storage": "1Gi"}}}}).ok(201)
    refused = api.post(ADOPT, mine)
    assert refused.code == 409 and "younger than the pod" in refused.text
    api.post(f"{PODS}?slurmkeeperAdopt=end", mine).ok(201)  # to be given up it needs no storage
