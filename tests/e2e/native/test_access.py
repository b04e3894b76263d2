# SPDX-License-Identifier: GPL-2.0-or-later
"""Nobody but the operator talks to the agent, and nobody but root reads its files."""
import base64
import glob
import os
import ssl
import http.client

import pytest

from local import run


@pytest.fixture(scope="module")
def door(shared):
    data = shared.object("secrets", "slurm-agent")["data"]
    address = shared.object("pods", "slurm-controller-0")["status"]["podIP"]
    decoded = {k: base64.b64decode(v).decode() for k, v in data.items()}
    shared.token = decoded["token"]
    return address, decoded


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


def as_another(c, uid, *argv):
    """A command in the agent's container, as another user."""
    return run("nsenter", "-t", str(c.agent()), "-m", "-p", "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups",
               *argv, check=False)


def secrets_of(c):
    """Files that the agent keeps to itself: its identity, its record, what waits to be applied."""
    root = f"/proc/{c.agent()}/root"
    found = []
    for pattern in ("/etc/slurmkeeper-agent/*", "/etc/slurm/.slurmkeeper", "/etc/slurm/.slurmkeeper/*", "/etc/slurm/*.key",
                    "/mnt/slurm/*.key", "/mnt/state/.slurmkeeper", "/run/**/*agent*.sock*"):
        found += [path[len(root):] for path in glob.glob(root + pattern, recursive=True)]
    return found


@pytest.mark.parametrize("who", ["nobody", "a user of the cluster"])
def test_files_are_for_root_alone(cluster, who):
    uid = {"nobody": 65534, "a user of the cluster": 1000}[who]
    found = secrets_of(cluster)
    assert {"/etc/slurmkeeper-agent/token", "/etc/slurmkeeper-agent/tls.key", "/etc/slurm/.slurmkeeper"} <= set(found)
    for path in found:
        look = ("ls", path) if os.path.isdir(f"/proc/{cluster.agent()}/root{path}") else ("cat", path)
        done = as_another(cluster, uid, *look)
        assert done.returncode != 0 and "Permission denied" in done.stderr, f"{who} can read {path}: {done}"
    # what is for everybody is: the test itself can read
    assert as_another(cluster, uid, "cat", "/etc/slurm/slurm.conf").returncode == 0


def test_slurmctld_does_not_have_the_agents_identity(cluster, door):
    assert glob.glob(f"/proc/{cluster.slurmctld()}/root/etc/slurmkeeper-agent/*") == []
    for name in ("environ", "cmdline"):
        with open(f"/proc/{cluster.agent()}/{name}") as f:
            assert cluster.token not in f.read()


def test_the_token_is_in_no_log_and_no_object_but_its_secret(cluster, door):
    said = cluster.kubectl("logs", "slurm-controller-0", "-c", "reconfigure").stdout
    for path in glob.glob(f"{cluster.state}/log/*.log"):
        with open(path, errors="replace") as f:
            said += f.read()
    said += cluster.kubectl("get", "controllers,nodesets,pods,configmaps,events,statefulsets", "-A", "-o", "json").stdout
    assert cluster.token not in said and base64.b64encode(cluster.token.encode()).decode() not in said
