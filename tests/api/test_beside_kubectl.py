# SPDX-License-Identifier: GPL-2.0-or-later
"""kubectl on the embedded server beside kubectl on a real one: the same commands, the same words.

Each case is a session: commands that build on each other, in a namespace of the same name on both.
Deployments have no replicas, so that it does not matter who runs pods.
"""
import re

import pytest

from lib import objects
from lib.kubectl import Kubectl, find_kubectls

# Those of a release near the server's: an old one asks for API versions that are gone by now.
KUBECTLS = {minor: path for minor, path in find_kubectls().items() if minor >= 30}
BLANK = [(re.compile(pattern), text) for pattern, text in (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000", "TIME"),
    (r"resourceVersion: \"\d+\"", "resourceVersion: N"),
    (r"Resource Version:  +\d+", "Resource Version: N"),
    # What a patch has made of an object, and why it is none: our server does not show the object.
    (r'patch: Invalid value: "(.|\n)*', "patch: Invalid value"),
    # Ours keeps the null in stored templates: their hash names the revisions of what runs.
    (r'"creationTimestamp":null,', ""),
    # Since 1.33; our server counts no generations of pods and leaves this default to its controller.
    (r"  generation: \d+\n", ""), (r"  podReplacementPolicy: TerminatingOrFailed\n", ""),
    (r"kube-api-access-\w{5}", "kube-api-access-X"),
    (r"10\.96\.\d+\.\d+", "ADDRESS"),
    (r"\b\d+(ms|s)\b", "AGE"),
    (r"<(invalid|unknown)>", "AGE"),
    (r"https://127\.0\.0\.1:\d+", "SERVER"),
    (r"(/tmp/[A-Z]+-)\d+", r"\1N"),
    (r" +\n", "\n"), (r"  +", "  "),
)]


def blank(text):
    for pattern, new in BLANK:
        text = pattern.sub(new, text)
    return text


@pytest.fixture(params=sorted(KUBECTLS), ids=lambda m: f"k{m}")
def session(request, both, unique, tmp_path):
    """Run a command on both servers and compare exit code, output and complaints."""
    tools = []
    for side, api in (("real", both.real), ("ours", both.ours)):
        api.post("/api/v1/namespaces", objects.namespace(unique)).ok(201)
        api.until(f"/api/v1/namespaces/{unique}/serviceaccounts/default", lambda a: a.code == 200)
        home = tmp_path / side
        home.mkdir()
        tool = Kubectl(KUBECTLS[request.param], request.param, api.config, str(home))
        tool.namespace = unique
        tools.append(tool)

    def run(*args, stdin=None, out=True):
        runs = [tool.run(*args, stdin=stdin) for tool in tools]
        both.compare(" ".join(map(str, args)), *[
            (r.code, blank(r.out) if out else None, blank(r.err)) for r in runs])
        return runs

    run.minor, run.ns = request.param, unique
    yield run
    both.each(lambda api: api.delete("/api/v1/namespaces/" + unique))


def deployment(**spec):
    return objects.deployment("web", replicas=0, **spec)


def test_apply_says_what_it_did(session):
    body = objects.configmap("c", {"a": "1", "b": "2"})
    for data in ({"a": "1", "b": "2"}, {"a": "1", "b": "2"}, {"a": "3"}):
        session("diff", "-f", "-", stdin={**body, "data": data}, out=False)
        session("apply", "-f", "-", stdin={**body, "data": data})
        session("get", "cm", "c", "-o", "yaml")
    session("apply", "-f", "-", stdin={**body, "data": {"a": 5}})
    session("apply", "-f", "-", stdin={**body, "wrong": {"a": 5}})
    session("apply", "-f", "-", "--validate=warn", stdin={**body, "wrong": {"a": 5}})
    session("apply", "-f", "-", "--dry-run=server", stdin={**body, "data": {"z": "9"}})
    session("apply", "-f", "-", "--dry-run=client", stdin={**body, "data": {"z": "9"}})
    session("apply", "view-last-applied", "cm", "c")
    session("replace", "-f", "-", stdin={**body, "data": {"r": "1"}})
    session("create", "-f", "-", stdin=body)
    session("delete", "cm", "c")
    session("delete", "cm", "c")
    session("delete", "cm", "c", "--ignore-not-found")


