# SPDX-License-Identifier: GPL-2.0-or-later
"""Nobody but the operator talks to the agent, and nobody but root reads its files."""
import base64
import glob
import os
import ssl
import http.client

import pytest


@pytest.fixture(scope="module")
def door(shared):
    data = shared.object("secrets", "slurm-agent")["data"]
    address = shared.object("pods", "slurm-controller-0")["status"]["podIP"]
    return address, {k: base64.b64decode(v).decode() for k, v in data.items()}


def ask(address, headers, path="/v1/state", method="GET", context=None):
    context = context or ssl._create_unverified_context()
    c = http.client.HTTPSConnection(address, 6821, context=context, timeout=10)
    c.request(method, path, headers=headers)
    answer = c.getresponse()
    body = answer.read()
    c.close()
    return answer.status, body


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "},
                                    {"Authorization": "Basic cm9vdDo="}], ids=["none", "wrong", "empty", "basic"])
@pytest.mark.parametrize("path, method", [("/v1/state", "GET"), ("/v1/config", "PUT"), ("/v1/nodes/compute-0", "POST"),
                                          ("/v1/nodes/compute-0", "DELETE")])
def test_without_the_token_nothing_is_told(cluster, door, header, path, method):
    status, body = ask(door[0], header, path, method)
    assert status == 401 and b"compute" not in body


def test_with_the_token_it_answers(cluster, door):
    status, body = ask(door[0], {"Authorization": f"Bearer {door[1]['token']}"})
    assert status == 200 and b"compute-0" in body


def test_plain_text_is_refused(cluster, door):
    c = http.client.HTTPConnection(door[0], 6821, timeout=10)
    try:
        c.request("GET", "/v1/state", headers={"Authorization": f"Bearer {door[1]['token']}"})
        answer = c.getresponse()
        assert answer.status == 400 and b"compute" not in answer.read()
    except (http.client.HTTPException, OSError):
        pass  # the connection was closed


def test_another_certificate_is_refused(cluster, door, tmp_path):
    (tmp_path / "crt").write_text(door[1]["tls.crt"])
    right = ssl.create_default_context(cafile=str(tmp_path / "crt"))
    right.check_hostname = False
    assert ask(door[0], {"Authorization": f"Bearer {door[1]['token']}"}, context=right)[0] == 200
    wrong = ssl.create_default_context()  # trusts others
    wrong.check_hostname = False
    with pytest.raises(ssl.SSLError):
        ask(door[0], {}, context=wrong)


def test_files_and_sockets_are_for_root_alone(cluster):
    root = f"/proc/{cluster.agent()}/root"
    looked = 0
    for pattern in ("/etc/slurmkeeper-agent/*", "/etc/slurm/.slurmkeeper", "/etc/slurm/*.key", "/run/**/*agent*.sock*"):
        for path in glob.glob(root + pattern, recursive=True):
            st = os.stat(path)
            assert st.st_mode & 0o007 == 0, f"{path}: {oct(st.st_mode)}"
            looked += 1
    assert looked >= 3
