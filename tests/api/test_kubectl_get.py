# SPDX-License-Identifier: GPL-2.0-or-later
"""kubectl get, describe, explain and what else only reads; with every kubectl found."""
import json
import re
import select

import pytest

from lib.objects import configmap, deployment, event, pod, secret, service


def test_get_prints_a_table(kubectl, ns):
    ns.create("configmaps", configmap("a", {"k": "v"}))
    rows = kubectl("get", "configmaps", "a").rows
    assert rows[0] == ["NAME", "DATA", "AGE"]
    assert rows[1][:2] == ["a", "1"]


@pytest.mark.parametrize("resource", ["cm", "configmap", "configmaps"])
def test_get_knows_short_and_singular_names(kubectl, ns, resource):
    ns.create("configmaps", configmap("a"))
    assert kubectl("get", resource, "a", "-o", "name").out == "configmap/a\n"


def test_get_of_a_missing_object(kubectl):
    run = kubectl.fails("get", "cm", "zz")
    assert 'Error from server (NotFound): configmaps "zz" not found' in run.err


def test_get_of_an_unknown_resource(kubectl):
    run = kubectl.fails("get", "nosuchthings")
    assert """the server doesn't have a resource type "nosuchthings\"""" in run.err


def test_get_of_nothing(kubectl, ns):
    run = kubectl("get", "pods")
    assert run.err == f"No resources found in {ns.name} namespace.\n"


def test_get_in_other_formats(kubectl, ns):
    ns.create("configmaps", configmap("a", {"k": "v"}))
    assert json.loads(kubectl("get", "cm", "a", "-o", "json").out)["data"] == {"k": "v"}
    assert "  k: v\n" in kubectl("get", "cm", "a", "-o", "yaml").out
    assert kubectl("get", "cm", "a", "-o", "jsonpath={.data.k}").out == "v"
    assert kubectl("get", "cm", "a", "-o", "custom-columns=N:.metadata.name").out == "N\na\n"
    assert kubectl("get", "cm", "a", "-o", "go-template={{.data.k}}").out == "v"


def test_get_wide_and_labels(kubectl, ns):
    ns.create("deployments", deployment("d"))
    header, line = kubectl("get", "deploy", "-o", "wide", "--show-labels").rows
    assert header == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE", "CONTAINERS", "IMAGES",
                      "SELECTOR", "LABELS"]
    assert line[:4] == ["d", "0/0", "0", "0"]
    assert line[5:] == ["main", "registry.test/app:1", "app=d", "<none>"]


def test_get_by_label_and_field(kubectl, ns):
    for name in "ab":
        ns.create("configmaps", configmap(name, labels={"n": name}))
    assert kubectl("get", "cm", "-l", "n=a", "-o", "name").out == "configmap/a\n"
    out = kubectl("get", "cm", "-l", "n in (a,b)", "-o", "name").out
    assert out == "configmap/a\nconfigmap/b\n"
    run = kubectl("get", "cm", "--field-selector", "metadata.name=b", "-o", "name")
    assert run.out == "configmap/b\n"


def test_get_in_chunks_and_sorted(kubectl, ns):
    for name in "abc":
        ns.create("secrets", secret(name, data={"k": "dg=="}))
    chunked = kubectl("get", "secrets", "--chunk-size=1", "--field-selector", "type=Opaque").rows
    assert [r[0] for r in chunked] == ["NAME", "a", "b", "c"]
    rows = kubectl("get", "secrets", "--field-selector", "type=Opaque",
                   "--sort-by={.metadata.name}").rows
    assert [r[0] for r in rows] == ["NAME", "a", "b", "c"]


def test_get_over_all_namespaces(kubectl, ns):
    ns.create("configmaps", configmap("a", labels={"only": ns.name}))
    header, line = kubectl("get", "cm", "-A", "-l", "only=" + ns.name).rows
    assert header[0] == "NAMESPACE"
    assert line[:2] == [ns.name, "a"]


def test_get_several_kinds(kubectl, ns):
    ns.create("configmaps", configmap("a"))
    ns.create("secrets", secret("b"))
    run = kubectl("get", "cm/a", "secret/b", "-o", "name")
    assert run.out == "configmap/a\nsecret/b\n"


