# SPDX-License-Identifier: GPL-2.0-or-later
"""An API server and a node process on a scratch directory, and kubectl to talk to them."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAM = os.environ.get("SLURMKEEPER", "slurmkeeper")
WAIT_S = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(check, what, seconds=WAIT_S):
    """Ask until the answer is true; the last answer is what the failure shows.  The limit is for a failure: on a busy
    machine everything takes longer, so it is never short."""
    seconds = max(seconds, WAIT_S)
    until = time.monotonic() + seconds
    answer = None
    while time.monotonic() < until:
        answer = check()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s (last answer: {answer!r})")


class Cluster:
    def __init__(self, name):
        self.name = name
        self.state = tempfile.mkdtemp(prefix=f"sk-{name}-")
        self.port = free_port()
        self.kubeconfig = f"{self.state}/admin.kubeconfig"
        self.processes = {}

    def start(self):
        self.start_api()
        self.start_node()

    def _spawn(self, what, *args):
        log = open(f"{self.state}/{what}.log", "ab")
        self.processes[what] = subprocess.Popen(
            [PROGRAM, *args], stdout=log, stderr=log, stdin=subprocess.DEVNULL
        )
        log.close()

    def start_api(self):
        self._spawn("apiserver", "apiserver", "--state", self.state, "--listen",
                    f"127.0.0.1:{self.port}")
        wait_for(lambda: os.path.exists(self.kubeconfig)
                 and self.kubectl("get", "--raw", "/readyz", check=False).returncode == 0,
                 "the API server answers")

    def start_node(self, *args):
        self._spawn("node", "node", "--state", self.state, "--name", self.name, *args)
        wait_for(self.node_ready, "the node is ready")

    def node_ready(self):
        if self.processes["node"].poll() is not None:
            raise AssertionError("the node process ended: " + self.log("node"))
        done = self.kubectl("get", "nodes", "-o",
                            "jsonpath={.items[*].status.conditions[-1].status}", check=False)
        return done.stdout.strip() == "True"

    def end(self, what, signo=signal.SIGTERM):
        process = self.processes.pop(what)
        process.send_signal(signo)
        return process.wait(10)

    def check_logs(self):
        """What a sanitizer found, if the program was built with one."""
        for what in ("apiserver", "node"):
            text = self.log(what)
            assert "Sanitizer" not in text and "runtime error" not in text, text[-5000:]
            assert "was refused" not in text, "the node's role lacks a rule: " + text[-5000:]

    def log(self, what):
        path = f"{self.state}/{what}.log"
        if not os.path.exists(path):
            return ""
        with open(path, errors="replace") as text:
            return text.read()

    def purge(self):
        return subprocess.run([PROGRAM, "node", "--state", self.state, "--name", self.name,
                               "--purge", "--grace", "0"], check=False, timeout=60,
                              capture_output=True, text=True)

    def destroy(self):
        """Also of what was never started."""
        for what in list(self.processes):
            self.end(what)
        done = self.purge()
        self.check_logs()
        shutil.rmtree(self.state, ignore_errors=True)
        assert done.returncode == 0, done.stderr

    def kubectl(self, *args, check=True, input=None, timeout=WAIT_S + 10, program="kubectl"):
        done = subprocess.run(
            [program, "--kubeconfig", self.kubeconfig, "--cache-dir", f"{self.state}/cache", *args],
            capture_output=True, text=True, input=input, timeout=timeout, check=False)
        if check:
            assert done.returncode == 0, f"kubectl {' '.join(args)}: {done.stderr}"
        return done

    def apply(self, *objects):
        everything = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "-f", "-", input=json.dumps(everything))

    def get(self, kind, name, check=True):
        done = self.kubectl("get", kind, name, "-o", "json", check=check)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def wait_phase(self, name, phase, seconds=WAIT_S):
        def look():
            pod = self.get("pod", name, check=False)
            return pod if pod and pod["status"].get("phase") == phase else None
        return wait_for(look, f"pod {name} is {phase}", seconds)

    def wait_ready(self, name, seconds=WAIT_S):
        def look():
            pod = self.get("pod", name, check=False)
            return pod if pod and condition(pod, "Ready") == "True" else None
        return wait_for(look, f"pod {name} is ready", seconds)

    def wait_gone(self, kind, name, seconds=WAIT_S):
        wait_for(lambda: self.get(kind, name, check=False) is None, f"{kind} {name} is gone",
                 seconds)

    def exec(self, pod, *command, container=None, check=True, program="kubectl", input=None):
        args = ["exec", pod] + (["-c", container] if container else [])
        args += ["-i"] if input is not None else []
        return self.kubectl(*args, "--", *command, check=check, program=program, input=input)

    def sh(self, pod, script, container=None):
        return self.exec(pod, "sh", "-c", script, container=container).stdout

    def events(self, pod):
        done = self.kubectl("get", "events", "-o", "json", "--field-selector",
                            f"involvedObject.name={pod}")
        return {(e["reason"], e["message"]) for e in json.loads(done.stdout)["items"]}

    def reasons(self, pod):
        return {reason for reason, _ in self.events(pod)}


def condition(pod, kind):
    for c in pod["status"].get("conditions", []):
        if c["type"] == kind:
            return c["status"]
    return None


def container(command=None, name="main", **fields):
    c = {"name": name, "image": "example.org/nobody/has-this:1"}
    if command is not None:
        c["command"] = command if isinstance(command, list) else ["sh", "-c", command]
    return {**c, **fields}


def pod(name, *containers, labels=None, **spec):
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {"app": name}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": list(containers), **spec},
    }


def sleeper(name, **fields):
    return pod(name, container("trap 'exit 0' TERM; while :; do sleep 0.1; done"), **fields)


def configmap(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def service(name, selector, *ports, **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"selector": selector, "ports": list(ports), **spec}}
