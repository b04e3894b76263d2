# SPDX-License-Identifier: GPL-2.0-or-later
"""The validating webhook of the operator, asked by curl as a kube-apiserver asks it.

The embedded API server checks our kinds itself and calls no webhooks; it gives the same answers, and
one case holds the two against each other.  A server and an operator of their own are started here; the
operator has the permissions that `slurmkeeper rbac` prints and no others.
"""
import base64
import copy
import json
import subprocess

import pytest
import yaml
from conftest import PROGRAM, Api, Cluster, Kubeconfig, eventually, free_port

NAME = "slurmkeeper-webhook"
HOST = f"{NAME}.default.svc"
UID = "705ab4f5-6393-11e8-b7cc-42010a800002"

OBJECTS = """
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab}
spec: {extraConf: PartitionName=taken Nodes=ALL}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute}
spec: {controllerRef: {name: lab}, replicas: 1}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: slurmkeeper-webhook}
webhooks:
- name: other.slurmkeeper.dev
  clientConfig: {url: "https://example.org/x"}
  admissionReviewVersions: [v1]
  sideEffects: None
- name: objects.slurmkeeper.dev
  clientConfig: {service: {name: slurmkeeper-webhook, namespace: default, path: /validate}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules:
  - {apiGroups: [slinky.slurm.net], apiVersions: [v1beta1], operations: [CREATE, UPDATE],
     resources: [controllers, nodesets, nodesets/scale]}
"""
BAD = {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet",
       "metadata": {"name": "bad", "namespace": "default"},
       "spec": {"controllerRef": {"name": "lab"}, "replicas": 1,
                "partition": {"config": "MaxTime=soon"}, "extraConf": "Sockets=many"}}


class Hook:
    """The webhook, and curl."""

    def __init__(self, cluster, port):
        self.cluster, self.port = cluster, port
        self.ca = cluster.state / "webhook-ca.pem"

    def secret(self):
        return self.cluster.get("secret", NAME, "default")

    def read_ca(self):
        self.ca.write_bytes(base64.b64decode(self.secret()["data"]["ca.crt"]))

    def bundle(self):
        hooks = json.loads(self.cluster.kubectl("get", "validatingwebhookconfiguration", NAME, "-o",
                                                "json"))["webhooks"]
        return {h["name"].split(".")[0]: h["clientConfig"].get("caBundle") for h in hooks}

    def curl(self, body, *args, path="/validate", kind="application/json"):
        done = subprocess.run(
            ["curl", "-sS", "--noproxy", "*", "--max-time", "10", "--cacert", str(self.ca),
             "--resolve", f"{HOST}:{self.port}:127.0.0.1", "-w", "\n%{http_code}",
             "-H", f"Content-Type: {kind}", "--data-binary", "@-", *args,
             f"https://{HOST}:{self.port}{path}"],
            input=body, capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == 0, done.stderr
        text, _, code = done.stdout.rpartition("\n")
        return int(code), text

    def review(self, obj, old=None, operation="CREATE", sub=None):
        question = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": UID, "kind": {"group": "slinky.slurm.net", "version": "v1beta1",
                                 "kind": "NodeSet"},
            "resource": {"group": "slinky.slurm.net", "version": "v1beta1",
                         "resource": "nodesets"},
            "name": obj["metadata"]["name"], "namespace": "default", "operation": operation,
            "userInfo": {"username": "admin"}, "object": obj, "oldObject": old, "dryRun": False}}
        if sub:
            question["request"]["subResource"] = sub
        code, text = self.curl(json.dumps(question))
        assert code == 200, text
        answer = json.loads(text)
        assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
        assert answer["response"]["uid"] == UID
        return answer["response"]


def give_identity(c):
    """A ServiceAccount with what `slurmkeeper rbac` prints, and nothing else."""
    printed = subprocess.run([PROGRAM, "rbac", "--namespace", "default"], check=True,
                             capture_output=True, text=True).stdout
    c.apply(printed)
    api = Api(Kubeconfig(c.kubeconfig, str(c.state)))
    token = api.post("/api/v1/namespaces/default/serviceaccounts/slurmkeeper-operator/token",
                     {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                      "spec": {"expirationSeconds": 3600}}).ok()["status"]["token"]
    config = yaml.safe_load(c.kubeconfig.read_text(encoding="utf-8"))
    config["users"][0]["user"] = {"token": token}
    path = c.state / "webhook-operator.kubeconfig"
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def hook(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp("webhook"))
    h = Hook(c, free_port())
    try:
        c.start_server()
        c.kubectl("apply", "-f", "-", text=subprocess.run(
            [PROGRAM, "crds"], check=True, capture_output=True, text=True).stdout)
        eventually(lambda: c.apply(OBJECTS), "the objects")
        c.start("operator", "operator", "--kubeconfig", str(give_identity(c)), "--metrics",
                f"127.0.0.1:{c.metrics_port}", "--webhook", f"127.0.0.1:{h.port}")
        eventually(lambda: c.visit("/readyz")[0] == 200, "the operator")
        h.read_ca()
        yield h
    finally:
        codes = {name: c.stop(name) for name in ("operator", "apiserver")}
    assert not [name for name, code in codes.items() if code not in (0, -15)], codes
    assert "forbidden" not in c.log("operator")


