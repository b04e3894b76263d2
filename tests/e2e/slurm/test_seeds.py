# SPDX-License-Identifier: GPL-2.0-or-later
"""What documents about such clusters tell a user to type, typed: configuration, partitions, NodeSets, diagnosis."""
import re
import subprocess
import time

import pytest

from local import controller, nodeset, quick_start, read_until, wait_for

POD = "slurm-controller-0"
LINES = r"^(?:NodeSet|PartitionName)=.*$"


def config(cluster, name="slurm-config", *args):
    return cluster.kubectl("get", "configmap", name, "-o", r"jsonpath={.data.slurm\.conf}", *args).stdout


def partition(cluster, name):
    """The fields of `scontrol show partition`, asked in the controller's pod."""
    out = cluster.exec(POD, "scontrol", "-o", "show", "partition", name, container="slurmctld", check=False).stdout
    return dict(word.split("=", 1) for word in out.split() if "=" in word)


def wait_partition(cluster, name, **fields):
    return wait_for(lambda: fields.items() <= partition(cluster, name).items(), f"partition {name} has {fields}")


@pytest.fixture
def as_before(cluster):
    """Puts the declared cluster back."""
    yield
    cluster.apply(controller(**quick_start()))
    cluster.apply(nodeset("compute", replicas=3, partition={"enabled": True, "config": "Default=YES MaxTime=24:00:00"}))
    wait_partition(cluster, "compute", State="UP", MaxTime="1-00:00:00")


def test_the_configuration_has_the_lines_of_the_nodeset(cluster, kubectl):
    text = config(cluster)
    assert "### COMPUTE & PARTITION ###\nNodeSet=compute Feature=compute\n" \
        "PartitionName=compute Nodes=compute Default=YES MaxTime=24:00:00\n" in text
    inside = cluster.exec(POD, "cat", "/etc/slurm/slurm.conf", container="slurmctld").stdout
    assert re.findall(LINES, inside, re.M) == re.findall(LINES, text, re.M)
    assert inside == text


def test_slurm_answers_in_the_controllers_pod(cluster, kubectl):
    out = cluster.exec(POD, "scontrol", "show", "partition", container="slurmctld").stdout
    assert "PartitionName=compute" in out and "MaxTime=1-00:00:00" in out
    assert "compute*" in cluster.exec(POD, "sinfo", "-a", container="slurmctld").stdout
    assert "compute-0" in cluster.exec("compute-0", "hostname").stdout
    assert "AuthType" in cluster.exec(POD, "scontrol", "show", "config", container="slurmctld").stdout
    cluster.exec(POD, "scontrol", "reconfigure", container="slurmctld")


def test_objects_are_listed(cluster, kubectl):
    head, line = kubectl("get", "nodeset").stdout.splitlines()
    assert head.split() == ["NAME", "DESIRED", "REPLICAS", "UPDATED", "READY", "AGE"]
    assert line.split()[:5] == ["compute", "3", "3", "3", "3"]
    assert kubectl("get", "nodesets,nss,slurmd", "-o", "name").stdout.split()[0].startswith("nodeset.slinky")
    assert kubectl("get", "slurmctld", "-o", "name").stdout.strip() == "controller.slinky.slurm.net/slurm"
    pods = kubectl("get", "pods", "-l", "slinky.slurm.net/component=slurmd", "-o", "name").stdout.split()
    assert pods == ["pod/compute-0", "pod/compute-1", "pod/compute-2"]
    assert "mountPath: /etc/slurm" in kubectl("get", "pod", POD, "-o", "yaml").stdout
    assert "PartitionName=" in kubectl("explain", "nodeset.spec.partition").stdout or \
        "artition" in kubectl("explain", "nodeset.spec.partition").stdout
    assert kubectl("wait", "--for=condition=Ready", "nodeset/compute", "controller/slurm", "--timeout=10s").stdout


def test_a_partition_is_patched_and_the_sidecar_tells(cluster, kubectl, as_before):
    kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
            'spec:\n  partition:\n    config: "State=DRAIN"\n')
    wait_partition(cluster, "compute", State="DRAIN")
    assert "PartitionName=compute Nodes=compute State=DRAIN\n" in config(cluster)
    said = kubectl("logs", POD, "-c", "reconfigure").stdout
    assert re.search(r"Start '/etc/slurm' polling$", said, re.M), said
    assert re.search(r"Reconfiguring Slurm\.\.\.\n(.*\n)*.*SUCCESS$", said, re.M), said


def test_logs_are_followed(cluster, kubectl, as_before):
    child = subprocess.Popen([cluster.program, "--kubeconfig", cluster.kubeconfig, "logs", POD, "-c", "reconfigure",
                              "-f", "--tail=1"], stdout=subprocess.PIPE)
    try:
        read_until(child, r"\n")
        kubectl("patch", "nodeset", "compute", "--type=merge", "-p", '{"spec":{"partition":{"config":"MaxTime=7"}}}')
        read_until(child, r"Reconfiguring Slurm\.\.\.\n(.*\n)*.*SUCCESS\n")
    finally:
        child.kill()
        child.wait()
    assert kubectl("logs", "compute-0", "-c", "slurmd").stdout


