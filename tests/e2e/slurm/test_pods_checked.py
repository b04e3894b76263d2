# SPDX-License-Identifier: GPL-2.0-or-later
"""What ends up in pods is checked when it is written, and no pod goes for one that cannot be made."""
import json

import pytest

from local import Local, wait_for


@pytest.fixture(scope="module")
def own(machine):
    with Local("pc") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def patch(c, kind, name, spec):
    return c.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps({"spec": spec}), check=False)


def uids(c):
    pods = json.loads(c.kubectl("get", "pods", "-o", "json").stdout)["items"]
    return {p["metadata"]["name"]: p["metadata"]["uid"] for p in pods}


@pytest.mark.parametrize("kind, name, spec, says", [
    ("nodeset", "compute", {"slurmd": {"image": {"repository": "ghcr.io/x/slurmd", "tag": "25.11"}}},
     "spec.slurmd.image: Invalid value: must be of type string"),
    ("nodeset", "compute", {"slurmd": {"imagePolicy": "Always"}}, "spec.slurmd.imagePolicy"),
    ("nodeset", "compute", {"template": {"spec": {"volumes": [{"name": "v", "hostpath": {"path": "/x"}}]}}},
     "spec.template.spec.volumes[0].hostpath"),
    ("nodeset", "compute", {"slurmd": {"volumeMounts": [{"name": "gone", "mountPath": "/x"}]}}, "gone"),
    ("controller", "slurm", {"slurmctld": {"image": {"repository": "x"}}}, "spec.slurmctld.image"),
    ("controller", "slurm", {"service": {"spec": {"type": ["ClusterIP"]}}}, "spec.service.spec.type"),
])
def test_what_no_pod_can_have_is_refused(own, kind, name, spec, says):
    before = uids(own)
    done = patch(own, kind, name, spec)
    assert done.returncode != 0 and says in done.stderr, done.stderr
    assert uids(own) == before


@pytest.mark.parametrize("kind, name, pod", [("nodeset", "compute", "compute-"), ("controller", "slurm", "slurm-")])
def test_no_pod_goes_for_one_that_the_server_would_not_make(own, kind, name, pod):
    """A ServiceAccount that is not there: only the API server knows."""
    before = uids(own)
    assert patch(own, kind, name, {"template": {"spec": {"serviceAccountName": "nobody"}}}).returncode == 0
    told = own.wait_condition(kind, name, "Ready", "False", "SyncFailed")
    assert "nobody" in told["message"] and "Successor" in told["message"], told
    assert own.slurm("srun", "-N3", "hostname").stdout.split()
    assert uids(own) == before
    assert "drain" not in own.slurm("sinfo", "-h", "-o", "%T").stdout
    # The account comes: the pods are made of the new template after all.
    own.kubectl("create", "serviceaccount", "nobody")

    def replaced():
        now = uids(own)
        return now.keys() == before.keys() and all(
            now[n] != uid for n, uid in before.items() if n.startswith(pod)) and now
    wait_for(replaced, "other pods", 120)
    own.wait_condition(kind, name, "Ready", "True")
    wait_for(lambda: own.slurm("srun", "-N3", "hostname", check=False).returncode == 0, "jobs run", 60)
    own.kubectl("delete", "serviceaccount", "nobody")
