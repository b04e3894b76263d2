# SPDX-License-Identifier: GPL-2.0-or-later
"""One of the two clusters: takes names of tests on its input, and says of each how it ended.

It runs in a namespace of processes of its own, so that a test that kills programs by name meets nobody else's, and
nothing outlives it.
"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from plain import Plain

PASSED, SKIPPED, FAILED, LATE = "passed", "skipped", "failed", "late"


class Side:
    def __init__(self, name, directory, tests, env, seconds):
        self.name, self.env, self.seconds = name, env, seconds
        self.at = f"{directory}/testsuite/expect"
        self.logs = f"{directory}/logs"
        os.makedirs(self.logs, exist_ok=True)
        shutil.copytree(tests, self.at)
        os.makedirs(f"{directory}/home", exist_ok=True)
        open(f"{directory}/config.h", "w", encoding="utf-8").close()
        open(f"{directory}/testsuite/testsuite.conf", "w", encoding="utf-8").close()
        with open(f"{self.at}/globals.local", "w", encoding="utf-8") as f:
            f.write('set testsuite_colorize false\n')

    def slurm(self, *argv):
        return subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False, timeout=60).stdout

    def is_quiet(self):
        states = self.slurm("sinfo", "-h", "-N", "-o", "%T").split()
        return len(states) >= 3 and set(states) == {"idle"} and not self.slurm("squeue", "-h")

    def settle(self):
        """Whatever the test before has left: jobs, nodes that are down or drained."""
        for _ in range(60):
            with contextlib.suppress(subprocess.TimeoutExpired):
                if self.is_quiet():
                    return True
                jobs = self.slurm("squeue", "-h", "-o", "%A").split()
                if jobs:
                    self.slurm("scancel", *jobs)
                for line in set(self.slurm("sinfo", "-h", "-N", "-o", "%N %T").splitlines()):
                    name, state = line.split()
                    if state.startswith(("down", "drain")):
                        self.slurm("scontrol", "update", f"nodename={name}", "state=resume")
            time.sleep(0.5)
        return False

    def run(self, test):
        quiet = self.settle()
        begun = time.monotonic()
        path = f"{self.logs}/{test}.log"
        with open(path, "wb") as log:
            child = subprocess.Popen(["expect", f"test{test}"], cwd=self.at, env=self.env, stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log, start_new_session=True)
            try:
                status = child.wait(self.seconds)
                how = PASSED if status == 0 else SKIPPED if status > 127 else FAILED
            except subprocess.TimeoutExpired:
                how = LATE
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return {"side": self.name, "test": test, "how": how, "s": round(time.monotonic() - begun, 1), "quiet": quiet,
                "why": self.last_words(path)}

    @staticmethod
    def last_words(path):
        with open(path, encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()
        for line in reversed(lines):
            if any(word in line for word in ("Fatal", "Error", "FAILURE", "SKIPPED", "Warning")):
                return line.strip()[:300]
        return lines[-1].strip()[:300] if lines else ""


def environment(side, directory):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "SQUEUE_", "SINFO_"))}
    env.update(json.loads(os.environ["SIDE_ENV"]) if side == "ours" else {"SLURM_CONF": f"{directory}/plain/slurm.conf"})
    env.update(HOME=f"{directory}/home", USER="root", LANG="C.UTF-8", TERM="dumb")
    return env


def main():
    side, directory, tests, seconds = sys.argv[1:5]
    with contextlib.ExitStack() as stack:
        if side == "plain":
            os.makedirs(f"{directory}/plain")
            os.chmod(f"{directory}/plain", 0o755)
            stack.enter_context(Plain(f"{directory}/plain"))
        s = Side(side, directory, tests, environment(side, directory), int(seconds))
        print(json.dumps({"side": side, "ready": s.settle()}), flush=True)
        for line in sys.stdin:
            print(json.dumps(s.run(line.strip())), flush=True)


if __name__ == "__main__":
    main()