def test_a_nodeset_without_a_partition_has_no_line(cluster, kubectl, as_before):
    kubectl("patch", "nodeset", "compute", "--type=merge", "-p",
            '{"spec":{"partition":{"enabled":false,"config":null}}}')
    wait_for(lambda: "PartitionName=compute" not in config(cluster), "the partition's line is gone")
    assert "NodeSet=compute Feature=compute\n" in config(cluster)
    kubectl("patch", "nodeset", "compute", "--type=merge", "-p", '{"spec":{"partition":{"enabled":true}}}')
    wait_for(lambda: "PartitionName=compute Nodes=compute \n" in config(cluster), "it is back, bare")


def test_partitions_over_several_nodesets(cluster, kubectl, as_before):
    cluster.apply(nodeset("gpu", replicas=1, partition={"enabled": True, "config": "MaxTime=1-00:00:00"}))
    try:
        cluster.apply(controller(**{**quick_start(), "extraConf": quick_start()["extraConf"] + "# over several NodeSets\n"
                                 "PartitionName=all Nodes=ALL Default=NO\n\n"
                                 "PartitionName=highprio Nodes=compute,gpu MaxTime=1-00:00:00 Priority=100\n"
                                 "PartitionName=debug Nodes=compute MaxTime=00:30:00\n"}))
        wait_partition(cluster, "highprio", MaxTime="1-00:00:00", PriorityTier="100")
        wait_partition(cluster, "debug", MaxTime="00:30:00")
        cluster.wait_idle("gpu-0", "compute-0", "compute-1", "compute-2")
        wait_partition(cluster, "all", TotalNodes="4")
        out = cluster.slurm("srun", "-p", "all", "-N4", "hostname").stdout.split()
        assert sorted(out) == ["compute-0", "compute-1", "compute-2", "gpu-0"]
    finally:
        kubectl("delete", "nodeset", "gpu", "--wait=false")
        kubectl("delete", "pod", "gpu-0", "--ignore-not-found", "--wait=false")
    wait_for(lambda: cluster.get("nodeset", "gpu", check=False) is None, "the NodeSet is gone")


def test_scaling_up_and_down(cluster, kubectl, as_before):
    assert "scaled" in kubectl("scale", "nodeset/compute", "--replicas=4").stdout
    cluster.wait_idle("compute-3")
    kubectl("patch", "nodeset", "compute", "--type=merge", "-p", '{"spec":{"replicas":5}}')
    cluster.wait_idle("compute-4")
    wait_for(lambda: cluster.get("nodeset", "compute")["status"]["readyReplicas"] == 5, "the status says so")
    kubectl("scale", "nodeset/compute", "--replicas=3")

    def settled():
        """Idle pods go; where nothing tells that they are, a condition says what to do."""
        why = cluster.condition("nodeset", "compute", "ScaledDown")
        return cluster.get("nodeset", "compute")["status"]["replicas"] == 3 or \
            (why and why["reason"] == "SlurmStateUnknown")
    wait_for(settled, "it is scaled down, or says why not", 40)
    kubectl("delete", "pod", "compute-3", "compute-4", "--ignore-not-found")
    wait_for(lambda: cluster.condition("nodeset", "compute", "ScaledDown") is None and
             cluster.get("nodeset", "compute")["status"]["replicas"] == 3, "three are left")


@pytest.mark.parametrize("conf", ["ReturnToService=2\n", ""], ids=["returns", "stays-down"])
def test_a_deleted_worker_comes_back_to_idle(cluster, as_before, conf):
    cluster.apply(controller(extraConf=conf))
    wait_for(lambda: ("ReturnToService=2" in config(cluster)) == bool(conf), "the configuration")
    before = cluster.get("pod", "compute-1")["metadata"]["uid"]
    cluster.kubectl("delete", "pod", "compute-1")
    cluster.wait_ready("compute-1")
    assert cluster.get("pod", "compute-1")["metadata"]["uid"] != before
    cluster.wait_idle("compute-1")
    cluster.exec(POD, "scontrol", "reconfigure", container="slurmctld")
    assert cluster.slurm("srun", "-w", "compute-1", "hostname").stdout == "compute-1\n"
    cluster.wait_idle("compute-1")


def test_slurmctld_is_restarted_by_deleting_its_pod(cluster, kubectl):
    job = cluster.submit("sleep 4", "-N1", "-o", "/dev/null")
    cluster.wait_job(job, "RUNNING")
    kubectl("delete", "pod", POD)
    cluster.wait_ready(POD)
    cluster.wait_job(job, "COMPLETED")
    cluster.wait_idle("compute-0", "compute-1", "compute-2")


