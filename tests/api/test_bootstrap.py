# SPDX-License-Identifier: GPL-2.0-or-later
"""What a server makes at its start and keeps: default roles, credentials of its own processes.

These cases stop and start a server, so they have one of their own.
"""
import base64
import hashlib
import hmac
import http.client
import json
import os
import socket
import ssl
import stat
import subprocess
import time

import pytest

from lib.client import WAIT_S, Api
from lib.kubeconfig import Kubeconfig
from lib.objects import configmap, pod, secret, service_account

pytestmark = pytest.mark.embedded
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ISSUER = "https://kubernetes.default.svc.cluster.local"
AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"


class Server:
    def __init__(self, state):
        self.state, self.process = state, None
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]

    def start(self):
        self.process = subprocess.Popen(
            [os.environ["SLURMKEEPER"], "apiserver", "--state", str(self.state / "server"),
             "--listen", f"127.0.0.1:{self.port}"], stderr=open(self.state / "log", "ab"))
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                if self.api("admin").get("/readyz").code == 200:
                    return self
            except (OSError, KeyError):
                pass
            assert self.process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(20) in (0, -15)

    def api(self, who):
        scratch = self.state / who
        scratch.mkdir(exist_ok=True)
        return Api(Kubeconfig(str(self.state / f"server/{who}.kubeconfig"), str(scratch)))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not os.environ.get("SLURMKEEPER"):
        pytest.skip("SLURMKEEPER does not name the program to start")
    s = Server(tmp_path_factory.mktemp("boot")).start()
    yield s
    s.stop()


def role(api, name):
    return api.get(f"{RBAC}/clusterroles/{name}").ok(200)


def test_default_roles_come_back(server):
    api = server.api("admin")
    before = role(api, "view")["rules"]
    api.delete(f"{RBAC}/clusterroles/view").ok(200)
    api.delete(f"{RBAC}/clusterroles/system:basic-user").ok(200)
    api.delete(f"{RBAC}/clusterrolebindings/system:discovery").ok(200)
    server.stop()
    api = server.start().api("admin")
    assert role(api, "view")["rules"] == before
    assert role(api, "system:basic-user")["rules"]
    binding = api.get(f"{RBAC}/clusterrolebindings/system:discovery").ok(200)
    assert binding["subjects"][0]["name"] == "system:authenticated"


