# SPDX-License-Identifier: GPL-2.0-or-later
"""Acknowledged writes survive kill -9.

Writers create, update and delete ConfigMaps as fast as they can, each its own, and note what was
acknowledged.  The server is killed at random moments and started again.  After each restart every
object must be in the state of its last acknowledged write, or of the one write that was in flight
when the server died.  A watcher that resumes from its last version must see every acknowledged
change exactly once, in order, or be told to start again.
"""
import os
import random
import shutil
import sys
import tempfile
import threading
import time

from server import MAPS as URL, Server

SECONDS = float(os.environ.get("DURABILITY_S", "30"))
KILLS = int(os.environ.get("DURABILITY_KILLS", "0"))
WRITERS = 6


class Writer(threading.Thread):
    """Writes its own objects; `acked` is what the server confirmed, `flying` what may have happened."""

    def __init__(self, number, server, stop):
        super().__init__(daemon=True)
        self.number, self.server, self.stop = number, server, stop
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
                api = api or self.server.api()
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


def listed(server):
    answer = server.api().get(URL).ok(200)
    return {i["metadata"]["name"]: int(i["data"]["n"]) for i in answer["items"]
            if "n" in i.get("data", {})}, int(answer["metadata"]["resourceVersion"])


def main():
    state = tempfile.mkdtemp()
    server, stop = Server(state), threading.Event()
    kills, wrong, version = 0, [], 0
    server.start()
    writers = [Writer(i, server, stop) for i in range(WRITERS)]
    for w in writers:
        w.start()
    deadline = time.monotonic() + SECONDS
    try:
        while (kills < KILLS if KILLS else time.monotonic() < deadline) and not wrong:
            time.sleep(random.uniform(0.02, 0.6))
            server.kill()
            kills += 1
            for w in writers:
                w.pause.set()
            for w in writers:
                w.idle.wait(30)
            server.start()
            found, now = listed(server)
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
        print(server.words())
    shutil.rmtree(state, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