def test_an_annotation_of_the_controller_starts_slurmctld_anew(cluster, kubectl):
    def slurmds():
        return {k: v for k, v in cluster.daemons().items() if k[0] == "slurmd"}
    workers = slurmds()
    before = cluster.get("pod", POD)["metadata"]["uid"]
    kubectl("annotate", "controller", "slurm", f"restart-trigger={time.time()}", "--overwrite")
    wait_for(lambda: (cluster.get("pod", POD, check=False) or {"metadata": {"uid": before}})["metadata"]["uid"] != before,
             "the pod is made again")
    cluster.wait_ready(POD)
    cluster.wait_idle("compute-0", "compute-1", "compute-2")
    assert slurmds() == workers


def test_annotations_and_labels_are_taken(cluster, kubectl):
    before = cluster.daemons()
    kubectl("label", "nodeset", "compute", "app.kubernetes.io/managed-by=Helm", "--overwrite")
    kubectl("annotate", "nodeset", "compute", "--overwrite", "meta.helm.sh/release-name=slurm",
            "meta.helm.sh/release-namespace=default")

    def back_up_and_restore():
        """The backup has a resourceVersion: a status that is written meanwhile is a conflict."""
        backup = kubectl("get", "nodeset", "compute", "-o", "yaml").stdout
        assert "app.kubernetes.io/managed-by: Helm" in backup
        return cluster.kubectl("apply", "-f", "-", input=backup, check=False).returncode == 0
    wait_for(back_up_and_restore, "what was saved is taken back")
    kubectl("annotate", "pod", "compute-2", "slinky.slurm.net/pod-cordon=true")
    kubectl("annotate", "pod", "compute-2", "slinky.slurm.net/pod-cordon-")
    kubectl("label", "nodeset", "compute", "app.kubernetes.io/managed-by-")
    cluster.wait_idle("compute-0", "compute-1", "compute-2")
    assert cluster.daemons() == before


def test_diagnosis_of_a_worker(cluster, kubectl, tmp_path):
    assert kubectl("logs", "compute-0", "-c", "slurmd").stdout
    cluster.exec("compute-0", "bash", "-c", "</dev/tcp/slurm-controller/6817", container="slurmd")
    cluster.exec("compute-0", "getent", "hosts", "compute-1", "slurm-controller.default.svc")
    cluster.slurm("srun", "-w", "compute-0", "sh", "-c", "echo kept here > /tmp/output.txt")
    kubectl("cp", "default/compute-0:/tmp/output.txt", str(tmp_path / "output.txt"), "-c", "slurmd")
    assert (tmp_path / "output.txt").read_text() == "kept here\n"
    assert cluster.slurm("squeue", "-o", "%i %j %T %r").stdout
    assert "Name:" in kubectl("describe", "nodeset", "compute").stdout


SEED_NODESET = """
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata:
  name: compute
  namespace: slurm
spec:
  controllerRef:
    name: slinky
    namespace: slurm
  replicas: 3
  slurmd:
    image: ghcr.io/slinkyproject/slurmd:25.05-rockylinux9
    resources:
      requests:
        cpu: "1"
        memory: "2Gi"
  partition:
    enabled: true
"""


def test_a_second_cluster_in_a_namespace_of_its_own(cluster):
    """The manifests as they stand, with a Controller that says nothing but its name."""
    cluster.kubectl("create", "namespace", "slurm")
    try:
        cluster.apply("apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\n"
                      "metadata: {name: slinky, namespace: slurm}\n")
        cluster.apply(SEED_NODESET)
        cluster.wait_ready("slinky-controller-0", "slurm")
        for i in range(3):
            cluster.wait_ready(f"compute-{i}", "slurm")
        cluster.wait_idle("compute-0", "compute-1", "compute-2", controller="slurm/slinky")
        assert "PartitionName=compute Nodes=compute \n" in config(cluster, "slinky-config", "-n", "slurm")
        assert ("HostSoftware", "the software installed on this machine runs instead of image "
                "ghcr.io/slinkyproject/slurmd:25.05-rockylinux9") in cluster.events("compute-0", "slurm")
        out = cluster.slurm("srun", "-N3", "-p", "compute", "hostname", controller="slurm/slinky").stdout
        assert len(set(out.split())) == 3
        for key, field in (("slinky-auth-slurm", "slurm.key"), ("slinky-auth-jwt", "jwt.key")):
            assert field in cluster.get("secret", key, "slurm")["data"]
        assert "KUBECONFIG" in cluster.env() and "SLURM_CONF" not in cluster.env()
        cluster.kubectl("scale", "nodeset/compute", "--replicas=4", "-n", "slurm")
        cluster.wait_idle("compute-3", controller="slurm/slinky")
        cluster.kubectl("delete", "pod", "-n", "slurm", "slinky-controller-0")
        cluster.wait_ready("slinky-controller-0", "slurm")
    finally:
        cluster.kubectl("delete", "namespace", "slurm", timeout=120)
    cluster.wait_idle("compute-0", "compute-1", "compute-2", controller="default/slurm")
    wait_for(lambda: "SLURM_CONF" in cluster.env(), "there is one Controller again")
