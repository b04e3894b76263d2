# SPDX-License-Identifier: GPL-2.0-or-later
"""Other real clients: Debian's python3-kubernetes and curl."""
import json
import subprocess
import threading

import pytest

kubernetes = pytest.importorskip("kubernetes")

from kubernetes import client, dynamic, watch  # noqa: E402


@pytest.fixture(scope="module")
def py(config):
    return kubernetes.config.new_client_from_config(config.path)


@pytest.fixture
def core(py):
    return client.CoreV1Api(py)


def make(name, data=None, **meta):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **meta), data=data)


def test_python_creates_reads_and_deletes(core, ns):
    made = core.create_namespaced_config_map(ns.name, make("a", {"k": "v"}))
    assert made.data == {"k": "v"}
    assert made.metadata.creation_timestamp is not None
    assert core.read_namespaced_config_map("a", ns.name).metadata.uid == made.metadata.uid
    status = core.delete_namespaced_config_map("a", ns.name)
    assert status.status == "Success"
    with pytest.raises(client.ApiException) as failure:
        core.read_namespaced_config_map("a", ns.name)
    assert failure.value.status == 404
    assert json.loads(failure.value.body)["reason"] == "NotFound"


def test_python_lists_in_pages(core, ns):
    for name in "abc":
        core.create_namespaced_config_map(ns.name, make(name, labels={"mine": "yes"}))
    seen, token = [], None
    while True:
        page = core.list_namespaced_config_map(
            ns.name, label_selector="mine=yes", limit=2, _continue=token)
        seen += [i.metadata.name for i in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert seen == ["a", "b", "c"]


def test_python_patches(core, ns):
    core.create_namespaced_config_map(ns.name, make("a", {"k": "1"}))
    assert core.patch_namespaced_config_map("a", ns.name, {"data": {"l": "2"}}).data == {
        "k": "1", "l": "2"}
    ops = [{"op": "remove", "path": "/data/k"}]
    assert core.patch_namespaced_config_map("a", ns.name, ops).data == {"l": "2"}


def test_python_replaces_with_a_lock(core, ns):
    made = core.create_namespaced_config_map(ns.name, make("a", {"k": "1"}))
    made.data = {"k": "2"}
    core.replace_namespaced_config_map("a", ns.name, made)
    made.data = {"k": "3"}
    with pytest.raises(client.ApiException) as failure:
        core.replace_namespaced_config_map("a", ns.name, made)
    assert failure.value.status == 409


def test_python_watches(core, ns):
    core.create_namespaced_config_map(ns.name, make("a", labels={"mine": "yes"}))
    listed = core.list_namespaced_config_map(ns.name, label_selector="mine=yes")

    def write():
        core.patch_namespaced_config_map("a", ns.name, {"data": {"k": "v"}})
        core.delete_namespaced_config_map("a", ns.name)

    timer = threading.Timer(0.3, write)
    timer.start()
    seen = []
    w = watch.Watch()
    for event in w.stream(core.list_namespaced_config_map, ns.name, label_selector="mine=yes",
                          resource_version=listed.metadata.resource_version, timeout_seconds=20):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            w.stop()
    timer.join()
    assert seen == [("MODIFIED", "a"), ("DELETED", "a")]


def test_python_deletes_a_collection(core, ns):
    for name in "ab":
        core.create_namespaced_config_map(ns.name, make(name, labels={"mine": "yes"}))
    core.delete_collection_namespaced_config_map(ns.name, label_selector="mine=yes")
    assert core.list_namespaced_config_map(ns.name, label_selector="mine=yes").items == []


def test_python_makes_a_pod_and_reads_its_status(core, api, ns):
    api.until(ns.url("serviceaccounts", "default"), lambda a: a.code == 200)
    spec = client.V1PodSpec(
        containers=[client.V1Container(name="c", image="x")], scheduler_name="conformance.test",
        automount_service_account_token=False)
    body = client.V1Pod(metadata=client.V1ObjectMeta(name="p"), spec=spec)
    core.create_namespaced_pod(ns.name, body)
    assert core.read_namespaced_pod_status("p", ns.name).status.phase == "Pending"


def test_python_uses_custom_objects(py, ns, widgets):
    custom = client.CustomObjectsApi(py)
    where = (widgets.group, "v1", ns.name, "widgets")
    custom.create_namespaced_custom_object(*where, widgets.make("w", {"size": "small"}))
    custom.patch_namespaced_custom_object(*where, "w", {"spec": {"replicas": 2}})
    custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"phase": "Up"}})
    got = custom.get_namespaced_custom_object(*where, "w")
    assert got["spec"]["replicas"] == 2
    assert got["status"] == {"phase": "Up"}
    scale = custom.get_namespaced_custom_object_scale(*where, "w")
    assert scale["spec"]["replicas"] == 2
    assert len(custom.list_namespaced_custom_object(*where)["items"]) == 1
    custom.delete_namespaced_custom_object(*where, "w")


