# SPDX-License-Identifier: GPL-2.0-or-later
"""kubectl apply (client side and server side), diff, prune, replace, edit, create -f."""
import re

import pytest
import yaml

from lib.crds import STRING, Crd, obj, version
from lib.objects import configmap, container, deployment, secret, service

LAST = "kubectl.kubernetes.io/last-applied-configuration"


def managers(api, url):
    found = api.get(url).ok()["metadata"]["managedFields"]
    return {(m["manager"], m["operation"]) for m in found}


def test_apply_creates_changes_and_leaves_alone(kubectl, api, ns):
    cm = configmap("a", {"k": "1", "l": "2"})
    assert kubectl("apply", "-f", "-", stdin=cm).out == "configmap/a created\n"
    assert kubectl("apply", "-f", "-", stdin=cm).out == "configmap/a unchanged\n"
    run = kubectl("apply", "-f", "-", stdin=configmap("a", {"k": "3"}))
    assert run.out == "configmap/a configured\n"
    stored = ns.get("configmaps", "a")
    assert stored["data"] == {"k": "3"}
    assert LAST in stored["metadata"]["annotations"]
    assert ("kubectl-client-side-apply", "Update") in managers(api, ns.url("configmaps", "a"))


def test_apply_keeps_what_others_wrote(kubectl, api, ns):
    kubectl("apply", "-f", "-", stdin=configmap("a", {"k": "1"}))
    api.patch(ns.url("configmaps", "a"), {"data": {"other": "x"}}).ok()
    kubectl("apply", "-f", "-", stdin=configmap("a", {"k": "2"}))
    assert ns.get("configmaps", "a")["data"] == {"k": "2", "other": "x"}


def test_apply_merges_containers_by_name(kubectl, ns):
    d = deployment("d")
    kubectl("apply", "-f", "-", stdin=d)
    d["spec"]["template"]["spec"]["containers"] = [container("side"), container(image="app:2")]
    kubectl("apply", "-f", "-", stdin=d)
    assert kubectl("apply", "-f", "-", stdin=d).out == "deployment.apps/d unchanged\n"
    got = ns.get("deployments", "d")["spec"]["template"]["spec"]["containers"]
    assert [(c["name"], c["image"]) for c in got] == [
        ("side", "registry.test/app:1"), ("main", "app:2")]


def test_apply_of_a_service_twice(kubectl, ns):
    kubectl("apply", "-f", "-", stdin=service("s"))
    assert kubectl("apply", "-f", "-", stdin=service("s")).out == "service/s unchanged\n"
    run = kubectl("apply", "-f", "-", stdin=service("s", ports=[{"port": 81}]))
    assert run.out == "service/s configured\n"
    assert [p["port"] for p in ns.get("services", "s")["spec"]["ports"]] == [81]


def test_apply_several_documents(kubectl):
    run = kubectl("apply", "-f", "-", stdin=[configmap("a"), secret("b"), service("c")])
    assert run.out == "configmap/a created\nsecret/b created\nservice/c created\n"


def test_apply_of_a_custom_resource(kubectl, api, ns, widgets):
    run = kubectl("apply", "-f", "-", stdin=widgets.make("w", {"size": "small", "tags": ["a"]}))
    assert run.out == f"widget.{widgets.group}/w created\n"
    kubectl("apply", "-f", "-", stdin=widgets.make("w", {"size": "large"}))
    spec = api.get(widgets.at(ns, "w")).ok()["spec"]
    assert spec == {"size": "large", "mode": "fast", "hint": "none"}


def test_apply_shows_the_refusal_of_a_custom_resource(kubectl, widgets):
    run = kubectl.fails("apply", "-f", "-", stdin=widgets.make("w", {"replicas": 11}))
    assert "spec.replicas in body should be less than or equal to 10" in run.err


def test_apply_finds_an_unknown_field(kubectl):
    run = kubectl.fails("apply", "-f", "-", stdin={**configmap("a"), "bogus": 1})
    assert re.search('unknown field "bogus"', run.err)


