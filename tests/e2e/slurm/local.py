# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster as a user has it: made by `slurmkeeper up`, reached by kubectl and Slurm's own commands."""
import glob
import json
import os
import pwd
import re
import select
import shutil
import subprocess
import tempfile
import time
import uuid

import yaml

PROGRAM = os.environ.get("SLURMKEEPER", "slurmkeeper")
KUBECTLS = ["kubectl"]
if os.access(os.environ.get("KUBECTL_120", ""), os.X_OK):
    KUBECTLS.append(os.environ["KUBECTL_120"])
RUN = uuid.uuid4().hex[:4]
WAIT_S = 20
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples")


def wait_for(check, what, seconds=WAIT_S):
    """Ask until the answer is true; the last answer is what the failure shows."""
    until = time.monotonic() + seconds
    answer = None
    while time.monotonic() < until:
        answer = check()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s (last answer: {answer!r})")


def run(*argv, check=True, timeout=60, **more):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=timeout, check=False, **more)
    if check:
        assert done.returncode == 0, f"{' '.join(argv)}: {done.stdout}{done.stderr}"
    return done


def read_until(child, pattern, seconds=WAIT_S):
    """What a child prints, until it matches."""
    seen = ""
    until = time.monotonic() + seconds
    while not re.search(pattern, seen):
        assert time.monotonic() < until, f"no {pattern!r} within {seconds} s in {seen!r}"
        if select.select([child.stdout], [], [], 0.1)[0]:
            seen += os.read(child.stdout.fileno(), 65536).decode(errors="replace")
    return seen