def test_server_side_apply_tells_of_conflicts(session):
    body = objects.configmap("c", {"a": "1", "b": "2"})
    apply = ("apply", "--server-side", "-f", "-")
    session(*apply, "--field-manager=one", stdin=body)
    session(*apply, "--field-manager=two", stdin={**body, "data": {"a": "9"}})
    session(*apply, "--field-manager=two", stdin={**body, "data": {"c": "9"}})
    session(*apply, "--field-manager=two", "--force-conflicts", stdin={**body, "data": {"a": "9"}})
    session(*apply, "--field-manager=one", stdin={**body, "data": {"b": "2"}})
    session("patch", "cm", "c", "--type=merge", "-p", '{"data":{"b":"5"}}')
    session(*apply, "--field-manager=one", stdin={**body, "data": {"b": "2"}})
    session("get", "cm", "c", "-o", "yaml", "--show-managed-fields")


def test_server_side_apply_of_lists_and_defaults(session):
    apply = ("apply", "--server-side", "-f", "-")
    first = deployment()
    session(*apply, "--field-manager=one", stdin=first)
    more = {"name": "main", "image": "registry.test/app:1", "env": [{"name": "A", "value": "1"}]}
    second = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
              "spec": {"template": {"spec": {"containers": [more]}}}}
    session(*apply, "--field-manager=two", stdin=second)
    more["image"] = "registry.test/app:2"
    session(*apply, "--field-manager=two", stdin=second)
    more["ports"] = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    session(*apply, "--field-manager=two", "--force-conflicts", stdin=second)
    more["ports"] = [{"containerPort": 80}, {"containerPort": 80}]
    session(*apply, "--field-manager=two", stdin=second)
    more["ports"] = [{"protocol": "TCP"}]
    session(*apply, "--field-manager=two", stdin=second)
    more["ports"] = [{"containerPort": "x"}]
    session(*apply, "--field-manager=two", stdin=second)
    session("get", "deployment", "web", "-o", "jsonpath={.spec.template}")


def test_changes_of_a_deployment(session):
    session("create", "-f", "-", stdin=deployment())
    session("scale", "deployment/web", "--replicas=0", "--current-replicas=3")
    session("scale", "deployment/web", "--replicas=-1")
    session("scale", "deployment/none", "--replicas=1")
    session("set", "image", "deployment/web", "main=registry.test/app:2")
    session("set", "image", "deployment/web", "none=registry.test/app:2")
    session("set", "env", "deployment/web", "A=b", "C=d")
    session("set", "env", "deployment/web", "--list")
    session("set", "resources", "deployment/web", "--limits=cpu=1,memory=1Gi")
    session("set", "serviceaccount", "deployment/web", "robot")
    session("label", "deployment/web", "a=b")
    session("label", "deployment/web", "a=c")
    session("label", "deployment/web", "a=c", "--overwrite")
    session("label", "deployment/web", "a-")
    session("label", "deployment/web", "bad!=c")
    session("annotate", "deployment/web", "n=o")
    session("expose", "deployment/web", "--port=80", "--cluster-ip=None")
    session("expose", "deployment/web", "--port=80", "--cluster-ip=None")
    session("patch", "deployment/web", "-p", '{"spec":{"replicas":"x"}}')
    session("patch", "deployment/web", "-p", '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}')
    session("patch", "deployment/web", "--type=json", "-p",
            '[{"op":"test","path":"/spec/replicas","value":7}]')
    session("patch", "deployment/web", "--type=json", "-p", '[{"op":"remove","path":"/spec/none"}]')
    session("get", "deployment", "web", "-o", "jsonpath={.spec}")
    session("rollout", "pause", "deployment/web")
    session("rollout", "pause", "deployment/web")
    session("rollout", "resume", "deployment/web")
    session("rollout", "status", "deployment/none")
    session("delete", "deployment", "web", "--dry-run=server")


