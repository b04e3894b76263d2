# SPDX-License-Identifier: GPL-2.0-or-later
"""Accounting: slurmdbd and its database; records, limits, and what happens when one of the two is away."""
import base64
import glob
import json
import os
import secrets
import shutil
import signal

import pytest

from local import Local, run, wait_for

LONG_S = 120
MANIFEST = """apiVersion: slinky.slurm.net/v1beta1
kind: Accounting
metadata: {name: slurm}
spec: {extraConf: "PurgeEventAfter=12months"}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: slurm, annotations: {slurmkeeper.dev/key-overlap: "3"}}
spec:
  accountingRef: {name: slurm}
  extraConf: |
    ReturnToService=2
    AccountingStorageEnforce=limits,qos
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute}
spec: {controllerRef: {name: slurm}, replicas: 2, partition: {config: "Default=YES"}}
"""
OTHER = """apiVersion: slinky.slurm.net/v1beta1
kind: Accounting
metadata: {name: other}
spec:
  slurmKeyRef: {name: slurm-auth-slurm, key: slurm.key}
  storageConfig: {host: slurm-database, database: other_db, username: other, passwordKeyRef: {name: other-pw, key: pw}}
"""
FAR = """apiVersion: slinky.slurm.net/v1beta1
kind: Accounting
metadata: {name: campus}
spec: {external: true, externalConfig: {host: slurm-accounting, port: 6819}}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: far}
spec: {accountingRef: {name: campus}, slurmKeyRef: {name: slurm-auth-slurm, key: slurm.key}}
"""


@pytest.fixture(scope="module", name="own")
def a_cluster(machine):
    for program in ("slurmdbd", "mariadbd"):
        if not shutil.which(program):
            pytest.exit(f"cannot run: {program} is not installed (tools/packages accounting)", returncode=1)
    with Local("a") as c:
        path = f"{c.share}/cluster.yaml"
        with open(path, "w", encoding="utf-8") as f:
            f.write(MANIFEST)
        c.up("-f", path, "--accounting", timeout=str(LONG_S))
        yield c


def ready(c, name="slurm", status="True", reason=None):
    def look():
        said = c.condition("accounting", name, "Ready")
        return said if said and said["status"] == status and reason in (None, said["reason"]) else None
    return wait_for(look, f"Accounting {name} has Ready={status} ({reason}), not "
                    f"{c.condition('accounting', name, 'Ready')}", LONG_S)


def sacct(c, *args):
    return c.slurm("sacct", "-n", "-P", "-X", "-a", "-S", "2020-01-01", *args, check=False)


def recorded(c, job, state="COMPLETED"):
    wait_for(lambda: sacct(c, "-j", job, "-o", "State").stdout.split() == [state], f"the record of job {job} is {state}",
             LONG_S)


def answers(c):
    """slurmctld has registered and slurmdbd tells."""
    wait_for(lambda: "6817" in c.slurm("sacctmgr", "-n", "-P", "show", "cluster", "format=controlport", check=False).stdout,
             "slurmdbd knows the cluster", LONG_S)


def queue_is_empty(c):
    wait_for(lambda: "DBD Agent queue size: 0" in c.exec("slurm-controller-0", "sdiag", container="slurmctld").stdout,
             "slurmctld has sent all records", LONG_S)


def pid_of(c, program):
    for path in glob.glob("/proc/[0-9]*/exe"):
        directory = os.path.dirname(path)
        try:
            with open(f"{directory}/cgroup", encoding="ascii") as f:
                if os.path.basename(os.readlink(path)) == program and f"slurmkeeper-{c.name}/" in f.read():
                    return int(directory.split("/")[2])
        except OSError:
            continue
    return None


def put(c, secret, key, text):
    data = base64.b64encode(text.encode()).decode()
    c.kubectl("patch", "secret", secret, "--type=merge", "-p", json.dumps({"data": {key: data}}))


def administer(c, sql):
    return c.exec("slurm-database-0", "sh", "-c", f'mariadb -S /run/mysqld/mysqld.sock -u "$(id -un)" -e "{sql}"').stdout


