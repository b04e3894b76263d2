# SPDX-License-Identifier: GPL-2.0-or-later
"""Things are broken at random, and whoever tells of the cluster must tell the same as slurmctld.

After each accident the witnesses (plan, status, conditions, metrics) are asked until they agree with one another and with
what scontrol shows.  TRUTH_SECONDS is how long it goes on (20), SEED chooses the accidents.  `make test-truth` takes 120
seconds of new ones in each run, and prints its seed.
"""
import base64
import json
import os
import random
import re
import signal
import ssl
import time
import urllib.request

import pytest

from local import wait_for
from native import CONF, Native

SECONDS = int(os.environ.get("TRUTH_SECONDS", "20"))
SEED = int(os.environ.get("SEED", "1"))
AGREE_S = 90


@pytest.fixture(scope="module")
def own(machine):
    with Native("r") as c:
        c.bring_up()
        c.change("controllers", "slurm", {"extraConf": CONF + "SlurmdTimeout=10\n"}).ok()
        c.make("partitions", "debug", {"nodeSetRefs": [{"name": "compute"}], "maxTime": 30}).ok()
        c.wait_state("partitions", "debug", "Ready", "True")
        c.wait_idle("compute-0", "compute-1", "compute-2")
        yield c


class Chaos:
    """What was declared, and the accidents."""

    def __init__(self, c, rng):
        self.c, self.rng = c, rng
        self.declared = {"compute": {"State": "UP", "MaxTime": "1-00:00:00"}, "debug": {"State": "UP", "MaxTime": "00:30:00"}}

    def scontrol(self, *words):
        return self.c.slurm("scontrol", *words, check=False).returncode

    # accidents

    def change_partition(self):
        name = self.rng.choice(list(self.declared))
        what = self.rng.choice(["state=drain", "state=up", "state=down", "maxtime=77", "nodes=compute-0"])
        self.scontrol("update", f"partitionname={name}", what)
        return f"partition {name} {what}"

    def delete_partition(self):
        self.scontrol("delete", "partition=debug")
        return "delete debug"

    def add_partition(self):
        self.scontrol("create", "partition=foreign", "nodes=compute-1")
        return "create foreign"

    def declare(self):
        minutes = self.rng.randrange(1, 59)
        self.c.change("partitions", "debug", {"maxTime": minutes}).ok()
        self.declared["debug"]["MaxTime"] = f"00:{minutes:02}:00"
        return f"debug maxTime {minutes}"

    def lose_node(self):
        node = f"compute-{self.rng.randrange(3)}"
        self.scontrol("delete", f"nodename={node}")
        return f"delete {node}"

    def down_node(self):
        node = f"compute-{self.rng.randrange(3)}"
        self.scontrol("update", f"nodename={node}", "state=down", "reason=an accident")
        return f"down {node}"

    def change_features(self):
        node = f"compute-{self.rng.randrange(3)}"
        self.scontrol("update", f"nodename={node}", "features=compute,odd", "activefeatures=compute,odd")
        return f"features {node}"

    def kill(self):
        which = self.rng.choice(["slurmctld", "operator", "agent"])
        pid = self.c.process("operator") if which == "operator" else getattr(self.c, which)()
        if pid:
            os.kill(pid, signal.SIGKILL)
        return f"kill {which}"

    def mend(self):
        """What a person would do: take back what was done by scontrol."""
        for name, fields in self.declared.items():
            self.scontrol("update", f"partitionname={name}", *(f"{k}={v}" for k, v in fields.items()), "nodes=compute")
        self.scontrol("delete", "partition=foreign")
        for i in range(3):
            self.scontrol("update", f"nodename=compute-{i}", "features=compute", "activefeatures=compute")
            self.scontrol("update", f"nodename=compute-{i}", "state=resume")
        if "debug" not in self.c.all_live():  # only its declaration brings it back
            self.declare()
        return "mend"

    # what slurmctld has

    def drifted(self):
        live = self.c.all_live()
        assert live, f"slurmctld does not answer: {self.c.slurm('scontrol', 'ping', check=False)}"
        wrong = {n for n in live if n not in self.declared}
        for name, fields in self.declared.items():
            if name not in live or any(live[name].get(k) != v for k, v in fields.items()) or live[name]["Nodes"] != self.all_nodes():
                wrong.add(name)
        return wrong

    def records(self):
        out = self.c.slurm("scontrol", "-o", "show", "nodes", check=False).stdout
        return {re.search(r"NodeName=(\S+)", line).group(1): line for line in out.splitlines() if "NodeName=" in line}

    def all_nodes(self):
        """As scontrol writes all nodes that it has; a partition over NodeSets has them all."""
        return self.c.slurm("scontrol", "show", "hostlistsorted", ",".join(sorted(self.records())), check=False).stdout.strip()

    def absent(self):
        """Nodes that take no jobs, though nobody drained them; and those with features of somebody's."""
        records = self.records()
        bad = {n for n in (f"compute-{i}" for i in range(3)) if n not in records or
               re.search(r"State=(DOWN|\S*NOT_RESPONDING|UNKNOWN)", records[n])}
        odd = {n for n, line in records.items() if "odd" in re.search(r"AvailableFeatures=(\S*)", line).group(1)}
        return bad, odd


