# SPDX-License-Identifier: GPL-2.0-or-later
"""From nothing to jobs, edits and losses, in the order of the file, on one cluster."""
import base64
import json
import pathlib
import subprocess
import time

import pytest
from machine import SCRATCH, eventually
from slurm import CLUSTER, FREEZE, KILL, THAW, Slurm, leader, lease, operators, strike


@pytest.fixture(scope="module", name="slurm")
def a_cluster(kubernetes):
    return Slurm(kubernetes)


def tell(what, since):
    print(f"\n{what}: {time.monotonic() - since:.2f} s")


def test_the_operators_are_ready_and_trusted(kubernetes):
    pods = operators(kubernetes)
    assert len({p["spec"]["nodeName"] for p in pods}) == 2
    hook = eventually(lambda: kubernetes.get("validatingwebhookconfiguration", "slurmkeeper-webhook"), "the webhook")
    eventually(lambda: kubernetes.get("validatingwebhookconfiguration", "slurmkeeper-webhook")["webhooks"][0]
               ["clientConfig"]["caBundle"], "its authority")
    assert hook["webhooks"][0]["failurePolicy"] == "Ignore"


VOLUME = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: state}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 8Gi}
  hostPath: {path: %s, type: DirectoryOrCreate}
"""


def test_a_controller_without_its_volume_says_so(kubernetes):
    """The claim of slurmctld's pod finds no volume; slurmds start before it, and wait."""
    kubernetes.apply(CLUSTER)
    condition = eventually(lambda: next(c for c in kubernetes.get("controller", "lab")["status"]["conditions"]
                                        if c["type"] == "Ready" and "PersistentVolume" in c["message"]),
                           "a condition that says so")
    assert condition["status"] == "False" and "lab-controller-0" in condition["message"], condition
    eventually(lambda: {p["metadata"]["name"]: p["status"]["phase"] for p in kubernetes.get("pods")}.get("compute-1") ==
               "Running", "the worker pods")
    # longer than the patience of any slurmd with a slurmctld that is not there
    eventually(lambda: "trying again until slurmctld answers" in kubernetes.kubectl(
        "logs", "-n", "slurm", "compute-1", "-c", "slurmd"), "slurmd gives up, and is started again")
    state = SCRATCH / "state"
    state.mkdir(mode=0o777)
    state.chmod(0o777)
    kubernetes.apply(VOLUME % state)


def test_a_cluster_comes_up(kubernetes, slurm):
    since = time.monotonic()
    kubernetes.apply(CLUSTER)
    kubernetes.kubectl("wait", "-n", "slurm", "controller/lab", "nodeset/compute", "partition/debug",
                       "--for=condition=Ready", "--timeout=180s", timeout=200)
    slurm.wait_idle("compute-0", "compute-1")
    tell("a cluster of two nodes after kubectl apply", since)


def test_no_container_had_to_be_started_twice(kubernetes):
    for pod in kubernetes.get("pods"):
        for status in pod["status"]["containerStatuses"] + pod["status"].get("initContainerStatuses", []):
            assert status["restartCount"] == 0, f"{pod['metadata']['name']}/{status['name']}"


def test_what_slurm_would_refuse_is_refused_when_it_is_written(kubernetes):
    bad = CLUSTER.replace("MaxTime=INFINITE", "MaxTime=soon")
    with pytest.raises(AssertionError, match="spec.partition.config.*MaxTime: .soon. is not a time"):
        kubernetes.apply(bad)


def test_the_first_job(slurm):
    assert sorted(slurm.on_node("srun", "-N2", "hostname").split()) == ["compute-0", "compute-1"]
    assert slurm.on_node("srun", "-p", "debug", "-N1", "-w", "compute-1", "hostname") == "compute-1"


def test_an_edit_is_live(kubernetes, slurm):
    spec = {"spec": {"partition": {"config": "Default=YES MaxTime=2:00:00"}}}
    kubernetes.kubectl("patch", "nodeset", "compute", "-n", "slurm", "--type=merge", "-p", json.dumps(spec))
    since = time.monotonic()
    eventually(lambda: slurm.partition("compute")["MaxTime"] == "02:00:00", "the edit in slurmctld", every_s=0.02)
    tell("an edit is seen by scontrol in the pod", since)


def test_an_edit_restarts_nothing(kubernetes):
    test_no_container_had_to_be_started_twice(kubernetes)
    assert kubernetes.get("statefulset", "lab-controller")["status"]["currentRevision"] == \
        kubernetes.get("statefulset", "lab-controller")["status"]["updateRevision"]