def test_what_a_default_role_lost_comes_back_and_what_it_gained_stays(server):
    api = server.api("admin")
    extra = {"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}
    before = role(api, "system:public-info-viewer")["rules"]
    api.patch(f"{RBAC}/clusterroles/system:public-info-viewer", {"rules": [extra]}).ok(200)
    api.patch(f"{RBAC}/clusterrolebindings/system:basic-user", {"subjects": [
        {"kind": "User", "name": "x", "apiGroup": "rbac.authorization.k8s.io"}]}).ok(200)
    server.stop()
    api = server.start().api("admin")
    rules = role(api, "system:public-info-viewer")["rules"]
    assert extra in rules and all(r in rules for r in before)
    binding = api.get(f"{RBAC}/clusterrolebindings/system:basic-user").ok(200)
    assert {s["name"] for s in binding["subjects"]} == {"x", "system:authenticated"}


def test_a_default_role_may_be_left_alone(server):
    api = server.api("admin")
    api.patch(f"{RBAC}/clusterroles/system:monitoring",
              {"metadata": {"annotations": {AUTOUPDATE: "false"}}, "rules": None}).ok(200)
    server.stop()
    api = server.start().api("admin")
    assert not role(api, "system:monitoring").get("rules")


def test_a_start_that_changes_nothing_writes_nothing(server):
    api = server.api("admin")
    before = {r["metadata"]["name"]: r["metadata"]["resourceVersion"]
              for r in api.get(f"{RBAC}/clusterroles").ok(200)["items"]}
    server.stop()
    api = server.start().api("admin")
    after = {r["metadata"]["name"]: r["metadata"]["resourceVersion"]
             for r in api.get(f"{RBAC}/clusterroles").ok(200)["items"]}
    assert before == after


def test_rights_outlive_the_server(server):
    api = server.api("admin")
    api.post(f"{RBAC}/namespaces/default/rolebindings",
             {"metadata": {"name": "b"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                                                     "kind": "ClusterRole", "name": "view"},
              "subjects": [{"kind": "User", "name": "joe",
                            "apiGroup": "rbac.authorization.k8s.io"}]}).ok(201)
    server.stop()
    joe = {"Impersonate-User": "joe"}
    api = server.start().api("admin")
    assert api.get("/api/v1/namespaces/default/pods", headers=joe).code == 200
    assert api.get("/api/v1/namespaces/default/secrets", headers=joe).code == 403


def test_credentials_are_private(server):
    for name in ("admin", "node", "operator", "serve"):
        path = server.state / f"server/{name}.kubeconfig"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for path in (server.state / "server/pki").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("who, allowed, refused", [
    ("node", ["/api/v1/pods", "/api/v1/secrets", "/api/v1/nodes"],
     ["/api/v1/serviceaccounts", "/apis/apps/v1/statefulsets", f"{RBAC}/roles", "/metrics"]),
    ("operator", ["/api/v1/pods", "/api/v1/nodes", "/api/v1/secrets", "/apis/apps/v1/statefulsets"],
     ["/api/v1/persistentvolumes", "/api/v1/serviceaccounts", f"{RBAC}/clusterroles", "/metrics"]),
    ("serve", ["/api/v1/secrets", "/api/v1/services", "/api/v1/pods"],
     ["/api/v1/nodes", f"{RBAC}/clusterrolebindings"]),
])
def test_each_process_reads_what_it_needs_and_no_more(server, who, allowed, refused):
    api = server.api(who)
    for path in allowed:
        assert api.get(path).code == 200, path
    for path in refused:
        api.get(path).fails(403, "Forbidden")


@pytest.mark.parametrize("who", ["node", "operator", "serve"])
def test_no_process_can_give_itself_more(server, who):
    api = server.api(who)
    me = f"system:slurmkeeper:{who}"
    subject = {"kind": "User", "name": me, "apiGroup": "rbac.authorization.k8s.io"}
    api.post(f"{RBAC}/clusterrolebindings",
             {"metadata": {"name": "mine"}, "subjects": [subject],
              "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                          "name": "cluster-admin"}}).fails(403, "Forbidden")
    api.patch(f"{RBAC}/clusterroles/{me}", {"rules": []}).fails(403, "Forbidden")
    api.get("/api/v1/pods", headers={"Impersonate-User": "x", "Impersonate-Group":
                                     "system:masters"}).fails(403, "Forbidden")
    # Refusals of our own processes are told: each would be a rule that is missing.
    assert f'a process of this cluster was refused: users "x" is forbidden: User "{me}"' in \
        (server.state / "log").read_text()


def test_the_node_gets_tokens_for_pods_alone(server):
    admin, node = server.api("admin"), server.api("node")
    url = "/api/v1/namespaces/default"
    admin.post(url + "/serviceaccounts", service_account("robot")).ok(201)
    made = admin.post(url + "/pods", pod("p", serviceAccountName="robot")).ok(201)
    ask = url + "/serviceaccounts/robot/token"
    node.post(ask, {"spec": {}}).fails(403, "Forbidden")
    owner = admin.post(url + "/secrets", secret("s")).ok(201)
    for kind, name, uid in [("Secret", "s", owner["metadata"]["uid"]), ("Pod", "p", None)]:
        ref = {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}
        answer = node.post(ask, {"spec": {"boundObjectRef": ref}})
        assert answer.code == (201 if kind == "Pod" else 403), repr(answer)
    assert made["spec"]["serviceAccountName"] == "robot"


def signed(server, claims):
    """A token with these claims, signed as the server signs."""
    key = (server.state / "server/pki/token.key").read_bytes()

    def part(raw):
        return base64.urlsafe_b64encode(raw).rstrip(b"=")

    text = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(claims).encode())
    return (text + b"." + part(hmac.new(key, text, hashlib.sha256).digest())).decode()


def code_of(server, token):
    config = Kubeconfig(str(server.state / "server/admin.kubeconfig"), str(server.state))
    return Api(config, token=token).get("/api").code


def claims_for(account, seconds):
    meta = account["metadata"]
    return {"iss": ISSUER, "aud": [ISSUER], "iat": int(time.time()) - 10,
            "exp": int(time.time()) + seconds, "kubernetes.io": {
                "namespace": meta["namespace"],
                "serviceaccount": {"name": meta["name"], "uid": meta["uid"]}}}


def test_tokens_of_the_older_form_are_refused(server):
    """They did not say what they were bound to, and let in whoever had one."""
    api = server.api("admin")
    account = api.post("/api/v1/namespaces/default/serviceaccounts", service_account("old")).ok(201)
    claims = claims_for(account, 3600)
    assert code_of(server, signed(server, claims)) == 200
    del claims["kubernetes.io"]
    claims.update(sub="system:serviceaccount:default:old", uid=account["metadata"]["uid"])
    assert code_of(server, signed(server, claims)) == 401


def test_an_expired_token_is_refused(server):
    api = server.api("admin")
    account = api.post("/api/v1/namespaces/default/serviceaccounts", service_account("late")).ok(201)
    assert code_of(server, signed(server, claims_for(account, 60))) == 200
    assert code_of(server, signed(server, claims_for(account, 0))) == 401
    assert code_of(server, signed(server, claims_for(account, -60))) == 401


def openssl(*args):
    subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True, timeout=30)


def make_certificate(server, where, subject, authority=None, usage="clientAuth"):
    """A client certificate of the server's authority, or of another one."""
    where.mkdir()
    ca = [server.state / "server/pki/ca.crt", server.state / "server/pki/ca.key"]
    if authority:
        ca = [where / "ca.crt", where / "ca.key"]
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", authority, "-days", 1,
                "-keyout", ca[1], "-out", ca[0])
    (where / "ext").write_text(f"extendedKeyUsage={usage}\n")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", where / "key",
            "-out", where / "csr")
    openssl("x509", "-req", "-in", where / "csr", "-CA", ca[0], "-CAkey", ca[1], "-CAcreateserial",
            "-CAserial", where / "serial", "-days", 1, "-extfile", where / "ext", "-out",
            where / "crt")
    config = Kubeconfig(str(server.state / "server/admin.kubeconfig"), str(server.state))
    config.cert_file, config.key_file = str(where / "crt"), str(where / "key")
    return Api(config)