def metric(c):
    """How many drifts the agent counts."""
    secret = c.object("secrets", "slurm-agent")["data"]
    token = base64.b64decode(secret["token"]).decode()
    address = c.object("pods", "slurm-controller-0")["status"]["podIP"]
    trust = ssl.create_default_context(cadata=base64.b64decode(secret["tls.crt"]).decode())
    trust.check_hostname = False
    request = urllib.request.Request(f"https://{address}:6821/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=5, context=trust) as answer:
        text = answer.read().decode()
    return int(float(re.search(r"^slurmkeeper_agent_drift\S* (\S+)", text, re.M).group(1)))


def named(texts):
    return set(re.findall(r"partition (\S+?):? (?:\S+ is |is )", "; ".join(texts)))


def disagreements(chaos):
    """What one says and another, or Slurm, does not."""
    c = chaos.c
    drifted, (bad, odd) = chaos.drifted(), chaos.absent()
    done = c.slurmkeeper("plan", "--output", "json", check=False)
    assert done.returncode in (0, 2), done.stdout + done.stderr
    cluster = json.loads(done.stdout)["clusters"][0]
    status = c.slurmkeeper("status", check=False)
    wrong = status.stdout.split("What is wrong")[1]
    controller = c.state_of("controllers", "slurm", "Drifted")
    ready = c.state_of("nodesets", "compute", "Ready")
    nodes = c.state_of("nodesets", "compute", "NodesApplied")
    said = {"plan": named(cluster["drift"]), "controller": named([controller.get("message", "")])
            if controller.get("status") == "True" else set()}
    checks = {
        **{f"{who} names {names}, slurmctld has {drifted}": names == drifted for who, names in said.items()},
        f"the metric is {metric(c)}": (metric(c) > 0) == bool(drifted),
        f"status does not name all of {drifted}": all(f"partition {n}" in wrong for n in drifted),
        f"status ends with {status.returncode}: {wrong}": (status.returncode == 3) == bool(drifted or bad or odd),
        f"plan ends with {done.returncode}: {cluster}": (done.returncode == 2) == bool(drifted or odd or cluster["drift"] or cluster["changes"]),
        f"the NodeSet is {ready}, slurmctld lacks {bad}": (ready["status"] == "True") == (not bad),
        f"the NodeSet is {nodes}, features of {odd} are others'": nodes.get("status") == "True" or bool(odd or bad),
        "odd features are not told": not odd or nodes.get("status") != "True",
        "the Controller does not say that slurmctld answers": c.state_of("controllers", "slurm", "Ready")["status"] == "True",
    }
    return [text for text, holds in checks.items() if not holds]


def agree(chaos, what):
    seen = []

    def look():
        try:
            seen[:] = disagreements(chaos)
        except (AssertionError, OSError, KeyError, IndexError, AttributeError, TypeError) as e:  # something is down for a moment
            seen[:] = [repr(e)]
        return not seen
    try:
        wait_for(look, "", AGREE_S)
    except AssertionError:
        raise AssertionError(f"SEED={SEED}: after {what}: " + "\n".join(seen)) from None


def test_all_witnesses_agree_with_slurmctld(own):
    print(f"SEED={SEED}")
    chaos = Chaos(own, random.Random(SEED))
    accidents = [chaos.change_partition, chaos.change_partition, chaos.delete_partition, chaos.add_partition, chaos.declare,
                 chaos.lose_node, chaos.down_node, chaos.change_features, chaos.kill]
    until = time.monotonic() + SECONDS
    done = []
    agree(chaos, "nothing")
    while time.monotonic() < until:
        done.append(" + ".join(chaos.rng.choice(accidents)() for _ in range(chaos.rng.randrange(1, 3))))
        print(done[-1])
        agree(chaos, " | ".join(done))
    done.append(chaos.mend())
    agree(chaos, " | ".join(done))
    # a node whose record was deleted registers by itself, when its slurmd finds out
    wait_for(lambda: not chaos.drifted() and not any(chaos.absent()), "what was mended is as declared", AGREE_S)


def test_a_slurmctld_that_hangs_is_told(own):
    """It takes connections and answers none; libslurm would wait for longer than anybody should be told that all is well."""
    own.wait_state("controllers", "slurm", "Ready", "True", seconds=60)
    pid = own.slurmctld()
    os.kill(pid, signal.SIGSTOP)
    try:
        own.wait_state("controllers", "slurm", "Ready", "False", "SlurmctldDown", seconds=20)
        own.wait_state("nodesets", "compute", "Ready", "Unknown", "SlurmUnknown")
        assert own.slurmkeeper("status", check=False).returncode == 3
    finally:
        os.kill(pid, signal.SIGCONT)
    own.wait_state("controllers", "slurm", "Ready", "True", seconds=60)
    own.wait_state("nodesets", "compute", "Ready", "True", seconds=60)