OTHERS = """
apiVersion: v1
kind: Secret
metadata: {name: sssd-conf, namespace: slurm}
stringData:
  sssd.conf: |
    [sssd]
    services = nss, pam
    domains = nobody
    [domain/nobody]
    id_provider = ldap
    ldap_uri = ldap://127.0.0.1:1
---
apiVersion: slinky.slurm.net/v1beta1
kind: LoginSet
metadata: {name: login, namespace: slurm}
spec:
  controllerRef: {name: lab}
  sssdConfRef: {name: sssd-conf, key: sssd.conf}
  login: {image: "slurmkeeper/login:22.05"}
---
apiVersion: slinky.slurm.net/v1beta1
kind: RestApi
metadata: {name: rest, namespace: slurm}
spec:
  controllerRef: {name: lab}
  slurmrestd: {image: "slurmkeeper/slurmrestd:22.05"}
"""
ASK_RESTD = "exec 3<>/dev/tcp/rest-restapi/6820; printf 'GET /openapi/v3 HTTP/1.0\\r\\n\\r\\n' >&3; head -n 1 <&3"


def test_a_login_and_slurmrestd_serve(kubernetes, slurm):
    since = time.monotonic()
    kubernetes.apply(OTHERS)
    kubernetes.kubectl("wait", "-n", "slurm", "loginset/login", "restapi/rest", "--for=condition=Ready", "--timeout=180s",
                       timeout=200)
    tell("a login and slurmrestd after kubectl apply", since)
    inside = {"pod": "deploy/login", "container": "login"}
    assert sorted(slurm.ask("srun", "-N2", "hostname", **inside).split()) == ["compute-0", "compute-1"]
    assert slurm.ask("bash", "-c", ASK_RESTD, **inside).startswith("HTTP/1")
    kubernetes.kubectl("delete", "-f", "-", text=OTHERS)
    eventually(lambda: len(kubernetes.get("pods")) == 3, "their pods are gone")


def test_scaling_in_waits_for_the_job(kubernetes, slurm):
    job = slurm.submit("sleep 15", "-w", "compute-1")
    slurm.wait_job(job, "RUNNING")
    kubernetes.kubectl("scale", "nodeset", "compute", "-n", "slurm", "--replicas=0")
    eventually(lambda: "drng" in slurm.nodes()["compute-1"] or "drain" in slurm.nodes()["compute-1"], "the drain")
    assert slurm.job(job)["JobState"] == "RUNNING"
    assert "deletionTimestamp" not in kubernetes.get("pod", "compute-1")["metadata"]
    slurm.wait_job(job, "COMPLETED")
    eventually(lambda: [p["metadata"]["name"] for p in kubernetes.get("pods")] == ["lab-controller-0"],
               "the pod is gone")
    kubernetes.kubectl("scale", "nodeset", "compute", "-n", "slurm", "--replicas=2")
    slurm.wait_idle("compute-0", "compute-1")


@pytest.fixture(scope="module", name="job")
def a_job_through_all_of_it(slurm):
    """Runs until the last test of this file has looked at it."""
    job = slurm.submit("sleep 3600", "-w", "compute-0")
    slurm.wait_job(job, "RUNNING")
    return slurm.job(job)


def still_runs(slurm, job):
    now = slurm.job(job["JobId"])
    assert (now["JobState"], now["StartTime"], now["Restarts"]) == ("RUNNING", job["StartTime"], "0")


def works(kubernetes, slurm, minutes):
    """An edit reaches slurmctld."""
    kubernetes.kubectl("patch", "partition.slurmkeeper.dev", "debug", "-n", "slurm", "--type=merge", "-p",
                       json.dumps({"spec": {"maxTime": f"00:{minutes}:00"}}))
    eventually(lambda: slurm.partition("debug")["MaxTime"] == f"00:{minutes}:00", "an edit after it")


def test_a_frozen_leader_is_followed(kubernetes, slurm, job):
    old = leader(kubernetes)
    since = strike(old, FREEZE)
    try:
        eventually(lambda: leader(kubernetes)["metadata"]["uid"] != old["metadata"]["uid"], "another leader", every_s=0.05)
        tell("another operator leads after the leader froze", since)
        works(kubernetes, slurm, 11)
    finally:
        strike(old, THAW)
    now = lease(kubernetes)["holderIdentity"]
    works(kubernetes, slurm, 12)
    assert lease(kubernetes)["holderIdentity"] == now
    still_runs(slurm, job)


