# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmkeeper plan against the API server: what would change, and how.  There is no agent here."""
import json
import os
import subprocess

import pytest

from conftest import PROGRAM, TOP, eventually

NS = "planned"
CLUSTER = """
apiVersion: v1
kind: Namespace
metadata: {name: planned}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab, namespace: planned}
spec:
  extraConf: |
    SchedulerTimeSlice=30
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute, namespace: planned}
spec: {controllerRef: {name: lab}, replicas: 0, partition: {config: MaxTime=60}}
---
apiVersion: slurmkeeper.dev/v1alpha1
kind: Partition
metadata: {name: debug, namespace: planned}
spec: {controllerRef: {name: lab}, nodeSetRefs: [{name: compute}], maxTime: 30}
"""


@pytest.fixture(scope="module")
def lab(cluster):
    if "operator" not in cluster.children:
        cluster.kubectl("apply", "-f", str(TOP / "deploy/crds"))
        cluster.start_operator()
    cluster.apply(CLUSTER)
    eventually(lambda: "PartitionName=debug" in
               cluster.get("configmap", "lab-config", NS)["data"]["slurm.conf"], "slurm.conf")
    return cluster


def plan(lab, text=None, *args):
    """Exit status, standard output and standard error."""
    env = {**os.environ, "KUBECONFIG": str(lab.kubeconfig)}
    done = subprocess.run([PROGRAM, "plan", *(["-f", "-"] if text else []), *args], input=text,
                          env=env, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def changes(lab, text):
    code, out, _ = plan(lab, text, "-o", "json")
    (found,) = [c for c in json.loads(out)["clusters"] if c["namespace"] == NS]
    return code, found["class"], [(c["class"], c["change"]) for c in found["changes"]]


def test_what_is_there_is_no_change(lab):
    assert changes(lab, CLUSTER) == (0, "none", [])
    code, out, _ = plan(lab, CLUSTER)
    assert code == 0 and "no change" in out and "the cluster has no agent" in out


def test_an_edited_partition_is_a_call(lab):
    assert changes(lab, CLUSTER.replace("maxTime: 30", "maxTime: 1-0")) == (
        2, "rpc", [("rpc", "partition debug: MaxTime: 00:30:00 -> 1-00:00:00")])
    # The same value in other words is none.
    assert changes(lab, CLUSTER.replace("maxTime: 30", "maxTime: '0:30:00'"))[0] == 0


def test_a_setting_of_the_cluster_is_a_reconfigure(lab):
    code, klass, found = changes(lab, CLUSTER.replace("TimeSlice=30", "TimeSlice=40"))
    assert (code, klass) == (2, "reconfigure")
    assert found == [("reconfigure", "SchedulerTimeSlice: 30 -> 40")]


def test_some_settings_are_a_restart(lab):
    code, klass, found = changes(lab, CLUSTER.replace("SchedulerTimeSlice=30",
                                                      "SlurmctldParameters=idle_on_node_suspend\n"
                                                      "    TLSParameters=load_system_certificates"))
    assert (code, klass) == (2, "restart")
    assert ("restart", "TLSParameters") in [(k, w.split(":")[0]) for k, w in found]


def test_a_new_cluster_is_told(lab):
    code, out, _ = plan(lab, CLUSTER.replace("name: lab", "name: fresh").replace(
        "name: compute", "name: fresh-nodes").replace("name: debug", "name: fresh-debug"))
    assert code == 2 and "the cluster is new" in out


def test_errors_name_the_document(lab):
    code, _, words = plan(lab, CLUSTER.replace("maxTime: 30", "maxTime: soon"))
    assert code == 1
    assert "standard input, document 4: Partition planned/debug: spec.maxTime" in words


def test_nothing_was_changed(lab):
    assert lab.get("partition", "debug", NS)["metadata"]["generation"] == 1
    assert [c["metadata"]["name"] for c in lab.get("controllers", ns=NS)] == ["lab"]


def test_without_manifests_all_clusters_are_looked_at(lab):
    code, out, _ = plan(lab)
    assert f"cluster {NS}/lab" in out and code in (0, 2)


def test_a_wrong_output_is_an_error(lab):
    assert plan(lab, None, "-o", "xml")[0] == 1


def test_a_restart_is_warned_about_on_apply(lab):
    done = subprocess.run(["kubectl", "--kubeconfig", str(lab.kubeconfig), "patch", "controller",
                           "lab", "-n", NS, "--type=merge", "--dry-run=server", "-p",
                           '{"spec":{"extraConf":"TLSParameters=load_system_certificates\\n"}}'],
                          capture_output=True, text=True, timeout=60, check=True)
    assert "Warning: spec.extraConf: slurmctld is restarted for this" in done.stderr
