# SPDX-License-Identifier: GPL-2.0-or-later
"""Volumes: what is in them, who may use it, and how fast it changes."""
import base64
import json
import os
import time
import uuid

import pytest

from cluster import configmap, container, pod, wait_for


def mounted(name, volumes, *mounts, command=("sleep", "999"), **spec):
    return pod(name, container(list(command), volumeMounts=list(mounts)), volumes=volumes, **spec)


def test_configmaps_and_secrets_are_files(cluster, pods):
    name = pods("files")
    cluster.apply(
        configmap(name, **{"slurm.conf": "A=1\n", "other": "x"}),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
         "data": {"key": base64.b64encode(b"\x00\xffbinary").decode()}},
        mounted(name, [
            {"name": "all", "configMap": {"name": name}},
            {"name": "one", "configMap": {"name": name, "items": [
                {"key": "slurm.conf", "path": "sub/dir/s.conf", "mode": 0o600}]}},
            {"name": "sec", "secret": {"secretName": name, "defaultMode": 0o400}},
            {"name": "opt", "configMap": {"name": "not-there", "optional": True}}],
            {"name": "all", "mountPath": "/all"}, {"name": "one", "mountPath": "/one"},
            {"name": "sec", "mountPath": "/sec"}, {"name": "opt", "mountPath": "/opt-cm"},
            {"name": "all", "mountPath": "/etc/slurm/one.conf", "subPath": "slurm.conf"}))
    cluster.wait_ready(name)
    assert cluster.sh(name, "cat /all/slurm.conf; ls /all").split() == ["A=1", "other", "slurm.conf"]
    assert cluster.sh(name, "stat -Lc %a /one/sub/dir/s.conf /sec/key").split() == ["600", "400"]
    assert cluster.sh(name, "od -An -tx1 /sec/key").split() == "00 ff 62 69 6e 61 72 79".split()
    assert cluster.sh(name, "ls /opt-cm") == ""
    assert cluster.sh(name, "cat /etc/slurm/one.conf") == "A=1\n"
    assert cluster.exec(name, "touch", "/all/x", check=False).returncode != 0


def test_a_changed_configmap_is_in_the_volume_within_a_second_all_at_once(cluster, pods):
    name = pods("change")
    cluster.apply(configmap(name, a="1", b="1"),
                  mounted(name, [{"name": "v", "configMap": {"name": name}}],
                          {"name": "v", "mountPath": "/v"}))
    cluster.wait_ready(name)
    before = cluster.sh(name, "readlink /v/..data")
    cluster.apply(configmap(name, a="2", c="3"))
    began = time.monotonic()
    wait_for(lambda: cluster.sh(name, "cat /v/a") == "2", "the new value", 5)
    assert time.monotonic() - began < 1
    assert cluster.sh(name, "ls /v").split() == ["a", "c"]
    assert cluster.sh(name, "readlink /v/..data") != before


def test_a_missing_secret_holds_the_pod_back_and_says_so(cluster, pods):
    name = pods("missing")
    cluster.apply(mounted(name, [{"name": "v", "secret": {"secretName": name}}],
                          {"name": "v", "mountPath": "/v"}))
    wait_for(lambda: "FailedMount" in cluster.reasons(name), "the event")
    assert any(f'MountVolume.SetUp failed for volume "v"' in m and "not found" in m
               for _, m in cluster.events(name))
    cluster.kubectl("create", "secret", "generic", name, "--from-literal=k=v")
    cluster.wait_ready(name, 10)
    assert cluster.sh(name, "cat /v/k") == "v"


