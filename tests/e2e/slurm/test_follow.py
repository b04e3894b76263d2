# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods follow the machine: its users, its software, its settings; all of them alike, while they run."""
import os
import pwd
import shutil
import subprocess
import uuid

import pytest

from local import run, wait_for

NAME = f"skt{uuid.uuid4().hex[:6]}"


@pytest.fixture
def user(cluster):
    """Added after the cluster came up."""
    cluster.slurm("srun", "-N3", "true")
    run("useradd", "--no-create-home", "--shell", "/bin/sh", NAME)
    yield NAME
    run("userdel", NAME, check=False)
    run("groupdel", f"{NAME}g", check=False)


def as_new(name):
    """By its numbers: this test's own process read the users before."""
    out = run("id", "-u", name).stdout
    return {"user": int(out), "group": int(run("id", "-g", name).stdout), "extra_groups": []}


def test_a_new_user_runs_jobs_at_once(cluster, user):
    env = cluster.env()
    done = wait_for(lambda: (lambda d: d if d.returncode == 0 else None)(
        subprocess.run(["srun", "-N3", "id", "-un"], env=env, cwd=cluster.share, capture_output=True, text=True,
                       check=False, **as_new(user))), "the user's job runs")
    assert done.stdout.split() == [user] * 3
    run("groupadd", f"{user}g")
    wait_for(lambda: cluster.slurm("srun", "-N3", "getent", "group", f"{user}g", check=False).stdout.count(user) == 3,
             "the group is known everywhere")


def test_a_removed_user_is_gone(cluster, user):
    wait_for(lambda: cluster.slurm("srun", "-N3", "id", user, check=False).returncode == 0, "it is known")
    run("userdel", user)
    wait_for(lambda: cluster.slurm("srun", "-N3", "getent", "passwd", user, check=False).stdout == "", "it is gone")
    with pytest.raises(KeyError):
        pwd.getpwnam(user)


@pytest.mark.parametrize("top", ["/usr/local/lib", "/opt"])
def test_software_that_is_installed_is_there_everywhere(cluster, top):
    place = f"{top}/{NAME}"
    assert cluster.slurm("srun", "-N3", "ls", place, check=False).returncode != 0
    os.mkdir(place)
    try:
        with open(f"{place}/program", "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho one\n")
        os.chmod(f"{place}/program", 0o755)
        assert cluster.slurm("srun", "-N3", f"{place}/program").stdout == "one\n" * 3
        with open(f"{place}/new", "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho two\n")
        os.chmod(f"{place}/new", 0o755)
        os.rename(f"{place}/new", f"{place}/program")
        assert cluster.slurm("srun", "-N3", f"{place}/program").stdout == "two\n" * 3
    finally:
        shutil.rmtree(place)
    assert cluster.slurm("srun", "-N3", "ls", place, check=False).returncode != 0


def test_settings_come_change_and_go(cluster):
    path = f"/etc/{NAME}.conf"

    def seen():
        return cluster.slurm("srun", "-N3", "sh", "-c", f"cat {path} 2>/dev/null || echo none").stdout.split()
    assert seen() == ["none"] * 3
    try:
        for text in ("first", "second"):
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"{text}\n")
            wait_for(lambda: seen() == [text] * 3, f"all see {text}")
        os.chmod(path, 0o600)
        wait_for(lambda: seen() == ["none"] * 3, "what is private is not seen any more")
    finally:
        os.remove(path)
    wait_for(lambda: seen() == ["none"] * 3, "it is gone")


def test_a_pods_own_changes_stay_with_it(cluster):
    cluster.exec("compute-0", "sh", "-c", "cp /etc/hostname /etc/mine; cp --remove-destination /etc/passwd /etc/passwd.n; "
                 "echo alien:x:77777:7::/:/bin/sh >> /etc/passwd.n; mv /etc/passwd.n /etc/passwd; id alien; rm /etc/passwd; "
                 "ln -s /.etc/passwd /etc/passwd")
    assert not os.path.exists("/etc/mine")
    assert cluster.exec("compute-1", "id", "alien", check=False).returncode != 0
    assert cluster.exec("compute-0", "sh", "-c", "echo x >> /etc/passwd", check=False).returncode != 0
