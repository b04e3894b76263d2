# SPDX-License-Identifier: GPL-2.0-or-later
"""The servers under attack: started on loopback, watched from outside, asked with credentials."""
import base64
import http.client
import os
import signal
import socket
import ssl
import subprocess
import time

import yaml

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
SLURMKEEPER = os.environ.get("SLURMKEEPER", os.path.join(BUILD, "src/cli/slurmkeeper"))
AGENT = os.path.join(BUILD, "src/agent/slurmkeeper-agent")
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A process that listens on loopback; ask() talks to it with credentials."""

    ready = "/"

    def __init__(self, directory, files=None):
        self.dir = str(directory)
        self.port = free_port()
        self.log = os.path.join(self.dir, "log")
        self.prepare()
        limit = ["prlimit", f"--nofile={files}:{files}"] if files else []
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([*limit, *self.command()], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        self.pid = self.process.pid
        self.until(lambda: self.ask(self.ready)[0] == 200, 20)

    def prepare(self):
        pass

    def until(self, done, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.words()
            try:
                if done():
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"it took longer than {seconds} s: {self.words()}")

    def words(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()[-2000:]

    def rss_kib(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def connect(self, timeout=10):
        context = self.tls()
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context,
                                                 timeout=timeout)
        return connection

    def headers(self):
        return {}

    def ask(self, path, method="GET", body=None, timeout=10, **headers):
        """Code and body; a connection of its own, as a kubectl has."""
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body, {**self.headers(), **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(20)
        assert code in (0, -signal.SIGTERM), self.words()


class ApiServer(Server):
    ready = "/readyz"

    def __init__(self, directory, files=None, history=300):
        self.history = history
        super().__init__(directory, files)

    def command(self):
        return [SLURMKEEPER, "apiserver", "--state", os.path.join(self.dir, "state"), "--listen",
                f"127.0.0.1:{self.port}", "--history", str(self.history)]

    def kubeconfig(self):
        return os.path.join(self.dir, "state", "admin.kubeconfig")

    def tls(self):
        with open(self.kubeconfig(), encoding="utf-8") as f:
            config = yaml.safe_load(f)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        context = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        pair = os.path.join(self.dir, "pair.pem")
        if not os.path.exists(pair):
            with open(os.open(pair, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as f:
                f.write(base64.b64decode(user["client-certificate-data"]))
                f.write(base64.b64decode(user["client-key-data"]))
        context.load_cert_chain(pair)
        return context


class Operator(Server):
    """Its /metrics, plain and for anybody; the API server that it needs comes and goes with it."""

    ready = "/healthz"

    def prepare(self):
        os.mkdir(os.path.join(self.dir, "api"))
        self.api = ApiServer(os.path.join(self.dir, "api"))

    def command(self):
        return [SLURMKEEPER, "operator", "--kubeconfig", self.api.kubeconfig(), "--metrics",
                f"127.0.0.1:{self.port}"]

    def connect(self, timeout=10):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def stop(self):
        super().stop()
        self.api.stop()


class Agent(Server):
    ready = "/healthz"

    def prepare(self):
        identity = os.path.join(self.dir, "identity")
        os.mkdir(identity)
        os.mkdir(os.path.join(self.dir, "live"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=agent",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{identity}/tls.key",
                        "-out", f"{identity}/tls.crt"], check=True, capture_output=True)
        with open(os.path.join(identity, "token"), "w", encoding="ascii") as f:
            f.write("a-token\n")

    def command(self):
        return [AGENT, "run", "--live", os.path.join(self.dir, "live"), "--mount", "", "--proven",
                "", "--identity", os.path.join(self.dir, "identity"), "--slurmctld", "",
                "--listen", f"127.0.0.1:{self.port}", "--worker",
                os.path.join(BUILD, "src/agent/worker/slurmkeeper-agent-worker")]

    def tls(self):
        return ssl.create_default_context(cafile=os.path.join(self.dir, "identity", "tls.crt"))

    def headers(self):
        return {"Authorization": "Bearer a-token"}
