# SPDX-License-Identifier: GPL-2.0-or-later
"""No job is lost or changed by edits, however many: 200 random ones, by kubectl, while jobs run and others wait.

What is declared is kept here as well (`Declared`), with what scontrol must show for it.
"""
import contextlib
import json
import os
import random
import re

import pytest

from jobs import Jobs
from local import nodeset, wait_for
from native import CONF, Native

EDITS = int(os.environ.get("EDITS", "200"))
SEED = int(os.environ.get("SEED", "7"))

# field of Partition: what scontrol calls it, what it shows without the field, (value, what it shows for it)...
SETTINGS = {
    "state": ("State", "UP", ("UP", "UP"), ("DOWN", "DOWN"), ("DRAIN", "DRAIN"), ("INACTIVE", "INACTIVE")),
    "maxTime": ("MaxTime", "UNLIMITED", (5, "00:05:00"), ("1-12:00:00", "1-12:00:00"), ("UNLIMITED", "UNLIMITED")),
    "defaultTime": ("DefaultTime", "NONE", (3, "00:03:00")),
    "priorityTier": ("PriorityTier", "1", (1, "1"), (50, "50"), (65533, "65533")),
    "priorityJobFactor": ("PriorityJobFactor", "1", (9, "9")),
    "maxNodes": ("MaxNodes", "UNLIMITED", (1, "1"), (3, "3")),
    "graceTime": ("GraceTime", "0", (60, "60")),
    "oversubscribe": ("OverSubscribe", "NO", ("YES:2", "YES:2"), ("EXCLUSIVE", "EXCLUSIVE")),
    "allowGroups": ("AllowGroups", "ALL", (["root", "slurm"], "root,slurm"), (["root"], "root")),
    "allowAccounts": ("AllowAccounts", "ALL", (["one", "two"], "one,two")),
    "hidden": ("Hidden", "NO", (True, "YES"), (False, "NO")),
    "rootOnly": ("RootOnly", "NO", (True, "YES")),
    "lln": ("LLN", "NO", (True, "YES")),
    "default": ("Default", "NO", (True, "YES"), (False, "NO")),
}
# the same in slurm.conf's words, for partition.config of NodeSets and for extraConf
LINES = {"State": ("UP", "UP DOWN DRAIN INACTIVE"), "PriorityTier": ("1", "1 8 90"), "Hidden": ("NO", "YES NO"),
         "MaxTime": ("UNLIMITED", "00:30:00 2-00:00:00 UNLIMITED"), "GraceTime": ("0", "0 45"),
         "AllowGroups": ("ALL", "root root,slurm ALL"), "LLN": ("NO", "YES NO"), "MaxNodes": ("UNLIMITED", "2 UNLIMITED")}
RUNNING_NODES = "compute-[0-2]"


class Declared:
    """All partitions that are declared, and by which objects."""

    def __init__(self, dice):
        self.dice = dice
        self.default = "compute"
        self.objects = {"debug": {"nodeSetRefs": ["compute"]}, "wide": {"all": True}}  # Partitions: their spec
        self.sets = {"compute": {"MaxTime": "1-00:00:00"}}  # NodeSets: their partition's settings
        self.extra = {}  # partitions of extraConf
        self.interval = 30

    def line(self, settings):
        return " ".join(f"{k}={v}" for k, v in settings.items())

    def some_line(self):
        keys = self.dice.sample(sorted(LINES), self.dice.randint(0, 3))
        return {k: self.dice.choice(LINES[k][1].split()) for k in keys}

    def extra_conf(self):
        lines = [f"SchedulerParameters=bf_interval={self.interval}"]
        lines += [f"PartitionName={name} Nodes=ALL {self.line(s)}" for name, s in sorted(self.extra.items())]
        return CONF + "\n".join(lines) + "\n"

    def set_config(self, name):
        default = f"Default={'YES' if name == self.default else 'NO'}"
        return f"{default} {self.line(self.sets[name])}".strip()

    def expected(self):
        """Partition -> the fields that scontrol must show."""
        shown = {}
        for name, spec in self.objects.items():
            fields = {key: without for key, without, *_ in SETTINGS.values()}
            for field, value in spec.items():
                if field in SETTINGS and value is not None:
                    fields[SETTINGS[field][0]] = dict((json.dumps(v), s) for v, s in SETTINGS[field][2:])[json.dumps(value)]
            shown[name] = fields
        for name, settings in {**self.sets, **self.extra}.items():
            shown[name] = {**{k: without for k, (without, _) in LINES.items()}, **settings}
        for name, fields in shown.items():
            fields["Default"] = "YES" if name == self.default else "NO"
        return shown