def test_apply_finds_an_unknown_field_of_a_custom_resource(kubectl, api, widgets):
    name = ".".join(reversed(widgets.group.split("."))) + ".v1.Widget"
    api.until("/openapi/v2", lambda a: name in a.json["definitions"])
    run = kubectl.fails("apply", "-f", "-", stdin=widgets.make("w", {"bogus": 1}))
    assert re.search('unknown field "(spec.)?bogus"', run.err)


def test_apply_finds_a_wrong_type(kubectl):
    run = kubectl.fails("apply", "-f", "-", stdin=deployment("d", replicas="many"))
    assert re.search("replicas|invalid type", run.err)


def test_apply_dry_run(kubectl, api, ns):
    run = kubectl("apply", "--dry-run=server", "-f", "-", stdin=configmap("a"))
    assert run.out == "configmap/a created (server dry run)\n"
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")


def test_apply_a_definition_and_its_object(kubectl, api, unique, crd_bin):
    crd = Crd(unique + ".test", "Thing", [version("v1", obj({"spec": obj({"text": STRING})}))])
    crd_bin.append(crd)
    kubectl("apply", "-f", "-", stdin=crd.manifest)
    kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd/" + crd.name)
    api.until(f"/apis/{crd.api_version}", lambda a: a.code == 200)
    run = kubectl("apply", "-f", "-", stdin=crd.make("t", {"text": "x"}))
    assert run.out == f"thing.{crd.group}/t created\n"
    assert kubectl("apply", "-f", "-", stdin=crd.manifest).out.endswith("unchanged\n")


def test_apply_prunes(kubectl, api, ns):
    flag = "--prune-allowlist" if kubectl.minor >= 26 else "--prune-whitelist"
    prune = ["apply", "--prune", "-l", "set=" + ns.name, flag, "core/v1/ConfigMap", "-f", "-"]
    both = [configmap(n, labels={"set": ns.name}) for n in "ab"]
    kubectl(*prune, stdin=both)
    ns.create("configmaps", configmap("c", labels={"set": ns.name}))
    run = kubectl(*prune, stdin=both[:1])
    assert "configmap/b pruned" in run.out
    api.until_gone(ns.url("configmaps", "b"))
    ns.get("configmaps", "a")
    ns.get("configmaps", "c")


def test_apply_prunes_with_its_own_list_of_kinds(kubectl, ns, minor):
    if (kubectl.minor >= 25) != (minor >= 25):
        pytest.skip("the kinds that this kubectl prunes are not those of this server")
    prune = ["apply", "--prune", "-l", "set=" + ns.name, "-f", "-"]
    both = [configmap(n, labels={"set": ns.name}) for n in "ab"]
    kubectl(*prune, stdin=both)
    assert "configmap/b pruned" in kubectl(*prune, stdin=both[:1]).out


def test_apply_prunes_an_apply_set(kubectl, api, ns):
    if kubectl.minor < 27:
        pytest.skip("this kubectl has no apply sets")
    apply = ["apply", "--server-side", "--prune", "--applyset=secrets/set", "-f", "-"]
    env = {"KUBECTL_APPLYSET": "true"}
    both = [configmap(n) for n in "ab"]
    kubectl(*apply, stdin=both, env=env)
    assert "applyset.kubernetes.io/id" in ns.get("secrets", "set")["metadata"]["labels"]
    assert "configmap/b pruned" in kubectl(*apply, stdin=both[:1], env=env).out
    api.until_gone(ns.url("configmaps", "b"))


# Server side

def test_server_side_apply(kubectl, api, ns):
    apply = ["apply", "--server-side", "-f", "-"]
    assert kubectl(*apply, stdin=configmap("a", {"k": "1"})).out == \
        "configmap/a serverside-applied\n"
    kubectl(*apply, stdin=configmap("a", {"l": "2"}))
    stored = ns.get("configmaps", "a")
    assert stored["data"] == {"l": "2"}
    assert LAST not in stored["metadata"].get("annotations", {})
    assert managers(api, ns.url("configmaps", "a")) == {("kubectl", "Apply")}


