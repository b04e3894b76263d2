# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables: the columns and cells that kubectl get prints, for every resource."""
import re

import pytest

from lib.client import TABLE
from lib.objects import (budget, claim, configmap, deployment, endpoints, event, job, lease, node,
                         pod, replicaset, role, secret, service, service_account, statefulset)

AGE = re.compile(r"^(\d+[smhdy])+$|^<unknown>$")


def table(api, path, **kw):
    answer = api.get(path, accept=TABLE, **kw).ok(200)
    assert (answer["kind"], answer["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    return answer


def columns(answer, wide=True):
    return [c["name"] for c in answer["columnDefinitions"] if wide or c["priority"] == 0]


def row(api, ns, resource, name):
    """{column: cell} of one object, by the lower-case name of the column."""
    answer = table(api, ns.url(resource, name))
    one, = answer["rows"]
    return dict(zip([c["name"].lower() for c in answer["columnDefinitions"]], one["cells"]))


def test_a_table_of_a_list(api, ns):
    for name in "ab":
        ns.create("configmaps", configmap(name, {"k": "v"}, labels={"mine": "yes"}))
    answer = table(api, ns.url("configmaps"), query={"labelSelector": "mine"})
    assert re.match(r"^\d+$", answer["metadata"]["resourceVersion"])
    assert [r["cells"][:2] for r in answer["rows"]] == [["a", 1], ["b", 1]]
    first = answer["rows"][0]["object"]
    assert (first["kind"], first["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert first["metadata"]["labels"] == {"mine": "yes"}
    assert "data" not in first


def test_the_definition_of_a_column(api, ns):
    ns.create("configmaps", configmap("a"))
    name = table(api, ns.url("configmaps", "a"))["columnDefinitions"][0]
    assert name["name"] == "Name"
    assert (name["type"], name["format"], name["priority"]) == ("string", "name", 0)
    assert name["description"]


def test_a_table_is_paged(api, ns, widgets):
    for name in "abc":
        api.post(widgets.at(ns), widgets.make(name, {})).ok(201)
    answer = table(api, widgets.at(ns), query={"limit": 2})
    assert len(answer["rows"]) == 2
    assert answer["metadata"]["remainingItemCount"] == 1
    query = {"limit": 2, "continue": answer["metadata"]["continue"]}
    assert [r["cells"][0] for r in table(api, widgets.at(ns), query=query)["rows"]] == ["c"]


def test_an_empty_table_has_columns(api, ns, widgets):
    answer = table(api, widgets.at(ns))
    assert answer["rows"] == []
    assert columns(answer)[0] == "Name"


@pytest.mark.parametrize("include, kind", [
    ("Object", "ConfigMap"), ("Metadata", "PartialObjectMetadata")])
def test_include_object_chooses_the_object(api, ns, include, kind):
    ns.create("configmaps", configmap("a", {"k": "v"}))
    one, = table(api, ns.url("configmaps", "a"), query={"includeObject": include})["rows"]
    assert one["object"]["kind"] == kind


def test_include_object_none(api, ns):
    ns.create("configmaps", configmap("a"))
    one, = table(api, ns.url("configmaps", "a"), query={"includeObject": "None"})["rows"]
    assert one.get("object") is None


def test_an_unknown_include_object_is_refused(api, ns):
    ns.create("configmaps", configmap("a"))
    query = {"includeObject": "Weird"}
    assert api.get(ns.url("configmaps", "a"), accept=TABLE, query=query).code == 400


def test_an_error_is_a_status_and_no_table(api, ns):
    api.get(ns.url("configmaps", "zz"), accept=TABLE).fails(404, "NotFound")


def test_the_answer_stays_plain_json(api, ns):
    assert api.get(ns.url("configmaps"), accept=TABLE).type == "application/json"


def test_the_older_table_version_is_answered_in_its_version(api, ns):
    accept = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
    answer = api.get(ns.url("configmaps"), accept=accept).ok(200)
    assert (answer["kind"], answer["apiVersion"]) == ("Table", "meta.k8s.io/v1beta1")


WORKLOAD = ["Containers", "Images"]
KINDS = [
    ("configmaps", configmap("x", {"a": "1", "b": "2"}), ["Name", "Data", "Age"], ["x", 2]),
    ("secrets", secret("x", stringData={"a": "1"}), ["Name", "Type", "Data", "Age"],
     ["x", "Opaque", 1]),
    ("services", service("x", clusterIP="None"), ["Name", "Type", "Cluster-IP", "External-IP",
                                                 "Port(s)", "Age", "Selector"],
     ["x", "ClusterIP", "None", "<none>", "80/TCP"]),
    ("endpoints", endpoints("x"), ["Name", "Endpoints", "Age"], ["x", "10.1.2.3:80"]),
    ("persistentvolumeclaims", claim("x"), None, ["x", "Pending", "", "", "", "conformance"]),
    ("deployments", deployment("x"), ["Name", "Ready", "Up-to-date", "Available", "Age",
                                      *WORKLOAD, "Selector"], ["x", "0/0", 0, 0]),
    ("statefulsets", statefulset("x"), ["Name", "Ready", "Age", *WORKLOAD], ["x", "0/0"]),
    ("replicasets", replicaset("x"), ["Name", "Desired", "Current", "Ready", "Age", *WORKLOAD,
                                      "Selector"], ["x", 0, 0, 0]),
    ("serviceaccounts", service_account("x"), None, ["x"]),
    ("leases", lease("x", holderIdentity="me"), ["Name", "Holder", "Age"], ["x", "me"]),
    ("roles", role("x"), ["Name", "Created At"], ["x"]),
    ("jobs", job("x"), None, ["x"]),
    ("poddisruptionbudgets", budget("x", minAvailable=1),
     ["Name", "Min Available", "Max Unavailable", "Allowed Disruptions", "Age"],
     ["x", "1", "N/A", 0]),
    ("controllerrevisions", {"metadata": {"name": "x"}, "revision": 3, "data": {}},
     ["Name", "Controller", "Revision", "Age"], ["x", "<none>", 3]),
]


@pytest.mark.parametrize("resource, obj, names, cells", KINDS, ids=[k[0] for k in KINDS])
def test_columns_and_cells(api, ns, resource, obj, names, cells):
    ns.create(resource, obj)
    answer = table(api, ns.url(resource, "x"))
    if names:
        assert columns(answer) == names
    got, = answer["rows"]
    assert got["cells"][:len(cells)] == cells
    assert len(got["cells"]) == len(answer["columnDefinitions"])
    shown = dict(zip(columns(answer), got["cells"]))
    if "Age" in shown:
        assert AGE.match(shown["Age"])


def test_columns_of_claims_and_jobs(api, ns, minor):
    attributes = ["VolumeAttributesClass"] if minor >= 29 else []
    assert columns(table(api, ns.url("persistentvolumeclaims"))) == [
        "Name", "Status", "Volume", "Capacity", "Access Modes", "StorageClass", *attributes, "Age",
        "VolumeMode"]
    status = ["Status"] if minor >= 30 else []
    assert columns(table(api, ns.url("jobs")), wide=False) == [
        "Name", *status, "Completions", "Duration", "Age"]


def test_wide_columns_have_priority_one(api, ns):
    ns.create("deployments", deployment("x"))
    answer = table(api, ns.url("deployments"))
    assert columns(answer, wide=False) == ["Name", "Ready", "Up-to-date", "Available", "Age"]
    assert answer["rows"][0]["cells"][5:] == ["main", "registry.test/app:1", "app=x"]


def test_a_service_with_ports(api, ns):
    ports = [{"port": 80, "name": "a"}, {"port": 53, "protocol": "UDP", "name": "b"}]
    made = ns.create("services", service("x", ports=ports, type="NodePort"))
    cells = row(api, ns, "services", "x")
    one, two = (p["nodePort"] for p in made["spec"]["ports"])
    assert cells["port(s)"] == f"80:{one}/TCP,53:{two}/UDP"
    assert cells["cluster-ip"] == made["spec"]["clusterIP"]
    assert cells["selector"] == "app=x"


def test_events_columns(api, ns):
    ns.create("events", event("e", ns.name, about="thing"))
    answer = table(api, ns.url("events"))
    assert columns(answer) == ["Last Seen", "Type", "Reason", "Object", "Subobject", "Source",
                               "Message", "First Seen", "Count", "Name"]
    cells = answer["rows"][0]["cells"]
    assert cells[1:4] == ["Normal", "Tested", "configmap/thing"]
    assert cells[5:7] == ["conformance, here", "seen by a test"]
    assert cells[8:] == [1, "e"]
    assert re.match(r"^\d+(d|y\d*d?)", cells[0])


def test_namespace_columns(api, ns):
    answer = table(api, "/api/v1/namespaces/" + ns.name)
    assert columns(answer) == ["Name", "Status", "Age"]
    assert answer["rows"][0]["cells"][:2] == [ns.name, "Active"]


def test_node_columns(api, unique):
    body = node(unique)
    body["metadata"]["labels"] = {
        "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/gpu": ""}
    api.post("/api/v1/nodes", body).ok(201)
    url = "/api/v1/nodes/" + unique
    status = {"conditions": [{"type": "Ready", "status": "True"}],
              "nodeInfo": {"kubeletVersion": "v9", "osImage": "Test OS", "kernelVersion": "6.0",
                           "containerRuntimeVersion": "crun://1"},
              "addresses": [{"type": "InternalIP", "address": "10.9.8.7"}]}
    api.patch(url + "/status", {"status": status}, "strategic").ok()
    answer = table(api, url)
    assert columns(answer) == [
        "Name", "Status", "Roles", "Age", "Version", "Internal-IP", "External-IP", "OS-Image",
        "Kernel-Version", "Container-Runtime"]
    cells = answer["rows"][0]["cells"]
    assert cells[:3] == [unique, "Ready", "gpu,worker"]
    assert cells[4:] == ["v9", "10.9.8.7", "<none>", "Test OS", "6.0", "crun://1"]
    api.patch(url, {"spec": {"unschedulable": True}}).ok()
    assert table(api, url)["rows"][0]["cells"][1] == "Ready,SchedulingDisabled"
    api.delete(url).ok()


def test_definition_columns(api, widgets):
    answer = table(api, widgets.url)
    assert columns(answer) == ["Name", "Created At"]
    assert answer["columnDefinitions"][1]["type"] == "date"
    stored = api.get(widgets.url).ok()
    assert answer["rows"][0]["cells"] == [
        widgets.name, stored["metadata"]["creationTimestamp"]]


# Custom resources

def test_additional_printer_columns(api, ns, widgets):
    spec = {"size": "small", "replicas": 3, "ratio": 0.5, "flag": True, "note": "hello",
            "when": "2021-01-01T00:00:00Z"}
    api.post(widgets.at(ns), widgets.make("w", spec)).ok(201)
    body = {"status": {"conditions": [{"type": "Other", "status": "x"},
                                      {"type": "Ready", "status": "True"}]}}
    api.patch(widgets.at(ns, "w", "status"), body).ok()
    answer = table(api, widgets.at(ns, "w"))
    assert [(c["name"], c["type"], c["priority"]) for c in answer["columnDefinitions"]] == [
        ("Name", "string", 0), ("Size", "string", 0), ("Replicas", "integer", 0),
        ("Ratio", "number", 0), ("Flag", "boolean", 0), ("Ready", "string", 0),
        ("When", "date", 0), ("Note", "string", 1)]
    cells = answer["rows"][0]["cells"]
    assert cells[:6] == ["w", "small", 3, 0.5, True, "True"]
    assert re.match(r"^\d+(d|y)", cells[6])
    assert cells[7] == "hello"


def test_descriptions_of_printer_columns(api, ns, widgets):
    found = {c["name"]: c["description"] for c in table(api, widgets.at(ns))["columnDefinitions"]}
    assert found["Size"] == "The size."
    assert found["Replicas"] == (
        "Custom resource definition column (in JSONPath format): .spec.replicas")


def test_missing_values_are_null(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    assert table(api, widgets.at(ns, "w"))["rows"][0]["cells"] == ["w"] + [None] * 7


def test_a_kind_without_columns_shows_its_age(api, gadgets, unique):
    api.post(gadgets.at(), gadgets.make(unique, {})).ok(201)
    answer = table(api, gadgets.at(name=unique))
    assert [(c["name"], c["type"]) for c in answer["columnDefinitions"]] == [
        ("Name", "string"), ("Age", "date")]
    assert AGE.match(answer["rows"][0]["cells"][1])


# Pods

def test_pod_columns(api, ns):
    ns.create("pods", pod("p"))
    answer = table(api, ns.url("pods", "p"))
    assert columns(answer) == ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node",
                               "Nominated Node", "Readiness Gates"]
    cells = answer["rows"][0]["cells"]
    assert cells[:3] == ["p", "0/1", "Pending"]
    assert str(cells[3]) == "0"
    assert cells[5:] == ["<none>"] * 4


def waiting(reason, **more):
    return {"state": {"waiting": {"reason": reason}}, **more}


def terminated(**state):
    return {"state": {"terminated": {"exitCode": 0, **state}}}


RUNNING = {"state": {"running": {}}, "ready": True}
READY = [{"type": "Ready", "status": "True"}]
PHASES = [
    ("phase", {"phase": "Running"}, "Running", "0/2"),
    ("reason", {"phase": "Failed", "reason": "Evicted"}, "Evicted", "0/2"),
    ("running", {"phase": "Running", "containerStatuses": [RUNNING, RUNNING]}, "Running", "2/2"),
    ("waiting", {"phase": "Pending", "containerStatuses": [waiting("ContainerCreating"), RUNNING]},
     "ContainerCreating", "1/2"),
    ("back-off", {"phase": "Running", "containerStatuses": [
        RUNNING, waiting("CrashLoopBackOff", restartCount=4)]}, "CrashLoopBackOff", "1/2"),
    ("first of two", {"phase": "Running", "containerStatuses": [
        waiting("ErrImagePull"), waiting("CrashLoopBackOff")]}, "ErrImagePull", "0/2"),
    ("reason of end", {"phase": "Failed", "containerStatuses": [
        terminated(reason="OOMKilled", exitCode=137), terminated(reason="Completed")]},
     "OOMKilled", "0/2"),
    ("exit code", {"phase": "Failed", "containerStatuses": [terminated(exitCode=3)]},
     "ExitCode:3", "0/2"),
    ("signal", {"phase": "Failed", "containerStatuses": [terminated(signal=9)]},
     "Signal:9", "0/2"),
    ("completed", {"phase": "Succeeded", "containerStatuses": [
        terminated(reason="Completed"), terminated(reason="Completed")]}, "Completed", "0/2"),
    ("half completed", {"phase": "Running", "conditions": READY, "containerStatuses": [
        terminated(reason="Completed"), RUNNING]}, "Running", "1/2"),
    ("half completed, not ready", {"phase": "Running", "containerStatuses": [
        terminated(reason="Completed"), RUNNING]}, "NotReady", "1/2"),
    ("init", {"phase": "Pending", "initContainerStatuses": [{"state": {"running": {}}}]},
     "Init:0/1", "0/2"),
    ("init waiting", {"phase": "Pending", "initContainerStatuses": [waiting("ErrImagePull")]},
     "Init:ErrImagePull", "0/2"),
    ("init failed", {"phase": "Pending", "initContainerStatuses": [terminated(exitCode=2)]},
     "Init:ExitCode:2", "0/2"),
    ("init done", {"phase": "Pending", "initContainerStatuses": [terminated(reason="Completed")],
                   "containerStatuses": [waiting("PodInitializing")]}, "PodInitializing", "0/2"),
]


def named(statuses):
    names = ["a", "b"]
    fill = {"image": "x", "imageID": "", "ready": False, "restartCount": 0}
    return [{**fill, "name": names[i], **s} for i, s in enumerate(statuses)]


def two_containers(**spec):
    both = [{"name": n, "image": "x"} for n in "ab"]
    return pod("p", containers=both, initContainers=[{"name": "a1", "image": "x"}], **spec)


@pytest.mark.parametrize("status, shown, ready", [p[1:] for p in PHASES],
                         ids=[p[0] for p in PHASES])
def test_pod_status(api, ns, status, shown, ready):
    ns.create("pods", two_containers())
    status = dict(status)
    if "containerStatuses" in status:
        status["containerStatuses"] = named(status["containerStatuses"])
    if "initContainerStatuses" in status:
        status["initContainerStatuses"] = [
            {**s, "name": "a1"} for s in named(status["initContainerStatuses"])]
    api.patch(ns.url("pods", "p", "status"), {"status": status}, "merge").ok()
    cells = row(api, ns, "pods", "p")
    assert (cells["status"], cells["ready"]) == (shown, ready)


def test_a_deleted_pod_is_terminating(api, ns):
    ns.create("pods", two_containers(nodeName="nowhere"))
    api.delete(ns.url("pods", "p")).ok()
    assert row(api, ns, "pods", "p")["status"] == "Terminating"
    api.delete(ns.url("pods", "p"), query={"gracePeriodSeconds": 0}).ok()


def test_restarts_are_summed(api, ns):
    ns.create("pods", two_containers())
    statuses = named([{**RUNNING, "restartCount": 2}, {**RUNNING, "restartCount": 3}])
    body = {"status": {"phase": "Running", "containerStatuses": statuses}}
    api.patch(ns.url("pods", "p", "status"), body).ok()
    assert str(row(api, ns, "pods", "p")["restarts"]) == "5"


@pytest.mark.since(22, "the time of the last restart is shown")
def test_the_last_restart_is_shown(api, ns):
    ns.create("pods", two_containers())
    last = {"terminated": {"exitCode": 1, "finishedAt": "2021-01-01T00:00:00Z"}}
    statuses = named([{**RUNNING, "restartCount": 2, "lastState": last}])
    body = {"status": {"phase": "Running", "containerStatuses": statuses}}
    api.patch(ns.url("pods", "p", "status"), body).ok()
    assert re.match(r"^2 \(\d+(d|y\d*d?)+ ago\)$", row(api, ns, "pods", "p")["restarts"])


def test_address_and_node_of_a_pod(api, ns):
    ns.create("pods", two_containers(nodeName="nowhere"))
    api.patch(ns.url("pods", "p", "status"), {"status": {"podIP": "10.0.0.9"}}).ok()
    cells = row(api, ns, "pods", "p")
    assert (cells["ip"], cells["node"]) == ("10.0.0.9", "nowhere")
    api.delete(ns.url("pods", "p"), query={"gracePeriodSeconds": 0}).ok()


@pytest.mark.parametrize("phase, reason", [("Succeeded", "Succeeded"), ("Failed", "Failed")])
def test_a_finished_pod_has_a_row_condition(api, ns, phase, reason):
    ns.create("pods", pod("p"))
    api.patch(ns.url("pods", "p", "status"), {"status": {"phase": phase}}).ok()
    one, = table(api, ns.url("pods", "p"))["rows"]
    assert one["conditions"][0]["type"] == "Completed"
    assert one["conditions"][0]["status"] == "True"
    assert one["conditions"][0]["reason"] == reason
