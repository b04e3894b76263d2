# SPDX-License-Identifier: GPL-2.0-or-later
"""People log in by ssh, are known from a directory (real slapd with TLS, real sssd), submit jobs, and are not thrown out."""
import base64
import json
import os
import secrets
import signal
import tempfile

import pytest

import directory
import people
from local import RUN, read_until, run, wait_for
from people import CONTROLLER, LOGIN, LONG_S, Session, address, inside, login, pods, ssh

LOCAL = f"lg{RUN}"


@pytest.fixture(scope="module", name="own")
def a_cluster(machine):
    directory.need()
    with people.cluster("l") as c:
        yield c


@pytest.fixture(autouse=True)
def quiet(own):
    """Each test begins when the logins are as declared and no job is left."""
    yield
    own.slurm("scancel", "-t", "pending,running", "-u", "alice,bob", check=False)


# who can log in, and as whom


def test_root_logs_in_by_a_declared_key(own):
    assert ssh(own, "root", "id", "-u", key="root").stdout == "0\n"
    assert ssh(own, "root", "id", key="alice", check=False).returncode == 255


def test_a_user_of_the_directory_logs_in_by_key_and_by_password(own):
    for how in ({"key": "alice"}, {"password": directory.PASSWORD}):
        out = ssh(own, "alice", "id; pwd; stat -c %a .", **how).stdout.split("\n")
        assert out[0] == "uid=21001(alice) gid=21001(alice) groups=21001(alice),31001(physics)"
        assert out[1:3] == [f"{own.home}/alice", "700"]  # the home directory was made
    assert "uid=21002(bob)" in ssh(own, "bob", "id", password=directory.PASSWORD).stdout
    for how in ({"password": "wrong"}, {"key": "root"}):
        assert ssh(own, "alice", "id", check=False, **how).returncode in (5, 255)


def test_names_come_from_the_directory_after_the_machines_own(own):
    assert inside(own, "getent", "passwd", "alice").stdout == \
        f"alice:*:21001:21001:alice:{own.home}/alice:/bin/bash\n"
    assert inside(own, "getent", "passwd", "root").stdout.startswith("root:x:0:0:")
    assert inside(own, "getent", "group", "physics").stdout == "physics:*:31001:alice\n"
    assert inside(own, "su", "-", "alice", "-c", "whoami; id -Gn; pwd").stdout.split("\n")[:3] == \
        ["alice", "alice physics", f"{own.home}/alice"]


def test_a_local_account_logs_in_beside_those_of_the_directory(own):
    """A user of the image (here: of the machine) with a key in his home."""
    home = f"{own.share}/home/{LOCAL}"
    run("useradd", "-M", "-d", home, "-s", "/bin/bash", LOCAL)
    try:
        run("sh", "-c", f"install -d -m 700 -o {LOCAL} {home} {home}/.ssh && "
            f"install -m 600 -o {LOCAL} {own.where}/local.pub {home}/.ssh/authorized_keys")
        own.apply(login("local", annotations={"slurmkeeper.dev/session-grace": "1"}))
        own.wait_condition("loginset", "local", "Ready", "True", seconds=LONG_S)
        assert ssh(own, LOCAL, "whoami", host=address(own, "local"), key="local").stdout == f"{LOCAL}\n"
        assert ssh(own, "alice", "whoami", host=address(own, "local"), key="alice").stdout == "alice\n"
    finally:
        own.kubectl("delete", "loginset", "local", "--ignore-not-found")
        run("userdel", LOCAL)
    wait_for(lambda: not pods(own, "local"), "its pods are gone")


# Slurm


