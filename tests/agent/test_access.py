# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may ask: TLS with the certificate of the Secret, and its token; the socket for root alone."""
import http.client
import os
import socket
import ssl
import subprocess

import pytest

from agent import AGENT, Cluster
from slurm import free_port


@pytest.fixture(scope="module", name="identity")
def an_identity(tmp_path_factory):
    made = tmp_path_factory.mktemp("identity")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=agent",
                    "-addext", "subjectAltName=DNS:slurm-agent.default", "-keyout",
                    str(made / "tls.key"), "-out", str(made / "tls.crt")],
                   check=True, capture_output=True)
    (made / "token").write_text("s3cret-token\n")
    return made


@pytest.fixture(scope="module", name="c")
def a_cluster(identity):
    port = free_port()
    cluster = Cluster(options=["--listen", f"127.0.0.1:{port}", "--identity", str(identity)])
    cluster.https_port = port
    yield cluster
    cluster.stop()


def ask(c, identity, token, name="slurm-agent.default", ca=None):
    context = ssl.create_default_context(cafile=ca or str(identity / "tls.crt"))
    connection = http.client.HTTPSConnection("127.0.0.1", c.https_port, context=context, timeout=10)
    raw = context.wrap_socket(socket.create_connection(("127.0.0.1", c.https_port)),
                              server_hostname=name)
    connection.sock = raw
    headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
    connection.request("GET", "/v1/state", headers=headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def test_the_token_opens(c, identity):
    assert ask(c, identity, "s3cret-token") == 200


@pytest.mark.parametrize("token", [None, "", "wrong", "s3cret-toke", "s3cret-token2", "S3cret-token"])
def test_other_tokens_do_not(c, identity, token):
    assert ask(c, identity, token) == 401


def test_another_name_or_another_certificate_is_refused(c, identity, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(c, identity, "s3cret-token", name="elsewhere.default")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=agent",
                    "-addext", "subjectAltName=DNS:slurm-agent.default", "-keyout",
                    str(tmp_path / "k"), "-out", str(tmp_path / "c")],
                   check=True, capture_output=True)
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(c, identity, "s3cret-token", ca=str(tmp_path / "c"))


def test_without_tls_nothing_is_answered(c):
    connection = http.client.HTTPConnection("127.0.0.1", c.https_port, timeout=5)
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 400


def test_socket_and_record_are_closed_to_others(c):
    assert os.stat(c.socket).st_mode & 0o777 == 0o600
    record = f"{c.live}/.slurmkeeper"
    assert os.stat(record).st_mode & 0o777 == 0o700
    c.push()
    for name in os.listdir(record):
        assert os.stat(f"{record}/{name}").st_mode & 0o077 in (0, 0o044), name


def test_it_does_not_start_without_an_identity(tmp_path):
    result = subprocess.run([AGENT, "run", "--live", str(tmp_path / "live"), "--identity",
                             str(tmp_path / "none"), "--listen", "127.0.0.1:0", "--mount", ""],
                            check=False, capture_output=True, text=True, timeout=20)
    assert result.returncode == 1 and "tls.crt" in result.stderr


def test_options_are_told():
    for args, status, text in ((["--nonsense"], 2, "no option"), (["fly"], 2, "neither run nor seed"),
                               (["--live"], 2, "needs DIR"), (["--help"], 0, "--restart-marker"),
                               (["--version"], 0, "slurmkeeper-agent")):
        result = subprocess.run([AGENT, *args], check=False, capture_output=True, text=True,
                                timeout=20)
        assert result.returncode == status, args
        assert text in result.stdout + result.stderr