def test_get_all(kubectl, ns):
    ns.create("services", service("s"))
    ns.create("deployments", deployment("d"))
    ns.create("pods", pod("p"))
    names = kubectl("get", "all", "-o", "name").out.split()
    assert {"service/s", "deployment.apps/d", "pod/p"} <= set(names)


def test_get_custom_resources(kubectl, api, ns, widgets):
    spec = {"size": "small", "replicas": 3, "ratio": 0.5, "flag": True, "note": "hi"}
    api.post(widgets.at(ns), widgets.make("w", spec)).ok(201)
    header, line = kubectl("get", widgets.short).rows
    assert header == ["NAME", "SIZE", "REPLICAS", "RATIO", "FLAG", "READY", "WHEN"]
    assert line == ["w", "small", "3", "0.5", "true"]
    assert kubectl("get", widgets.resource, "-o", "wide").rows[0][-1] == "NOTE"
    one = ["get", f"widget.{widgets.group}", "w", "-o", "jsonpath={.spec.size}"]
    assert kubectl(*one).out == "small"


def test_get_by_category(kubectl, api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w", {})).ok(201)
    assert f"widget.{widgets.group}/w" in kubectl("get", widgets.category, "-o", "name").out


def test_get_raw(kubectl, ns):
    ns.create("configmaps", configmap("a"))
    raw = kubectl("get", "--raw", ns.url("configmaps", "a")).json
    assert raw["metadata"]["name"] == "a"
    run = kubectl.fails("get", "--raw", ns.url("configmaps", "zz"))
    assert "NotFound" in run.err


def test_get_ignore_not_found(kubectl):
    assert kubectl("get", "cm", "zz", "--ignore-not-found").out == ""


def test_get_watches_a_list(kubectl, api, ns):
    ns.create("configmaps", configmap("a", {"k": "v"}, labels={"mine": "yes"}))
    watch = kubectl.start("get", "cm", "-w", "-l", "mine=yes", "--no-headers")
    try:
        assert watch.stdout.readline().split()[:2] == ["a", "1"]
        api.patch(ns.url("configmaps", "a"), {"data": {"l": "w"}}).ok()
        assert watch.stdout.readline().split()[:2] == ["a", "2"]
        ns.create("configmaps", configmap("b", labels={"mine": "yes"}))
        assert watch.stdout.readline().split()[:2] == ["b", "0"]
    finally:
        watch.kill()
        watch.communicate()


def test_get_watches_one_object(kubectl, api, ns):
    ns.create("configmaps", configmap("a", {"k": "v"}))
    watch = kubectl.start("get", "cm", "a", "-w", "-o", "jsonpath={.metadata.name} {.data.k}|")
    try:
        assert watch.stdout.read(4) == "a v|"
        ns.create("configmaps", configmap("b"))
        # kubectl opens the watch after the first print, so an early write may go unseen.
        for n in range(100):
            api.patch(ns.url("configmaps", "a"), {"data": {"k": str(n)}}).ok()
            if select.select([watch.stdout], [], [], 0.1)[0]:
                break
        assert re.match(r"a \d\|", watch.stdout.read(4))
    finally:
        watch.kill()
        watch.communicate()


def test_describe_a_configmap(kubectl, ns):
    ns.create("configmaps", configmap("a", {"k": "the value"}, labels={"x": "y"}))
    out = kubectl("describe", "cm", "a").out
    assert re.search(r"^Name:\s+a$", out, re.M)
    assert re.search(r"^Labels:\s+x=y$", out, re.M)
    assert "the value" in out


def test_describe_shows_events(kubectl, ns):
    uid = ns.create("pods", pod("p"))["metadata"]["uid"]
    about = {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": ns.name, "uid": uid}
    ns.create("events", event("e", ns.name, involvedObject=about, message="it was seen"))
    out = kubectl("describe", "pod", "p").out
    assert re.search(r"^Status:\s+Pending$", out, re.M)
    assert re.search(r"Normal\s+Tested\s+.*it was seen", out)


def test_describe_workloads_and_services(kubectl, ns):
    ns.create("deployments", deployment("d"))
    ns.create("services", service("d"))
    out = kubectl("describe", "deploy", "d").out
    assert re.search(r"^Replicas:\s+0 desired", out, re.M)
    out = kubectl("describe", "svc", "d").out
    assert re.search(r"^Type:\s+ClusterIP$", out, re.M)


def test_describe_a_custom_resource(kubectl, api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("w", {"size": "small"})).ok(201)
    out = kubectl("describe", widgets.short, "w").out
    assert re.search(r"^Kind:\s+Widget$", out, re.M)
    assert re.search(r"^\s+Size:\s+small$", out, re.M)


def test_describe_a_namespace_and_a_definition(kubectl, ns, widgets):
    assert re.search(r"^Status:\s+Active$", kubectl("describe", "ns", ns.name).out, re.M)
    assert "Kind:" in kubectl("describe", "crd", widgets.name).out


def test_describe_a_missing_object(kubectl):
    assert 'configmaps "zz" not found' in kubectl.fails("describe", "cm", "zz").err


def test_get_events(kubectl, ns):
    ns.create("events", event("e", ns.name))
    header, line = kubectl("get", "events").rows
    assert header == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert line[1:] == ["Normal", "Tested", "configmap/thing", "seen", "by", "a", "test"]


def test_api_resources(kubectl, widgets):
    out = kubectl("api-resources", "--api-group=" + widgets.group, "-o", "wide").out
    assert re.search(rf"^widgets\s+{widgets.short}\s+.*true\s+Widget\s", out, re.M)
    names = kubectl("api-resources", "-o", "name", "--namespaced=true").out.split()
    assert {"pods", "configmaps", "deployments.apps", "leases.coordination.k8s.io"} <= set(names)


def test_api_versions(kubectl, widgets):
    versions = kubectl("api-versions").out.split()
    assert {"v1", "apps/v1", "batch/v1", "apiextensions.k8s.io/v1"} <= set(versions)


@pytest.mark.parametrize("what, text", [
    ("pods", "KIND: +Pod"), ("pods.spec.containers", "image"), ("deployment.spec", "replicas"),
    ("configmap.data", "data"),
])
def test_explain_a_builtin(kubectl, what, text):
    out = kubectl("explain", what).out
    assert re.search(text, out)


def test_explain_a_custom_resource(kubectl, api, widgets):
    name = ".".join(reversed(widgets.group.split("."))) + ".v1.Widget"
    api.until("/openapi/v2", lambda a: name in a.json["definitions"])
    out = kubectl("explain", widgets.short + ".spec").out
    assert "What the widget should be." in out
    assert re.search(r"^\s+size\s+<string>", out, re.M)
    assert "How big it is." in out
    assert re.search(r"<\[\]Object>", kubectl("explain", widgets.short + ".spec.ports").out)


def test_version(kubectl, minor):
    out = kubectl("version", "-o", "json").json
    assert int(out["serverVersion"]["minor"].rstrip("+")) == minor


def test_auth_can_i(kubectl):
    assert kubectl("auth", "can-i", "create", "pods").out.strip() == "yes"
    assert kubectl("auth", "can-i", "*", "*").out.strip().endswith("yes")
    assert kubectl("auth", "can-i", "get", "/metrics").out.strip() == "yes"
    assert "*.*" in kubectl("auth", "can-i", "--list").out


def test_cluster_info_and_top(kubectl):
    assert "is running at" in kubectl("cluster-info").out
    assert "Metrics API not available" in kubectl.fails("top", "pods").err


def test_logs_of_a_missing_pod(kubectl):
    assert 'pods "zz" not found' in kubectl.fails("logs", "zz").err


def test_logs_of_an_unscheduled_pod(kubectl, ns):
    ns.create("pods", pod("p"))
    assert kubectl("logs", "p").out == ""


def test_exec_in_an_unscheduled_pod(kubectl, ns):
    ns.create("pods", pod("p"))
    assert "does not have a host assigned" in kubectl.fails("exec", "p", "--", "true").err