def test_a_job_has_a_record_on_the_machine_and_on_a_worker(own):
    job = own.submit("true", "-N2")
    own.wait_job(job, "COMPLETED")
    recorded(own, job)
    out = own.exec("compute-0", "sacct", "-n", "-X", "-j", job, "-o", "State", container="slurmd").stdout
    assert out.split() == ["COMPLETED"]
    assert "root" in own.exec("compute-0", "sacctmgr", "-n", "show", "user", container="slurmd").stdout
    assert "Utilization" in own.slurm("sreport", "cluster", "utilization").stdout
    steps = own.submit("srun sleep 1", "-N1")
    own.wait_job(steps, "COMPLETED")
    wait_for(lambda: own.slurm("sacct", "-n", "-P", "-j", f"{steps}.0", "-o", "AveRSS").stdout.strip(), "the step was measured")


def test_a_limit_of_a_qos_holds(own):
    own.slurm("sacctmgr", "-i", "modify", "qos", "normal", "set", "MaxJobsPerUser=1")
    stop = f"{own.share}/stop"
    try:
        first = own.submit(f"while [ ! -e {stop} ]; do sleep 0.2; done", "-n1")
        own.wait_job(first, "RUNNING")
        second = own.submit("true", "-n1")
        wait_for(lambda: "QOSMaxJobsPerUserLimit" in own.slurm("squeue", "-h", "-j", second, "-o", "%r").stdout,
                 "the second job waits for the limit")
        own.slurm("sacctmgr", "-i", "modify", "qos", "normal", "set", "MaxJobsPerUser=-1")
        own.wait_job(second, "COMPLETED", LONG_S)
    finally:
        with open(stop, "w", encoding="ascii"):
            pass
    own.wait_job(first, "COMPLETED")


def test_jobs_live_without_the_database_and_their_records_come_later(own):
    server = pid_of(own, "mariadbd")
    before = own.submit("sleep 4", "-n1")
    os.kill(server, signal.SIGSTOP)
    try:
        said = ready(own, status="False")
        assert "database" in said["message"], said
        jobs = [before] + [own.submit(f"echo {i}", "-n1", "-o", "/dev/null") for i in range(10)]
        for job in jobs:
            own.wait_job(job, "COMPLETED", LONG_S)
    finally:
        os.kill(server, signal.SIGCONT)
    ready(own)
    for job in jobs:
        recorded(own, job)


def test_a_killed_slurmdbd_comes_back_and_nothing_is_lost(own):
    ready(own)
    job = own.submit("sleep 2", "-n1")
    os.kill(pid_of(own, "slurmdbd"), signal.SIGKILL)
    more = own.submit("true", "-n1")
    own.wait_job(more, "COMPLETED", LONG_S)
    for one in (job, more):
        recorded(own, one)
    ready(own)


def test_a_killed_database_comes_back_and_nothing_is_lost(own):
    ready(own)
    job = own.submit("sleep 2", "-n1")
    os.kill(pid_of(own, "mariadbd"), signal.SIGKILL)
    own.wait_job(job, "COMPLETED", LONG_S)
    recorded(own, job)
    ready(own)


def test_slurmdbd_goes_along_when_the_key_changes(own):
    job = own.submit("sleep 5", "-n1")
    put(own, "slurm-auth-slurm", "slurm.key", secrets.token_urlsafe(64))
    wait_for(lambda: own.condition("controller", "slurm", "KeysCurrent")["reason"] != "Current", "the change begins", LONG_S)
    wait_for(lambda: own.condition("controller", "slurm", "KeysCurrent")["reason"] == "Current", "all have the new key", LONG_S)
    own.wait_job(job, "COMPLETED", LONG_S)
    recorded(own, job)
    notes = own.get("statefulset", "slurm-accounting")["spec"]["template"]["metadata"]["annotations"]
    assert notes["slurmkeeper.dev/key-stage"] == "1-sign", notes


def test_the_password_of_the_database_follows_its_secret(own):
    put(own, "slurm-database", "password", "a new#one\\'s")
    wait_for(lambda: "a new\\#one\\\\" in base64.b64decode(
        own.get("secret", "slurm-accounting")["data"]["slurmdbd.conf"]).decode(), "slurmdbd.conf has it")
    job = own.submit("true", "-n1")
    own.wait_job(job, "COMPLETED", LONG_S)
    recorded(own, job)
    ready(own)


