# SPDX-License-Identifier: GPL-2.0-or-later
"""Files with which slurmd cannot start: it goes on with those before, and the NodeSet says so."""
import json

import pytest

import release
from local import Local, wait_for

GROUPS = "CgroupPlugin=autodetect\nIgnoreSystemd=yes\n"
BAD = {"cgroup.conf": GROUPS + "CgroupMountpoint=/nowhere\n"}


@pytest.fixture(scope="module")
def own():
    with Local("f") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "NodesApplied", "True")
        wait_for(lambda: c.exec("compute-0", "ls", "/var/log/slurm/last-good/conf-cache", container="slurmd",
                                check=False).returncode == 0, "its files are known to be good", 60)
        yield c


def put(c, files):
    c.kubectl("patch", "configmap", "slurm-files", "--type", "merge", "-p", json.dumps({"data": files}))
    marks = {name: text.splitlines()[-1] for name, text in files.items() if text}
    for name, mark in marks.items():
        wait_for(lambda name=name, mark=mark: mark in c.exec(
            "compute-0", "cat", f"/var/spool/slurmd/conf-cache/{name}", container="slurmd", check=False).stdout,
            f"slurmd has {name}", 60)


def end_slurmd(c):
    """The container ends with it, and the next one starts it again."""
    c.wait_ready("compute-0", seconds=60)
    c.exec("compute-0", "sh", "-c", "kill $(cat /run/slurm/daemon.pid)", container="slurmd")


def test_a_file_that_slurmd_does_not_start_with(own):
    good = own.get("configmap", "slurm-files")["data"]["cgroup.conf"]
    put(own, {"cgroup.conf": BAD["cgroup.conf"]})
    try:
        end_slurmd(own)
        wait_for(lambda: own.condition("nodeset", "compute", "NodesApplied")["reason"] == "FilesRefused", "it says so", 60)
        c = own.condition("nodeset", "compute", "NodesApplied")
        assert "compute-0" in c["message"] and "not mounted" in c["message"], c
        own.wait_idle("compute-0", seconds=60)
        assert own.slurm("srun", "-w", "compute-0", "hostname", timeout=60).stdout == "compute-0\n"
    finally:
        own.kubectl("patch", "configmap", "slurm-files", "--type", "merge", "-p", json.dumps({"data": {"cgroup.conf": good}}))
    wait_for(lambda: own.condition("nodeset", "compute", "NodesApplied")["reason"] == "AsDeclared", "all is well again", 120)
    comment = own.slurm("scontrol", "show", "node", "compute-0").stdout
    assert "files refused" not in comment
    own.wait_idle("compute-0", seconds=60)


def test_what_else_changed_is_taken(own):
    """The slurm.conf of now goes with the other files of before."""
    good = own.get("configmap", "slurm-files")["data"]["cgroup.conf"]
    conf = own.get("controller", "slurm")["spec"]["extraConf"]
    put(own, {"cgroup.conf": BAD["cgroup.conf"]})
    try:
        own.kubectl("patch", "controller", "slurm", "--type", "merge", "-p",
                    json.dumps({"spec": {"extraConf": conf + "KillWait=77\n"}}))
        wait_for(lambda: "KillWait=77" in own.exec("compute-0", "cat", "/var/spool/slurmd/conf-cache/slurm.conf",
                                                   container="slurmd").stdout, "slurmd has it", 60)
        end_slurmd(own)
        wait_for(lambda: own.condition("nodeset", "compute", "NodesApplied")["reason"] == "FilesRefused", "it says so", 60)
        held = own.exec("compute-0", "sh", "-c", "cat /run/slurm/conf/slurm.conf /run/slurm/conf/cgroup.conf",
                        container="slurmd").stdout
        assert "KillWait=77" in held and "/nowhere" not in held
    finally:
        own.kubectl("patch", "configmap", "slurm-files", "--type", "merge", "-p", json.dumps({"data": {"cgroup.conf": good}}))


def test_a_plugins_own_file_that_slurmd_cannot_read(own):
    """slurmctld never reads it, so that nothing finds the fault before slurmd does."""
    wait_for(lambda: own.condition("nodeset", "compute", "NodesApplied")["reason"] == "AsDeclared", "all is well", 120)
    conf = own.get("controller", "slurm")["spec"]["extraConf"]
    plugin = "JobContainerType=job_container/tmpfs\nPrologFlags=Contain\n"
    put(own, {"job_container.conf": "Nothing=1\n"})
    try:
        own.kubectl("patch", "controller", "slurm", "--type", "merge", "-p", json.dumps({"spec": {"extraConf": conf + plugin}}))
        own.wait_applied()
        if not release.has("service"):  # from then on slurmd starts itself again to read its files
            end_slurmd(own)
        wait_for(lambda: own.condition("nodeset", "compute", "NodesApplied")["reason"] == "FilesRefused", "it says so", 60)
        assert "job_container.conf" in own.condition("nodeset", "compute", "NodesApplied")["message"]
        own.wait_idle("compute-0", seconds=60)
    finally:
        own.kubectl("patch", "controller", "slurm", "--type", "merge", "-p", json.dumps({"spec": {"extraConf": conf}}))
        own.kubectl("patch", "configmap", "slurm-files", "--type", "merge", "-p", json.dumps({"data": {"job_container.conf": None}}))
    wait_for(lambda: own.condition("nodeset", "compute", "NodesApplied")["reason"] == "AsDeclared", "all is well again", 180)
    own.wait_idle("compute-0", seconds=60)
    assert own.slurm("srun", "-w", "compute-0", "hostname", timeout=60).stdout == "compute-0\n"
