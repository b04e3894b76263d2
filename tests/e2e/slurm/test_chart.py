# SPDX-License-Identifier: GPL-2.0-or-later
"""What Slinky's Helm chart makes runs jobs; and each value that people change works, is refused, or is warned of."""
import json
import os

import pytest

import chart
import release
from local import Local, wait_for

SLINKY = {"nodesets": {"slinky": {}},
          "partitions": {"all": {"nodesets": ["slinky"], "config": "State=UP Default=YES MaxTime=UNLIMITED"}}}
NODESET = "slurm-worker-slinky"


class Chart:
    """A release of the chart in a cluster of its own: install is what `helm install` and `upgrade` send."""

    def __init__(self, cluster):
        self.c = cluster

    def install(self, over=None, check=True):
        values = chart.merged(SLINKY, over)
        done = self.c.apply(chart.manifest(chart.render(values)), check=False, timeout=60)
        assert not check or done.returncode == 0, done.stderr
        return done

    def settled(self, seconds=120):
        """Until all that was declared is live, by what the operator says."""
        def look():
            for kind, name, types in (("controller", "slurm", ("Ready", "ConfigApplied")),
                                      ("nodeset", NODESET, ("Ready", "NodesApplied"))):
                o = self.c.get(kind, name, "slurm")
                for which in types:
                    cond = self.c.condition(kind, name, which, "slurm") or {}
                    if cond.get("status") != "True" or cond.get("observedGeneration") != o["metadata"]["generation"]:
                        return None
                if self.c.condition(kind, name, "Updated", "slurm"):
                    return None
            return True
        wait_for(look, "the release is settled", seconds)

    def slurm(self, *argv, **more):
        """In the pod of slurmctld, as `kubectl exec` gives it."""
        return self.c.kubectl("exec", "-n", "slurm", "slurm-controller-0", "-c", "slurmctld", "--", *argv, **more)

    def job(self, *args):
        done = self.c.slurm("srun", *args, "hostname", check=False)
        return done.stdout.split() if done.returncode == 0 else None

    def runs_jobs(self, *args, nodes=1):
        got = wait_for(lambda: self.job(f"-N{nodes}", *args), "a job runs", 90)
        assert len(got) == nodes, got
        return got

    def config(self, key):
        out = self.slurm("scontrol", "show", "config", check=False).stdout
        return next((line.split("=", 1)[1].strip() for line in out.splitlines() if line.split("=")[0].strip() == key), None)

    def node(self, name="slinky-0"):
        return self.slurm("scontrol", "-o", "show", "node", name, check=False).stdout


@pytest.fixture(scope="module")
def own(machine):
    with Local("ch") as c:
        c.up()
        c.kubectl("delete", "nodeset", "compute", timeout=90)
        c.kubectl("delete", "controller", "slurm", timeout=90)
        c.kubectl("create", "namespace", "slurm")
        yield c


@pytest.fixture(scope="module")
def chart_release(own):
    return Chart(own)


def test_the_default_values_make_a_cluster_that_runs_jobs(own, chart_release):
    # Nothing but the defaults: no NodeSets, as the chart has it.
    done = own.apply(chart.manifest(chart.render()), check=False)
    assert done.returncode == 0, done.stderr
    own.wait_condition("controller", "slurm", "Ready", "True", namespace="slurm")
    own.wait_condition("controller", "slurm", "ConfigApplied", "True", namespace="slurm")
    # One NodeSet, and the chart's example of a partition.
    told = chart_release.install().stderr
    assert "no image is pulled here" in told or release.series() == "26.05"
    chart_release.settled()
    assert chart_release.runs_jobs() == ["slinky-0"]
    script = "#!/bin/sh\nsrun hostname\n"
    job = own.slurm("sbatch", "--parsable", "-o", f"{own.share}/out", "--chdir", own.share, input=script).stdout.strip()
    wait_for(lambda: own.slurm("squeue", "-h", "-j", job, check=False).stdout.strip() == "", "the job ends", 60)
    with open(f"{own.share}/out") as out:
        assert out.read().strip() == "slinky-0"
    args = own.get("pod", f"{NODESET}-0", "slurm")["spec"]["containers"][0]["args"]
    assert args[0] == "-Z" and "'Features=slinky'" in args


def test_the_same_again_changes_nothing(own, chart_release):
    before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in pods(own)}
    chart_release.install()
    chart_release.settled()
    assert {p["metadata"]["name"]: p["metadata"]["uid"] for p in pods(own)} == before


def pods(c):
    return json.loads(c.kubectl("get", "pods", "-n", "slurm", "-o", "json").stdout)["items"]


def nodeset(**values):
    return {"nodesets": {"slinky": values}}


def test_replicas(chart_release):
    chart_release.install(nodeset(replicas=2))
    chart_release.settled()
    assert sorted(chart_release.runs_jobs(nodes=2)) == ["slinky-0", "slinky-1"]
    chart_release.install()
    chart_release.settled()
    wait_for(lambda: "slinky-1" not in chart_release.slurm("sinfo", "-h", "-N", "-o", "%N").stdout, "its record goes", 60)


