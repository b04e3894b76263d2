# SPDX-License-Identifier: GPL-2.0-or-later
"""deploy/ as `kubectl apply -k` sees it: complete, no more allowed than the code needs, and fit for the
pod security level that it claims.
"""
import json
import os
import pathlib
import re
import subprocess

import pytest
import yaml

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLURMKEEPER", str(TOP / "build/src/cli/slurmkeeper"))
KUBECTL = os.environ.get("KUBECTL", "kubectl")


def said(*argv):
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout


def load(text):
    return [o for o in yaml.safe_load_all(text) if o]


def knows_kustomizations_of_today():
    version = json.loads(said(KUBECTL, "version", "--client", "-o", "json"))["clientVersion"]
    return int(re.sub(r"\D.*", "", version["minor"])) >= 21


pytestmark = pytest.mark.skipif(not knows_kustomizations_of_today(),
                                reason="`kubectl kustomize` before 1.21 takes no directories as resources")


def render(path):
    return load(said(KUBECTL, "kustomize", str(path)))


@pytest.fixture(scope="module", name="whole")
def the_whole():
    return render(TOP / "deploy")


@pytest.fixture(scope="module", name="namespaced")
def the_namespaced():
    return render(TOP / "deploy/namespaced")


def of_kind(objects, kind):
    return [o for o in objects if o["kind"] == kind]


def one(objects, kind):
    found = of_kind(objects, kind)
    assert len(found) == 1, [o["metadata"]["name"] for o in found]
    return found[0]


def pod_of(objects):
    return one(objects, "Deployment")["spec"]["template"]["spec"]


def container_of(objects):
    return pod_of(objects)["containers"][0]


def test_every_definition_is_there(whole):
    ours = {o["metadata"]["name"] for o in load(said(PROGRAM, "crds"))}
    assert {o["metadata"]["name"] for o in of_kind(whole, "CustomResourceDefinition")} == ours


def normal(rules):
    return sorted(json.dumps(r, sort_keys=True) for r in rules)


@pytest.mark.parametrize("tree,arguments", [("whole", []), ("namespaced", ["--namespace", "slurm", "--watch", "slurm"])])
def test_the_roles_are_those_of_the_code(tree, arguments, request):
    objects = request.getfixturevalue(tree)
    for wanted in load(said(PROGRAM, "rbac", *arguments)):
        found = [o for o in of_kind(objects, wanted["kind"]) if o["metadata"] == wanted["metadata"]]
        assert len(found) == 1, wanted["metadata"]
        assert normal(found[0].get("rules", [])) == normal(wanted.get("rules", []))
    roles = [o for o in objects if o["kind"] in ("Role", "ClusterRole")]
    assert len(roles) == len([o for o in load(said(PROGRAM, "rbac", *arguments)) if "rules" in o])


@pytest.mark.parametrize("tree", ["whole", "namespaced"])
def test_the_deployment_is_whom_the_roles_are_given_to(tree, request):
    objects = request.getfixturevalue(tree)
    account = one(objects, "ServiceAccount")["metadata"]
    deployment = one(objects, "Deployment")
    assert pod_of(objects)["serviceAccountName"] == account["name"]
    assert deployment["metadata"]["namespace"] == account["namespace"]
    for binding in of_kind(objects, "RoleBinding") + of_kind(objects, "ClusterRoleBinding"):
        assert [(s["name"], s["namespace"]) for s in binding["subjects"]] == \
            [(account["name"], account["namespace"])]


# https://kubernetes.io/docs/concepts/security/pod-security-standards, the level `restricted`
@pytest.mark.parametrize("tree", ["whole", "namespaced"])
def test_the_operator_fits_the_restricted_level(tree, request):
    pod = pod_of(request.getfixturevalue(tree))
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for forbidden in ("hostNetwork", "hostPID", "hostIPC", "volumes", "initContainers"):
        assert forbidden not in pod
    for container in pod["containers"]:
        own = container["securityContext"]
        assert own["allowPrivilegeEscalation"] is False
        assert own["readOnlyRootFilesystem"] is True
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert not {"privileged", "procMount", "seLinuxOptions"} & own.keys()
        assert not [p for p in container.get("ports", []) if "hostPort" in p]


