# SPDX-License-Identifier: GPL-2.0-or-later
"""The questions about logins and directories, each with the very command of its answer."""
import re

import pytest

import directory
import people
from people import LOGIN, inside, ssh


@pytest.fixture(scope="module", name="own")
def a_cluster(machine):
    directory.need()
    with people.cluster("f") as c:
        yield c


def test_to_which_components_does_the_sssd_configuration_apply(own):
    """LoginSet and NodeSet: people log in, and jobs run with their uid and gid."""
    assert inside(own, "id", "-u", "alice").stdout == "21001\n"
    assert own.exec("compute-0", "id", "-u", "alice", container="slurmd").stdout == "21001\n"
    assert ssh(own, "alice", "srun id", key="alice").stdout == \
        "uid=21001(alice) gid=21001(alice) groups=21001(alice),31001(physics)\n"


def test_how_do_i_confirm_that_an_ldap_user_can_log_in(own):
    """kubectl exec -it deploy/LOGIN -- bash; getent passwd USER; su - USER; whoami; id"""
    words = "getent passwd alice\nsu - alice\nwhoami\nid\n"
    out = own.kubectl("exec", "-i", f"deploy/{LOGIN}", "--", "bash", input=words).stdout
    assert out.startswith(f"alice:*:21001:21001:alice:{own.home}/alice:/bin/bash\nalice\nuid=21001(alice)")


def test_what_do_i_do_if_the_ldap_connection_fails_the_network(own):
    done = own.kubectl("exec", f"deploy/{LOGIN}", "--", "nc", "-zv", "ldap.default.svc", "389")
    assert "succeeded" in done.stderr + done.stdout


def test_what_do_i_do_if_the_ldap_connection_fails_the_log(own):
    log = own.kubectl("exec", f"deploy/{LOGIN}", "--", "bash", "-c", "journalctl -u sssd --no-pager | tail -50").stdout
    assert "[sssd]" in log


def test_can_ldap_and_local_accounts_be_used_together(own):
    """Local names first; root and slurm are never asked of the directory."""
    for name in ("root", "slurm", "alice"):
        assert inside(own, "getent", "passwd", name).stdout.startswith(f"{name}:")
    assert ssh(own, "root", "whoami", key="root").stdout == "root\n"


def test_should_i_submit_by_loginset_or_rest_by_ssh(own):
    job = ssh(own, "alice", "sbatch --parsable -o job.out --wrap whoami", key="alice").stdout.strip()
    own.wait_job(job, "COMPLETED", seconds=120)
    assert ssh(own, "alice", "cat job.out", key="alice").stdout == "alice\n"


def test_the_network_from_a_node_to_slurmctld(own):
    done = own.exec("compute-0", "nc", "-zv", "slurm-controller", "6817", container="slurmd")
    assert "succeeded" in done.stderr + done.stdout


def test_a_job_stays_pending_look_at_the_reason(own):
    out = ssh(own, "alice", "squeue -o '%i %j %T %r'", key="alice").stdout
    assert out.startswith("JOBID NAME STATE REASON\n")


def test_how_do_i_see_the_configuration_of_slurm(own):
    out = inside(own, "bash", "-c", "scontrol show config | grep -i clustername").stdout
    assert re.match(r"ClusterName\s+= default_slurm\n", out)
    assert "slurm.conf" in own.kubectl("get", "configmap", "slurm-config", "-o", "yaml").stdout
