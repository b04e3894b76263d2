# SPDX-License-Identifier: GPL-2.0-or-later
"""The embedded server's own keys and certificates: damaged ones are found, old ones are renewed.

Each case has a server of its own, on a scratch directory.
"""
import os
import pathlib
import socket
import ssl
import subprocess
import tempfile
import time

import pytest

from lib.client import Api
from lib.kubeconfig import Kubeconfig

pytestmark = pytest.mark.embedded
PROGRAM = os.environ.get("SLURMKEEPER", "")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, directory, scratch, **env):
        self.state, self.scratch, self.port = pathlib.Path(directory), scratch, free_port()
        self.env = {**os.environ, **env}
        self.log = self.state.parent / "log"
        self.process = None

    def start(self, ready=True):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "apiserver", "--state", str(self.state), "--listen",
                 f"127.0.0.1:{self.port}"], stdout=log, stderr=log, env=self.env)
        deadline = time.monotonic() + 20
        while ready:
            assert self.process.poll() is None, self.words()
            try:
                if self.api().get("/readyz").code == 200:
                    return self
            except (OSError, FileNotFoundError):
                pass
            assert time.monotonic() < deadline, self.words()
            time.sleep(0.05)
        return self

    def api(self):
        return Api(Kubeconfig(str(self.state / "admin.kubeconfig"), self.scratch))

    def words(self):
        return self.log.read_text()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(20) if self.process else None

    def certificate(self):
        """What the server shows to a new connection."""
        plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        plain.check_hostname, plain.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", self.port), 5) as s:
            with plain.wrap_socket(s) as tls:
                return tls.getpeercert(binary_form=True)


@pytest.fixture
def serve(tmp_path):
    started = []

    def make(**env):
        server = Server(tmp_path / "server", tempfile.mkdtemp(dir=tmp_path), **env)
        started.append(server)
        return server

    yield make
    for server in started:
        server.stop()


def damage(path, how):
    text = path.read_bytes()
    if how == "cut":
        path.write_bytes(text[:len(text) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "gone":
        path.unlink()
    else:
        path.write_bytes(text[:60] + bytes([text[60] ^ 1]) + text[61:])


@pytest.mark.parametrize("how", ["cut", "empty", "gone", "flipped"])
@pytest.mark.parametrize("name", ["admin.key", "admin.crt", "server.key", "server.crt", "ca.crt"])
def test_a_damaged_file_is_told_and_made_again(serve, name, how):
    server = serve().start()
    before = server.api()
    server.stop()
    damage(server.state / "pki" / name, how)
    server.start()
    assert server.api().get("/api/v1/namespaces/default").code == 200
    assert "made again" in server.words() and name.split(".")[0] in server.words()
    if not name.startswith("admin"):
        # Who has the kubeconfig of before is still let in, and still trusts the server.
        assert before.get("/api/v1/namespaces/default").code == 200


def test_the_key_of_another_pair_is_found(serve):
    server = serve().start()
    server.stop()
    pki = server.state / "pki"
    (pki / "admin.key").write_bytes((pki / "server.key").read_bytes())
    server.start()
    assert server.api().get("/api/v1/namespaces/default").code == 200
    assert "not the certificate's" in server.words()


@pytest.mark.parametrize("name,how", [("ca.key", "cut"), ("ca.key", "gone"), ("token.key", "cut"),
                                      ("token.key", "empty")])
def test_what_others_depend_on_is_not_replaced_silently(serve, name, how):
    server = serve().start()
    server.stop()
    damage(server.state / "pki" / name, how)
    server.start(ready=False)
    assert server.process.wait(10) == 1
    last = server.words().strip().splitlines()[-1]
    assert name in last and "backup" in last and "remove" in last


def test_certificates_are_renewed_while_the_server_runs(serve):
    """With a life of six seconds: they are renewed after four, and a watch goes on all the time."""
    server = serve(SLURMKEEPER_CERT_LIFETIME_S="6").start()
    first, old = server.certificate(), (server.state / "admin.kubeconfig").read_bytes()
    api = server.api()
    with api.watch("/api/v1/namespaces/default/configmaps") as watch:
        deadline = time.monotonic() + 20
        while server.certificate() == first:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert (server.state / "admin.kubeconfig").read_bytes() != old
        time.sleep(7)  # what there was in the beginning has expired
        ca = (server.state / "pki/ca.crt").read_text()
        server.api().until("/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
                           lambda a: a.code == 200 and a.json["data"]["ca.crt"] == ca)
        for i in range(3):
            fresh = server.api()
            body = {"metadata": {"name": f"c{i}"}}
            fresh.post("/api/v1/namespaces/default/configmaps", body).ok(201)
            assert watch.skip_to(lambda e, i=i: e["object"]["metadata"]["name"] == f"c{i}")
            time.sleep(1)
    assert "renewed" in server.words()
    assert server.process.poll() is None

