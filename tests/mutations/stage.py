# SPDX-License-Identifier: GPL-2.0-or-later
"""One cluster of the campaign: slurmctld, the agent and a slurmd, and what a case does to them."""
import os
import signal
import socket
import subprocess
import time

from agent import Cluster
from slurm import die_with_parent, release, wait_for

LIMIT_S = 30  # for slurmctld to answer after a start
HOST = socket.gethostname().split(".")[0]
NODE = f"NodeName={HOST} NodeAddr=127.0.0.1 CPUs=1 RealMemory=100 State=UNKNOWN"
SPARE = "NodeName=x0001 NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=CLOUD"
PARTITIONS = ["PartitionName=all Nodes=ALL Default=YES", "PartitionName=debug Nodes=few"]
CGROUP = "CgroupPlugin=disabled\n" if release.number(release.text()) >= (24, 5, 0) else \
    "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"


class Dead(Exception):
    """slurmctld does not answer; the cluster is of no use any more."""


class Stage(Cluster):
    def __init__(self):
        self.slurmd = None
        super().__init__(partitions=list(PARTITIONS), extra=f"{NODE}\n{SPARE}")
        self.more = {"cgroup.conf": CGROUP}
        self.push()
        self.has_node = self.start_slurmd()

    def ctld_pid(self):
        """The entry point may be writing it at this moment."""
        while True:
            try:
                return super().ctld_pid()
            except ValueError:
                time.sleep(0.01)

    def start_slurmd(self):
        """True if it runs here and has registered."""
        os.makedirs(f"{self.dir}/spool", exist_ok=True)
        self.slurmd = subprocess.Popen(
            [release.program("slurmd"), "-D", "-f", self.conf, "-L", f"{self.dir}/slurmd.log"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent, env={"PATH": os.environ["PATH"]})
        try:
            wait_for(self.node_is_there, LIMIT_S)
            return True
        except AssertionError:
            return False

    def node_is_there(self):
        """the node has registered"""
        said = self.scontrol("-o", "show", "node", HOST, check=False).stdout
        state = next((w[6:] for w in said.split() if w.startswith("State=")), "UNKNOWN")
        return not any(word in state for word in ("UNKNOWN", "DOWN", "*", "NOT_RESP", "INVAL"))

    def stop(self):
        if self.slurmd and self.slurmd.poll() is None:
            self.slurmd.kill()
            self.slurmd.wait()
        super().stop()

    def files_of(self, case):
        first = [f"{key.lower()}" for key in case.drop]
        base = [line for line in self.text().splitlines()
                if not any(line.lower().startswith(f if "=" in f else f + "=") for f in first)]
        nodes = f"c[0001-{self.fields['nodes']:04d}],x0001,{HOST}"
        # settings before the nodes, as people write them; a line that goes on would eat the next one
        files = {"slurm.conf": "\n".join(base + case.lines) + "\n", **self.more}
        files.update({name: text.replace("ALL_NODES", nodes) for name, text in case.more.items()})
        return files

    def up(self):
        return self.scontrol("ping", check=False).returncode == 0

    def wait_up(self, what):
        start = time.monotonic()
        try:
            wait_for(self.up, LIMIT_S)
        except AssertionError as e:
            raise Dead(f"{what}: no answer within {LIMIT_S} s: {self.last_words()}") from e
        return ms_since(start)

    def last_words(self):
        words = [line for line in self.log().splitlines() if "fatal" in line or "error" in line][-3:]
        try:
            with open(os.path.join(self.run, "last-words"), encoding="utf-8", errors="replace") as f:
                words += f.read().splitlines()[-3:]
        except OSError:
            pass
        return " | ".join(words)[-600:]

    def kill_and_start(self):
        """ms until it answers again; another one has been started by the entry point"""
        pid = self.ctld_pid()
        start = time.monotonic()
        self.signal_ctld(signal.SIGKILL)
        try:
            wait_for(lambda: self.ctld_pid() != pid, LIMIT_S)
        except AssertionError as e:
            raise Dead(f"the entry point has not started it again: {e}") from e
        self.wait_up("kill and start")
        return ms_since(start)

    def reconfigure(self):
        pid = self.ctld_pid()
        start = time.monotonic()
        done = self.scontrol("reconfigure", check=False)
        took = ms_since(start)
        self.wait_up("reconfigure")
        if self.ctld_pid() != pid:
            raise Dead(f"reconfigure: slurmctld has ended and was started again: {self.last_words()}")
        if done.returncode != 0:
            raise Dead(f"reconfigure: {(done.stdout + done.stderr).strip()[-200:]}: {self.last_words()}")
        return took

    def node_stays(self):
        """What became of the node, where something did."""
        if not self.has_node:
            return None
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            if self.slurmd.poll() is not None:
                with open(f"{self.dir}/slurmd.log", encoding="utf-8", errors="replace") as f:
                    said = [line for line in f.read().splitlines() if "fatal" in line or "error" in line]
                return f"slurmd has ended with {self.slurmd.returncode}: {' | '.join(said[-2:])[-300:]}"
            if self.node_is_there():
                return None
            time.sleep(0.1)
        return f"the node is not there any more: {self.scontrol('-o', 'show', 'node', HOST, check=False).stdout[:300]}"

    def back(self):
        """To the base set."""
        status, answer = self.request("PUT", "/v1/config", self.body())
        if status != 200 or answer.get("result") not in ("applied", "unchanged"):
            raise Dead(f"back to the base set: {status} {answer.get('error') or answer.get('reason')}")
        self.wait_up("back to the base set")

    def node_again(self):
        """After a case that has cost the node."""
        self.slurmd.kill()
        self.slurmd.wait()
        if not self.start_slurmd():
            raise Dead("the node does not come back with the base set")


def ms_since(start):
    return round((time.monotonic() - start) * 1000)