def test_python_scales_and_leases(py, ns):
    apps = client.AppsV1Api(py)
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels={"app": "d"}),
        spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="x")]))
    spec = client.V1DeploymentSpec(
        replicas=0, paused=True, selector=client.V1LabelSelector(match_labels={"app": "d"}),
        template=template)
    body = client.V1Deployment(metadata=client.V1ObjectMeta(name="d"), spec=spec)
    apps.create_namespaced_deployment(ns.name, body)
    apps.patch_namespaced_deployment_scale("d", ns.name, {"spec": {"replicas": 2}})
    assert apps.read_namespaced_deployment_scale("d", ns.name).spec.replicas == 2
    leases = client.CoordinationV1Api(py)
    lease = client.V1Lease(metadata=client.V1ObjectMeta(name="l"),
                           spec=client.V1LeaseSpec(holder_identity="me"))
    made = leases.create_namespaced_lease(ns.name, lease)
    made.spec.holder_identity = "you"
    assert leases.replace_namespaced_lease("l", ns.name, made).spec.holder_identity == "you"


def test_python_discovers_dynamically(py, ns, widgets, tmp_path):
    found = dynamic.DynamicClient(py, cache_file=str(tmp_path / "cache"))
    resource = found.resources.get(api_version=widgets.api_version, kind="Widget")
    resource.create(body=widgets.make("w", {"size": "small"}), namespace=ns.name)
    assert resource.get(name="w", namespace=ns.name).spec.size == "small"


def curl(config, *args):
    done = subprocess.run(["curl", "-sS", "--max-time", "20", *config.curl_args(), *args],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_curl_reads(config, ns):
    out = json.loads(curl(config, config.server + "/api/v1/namespaces/" + ns.name))
    assert out["metadata"]["name"] == ns.name


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_curl_in_several_versions_of_http(config, version):
    assert json.loads(curl(config, version, config.server + "/version"))["major"] == "1"


def test_curl_posts_yaml(config, ns):
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
    out = curl(config, "-H", "Content-Type: application/yaml", "--data-binary", body,
               config.server + ns.url("configmaps"))
    assert json.loads(out)["data"] == {"k": "v"}


def test_curl_sends_a_chunked_body(config, ns):
    out = curl(config, "-H", "Content-Type: application/json", "-H", "Transfer-Encoding: chunked",
               "-H", "Expect: 100-continue", "-d", '{"metadata":{"name":"a"}}',
               config.server + ns.url("configmaps"))
    assert json.loads(out)["metadata"]["name"] == "a"


def test_curl_accepts_compression(config):
    out = curl(config, "--compressed", config.server + "/openapi/v2")
    assert json.loads(out)["swagger"] == "2.0"


def test_curl_asks_for_the_head(config):
    out = curl(config, "-I", config.server + "/version")
    assert out.startswith("HTTP/")
