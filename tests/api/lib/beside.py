# SPDX-License-Identifier: GPL-2.0-or-later
"""The same request to two servers: the one of KUBECONFIG, and an embedded one started beside it.

Where the suite runs against a real kube-apiserver and SLURMKEEPER names our program, these cases ask
both and compare what they say, so that nobody has to know Kubernetes' texts by heart.  Both servers
see the same names.  What each makes up by itself (uids, times, tokens, versions) is blanked first.
"""
import os
import re
import signal
import socket
import subprocess
import time

from lib.client import WAIT_S, Api
from lib.kubeconfig import Kubeconfig

# What each server makes up, and parts of sentences that come from its own parser or from Go's types.
OWN_WORDS = [(re.compile(pattern), text) for pattern, text in (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"X509SHA256=[0-9a-f]{64}", "X509SHA256=..."),
    (r"json parse error: .*", "json parse error: ..."),
    (r"converting \(.*\) to \(.*\)", "converting"),
    (r' in scheme ".*"', ""),
    # Of several bindings that allow the same, the one that is found first is named.
    (r'ClusterRoleBinding "system:(discovery|public-info-viewer)" of ClusterRole "[a-z:-]*"',
     "a default binding"),
    # Kubernetes' node authorizer explains itself; ours are roles alone.
    (r": (No Object name found|can only list/watch pods with spec.nodeName field selector)$", ""),
    (r"requested .* without impersonating", "requested ... without impersonating"),
)]
MADE_UP = ("resourceVersion", "managedFields", "token")


class Embedded:
    """Our server on a scratch directory."""

    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        self.process = None

    def start(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "apiserver", "--state", str(self.directory / "server"), "--listen",
                 f"127.0.0.1:{port}"], stdout=log, stderr=log)
        deadline = time.monotonic() + WAIT_S
        while True:
            try:
                api = Api(self.config())
                if api.get("/readyz").code == 200:
                    return api
            except OSError:
                pass
            assert self.process.poll() is None and time.monotonic() < deadline, self.words()
            time.sleep(0.02)

    def config(self):
        scratch = self.directory / "scratch"
        scratch.mkdir(exist_ok=True)
        return Kubeconfig(str(self.directory / "server/admin.kubeconfig"), str(scratch))

    def words(self):
        return (self.directory / "log").read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(20) in (0, -signal.SIGTERM), self.words()


def program():
    return os.environ.get("SLURMKEEPER")


def blank(value):
    """The same value without what a server makes up by itself; empty lists are as good as none."""
    if isinstance(value, dict):
        return {k: blank(v) for k, v in value.items() if k not in MADE_UP and v not in (None, [])}
    if isinstance(value, list):
        return [blank(v) for v in value]
    if isinstance(value, str):
        for pattern, text in OWN_WORDS:
            value = pattern.sub(text, value)
    return value


def said(answer):
    """Code, warnings and body of an answer, comparable."""
    body = answer.json if "json" in answer.type else answer.body.decode(errors="replace")
    return answer.code, answer.warnings, blank(body)


def apart(real, ours, at=""):
    """Where two values differ: lines of "place: real, ours"."""
    if isinstance(real, dict) and isinstance(ours, dict):
        for key in sorted(set(real) | set(ours)):
            yield from apart(real.get(key), ours.get(key), f"{at}.{key}")
    elif isinstance(real, (list, tuple)) and isinstance(ours, (list, tuple)) \
            and len(real) == len(ours):
        for i, pair in enumerate(zip(real, ours)):
            yield from apart(*pair, f"{at}[{i}]")
    elif real != ours:
        yield f"   at {at or 'the whole'}\n      real {real!r}\n      ours {ours!r}"


class Both:
    """Asks both servers; differences are collected, so that one run shows them all."""

    def __init__(self, real, ours):
        self.real, self.ours, self.differences = real, ours, []

    def each(self, do):
        """Do something on both that prepares a case; returns both results."""
        return do(self.real), do(self.ours)

    def ask(self, method, path, body=None, pick=None, **kw):
        """The same request to both; pick takes from (code, warnings, body) what is compared."""
        answers = [s.request(method, path, body, **kw) for s in (self.real, self.ours)]
        self.compare((method, path, body, kw), *map(said, answers), pick)
        return answers

    def compare(self, what, real, ours, pick=None):
        pick = pick or (lambda x: x)
        if pick(real) != pick(ours):
            self.differences.append((what, pick(real), pick(ours)))

    def agree(self):
        shown = "\n".join("\n".join([str(what), *apart(real, ours)])
                          for what, real, ours in self.differences[:40])
        assert not self.differences, f"{len(self.differences)} differences\n{shown}"