def test_a_job_of_such_a_user_runs_as_him(own):
    script = "'id; hostname; sleep 0.1'"
    job = ssh(own, "alice", f"sbatch --parsable -o out.%j --wrap {script}", key="alice").stdout.strip()
    own.wait_job(job, "COMPLETED", seconds=LONG_S)
    out = ssh(own, "alice", f"cat out.{job}", key="alice").stdout.split("\n")
    assert out[0] == "uid=21001(alice) gid=21001(alice) groups=21001(alice),31001(physics)"
    assert out[1].startswith("compute-")
    assert os.stat(f"{own.home}/alice/out.{job}").st_uid == 21001
    hosts = ssh(own, "alice", "srun -N2 sh -c 'hostname; id -un'", key="alice").stdout.split()
    assert sorted(hosts) == ["alice", "alice", "compute-0", "compute-1"]


def test_the_login_follows_slurm_conf(own):
    uids = set(pods(own))
    own.apply(CONTROLLER.replace("ReturnToService=2", "ReturnToService=2\\nMaxArraySize=77"))
    wait_for(lambda: "= 77" in inside(own, "sh", "-c", "grep MaxArraySize /etc/slurm/slurm.conf && "
                                      "scontrol show config | grep MaxArraySize", check=False).stdout,
             "the login has it", LONG_S)
    own.apply(CONTROLLER)
    assert set(pods(own)) == uids


def test_nobody_but_root_reads_the_key(own):
    assert ssh(own, "alice", "cat /etc/slurm/slurm.conf >/dev/null && echo yes", key="alice").stdout == "yes\n"
    for file in ("/etc/slurm/munge.key", "/etc/slurm/munge.ring", "/etc/sssd/sssd.conf", "/etc/ssh/ssh_host_rsa_key"):
        done = ssh(own, "alice", f"cat {file}", key="alice", check=False)
        assert done.returncode and "denied" in done.stderr, file


# workers


def test_only_who_has_a_job_on_a_worker_comes_in(own):
    hosts = [own.get("pod", f"compute-{i}")["status"]["podIP"] for i in range(2)]
    for host in hosts:
        done = ssh(own, "alice", "id", host=host, key="alice", check=False)
        assert done.returncode == 255, done.stdout
    job = ssh(own, "alice", "sbatch --parsable -o /dev/null -w compute-1 --wrap 'sleep 300'", key="alice").stdout.strip()
    own.wait_job(job, "RUNNING", seconds=LONG_S)
    out = wait_for(lambda: ssh(own, "alice", "id -un; cat /proc/self/cgroup", host=hosts[1], key="alice",
                               check=False).stdout, "alice is let in")
    assert out.startswith("alice\n") and f"/uid_21001/job_{job}/step_extern" in out
    for user, host, how in (("alice", hosts[0], {"key": "alice"}), ("bob", hosts[1], {"password": directory.PASSWORD})):
        assert ssh(own, user, "id", host=host, check=False, **how).returncode in (5, 255)
    with Session(own, "alice", hosts[1], key="alice") as s:
        own.slurm("scancel", job)
        own.wait_job(job, "CANCELLED", seconds=LONG_S)
        s.child.wait(60)  # what he did there was the job's


# changes


def test_sessions_and_keys_survive_operator_and_rotation(own):
    key = secrets.token_urlsafe(64)
    before = set(pods(own))
    with Session(own, "alice", key="alice") as s:
        os.kill(own.process("operator"), signal.SIGKILL)
        data = base64.b64encode(key.encode()).decode()
        wait_for(lambda: own.kubectl("patch", "secret", "slurm-auth-slurm", "--type=merge", "-p",
                                     f'{{"data":{{"slurm.key":"{data}"}}}}', check=False).returncode == 0, "it is patched")

        def is_current():
            said = own.condition("controller", "slurm", "KeysCurrent")
            live = base64.b64decode(own.get("secret", "slurm-keys")["data"]["current"]).decode()
            assert "compute" in s.ask("sinfo -h")  # at every stage
            return said and said["reason"] == "Current" and live == key
        wait_for(is_current, "all have the new key", 120)
        assert "compute-" in s.ask("srun hostname")
    assert set(pods(own)) == before


