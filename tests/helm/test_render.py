# SPDX-License-Identifier: GPL-2.0-or-later
"""What the charts render to."""
import subprocess

import pytest
import yaml
from conftest import TOP, helm, render

COMPUTE = {"replicas": 8, "partition": {"enabled": True, "config": "Default=YES"}}
GPU = {"replicas": 2, "partition": {"enabled": True, "config": "MaxTime=1-00:00:00"}}


def of_kind(objects, kind):
    return {o["metadata"]["name"]: o for o in objects if o["kind"] == kind}


def spec(objects, kind, name="slurm"):
    return of_kind(objects, kind)[name]["spec"]


@pytest.mark.parametrize("chart", ["slurmkeeper", "slurm"])
def test_helm_lint_finds_nothing(chart):
    said = helm("lint", "--strict", TOP / "charts" / chart).stdout
    assert "0 chart(s) failed" in said and "[WARNING]" not in said


def without_helm(o):
    """Labels and annotations that a chart adds."""
    o["metadata"].pop("annotations", None)
    o["metadata"].pop("labels", None)
    if o["kind"] == "Deployment":
        for c in o["spec"]["template"]["spec"]["containers"]:
            c.pop("imagePullPolicy", None)
    return o


def test_the_operators_chart_is_what_kubectl_apply_k_applies():
    text = helm("template", "x", TOP / "charts/slurmkeeper", "-n", "slurmkeeper").stdout
    chart = {(o["kind"], o["metadata"]["name"]): without_helm(o) for o in yaml.safe_load_all(text) if o}
    text = subprocess.run(["kubectl", "kustomize", TOP / "deploy"], capture_output=True, text=True, check=True).stdout
    plain = {(o["kind"], o["metadata"]["name"]): without_helm(o) for o in yaml.safe_load_all(text)}
    plain.pop(("Namespace", "slurmkeeper"))  # helm's --create-namespace
    assert chart.keys() == plain.keys()
    for key in plain:
        assert chart[key] == plain[key], key