class Editor:
    """Makes the edits, as a user does."""

    def __init__(self, cluster, seed):
        self.c = cluster
        self.dice = random.Random(seed)
        self.want = Declared(self.dice)
        self.made = 0
        self.kinds = {}
        self.pid = cluster.started()

    def patch(self, kind, name, spec):
        self.c.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps({"spec": spec}))

    def a_setting(self):
        name = self.dice.choice(sorted(self.want.objects))
        field = self.dice.choice(sorted(set(SETTINGS) - {"default"}))
        value = self.dice.choice([None, *(v for v, _ in SETTINGS[field][2:])])
        # by no call can this one be unset
        heavy = field == "defaultTime" and value is None and self.want.objects[name].get(field) is not None
        with self.reconfigured() if heavy else contextlib.nullcontext():
            self.patch("partition", name, {field: value})
            self.want.objects[name][field] = value

    def partition_nodes(self):
        name = self.dice.choice(sorted(self.want.objects))
        how = self.dice.choice(["all", "one", "many"])
        sets = sorted(self.want.sets)
        refs = {"all": None, "one": ["compute"], "many": self.dice.sample(sets, self.dice.randint(1, len(sets)))}[how]
        self.patch("partition", name, {"all": True if how == "all" else None,
                                       "nodeSetRefs": refs and [{"name": r} for r in refs]})

    def config_of_a_nodeset(self):
        name = self.dice.choice(sorted(self.want.sets))
        self.want.sets[name] = self.want.some_line()
        self.patch("nodeset", name, {"partition": {"config": self.want.set_config(name)}})

    def another_default(self):
        """The old one gives it up first, as with any pair of objects."""
        old = self.want.default
        new = self.dice.choice(sorted({*self.want.objects, *self.want.sets} - {old}))
        self.want.default = None
        for name in (old, new):
            if name == new:
                self.want.default = new
            if name in self.want.sets:
                self.patch("nodeset", name, {"partition": {"config": self.want.set_config(name)}})
            else:
                self.patch("partition", name, {"default": name == new})

    def new_partition(self):
        name = f"p{self.dice.randrange(100)}"
        if name in self.want.objects:
            return self.a_setting()
        self.c.apply(json.dumps({"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition",
                                 "metadata": {"name": name},
                                 "spec": {"controllerRef": {"name": "slurm"}, "nodeSetRefs": [{"name": "compute"}]}}))
        self.want.objects[name] = {}

    def new_nodeset(self):
        name = f"s{self.dice.randrange(100)}"
        if name in self.want.sets or len(self.want.sets) > 4:
            return self.config_of_a_nodeset()
        self.want.sets[name] = self.want.some_line()
        replicas = 1 if self.dice.random() < 0.2 else 0
        with self.reconfigured():
            self.c.apply(nodeset(name, replicas=replicas, partition={"config": self.want.set_config(name)}))

    def old_partition(self):
        free = sorted(set(self.want.objects) - {"debug", "wide", self.want.default})
        if not free:
            return self.a_setting()
        name = self.dice.choice(free)
        self.c.kubectl("delete", "partition", name, "--wait=false")
        del self.want.objects[name]
        self.gone("partition", name)

    def old_nodeset(self):
        free = sorted(set(self.want.sets) - {"compute", self.want.default})
        if not free:
            return self.config_of_a_nodeset()
        name = self.dice.choice(free)
        self.c.kubectl("delete", "nodeset", name, "--wait=false")
        del self.want.sets[name]
        self.gone("nodeset", name)

    def gone(self, kind, name):
        """A name may come back: not before the old object is gone."""
        wait_for(lambda: self.c.get(kind, name, check=False) is None, f"{kind} {name} is gone", 40)

    def extra_partition(self):
        name = f"x{self.dice.randrange(3)}"
        if name in self.want.extra and self.dice.random() < 0.4:
            del self.want.extra[name]
        else:
            self.want.extra[name] = self.want.some_line()
        self.patch("controller", "slurm", {"extraConf": self.want.extra_conf()})

    def extra_setting(self):
        self.want.interval = self.dice.choice(sorted({*range(30, 90)} - {self.want.interval}))
        with self.reconfigured():
            self.patch("controller", "slurm", {"extraConf": self.want.extra_conf()})
            wait_for(lambda: f"bf_interval={self.want.interval}" in self.c.slurm("scontrol", "show", "config", check=False).stdout,
                     "the setting is live")

    @contextlib.contextmanager
    def reconfigured(self):
        """Slurm 22.05 counts the jobs of dynamic nodes twice at a reconfigure: slurmctld is started again after it.

        What is declared is live between the two.  The ConfigMap has it when all is done, or when that takes long; by then
        the Controller says so.
        """
        self.same_slurmctld()
        yield
        self.wait_live()
        wait_for(self.c.agree, "the files agree")
        self.c.wait_applied()
        self.pid = self.c.started()

    def same_slurmctld(self):
        assert self.c.started() == self.pid, f"slurmctld was started again within {self.made} edits"

    def one(self):
        kinds = [self.a_setting] * 8 + [self.partition_nodes, self.config_of_a_nodeset] * 3 + \
            [self.another_default, self.new_partition, self.old_partition, self.new_nodeset, self.old_nodeset,
             self.extra_partition, self.extra_partition, self.extra_setting]
        kind = self.dice.choice(kinds)
        self.kinds[kind.__name__] = self.kinds.get(kind.__name__, 0) + 1
        kind()
        self.made += 1

    def differs(self):
        """Where scontrol does not show what is declared."""
        live, found = self.c.all_live(), {}
        for name, fields in self.want.expected().items():
            other = {k: (v, live.get(name, {}).get(k)) for k, v in fields.items() if live.get(name, {}).get(k) != v}
            if other:
                found[name] = other
        return {**found, **{name: "not declared" for name in set(live) - set(self.want.expected())}}

    def wait_live(self):
        try:
            wait_for(lambda: not self.differs(), "")
        except AssertionError:
            raise AssertionError(f"after {self.made} edits scontrol shows otherwise (declared, live): "
                                 f"{self.differs()}; {self.c.state_of('controllers', 'slurm', 'ConfigApplied')}") from None