class Local:
    """One cluster; a context, so that whatever happens nothing is left behind."""

    def __init__(self, name, state=None):
        self.name = f"{name}{RUN}"
        self.state = state or tempfile.mkdtemp(prefix=f"sk-{self.name}-")
        self.share = tempfile.mkdtemp(prefix=f"sk-share-{self.name}-", dir="/var/tmp")
        os.chmod(self.share, 0o1777)
        self.kubeconfig = f"{self.state}/admin.kubeconfig"
        self.program = KUBECTLS[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        refused = self.refused()
        done = self.slurmkeeper("down", "--purge", "--force", "--grace", "1", check=False)
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.rmtree(self.share, ignore_errors=True)
        assert done.returncode == 0, done.stderr
        assert not refused, "a role of ours lacks a rule: " + "".join(refused)

    def refused(self):
        """What the API server did not let the cluster's own processes do."""
        path = f"{self.state}/log/apiserver.log"
        if not os.path.exists(path):
            return []
        with open(path, errors="replace") as log:
            return [line for line in log if "a process of this cluster was refused" in line]

    def slurmkeeper(self, verb, *args, **more):
        program = self.public_program() if "user" in more else PROGRAM
        return run(program, verb, "--state", self.state, *args, **more)

    def public_program(self):
        """A copy that every user may run: the tree may be root's alone."""
        path = f"{self.share}/slurmkeeper"
        if not os.path.exists(path):
            shutil.copy(PROGRAM, path)
        return path

    def up(self, *args, check=True, timeout="60", **more):
        return self.slurmkeeper("up", "--name", self.name, "--share", self.share, "--timeout", timeout, *args,
                                check=check, timeout=int(timeout) + 30, **more)

    def logs(self):
        """The last lines of what the cluster's processes said, for a failed test."""
        text = ""
        for path in sorted(glob.glob(f"{self.state}/log/*.log")):
            with open(path, errors="replace") as log:
                text += f"--- {os.path.basename(path)}\n" + "".join(log.readlines()[-12:])
        return text

    # kubectl

    def kubectl(self, *args, check=True, input=None, timeout=60, program=None):
        return run(program or self.program, "--kubeconfig", self.kubeconfig, "--cache-dir", f"{self.state}/cache",
                   *args, check=check, input=input, timeout=timeout)

    def apply(self, text, **more):
        return self.kubectl("apply", "-f", "-", input=text, **more)

    def get(self, kind, name, namespace="default", check=True):
        done = self.kubectl("get", kind, name, "-n", namespace, "-o", "json", check=check)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def condition(self, kind, name, which, namespace="default"):
        seen = self.get(kind, name, namespace, check=False)
        for c in ((seen or {}).get("status") or {}).get("conditions", []):
            if c["type"] == which:
                return c
        return None

    def wait_condition(self, kind, name, which, status, reason=None, namespace="default", seconds=WAIT_S):
        def look():
            c = self.condition(kind, name, which, namespace)
            return c if c and c["status"] == status and reason in (None, c["reason"]) else None
        return wait_for(look, f"{kind} {name} has {which}={status} ({reason})", seconds)

    def wait_applied(self, seconds=WAIT_S):
        """Until slurmctld has what the Controller says now; an edit before may have left the condition True."""
        def look():
            seen = self.get("controller", "slurm")
            found = [c for c in seen.get("status", {}).get("conditions", []) if c["type"] == "ConfigApplied"]
            return found and found[0]["status"] == "True" and \
                found[0]["observedGeneration"] == seen["metadata"]["generation"] and found[0]
        try:
            return wait_for(look, "the configuration is applied", seconds)
        except AssertionError as e:
            raise AssertionError(f"{e}: {self.condition('controller', 'slurm', 'ConfigApplied')}") from None

    def wait_ready(self, pod, namespace="default", seconds=WAIT_S):
        return wait_for(lambda: (self.condition("pod", pod, "Ready", namespace) or {}).get("status") == "True",
                        f"pod {pod} is ready", seconds)

    def events(self, name, namespace="default"):
        done = self.kubectl("get", "events", "-n", namespace, "-o", "json", "--field-selector",
                            f"involvedObject.name={name}")
        return {(e["reason"], e["message"]) for e in json.loads(done.stdout)["items"]}

    def exec(self, pod, *command, container=None, namespace="default", **more):
        args = ["-c", container] if container else []
        return self.kubectl("exec", "-n", namespace, pod, *args, "--", *command, **more)

    # Slurm's commands on the machine, by what `env` prints

    def env(self, *args, user=None):
        """What a shell has after eval "$(slurmkeeper env)"."""
        done = self.slurmkeeper("env", *args, **as_user(user))
        out = run("sh", "-c", done.stdout + "env -0", env={"PATH": os.environ["PATH"]}).stdout
        return dict(line.split("=", 1) for line in out.split("\0") if line)

    def slurm(self, *argv, user=None, check=True, timeout=30, controller=None, **more):
        args = ["--controller", controller] if controller else []
        return run(*argv, env=self.env(*args, user=user), check=check, timeout=timeout, cwd=self.share,
                   **as_user(user), **more)

    def node_states(self, **more):
        out = self.slurm("sinfo", "-h", "-N", "-o", "%N %T", **more).stdout.split()
        return dict(zip(out[::2], out[1::2]))

    def wait_idle(self, *names, seconds=WAIT_S, **more):
        def look():
            try:
                states.update(self.node_states(**more))
            except AssertionError as e:  # slurmctld may be in the middle of a reconfigure
                states["sinfo"] = str(e)
                return False
            return all(states.get(n) == "idle" for n in names)
        states = {}
        try:
            wait_for(look, f"{', '.join(names)} are idle", seconds)
        except AssertionError as e:
            raise AssertionError(f"{e}: {states} {self.slurm('sinfo', '-R', **more).stdout}") from None
        return self.node_states(**more)

    def submit(self, script, *args, **more):
        return self.slurm("sbatch", "--parsable", *args, input=f"#!/bin/sh\n{script}\n", **more).stdout.strip()

    def job_state(self, job):
        out = self.slurm("scontrol", "-o", "show", "job", job, check=False).stdout
        return out.split("JobState=")[1].split()[0] if "JobState=" in out else None

    def wait_job(self, job, state, seconds=WAIT_S):
        return wait_for(lambda: self.job_state(job) == state, f"job {job} is {state}", seconds)

    # the machine

    def process(self, verb):
        """The process of a verb of this cluster: apiserver, operator, node or serve."""
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as f:
                    words = f.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if len(words) > 1 and words[0].endswith("slurmkeeper") and words[1] == verb and \
                    any(w.startswith(self.state) for w in words):
                return int(path.split("/")[2])
        return None

    def daemons(self):
        """Process number and start time of every slurmd and slurmctld that runs in its container here (a rehearsal
        of a configuration runs in another, and a child that is about to become a step is none)."""
        found = {}
        for path in glob.glob("/proc/[0-9]*/exe"):
            directory = os.path.dirname(path)
            try:
                name = os.path.basename(os.readlink(path)).replace("-wlm", "")  # as Debian calls them
                if name not in ("slurmd", "slurmctld"):
                    continue
                with open(f"{directory}/cgroup") as f:
                    groups = f.read()
                if f"slurmkeeper-{self.name}/" not in groups or f"/{name}-" not in groups:
                    continue
                with open(f"{directory}/stat") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
                if os.readlink(f"/proc/{fields[1]}/exe") != os.readlink(path):
                    found[(name, int(directory.split("/")[2]))] = fields[19]
            except OSError:
                continue
        assert found or self.process("node") is None, "no daemon runs"
        return found


def as_user(name):
    """Arguments of subprocess for another user."""
    if name is None:
        return {}
    entry = pwd.getpwnam(name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def quick_start():
    """The spec of the quick start's Controller.  Tests add to it, and bring it back: the cluster is not theirs alone."""
    with open(f"{EXAMPLES}/quickstart.yaml") as f:
        (spec,) = [o["spec"] for o in yaml.safe_load_all(f) if o["kind"] == "Controller"]
    return spec


def controller(name="slurm", namespace="default", **spec):
    return json.dumps({"apiVersion": "slinky.slurm.net/v1beta1", "kind": "Controller",
                       "metadata": {"name": name, "namespace": namespace}, "spec": spec})


def nodeset(name, namespace="default", controller="slurm", **spec):
    return json.dumps({"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet",
                       "metadata": {"name": name, "namespace": namespace},
                       "spec": {"controllerRef": {"name": controller}, **spec}})
