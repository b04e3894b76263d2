# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine is left alone: while a cluster runs, and even more so when it is gone."""
import glob
import hashlib
import os
import shutil
import subprocess

import pytest

from local import PROGRAM, Local, nodeset, run, wait_for

FILES = ["/etc/slurm", "/etc/slurm-llnl", "/etc/munge", "/etc/hosts", "/etc/resolv.conf", "/etc/passwd", "/etc/group",
         "/var/spool/slurmd", "/var/spool/slurmctld", "/var/lib/slurm", "/var/lib/munge", "/run/munge"]


def digest(path):
    """Names, owners, modes and contents below a path."""
    h = hashlib.sha256()
    for base, dirs, files in os.walk(path) if os.path.isdir(path) else [(os.path.dirname(path), [],
                                                                         [os.path.basename(path)])]:
        dirs.sort()
        for name in sorted(dirs + files):
            full = os.path.join(base, name)
            if not os.path.lexists(full):
                continue
            st = os.lstat(full)
            h.update(f"{full} {st.st_mode} {st.st_uid} {st.st_gid}".encode())
            if os.path.isfile(full) and not os.path.islink(full):
                with open(full, "rb") as f:
                    h.update(f.read())
    return h.hexdigest()


def output(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def foreign_rules():
    """Every firewall rule that is not of some cluster of ours."""
    text = output("nft", "list", "ruleset")
    if shutil.which("iptables-save"):
        text += output("iptables-save")
    kept, skip = [], False
    for line in text.splitlines():
        if line.startswith("table "):
            skip = "slurmkeeper_" in line
        if not skip and not line.startswith("#") and "[" not in line:
            kept.append(line)
    return kept


def belongings(name, state, share):
    """What the machine has of a cluster: by its names and directories."""
    found = []
    found += [line for line in open("/proc/self/mountinfo") if state in line or share in line]
    found += [line for line in output("ip", "-o", "link").splitlines() if f"sk-{name}" in line]
    found += [line for line in output("nft", "list", "tables").splitlines() if name in line]
    found += [p for p in glob.glob("/sys/fs/cgroup/**/slurmkeeper-*", recursive=True) if name in p]
    found += glob.glob(f"/run/netns/*{name}*")
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{path}/cmdline", "rb") as f:
                words = f.read().decode(errors="replace")
            with open(f"{path}/cgroup") as f:
                groups = f.read()
        except OSError:
            continue
        if (state in words and "pytest" not in words) or f"slurmkeeper-{name}/" in groups:
            found.append(words.replace("\0", " "))
    return found


def pod_interfaces():
    return {line.split(":")[1].split("@")[0].strip() for line in output("ip", "-o", "link").splitlines() if "skv" in line}


def forwarding():
    with open("/proc/sys/net/ipv4/ip_forward") as f:
        return f.read()


def test_nothing_is_left_and_nothing_was_touched():
    before = {path: digest(path) for path in FILES}
    forwarded = forwarding()
    rules = foreign_rules()
    with Local("m") as c:
        c.up()
        c.apply(nodeset("more", replicas=1, partition={"enabled": True}, volumeClaimTemplates=[
            {"metadata": {"name": "scratch"}, "spec": {"accessModes": ["ReadWriteOnce"],
                                                       "resources": {"requests": {"storage": "1Gi"}}}}],
            slurmd={"volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}))
        c.wait_idle("more-0", "compute-0")
        job = c.submit("sleep 600", "-N1", "-o", "/dev/null")
        c.wait_job(job, "RUNNING")
        assert belongings(c.name, c.state, c.share)
        assert forwarding() == "1\n"
        assert {path: digest(path) for path in FILES} == before
        assert foreign_rules() == rules
        uids = os.listdir(f"{c.state}/node/pods")
        assert len(uids) == 5
        done = c.slurmkeeper("down", "--purge", "--force", "--grace", "1")
        assert done.stdout == ""
        assert not os.path.exists(c.state)
        wait_for(lambda: not belongings(c.name, c.state, c.share), "nothing is left")
        assert not [i for i in pod_interfaces() if any(u.replace("-", "").startswith(i[3:]) for u in uids)]
        if "sk-" not in output("ip", "-o", "link"):  # another cluster that came meanwhile needs it
            assert forwarding() == forwarded
        again = c.slurmkeeper("down", "--purge")
        assert "there is no cluster" in again.stderr
    assert {path: digest(path) for path in FILES} == before
    assert foreign_rules() == rules


def test_down_without_purge_leaves_only_what_was_declared():
    with Local("n") as c:
        c.up()
        c.slurmkeeper("down")
        wait_for(lambda: not belongings(c.name, c.state, c.share), "nothing runs")
        assert os.path.exists(f"{c.state}/api.db")
        assert not os.path.exists(f"{c.state}/clients")
        done = c.slurmkeeper("env", check=False)
        assert done.returncode == 1 and "slurmkeeper up" in done.stderr
        assert c.slurmkeeper("status", check=False).returncode == 1


def test_what_the_caller_has_open_is_not_kept_open(tmp_path):
    """Else a lock that somebody holds while bringing the cluster up would be held for as long as it runs."""
    with Local("fd") as c, open(tmp_path / "lock", "w") as lock:
        c.up(pass_fds=[lock.fileno()])
        for verb in ("serve", "apiserver", "operator", "node"):
            held = [os.readlink(fd) for fd in glob.glob(f"/proc/{c.process(verb)}/fd/*") if os.path.lexists(fd)]
            assert held and lock.name not in held, verb


def test_a_cluster_that_was_killed_outright_is_purged():
    with Local("k") as c:
        c.up()
        for verb in ("serve", "node", "operator", "apiserver"):
            pid = c.process(verb)
            if pid:
                os.kill(pid, 9)
        wait_for(lambda: c.process("apiserver") is None, "they are gone")
        assert belongings(c.name, c.state, c.share)
        refused = c.slurmkeeper("down", "--purge", "--grace", "1", check=False)
        assert refused.returncode != 0 and "nobody serves the cluster" in refused.stderr
        c.slurmkeeper("down", "--purge", "--force", "--grace", "1")
        wait_for(lambda: not belongings(c.name, c.state, c.share), "nothing is left")


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(os.path.dirname(__file__), "../../../examples/*.yaml"))),
                         ids=os.path.basename)
def test_every_example_renders(path):
    done = run(PROGRAM, "render", "-f", path, check=False)
    assert done.returncode == 0, done.stderr


def test_help_names_every_verb():
    text = run(PROGRAM, "help").stdout
    for verb in ("up", "down", "env", "status", "render", "version", "serve", "apiserver", "operator", "node"):
        assert f"\n  {verb} " in text, text
        assert run(PROGRAM, verb, "--help").stdout
    assert run(PROGRAM, "version").stdout.strip()
    assert run(PROGRAM, "nonsense", check=False).returncode == 2
    assert run(PROGRAM, "up", "--nonsense", check=False).returncode == 2
    assert shutil.which("bash") and run("bash", "-c", f"source <({PROGRAM} completion)")


def test_a_machine_without_a_network_is_enough():
    """No route but to itself: what is sent to a Service still finds its way."""
    with Local("o") as c:
        net = f"/run/netns/sk-test-{c.name}"
        inside = ["nsenter", f"--net={net}"]
        run("ip", "netns", "add", os.path.basename(net))
        try:
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, PROGRAM, "up", "--state", c.state, "--name", c.name, "--share", c.share, "--timeout", "60")
            environment = {**os.environ, **c.env()}
            done = run(*inside, "srun", "-N3", "hostname", env=environment)
            assert sorted(done.stdout.split()) == ["compute-0", "compute-1", "compute-2"]
            run(*inside, PROGRAM, "down", "--state", c.state, "--purge", "--force")
            assert run(*inside, "ip", "route").stdout == ""
        finally:
            run(*inside, PROGRAM, "down", "--state", c.state, "--purge", "--force", check=False)
            run("ip", "netns", "del", os.path.basename(net))
