# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs on stage: API server, operator, node and agent (with a slurmctld of its own), on a scratch directory.

Everything is started here and ended here.  A program that ends by itself, that a sanitizer stops, that does not answer
a health request in time or that keeps memory or descriptors is a finding.
"""
import glob
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "tests/agent"), str(TOP / "tests/api")]
import agent as agent_tests  # noqa: E402
from lib.client import Api  # noqa: E402
from lib.kubeconfig import Kubeconfig  # noqa: E402
from slurm import die_with_parent, free_port, wait_for  # noqa: E402

BUILD = os.environ["BUILD"]
PROGRAM = os.path.join(BUILD, "src/cli/slurmkeeper")
HEALTH_S = 30  # a machine with other work may take long; a server that hangs takes for ever
ASAN = "detect_leaks=0:quarantine_size_mb=8:malloc_context_size=10:allocator_release_to_os_interval_ms=500"


class Agent(agent_tests.Cluster):
    """The agent of tests/agent, under the sanitizers' options and with its HTTPS port open."""

    def __init__(self, environment, identity, port):
        self.environment = environment
        super().__init__(nodes=20, options=["--listen", f"127.0.0.1:{port}", "--identity", identity])

    def start_agent(self, **environment):
        super().start_agent(**self.environment, **environment)


