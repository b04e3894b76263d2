# SPDX-License-Identifier: GPL-2.0-or-later
"""A Controller and NodeSets become the objects of a Slurm cluster.

The cases build on one another, in the order of the file, as a session at a terminal would.  No pod
runs here: there is an API server and an operator, and no node.
"""
import base64
import time

import pytest

from conftest import TOP, eventually

CLUSTER = """
apiVersion: v1
kind: Namespace
metadata: {name: slurm}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute, namespace: slurm}
spec:
  controllerRef: {name: lab, namespace: slurm}
  replicas: 3
  partition: {enabled: true, config: "Default=YES MaxTime=24:00:00"}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab, namespace: slurm}
spec: {}
"""


def nodeset(name, controller="lab", more=""):
    return f"""
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {{name: {name}, namespace: slurm}}
spec:
  controllerRef: {{name: {controller}}}
  {more}
"""


def versions(cluster):
    """Every object of the namespace and its version, events aside."""
    kinds = ("controllers,nodesets,statefulsets,services,configmaps,secrets,pods,"
             "controllerrevisions,poddisruptionbudgets,persistentvolumeclaims")
    return {(o["kind"], o["metadata"]["name"]): o["metadata"]["resourceVersion"]
            for o in cluster.get(kinds)}


def settled(cluster):
    """Wait until nothing changes for two seconds."""
    last, since = None, time.monotonic()
    until = since + 30
    while time.monotonic() < until:
        now = versions(cluster)
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > 2:
            return last
        time.sleep(0.2)
    pytest.fail("the cluster does not settle")


def workers(cluster):
    return [p for p in cluster.get("pods")
            if p["metadata"]["labels"]["app.kubernetes.io/name"] == "slurmd"]


def slurm_conf(cluster):
    return cluster.get("configmap", "lab-config")["data"]["slurm.conf"]


def events(cluster, name):
    return [e for e in cluster.get("events") if e["involvedObject"]["name"] == name]


def test_missing_definitions_are_waited_for(cluster):
    cluster.start_operator("--leader-elect", "--lease-namespace", "default", "--no-agent")
    eventually(lambda: "does not know controllers.slinky.slurm.net yet" in cluster.log("operator"),
               "a word about the definitions")
    assert cluster.visit("/healthz") == (200, "ok\n")
    code, why = cluster.visit("/readyz")
    assert code == 503 and "not all" in why
    cluster.kubectl("apply", "-f", str(TOP / "deploy/crds"))
    eventually(lambda: cluster.visit("/readyz")[0] == 200, "readiness")
    eventually(lambda: "leading" in cluster.log("operator"), "the lead")


def test_a_cluster_appears(cluster):
    cluster.apply(CLUSTER)
    eventually(lambda: cluster.get("statefulset", "lab-controller"), "the StatefulSet")
    eventually(lambda: len(workers(cluster)) == 3, "the worker pods")
    services = {s["metadata"]["name"] for s in cluster.get("services")}
    assert services == {"lab-controller", "lab-controller-internal", "slurm-workers-lab"}
    assert [p["metadata"]["name"] for p in workers(cluster)] == \
        ["compute-0", "compute-1", "compute-2"]
    for secret, key in (("lab-auth-slurm", "slurm.key"), ("lab-auth-jwt", "jwt.key")):
        data = cluster.get("secret", secret)["data"]
        assert len(base64.b64decode(data[key])) == 1024
    uid = cluster.get("nodeset", "compute")["metadata"]["uid"]
    assert len([r for r in cluster.get("controllerrevisions")
                if r["metadata"]["ownerReferences"][0]["uid"] == uid]) == 1
    assert cluster.get("poddisruptionbudget", "slurm-workers-pdb-lab")


def test_slurmctld_starts_once(cluster):
    # Keys and configuration are there first: their hashes in the template do not change any more.
    uid = cluster.get("statefulset", "lab-controller")["metadata"]["uid"]
    pod = eventually(lambda: cluster.get("pod", "lab-controller-0"), "slurmctld's pod")
    assert "current" in cluster.get("secret", "lab-keys")["data"]
    settled(cluster)
    assert cluster.get("pod", "lab-controller-0")["metadata"]["uid"] == pod["metadata"]["uid"]
    assert len([r for r in cluster.get("controllerrevisions")
                if r["metadata"]["ownerReferences"][0]["uid"] == uid]) == 1
    labels = cluster.get("pod", "lab-controller-0")["metadata"]["labels"]
    assert labels["controller.slinky.slurm.net/active"] == "true"


