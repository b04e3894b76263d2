# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmkeeper-agent beside a slurmctld of one's own, with an entry point that starts it again."""
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time

import slurm
from slurm import Slurm, die_with_parent, wait_for

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
AGENT = os.path.join(BUILD, "src/agent/slurmkeeper-agent")
CRASHING = os.path.join(BUILD, "src/agent/test-agent-crash")
WORKER = slurm.release.worker(BUILD)

# What the entry point of slurmctld does: start it again, at once if the marker tells so; and where the new one ends
# at once, say so and wait for the next marker.
ENTRY = """restarted=
touch "$(dirname "$MARKER")/started"
ln -sf "$PID.err" "$(dirname "$MARKER")/last-words"
while :; do
    rm -f "$MARKER"
    touch "$MARKER.started"
    $DAEMON "$CONF" 2> "$PID.err" & echo $! > "$PID"
    wait $!
    if [ -e "$MARKER" ]; then
        restarted=yes
        continue
    fi
    if [ -n "$restarted" ] && grep -q fatal: "$PID.err"; then
        sed -n 's/.*fatal: //p' "$PID.err" > "$MARKER.new"
        touch -r "$MARKER.started" "$MARKER.new"
        mv "$MARKER.new" "$MARKER.failed"
        for i in $(seq 20); do [ -e "$MARKER" ] && break; sleep 0.1; done
    fi
    restarted=
    sleep 0.3
done"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Cluster(Slurm):
    """munged, slurmctld and the agent; the live files are in `live`."""

    def __init__(self, nodes=20, partitions=None, extra="", agent=AGENT, mount=None, options=()):
        self.program = agent
        self.options = list(options)
        self.mount = mount
        self.agent = None
        self.agent_log = None
        self.more = {}
        super().__init__(nodes, partitions, extra)

    def write(self, path=None):
        """Called once before slurmctld starts: where its files are, and the first of them."""
        self.live = os.path.join(self.dir, "live")
        self.run = os.path.join(self.dir, "run")
        self.marker = os.path.join(self.run, "restart")
        self.socket = os.path.join(self.dir, "agent.socket")
        self.conf = os.path.join(self.live, "slurm.conf")
        os.mkdir(self.live)
        os.mkdir(self.run)
        super().write(path)

    def start(self):
        self.start_entry()
        wait_for(self.is_up)
        if not self.agent:
            self.start_agent()

    def start_entry(self):
        self.ctld = subprocess.Popen(
            ["/bin/sh", "-c", ENTRY], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=lambda: (die_with_parent(), os.setsid()),
            env={"PATH": os.environ["PATH"], "CONF": self.conf, "MARKER": self.marker,
                 "PID": os.path.join(self.dir, "ctld.pid"), "DAEMON": " ".join(slurm.DAEMON)})

    def ctld_pid(self):
        """Another one after each start; a reconfigure does not count."""
        with open(os.path.join(self.dir, "ctld.pid"), encoding="utf-8") as f:
            return int(f.read())

    def signal_ctld(self, how):
        slurm.signal_daemon(slurm.daemon_of(self.ctld_pid()), how)

    def kill_entry(self):
        """slurmctld, and who would start it again."""
        pids = [slurm.daemon_of(self.ctld_pid()), self.ctld_pid()]
        os.killpg(self.ctld.pid, signal.SIGKILL)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.ctld.wait(20)

    def start_agent(self, **environment):
        self.launch_agent(**environment)
        wait_for(lambda: self.request("GET", "/v1/state")[1].get("slurmctld", {}).get("up"))

    def launch_agent(self, **environment):
        self.agent_log = open(os.path.join(self.dir, "agent.log"), "ab")
        self.agent = subprocess.Popen(
            [self.program, "run", "--live", self.live, "--mount", self.mount or "", "--worker",
             WORKER, "--slurmctld", slurm.release.program("slurmctld"), "--socket", self.socket, "--listen", "", "--restart-marker", self.marker,
             *self.options],
            stdin=subprocess.DEVNULL, stdout=self.agent_log, stderr=self.agent_log,
            preexec_fn=die_with_parent,
            env={"PATH": os.environ["PATH"], **environment})

    def stop_agent(self, how=signal.SIGTERM):
        if self.agent and self.agent.poll() is None:
            self.agent.send_signal(how)
            self.agent.wait(20)

    def agent_said(self):
        with open(os.path.join(self.dir, "agent.log"), encoding="utf-8") as f:
            return f.read()

    def request(self, method, path, body=None, timeout=120):
        """Status and JSON; (0, {}) while nobody listens."""
        try:
            c = UnixConnection(self.socket, timeout)
            c.request(method, path, json.dumps(body) if body is not None else None)
            answer = c.getresponse()
            text = answer.read()
            c.close()
            return answer.status, json.loads(text) if text[:1] in b"{[" else {"text": text.decode()}
        except (ConnectionError, FileNotFoundError, http.client.HTTPException):
            return 0, {}

    def files(self):
        return {"slurm.conf": self.text(), **self.more}

    def body(self, **more):
        return {"generation": int(time.time()), "files": self.files(), **more}

    def push(self, expect=200, **more):
        status, answer = self.request("PUT", "/v1/config", self.body(**more))
        assert status == expect, (status, json.dumps(answer, indent=1), self.agent_said()[-3000:])
        return answer

    def plan(self, **more):
        status, answer = self.request("POST", "/v1/plan", self.body(**more))
        assert status == 200, (status, answer)
        return answer

    def state(self, since="", wait=0):
        return self.request("GET", f"/v1/state?since={since}&wait={wait}")[1]

    def drift(self):
        return {(d["partition"], d["field"]): (d["declared"], d["live"])
                for d in self.state()["drift"]}

    def live_conf(self):
        with open(self.conf, encoding="utf-8") as f:
            return f.read()

    def partition_names(self):
        text = self.scontrol("-o", "show", "partition", check=False).stdout
        return {line.split()[0].split("=")[1] for line in text.splitlines()
                if line.startswith("PartitionName=")}

    def stop(self):
        self.stop_agent(signal.SIGKILL)
        if self.ctld and self.ctld.poll() is None:
            self.kill_entry()
        self.ctld = None
        super().stop()
