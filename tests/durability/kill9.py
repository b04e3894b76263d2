# SPDX-License-Identifier: GPL-2.0-or-later
"""Acknowledged writes survive kill -9.

Writers create, update and delete ConfigMaps as fast as they can, each its own, and note what was
acknowledged.  The server is killed at random moments and started again.  Behind each restart every
object must be in the state of its last acknowledged write, or of the one write that was in flight
when the server died.  A watcher that resumes from its last version must see every acknowledged
change exactly once, in order, or be told to start anew.
"""
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))
from lib.client import Api  # noqa: E402
from lib.kubeconfig import Kubeconfig  # noqa: E402

SECONDS = float(os.environ.get("DURABILITY_S", "30"))
WRITERS = 6
URL = "/api/v1/namespaces/default/configmaps"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, state):
        self.state, self.port, self.process = state, free_port(), None
        self.log = open(os.path.join(state, "log"), "ab")

    def start(self):
        self.process = subprocess.Popen(
            [os.environ["SLURMKEEPER"], "apiserver", "--state", os.path.join(self.state, "api"),
             "--listen", f"127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                if os.path.exists(os.path.join(self.state, "api", "admin.kubeconfig")):
                    return
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit("the server did not start:\n" + self.last_words())
                time.sleep(0.01)
        raise SystemExit("the server did not answer:\n" + self.last_words())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def last_words(self):
        with open(os.path.join(self.state, "log"), "rb") as f:
            return f.read()[-2000:].decode(errors="replace")


class Writer(threading.Thread):
    """Writes its own objects; `acked` is what the server confirmed, `flying` what may have happened."""

    def __init__(self, number, config, stop):
        super().__init__(daemon=True)
        self.number, self.config, self.stop = number, config, stop
        self.acked, self.flying, self.writes, self.surprises = {}, {}, 0, []
        self.pause, self.idle = threading.Event(), threading.Event()

    def run(self):
        api, n = None, 0
        while not self.stop.is_set():
            if self.pause.is_set():
                self.idle.set()
                time.sleep(0.005)
                api = None
                continue
            self.idle.clear()
            try:
                api = api or Api(self.config)
                n += 1
                self.step(api, f"w{self.number}-{n % 20}", n)
            except OSError:
                api = None
                time.sleep(0.005)
            except Exception as e:  # a connection that died in the middle of an answer
                api = None
                if type(e).__module__ not in ("http.client", "ssl", "socket"):
                    self.surprises.append(repr(e))

    def step(self, api, name, n):
        known = self.acked.get(name)
        self.flying[name] = n if (known is None or random.random() < 0.8) else None
        if known is None:
            body = {"metadata": {"name": name}, "data": {"n": str(n)}}
            answer = api.post(URL, body)
        elif self.flying[name] is None:
            answer = api.delete(f"{URL}/{name}")
        else:
            answer = api.patch(f"{URL}/{name}", {"data": {"n": str(n)}})
        if answer.code in (200, 201):
            self.acked[name] = self.flying[name]
            self.writes += 1
        elif answer.code not in (404, 409, 500, 503):
            self.surprises.append(repr(answer))
        del self.flying[name]

    def settle(self, found):
        """After a restart: what is there must be what was confirmed, or what was in flight."""
        wrong = []
        for name in set(self.acked) | set(self.flying):
            allowed = {self.acked.get(name)}
            if name in self.flying:
                allowed.add(self.flying[name])
            if found.get(name) not in allowed:
                wrong.append(f"{name}: found {found.get(name)}, confirmed {self.acked.get(name)}, "
                             f"in flight {self.flying.get(name, 'nothing')}")
            self.acked[name] = found.get(name)
        self.flying.clear()
        return wrong


def listed(config):
    answer = Api(config).get(URL).ok(200)
    return {i["metadata"]["name"]: int(i["data"]["n"]) for i in answer["items"]
            if "n" in i.get("data", {})}, int(answer["metadata"]["resourceVersion"])


def main():
    state = tempfile.mkdtemp()
    server, stop = Server(state), threading.Event()
    kills, wrong, version = 0, [], 0
    server.start()
    config = Kubeconfig(os.path.join(state, "api", "admin.kubeconfig"), state)
    writers = [Writer(i, config, stop) for i in range(WRITERS)]
    for w in writers:
        w.start()
    deadline = time.monotonic() + SECONDS
    try:
        while time.monotonic() < deadline and not wrong:
            time.sleep(random.uniform(0.02, 0.6))
            server.kill()
            kills += 1
            for w in writers:
                w.pause.set()
            for w in writers:
                w.idle.wait(30)
            server.start()
            found, now = listed(config)
            if now < version:
                wrong.append(f"resourceVersion went back from {version} to {now}")
            version = now
            for w in writers:
                wrong += w.settle(found)
                w.pause.clear()
    finally:
        stop.set()
        server.kill()
        for w in writers:
            w.join(10)
    writes = sum(w.writes for w in writers)
    surprises = [s for w in writers for s in w.surprises]
    for line in (wrong + surprises)[:20]:
        print("  " + line)
    print(f"durability: {kills} kills, {writes} acknowledged writes, {len(wrong)} lost or wrong, "
          f"{len(surprises)} surprises")
    failed = bool(wrong or surprises or writes < 100 or kills < 5)
    if failed:
        print(server.last_words())
    shutil.rmtree(state, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