class Stage:
    def __init__(self, parts):
        self.parts = parts
        self.dir = tempfile.mkdtemp(prefix="sk-fuzz-")
        self.state = os.path.join(self.dir, "state")
        self.name = "fz" + os.path.basename(self.dir)[-4:].lower().replace("_", "x")
        self.children = {}
        self.agent = None
        self.token = "0123456789abcdef"
        self.api_port, self.metrics_port, self.agent_port = free_port(), free_port(), free_port()
        self.environment = {"ASAN_OPTIONS": f"{ASAN}:log_path={self.dir}/san", "UBSAN_OPTIONS":
                            f"halt_on_error=1:print_stacktrace=1:log_path={self.dir}/san"}
        symbolizer = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
        if symbolizer:
            self.environment["ASAN_SYMBOLIZER_PATH"] = self.environment["UBSAN_SYMBOLIZER_PATH"] = symbolizer

    # -- starting ------------------------------------------------------------------------------

    def spawn(self, what, *args):
        with open(f"{self.dir}/{what}.log", "ab") as log:
            self.children[what] = subprocess.Popen(
                [PROGRAM, *args], stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent,
                env={**os.environ, **self.environment})

    def start(self):
        self.spawn("apiserver", "apiserver", "--state", self.state, "--listen", f"127.0.0.1:{self.api_port}")
        wait_for(lambda: os.path.exists(f"{self.state}/admin.kubeconfig"), HEALTH_S)
        self.config = Kubeconfig(f"{self.state}/admin.kubeconfig", self.dir)
        self.api = Api(self.config)
        wait_for(self.healthy_api, HEALTH_S)
        if "operator" in self.parts:
            self.spawn("operator", "operator", "--kubeconfig", f"{self.state}/admin.kubeconfig", "--metrics",
                       f"127.0.0.1:{self.metrics_port}")
            wait_for(self.healthy_operator, HEALTH_S)
        if {"node", "dns", "relay"} & self.parts:
            self.start_node()
        if "agent" in self.parts:
            self.start_agent()
        self.tend()
        if "node" in self.children:
            wait_for(self.pod_runs, HEALTH_S * 2)  # sessions with a pod that does not run would try nothing

    def start_node(self):
        self.spawn("node", "node", "--state", self.state, "--name", self.name, "--node-name", "here")
        wait_for(self.find_node, HEALTH_S * 2)

    def find_node(self):
        """the node listens"""
        if self.children["node"].poll() is not None:
            raise AssertionError("the node ended: " + self.log("node")[-3000:])
        pid = self.children["node"].pid
        listening = [line.split()[4] for line in subprocess.run(
            ["ss", "-Hltunp"], capture_output=True, text=True, check=False).stdout.splitlines() if f"pid={pid}," in line]
        self.dns = next((a.rsplit(":", 1)[0] for a in listening if a.endswith(":53")), None)
        self.relay = next((a for a in listening if self.dns and a.startswith(self.dns + ":") and not a.endswith(":53")), None)
        return self.dns and self.relay and os.path.exists(f"{self.state}/node.sock")

    def start_agent(self):
        identity = os.path.join(self.dir, "identity")
        os.mkdir(identity, 0o700)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9",
                        "-subj", "/CN=agent", "-keyout", f"{identity}/tls.key", "-out", f"{identity}/tls.crt"],
                       check=True, capture_output=True)
        with open(f"{identity}/token", "w", encoding="utf-8") as f:
            f.write(self.token)
        self.agent = Agent(self.environment, identity, self.agent_port)
        self.children["agent"] = self.agent.agent

    # -- what is looked at while it goes on ----------------------------------------------------

    def healthy_api(self):
        """the API server is ready"""
        try:
            return self.api.get("/readyz").code == 200
        except OSError:
            return False

    def http_ok(self, address, path, context=None, family=socket.AF_INET):
        with socket.socket(family) as s:
            s.settimeout(HEALTH_S)
            s.connect(address)
            if context:
                s = context.wrap_socket(s)
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
            return s.recv(64)[9:12]

    def healthy_operator(self):
        """the operator answers"""
        try:
            return self.http_ok(("127.0.0.1", self.metrics_port), "/healthz") == b"200"
        except OSError:
            return False

    def healthy_node(self):
        return self.http_ok(f"{self.state}/node.sock", "/nothing", family=socket.AF_UNIX) == b"404"

    def healthy_agent(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return self.http_ok(("127.0.0.1", self.agent_port), "/healthz", context) == b"200"

    def healthy_dns(self):
        from wire import dns_question
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(HEALTH_S)
            s.connect((self.dns, 53))
            s.send(dns_question("kubernetes.default.svc.cluster.local", number=4711))
            return s.recv(4096)[:2] == b"\x12\x67"

    def findings(self):
        """Sentences about what is wrong; none: all is well."""
        found = [f"{what} ended with {child.poll()}" for what, child in self.children.items() if child.poll() is not None]
        found += [f"a sanitizer wrote {path}" for path in glob.glob(f"{self.dir}/san*") if os.path.getsize(path)]
        return found

    def ask_all(self):
        """Health of all; slow or wrong answers are findings."""
        checks = {"apiserver": self.healthy_api, "operator": self.healthy_operator, "node": self.healthy_node,
                  "agent": self.healthy_agent}
        found, times = [], {}
        for what, check in list(checks.items()) + ([("dns", self.healthy_dns)] if "node" in self.children else []):
            if what != "dns" and what not in self.children:
                continue
            began = time.monotonic()
            try:
                ok = check()
            except OSError as problem:
                ok = False
                found.append(f"{what}: {problem}")
            times[what] = time.monotonic() - began
            if not ok or times[what] > HEALTH_S:
                found.append(f"{what} is not well after {times[what]:.1f} s")
        return found, times

    def tend(self):
        """What cases need: their namespaces, and a pod that runs."""
        for ns in ("fz0", "fz1", "fz2"):
            self.api.post("/api/v1/namespaces", {"metadata": {"name": ns}})
        if "node" in self.children:
            self.api.post("/api/v1/namespaces/default/pods", {"metadata": {"name": "p"}, "spec": {
                "terminationGracePeriodSeconds": 1, "containers": [
                    {"name": "main", "image": "i", "command": ["sh", "-c", "echo hello; while :; do sleep 1; done"]}]}})

    def pod_runs(self):
        """the pod that sessions go to runs"""
        return self.api.get("/api/v1/namespaces/default/pods/p").json.get("status", {}).get("phase") == "Running"

    def measure(self):
        """Resident bytes and open descriptors of each program."""
        figures = {}
        for what, child in self.children.items():
            try:
                with open(f"/proc/{child.pid}/statm", encoding="ascii") as f:
                    resident = int(f.read().split()[1]) * 4096
                figures[what] = (resident, len(os.listdir(f"/proc/{child.pid}/fd")))
            except OSError:
                figures[what] = (0, 0)
        return figures

    def clear(self):
        """Delete what cases have made."""
        for ns in ("fz0", "fz1", "fz2", "fz-x", "fz-y", "fz-z"):
            self.api.delete(f"/api/v1/namespaces/{ns}")
        for name in ("things.fz.example.org", "others.fz.example.org"):
            self.api.delete(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")

    # -- ending --------------------------------------------------------------------------------

    def log(self, what):
        try:
            with open(f"{self.dir}/{what}.log", errors="replace", encoding="utf-8") as f:
                return f.read()
        except OSError:
            return ""

    def sanitizer_text(self):
        text = ""
        for path in glob.glob(f"{self.dir}/san*"):
            with open(path, errors="replace", encoding="utf-8") as f:
                text += f.read()
        return text

    def stop(self, keep):
        for what in ("operator", "node", "apiserver"):
            child = self.children.get(what)
            if child and child.poll() is None:
                child.send_signal(signal.SIGTERM)
                try:
                    child.wait(60)
                except subprocess.TimeoutExpired:
                    child.kill()
        if "node" in self.children:
            subprocess.run([PROGRAM, "node", "--state", self.state, "--name", self.name, "--purge", "--grace", "0"], check=False,
                           capture_output=True, timeout=120, env={**os.environ, **self.environment})
        if self.agent:
            self.agent.stop()
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)