def test_empty_directories_on_disk_and_in_memory(cluster, pods):
    name = pods("empty")
    cluster.apply(mounted(name, [{"name": "d", "emptyDir": {}},
                                 {"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}}],
                          {"name": "d", "mountPath": "/d"}, {"name": "m", "mountPath": "/m"},
                          {"name": "d", "mountPath": "/ro", "readOnly": True},
                          securityContext={"fsGroup": 777}))
    cluster.wait_ready(name)
    assert cluster.sh(name, "stat -fc %T /m; stat -c '%a %g' /d").split() == ["tmpfs", "2777", "777"]
    assert cluster.exec(name, "dd", "if=/dev/zero", "of=/m/x", "bs=1M", "count=20", check=False).returncode != 0
    cluster.sh(name, "echo x > /d/x")
    assert cluster.sh(name, "cat /ro/x") == "x\n"
    assert cluster.exec(name, "touch", "/ro/y", check=False).returncode != 0


@pytest.mark.parametrize("kind, there, works", [
    ("", None, True), ("DirectoryOrCreate", None, True), ("Directory", None, False),
    ("Directory", "dir", True), ("File", "file", True), ("File", "dir", False),
    ("FileOrCreate", None, True), ("Socket", "file", False)])
def test_host_paths_by_type(cluster, pods, tmp_path, kind, there, works):
    name = pods("hp")
    path = tmp_path / "x"
    if there == "dir":
        path.mkdir()
    elif there == "file":
        path.write_text("")
    source = {"path": str(path), **({"type": kind} if kind else {})}
    cluster.apply(mounted(name, [{"name": "h", "hostPath": source}],
                          {"name": "h", "mountPath": "/h"}))
    if works:
        cluster.wait_ready(name)
        assert path.exists()
    else:
        wait_for(lambda: "FailedMount" in cluster.reasons(name), "the event", 10)


def test_the_downward_api_in_files_and_variables(cluster, pods):
    name = pods("downward")
    c = container(["sleep", "999"], resources={"limits": {"cpu": "1500m", "memory": "64Mi"}}, env=[
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"name": "MEM", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
        {"name": "BOTH", "value": "$(NAME)-$(CPU) $$(NAME) $(NONE)"}],
        volumeMounts=[{"name": "d", "mountPath": "/d"}])
    cluster.apply(pod(name, c, labels={"app": name, "b": "2"}, volumes=[{"name": "d", "downwardAPI": {"items": [
        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
        {"path": "one", "fieldRef": {"fieldPath": "metadata.labels['b']"}}]}}]))
    seen = cluster.wait_ready(name)
    out = cluster.sh(name, 'echo "$NAME $IP $NODE $CPU $MEM"; echo "$BOTH"').split("\n")
    assert out[0] == f"{name} {seen['status']['podIP']} {seen['spec']['nodeName']} 2 64"
    assert out[1] == f"{name}-2 $(NAME) $(NONE)"
    assert cluster.sh(name, "cat /d/labels") == f'app="{name}"\nb="2"'
    cluster.kubectl("label", "pod", name, "c=3")
    wait_for(lambda: 'c="3"' in cluster.sh(name, "cat /d/labels"), "the new label", 5)


def test_the_service_account_reaches_the_api_from_inside(cluster, pods):
    name = pods("token")
    cluster.apply(pod(name, container(["sleep", "999"])))
    cluster.wait_ready(name)
    at = "/var/run/secrets/kubernetes.io/serviceaccount"
    assert cluster.sh(name, f"cat {at}/namespace") == "default"
    def ask(path):
        return json.loads(cluster.sh(name, f"curl -s --cacert {at}/ca.crt -H \"Authorization: Bearer $(cat {at}/token)\" "
                                           f"https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT{path}"))
    assert ask("/api")["kind"] == "APIVersions"
    for path in ("/api/v1/namespaces/default", "/api/v1/namespaces/default/secrets", "/api/v1/pods"):
        refused = ask(path)
        assert refused["code"] == 403 and 'User "system:serviceaccount:default:default" cannot' in refused["message"]
    cluster.kubectl("create", "rolebinding", name, "--clusterrole=view", "--serviceaccount=default:default")
    assert ask("/api/v1/namespaces/default")["metadata"]["name"] == "default"
    cluster.kubectl("delete", "rolebinding", name)
    out = cluster.sh(name, f"curl -s --cacert {at}/ca.crt https://kubernetes.default.svc/livez")
    assert out == "ok"


def test_projected_volumes_mix_sources(cluster, pods):
    name = pods("projected")
    cluster.apply(configmap(name, a="1"),
                  mounted(name, [{"name": "p", "projected": {"sources": [
                      {"configMap": {"name": name, "items": [{"key": "a", "path": "cm/a"}]}},
                      {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                      {"serviceAccountToken": {"path": "token", "audience": "slurm", "expirationSeconds": 600}}]}}],
                      {"name": "p", "mountPath": "/p"}))
    cluster.wait_ready(name)
    assert cluster.sh(name, "cat /p/cm/a /p/name") == "1" + name
    payload = cluster.sh(name, "cut -d. -f2 /p/token").strip()
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert claims["sub"] == "system:serviceaccount:default:default"
    assert 500 < claims["exp"] - time.time() <= 600


def test_claims_are_bound_and_keep_their_content(cluster, pods):
    name = pods("claim")
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
             "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    wanted = mounted(name, [{"name": "d", "persistentVolumeClaim": {"claimName": name}}],
                     {"name": "d", "mountPath": "/d", "subPathExpr": "$(SUB)"})
    wanted["spec"]["containers"][0]["env"] = [{"name": "SUB", "value": "a/b"}]
    cluster.apply(wanted)
    wait_for(lambda: "FailedMount" in cluster.reasons(name), "it waits for its claim")
    cluster.apply(claim)
    cluster.wait_ready(name)
    bound = cluster.get("pvc", name)
    assert bound["status"]["phase"] == "Bound" and bound["status"]["capacity"]["storage"] == "1Gi"
    volume = cluster.get("pv", bound["spec"]["volumeName"])
    cluster.sh(name, "echo kept > /d/x")
    path = volume["spec"]["hostPath"]["path"]
    assert open(f"{path}/a/b/x").read() == "kept\n"
    cluster.kubectl("delete", "pod", name)
    cluster.apply(wanted)
    cluster.wait_ready(name)
    assert cluster.sh(name, "cat /d/x") == "kept\n"
    cluster.kubectl("delete", "pod", name)
    cluster.kubectl("delete", "pvc", name)
    cluster.wait_gone("pv", bound["spec"]["volumeName"])
    wait_for(lambda: not os.path.exists(path), "the directory is gone")


def test_sub_paths_do_not_lead_out(cluster, pods, tmp_path):
    name = pods("escape")
    (tmp_path / "link").symlink_to("/etc")
    cluster.apply(mounted(name, [{"name": "h", "hostPath": {"path": str(tmp_path)}}],
                          {"name": "h", "mountPath": "/h", "subPath": "link"}))
    wait_for(lambda: any("leads out of the volume" in m for _, m in cluster.events(name)), "the event")
