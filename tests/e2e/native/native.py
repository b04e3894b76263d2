# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster whose objects are changed by plain requests, fast, and whose slurmctld is watched as a process."""
import glob
import os
import shutil
import time

import release
from lib.client import Api
from lib.kubeconfig import Kubeconfig
from local import Local, controller, nodeset, quick_start, run, wait_for

GROUPS = {"controllers": "/apis/slinky.slurm.net/v1beta1", "nodesets": "/apis/slinky.slurm.net/v1beta1",
          "partitions": "/apis/slurmkeeper.dev/v1alpha1", "configmaps": "/api/v1", "pods": "/api/v1",
          "secrets": "/api/v1", "events": "/api/v1"}

# What a cluster that was brought up has in its extraConf.  Tests add to it: without it slurmctld has other plugins, and is
# restarted for them.
CONF = quick_start()["extraConf"]
# What a cluster of bring_up_bare has there
BARE = "ReturnToService=2\n"
KINDS = {"controllers": "Controller", "nodesets": "NodeSet", "partitions": "Partition", "configmaps": "ConfigMap"}


def missing():
    for program in ("runc", "ip", "nft", "kubectl", "slurmctld", "slurmd", "sinfo", "munged"):
        if not shutil.which(program):
            return f"{program} is not installed (tools/packages run test)"
    return None


def fields_of(line):
    """The fields of a partition as scontrol shows them in one line.

    From 26.05 on it has one word, Exclusive, for three settings: here they have their own names on every release."""
    fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
    if "Exclusive" in fields:
        fields["ExclusiveUser"] = "YES" if fields["Exclusive"] == "USER" else "NO"
        fields["ExclusiveTopo"] = "YES" if fields["Exclusive"] == "TOPO" else "NO"
        if fields["Exclusive"] in ("NODE", "TOPO"):
            fields["OverSubscribe"] = "EXCLUSIVE"
    return fields


def path(kind, name=""):
    return f"{GROUPS[kind]}/namespaces/default/{kind}" + (f"/{name}" if name else "")


