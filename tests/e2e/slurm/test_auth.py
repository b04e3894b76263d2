# SPDX-License-Identifier: GPL-2.0-or-later
"""By what daemons and commands know each other: munge, or auth/slurm where the release has it; as declared."""
import pytest

import release
from local import Local

MANIFEST = """apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: slurm}
spec: {extraConf: "ReturnToService=2\\nAuthType=AUTH"}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute}
spec: {controllerRef: {name: slurm}, replicas: 2, partition: {config: "Default=YES"}}
"""
has_both = pytest.mark.skipif(not release.has("auth/slurm"), reason="this release has munge alone")


def keys_in(cluster, pod, container):
    files = cluster.kubectl("exec", pod, "-c", container, "--", "ls", "/etc/slurm").stdout.split()
    return {f for f in files if f in ("slurm.key", "slurm.jwks", "munge.key")}


def auth_of(cluster):
    out = cluster.slurm("scontrol", "show", "config").stdout
    return next(line.split("=")[1].strip() for line in out.splitlines() if line.startswith("AuthType"))


def up(cluster, auth):
    path = f"{cluster.share}/cluster.yaml"
    with open(path, "w", encoding="utf-8") as f:
        f.write(MANIFEST.replace("AUTH", auth))
    return cluster.up("-f", path, check=False)


def runs_jobs(cluster):
    return all(len(cluster.slurm("srun", "-N2", "hostname", user=user).stdout.split()) == 2
               for user in (None, "nobody"))


def test_munge_is_what_one_gets_on_a_machine(cluster):
    """Each cluster of a machine can have its own."""
    assert auth_of(cluster) == "auth/munge" and runs_jobs(cluster)
    assert "munge.key" in keys_in(cluster, "compute-0", "slurmd")


@has_both
def test_auth_slurm_is_there_for_those_who_declare_it(cluster):
    with Local("m") as c:
        done = up(c, "auth/slurm")
        assert done.returncode == 0, done.stderr
        assert auth_of(c) == "auth/slurm" and runs_jobs(c)
        for pod, container in (("compute-0", "slurmd"), ("slurm-controller-0", "slurmctld")):
            assert keys_in(c, pod, container) == {"slurm.jwks"}
        refused = c.apply(MANIFEST.replace("AUTH", "auth/munge"), check=False)
        assert refused.returncode != 0 and "AuthType" in refused.stderr, refused.stderr
        # both have the same name in Slurm
        with Local("s") as second:
            done = up(second, "auth/slurm")
            if release.has("a sackd for each cluster"):
                assert done.returncode == 0 and runs_jobs(second), done.stderr
            else:
                assert done.returncode != 0 and "another sackd answers" in done.stderr, done.stdout + done.stderr
        assert runs_jobs(c)
    assert keys_in(cluster, "compute-0", "slurmd") == {"munge.key"} and runs_jobs(cluster)