def test_its_namespace_enforces_that_level(whole):
    labels = one(whole, "Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("tree", ["whole", "namespaced"])
def test_one_of_two_may_be_missing(tree, request):
    objects = request.getfixturevalue(tree)
    spec = one(objects, "Deployment")["spec"]
    assert spec["replicas"] == 2
    assert "--leader-elect" in container_of(objects)["args"]
    assert one(objects, "PodDisruptionBudget")["spec"]["maxUnavailable"] == 1
    labels = spec["template"]["metadata"]["labels"]
    for selector in (spec["selector"], one(objects, "PodDisruptionBudget")["spec"]["selector"],
                     one(objects, "NetworkPolicy")["spec"]["podSelector"]):
        assert selector["matchLabels"].items() <= labels.items()
    for service in of_kind(objects, "Service"):
        assert service["spec"]["selector"].items() <= labels.items()


@pytest.mark.parametrize("tree", ["whole", "namespaced"])
def test_the_program_takes_the_arguments(tree, request):
    """With a kubeconfig that is not there it goes no further than that."""
    arguments = [a.replace("$(POD_NAMESPACE)", "slurm") for a in container_of(request.getfixturevalue(tree))["args"]]
    done = subprocess.run([PROGRAM, *arguments, "--kubeconfig", "/nowhere"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 1 and "/nowhere" in done.stderr, done.stderr


def test_the_webhook_leads_to_the_operator_and_blocks_nobody(whole):
    hook = one(whole, "ValidatingWebhookConfiguration")["webhooks"][0]
    target = hook["clientConfig"]["service"]
    service = next(s for s in of_kind(whole, "Service") if s["metadata"]["name"] == target["name"])
    assert service["metadata"]["namespace"] == target["namespace"]
    port = next(p for p in service["spec"]["ports"] if p["port"] == target["port"])
    listens = {p["name"]: p["containerPort"] for p in container_of(whole)["ports"]}
    assert f"--webhook=0.0.0.0:{listens[port['targetPort']]}" in container_of(whole)["args"]
    assert hook["failurePolicy"] == "Ignore" and hook["sideEffects"] == "None"
    allowed = [r for o in of_kind(whole, "ClusterRole") for r in o["rules"]
               if "validatingwebhookconfigurations" in r["resources"]]
    assert [r["resourceNames"] for r in allowed] == [["slurmkeeper-webhook"]]


def test_the_webhook_hears_of_every_kind(whole):
    rule = one(whole, "ValidatingWebhookConfiguration")["webhooks"][0]["rules"][0]
    for crd in of_kind(whole, "CustomResourceDefinition"):
        assert crd["spec"]["group"] in rule["apiGroups"]
        assert {v["name"] for v in crd["spec"]["versions"]} & set(rule["apiVersions"])
    assert rule["resources"] == ["*", "*/scale"]


def test_without_the_whole_cluster_nothing_of_it_is_touched(namespaced):
    assert {o["metadata"].get("namespace") for o in namespaced} == {"slurm"}
    assert not [a for a in container_of(namespaced)["args"] if a.startswith("--webhook")]


def test_the_monitor_finds_the_metrics(whole, tmp_path):
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
        "resources": [os.path.relpath(TOP / "deploy", tmp_path)],
        "components": [os.path.relpath(TOP / "deploy/components/service-monitor", tmp_path)]}))
    monitor = one(render(tmp_path), "ServiceMonitor")
    services = [s for s in of_kind(whole, "Service")
                if monitor["spec"]["selector"]["matchLabels"].items() <= s["metadata"].get("labels", {}).items()]
    assert len(services) == 1
    assert monitor["spec"]["endpoints"][0]["port"] in [p["name"] for p in services[0]["spec"]["ports"]]