def test_in_some_namespaces_nothing_of_the_whole_cluster_is_asked_for():
    text = helm("template", "x", TOP / "charts/slurmkeeper", "-n", "home", "--set", "namespaces={a,b}").stdout
    objects = [o for o in yaml.safe_load_all(text) if o]
    assert {o["metadata"].get("namespace") for o in objects if o["kind"] != "CustomResourceDefinition"} == {"home", "a", "b"}
    plain = [r for o in yaml.safe_load_all((TOP / "deploy/namespaced/rbac.yaml").read_text()) if o for r in o.get("rules", [])]
    for name in ("a", "b"):
        role = next(o for o in objects if o["kind"] == "Role" and o["metadata"]["namespace"] == name)
        assert all(rule in plain for rule in role["rules"])
    arguments = next(o for o in objects if o["kind"] == "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]
    assert {"--namespace=a", "--namespace=b"} <= set(arguments) and not [a for a in arguments if "webhook" in a]


def test_definitions_survive_an_uninstallation():
    for o in render("slurmkeeper"):
        if o["kind"] == "CustomResourceDefinition":
            assert o["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


@pytest.mark.parametrize("values", [
    {"nodesets": {"compute": COMPUTE, "gpu": GPU}},
    {"nodesets": [{"name": "compute", **COMPUTE}, {"name": "gpu", **GPU}]},
    {"nodeSets": {"compute": COMPUTE, "gpu": GPU}},
    {"nodesets": {"compute": COMPUTE}, "nodeSets": [{"name": "gpu", **GPU}]},
], ids=["map", "list", "nodeSets", "both"])
def test_every_spelling_gives_the_same_node_sets(values):
    sets = of_kind(render("slurm", values), "NodeSet")
    assert sorted(sets) == ["slurm-worker-compute", "slurm-worker-gpu"]
    compute = sets["slurm-worker-compute"]["spec"]
    assert compute["controllerRef"] == {"name": "slurm"} and compute["replicas"] == 8
    assert compute["partition"] == {"enabled": True, "config": "Default=YES"}
    assert compute["template"]["spec"]["hostname"] == "compute-"


def test_the_seeds_values_work():
    objects = render("slurm", {
        "nodeSets": {"compute": COMPUTE, "gpu": GPU},
        "controller": {"extraConf": "PartitionName=debug Nodes=compute MaxTime=00:30:00\n"}})
    assert spec(objects, "Controller")["extraConf"] == "PartitionName=debug Nodes=compute MaxTime=00:30:00"
    image = {"repository": "ghcr.io/slinkyproject/slurmd", "tag": "25.05-rockylinux9"}
    objects = render("slurm", {"nodesets": {"compute": {
        "enabled": True, "replicas": 3, "slurmd": {"image": image, "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}},
        "partition": {"enabled": True}}}})
    assert spec(objects, "NodeSet", "slurm-worker-compute")["slurmd"] == {
        "image": "ghcr.io/slinkyproject/slurmd:25.05-rockylinux9", "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}


def test_partitions_over_several_node_sets():
    objects = render("slurm", {
        "nodesets": {"a": {}, "b": {}}, "controller": {"extraConfMap": {"SlurmctldDebug": "info", "Licenses": ["x:1", "y:2"]}},
        "partitions": {"both": {"nodesets": ["a", "b"], "configMap": {"MaxTime": 5, "AllowGroups": ["g", "h"]}},
                       "all": {"nodesets": ["ALL"], "config": "Default=YES"}, "off": {"enabled": False, "nodesets": ["a"]}}})
    lines = [line for line in spec(objects, "Controller")["extraConf"].splitlines() if line]
    assert lines == ["Licenses=x:1,y:2", "SlurmctldDebug=info", "PartitionName=all Nodes=ALL Default=YES",
                     "PartitionName=both Nodes=a,b AllowGroups=g,h MaxTime=5"]


def test_files_and_scripts_become_config_maps():
    objects = render("slurm", {"configFiles": {"gres.conf": "AutoDetect=off\n"}, "prologScripts": {"90-a": "#!/bin/sh\n"},
                               "epilogSlurmctldScripts": {"b": "#!/bin/sh\n"}, "configFileRefs": [{"name": "mine"}]})
    maps = of_kind(objects, "ConfigMap")
    assert maps["slurm-config-extra"]["data"] == {"gres.conf": "AutoDetect=off\n"}
    assert maps["slurm-prolog-scripts"]["data"] == {"prolog-90-a": "#!/bin/sh\n"}
    assert maps["slurm-epilog-slurmctld-scripts"]["data"] == {"epilog-slurmctld-b": "#!/bin/sh\n"}
    controller = spec(objects, "Controller")
    assert controller["configFileRefs"] == [{"name": "mine"}, {"name": "slurm-config-extra"}]
    assert controller["prologScriptRefs"] == [{"name": "slurm-prolog-scripts"}]
    assert controller["epilogSlurmctldScriptRefs"] == [{"name": "slurm-epilog-slurmctld-scripts"}]


def test_the_other_kinds():
    objects = render("slurm", {
        "accounting": {"enabled": True, "storageConfig": {"host": "db", "passwordKeyRef": {"name": "p", "key": "k"}}},
        "restapi": {"enabled": True, "replicas": 2, "pdb": {"enabled": True}},
        "loginsets": {"ssh": {"rootSshAuthorizedKeys": "ssh-ed25519 AAAA"}}, "sssd": {"conf": "[sssd]\n"}})
    assert spec(objects, "Accounting")["jwtKeyRef"] == {"name": "slurm-auth-jwt", "key": "jwt.key"}
    assert spec(objects, "Controller")["accountingRef"] == {"name": "slurm"}
    assert spec(objects, "RestApi") == {"controllerRef": {"name": "slurm"}, "replicas": 2}
    assert spec(objects, "LoginSet", "slurm-login-ssh")["sssdConfRef"] == {"name": "slurm-sssd-conf", "key": "sssd.conf"}
    assert of_kind(objects, "PodDisruptionBudget")["slurm-restapi"]["spec"]["minAvailable"] == 1


@pytest.mark.parametrize("values,words", [
    ({"nodesets": {"a": {"replica": 3}}}, "replica"),
    ({"nodesets": {"a": {"replicas": -1}}}, "replicas"),
    ({"nodesets": [{"replicas": 1}]}, "name"),
    ({"nodesets": {"a": {}}, "nodeSets": {"a": {}}}, "'a' is there twice"),
    ({"partitions": {"p": {"nodesets": ["a"]}}}, "there is no node set 'a'"),
    ({"partitions": {"p": {}}}, "nodesets is empty"),
    ({"vendor": {"nvidia": {"dcgm": {"enabled": True}}}}, "vendor.nvidia"),
    ({"nodset": {}}, "nodset"),
])
def test_what_would_be_without_effect_is_refused(values, words):
    done = helm("template", "slurm", TOP / "charts/slurm", "-f", "-", text=yaml.safe_dump(values), check=False)
    assert done.returncode != 0 and words in done.stderr, done.stderr