class Native(Local):
    """Local, and the API without a kubectl in between."""

    def bring_up(self, *args):
        self.up(*args)
        self.api = Api(Kubeconfig(self.kubeconfig, self.state))
        self.slurm_env = self.env()
        self.wait_condition("nodeset", "compute", "Ready", "True")

    def bring_up_bare(self, **spec):
        """A cluster that has nothing of the quick start but its three nodes: no files, no plugins, no limits."""
        with open(f"{self.share}/cluster.yaml", "w") as f:
            f.write(controller(extraConf=BARE, **spec) + "\n---\n" +
                    nodeset("compute", replicas=3, partition={"config": "Default=YES MaxTime=24:00:00"}) + "\n")
        self.bring_up("-f", f"{self.share}/cluster.yaml")

    # objects

    def object(self, kind, name):
        answer = self.api.get(path(kind, name))
        return None if answer.code == 404 else answer.ok()

    def make(self, kind, name, spec=None, **more):
        body = {"apiVersion": GROUPS[kind].rsplit("/apis/", 1)[-1].replace("/api/v1", "v1"), "kind": KINDS[kind],
                "metadata": {"name": name}, **more}
        if kind in ("nodesets", "partitions"):
            body["spec"] = {"controllerRef": {"name": "slurm"}, **(spec or {})}
        return self.api.post(path(kind), body)

    def change(self, kind, name, spec):
        return self.api.patch(path(kind, name), {"spec": spec})

    def remove(self, kind, name):
        return self.api.delete(path(kind, name))

    def remove_all(self, kind, *names, seconds=20):
        for name in names:
            self.remove(kind, name)
        for name in names:
            wait_for(lambda: self.object(kind, name) is None, f"{kind}/{name} is gone", seconds)

    def state_of(self, kind, name, which):
        for c in ((self.object(kind, name) or {}).get("status") or {}).get("conditions", []):
            if c["type"] == which:
                return c
        return {}

    def wait_state(self, kind, name, which, status, reason=None, says="", seconds=20):
        def look():
            c = self.state_of(kind, name, which)
            return c if c.get("status") == status and reason in (None, c["reason"]) and says in c["message"] else None
        try:
            return wait_for(look, f"{kind}/{name} has {which}={status} ({reason}) {says}", seconds)
        except AssertionError as e:
            raise AssertionError(f"{e}; it has {self.state_of(kind, name, which)}") from None

    def events_of(self, name):
        items = self.api.get(path("events"), query={"fieldSelector": f"involvedObject.name={name}"}).ok()["items"]
        return {(e["reason"], e["message"]) for e in items}

    # Slurm

    inside = False  # are Slurm's commands run in slurmctld's pod, on the files that it has?

    def slurm(self, *argv, user=None, controller=None, check=True, timeout=30, **more):
        if self.inside:
            wait_for(self.slurmctld, "slurmctld runs", 60)
            return run("nsenter", "-t", str(self.slurmctld()), "-a", *argv, check=check, timeout=timeout, **more)
        if user or controller:
            return super().slurm(*argv, user=user, controller=controller, check=check, timeout=timeout, **more)
        return run(*argv, env=self.slurm_env, check=check, timeout=timeout, cwd=self.share, **more)

    def live(self, name):
        """The fields of a partition as slurmctld has them; {}: it has none."""
        return fields_of(self.slurm("scontrol", "-o", "show", "partition", name, check=False).stdout)

    def wait_live(self, name, seconds=20, **fields):
        try:
            return wait_for(lambda: fields.items() <= self.live(name).items(), "", seconds)
        except AssertionError:
            seen = self.live(name)
            raise AssertionError(f"partition {name}: {fields} is not live within {seconds} s, but "
                                 f"{ {k: seen.get(k) for k in fields} }") from None

    def wait_gone(self, name):
        return wait_for(lambda: self.live(name) == {}, f"partition {name} is gone")

    def all_live(self):
        """All partitions; {}: slurmctld does not answer."""
        out = self.slurm("scontrol", "-o", "show", "partition", check=False).stdout
        lines = [fields_of(line) for line in out.splitlines() if line.startswith("PartitionName=")]
        return {p["PartitionName"]: p for p in lines}

    # the processes

    def slurmctld(self):
        """Process number of the slurmctld that serves (the oldest: a rehearsal's is younger)."""
        found = [(int(start), pid) for (name, pid), start in self.daemons().items() if name == "slurmctld"]
        return min(found)[1] if found else None

    def started(self):
        """The process whose end is slurmctld's: the same after a reconfigure, though newer releases go on as another one."""
        if not release.has("service"):
            return self.slurmctld()
        for path in glob.glob("/proc/[0-9]*/exe"):
            directory = os.path.dirname(path)
            try:
                with open(f"{directory}/cgroup") as f:
                    groups = f.read()
                if os.path.basename(os.readlink(path)) == "slurmkeeper-supervise" and \
                        f"slurmkeeper-{self.name}/" in groups and "/slurmctld-" in groups:
                    return int(directory.split("/")[2])
            except OSError:
                continue
        return None

    def deaths(self, known=None):
        """How often slurmctld ended without being asked to: its container is started again then, and not within.

        By pod; known: what it was before, to be left out."""
        pod = self.object("pods", "slurm-controller-0")
        counts = {c["name"]: c["restartCount"] for c in pod["status"].get("containerStatuses", [])}
        now = {pod["metadata"]["uid"]: counts.get("slurmctld", 0)}
        return {uid: n for uid, n in now.items() if n > (known or {}).get(uid, 0)}

    def wait_saved(self):
        """Until slurmctld has written down what it knows now: a killed one loses the last seconds."""
        now = time.time()
        state = f"/proc/{self.slurmctld()}/root/var/spool/slurmctld/default_slurm/job_state"
        wait_for(lambda: os.path.exists(state) and os.stat(state).st_mtime > now, "jobs are saved", 30)

    def wait_rolled(self):
        """Until the controller's pod is the one that it should be, and ready."""
        def look():
            wanted = self.api.get("/apis/apps/v1/namespaces/default/statefulsets/slurm-controller").ok()
            pod = self.object("pods", "slurm-controller-0") or {"metadata": {}, "status": {}}
            return (wanted["status"].get("observedGeneration") == wanted["metadata"]["generation"] and
                    not pod["metadata"].get("deletionTimestamp") and
                    pod["metadata"].get("labels", {}).get("controller-revision-hash") == wanted["status"]["updateRevision"] and
                    any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", [])))
        wait_for(look, "the controller's pod is ready", 60)

    def wait_slurmctld(self, other_than=None):
        wait_for(lambda: self.slurmctld() not in (None, other_than), "slurmctld runs", 30)
        wait_for(lambda: self.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld answers", 30)

    def agent(self):
        """Process number of the agent that serves (the oldest: its children are it for a moment, too)."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                if not entry.isdigit() or "slurmkeeper-agent" not in os.readlink(f"/proc/{entry}/exe"):
                    continue
                with open(f"/proc/{entry}/cgroup") as f, open(f"/proc/{entry}/cmdline") as g, \
                        open(f"/proc/{entry}/stat") as h:
                    words = g.read().split("\0")
                    if f"slurmkeeper-{self.name}/" in f.read() and "worker" not in words[0] and words[1:2] == ["run"]:
                        found.append((int(h.read().rsplit(")", 1)[1].split()[19]), int(entry)))
            except OSError:
                continue
        return min(found)[1] if found else None

    def in_pod(self, name, pid=None):
        """A file of the controller's pod; "": there is none now."""
        try:
            with open(f"/proc/{pid or self.slurmctld()}/root{name}", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def declared_conf(self):
        return self.object("configmaps", "slurm-config")["data"]["slurm.conf"]

    def agree(self):
        """slurm.conf in the ConfigMap and in the live directory are the same."""
        return self.declared_conf() == self.in_pod("/etc/slurm/slurm.conf")


def timed(check, what, seconds):
    """Seconds until check() is true."""
    start = time.monotonic()
    wait_for(check, what, seconds)
    return time.monotonic() - start
