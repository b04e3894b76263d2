# SPDX-License-Identifier: GPL-2.0-or-later
"""An embedded API server and an operator beside it, on a scratch directory; kubectl between them.

SLURMKEEPER names the program (build/src/cli/slurmkeeper), KUBECTL the client (kubectl).
"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests/api"))
from lib.client import Api  # noqa: E402
from lib.kubeconfig import Kubeconfig  # noqa: E402

PROGRAM = os.environ.get("SLURMKEEPER", str(TOP / "build/src/cli/slurmkeeper"))
KUBECTL = os.environ.get("KUBECTL", "kubectl")
WAIT_S = float(os.environ.get("E2E_WAIT_S", "30"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def eventually(check, what, wait_s=WAIT_S):
    """Call check until it returns something true; fail with what it last said."""
    until = time.monotonic() + wait_s
    last = None
    while time.monotonic() < until:
        try:
            found = check()
            if found:
                return found
        except (AssertionError, KeyError, IndexError, subprocess.CalledProcessError) as problem:
            last = problem
        time.sleep(0.1)
    pytest.fail(f"{what}: not within {wait_s} s: {last}")


class Cluster:
    def __init__(self, state):
        self.state = state
        self.port = free_port()
        self.metrics_port = free_port()
        self.kubeconfig = state / "server/admin.kubeconfig"
        self.children = {}

    def start(self, name, *args):
        with open(self.state / f"{name}.log", "ab") as log:
            self.children[name] = subprocess.Popen([PROGRAM, *args], stdout=log, stderr=log)

    def stop(self, name):
        child = self.children.pop(name, None)
        if not child:
            return 0
        child.terminate()
        return child.wait(20)

    def log(self, name):
        return (self.state / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def start_server(self):
        self.start("apiserver", "apiserver", "--state", str(self.state / "server"), "--listen",
                   f"127.0.0.1:{self.port}")
        eventually(lambda: "serving" in self.log("apiserver"), "the API server")

    def start_operator(self, *args):
        own = self.state / "server/operator.kubeconfig"
        self.start("operator", "operator", "--kubeconfig", str(own), "--metrics", f"127.0.0.1:{self.metrics_port}", *args)

    def kubectl(self, *args, text=None):
        done = subprocess.run([KUBECTL, "--kubeconfig", str(self.kubeconfig), *args], input=text,
                              capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"kubectl {' '.join(args)}: {done.stderr}"
        return done.stdout

    def patch_status(self, pod, status, ns="slurm"):
        """As a node would; kubectl has --subresource since 1.24 only."""
        api = Api(Kubeconfig(self.kubeconfig, str(self.state)))
        api.patch(f"/api/v1/namespaces/{ns}/pods/{pod}/status", {"status": status}).ok()

    def patch_kind_status(self, plural, name, status, ns="slurm"):
        api = Api(Kubeconfig(self.kubeconfig, str(self.state)))
        api.patch(f"/apis/slinky.slurm.net/v1beta1/namespaces/{ns}/{plural}/{name}/status", {"status": status}).ok()

    def apply(self, text):
        return self.kubectl("apply", "-f", "-", text=text)

    def get(self, kind, name=None, ns="slurm"):
        out = json.loads(self.kubectl("get", kind, *([name] if name else []), "-n", ns, "-o",
                                      "json"))
        return out if name else out["items"]

    def condition(self, kind, name, wanted, ns="slurm"):
        for c in self.get(kind, name, ns).get("status", {}).get("conditions", []):
            if c["type"] == wanted:
                return c
        return None

    def visit(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}{path}",
                                        timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()
        except OSError:
            return 0, ""


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp("operator"))
    try:
        c.start_server()
        yield c
    finally:
        codes = {name: c.stop(name) for name in ("operator", "apiserver")}
    assert not [name for name, code in codes.items() if code not in (0, -15)], codes
    refused = [line for line in c.log("apiserver").splitlines() if "was refused" in line]
    assert not refused, "the operator's role lacks a rule: " + "\n".join(refused)
