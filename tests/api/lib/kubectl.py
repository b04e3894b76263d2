# SPDX-License-Identifier: GPL-2.0-or-later
"""Find the kubectls of this machine and run them."""
import json
import os
import shutil
import subprocess

import yaml

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
WAIT_S = 60


def _version(path):
    out = subprocess.run(
        [path, "version", "--client", "-o", "json"],
        capture_output=True, timeout=WAIT_S, check=False,
    )
    version = json.loads(out.stdout)["clientVersion"]
    return int(version["minor"].rstrip("+"))


def find_kubectls():
    """{minor release: path} of Debian's kubectl 1.20, of KUBECTL and of the one on the PATH."""
    found = {}
    paths = [
        os.environ.get("KUBECTL_120"),
        os.environ.get("KUBECTL"),
        os.path.join(TOP, "build/tools/kubectl-1.20"),
        shutil.which("kubectl"),
    ]
    for path in paths:
        if path and os.access(path, os.X_OK):
            found.setdefault(_version(path), path)
    return found


class Run:
    def __init__(self, args, code, out, err):
        self.args, self.code, self.out, self.err = args, code, out, err

    def __repr__(self):
        return f"kubectl {' '.join(self.args)}\n  -> {self.code}\n{self.out}{self.err}"

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def rows(self):
        """The words of each printed line."""
        return [line.split() for line in self.out.splitlines()]


class Kubectl:
    """One kubectl on one namespace; calling it runs it and expects success."""

    def __init__(self, path, minor, config, home):
        self.path, self.minor, self.namespace = path, minor, "default"
        self._env = dict(os.environ, KUBECONFIG=config.path, HOME=home)

    def args(self, args):
        return [self.path, "-n", self.namespace, *map(str, args)]

    def run(self, *args, stdin=None, env=None):
        """Run to the end, whatever it says."""
        if stdin is not None and not isinstance(stdin, str):
            docs = stdin if isinstance(stdin, list) else [stdin]
            stdin = yaml.safe_dump_all(docs)
        done = subprocess.run(
            self.args(args), input=stdin or "", env={**self._env, **(env or {})},
            capture_output=True, text=True, timeout=WAIT_S, check=False,
        )
        return Run(args, done.returncode, done.stdout, done.stderr)

    def __call__(self, *args, **kw):
        run = self.run(*args, **kw)
        assert run.code == 0, repr(run)
        return run

    def fails(self, *args, code=1, **kw):
        run = self.run(*args, **kw)
        assert run.code == code, repr(run)
        return run

    def start(self, *args):
        """Run in the background; the caller stops it."""
        return subprocess.Popen(
            self.args(args), env=self._env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