def host_keys(c, name=LOGIN):
    scan = run("ssh-keyscan", "-t", "rsa,ecdsa,ed25519", address(c, name)).stdout
    return {line.split()[1]: line.split()[2] for line in scan.splitlines() if not line.startswith("#")}


def test_host_keys_are_made_once(own):
    secret = own.get("secret", f"{LOGIN}-ssh-host-keys")
    seen = host_keys(own)
    assert len(seen) == 3 and secret["immutable"]
    for kind in ("rsa", "ecdsa", "ed25519"):
        path = f"{own.where}/{kind}"
        with open(path, "wb") as f:
            f.write(base64.b64decode(secret["data"][f"ssh_host_{kind}_key"]))
        os.chmod(path, 0o600)
        public = base64.b64decode(secret["data"][f"ssh_host_{kind}_key.pub"]).decode().split()
        assert run("ssh-keygen", "-y", "-f", path).stdout.split()[:2] == public[:2]
        assert seen[public[0]] == public[1]
    old = set(pods(own))
    own.kubectl("delete", "pod", *old, "--wait=false")
    wait_for(lambda: not set(pods(own)) & old, "the pod is another one", LONG_S)
    own.wait_condition("loginset", LOGIN, "Ready", "True", seconds=LONG_S)
    assert wait_for(lambda: host_keys(own), "it answers") == seen


def test_a_pod_that_goes_tells_its_sessions_and_waits_for_them(own):
    old = set(pods(own))
    with Session(own, "alice", key="alice") as s:
        own.apply(login(rootSshAuthorizedKeys=own.root_key, extraSshdConfig="MaxSessions 7"))
        seen = read_until(s.child, r"is to be stopped", LONG_S)
        assert "log in again" in seen or "log in again" in s.ask("true")
        new = wait_for(lambda: {n for n, p in pods(own).items() if "deletionTimestamp" not in p["metadata"]} - old,
                       "there is a new pod")
        own.wait_condition("loginset", LOGIN, "Updated", "True", seconds=LONG_S)
        assert ssh(own, "alice", "hostname", key="alice").stdout.strip() in new
        assert old & set(pods(own))  # the old one is there as long as alice is
        assert any(o in s.ask("hostname") for o in old)
    wait_for(lambda: not old & set(pods(own)), "it goes when she has gone", LONG_S)
    assert "maxsessions 7" in inside(own, "sshd", "-T").stdout


def test_a_changed_sssd_conf_makes_the_pods_again(own):
    old = set(pods(own))
    text = directory.SSSD + "override_shell = /bin/sh\n"
    own.apply(json.dumps(directory.item("Secret", "sssd-conf", stringData={"sssd.conf": text})))
    wait_for(lambda: pods(own) and not set(pods(own)) & old, "they are others", LONG_S)
    own.wait_condition("loginset", LOGIN, "Updated", "True", seconds=LONG_S)
    assert inside(own, "getent", "passwd", "alice").stdout.endswith(":/bin/sh\n")
    own.apply(json.dumps(directory.item("Secret", "sssd-conf", stringData={"sssd.conf": directory.SSSD})))
    own.wait_condition("loginset", LOGIN, "Updated", "True", seconds=LONG_S)


def test_two_replicas_and_a_service_for_both(own):
    own.kubectl("scale", f"loginset/{LOGIN}", "--replicas=2")
    try:
        wait_for(lambda: own.get("loginset", LOGIN)["status"].get("readyReplicas") == 2, "there are two", LONG_S)
        seen = own.get("loginset", LOGIN)["status"]
        assert seen["replicas"] == 2 and seen["selector"] == \
            f"app.kubernetes.io/instance={LOGIN},app.kubernetes.io/name=login"

        def hosts():
            found.add(ssh(own, "alice", "hostname", key="alice").stdout.strip())
            return len(found) == 2
        found = set()
        wait_for(hosts, "the Service leads to both, with one host key", LONG_S)
    finally:
        own.kubectl("scale", f"loginset/{LOGIN}", "--replicas=1")
    wait_for(lambda: len(pods(own)) == 1, "one is left", LONG_S)