def test_a_partition_of_the_nodeset(chart_release):
    chart_release.install(nodeset(partition={"enabled": True, "configMap": {"State": "UP", "MaxTime": "1:00:00"}}))
    chart_release.settled()
    wait_for(lambda: "MaxTime=01:00:00" in chart_release.slurm("scontrol", "show", "partition", "slinky", check=False).stdout,
             "the partition is there")
    chart_release.runs_jobs("-p", "slinky")
    chart_release.install(nodeset(partition={"enabled": True, "config": "State=UP MaxTime=2:00:00"}))
    chart_release.settled()
    assert "MaxTime=02:00:00" in chart_release.slurm("scontrol", "show", "partition", "slinky").stdout
    chart_release.install()
    chart_release.settled()
    wait_for(lambda: chart_release.slurm("scontrol", "show", "partition", "slinky", check=False).returncode != 0, "it goes")


def test_extra_conf_of_the_nodes(chart_release):
    chart_release.install(nodeset(extraConf="Weight=7", extraConfMap={"Features": ["fast"]}))
    chart_release.settled()
    node = chart_release.node()
    assert "Weight=7" in node and "fast" in node
    assert chart_release.runs_jobs("--constraint=fast")
    done = chart_release.install(nodeset(extraConf="Heaviness=7"), check=False)
    assert done.returncode != 0 and "Heaviness" in done.stderr


def test_extra_conf_of_the_cluster(chart_release):
    chart_release.install({"controller": {"extraConf": "MessageTimeout=23", "extraConfMap": {"SchedulerParameters": "defer"}}})
    chart_release.settled()
    wait_for(lambda: chart_release.config("MessageTimeout") == "23 sec", "it is live", 60)
    assert chart_release.config("SchedulerParameters") == "defer"
    done = chart_release.install({"controller": {"extraConf": "StateSaveLocation=/elsewhere"}}, check=False)
    assert done.returncode != 0 and "StateSaveLocation" in done.stderr


def test_config_files_and_scripts(own, chart_release):
    marks = {k: f"{own.share}/{k}" for k in ("prolog", "epilog")}
    over = {"configFiles": {"gres.conf": "# none\n", "job_submit.lua": "-- none\n"},
            "prologScripts": {"mark.sh": f"#!/bin/sh\ntouch {marks['prolog']}\n"},
            "epilogScripts": {"mark.sh": f"#!/bin/sh\ntouch {marks['epilog']}\n"}}
    chart_release.install(over)
    chart_release.settled()
    assert "# none" in chart_release.slurm("cat", "/etc/slurm/gres.conf").stdout
    chart_release.runs_jobs()
    for mark in marks.values():
        wait_for(lambda m=mark: os.path.exists(m), f"{mark} was run", 60)
    bad = chart_release.install({"configFiles": {"slurm.conf": "X=1\n"}}, check=False)
    assert bad.returncode != 0 and "slurm.conf" in bad.stderr
    chart_release.install()
    chart_release.settled()


def test_update_strategies(own, chart_release):
    uid = own.get("pod", f"{NODESET}-0", "slurm")["metadata"]["uid"]
    chart_release.install(nodeset(updateStrategy={"type": "OnDelete"}, podMetadata={"labels": {"a": "b"}}))
    wait_for(lambda: own.get("nodeset", NODESET, "slurm")["status"]["updatedReplicas"] == 0, "the pod is out of date")
    assert own.get("pod", f"{NODESET}-0", "slurm")["metadata"]["uid"] == uid
    own.kubectl("delete", "pod", "-n", "slurm", f"{NODESET}-0", timeout=90)
    wait_for(lambda: (own.get("pod", f"{NODESET}-0", "slurm", check=False) or {"metadata": {}})["metadata"]
             .get("labels", {}).get("a") == "b", "the next one has the label", 60)
    chart_release.settled()
    uid = own.get("pod", f"{NODESET}-0", "slurm")["metadata"]["uid"]
    chart_release.install(nodeset(podMetadata={"labels": {"a": "c"}}, updateStrategy={
        "type": "ScheduledUpdate", "scheduledUpdate": {"startTime": "2038-01-01T00:00:00Z", "duration": "30m"}}))
    wait_for(lambda: own.get("nodeset", NODESET, "slurm")["status"]["updatedReplicas"] == 0, "the pod is out of date")
    assert own.get("pod", f"{NODESET}-0", "slurm")["metadata"]["uid"] == uid, "its time has not come"
    done = chart_release.install(nodeset(updateStrategy={"rollingUpdate": {"maxUnavailable": "0%"}}), check=False)
    assert done.returncode != 0 and "maxUnavailable" in done.stderr


def test_protection_of_jobs(own, chart_release):
    def protected():
        return own.get("pod", f"{NODESET}-0", "slurm")["metadata"]["labels"].get("nodeset.slinky.slurm.net/pod-protect")
    chart_release.install()
    chart_release.settled()
    job = own.slurm("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 60").stdout.strip()
    wait_for(lambda: protected() == "true", "the pod is protected", 60)
    chart_release.install(nodeset(workloadDisruptionProtection=False))
    wait_for(lambda: protected() is None, "it is not any more", 60)
    own.slurm("scancel", job)


