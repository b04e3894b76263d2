# SPDX-License-Identifier: GPL-2.0-or-later
"""The campaign: cases by the thousand against the programs on stage, for some minutes or for so many requests.

Each case comes from SEED and its number, so that a finding can be repeated: the seed is printed at the start, the cases
that were under way at the end, and CASE=N sends one of them again.
"""
import collections
import os
import random
import signal
import socket
import ssl
import struct
import sys
import threading
import time

import cases
import wire
from stage import TOP, Stage

WORKERS = int(os.environ.get("WORKERS", "16"))
READ_S, QUIET_S = 0.4, 0.03
SETTLE_S = 90
MB = 1 << 20


class Player:
    """Sends cases; one for each thread."""

    def __init__(self, stage):
        self.stage = stage
        self.api_tls = {named: stage.config.tls(identity=named) for named in (True, False)}
        self.agent_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.agent_tls.check_hostname, self.agent_tls.verify_mode = False, ssl.CERT_NONE

    def tcp(self, address):
        s = socket.create_connection(address, 10)
        s.settimeout(10)
        return s

    def unix(self, path):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(10)
        s.connect(path)
        return s

    def connect(self, case):
        api, agent = ("127.0.0.1", self.stage.api_port), ("127.0.0.1", self.stage.agent_port)
        if case.listener == "api":
            return self.api_tls[case.named].wrap_socket(self.tcp(api), server_hostname="localhost")
        if case.listener == "agent":
            return self.agent_tls.wrap_socket(self.tcp(agent))
        if case.listener == "relay":
            host, port = self.stage.relay.rsplit(":", 1)
            return self.tcp((host, int(port)))
        if case.listener == "dns":
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.connect((self.stage.dns, 53))
            return s
        return {"api-tls": lambda: self.tcp(api), "agent-tls": lambda: self.tcp(agent),
                "agent-socket": lambda: self.unix(self.stage.agent.socket),
                "node": lambda: self.unix(f"{self.stage.state}/node.sock"),
                "dns-tcp": lambda: self.tcp((self.stage.dns, 53)),
                "operator": lambda: self.tcp(("127.0.0.1", self.stage.metrics_port))}[case.listener]()

    def hear(self, s, answers):
        """Read until the end, or until nothing comes for a while; that is short once all answers have begun."""
        heard = b""
        until = time.monotonic() + 5
        try:
            while time.monotonic() < until:
                s.settimeout(READ_S if heard.count(b"HTTP/1.1 ") < answers else QUIET_S)
                data = s.recv(65536)
                if not data:
                    break
                heard = (heard + data)[:1 << 20]
        except (TimeoutError, OSError):
            pass
        return heard

    def play(self, case):
        """What came back; "" for nothing."""
        heard = b""
        s = self.connect(case)
        try:
            for step in case.steps:
                if isinstance(step, bytes):
                    s.sendall(step.replace(b"TOKEN", self.stage.token.encode()))
                elif step == "end" and not isinstance(s, ssl.SSLSocket):
                    s.shutdown(socket.SHUT_WR)
                elif step == "reset":
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return heard
                elif isinstance(step, float):
                    time.sleep(step)
            if not case.deaf and case.listener != "dns":
                heard = self.hear(s, case.answers)
        finally:
            s.close()
        return heard


class Campaign:
    def __init__(self, stage, seed, only):
        self.stage, self.seed, self.only = stage, seed, only
        self.lock = threading.Lock()
        self.next = 0
        self.requests = 0
        self.over = False
        self.counts, self.statuses = collections.Counter(), collections.Counter()
        self.recent = collections.defaultdict(lambda: collections.deque(maxlen=5))

    def take(self):
        with self.lock:
            self.next += 1
            return cases.make(self.seed, self.next, self.only)

    def count(self, case, heard):
        with self.lock:
            self.counts[case.listener] += 1
            answers = heard.count(b"HTTP/1.1 ")
            if case.named:
                self.requests += max(1, answers)
            for part in heard.split(b"HTTP/1.1 ")[1:]:
                self.statuses[part[:3].decode("latin-1")] += 1

    def work(self, me):
        player = Player(self.stage)
        while not self.over:
            case = self.take()
            self.recent[me].append(case.number)
            heard = b""
            try:
                heard = player.play(case)
            except OSError:
                pass  # refused, reset, timed out: what hostile clients live with
            self.count(case, heard)

    def watch(self, until, requests):
        """Until the end, or the first finding."""
        slowest, last, told = collections.Counter(), time.monotonic(), time.monotonic()
        while time.monotonic() < until and (not requests or self.requests < requests):
            time.sleep(1)
            found = self.stage.findings()
            if not found and time.monotonic() - last > 5:
                found, times = self.stage.ask_all()
                found += self.stage.findings()
                slowest |= collections.Counter(times)
                self.stage.tend()
                last = time.monotonic()
            if found:
                return found, slowest
            if time.monotonic() - told > 60:
                print(f"{self.next} cases, {self.requests} requests with credentials, nothing found", flush=True)
                told = time.monotonic()
        return [], slowest

    def run(self, until, requests):
        threads = [threading.Thread(target=self.work, args=(i,), daemon=True) for i in range(WORKERS)]
        for t in threads:
            t.start()
        found, slowest = self.watch(until, requests)
        self.over = True
        for t in threads:
            t.join(15)
        return found, slowest