def test_server_side_apply_conflicts_and_force(kubectl, ns):
    apply = ["apply", "--server-side", "-f", "-"]
    ns.create("configmaps", configmap("a", {"k": "1"}), query={"fieldManager": "other"})
    run = kubectl.fails(*apply, stdin=configmap("a", {"k": "2"}))
    assert 'conflict with "other" using v1: .data.k' in run.err
    kubectl(*apply, "--force-conflicts", stdin=configmap("a", {"k": "2"}))
    assert ns.get("configmaps", "a")["data"] == {"k": "2"}


def test_server_side_apply_of_another_manager(kubectl, api, ns):
    apply = ["apply", "--server-side", "--field-manager=robot", "-f", "-"]
    kubectl(*apply, stdin=configmap("a", {"k": "1"}))
    assert managers(api, ns.url("configmaps", "a")) == {("robot", "Apply")}


def test_server_side_apply_after_client_side_apply(kubectl, api, ns):
    kubectl("apply", "-f", "-", stdin=configmap("a", {"k": "1", "l": "1"}))
    kubectl("apply", "--server-side", "-f", "-", stdin=configmap("a", {"k": "1", "l": "1"}))
    stored = ns.get("configmaps", "a")
    assert ("kubectl", "Apply") in managers(api, ns.url("configmaps", "a"))
    assert stored["data"] == {"k": "1", "l": "1"}
    if kubectl.minor >= 26:
        kubectl("apply", "--server-side", "-f", "-", stdin=configmap("a", {"k": "1"}))
        assert ns.get("configmaps", "a")["data"] == {"k": "1"}


def test_server_side_apply_of_a_custom_resource(kubectl, api, ns, widgets):
    apply = ["apply", "--server-side", "-f", "-"]
    kubectl(*apply, stdin=widgets.make("w", {"size": "small", "ports": [{"name": "x", "port": 1}]}))
    kubectl(*apply, stdin=widgets.make("w", {"ports": [{"name": "x", "port": 2}]}))
    spec = api.get(widgets.at(ns, "w")).ok()["spec"]
    assert spec["ports"] == [{"name": "x", "port": 2, "protocol": "TCP"}]
    assert "size" not in spec


def test_server_side_apply_dry_run(kubectl, api, ns):
    run = kubectl("apply", "--server-side", "--dry-run=server", "-f", "-", stdin=configmap("a"))
    assert run.out == "configmap/a serverside-applied (server dry run)\n"
    api.get(ns.url("configmaps", "a")).fails(404, "NotFound")


# diff, edit, replace, create

def test_diff(kubectl, ns):
    kubectl("apply", "-f", "-", stdin=configmap("a", {"k": "1"}))
    assert kubectl("diff", "-f", "-", stdin=configmap("a", {"k": "1"})).out == ""
    run = kubectl.fails("diff", "-f", "-", stdin=configmap("a", {"k": "2"}), code=1)
    assert re.search(r'^-  k: "1"$', run.out, re.M)
    assert re.search(r'^\+  k: "2"$', run.out, re.M)
    assert ns.get("configmaps", "a")["data"] == {"k": "1"}


def test_diff_of_a_new_and_of_a_custom_object(kubectl, api, widgets):
    run = kubectl.fails("diff", "-f", "-", stdin=configmap("new", {"k": "v"}), code=1)
    assert "+  k: v" in run.out
    name = ".".join(reversed(widgets.group.split("."))) + ".v1.Widget"
    api.until("/openapi/v2", lambda a: name in a.json["definitions"])
    kubectl("apply", "-f", "-", stdin=widgets.make("w", {"size": "small"}))
    run = kubectl.fails("diff", "-f", "-", stdin=widgets.make("w", {"size": "large"}), code=1)
    assert "+  size: large" in run.out


def test_diff_server_side(kubectl):
    kubectl("apply", "--server-side", "-f", "-", stdin=configmap("a", {"k": "1"}))
    run = kubectl.fails("diff", "--server-side", "-f", "-", stdin=configmap("a", {"k": "2"}))
    assert '+  k: "2"' in run.out