def slurmds(c):
    return {pid: start for (name, pid), start in c.daemons().items() if name == "slurmd"}


@pytest.fixture(scope="module")
def cluster(machine):
    with Native("j") as c:
        c.bring_up()
        c.make("partitions", "debug", {"nodeSetRefs": [{"name": "compute"}]}).ok()
        c.make("partitions", "wide", {"all": True}).ok()
        c.wait_live("debug", State="UP")
        c.wait_live("wide", State="UP")
        c.change("controllers", "slurm", {"extraConf": Declared(None).extra_conf()}).ok()
        c.wait_applied()
        yield c


@pytest.fixture(scope="module")
def jobs(cluster):
    jobs = Jobs(cluster)
    for partition in ("compute", "debug", "wide"):
        jobs.run("-p", partition, "-n1")
    jobs.held = jobs.wait("-p", "debug", "-n1", "-H")
    jobs.wait("-p", "compute", "-N3", "--exclusive")
    jobs.wait("-p", "wide", "-n1", f"--dependency=afterok:{jobs.running[0]}")
    return jobs.settle()


@pytest.fixture(scope="module")
def edited(cluster, jobs):
    """The cluster after all edits, each batch of which was looked at."""
    editor = Editor(cluster, SEED)
    before = slurmds(cluster)
    while editor.made < EDITS:
        editor.one()
        if editor.dice.random() < 0.15:
            editor.wait_live()
            jobs.check()
            editor.same_slurmctld()
    editor.wait_live()
    editor.same_slurmctld()
    assert not cluster.deaths()
    print(f"{editor.made} edits of seed {SEED}: {editor.kinds}")
    after = slurmds(cluster)
    assert {d: after.get(d) for d in before} == before, "a slurmd was started again"
    assert len(editor.kinds) == 10, "not all kinds of edits had their turn"
    return editor


def test_no_job_notices_random_edits(cluster, jobs, edited):
    jobs.check()
    cluster.wait_applied()
    assert cluster.agree()


def test_slurm_and_the_files_have_what_is_declared(cluster, edited):
    assert edited.differs() == {}
    conf = cluster.in_pod("/etc/slurm/slurm.conf")
    assert set(re.findall(r"^PartitionName=(\S+)", conf, re.M)) == set(cluster.all_live())
    for name in edited.want.objects:
        cluster.wait_state("partitions", name, "Drifted", "False")


def test_a_new_controller_pod_changes_nothing(cluster, jobs, edited):
    before, pid = cluster.all_live(), cluster.slurmctld()
    cluster.kubectl("delete", "pod", "slurm-controller-0")
    cluster.wait_slurmctld(pid)
    wait_for(lambda: cluster.all_live() == before, "scontrol shows the same partitions", 30)
    jobs.check()
    assert edited.differs() == {} and cluster.agree()


def test_then_they_end_well(cluster, jobs, edited):
    want = edited.want
    for name, nodes in (("debug", {"all": None, "nodeSetRefs": [{"name": "compute"}]}), ("wide", {"all": True, "nodeSetRefs": None})):
        edited.patch("partition", name, {**dict.fromkeys(SETTINGS), "default": name == want.default, **nodes})
        want.objects[name] = {}
    want.sets["compute"] = {}
    edited.patch("nodeset", "compute", {"partition": {"config": want.set_config("compute")}})
    edited.wait_live()
    jobs.check()
    jobs.finish(jobs.held)