def settled(stage, idle):
    """Memory and descriptors are near what they were; else what is not."""
    until = time.monotonic() + SETTLE_S
    while True:
        now = stage.measure()
        found = [f"{what} holds {r // MB} MB (idle {idle[what][0] // MB} MB)" for what, (r, _) in now.items()
                 if r > 2 * idle[what][0] + 64 * MB]
        found += [f"{what} holds {f} descriptors (idle {idle[what][1]})" for what, (_, f) in now.items() if f > idle[what][1] + 16]
        if not found or time.monotonic() > until:
            return found, now
        time.sleep(2)


def report(campaign, slowest, idle, end, began):
    seconds = time.monotonic() - began
    print(f"{campaign.next} cases in {seconds:.0f} s, {campaign.requests} requests with credentials")
    print("cases:   ", dict(campaign.counts))
    print("statuses:", dict(campaign.statuses.most_common()))
    print("slowest health answer:", {k: f"{v:.2f} s" for k, v in slowest.items()})
    for what in end:
        print(f"{what}: {idle[what][0] // MB} -> {end[what][0] // MB} MB, {idle[what][1]} -> {end[what][1]} descriptors")


def stop_in_order(signo, frame):
    """An end from outside takes the stage down, too."""
    raise SystemExit(f"signal {signo}")


def main():
    for signo in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signo, stop_in_order)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    requests = int(os.environ.get("REQUESTS", "0"))
    minutes = float(os.environ.get("MINUTES", "600" if requests else "10"))
    only = [x for x in os.environ.get("ONLY", "").split(",") if x]
    cases.SpdyDictionary.value = wire.spdy_dictionary(TOP / "src/http/spdy_block.c")
    print(f"SEED={seed} MINUTES={minutes:g} REQUESTS={requests}" + (f" ONLY={','.join(only)}" if only else ""), flush=True)
    stage = Stage(set(only) or set(cases.MAKERS))
    found = ["the stage was not set"]
    try:
        stage.start()
        time.sleep(2)
        if os.environ.get("CASE"):
            case = cases.make(seed, int(os.environ["CASE"]), only)
            print(case.describe())
            print(Player(stage).play(case).decode("latin-1"))
            time.sleep(1)
            found = stage.findings() + stage.ask_all()[0]
        else:
            found = throw(stage, seed, only, minutes, requests)
    finally:
        keep = bool(found)
        text = stage.sanitizer_text()
        stage.stop(keep)
        if found:
            print(text[:20000])
            print("\n".join("FOUND: " + x for x in found))
            print(f"logs and state stay in {stage.dir}; SEED={seed}")
    return 1 if found else 0


def throw(stage, seed, only, minutes, requests):
    campaign, began = Campaign(stage, seed, only), time.monotonic()
    # What is needed once (certificates parsed, tables built) is not growth: a short run comes before measuring.
    stage.ask_all()
    idle = stage.measure()
    found, slowest = campaign.run(began + minutes * 60, requests)
    end = stage.measure()
    if not found:
        stage.clear()
        found, end = settled(stage, idle)
        found += stage.findings()
    report(campaign, slowest, idle, end, began)
    if found:
        print("the last cases of each worker:", {k: list(v) for k, v in campaign.recent.items()})
    return found


if __name__ == "__main__":
    sys.exit(main())