# what is wrong is told


def test_what_keeps_a_login_from_starting_is_in_its_condition(own):
    old = set(pods(own))
    for change, words in (({"extraSshdConfig": "NoSuchWord yes"}, "sshd does not start with the sshd_config that is declared"),
                          ({"sssdConfRef": {"name": "nowhere", "key": "sssd.conf"}}, "Secret nowhere with a key sssd.conf")):
        own.apply(login(rootSshAuthorizedKeys=own.root_key, **change))

        def told(words=words):
            said = [own.condition("loginset", LOGIN, t) or {} for t in ("Ready", "Updated")]
            return [s for s in said if words in s.get("message", "")]
        wait_for(told, words, LONG_S)
        assert old & set(pods(own))  # what ran before goes on
        assert ssh(own, "alice", "id -un", key="alice").stdout == "alice\n"
    own.apply(login(rootSshAuthorizedKeys=own.root_key))
    own.wait_condition("loginset", LOGIN, "Ready", "True", seconds=LONG_S)
    own.wait_condition("loginset", LOGIN, "Updated", "True", seconds=LONG_S)


def test_a_missing_package_is_named():
    scripts = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../images/entrypoint/lib/users.sh")
    for step, words in (("need no-such-sshd openssh-server", "no-such-sshd is not installed: install the package openssh-server"),
                        ("need_library security/no_such.so libpam-sss", "no_such.so is not installed: install the package libpam-sss")):
        done = run("bash", "-c", f". {scripts}; {step}; echo went on", check=False)
        assert done.returncode == 1 and words in done.stderr and not done.stdout


def test_workers_are_found_by_their_names(own):
    out = inside(own, "getent", "hosts", "compute-0", "compute-1").stdout.split()
    assert own.get("pod", "compute-0")["status"]["podIP"] in out


def test_a_bad_sssd_conf_is_told(own):
    own.apply(json.dumps(directory.item("Secret", "bad-sssd", stringData={"sssd.conf": "[sssd]\nservices = nss\n"})))
    own.apply(login("bad", sssdConfRef={"name": "bad-sssd", "key": "sssd.conf"}))
    try:
        c = wait_for(lambda: own.condition("loginset", "bad", "Ready") if "sssd does not start" in (
            own.condition("loginset", "bad", "Ready") or {}).get("message", "") else None, "it is told", LONG_S)
        assert c["reason"] == "PodsInTrouble"
    finally:
        own.kubectl("delete", "loginset", "bad")


def test_who_was_here_before_comes_in_while_the_directory_is_away(own):
    assert ssh(own, "alice", "id -un", password=directory.PASSWORD).stdout == "alice\n"
    directory.stop(own)
    try:
        assert ssh(own, "alice", "id -un", password=directory.PASSWORD).stdout == "alice\n"
        assert ssh(own, "root", "id -un", key="root").stdout == "root\n"
    finally:
        tempdir = tempfile.mkdtemp(dir=own.where)
        with open(f"{own.where}/alice.pub", encoding="utf-8") as f:
            directory.start(own, own.home, tempdir, {"alice": f.read().strip()})


def test_bad_logins_are_refused(own):
    for change, words in (({"controllerRef": {"name": "other"}}, "cannot be changed"),
                          ({"sssdConfRef": {"key": "sssd.conf"}}, "must name an object"),
                          ({"replicas": -1}, "replicas")):
        done = own.apply(login(**change), check=False)
        assert done.returncode and words in done.stderr, (change, done.stderr)


# at the end


def test_z_a_deleted_loginset_leaves_nothing(own):
    own.kubectl("delete", "loginset", LOGIN)
    kinds = "deploy,rs,pod,service,configmap,secret,endpoints"

    def left():
        out = own.kubectl("get", kinds, "-o", "name").stdout
        return [line for line in out.split() if LOGIN in line]
    wait_for(lambda: not left(), "nothing is left", LONG_S)
