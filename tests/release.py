# SPDX-License-Identifier: GPL-2.0-or-later
"""The Slurm that the tests run on, and in what its release differs from others.

Each row says from which release on (and until which) something is so; tests ask `has`, and none of
them compares releases itself.  What the product itself minds is in src/slurm/profile.c.
"""
import functools
import os
import re
import subprocess

# Another Slurm than the machine's, by its prefix: SLURM=/opt/slurm-26.05 tests/agent/run
PREFIX = (os.environ.get("SLURM") or "/usr").rstrip("/")

ROWS = {
    # slurmctld runs as a service: a bad file is refused on reconfigure, each good one is a new process
    "service": ("23.11", None),
    # auth/slurm, and a sackd for commands
    "auth/slurm": ("23.11", None),
    # nodes and their attributes may change by reconfigure
    "node changes by reconfigure": ("23.11", None),
    # an unknown QOS of a partition ends slurmctld, so that only a reconfigure may set one
    "qos by reconfigure": ("23.11", "24.11.6"),
    # an unknown QOS of a partition is refused
    "qos is looked up": ("24.11.6", None),
    # commands of several clusters of one name: each has a sackd of its own
    "a sackd for each cluster": ("25.05", None),
    # several keys of auth/slurm at a time, so that they can change while jobs run
    "sets of keys": ("24.05", None),
    # so is one of AllowQos and DenyQos
    "qos lists are looked up": ("25.11", None),
    "resumeAfter": ("23.02", None),
    "instanceId": ("23.11", None),
    "reservation comment": ("23.02", None),
    "topology of nodes": ("25.05", None),
    # settings that came later, by what asks for them
    "maxCPUsPerSocket": ("23.02", None),
    "powerDownOnIdle": ("23.02", None),
    "exclusiveTopo": ("24.05", None),
    "functions in lists of nodes": ("24.11", None),
    "topology": ("25.05", None),
    "topology.yaml": ("25.05", None),
    "openmetrics": ("25.11", None),
    # daemons answer HTTP on their own ports, where a plugin parses it
    "http": ("25.11", None),
    "exclusive": ("26.05", None),
}


def number(text):
    """(24, 11, 5) of "slurm 24.11.5" or "24.11"."""
    found = re.search(r"(\d\d)\.(\d\d)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in found.groups())


def program(name):
    """A program of that Slurm: a daemon in sbin, a command in bin."""
    path = f"{PREFIX}/sbin/{name}"
    return path if os.access(path, os.X_OK) else f"{PREFIX}/bin/{name}"


def worker(build):
    """The agent's child for that Slurm."""
    return os.path.join(build, "src/agent/worker/slurmkeeper-agent-worker-" + series())


@functools.lru_cache
def text():
    """24.11.5"""
    said = subprocess.run([program("slurmctld"), "-V"], check=True, capture_output=True, text=True).stdout
    return ".".join(f"{part:02d}" if i < 2 else str(part) for i, part in enumerate(number(said)))


def series():
    """24.11"""
    return ".".join(text().split(".")[:2])


def needs(what, name):
    """How the product refuses what this release lacks."""
    return f"{name} needs Slurm {ROWS[what][0]}; this cluster runs {series()}"


def node_class():
    """What a change of nodes, or of MaxNodeCount, costs."""
    return "reconfigure" if has("node changes by reconfigure") else "restart"


def words(what):
    """What slurmctld says as it ends on a plugin that is not there."""
    return {"scheduler": ("sched plugin", "schedulers")}[what][has("service")]


def end_of_a_start():
    """(step, words) of a file that slurmctld ends on, where no rehearsal finds it."""
    if has("service"):
        return "reconfigure", "slurmctld refused the new configuration: "
    return "restart", "slurmctld has ended on it: "


def restart_setting():
    """(lines, key, value) of a setting that slurmctld takes only when it starts."""
    if has("node changes by reconfigure"):
        return "SelectType=select/linear\nSelectTypeParameters=CR_Memory", "SelectType", "select/linear"
    return "MaxNodeCount=2000", "MaxNodeCount", "2000"


def has(what):
    since, until = ROWS[what]
    now = number(text())
    return number(since) <= now and (until is None or now < number(until))
