# SPDX-License-Identifier: GPL-2.0-or-later
"""HorizontalPodAutoscalers (autoscaling/v2): kept, checked and listed."""
import pytest

from lib.client import TABLE

pytestmark = pytest.mark.since(23, "autoscaling/v2")
CPU = {"type": "Resource", "resource": {
    "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
PODS = {"type": "Pods", "pods": {
    "metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "1k"}}}


def autoscaler(name, **spec):
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name}, "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "maxReplicas": 5, **spec}}


@pytest.fixture
def url(ns):
    return f"/apis/autoscaling/v2/namespaces/{ns.name}/horizontalpodautoscalers"


def test_one_without_metrics_gets_a_target_for_cpu(api, url):
    made = api.post(url, autoscaler("a")).ok(201)
    assert made["spec"]["minReplicas"] == 1
    assert made["spec"]["metrics"] == [{"type": "Resource", "resource": {
        "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]
    assert "behavior" not in made["spec"]
    assert made["status"]["desiredReplicas"] == 0


def test_a_behavior_gets_the_rules_that_it_leaves_out(api, url):
    made = api.post(url, autoscaler("a", behavior={"scaleDown": {"selectPolicy": "Min"}})).ok(201)
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    assert made["spec"]["behavior"] == {
        "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15}, percent]},
        "scaleDown": {"selectPolicy": "Min", "policies": [percent]}}


def test_it_is_changed_and_deleted_as_others(api, url):
    api.post(url, autoscaler("a")).ok(201)
    changed = api.patch(url + "/a", {"spec": {"maxReplicas": 9}}).ok(200)
    assert changed["spec"]["maxReplicas"] == 9
    api.patch(url + "/a", {"status": {"currentReplicas": 3}}).ok(200)
    assert api.get(url + "/a").ok(200)["status"].get("currentReplicas") is None
    api.patch(url + "/a/status", {"status": {"currentReplicas": 3, "desiredReplicas": 4}}).ok(200)
    assert api.get(url + "/a").ok(200)["status"]["currentReplicas"] == 3
    assert [i["metadata"]["name"] for i in api.get(url).ok(200)["items"]] == ["a"]
    api.delete(url + "/a").ok(200)
    api.until_gone(url + "/a")


BAD = [
    ({"maxReplicas": 0},
     "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`"),
    ({"minReplicas": 0},
     "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"),
    ({"minReplicas": 7},
     "spec.maxReplicas: Invalid value: 5: must be greater than or equal to `minReplicas`"),
    ({"scaleTargetRef": {"kind": "", "name": "x"}}, "spec.scaleTargetRef.kind: Required value"),
    ({"scaleTargetRef": {"kind": "X", "name": ""}}, "spec.scaleTargetRef.name: Required value"),
    ({"metrics": [{"type": ""}]},
     "spec.metrics[0].type: Required value: must specify a metric source type"),
    ({"metrics": [{"type": "Luck"}]},
     'spec.metrics[0].type: Unsupported value: "Luck": supported values: "ContainerResource", '
     '"External", "Object", "Pods", "Resource"'),
    ({"metrics": [{"type": "Pods"}]},
     "spec.metrics[0].pods: Required value: must populate information for the given metric source"),
    ({"metrics": [{**CPU, "pods": PODS["pods"]}]},
     "spec.metrics[0].pods: Forbidden: must populate the given metric source only"),
    ({"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Value"}}}]},
     "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target "
     "raw value or a target utilization"),
    ({"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {
        "type": "Utilization", "averageUtilization": 0}}}]},
     "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0"),
]


@pytest.mark.parametrize("spec, text", BAD, ids=range(len(BAD)))
def test_a_bad_one_is_refused(api, url, spec, text):
    status = api.post(url, autoscaler("a", **spec)).fails(422, "Invalid")
    assert text in status["message"]


def test_its_table_shows_targets(api, url):
    api.post(url, autoscaler("a", metrics=[CPU, PODS, PODS])).ok(201)
    table = api.get(url, headers={"Accept": TABLE}).ok(200)
    assert [c["name"] for c in table["columnDefinitions"]] == [
        "Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"]
    targets = table["rows"][0]["cells"][2]
    assert table["rows"][0]["cells"][:2] == ["a", "Deployment/web"]
    assert table["rows"][0]["cells"][3:6] == ["1", 5, 0]
    assert targets == "cpu: <unknown>/50%, <unknown>/1k + 1 more..."


def test_kubectl_applies_and_shows_it(kubectl):
    if kubectl.minor < 23:
        pytest.skip("kubectl of before autoscaling/v2")
    kubectl("apply", "-f", "-", stdin=autoscaler("a", metrics=[CPU]))
    assert "Deployment/web" in kubectl("get", "hpa", "a").out
    assert "horizontalpodautoscaler.autoscaling/a" in kubectl("get", "all").out
