# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmkeeper export: what comes out is what was declared, and another server takes it."""
import os
import subprocess

import pytest
import yaml

from conftest import PROGRAM, TOP, Cluster, eventually

NS = "moving"
LAB = """
apiVersion: v1
kind: Namespace
metadata: {name: moving}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: files, namespace: moving}
data: {gres.conf: "# {{ not a template }}\\n"}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: moving}
stringData: {slurm.key: the-key-of-this-cluster-0123456789abcdef}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab, namespace: moving, annotations: {slurmkeeper.dev/drift-policy: Revert}}
spec:
  slurmKeyRef: {name: key, key: slurm.key}
  configFileRefs: [{name: files}]
  extraConf: |
    SchedulerTimeSlice=30
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute, namespace: moving, labels: {team: physics}}
spec: {controllerRef: {name: lab}, replicas: 2, partition: {config: MaxTime=60}}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Accounting
metadata: {name: books, namespace: moving}
spec: {slurmKeyRef: {name: key, key: slurm.key}, jwtKeyRef: {name: lab-auth-jwt, key: jwt.key}}
---
apiVersion: slurmkeeper.dev/v1alpha1
kind: Partition
metadata: {name: debug, namespace: moving}
spec: {controllerRef: {name: lab}, nodeSetRefs: [{name: compute}], maxTime: 30}
"""


def run(cluster, *argv, text=None):
    env = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    done = subprocess.run([PROGRAM, *argv], input=text, env=env, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def export(cluster, *argv):
    code, out, words = run(cluster, "export", "-n", NS, *argv)
    assert code == 0, words
    return out, words


@pytest.fixture(scope="module", name="lab")
def a_lab(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp("export"))
    try:
        c.start_server()
        c.kubectl("apply", "-f", str(TOP / "deploy/crds"))
        c.start_operator()
        c.apply(LAB)
        eventually(lambda: "PartitionName=debug" in c.get("configmap", "lab-config", NS)["data"]["slurm.conf"], "slurm.conf")
        eventually(lambda: c.get("pod", "compute-1", NS), "pods")
        yield c
    finally:
        codes = {name: c.stop(name) for name in ("operator", "apiserver")}
    assert not [name for name, code in codes.items() if code not in (0, -15)], codes


def test_what_is_exported_changes_nothing(lab):
    text, _ = export(lab)
    code, out, words = run(lab, "plan", "-n", NS, "-f", "-", text=text)
    assert code == 0 and "no change" in out, out + words
    before = {o["metadata"]["name"]: o["metadata"]["generation"] for o in lab.get("nodesets", ns=NS) + lab.get("controllers", ns=NS)}
    lab.apply(text)
    assert before == {o["metadata"]["name"]: o["metadata"]["generation"]
                      for o in lab.get("nodesets", ns=NS) + lab.get("controllers", ns=NS)}


def test_what_was_declared_comes_out_and_nothing_else(lab):
    objects = list(yaml.safe_load_all(export(lab)[0]))
    assert [(o["kind"], o["metadata"]["name"]) for o in objects] == [
        ("Namespace", NS), ("ConfigMap", "files"), ("Accounting", "books"), ("Controller", "lab"), ("NodeSet", "compute"), ("Partition", "debug")]
    for o in objects:
        assert set(o["metadata"]) <= {"name", "namespace", "labels", "annotations"} and "status" not in o
    assert objects[4]["metadata"]["labels"] == {"team": "physics"}
    assert objects[3]["metadata"]["annotations"] == {"slurmkeeper.dev/drift-policy": "Revert"}


def test_what_another_cluster_will_lack_is_said(lab):
    _, words = export(lab)
    assert "Secret moving/key, which Accounting moving/books names, is left out" in words
    assert "NodeSet moving/compute names no image" in words
    text, words = export(lab, "--images", "22.05")
    assert "image" not in words and "slurmkeeper/slurmd:22.05" in text and "slurmkeeper/slurmctld:22.05" in text


def test_secrets_come_out_only_when_they_are_asked_for(lab):
    keys = {s["metadata"]["name"]: s["data"] for s in lab.get("secrets", ns=NS)}
    plain, _ = export(lab)
    assert not [v for data in keys.values() for v in data.values() if v in plain]
    objects = [o for o in yaml.safe_load_all(export(lab, "--secrets")[0]) if o["kind"] == "Secret"]
    assert {o["metadata"]["name"] for o in objects} == {"key", "lab-auth-jwt"}  # not the agent's
    for o in objects:
        assert o["data"] == keys[o["metadata"]["name"]]


def test_another_server_takes_it_and_gives_the_same(lab, tmp_path):
    text, _ = export(lab, "--secrets")
    other = Cluster(tmp_path)
    try:
        other.start_server()
        other.kubectl("apply", "-f", str(TOP / "deploy/crds"))
        other.apply(text)
        assert list(yaml.safe_load_all(export(other, "--secrets")[0])) == list(yaml.safe_load_all(text))
        other.start_operator()
        conf = eventually(lambda: other.get("configmap", "lab-config", NS)["data"], "slurm.conf")
        eventually(lambda: "PartitionName=debug" in other.get("configmap", "lab-config", NS)["data"]["slurm.conf"], "all of it")
        conf = other.get("configmap", "lab-config", NS)["data"]
        assert conf == lab.get("configmap", "lab-config", NS)["data"]
        assert other.get("secret", "lab-auth-jwt", NS)["data"] == lab.get("secret", "lab-auth-jwt", NS)["data"]
    finally:
        for name in list(other.children):
            other.stop(name)


def test_values_name_the_controller(lab):
    values = yaml.safe_load(export(lab, "-o", "values")[0])
    assert values["fullnameOverride"] == "lab" and values["nodesets"]["compute"]["replicas"] == 2
    code, _, words = run(lab, "export", "-n", NS, "-o", "values", "--controller", "none")
    assert code == 1 and "there is no Controller none" in words


def test_wrong_words_are_refused(lab):
    assert run(lab, "export", "-o", "xml")[0] == 2
    code, _, words = run(lab, "export", "-n", "nothing-here")
    assert code == 1 and "nothing is declared in namespace nothing-here" in words