def test_slurm_conf_is_exact(cluster):
    lines = slurm_conf(cluster).splitlines()
    assert lines[:3] == ["#", "### GENERAL ###", "ClusterName=slurm_lab"]
    at = lines.index("### COMPUTE & PARTITION ###")
    assert lines[at - 1] == "#"
    assert lines[at + 1:at + 3] == [
        "NodeSet=compute Feature=compute",
        "PartitionName=compute Nodes=compute Default=YES MaxTime=24:00:00"]


def test_owners_are_set(cluster):
    uid = cluster.get("controller", "lab")["metadata"]["uid"]
    for kind, name in (("statefulset", "lab-controller"), ("configmap", "lab-config"),
                       ("service", "lab-controller")):
        owners = cluster.get(kind, name)["metadata"]["ownerReferences"]
        assert [o["uid"] for o in owners if o.get("controller")] == [uid]
    uid = cluster.get("nodeset", "compute")["metadata"]["uid"]
    for pod in workers(cluster):
        owners = pod["metadata"]["ownerReferences"]
        assert [o["uid"] for o in owners if o.get("controller")] == [uid]


def test_status_speaks(cluster):
    eventually(lambda: cluster.get("nodeset", "compute")["status"]["replicas"] == 3, "the status")
    status = cluster.get("nodeset", "compute")["status"]
    assert status["desired"] == 3 and status["updatedReplicas"] == 3
    assert status["observedGeneration"] == 1 and status["nodeSetHash"]
    assert cluster.condition("nodeset", "compute", "Ready")["status"] == "False"
    assert cluster.condition("controller", "lab", "ConfigApplied")["status"] == "True"
    ready = cluster.condition("controller", "lab", "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "SlurmctldNotReady")
    reasons = {e["reason"] for e in events(cluster, "compute")}
    assert {"ScalingUp", "SuccessfulCreate"} <= reasons


def test_a_second_look_writes_nothing(cluster):
    before = settled(cluster)
    keys = {n: cluster.get("secret", n)["data"] for n in ("lab-auth-slurm", "lab-auth-jwt")}
    assert cluster.stop("operator") == 0
    cluster.start_operator("--no-agent")
    eventually(lambda: cluster.visit("/readyz")[0] == 200, "readiness")
    time.sleep(2)
    assert versions(cluster) == before
    assert keys == {n: cluster.get("secret", n)["data"] for n in keys}
    _, text = cluster.visit("/metrics")
    assert 'slurmkeeper_reconciles_total{kind="NodeSet",result="same"}' in text
    assert "slurmkeeper_api_writes_total{" not in text


def test_scale_up_adds_a_pod(cluster):
    cluster.kubectl("scale", "nodeset/compute", "--replicas=4", "-n", "slurm")
    eventually(lambda: [p["metadata"]["name"] for p in workers(cluster)][-1] == "compute-3",
               "the fourth pod")
    eventually(lambda: cluster.get("nodeset", "compute")["status"]["replicas"] == 4, "its count")


def test_scale_down_takes_what_never_ran(cluster):
    # Nothing places these pods: no slurmd ever ran in them.
    cluster.kubectl("scale", "nodeset/compute", "--replicas=3", "-n", "slurm")
    eventually(lambda: len(workers(cluster)) == 3, "one pod less")
    assert workers(cluster)[-1]["metadata"]["name"] == "compute-2"


def test_scale_down_leaves_what_may_run_a_job(cluster):
    for i in range(3):
        cluster.patch_status(f"compute-{i}", {"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]})
    eventually(lambda: cluster.condition("nodeset", "compute", "Ready")["status"] == "True",
               "readiness")
    cluster.kubectl("scale", "nodeset/compute", "--replicas=1", "-n", "slurm")
    eventually(lambda: cluster.condition("nodeset", "compute", "ScaledDown"), "the condition")
    settled(cluster)
    assert len(workers(cluster)) == 3
    waiting = cluster.condition("nodeset", "compute", "ScaledDown")
    assert (waiting["status"], waiting["reason"]) == ("False", "SlurmStateUnknown")
    cluster.kubectl("scale", "nodeset/compute", "--replicas=3", "-n", "slurm")
    eventually(lambda: not cluster.condition("nodeset", "compute", "ScaledDown"), "its end")


def test_a_deleted_pod_comes_back(cluster):
    old = cluster.get("pod", "compute-1")["metadata"]["uid"]
    cluster.kubectl("delete", "pod", "compute-1", "-n", "slurm", "--grace-period=0", "--force")
    eventually(lambda: cluster.get("pod", "compute-1")["metadata"]["uid"] != old, "a new pod")


def test_partition_edit_reaches_slurm_conf(cluster):
    cluster.kubectl("patch", "nodeset", "compute", "-n", "slurm", "--type=merge", "-p",
                    '{"spec":{"partition":{"config":"Default=YES MaxTime=12:00:00"}}}')
    eventually(lambda: "PartitionName=compute Nodes=compute Default=YES MaxTime=12:00:00"
               in slurm_conf(cluster).splitlines(), "the partition")
    assert "24:00:00" not in slurm_conf(cluster)


def test_referenced_files_are_watched(cluster):
    cluster.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: prologs, namespace: slurm}\n"
                  "data: {first.sh: '#!/bin/sh'}\n")
    cluster.kubectl("patch", "controller", "lab", "-n", "slurm", "--type=merge", "-p",
                    '{"spec":{"prologScriptRefs":[{"name":"prologs"}]}}')
    eventually(lambda: "first.sh" in slurm_conf(cluster), "the prolog")
    cluster.kubectl("patch", "configmap", "prologs", "-n", "slurm", "--type=merge", "-p",
                    '{"data":{"second.sh":"#!/bin/sh"}}')
    eventually(lambda: "second.sh" in slurm_conf(cluster), "the second prolog")


def test_drift_is_mended(cluster):
    cluster.kubectl("patch", "configmap", "lab-config", "-n", "slurm", "--type=merge", "-p",
                    '{"data":{"slurm.conf":"nonsense","extra":"x"}}')
    eventually(lambda: "ClusterName=slurm_lab" in slurm_conf(cluster), "slurm.conf as it was")
    cluster.kubectl("delete", "service", "lab-controller", "-n", "slurm")
    eventually(lambda: cluster.get("service", "lab-controller"), "the Service")


def test_a_missing_controller_is_told(cluster):
    cluster.apply(nodeset("lost", "nowhere"))
    eventually(lambda: cluster.condition("nodeset", "lost", "Ready"), "the condition")
    ready = cluster.condition("nodeset", "lost", "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ControllerNotFound")
    assert "create it, or correct" in ready["message"]
    eventually(lambda: [e for e in events(cluster, "lost")
                        if e["reason"] == "ControllerNotFound" and e["type"] == "Warning"],
               "the event")
    # It never had a pod: nothing keeps it.
    cluster.kubectl("delete", "nodeset", "lost", "-n", "slurm", "--timeout=20s")


def test_two_nodesets_of_one_name(cluster):
    twin = nodeset("second", more="replicas: 1\n  template: {spec: {hostname: compute-}}")
    try:
        cluster.apply(twin)
    except AssertionError as refused:
        # Where admission runs, the second is not even stored.
        assert "compute" in str(refused) and "second" in str(refused)
    else:
        eventually(lambda: cluster.condition("nodeset", "second", "Ready"), "the condition")
        ready = cluster.condition("nodeset", "second", "Ready")
        assert (ready["status"], ready["reason"]) == ("False", "SlurmNameTaken")
    assert slurm_conf(cluster).count("NodeSet=compute ") == 1
    assert not [p for p in workers(cluster) if p["metadata"]["name"].startswith("second-")]
    # The rest goes on.
    cluster.apply(nodeset("third", more="replicas: 2\n  ordinalPadding: 3"))
    eventually(lambda: {"third-000", "third-001"} <=
               {p["metadata"]["name"] for p in workers(cluster)}, "the third NodeSet's pods")
    eventually(lambda: "NodeSet=third Feature=third" in slurm_conf(cluster).splitlines(),
               "its line")


def test_claims_are_made(cluster):
    cluster.apply(nodeset("disks", more="""replicas: 1
  volumeClaimTemplates:
  - metadata: {name: scratch}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"""))
    eventually(lambda: cluster.get("pvc", "scratch-disks-0"), "the claim")
    eventually(lambda: cluster.get("pod", "disks-0"), "the pod")
    volumes = {v["name"]: v for v in cluster.get("pod", "disks-0")["spec"]["volumes"]}
    assert volumes["scratch"]["persistentVolumeClaim"]["claimName"] == "scratch-disks-0"


def test_the_first_example_works(cluster):
    cluster.kubectl("apply", "-f", str(TOP / "examples/quickstart.yaml"), "-n", "default")
    eventually(lambda: cluster.get("statefulsets", ns="default"), "slurmctld")
    eventually(lambda: len(cluster.get("pods", ns="default")) == 4, "slurmctld and three workers")


def run_pod(cluster, name):
    """Say what a node would: the pod runs."""
    cluster.patch_status(name, {"phase": "Running"})


def gone(cluster, kind, name):
    return name not in [o["metadata"]["name"] for o in cluster.get(kind)]


def test_a_deleted_nodeset_without_jobs_goes(cluster):
    cluster.kubectl("delete", "nodeset", "disks", "-n", "slurm", "--timeout=20s")
    assert gone(cluster, "pods", "disks-0") and gone(cluster, "nodesets", "disks")
    assert cluster.get("pvc", "scratch-disks-0")


@pytest.mark.parametrize("cascade", ["background", "foreground"])
def test_a_deleted_nodeset_waits_for_what_may_run_jobs(cluster, cascade):
    cluster.apply(nodeset("busy", more="replicas: 2"))
    eventually(lambda: cluster.get("pod", "busy-1"), "the pods")
    run_pod(cluster, "busy-0")
    cluster.kubectl("delete", "nodeset", "busy", "-n", "slurm", "--wait=false",
                    f"--cascade={cascade}")
    eventually(lambda: gone(cluster, "pods", "busy-1"), "the end of the pod that never ran")
    settled(cluster)
    pod = cluster.get("pod", "busy-0")["metadata"]
    assert "deletionTimestamp" not in pod
    ready = cluster.condition("nodeset", "busy", "Ready")
    assert ready["reason"] == "Deleting" and "slurmkeeper.dev/force-delete" in ready["message"]
    # Its lines stay as long as its nodes.
    assert "NodeSet=busy Feature=busy" in slurm_conf(cluster).splitlines()
    cluster.kubectl("annotate", "nodeset", "busy", "-n", "slurm",
                    "slurmkeeper.dev/force-delete=true")
    eventually(lambda: gone(cluster, "nodesets", "busy"), "the end of the NodeSet")
    eventually(lambda: gone(cluster, "pods", "busy-0"), "the end of its pod")
    eventually(lambda: "NodeSet=busy" not in slurm_conf(cluster), "slurm.conf without it")


def test_pods_that_were_left_are_adopted(cluster):
    cluster.apply(nodeset("left", more="replicas: 2"))
    eventually(lambda: cluster.get("pod", "left-1"), "the pods")
    before = {name: cluster.get("pod", name)["metadata"]["uid"] for name in ("left-0", "left-1")}
    run_pod(cluster, "left-0")
    cluster.kubectl("delete", "nodeset", "left", "-n", "slurm", "--cascade=orphan", "--timeout=20s")
    assert gone(cluster, "nodesets", "left")
    cluster.apply(nodeset("left", more="replicas: 2"))
    uid = cluster.get("nodeset", "left")["metadata"]["uid"]
    for name, was in before.items():
        eventually(lambda name=name: uid in [o["uid"] for o in cluster.get("pod", name)["metadata"].get(
            "ownerReferences", [])], "its new owner")
        assert cluster.get("pod", name)["metadata"]["uid"] == was, "the very pod"
    settled(cluster)
    cluster.kubectl("annotate", "nodeset", "left", "-n", "slurm", "slurmkeeper.dev/force-delete=true")
    cluster.kubectl("delete", "nodeset", "left", "-n", "slurm", "--timeout=20s")


def test_a_controller_goes_behind_its_nodesets(cluster):
    cluster.kubectl("delete", "controller", "lab", "-n", "slurm", "--wait=false")
    eventually(lambda: cluster.condition("controller", "lab", "Deleting"), "the condition")
    held = cluster.condition("controller", "lab", "Deleting")
    assert held["reason"] == "WaitingForNodeSets" and "compute" in held["message"]
    settled(cluster)
    assert cluster.get("statefulset", "lab-controller")
    cluster.kubectl("annotate", "nodeset", "compute", "-n", "slurm",
                    "slurmkeeper.dev/force-delete=true")
    cluster.kubectl("delete", "nodeset", "compute", "third", "-n", "slurm", "--timeout=20s")
    eventually(lambda: gone(cluster, "controllers", "lab"), "the end of the Controller")
    eventually(lambda: gone(cluster, "statefulsets", "lab-controller"), "the end of slurmctld")


def test_it_settles(cluster):
    settled(cluster)