@pytest.mark.parametrize("args", [
    "get pods", "get pods none", "get nothing", "get all", "get cm -o name", "get cm,secrets -o name",
    "get sa -o custom-columns=N:.metadata.name", "get sa default -o yaml", "get pods -l a=b,c!=d",
    "get pods -l a=(", "get pods --field-selector=a=b", "get pods --field-selector=status.phase=x",
    "get cm --sort-by=.metadata.name -o name", "get cm -o jsonpath={.items[*].metadata.name}",
    "get cm -o jsonpath={.items[", "get cm -o go-template={{len(.items)}}", "get --raw /readyz",
    "get --raw /api/v1/namespaces/none", "get --raw /nowhere", "get ns default -o name",
    "create cm a --from-literal=b=c -o yaml", "create cm A --from-literal=b=c", "create secret generic s",
    "create secret generic s --from-literal=a=b -o yaml", "create secret tls t --cert=none --key=none",
    "create sa robot -o yaml", "create token none", "create role r --verb=get --resource=pods -o yaml",
    "create role r --verb=get --resource=nothing", "create rolebinding b --clusterrole=view --user=x -o yaml",
    "create rolebinding b --role=x --serviceaccount=y", "create deployment d --image=x --replicas=0",
    "create job j --image=x --dry-run=server -o yaml", "create cronjob c --image=x --schedule=bad",
    "create quota q --hard=pods=1,cpu=x", "create quota q --hard=pods=1 -o yaml", "create service clusterip s --tcp=80 --clusterip=None -o yaml",
    "create service nodeport s --tcp=0", "create pdb p --selector=a=b --min-available=1 -o yaml",
    "create pdb p --selector=a=b", "create ns A", "create ingress i --rule=a.test/=s:80 -o yaml",
    "create priorityclass Bad! --value=1", "auth can-i get pods", "auth can-i get nothing",
    "auth can-i get pods --as joe", "auth can-i --list --as joe", "auth can-i use /healthz --as joe",
    "auth can-i get /metrics --as joe", "auth can-i delete pods --subresource=log --as joe",
    "auth can-i get pods/log --as joe -q", "auth can-i * *", "auth can-i get pods -A --as joe",
    "get pods --as joe", "get pods --as joe --as-group=x", "delete cm none", "delete cm --all",
    "delete pods -l a=b", "describe cm none", "describe sa default", "describe ns default", "logs none",
    "exec none -- ls", "attach none", "port-forward none 80", "cp none:/a /tmp/b", "wait cm none --for=delete",
    "wait sa default --for=jsonpath={.metadata.name}=default", "explain pod.spec.nothing", "explain nothing",
    "rollout status deploy/none", "rollout history deploy/none", "top pods", "cluster-info", "cordon none",
    "drain none", "taint nodes none a=b:NoSchedule", "label ns none a=b", "api-versions --none",
    "get events", "events", "version --none", "run p --image=x --dry-run=server -o yaml --restart=Never",
    "run P --image=x --restart=Never", "debug none --image=x", "auth whoami --as joe --as-group g", "auth whoami --as-uid 7 --as joe",
], ids=lambda a: a.replace(" ", "_")[:60])
def test_one_command(session, args):
    session(*args.split())


def test_roles_are_described_and_reconciled(session):
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"},
            "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
               "metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "joe"}],
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}}
    for doc in ([role], [role, binding], [{**role, "rules": [{
            "verbs": ["list"], "apiGroups": ["apps"], "resources": ["deployments"]}]}]):
        for each in doc:
            each["metadata"]["namespace"] = session.ns
        session("auth", "reconcile", "-f", "-", stdin=doc)
        session("auth", "reconcile", "-f", "-", stdin=doc)
    session("describe", "role", "r")
    session("describe", "rolebinding", "b")
    session("get", "roles,rolebindings", "-o", "wide")
    session("describe", "clusterrole", "view", out=False)
    session("create", "rolebinding", "c", "--role=none", "--user=x", "--as=joe")


@pytest.mark.parametrize("resource, obj", [
    ("service", objects.service("x", clusterIP="None")), ("pod", objects.pod("x")),
    ("pvc", objects.claim("x")), ("lease", objects.lease("x", holderIdentity="me")),
    ("statefulset", objects.statefulset("x")), ("job", objects.job("x", suspend=True)),
    ("secret", objects.secret("x", stringData={"a": "b"})), ("cm", objects.configmap("x", {"a": "b"})),
    ("replicaset", objects.replicaset("x")),
])
def test_objects_are_shown_the_same(session, resource, obj):
    session("create", "-f", "-", stdin=obj)
    for output in ("name", "wide", "yaml"):
        if output == "yaml" or resource not in ("statefulset", "replicaset", "job"):
            session("get", resource, "x", "-o", output, out=resource not in (
                "statefulset", "replicaset", "job"))
    session("get", resource)
    session("describe", resource, "x", out=resource not in ("job", "pvc"))
    session("delete", resource, "x", "--wait=false")
