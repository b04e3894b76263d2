# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster for people of a directory: slapd in a pod, a LoginSet, workers that know the same people; and ways to log in."""
import contextlib
import json
import os
import subprocess
import tempfile

import directory
from local import Local, nodeset, read_until, run

LOGIN = "slurm-login-slinky"
LONG_S = 120
ASK = ["-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=20"]
CONTROLLER = """apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: slurm, annotations: {slurmkeeper.dev/key-overlap: "5"}}
spec: {extraConf: "ReturnToService=2"}
"""


@contextlib.contextmanager
def cluster(name):
    """It has the keys of alice and root in `where`, and homes in `home`."""
    with Local(name) as c, tempfile.TemporaryDirectory(prefix="sk-keys-") as where:
        c.where = where
        c.home = f"{c.share}/home"
        os.makedirs(c.home, mode=0o755)
        os.chmod(c.home, 0o755)
        keys = {"alice": directory.make_key(where, "alice")}
        c.root_key = directory.make_key(where, "root")
        directory.make_key(where, "local")
        path = f"{c.share}/cluster.yaml"
        with open(path, "w", encoding="utf-8") as f:
            f.write(CONTROLLER)
        c.up("-f", path)
        directory.start(c, c.home, where, keys)
        c.apply(workers())
        c.apply(login(rootSshAuthorizedKeys=c.root_key))
        c.wait_condition("loginset", LOGIN, "Ready", "True", seconds=LONG_S)
        c.wait_idle("compute-0", "compute-1", seconds=LONG_S)
        yield c


def workers(**more):
    spec = {"replicas": 2, "partition": {"config": "Default=YES"},
            "ssh": {"enabled": True, "sssdConfRef": {"name": "sssd-conf", "key": "sssd.conf"}},
            "slurmd": {"volumeMounts": directory.mounts()},
            "template": {"spec": {"volumes": directory.volumes()}}, **more}
    return nodeset("compute", **spec)


def login(name=LOGIN, annotations=None, **more):
    spec = {"controllerRef": {"name": "slurm"}, "sssdConfRef": {"name": "sssd-conf", "key": "sssd.conf"},
            "login": {"volumeMounts": directory.mounts()},
            "template": {"spec": {"volumes": directory.volumes()}}, **more}
    return json.dumps({"apiVersion": "slinky.slurm.net/v1beta1", "kind": "LoginSet",
                       "metadata": {"name": name, "annotations": annotations or {}}, "spec": spec})


def address(c, name=LOGIN):
    return c.get("service", name)["spec"]["clusterIP"]


def pods(c, name=LOGIN):
    done = c.kubectl("get", "pods", "-l", f"slinky.slurm.net/component=login,app.kubernetes.io/instance={name}",
                     "-o", "json")
    return {p["metadata"]["name"]: p for p in json.loads(done.stdout)["items"]}


def ssh_argv(c, user, host, key=None, known=None):
    options = [*ASK, "-o", f"UserKnownHostsFile={known or c.where + '/known'}"]
    if key:
        options += ["-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-i", f"{c.where}/{key}"]
    else:
        options += ["-o", "PreferredAuthentications=password", "-o", "PubkeyAuthentication=no"]
    return ["ssh", *options, f"{user}@{host}"]


def ssh(c, user, *command, host=None, key=None, password=None, check=True):
    argv = ssh_argv(c, user, host or address(c), key)
    if password:
        argv = ["sshpass", "-p", password, *argv]
    return run(*argv, *command, check=check, stdin=subprocess.DEVNULL)


def inside(c, *command, check=True):
    """As the questions show it: kubectl exec deploy/LOGIN -- COMMAND."""
    return c.kubectl("exec", f"deploy/{LOGIN}", "--", *command, check=check)


class Session:
    """A person at a terminal in a login."""

    def __init__(self, c, user, host=None, **more):
        argv = ssh_argv(c, user, host or address(c), **more)
        self.child = subprocess.Popen([*argv[:1], "-tt", *argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
        self.count = 0
        self.ask("true")

    def ask(self, command, seconds=LONG_S):
        """What a command prints."""
        self.count += 1
        mark = f"mark-{self.count}"
        self.child.stdin.write(f"{command}; echo {mark[:4]}''{mark[4:]}\n".encode())
        self.child.stdin.flush()
        return read_until(self.child, rf"{mark}[\r\n]", seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
