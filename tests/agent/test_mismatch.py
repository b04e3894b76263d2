# SPDX-License-Identifier: GPL-2.0-or-later
"""A slurmctld that does not talk to the agent's libslurm: said once, in a sentence, and not asked on and on."""
import json
import os
import subprocess
import sys
import time

import pytest

from agent import AGENT, UnixConnection
from slurm import die_with_parent, wait_for

# A libslurm child whose slurmctld refuses it: frames of four bytes of length (big-endian) and JSON.
WORKER = """#!{python}
import json, socket, sys
s = socket.socket(fileno=0)
def take(n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data
while True:
    request = json.loads(take(int.from_bytes(take(4), "{order}")))
    with open("{asked}", "a") as f:
        f.write(request["call"] + "\\n")
    answer = {{"ok": False, "error": {{"kind": "down", "code": 1005, "text": "Incompatible versions"}}}}
    if request["call"] == "ping":
        answer = {{"ok": True, "up": False, "mismatch": True, "controllers": [], "libslurm": 0x180b05}}
    body = json.dumps(answer).encode()
    s.sendall(len(body).to_bytes(4, "{order}") + body)
"""


@pytest.fixture(name="agent")
def an_agent(tmp_path):
    live, asked = tmp_path / "live", tmp_path / "asked"
    live.mkdir()
    (live / "slurm.conf").write_text("ClusterName=x\nSlurmctldHost=localhost\n")
    worker = tmp_path / "worker"
    worker.write_text(WORKER.format(python=sys.executable, asked=asked, order="big"))
    worker.chmod(0o755)
    log = open(tmp_path / "log", "wb")
    process = subprocess.Popen(
        [AGENT, "run", "--live", str(live), "--mount", "", "--worker", str(worker), "--socket",
         str(tmp_path / "socket"), "--listen", "", "--restart-marker", str(tmp_path / "marker")],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent,
        env={"PATH": os.environ["PATH"]})
    yield tmp_path
    process.terminate()
    process.wait(20)


def state(path):
    try:
        c = UnixConnection(str(path / "socket"), 10)
        c.request("GET", "/v1/state")
        return json.loads(c.getresponse().read())
    except (ConnectionError, FileNotFoundError):
        return {}


def test_it_is_told_once_and_asked_rarely(agent):
    wait_for(lambda: "error" in state(agent).get("slurmctld", {}))
    told = state(agent)["slurmctld"]
    assert not told["up"] and "refuses libslurm 24.11.5" in told["error"], told
    pings = (agent / "asked").read_text().count("ping")
    time.sleep(6)
    assert (agent / "asked").read_text().count("ping") <= pings + 2
    log = (agent / "log").read_text()
    assert log.count("refuses libslurm") == 1 and log.count("does not answer; asking again") == 0, log
    assert len(log.splitlines()) < 20, log
