# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites of one machine, unchanged, on this Kubernetes: they do not know where they run."""
import os
import subprocess
import sys

import pytest
from conftest import BUILD, TOP

# Those that make no cluster of their own by `slurmkeeper up`, and stop none of its processes.
FILES = ["test_edits.py"]


@pytest.mark.parametrize("file", FILES)
def test_as_on_one_machine(kubernetes, file):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", file], cwd=TOP / "tests/e2e/native", text=True, timeout=800,
                          capture_output=True, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, "ON_KUBERNETES": str(kubernetes.control.kubeconfig),
                               "SLURMKEEPER": str(BUILD / "src/cli/slurmkeeper"), "PYTHONDONTWRITEBYTECODE": "1"})
    print(f"\ntests/e2e/native/{file} on Kubernetes: {done.stdout.splitlines()[-1]}")
    assert done.returncode == 0, done.stdout[-6000:]