def test_a_wrong_password_is_told_and_followed_when_it_is_mended(own):
    administer(own, "CREATE USER other IDENTIFIED BY 'r#ight'; GRANT ALL ON other_db.* TO other")
    own.apply(OTHER)
    said = ready(own, "other", "False", "SecretNotFound")
    assert "Secret other-pw" in said["message"]
    own.kubectl("create", "secret", "generic", "other-pw", "--from-literal=pw=wrong")
    said = ready(own, "other", "False", "DatabaseRefusesLogin")
    assert "Access denied for user 'other'" in said["message"]
    assert any(reason == "DatabaseRefusesLogin" for reason, _ in own.events("other"))
    put(own, "other-pw", "pw", "r#ight\n")
    said = ready(own, "other")
    assert "ends with a line break" in said["message"]
    refused = own.kubectl("patch", "accounting", "other", "--type=merge", "-p", '{"spec":{"extraConf":"StoragePass=x"}}',
                          check=False)
    assert refused.returncode != 0 and "passwordKeyRef" in refused.stderr
    own.kubectl("delete", "accounting", "other")


def test_an_external_slurmdbd_is_used(own):
    own.apply(FAR)
    try:
        wait_for(lambda: "default_far|6817" in own.slurm("sacctmgr", "-n", "-P", "show", "cluster", "format=cluster,controlport",
                                                         controller="default/slurm", check=False).stdout,
                 "the other cluster has registered with it", LONG_S)
    finally:
        own.kubectl("delete", "controller", "far")
        own.kubectl("delete", "accounting", "campus")
        wait_for(lambda: own.slurm("sinfo", check=False).returncode == 0, "one cluster is left")


def test_the_database_is_saved_and_put_back(own):
    """docs/accounting.md, "Backup"."""
    job = own.submit("true", "-n1")
    own.wait_job(job, "COMPLETED", LONG_S)
    recorded(own, job)
    dump = own.exec("slurm-database-0", "mariadb-dump", "--defaults-file=/run/mysqld/client.cnf", "--single-transaction",
                    "slurm_acct_db").stdout
    assert "default_slurm_job_table" in dump
    administer(own, "DELETE FROM slurm_acct_db.default_slurm_job_table")
    wait_for(lambda: not sacct(own, "-j", job, "-o", "State").stdout.split(), "the record is gone")
    own.kubectl("exec", "-i", "slurm-database-0", "--", "mariadb", "--defaults-file=/run/mysqld/client.cnf", "slurm_acct_db",
                input=dump)
    own.kubectl("delete", "pod", "slurm-accounting-0")
    recorded(own, job)


def test_what_is_deleted_leaves_its_data_and_finds_it_again(own):
    job = own.submit("true", "-n1")
    own.wait_job(job, "COMPLETED", LONG_S)
    recorded(own, job)
    own.kubectl("delete", "accounting", "slurm")
    wait_for(lambda: not own.get("pod", "slurm-database-0", check=False), "the database's pod is gone", LONG_S)
    assert own.get("persistentvolumeclaim", "data-slurm-database-0")
    later = own.submit("true", "-n1")
    own.wait_job(later, "COMPLETED", LONG_S)
    assert "accounting_storage/slurmdbd" in own.slurm("scontrol", "show", "config").stdout
    own.apply(MANIFEST.split("---")[0])
    ready(own)
    for one in (job, later):
        recorded(own, one)


def test_a_backup_has_the_records(own):
    """Into another state directory, on this machine: no file of the running database is copied, and all records are there."""
    job = own.submit("true", "-n1")
    own.wait_job(job, "COMPLETED", LONG_S)
    recorded(own, job)
    queue_is_empty(own)
    # without -j sacct passes over a job whose record is not whole yet: slurmctld tells when it was eligible last
    kept = wait_for(lambda: [out for out in [sacct(own, "-o", "JobID,State").stdout] if f"{job}|COMPLETED" in out], "it is listed")[0]
    own.slurmkeeper("backup", f"{own.share}/backup.tar", timeout=LONG_S)
    names = run("tar", "-tf", f"{own.share}/backup.tar", check=False).stdout.split()
    assert any(n.endswith("/dump.sql") for n in names) and not any("ibdata1" in n for n in names), names
    own.slurmkeeper("down", "--purge", "--force", "--grace", "1")
    own.slurmkeeper("restore", f"{own.share}/backup.tar", timeout=LONG_S)
    own.up("--accounting", timeout=str(LONG_S))
    ready(own)
    answers(own)
    wait_for(lambda: sacct(own, "-o", "JobID,State").stdout == kept, "all records are back", 60)