def test_edit(kubectl, ns, widgets, api):
    ns.create("configmaps", configmap("a", {"k": "old"}))
    editor = {"KUBE_EDITOR": "sed -i s/old/new/"}
    assert kubectl("edit", "cm", "a", env=editor).out == "configmap/a edited\n"
    assert ns.get("configmaps", "a")["data"] == {"k": "new"}
    api.post(widgets.at(ns), widgets.make("w", {"mode": "old"})).ok(201)
    kubectl("edit", widgets.resource, "w", env=editor)
    assert api.get(widgets.at(ns, "w")).ok()["spec"]["mode"] == "new"


def test_replace(kubectl, ns):
    ns.create("configmaps", configmap("a", {"k": "1"}))
    run = kubectl("replace", "-f", "-", stdin=configmap("a", {"l": "2"}))
    assert run.out == "configmap/a replaced\n"
    assert ns.get("configmaps", "a")["data"] == {"l": "2"}
    assert "NotFound" in kubectl.fails("replace", "-f", "-", stdin=configmap("zz")).err


def test_replace_with_an_old_version_is_a_conflict(kubectl, api, ns):
    old = ns.create("configmaps", configmap("a", {"k": "1"}))
    api.patch(ns.url("configmaps", "a"), {"data": {"k": "2"}}).ok()
    assert "Conflict" in kubectl.fails("replace", "-f", "-", stdin=yaml.safe_dump(old)).err


def test_replace_by_force(kubectl, ns):
    uid = ns.create("configmaps", configmap("a", {"k": "1"}))["metadata"]["uid"]
    kubectl("replace", "--force", "-f", "-", stdin=configmap("a", {"k": "2"}))
    assert ns.get("configmaps", "a")["metadata"]["uid"] != uid


def test_create_from_a_file(kubectl):
    assert kubectl("create", "-f", "-", stdin=configmap("a")).out == "configmap/a created\n"
    run = kubectl.fails("create", "-f", "-", stdin=configmap("a"))
    assert 'Error from server (AlreadyExists)' in run.err
    assert 'configmaps "a" already exists' in run.err


def test_create_with_a_generated_name(kubectl):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "gen-"}}
    out = kubectl("create", "-f", "-", stdin=body).out
    assert re.match(r"^configmap/gen-\w{5} created\n$", out)


@pytest.mark.parametrize("args, resource, name", [
    (["configmap", "x", "--from-literal=k=v"], "configmaps", "x"),
    (["secret", "generic", "x", "--from-literal=k=v"], "secrets", "x"),
    (["serviceaccount", "x"], "serviceaccounts", "x"),
    (["role", "x", "--verb=get", "--resource=pods"], "roles", "x"),
    (["rolebinding", "x", "--role=x", "--serviceaccount=default:default"], "rolebindings", "x"),
    (["deployment", "x", "--image=app:1", "--replicas=0"], "deployments", "x"),
    (["service", "clusterip", "x", "--tcp=80:8080"], "services", "x"),
    (["job", "x", "--image=app:1"], "jobs", "x"),
    (["poddisruptionbudget", "x", "--selector=app=x", "--min-available=1"],
     "poddisruptionbudgets", "x"),
], ids=lambda v: v[0] if isinstance(v, list) else None)
def test_create_by_generator(kubectl, api, ns, args, resource, name):
    policy = "v1" if kubectl.minor >= 21 else "v1beta1"
    if resource == "poddisruptionbudgets" and api.get("/apis/policy/" + policy).code == 404:
        pytest.skip("this kubectl asks for a version of policy that this server does not have")
    run = kubectl("create", *args)
    assert run.out.endswith(f"/{name} created\n")
    ns.get(resource, name)


def test_create_a_namespace(kubectl, unique):
    assert kubectl("create", "namespace", unique).out == f"namespace/{unique} created\n"
    kubectl("delete", "namespace", unique, "--wait=false")
