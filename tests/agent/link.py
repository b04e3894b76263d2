# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls through the link: agent-call on a pipe, one line for each request and each answer."""
import json
import os
import subprocess

from slurm import die_with_parent, release

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
CALL = os.path.join(BUILD, "tests/agent/agent-call")
WORKER = release.worker(BUILD)
LANES = {"parse": "parse"}
READING = {"ping", "partitions", "nodes", "jobs", "reservations", "conf"}

EREMOTEIO, EHOSTDOWN, EACCES, EBUSY, EINVAL, ETIMEDOUT, EPIPE = -121, -112, -13, -16, -22, -110, -32


class Link:
    def __init__(self, conf, worker=WORKER):
        self.process = subprocess.Popen([CALL, worker, conf], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True,
                                        preexec_fn=die_with_parent)
        self.made = 0
        self.answers = {}

    def send(self, call, lane=None, timeout_ms=20000, **fields):
        lane = lane or LANES.get(call) or ("read" if call in READING else "write")
        request = json.dumps({"call": call, **fields})
        self.process.stdin.write(f"{lane} {timeout_ms} {request}\n")
        self.process.stdin.flush()
        self.made += 1
        return self.made - 1

    def restart(self):
        self.process.stdin.write("restart\n")
        self.process.stdin.flush()

    def wait(self, number):
        while number not in self.answers:
            line = self.process.stdout.readline()
            assert line, f"agent-call ended: {self.process.poll()}"
            answer = json.loads(line)
            self.answers[answer["id"]] = answer
        return self.answers.pop(number)

    def call(self, call, **fields):
        """The whole answer: r, ms, error, answer."""
        return self.wait(self.send(call, **fields))

    def ok(self, call, **fields):
        """What the child answered; it must have gone well."""
        whole = self.call(call, **fields)
        assert whole["r"] == 0, whole
        return whole["answer"]

    def items(self, call):
        return {item.get("name", item.get("id")): item for item in self.ok(call)["items"]}

    def children(self):
        """Process ids of the children."""
        text = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
                              capture_output=True, text=True, check=False).stdout
        return [int(pid) for pid in text.split()]

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(10)
        assert code == 0, code