def test_a_killed_leader_is_followed(kubernetes, slurm, job):
    before = lease(kubernetes)["holderIdentity"]
    since = strike(leader(kubernetes), KILL)
    eventually(lambda: lease(kubernetes).get("holderIdentity") not in (None, "", before), "another leader", every_s=0.05)
    tell("an operator leads after the leader was killed", since)
    works(kubernetes, slurm, 13)
    still_runs(slurm, job)


def test_operators_are_exchanged_while_jobs_run(kubernetes, slurm, job):
    kubernetes.kubectl("rollout", "restart", "deployment/slurmkeeper-operator", "-n", "slurmkeeper")
    kubernetes.kubectl("rollout", "status", "deployment/slurmkeeper-operator", "-n", "slurmkeeper", "--timeout=120s",
                       timeout=150)
    works(kubernetes, slurm, 14)
    still_runs(slurm, job)


def test_a_restart_of_the_api_server_is_survived(kubernetes, slurm, job):
    children = kubernetes.control.children
    children.kill("apiserver", KILL)
    time.sleep(5)  # long enough for the lease to run out
    kubernetes.control.start_apiserver()
    works(kubernetes, slurm, 15)
    still_runs(slurm, job)


def test_a_kubelet_that_is_away_for_a_while_costs_nothing(kubernetes, slurm, job):
    node = next(n for n in kubernetes.nodes if n.name == kubernetes.get("pod", "compute-0")["spec"]["nodeName"])
    kubelet = node.children.kill("kubelet", KILL)
    works(kubernetes, slurm, 16)
    node.children.again(kubelet, "kubelet")
    eventually(lambda: kubernetes.kubectl("get", "nodes").count(" Ready") == len(kubernetes.nodes), "the node")
    still_runs(slurm, job)


def test_slurmctld_comes_back_with_its_jobs_from_the_volume(kubernetes, slurm, job):
    old = kubernetes.get("pod", "lab-controller-0")["metadata"]["uid"]
    kubernetes.kubectl("delete", "pod", "lab-controller-0", "-n", "slurm")
    eventually(lambda: kubernetes.get("pod", "lab-controller-0")["metadata"]["uid"] != old, "another pod")
    works(kubernetes, slurm, 17)
    still_runs(slurm, job)


def test_a_cordoned_machine_takes_no_more_jobs(kubernetes, slurm, job):
    node = kubernetes.get("pod", "compute-1")["spec"]["nodeName"]
    kubernetes.kubectl("cordon", node)
    try:
        eventually(lambda: slurm.nodes()["compute-1"] == "drain", "the Slurm node is drained")
        still_runs(slurm, job)
    finally:
        kubernetes.kubectl("uncordon", node)
    slurm.wait_idle("compute-1")


def test_eviction_is_refused_while_the_job_runs(kubernetes, slurm, job):
    node = kubernetes.get("pod", "compute-0")["spec"]["nodeName"]
    done = subprocess.run(["kubectl", "--kubeconfig", kubernetes.control.kubeconfig, "drain", node, "--ignore-daemonsets",
                           "--delete-emptydir-data", "--force", "--timeout=10s", "--pod-selector",
                           "app.kubernetes.io/name=slurmd"], capture_output=True, text=True, check=False)
    try:
        assert done.returncode != 0 and "disruption budget" in done.stdout + done.stderr, done.stdout + done.stderr
        still_runs(slurm, job)
    finally:
        kubernetes.kubectl("uncordon", node)


def test_a_deleted_controller_says_what_it_waits_for(kubernetes, slurm, job):
    answer = kubernetes.kubectl("delete", "controller", "lab", "-n", "slurm", "--wait=false")
    assert "deleted" in answer
    condition = eventually(lambda: next(c for c in kubernetes.get("controller", "lab")["status"]["conditions"]
                                        if "NodeSet" in c.get("message", "")), "a condition that names the NodeSets")
    assert "compute" in condition["message"]
    still_runs(slurm, job)
    slurm.ask("scancel", job["JobId"])


def secrets_of(kubernetes):
    """Every value of every Secret, as text that could stand somewhere: raw where it is text, and in base64."""
    for secret in kubernetes.get("secrets") + kubernetes.get("secrets", ns="slurmkeeper"):
        for key, value in secret.get("data", {}).items():
            raw = base64.b64decode(value)
            if key.endswith(".crt") or len(raw) < 16:
                continue
            yield f"{secret['metadata']['name']}/{key}", value[:44]
            line = max(raw.split(b"\n"), key=len)
            if line.isascii() and len(line) >= 16:
                yield f"{secret['metadata']['name']}/{key}", line.decode()[:60]