def test_the_api_server_is_told_to_trust_it(hook):
    secret = hook.secret()
    assert secret["type"] == "kubernetes.io/tls"
    assert hook.bundle() == {"other": None, "objects": secret["data"]["ca.crt"]}


def test_good_objects_are_allowed(hook):
    good = copy.deepcopy(BAD)
    good["spec"] = {"controllerRef": {"name": "lab"}, "replicas": 2}
    assert hook.review(good) == {"uid": UID, "allowed": True}


def test_what_slurm_would_refuse_is_refused(hook):
    answer = hook.review(BAD)
    assert not answer["allowed"]
    assert (answer["status"]["code"], answer["status"]["reason"]) == (422, "Invalid")
    fields = {c["field"] for c in answer["status"]["details"]["causes"]}
    assert fields == {"spec.partition.config", "spec.extraConf"}
    assert hook.review(BAD, old=BAD, operation="UPDATE")["allowed"]


def test_it_knows_the_other_objects(hook):
    twin = copy.deepcopy(BAD)
    twin["spec"] = {"controllerRef": {"name": "lab"},
                    "template": {"spec": {"hostname": "compute-"}}}
    answer = hook.review(twin)
    assert not answer["allowed"]
    assert "compute" in answer["status"]["message"]
    twin["spec"] = {"controllerRef": {"name": "nobody"}}
    answer = hook.review(twin)
    assert answer["allowed"]
    assert [w.split(":")[0] for w in answer["warnings"]] == ["spec.controllerRef.name"]


def test_the_embedded_server_says_the_same(hook):
    api = Api(Kubeconfig(hook.cluster.kubeconfig, str(hook.cluster.state)))
    path = "/apis/slinky.slurm.net/v1beta1/namespaces/default/nodesets"
    own = api.post(path, BAD).fails(422, "Invalid")
    asked = hook.review(BAD)["status"]
    assert own["details"]["causes"] == asked["details"]["causes"]
    assert own["message"] == asked["message"]
    lonely = copy.deepcopy(BAD)
    lonely["spec"] = {"controllerRef": {"name": "nobody"}, "replicas": 0}
    answer = api.post(path + "?dryRun=All", lonely)
    answer.ok()
    assert answer.warnings == hook.review(lonely)["warnings"] != []


def test_scaling_is_no_way_around(hook):
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale",
             "metadata": {"name": "compute", "namespace": "default"}, "spec": {"replicas": 3}}
    assert hook.review(scale, operation="UPDATE", sub="scale")["allowed"]
    scale["spec"]["replicas"] = -3
    assert not hook.review(scale, operation="UPDATE", sub="scale")["allowed"]


@pytest.mark.parametrize("body, args, path, kind, code, says", [
    ("{", [], "/validate", "application/json", 400, ""),
    ("{}", [], "/validate", "application/json", 400, "admission.k8s.io/v1"),
    ('{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1"}', [], "/validate",
     "application/json", 400, "admissionReviewVersions"),
    ("{}", [], "/", "application/json", 404, "/validate"),
    ("{}", ["-X", "PUT"], "/validate", "application/json", 405, "POST"),
    ("a=b", [], "/validate", "application/x-www-form-urlencoded", 415, "application/json"),
])
def test_what_is_no_question_is_told_so(hook, body, args, path, kind, code, says):
    got, text = hook.curl(body, *args, path=path, kind=kind)
    assert got == code and says in text, (got, text)


def test_what_is_too_long_is_refused(hook):
    assert hook.curl("x" * (5 << 20))[0] == 413


def test_a_deleted_secret_gives_a_new_certificate(hook):
    before = hook.secret()["data"]
    hook.cluster.kubectl("delete", "secret", NAME)
    after = eventually(lambda: hook.secret()["data"], "a new Secret")
    assert after["tls.crt"] != before["tls.crt"] and after["ca.crt"] != before["ca.crt"]
    eventually(lambda: hook.bundle()["objects"] == after["ca.crt"], "the new authority")
    hook.read_ca()
    eventually(lambda: not hook.review(BAD)["allowed"], "an answer with the new certificate")


def test_a_secret_of_somebody_else_is_used(hook):
    """As cert-manager keeps one: without our label, changed when it likes."""
    directory = hook.cluster.state
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=x", "-addext", f"subjectAltName=DNS:{HOST}",
         "-keyout", str(directory / "own.key"), "-out", str(directory / "own.crt")],
        check=True, capture_output=True, timeout=20)
    data = {key: base64.b64encode((directory / name).read_bytes()).decode()
            for key, name in (("tls.crt", "own.crt"), ("tls.key", "own.key"),
                              ("ca.crt", "own.crt"))}
    hook.cluster.kubectl("label", "secret", NAME, "app.kubernetes.io/managed-by-")
    hook.cluster.kubectl("patch", "secret", NAME, "--type=merge", "-p", json.dumps({"data": data}))
    eventually(lambda: hook.bundle()["objects"] == data["ca.crt"], "their authority")
    hook.read_ca()
    eventually(lambda: not hook.review(BAD)["allowed"], "an answer with their certificate")
    assert hook.secret()["data"] == data