def test_a_certificate_names_the_user_and_the_groups(server, tmp_path):
    api = make_certificate(server, tmp_path / "joe", "/O=staff/O=night/CN=joe")
    body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    info = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", body).ok(201)
    known = info["status"]["userInfo"]
    assert (known["username"], known["groups"]) == ("joe", ["staff", "night", "system:authenticated"])
    der = ssl.PEM_cert_to_DER_cert((tmp_path / "joe/crt").read_text())
    assert known["extra"] == {"authentication.kubernetes.io/credential-id": [
        "X509SHA256=" + hashlib.sha256(der).hexdigest()]}
    api.get("/api/v1/nodes").fails(403, "Forbidden")


def test_certificates_of_others_are_refused(server, tmp_path):
    for name, more in [("foreign", {"authority": "/CN=slurmkeeper"}),
                       ("for-servers", {"usage": "serverAuth"})]:
        api = make_certificate(server, tmp_path / name, "/O=system:masters/CN=x", **more)
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
            api.get("/api/v1/nodes")


def test_only_loopback_without_being_told_otherwise(tmp_path):
    done = subprocess.run([os.environ["SLURMKEEPER"], "apiserver", "--state", str(tmp_path / "s"),
                           "--listen", "0.0.0.0:0"], capture_output=True, text=True, timeout=20,
                          check=False)
    assert done.returncode == 1 and "--allow-remote" in done.stderr


def test_a_group_of_all_accounts_of_a_namespace(server):
    api = server.api("admin")
    account = api.post("/api/v1/namespaces/default/serviceaccounts", service_account("one")).ok(201)
    config = Kubeconfig(str(server.state / "server/admin.kubeconfig"), str(server.state))
    client = Api(config, token=signed(server, claims_for(account, 600)))
    client.get("/api/v1/namespaces/default/pods").fails(403, "Forbidden")
    api.post(f"{RBAC}/namespaces/default/rolebindings",
             {"metadata": {"name": "all"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                                                       "kind": "ClusterRole", "name": "view"},
              "subjects": [{"kind": "Group", "name": "system:serviceaccounts:default",
                            "apiGroup": "rbac.authorization.k8s.io"}]}).ok(201)
    assert client.get("/api/v1/namespaces/default/pods").code == 200
    assert client.get("/api/v1/namespaces/kube-system/pods").code == 403


def test_slurm_edit_changes_partitions_and_no_pods(server):
    api = server.api("admin")
    api.post(f"{RBAC}/clusterrolebindings",
             {"metadata": {"name": "slurm"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                                                         "kind": "ClusterRole",
                                                         "name": "slurm-edit"},
              "subjects": [{"kind": "User", "name": "kim",
                            "apiGroup": "rbac.authorization.k8s.io"}]}).ok(201)

    def may(verb, group, resource, sub=""):
        body = {"spec": {"user": "kim", "resourceAttributes": {
            "verb": verb, "group": group, "resource": resource, "subresource": sub}}}
        return api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                        body).ok(201)["status"]["allowed"]

    assert may("create", "slurmkeeper.dev", "partitions")
    assert may("patch", "slinky.slurm.net", "nodesets", "scale")
    assert may("list", "", "pods") and may("watch", "slinky.slurm.net", "nodesets")
    assert not may("patch", "slinky.slurm.net", "nodesets")
    assert not may("create", "", "pods") and not may("create", "", "pods", "exec")
    assert not may("get", "", "secrets")


def test_a_write_as_somebody_else_is_logged_with_both_names(server):
    api = server.api("admin")
    api.post("/api/v1/namespaces/default/configmaps", configmap("c"),
             headers={"Impersonate-User": "mallory"}).fails(403, "Forbidden")
    assert "kubernetes-admin acts as mallory: POST /api/v1/namespaces/default/configmaps" in \
        (server.state / "log").read_text()
