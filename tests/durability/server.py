# SPDX-License-Identifier: GPL-2.0-or-later
"""An API server of its own, started and killed at will."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))
from lib.client import Api  # noqa: E402
from lib.kubeconfig import Kubeconfig  # noqa: E402

PROGRAM = os.environ.get("SLURMKEEPER", "slurmkeeper")
MAPS = "/api/v1/namespaces/default/configmaps"
SECRETS = "/api/v1/namespaces/default/secrets"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """`around` is put before the program: faketime, unshare; `root` is where it sees its files."""

    def __init__(self, directory, around=(), root=""):
        self.directory, self.around, self.root = str(directory), list(around), root
        self.state = f"{self.directory}/state"
        self.port, self.process = free_port(), None
        self.log = f"{self.directory}/log"
        self.lock, self.config = threading.Lock(), None

    def run(self, verb, *args, check=True, around=()):
        done = subprocess.run([*around, PROGRAM, verb, "--state", self.state, *args], capture_output=True, text=True,
                              timeout=60, check=False)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    def start(self, around=None):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*(self.around if around is None else around), PROGRAM, "apiserver", "--state", self.state, "--listen",
                 f"127.0.0.1:{self.port}"], stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            assert self.process.poll() is None, self.words()
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                root = self.root or (f"/proc/{self.process.pid}/root" if self.around else "")
                if os.path.exists(f"{root}{self.state}/admin.kubeconfig"):
                    return self
            except OSError:
                pass
            time.sleep(0.01)
        raise AssertionError(self.words())

    def refused(self, around=None):
        """It does not start; its last words."""
        done = subprocess.run([*(self.around if around is None else around), PROGRAM, "apiserver", "--state",
                               self.state, "--listen", f"127.0.0.1:{self.port}"], capture_output=True, text=True,
                              timeout=30, check=False)
        assert done.returncode == 1, done.stdout + done.stderr
        return done.stderr.strip().splitlines()[-1]

    def kill(self, how=signal.SIGKILL):
        if self.process:
            os.killpg(self.process.pid, how)  # faketime starts the program beside itself
            self.process.wait(20)
            self.process = None
            self.wait_for_silence()

    def wait_for_silence(self):
        """The program that faketime started ends by itself, a moment later: nobody is to take it for the next one."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                return
            time.sleep(0.01)
        raise AssertionError("it still listens")

    def api(self):
        """A client; what is in the kubeconfig is taken out of it once, for many threads."""
        with self.lock:
            self.config = self.config or Kubeconfig(f"{self.root}{self.state}/admin.kubeconfig", self.directory)
        return Api(self.config)

    def words(self):
        with open(self.log, errors="replace") as f:
            return f.read()[-2000:]

    def path(self, name):
        return f"{self.root}{self.state}/{name}"


def fill(api, n, first=0):
    for i in range(first, first + n):
        api.post(MAPS, {"metadata": {"name": f"m{i}"}, "data": {"n": str(i)}}).ok(201)


def listed(api):
    answer = api.get(MAPS).ok(200)
    return {i["metadata"]["name"] for i in answer["items"] if "n" in i.get("data", {})}, \
        int(answer["metadata"]["resourceVersion"])
