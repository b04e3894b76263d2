# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock jumps by a year, both ways: the API server goes on, with the credentials that there are."""
import os
import shutil
import subprocess

import pytest

from server import SECRETS, Server, fill, listed

TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"


@pytest.fixture
def server(tmp_path):
    if not shutil.which("faketime"):
        pytest.skip("faketime is not installed")
    s = Server(tmp_path)
    yield s
    s.kill()


def faketime(shift):
    return ["faketime", "-f", shift]


@pytest.mark.parametrize("shift", ["+365d", "-365d"])
def test_a_server_that_is_started_a_year_off_has_everything_and_takes_writes(server, shift):
    server.start()
    fill(server.api(), 20)
    server.api().post(SECRETS, {"metadata": {"name": "s"}, "stringData": {"a": "b"}}).ok(201)
    version = listed(server.api())[1]
    server.kill()
    for around in (faketime(shift), []):
        server.start(around=around)
        # who asks has the same clock
        done = subprocess.run([*around, "kubectl", "--kubeconfig", server.path("admin.kubeconfig"), "get",
                               "configmaps,secrets", "-o", "name"], capture_output=True, text=True, check=False,
                              timeout=30)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("configmap/m") == 20 and "secret/s" in done.stdout
        made = subprocess.run([*around, "kubectl", "--kubeconfig", server.path("admin.kubeconfig"), "create",
                               "configmap", f"x{len(around)}"], capture_output=True, text=True, check=False,
                              timeout=30)
        assert made.returncode == 0, made.stderr
        server.kill()
    server.start()
    names, now = listed(server.api())
    assert len(names) == 20 and now > version


@pytest.mark.parametrize("shift", ["+365d", "-365d"])
def test_a_clock_that_jumps_below_a_running_server_ends_nothing(server, shift):
    """faketime follows a file: the jump comes while the server runs."""
    clock = f"{server.directory}/clock"
    with open(clock, "w") as f:
        f.write("+0d")
    library = next((p for p in ("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
                                "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1") if os.path.exists(p)), None)
    if not library:
        pytest.skip("libfaketime is not where Debian has it")
    server.start(around=["env", f"LD_PRELOAD={library}", f"FAKETIME_TIMESTAMP_FILE={clock}", "FAKETIME_NO_CACHE=1",
                         "DONT_FAKE_MONOTONIC=1"])
    api = server.api()
    fill(api, 5)
    with open(clock, "w") as f:
        f.write(shift)
    fill(api, 5, 10)
    api.patch("/api/v1/namespaces/default/configmaps/m1", {"data": {"n": "7"}}).ok(200)
    assert len(listed(api)[0]) == 10
    with open(clock, "w") as f:
        f.write("+0d")
    fill(api, 5, 20)
    assert len(listed(server.api())[0]) == 15
    server.kill()
    server.start()
    assert len(listed(server.api())[0]) == 15
