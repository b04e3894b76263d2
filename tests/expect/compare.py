# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm's own expect tests on a plain Slurm and on a cluster of ours: counts, and every difference.

Fails if a test passes on the plain one and not on ours, twice, and the table of known differences does not say why.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("SLURMKEEPER", "slurmkeeper")
SECONDS = os.environ.get("SECONDS_EACH", "120")

# What a client cannot or must not run here, by what stands in the test.
LEFT_OUT = [
    (r"\b(save_conf|get_conf_path|config_dir)\b", "changes the configuration files of slurmctld"),
    (r"scontrol\s+(shutdown|takeover)|\$scontrol (shutdown|takeover)", "ends slurmctld"),
    (r"\$bin_pkill|\bkillall\b", "kills programs by name"),
]


def number(test):
    return tuple(int(n) for n in test.split("."))


def all_tests(source):
    found = [m.group(1) for m in (re.fullmatch(r"test(\d+\.\d+)", n) for n in os.listdir(source)) if m]
    return sorted(found, key=number)


def chosen(source):
    tests, groups, left = os.environ.get("TESTS", "").split(), os.environ.get("GROUPS_OF_TESTS", "").split(), {}
    run = []
    for test in all_tests(source):
        if (tests and test not in tests) or (groups and test.split(".")[0] not in groups):
            continue
        with open(f"{source}/test{test}", encoding="utf-8", errors="replace") as f:
            text = f.read()
        why = next((reason for pattern, reason in LEFT_OUT if re.search(pattern, text)), None)
        if why:
            left[test] = why
        else:
            run.append(test)
    return run, left


def known_differences():
    with open(f"{HERE}/differences", encoding="utf-8") as f:
        lines = [line.split(None, 1) for line in f if line.strip() and not line.startswith("#")]
    return {test: why.strip() for test, why in lines}


class Runner:
    """A side, in namespaces of its own."""

    def __init__(self, name, directory, source, env):
        self.name = name
        self.child = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, f"{HERE}/side.py", name, directory,
             source, SECONDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "SIDE_ENV": json.dumps(env)})

    def answer(self):
        line = self.child.stdout.readline()
        if not line:
            raise SystemExit(f"the side '{self.name}' has ended")
        return json.loads(line)

    def ask(self, test):
        self.child.stdin.write(f"{test}\n")
        self.child.stdin.flush()

    def end(self):
        self.child.stdin.close()
        try:
            self.child.wait(60)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Ours:
    """A cluster as `make run` brings it up, but for its name and its places."""

    def __init__(self, share):
        self.name = f"x{os.getpid()}"
        self.state = tempfile.mkdtemp(prefix="sk-expect-")
        self.share = share

    def call(self, verb, *args):
        return subprocess.run([PROGRAM, verb, "--state", self.state, *args], capture_output=True, text=True, check=False)

    def __enter__(self):
        done = self.call("up", "--name", self.name, "--share", self.share)
        if done.returncode:
            self.__exit__()
            raise SystemExit(f"no cluster: {done.stderr}")
        out = subprocess.run(["sh", "-c", self.call("env").stdout + "env -0"], capture_output=True, text=True, check=True,
                             env={"PATH": os.environ["PATH"]}).stdout
        self.env = dict(line.split("=", 1) for line in out.split("\0") if line)
        return self

    def __exit__(self, *_):
        self.call("down", "--purge", "--force", "--grace", "1")
        shutil.rmtree(self.state, ignore_errors=True)


def both(runners, test):
    for r in runners:
        r.ask(test)
    return [r.answer() for r in runners]


def tell(results, again=""):
    plain, ours = results
    mark = "" if plain["how"] == ours["how"] else "   <--"
    print(f"{plain['test']:>7}  plain {plain['how']:<8}{plain['s']:>6} s   ours {ours['how']:<8}{ours['s']:>6} s{mark}{again}",
          flush=True)


def is_lost(results):
    return results[0]["how"] == "passed" and results[1]["how"] != "passed"


def run_all(runners, tests):
    seen = {}
    for test in tests:
        results = both(runners, test)
        tell(results)
        if results[0]["how"] != results[1]["how"]:  # once more: some tests do not always pass
            results = both(runners, test)
            tell(results, "   once more")
        seen[test] = results
    return seen


def report(seen, left, logs):
    known = known_differences()
    new = []
    print()
    for side in (0, 1):
        counts = collections.Counter(r[side]["how"] for r in seen.values())
        print(f"{('plain', 'ours')[side]:>6}: " + ", ".join(f"{counts[h]} {h}" for h in ("passed", "failed", "late", "skipped")))
    print(f"on both: {sum(r[0]['how'] == r[1]['how'] == 'passed' for r in seen.values())} passed;"
          f" {len(seen)} run, {len(left)} left out")
    for test, why in left.items():
        print(f"left out: {test}: {why}")
    for test, (plain, ours) in seen.items():
        if plain["how"] == ours["how"]:
            continue
        print(f"difference: {test}: plain {plain['how']}, ours {ours['how']}: {(ours if is_lost((plain, ours)) else plain)['why']}")
        if test in known:
            print(f"    known: {known[test]}")
        elif is_lost((plain, ours)):
            new.append(test)
    for test in sorted(set(known) & set(seen), key=number):
        if seen[test][1]["how"] == "passed":
            print(f"in the table, and passes: {test}")
    print(f"logs: {logs}")
    if new:
        print(f"pass on a plain Slurm and not on ours, for no known reason: {' '.join(new)}")
    return 1 if new else 0


def main():
    source = sys.argv[1]
    tests, left = chosen(source)
    if not tests:
        raise SystemExit("no test is of these groups, or all of them are left out")
    keep = os.environ.get("LOGS") or tempfile.mkdtemp(prefix="slurm-expect-", dir="/var/tmp")
    sides = [f"{keep}/plain", f"{keep}/ours"]
    for side in sides:
        os.makedirs(side)
    for path in (keep, *sides):
        os.chmod(path, 0o755)
    print(f"{len(tests)} tests, at most {SECONDS} s each; {len(left)} left out", flush=True)
    begun = time.monotonic()
    with Ours(sides[1]) as ours:
        runners = [Runner("plain", sides[0], source, {}), Runner("ours", sides[1], source, ours.env)]
        try:
            for r in runners:
                if not r.answer()["ready"]:
                    raise SystemExit(f"the side '{r.name}' has no idle nodes")
            seen = run_all(runners, tests)
        finally:
            for r in runners:
                r.end()
    status = report(seen, left, keep)
    print(f"{(time.monotonic() - begun) / 60:.0f} minutes")
    return status


if __name__ == "__main__":
    sys.exit(main())
