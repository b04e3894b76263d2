# SPDX-License-Identifier: GPL-2.0-or-later
"""kubectl cordon drains the Slurm nodes on that Kubernetes node; claims follow the retention policy of their NodeSet."""
import json

import pytest

from local import Local, wait_for

NODESET = """
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: keep}
spec:
  controllerRef: {name: slurm}
  replicas: 3
  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Delete}
  volumeClaimTemplates:
  - metadata: {name: scratch}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
  slurmd: {volumeMounts: [{name: scratch, mountPath: /scratch}]}
"""


@pytest.fixture(scope="module")
def own(machine):
    with Local("mc") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def nodes(c, partition=None):
    out = c.slurm("sinfo", "-h", "-N", "-o", "%N %T|%E", *(["-p", partition] if partition else [])).stdout
    return {line.split()[0]: line.split(None, 1)[1] for line in out.splitlines()}


def test_a_cordoned_node_takes_no_jobs_and_ends_none(own):
    machine = json.loads(own.kubectl("get", "nodes", "-o", "json").stdout)["items"][0]["metadata"]["name"]
    job = own.slurm("sbatch", "--parsable", "--wrap", "sleep 8", "-o", "/dev/null").stdout.strip()
    wait_for(lambda: own.slurm("squeue", "-h", "-j", job, "-o", "%T").stdout.strip() == "RUNNING", "the job runs")
    own.kubectl("annotate", "node", machine, "nodeset.slinky.slurm.net/node-cordon-reason=new kernel")
    own.kubectl("cordon", machine)
    try:
        wait_for(lambda: all("drain" in s and f"slurmkeeper: Node ({machine}): new kernel" in s
                             for s in nodes(own).values()), "all nodes drain")
        assert own.slurm("squeue", "-h", "-j", job, "-o", "%T").stdout.strip() == "RUNNING"
        # A person's own drain is left alone when the machine is back.
        own.slurm("scontrol", "update", "nodename=compute-2", "state=resume")
        own.slurm("scontrol", "update", "nodename=compute-2", "state=drain", "reason=mine")
    finally:
        own.kubectl("uncordon", machine)
    wait_for(lambda: "drain" not in nodes(own)["compute-0"] + nodes(own)["compute-1"], "they are back")
    assert "drain" in nodes(own)["compute-2"] and "mine" in nodes(own)["compute-2"]
    own.slurm("scontrol", "update", "nodename=compute-2", "state=resume")
    own.kubectl("annotate", "node", machine, "nodeset.slinky.slurm.net/node-cordon-reason-")
    assert own.slurm("srun", "-N3", "hostname").stdout.split()


def claims(c):
    return set(c.kubectl("get", "pvc", "-o", "name", "-l", "app.kubernetes.io/instance=keep").stdout.split())


def name(i):
    return f"persistentvolumeclaim/scratch-keep-{i}"


def test_claims_of_pods_that_were_scaled_away_go(own):
    own.apply(NODESET)
    own.wait_condition("nodeset", "keep", "Ready", "True")
    assert claims(own) == {name(i) for i in range(3)}
    uid = own.get("pvc", "scratch-keep-0")["metadata"]["uid"]
    # A pod that is only made again keeps its claim.
    own.kubectl("delete", "pod", "keep-0")
    own.wait_condition("nodeset", "keep", "Ready", "True")
    own.wait_ready("keep-0", seconds=60)
    assert own.get("pvc", "scratch-keep-0")["metadata"]["uid"] == uid
    own.kubectl("scale", "nodeset", "keep", "--replicas=1")
    wait_for(lambda: len(claims(own)) == 1, "two claims go", 60)
    # The policy is of today: claims that are there follow it.
    own.kubectl("patch", "nodeset", "keep", "--type=merge", "-p",
                '{"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"}}}')
    left = claims(own).pop().split("/")[1]
    wait_for(lambda: not own.get("pvc", left)["metadata"].get("ownerReferences"), "the claim is its own")
    own.kubectl("delete", "nodeset", "keep", timeout=90)
    assert claims(own)
    own.kubectl("delete", "pvc", left)