def test_no_secret_is_anywhere_but_in_secrets(kubernetes):
    """Logs of the pods and of the cluster, events, ConfigMaps, objects with their annotations, argument lists."""
    texts = {"objects": kubernetes.kubectl("get", "pods,statefulsets,configmaps,events,services,controllers,nodesets",
                                           "-A", "-o", "yaml"),
             "arguments": "\n".join(pathlib.Path(p, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                                    for p in pathlib.Path("/proc").glob("[0-9]*") if (p / "cmdline").exists()),
             "audit": kubernetes.control.audit.read_text()}
    for pod in kubernetes.get("pods") + operators(kubernetes):
        name, ns = pod["metadata"]["name"], pod["metadata"]["namespace"]
        texts[f"log of {name}"] = kubernetes.kubectl("logs", "-n", ns, name, "--all-containers", "--tail=-1")
    found = [f"{name} in {where}" for name, value in secrets_of(kubernetes) for where, text in texts.items()
             if value in text]
    assert not found


def test_a_deleted_cluster_leaves_nothing_that_runs(kubernetes):
    kubernetes.kubectl("delete", "nodeset,partition.slurmkeeper.dev", "--all", "-n", "slurm", timeout=150)
    eventually(lambda: not kubernetes.get("controllers"), "the Controller is gone")
    eventually(lambda: not kubernetes.get("pods"), "the pods are gone")


# Rights for what does not happen in this run, each with the reason why the operator has it.
NOT_DONE_HERE = {
    ("monitoring.coreos.com", "servicemonitors"): "needs the Prometheus operator",
    ("", "persistentvolumeclaims"): "claims of NodeSets (volumeClaimTemplates)",
    ("", "secrets:update"): "a certificate of the webhook that comes to its end",
    ("", "secrets:patch"): "keys that are changed (docs/keys.md)",
    ("", "services:patch"): "a Service that somebody has changed",
    ("apps", "deployments:patch"): "a changed LoginSet or RestApi",
    ("apps", "controllerrevisions:delete"): "revisions beyond revisionHistoryLimit",
    ("apps", "statefulsets:patch"): "another image of slurmctld",
    ("policy", "poddisruptionbudgets:patch"): "a budget that somebody has changed",
}


def rules_of(kubernetes):
    for kind, ns in (("clusterrole", None), ("role", "slurmkeeper")):
        role = json.loads(kubernetes.kubectl("get", kind, "slurmkeeper-operator", *(["-n", ns] if ns else []), "-o", "json"))
        for rule in role["rules"]:
            for group in rule["apiGroups"]:
                for resource in rule["resources"]:
                    for verb in rule["verbs"]:
                        yield group, resource, verb


def done_by_operators(kubernetes):
    """What they did, and what they were never allowed to."""
    done = set()
    refused = {}
    for line in kubernetes.control.audit.read_text().splitlines():
        e = json.loads(line)
        ref = e.get("objectRef") or {}
        if "slurmkeeper-operator" not in e["user"]["username"] or not ref.get("resource"):
            continue
        resource = ref["resource"] + (f"/{ref['subresource']}" if ref.get("subresource") else "")
        what = ref.get("apiGroup", ""), resource, e["verb"]
        if e.get("responseStatus", {}).get("code") == 403:
            refused[what] = e["responseStatus"].get("message")
        else:
            done.add(what)
    # a server that has just started does not know the roles yet
    return done, {what: why for what, why in refused.items() if what not in done}


# Kinds of ours that this file makes no objects of; that they are watched is seen.
MADE_HERE = {"controllers", "nodesets", "partitions"}


def test_nothing_was_refused_and_every_right_was_used(kubernetes):
    done, refused = done_by_operators(kubernetes)
    assert not refused
    rights = set(rules_of(kubernetes))
    assert not done - rights - {(g, r, v) for g, r, v in done if g == "authorization.k8s.io"}
    unused = {(g, r, v) for g, r, v in rights - done
              if (g, r) not in NOT_DONE_HERE and (g, f"{r}:{v}") not in NOT_DONE_HERE
              and not r.endswith("/finalizers")  # asked by the API server where owners are protected
              and v != "get"                     # what is listed and watched may be read, too
              and not ("slurm" in g and r.split("/")[0] not in MADE_HERE)}
    assert not unused
