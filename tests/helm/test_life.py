# SPDX-License-Identifier: GPL-2.0-or-later
"""A release from its installation to its end, with the operator beside it; no node runs the pods."""
import json
import subprocess

import pytest
from conftest import TOP, eventually, helm

NODES = ["--set", "nodesets.compute.replicas=2", "--set", "nodesets.compute.partition.enabled=true"]


@pytest.fixture(scope="module", name="run")
def a_helm(cluster, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")

    def run(*argv, **more):
        return helm(*argv, kubeconfig=cluster.kubeconfig, home=home, **more)
    return run


def conf(cluster):
    return cluster.get("configmap", "slurm-config")["data"]["slurm.conf"]


def test_the_operator_is_installed(cluster, run):
    run("install", "slurmkeeper", TOP / "charts/slurmkeeper", "-n", "slurmkeeper", "--create-namespace")
    assert cluster.get("deployment", "slurmkeeper-operator", ns="slurmkeeper")["spec"]["replicas"] == 2
    cluster.kubectl("wait", "--for=condition=Established", "crd/nodesets.slinky.slurm.net", "--timeout=30s")
    cluster.start_operator()  # no node would run that of the Deployment


def test_a_cluster_is_installed(cluster, run):
    said = run("install", "slurm", TOP / "charts/slurm", "-n", "slurm", "--create-namespace", *NODES).stdout
    assert "kubectl -n slurm scale nodeset/slurm-worker-compute" in said
    eventually(lambda: "NodeSet=compute Feature=compute" in conf(cluster), "the configuration")
    eventually(lambda: cluster.get("pod", "slurm-worker-compute-1"), "the worker pods")
    assert cluster.get("secret", "slurm-auth-slurm")["data"].keys() == {"slurm.key"}


def key(cluster):
    return cluster.get("secret", "slurm-auth-slurm")["data"]["slurm.key"]


def test_an_upgrade_is_followed_and_changes_no_key(cluster, run):
    before = key(cluster)
    run("upgrade", "slurm", TOP / "charts/slurm", "-n", "slurm", "--reuse-values", "--set",
        "nodesets.compute.partition.config=MaxTime=60", "--set", "nodesets.compute.replicas=3")
    eventually(lambda: "PartitionName=compute Nodes=compute MaxTime=60" in conf(cluster), "the edit")
    eventually(lambda: cluster.get("pod", "slurm-worker-compute-2"), "the third pod")
    assert key(cluster) == before


def test_a_refused_upgrade_leaves_what_was(cluster, run):
    done = run("upgrade", "slurm", TOP / "charts/slurm", "-n", "slurm", "--reuse-values", "--set",
               "nodesets.compute.partition.config=MaxTime=soon", check=False)
    assert done.returncode != 0 and "is not a time" in done.stderr, done.stderr
    assert "MaxTime=60" in conf(cluster)


def test_a_rollback_brings_back_what_was(cluster, run):
    run("rollback", "slurm", "1", "-n", "slurm")
    eventually(lambda: "MaxTime=60" not in conf(cluster), "the edit is undone")
    history = json.loads(run("history", "slurm", "-n", "slurm", "-o", "json").stdout)
    assert [h["status"] for h in history] == ["superseded", "superseded", "failed", "deployed"]


def test_an_object_made_by_hand_is_taken_over(cluster, run):
    cluster.apply("""
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: slurm-worker-hand, namespace: slurm}
spec: {controllerRef: {name: slurm}, replicas: 1, template: {spec: {hostname: hand-}}}
""")
    more = ["-n", "slurm", "--reuse-values", "--set", "nodesets.hand.replicas=1"]
    refused = run("upgrade", "slurm", TOP / "charts/slurm", *more, check=False)
    assert refused.returncode != 0 and "cannot be imported" in refused.stderr
    uid = cluster.get("nodeset", "slurm-worker-hand")["metadata"]["uid"]
    for verb, what in (("label", "app.kubernetes.io/managed-by=Helm"), ("annotate", "meta.helm.sh/release-name=slurm"),
                       ("annotate", "meta.helm.sh/release-namespace=slurm")):
        cluster.kubectl(verb, "nodeset", "slurm-worker-hand", "-n", "slurm", what)
    run("upgrade", "slurm", TOP / "charts/slurm", *more)
    assert cluster.get("nodeset", "slurm-worker-hand")["metadata"]["uid"] == uid


def test_an_upgrade_of_the_operator_keeps_what_it_put_into_the_webhook(cluster, run):
    patch = [{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "Q0E="}]
    cluster.kubectl("patch", "validatingwebhookconfiguration", "slurmkeeper-webhook", "--type=json", "-p", json.dumps(patch))
    run("upgrade", "slurmkeeper", TOP / "charts/slurmkeeper", "-n", "slurmkeeper", "--set", "replicas=3")
    hook = cluster.get("validatingwebhookconfiguration", "slurmkeeper-webhook")["webhooks"][0]
    assert hook["clientConfig"]["caBundle"] == "Q0E="
    assert cluster.get("deployment", "slurmkeeper-operator", ns="slurmkeeper")["spec"]["replicas"] == 3


def test_an_uninstallation_ends_the_cluster(cluster, run):
    run("uninstall", "slurm", "-n", "slurm", "--timeout=60s")
    eventually(lambda: not cluster.get("nodesets"), "the NodeSets are gone")
    eventually(lambda: not cluster.get("controllers"), "the Controller is gone")


def test_an_uninstallation_of_the_operator_keeps_the_definitions(cluster, run):
    run("uninstall", "slurmkeeper", "-n", "slurmkeeper")
    with pytest.raises((AssertionError, subprocess.CalledProcessError)):
        cluster.get("deployment", "slurmkeeper-operator", ns="slurmkeeper")
    assert cluster.get("crd", "nodesets.slinky.slurm.net")
