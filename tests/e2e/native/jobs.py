# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that must not notice anything: some run, some wait, and all of them end well when they are let go."""
import os

from local import wait_for

# The script tells each of its starts: one that was run twice has two lines.
SCRIPT = """echo started >>{sign}.$SLURM_JOB_ID
until [ -e {sign}.end ]; do sleep 0.5; done
echo ended >>{sign}.$SLURM_JOB_ID"""

SAME = ("JobId", "JobState", "Partition", "SubmitTime", "TimeLimit", "Restarts", "Requeue", "NumNodes", "ExitCode")
SAME_RUNNING = (*SAME, "StartTime", "NodeList", "BatchHost", "AllocTRES", "EndTime")


class Jobs:
    def __init__(self, cluster, name="jobs"):
        self.cluster = cluster
        self.sign = f"{cluster.share}/{name}"
        self.running = []
        self.pending = []

    def _submit(self, *args):
        return self.cluster.submit(SCRIPT.format(sign=self.sign), "-t", "12:00:00", "-o", "/dev/null", *args)

    def run(self, *args):
        job = self._submit(*args)
        self.running.append(job)
        return job

    def wait(self, *args):
        """A job that has reasons to wait."""
        job = self._submit(*args)
        self.pending.append(job)
        return job

    def read(self):
        """Job number -> its fields."""
        out = self.cluster.slurm("scontrol", "-o", "show", "job").stdout
        lines = [dict(w.split("=", 1) for w in line.split() if "=" in w) for line in out.splitlines()]
        for f in lines:  # newer releases write "3-3" until slurmctld has read its state again
            least, _, most = f.get("NumNodes", "").partition("-")
            if least == most:
                f["NumNodes"] = least
        return {f["JobId"]: f for f in lines if "JobId" in f}

    def facts(self):
        """What must stay as it is."""
        seen = self.read()
        return {job: {k: seen.get(job, {}).get(k) for k in (SAME_RUNNING if job in self.running else SAME)}
                for job in self.running + self.pending}

    def settle(self):
        """Remember what they are like, once they are what they shall be."""
        def look():
            seen = self.read()
            return all(seen[j]["JobState"] == "RUNNING" and os.path.exists(f"{self.sign}.{j}") for j in self.running)
        wait_for(look, "the jobs run")
        self.before = self.facts()
        assert all(self.before[j]["JobState"] == "PENDING" for j in self.pending), self.before
        return self

    def starts(self):
        def text(job):
            path = f"{self.sign}.{job}"
            if not os.path.exists(path):
                return ""
            with open(path) as f:
                return f.read()
        return {job: text(job) for job in self.running + self.pending}

    def check(self):
        """Same jobs, same state, same start; no script was run again."""
        now = self.facts()
        changed = {j: (self.before[j], now[j]) for j in now if now[j] != self.before[j]}
        assert not changed, f"jobs have changed: {changed}"
        told = self.starts()
        assert [told[j] for j in self.running] == ["started\n"] * len(self.running), told
        assert not any(told[j] for j in self.pending), told

    def finish(self, *held):
        """Let them go: those that ran end well, those that waited run and end well, each of them once."""
        with open(f"{self.sign}.end", "w"):
            pass
        if held:
            self.cluster.slurm("scontrol", "release", *held)
        ids = self.running + self.pending
        try:
            done = wait_for(lambda: self.ended(ids), "all jobs have ended", 30)
        except AssertionError as e:
            raise AssertionError(f"{e}: {self.cluster.slurm('squeue', '-o', '%i %P %T %r %N').stdout} "
                                 f"{self.cluster.node_states()} {self.starts()}") from None
        assert set(done.values()) == {("COMPLETED", "0:0", "0")}, done
        assert set(self.starts().values()) == {"started\nended\n"}, self.starts()

    def ended(self, ids):
        seen = self.read()
        states = {j: tuple(seen[j][k] for k in ("JobState", "ExitCode", "Restarts")) for j in ids}
        return states if not {s[0] for s in states.values()} & {"RUNNING", "PENDING", "COMPLETING"} else None

    def cancel(self):
        self.cluster.slurm("scancel", *self.running, *self.pending, check=False)
        wait_for(lambda: self.ended(self.running + self.pending), "the jobs are gone")