def test_pod_specs_and_containers(own, chart_release):
    chart_release.install(nodeset(
        slurmd={"env": [{"name": "MINE", "value": "yes"}], "volumeMounts": [{"name": "mine", "mountPath": "/mine"}],
                "resources": {"limits": {"cpu": 1, "memory": "512Mi"}}},
        podSpec={"volumes": [{"name": "mine", "emptyDir": {}}], "tolerations": [{"operator": "Exists"}],
                 "nodeSelector": {"kubernetes.io/os": "linux"}}))
    chart_release.settled()
    assert chart_release.runs_jobs("--mem=100M")
    pod = own.get("pod", f"{NODESET}-0", "slurm")["spec"]
    assert {"name": "MINE", "value": "yes"} in pod["containers"][0]["env"]
    own.kubectl("exec", "-n", "slurm", f"{NODESET}-0", "-c", "slurmd", "--", "test", "-d", "/mine")
    assert "MemSpecLimit" in chart_release.node() or "CoreSpecCount" in chart_release.node()
    done = chart_release.install(nodeset(slurmd={"image": {"repository": "x", "tag": "y"}}), check=False)
    assert done.returncode != 0 and "spec.slurmd.image" in done.stderr
    chart_release.install()
    chart_release.settled()


def test_padded_ordinals(own, chart_release):
    chart_release.install(nodeset(ordinalPadding=3))
    chart_release.settled()
    assert chart_release.runs_jobs() == ["slinky-000"]
    index = own.get("pod", f"{NODESET}-000", "slurm")["metadata"]["labels"]["nodeset.slinky.slurm.net/pod-index"]
    assert index == "000"
    chart_release.install()
    chart_release.settled()


@pytest.mark.parametrize("over, says", [
    ({"controller": {"metrics": {"enabled": True}}}, "spec.metrics.enabled"),
    (nodeset(more={"pruneSlurmNodeRecords": "NodeNotFound"}), "spec.pruneSlurmNodeRecords"),
    (nodeset(scalingMode="DaemonSet"), "spec.scalingMode"),
    ({"controller": {"service": {"spec": {"externalIPs": ["192.0.2.1"]}}}}, "externalIPs"),
], ids=["metrics", "prune", "daemonset", "externalIPs"])
def test_what_has_no_effect_here_is_told(own, chart_release, over, says):
    if says == "spec.metrics.enabled" and release.has("openmetrics"):
        pytest.skip("this Slurm has metrics")
    done = chart_release.install(over, check=False)
    assert done.returncode == 0 and says in done.stderr, done.stderr
    chart_release.install()
    chart_release.settled()


@pytest.mark.parametrize("more", [{"useResourceLimits": True}, {"taintKubeNodes": True}, {"podDisruption": {}}],
                         ids=["useResourceLimits", "taintKubeNodes", "podDisruption"])
def test_fields_of_other_releases_of_the_chart_are_told(own, chart_release, more):
    values = chart.merged(SLINKY, nodeset(more=more))
    done = own.apply(chart.manifest(chart.render(values)), check=False)
    assert done.returncode != 0 and "unknown field" in done.stderr and list(more)[0] in done.stderr, done.stderr
    # Who does not insist, as Helm, is told that the server drops the field.
    done = own.kubectl("apply", "--validate=warn", "-f", "-", input=chart.manifest(chart.render(values)))
    assert f'unknown field "spec.{list(more)[0]}"' in done.stderr, done.stderr
    chart_release.install()
    chart_release.settled()


def test_sshd_of_workers(own, chart_release):
    """With the chart's own sssd.conf."""
    chart_release.install(nodeset(ssh={"enabled": True, "extraSshdConfig": "MaxSessions 7"}))
    chart_release.settled()
    worker = ("exec", "-n", "slurm", f"{NODESET}-0", "-c", "slurmd", "--")
    assert "maxsessions 7" in own.kubectl(*worker, "sshd", "-T").stdout
    own.kubectl(*worker, "bash", "-c", "</dev/tcp/127.0.0.1/22")
    assert chart_release.runs_jobs() == ["slinky-0"]
    chart_release.install()
    chart_release.settled()


def test_in_place_or_not(own, chart_release):
    """Both ways a setting arrives, and a job goes on."""
    job = own.slurm("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 600").stdout.strip()
    wait_for(lambda: own.slurm("squeue", "-h", "-j", job, "-o", "%T").stdout.strip() == "RUNNING", "the job runs", 60)
    for n, inplace in enumerate((True, False)):
        chart_release.install({"controller": {"inplaceReconfigure": inplace, "extraConf": f"MessageTimeout={31 + n}"}})
        wait_for(lambda t=31 + n: chart_release.config("MessageTimeout") == f"{t} sec", "it is live", 90)
        assert own.slurm("squeue", "-h", "-j", job, "-o", "%T").stdout.strip() == "RUNNING"
    own.slurm("scancel", job)
    chart_release.install()
    chart_release.settled()
