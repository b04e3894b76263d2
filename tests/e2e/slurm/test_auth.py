# SPDX-License-Identifier: GPL-2.0-or-later
"""By what daemons and commands know each other: munge, or auth/slurm where the release has it; as declared."""
import pytest

import release
from local import Local

MUNGE = """apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: slurm}
spec: {extraConf: "ReturnToService=2\\nAuthType=auth/munge"}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute}
spec: {controllerRef: {name: slurm}, replicas: 2, partition: {config: "Default=YES"}}
"""
has_both = pytest.mark.skipif(not release.has("auth/slurm"), reason="this release has munge alone")


def keys_in(cluster, pod, container):
    files = cluster.kubectl("exec", pod, "-c", container, "--", "ls", "/etc/slurm").stdout.split()
    return {f for f in files if f in ("slurm.key", "munge.key")}


def auth_of(cluster):
    out = cluster.slurm("scontrol", "show", "config").stdout
    return next(line.split("=")[1].strip() for line in out.splitlines() if line.startswith("AuthType"))


@has_both
def test_auth_slurm_is_what_one_gets(cluster):
    assert auth_of(cluster) == "auth/slurm"
    assert keys_in(cluster, "compute-0", "slurmd") == {"slurm.key"}
    for user in (None, "nobody"):
        assert len(cluster.slurm("srun", "-N3", "hostname", user=user).stdout.split()) == 3


@has_both
def test_munge_is_there_for_those_who_declare_it(tmp_path):
    manifest = tmp_path / "munge.yaml"
    manifest.write_text(MUNGE)
    with Local("m") as c:
        c.up("-f", str(manifest))
        assert auth_of(c) == "auth/munge"
        assert keys_in(c, "compute-0", "slurmd") == {"munge.key"}
        assert keys_in(c, "slurm-controller-0", "slurmctld") == {"munge.key"}
        for user in (None, "nobody"):
            assert len(c.slurm("srun", "-N2", "hostname", user=user).stdout.split()) == 2
        other = MUNGE.replace("auth/munge", "auth/slurm")
        refused = c.apply(other, check=False)
        assert refused.returncode != 0 and "AuthType" in refused.stderr, refused.stderr


@has_both
def test_a_second_cluster_that_cannot_have_its_sackd_says_so(cluster):
    """Both have the same name in Slurm; and before 25.05 there is room for one sackd on a machine."""
    with Local("s") as c:
        done = c.up(check=False)
        assert done.returncode != 0 and "another sackd answers" in done.stderr, done.stdout + done.stderr
        assert "auth/munge" in done.stderr
    assert len(cluster.slurm("srun", "-N3", "hostname").stdout.split()) == 3
