# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld under supervisord, as Slinky's images have it: what ended well stays down, unless somebody sees to it.

supervisord is Debian's, with a configuration of the same kind as theirs.
"""
import json
import time

import pytest

import release
from local import Local, wait_for

SLURMCTLD = {True: "slurmctld --systemd", False: "slurmctld -D"}[release.has("service")]
START = f"""
mkdir -p /run/supervised /run/munge
exec 2>&1
cat >/run/supervised/listen <<'END'
import os, socket
path = '/run/supervised/notify'
if os.path.exists(path): os.unlink(path)
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(path)
while True: s.recv(4096)
END
cat >/run/supervised/conf <<'END'
[supervisord]
nodaemon=true
pidfile=/run/supervised/pid
logfile=/dev/null
logfile_maxbytes=0
[program:listen]
command=/usr/bin/python3 -S /run/supervised/listen
priority=1
[program:slurmctld]
environment=NOTIFY_SOCKET="/run/supervised/notify"
command=bash -c "exec {SLURMCTLD}"
stdout_logfile=/dev/fd/1
stderr_logfile=/dev/fd/2
stdout_logfile_maxbytes=0
stderr_logfile_maxbytes=0
stopasgroup=true
END
until [ -r /etc/slurm/slurm.conf ]; do sleep 0.1; done
if [ -r /etc/slurm/munge.key ]; then
    install -m 0400 /etc/slurm/munge.key /run/supervised/key
    munged --force --key-file=/run/supervised/key --socket=/run/munge/munge.socket.2 --pid-file=/run/supervised/munged \
        --seed-file=/run/supervised/seed --log-file=/run/supervised/munged.log
fi
exec supervisord -c /run/supervised/conf
"""
CONTROLLER = {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "Controller", "metadata": {"name": "slurm"},
              "spec": {"extraConf": "ReturnToService=2", "slurmctld": {"command": ["bash", "-c", START]}}}
NODESET = {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet", "metadata": {"name": "compute"},
           "spec": {"controllerRef": {"name": "slurm"}, "replicas": 1, "partition": {"config": "Default=YES"}}}


@pytest.fixture(scope="module", name="own")
def a_supervised_cluster(machine):
    with Local("sv") as c:
        path = f"{c.share}/cluster.json"
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"apiVersion": "v1", "kind": "List", "items": [CONTROLLER, NODESET]}, f)
        c.up("-f", path)
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def declare(c, *lines):
    conf = "\n".join(("ReturnToService=2",) + lines)
    c.kubectl("patch", "controller", "slurm", "--type=merge", "-p", json.dumps({"spec": {"extraConf": conf}}))


def config_of(c, key):
    out = c.slurm("scontrol", "show", "config", check=False).stdout
    return next((line.split("=", 1)[1].strip() for line in out.splitlines() if line.split("=")[0].strip() == key), None)


def containers_started(c):
    return [s["restartCount"] for s in c.get("pod", "slurm-controller-0")["status"]["containerStatuses"]]


def boot_time(c):
    return config_of(c, "BOOT_TIME")


def restart(c, setting):
    """By a setting that slurmctld takes only when it starts.  From 23.11 on a Controller can declare none, and keys
    are what slurmctld is started again for: here the marker is set and slurmctld ended as the agent does it."""
    before = boot_time(c)
    assert before
    time.sleep(1.1)  # the time is told in seconds
    if release.has("service"):
        c.exec("slurm-controller-0", "sh", "-c", "touch /run/slurmctld/restart && scontrol shutdown slurmctld", container="slurmctld")
    else:
        declare(c, *setting)
    wait_for(lambda: boot_time(c) not in (None, before), "slurmctld has been started again", 40)
    wait_for(lambda: c.exec("slurm-controller-0", "ls", "/run/slurmctld/restart", container="slurmctld", check=False).returncode,
             "nothing is left to do")


def test_a_restart_does_not_wait_for_the_liveness_probe(own):
    job = own.submit(f"while [ ! -e {own.share}/stop ]; do sleep 0.2; done", "-n1")
    own.wait_job(job, "RUNNING")
    # after a reconfigure it is another process that runs (from 23.11 on), and supervisord does not know it
    declare(own, "MessageTimeout=17")
    wait_for(lambda: (config_of(own, "MessageTimeout") or "").startswith("17"), "a reconfigure")
    before = containers_started(own)
    restart(own, ["MessageTimeout=17", "MaxNodeCount=2000"])
    own.wait_applied()
    assert containers_started(own) == before
    assert own.job_state(job) == "RUNNING"
    with open(f"{own.share}/stop", "w", encoding="utf-8"):
        pass
    own.wait_job(job, "COMPLETED")
    assert own.slurm("srun", "-N1", "hostname").stdout.split() == ["compute-0"]


def test_the_next_one_is_seen_to_as_well(own):
    before = containers_started(own)
    restart(own, ["MessageTimeout=17", "MaxNodeCount=2100"])
    own.wait_applied()
    assert containers_started(own) == before
    assert own.slurm("srun", "-N1", "hostname").stdout.split() == ["compute-0"]
