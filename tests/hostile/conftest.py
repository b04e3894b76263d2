# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: an API server and an agent for each case that wants one; attackers that are nobody."""
import json
import os
import subprocess
import sys

import pytest

from servers import Agent, ApiServer, Operator

HERE = os.path.dirname(os.path.abspath(__file__))
NOBODY = 65534


@pytest.fixture
def start(tmp_path_factory):
    """start("api", files=64) starts a server; it must end in order after the case."""
    started = []

    def begin(kind, **options):
        kinds = {"api": ApiServer, "agent": Agent, "operator": Operator}
        started.append(kinds[kind](tmp_path_factory.mktemp(kind), **options))
        return started[-1]

    yield begin
    for server in started:
        server.stop()


class Attacker:
    """attack.py as another user; result() waits for its end."""

    def __init__(self, kind, port, count, seconds):
        with open(os.path.join(HERE, "attack.py"), "rb") as program:
            self.process = subprocess.Popen(
                [sys.executable, "-", kind, "127.0.0.1", str(port), str(count), str(seconds)],
                stdin=program, stdout=subprocess.PIPE, cwd="/", env={"PATH": "/usr/bin:/bin"},
                user=NOBODY, group=NOBODY, extra_groups=[])

    def running(self):
        return self.process.poll() is None

    def result(self):
        out, _ = self.process.communicate(timeout=60)
        return json.loads(out)


@pytest.fixture
def attack():
    if os.geteuid() != 0:
        pytest.skip("only root can attack as somebody else")
    begun = []

    def begin(kind, port, count, seconds):
        begun.append(Attacker(kind, port, count, seconds))
        return begun[-1]

    yield begin
    for attacker in begun:
        if attacker.running():
            attacker.process.kill()
        attacker.process.wait()
