# SPDX-License-Identifier: GPL-2.0-or-later
"""`slurmkeeper export -o values`: the chart makes the same cluster of them."""
import os
import subprocess

import pytest
import yaml
from conftest import PROGRAM, TOP, helm

NS = "moving"
LAB = """
apiVersion: v1
kind: Namespace
metadata: {name: moving}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: files, namespace: moving}
data: {gres.conf: "# {{ not a template }} {{`nor this`}}\\n"}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab, namespace: moving, annotations: {slurmkeeper.dev/slurm-version: "24.11"}}
spec:
  clusterName: keep_me
  persistence: {enabled: false}
  configFileRefs: [{name: files}]
  extraConf: |
    SchedulerTimeSlice=30
    PartitionName=all Nodes=ALL
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute, namespace: moving}
spec:
  controllerRef: {name: lab}
  replicas: 0
  partition: {config: MaxTime=60}
  slurmd: {resources: {limits: {cpu: 2}}}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: big, namespace: moving}
spec:
  controllerRef: {name: lab}
  replicas: 3
  extraConf: Weight=7
  template: {spec: {hostname: gpu-}}
  updateStrategy: {rollingUpdate: {maxUnavailable: 1}}
---
apiVersion: slinky.slurm.net/v1beta1
kind: RestApi
metadata: {name: rest, namespace: moving}
spec: {controllerRef: {name: lab}, replicas: 0}
---
apiVersion: slurmkeeper.dev/v1alpha1
kind: Partition
metadata: {name: debug, namespace: moving}
spec: {controllerRef: {name: lab}, nodeSetRefs: [{name: big}, {name: compute}], maxTime: 30}
"""


def ask(cluster, *argv, text=None):
    env = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    done = subprocess.run([PROGRAM, *argv], input=text, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", name="both")
def manifests_and_what_the_chart_makes(cluster):
    cluster.kubectl("apply", "-f", str(TOP / "deploy/crds"))
    cluster.apply(LAB)
    values = ask(cluster, "export", "-n", NS, "-o", "values")
    made = helm("template", "moved", TOP / "charts/slurm", "-n", NS, "-f", "-", text=values).stdout
    return ask(cluster, "export", "-n", NS), made


def test_the_files_are_the_same(cluster, both):
    files = [ask(cluster, "render", "-f", "-", text=text) for text in both]
    assert sorted(files[0].splitlines()) == sorted(files[1].splitlines())
    assert "NodeSet=gpu" in files[0] and "ClusterName=keep_me" in files[0]


def trimmed(value):
    return value.strip() if isinstance(value, str) else value


def of_kind(text, kind):
    return {o["metadata"]["name"]: o for o in yaml.safe_load_all(text) if o and o["kind"] == kind}


def test_the_objects_are_the_same_but_for_names_of_node_sets(both):
    for kind, new_name in (("Controller", {}), ("NodeSet", {"compute": "lab-worker-compute", "big": "lab-worker-gpu"}),
                           ("RestApi", {}), ("ConfigMap", {})):
        old, new = of_kind(both[0], kind), of_kind(both[1], kind)
        for name, o in old.items():
            other = new[new_name.get(name, name)]
            for part in ("spec", "data"):
                for key, value in o.get(part, {}).items():
                    if key != "template" and value is not False and value not in ({}, [], "", None):
                        assert trimmed(other[part][key]) == trimmed(value), f"{kind} {name}: {key}"
    assert of_kind(both[1], "Controller")["lab"]["metadata"]["annotations"] == {"slurmkeeper.dev/slurm-version": "24.11"}
