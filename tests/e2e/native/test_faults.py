# SPDX-License-Identifier: GPL-2.0-or-later
"""Whoever is stopped or killed, and whenever: the last good configuration goes on, the author sees why, it converges.

The agent is the build with crash points (src/agent/test/crash.c) and, like slurmctld, stands under a loop that starts it
again: the waits of a container's restart would make hundreds of kills an affair of hours.
"""
import contextlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

import release

from jobs import Jobs
from local import PROGRAM, run, wait_for
from native import BARE, Native

BUILD = os.path.join(os.path.dirname(os.path.realpath(PROGRAM)), "..")
KILLS = int(os.environ.get("KILLS", "12"))
numbers = itertools.count(200)
AGAIN = """trap 'exit 0' TERM
while :; do
    if [ -e {hold} ]; then sleep 0.05; continue; fi
    {program} & wait $!
    sleep 0.05
done"""


def put_programs(c):
    c.at, c.extra = f"{c.share}/at", {}
    os.mkdir(c.at)
    os.chmod(c.at, 0o777)  # the agent is another user
    os.mkdir(f"{c.share}/bin")
    for source, name in (("agent/test-agent-crash", "slurmkeeper-agent"),
                         ("agent/worker/slurmkeeper-agent-worker", "slurmkeeper-agent-worker")):
        shutil.copy(f"{BUILD}/{source}", f"{c.share}/bin/{name}")


def again(c, who, program):
    return {"command": ["/bin/bash", "-c", AGAIN.format(hold=f"{c.share}/hold.{who}", program=program)]}


@pytest.fixture(scope="module")
def faulty(machine):
    with Native("f") as c:
        put_programs(c)
        agent = {**again(c, "agent", f"{c.share}/bin/slurmkeeper-agent run"),
                 "env": [{"name": "SLURMKEEPER_CRASH_FILE", "value": f"{c.at}/crash"},
                         {"name": "SLURMKEEPER_CRASH_LOG", "value": f"{c.at}/points"}]}
        slurmctld = again(c, "slurmctld", "/libexec/slurmkeeper/entrypoint/slurmctld")
        c.bring_up_bare(reconfigure=agent, slurmctld=slurmctld)
        c.jobs = Jobs(c)
        c.jobs.run("-n1")
        c.jobs.run("-N2", "-n2")
        c.jobs.held = c.jobs.wait("-n1", "-H")
        c.jobs.settle()
        c.wait_saved()
        yield c
        c.jobs.check()
        c.change("nodesets", "compute", {"partition": {"config": "Default=YES MaxTime=24:00:00"}}).ok()
        c.wait_live("compute", MaxTime="1-00:00:00")
        c.jobs.finish(c.jobs.held)


@pytest.fixture
def cluster(faulty):
    yield faulty
    for path in ("at/crash", "at/points", "hold.agent", "hold.slurmctld"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{faulty.share}/{path}")
    converged(faulty)
    faulty.jobs.check()


def converged(c, seconds=40):
    """What is declared is in the files and in slurmctld, everybody says so, and slurmctld answers."""
    wait_for(lambda: c.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld answers", seconds)
    wait_for(c.agree, "the files agree", seconds)
    c.wait_applied(seconds)
    c.wait_state("controllers", "slurm", "Ready", "True", seconds=seconds)


# Edits, each with what must be live then.  Every call makes another one.

def by_call(c):
    n = next(numbers)
    wait_for(lambda: c.change("nodesets", "compute", {"partition": {"config": f"Default=YES MaxTime={n}"}}).code == 200,
             "the edit is taken")
    return lambda: c.live("compute").get("MaxTime") == f"{n // 60:02}:{n % 60:02}:00"


def created(c):
    name = f"p{next(numbers)}"
    c.make("partitions", name, {"nodeSetRefs": [{"name": "compute"}], "maxTime": 5}).ok()
    return lambda: c.live(name).get("MaxTime") == "00:05:00"


def deleted(c):
    """One of those that were created; there are enough of them."""
    names = sorted(p["metadata"]["name"] for p in c.api.get("/apis/slurmkeeper.dev/v1alpha1/partitions").ok()["items"])
    if not names:
        return created(c)
    c.remove("partitions", names[0])
    return lambda: c.object("partitions", names[0]) is None and names[0] not in (c.all_live() or {names[0]: None})


def set_extra(c, key, value):
    c.extra[key] = value
    c.change("controllers", "slurm", {"extraConf": BARE + "".join(f"{k}={v}\n" for k, v in c.extra.items())}).ok()


def by_reconfigure(c):
    n = next(numbers)
    set_extra(c, "SchedulerParameters", f"bf_interval={n}")
    return lambda: f"bf_interval={n}" in c.slurm("scontrol", "show", "config", check=False).stdout


def by_restart(c):
    n = 1024 + next(numbers)
    set_extra(c, "MaxNodeCount", n)
    return lambda: f"MaxNodeCount            = {n}" in c.slurm("scontrol", "show", "config", check=False).stdout


EDITS = [by_call, created, deleted, by_reconfigure, by_restart]


def kill(pid):
    """Somebody else may have ended it just now: slurmctld for a restart."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def crash_at(c, n):
    with open(f"{c.at}/crash.new", "w") as f:
        f.write(str(n))
    os.rename(f"{c.at}/crash.new", f"{c.at}/crash")


def uncrashed(c):
    """Take the order to die back; was it still there?"""
    time.sleep(0.2)  # the last steps come after the edit is live
    try:
        os.unlink(f"{c.at}/crash")
    except FileNotFoundError:
        return False
    return True


def points(c, edit):
    """The crash points that an edit passes: one that nothing befalls tells."""
    crash_at(c, 100000)
    is_live = edit(c)
    wait_for(is_live, "the edit is live")
    converged(c)
    os.unlink(f"{c.at}/crash")
    with open(f"{c.at}/points") as f:
        found = f.read().splitlines()
    os.unlink(f"{c.at}/points")
    wait_for(by_call(c), "an edit is live")  # it counts again from the next one on
    return [line.split(" ", 1)[1] for line in found]


@pytest.mark.parametrize("edit", EDITS)
def test_an_agent_that_is_killed_at_every_step(cluster, edit):
    if edit is deleted:
        for is_live in [created(cluster) for _ in range(16)]:
            wait_for(is_live, "there is something to delete")
        converged(cluster)
    steps = points(cluster, edit)
    print(f"{edit.__name__}: {len(steps)} steps: {', '.join(steps)}")
    assert len(steps) >= 5
    for n in range(1, len(steps) + 1):
        crash_at(cluster, n)
        pid = cluster.agent()
        is_live = edit(cluster)
        wait_for(lambda: not os.path.exists(f"{cluster.at}/crash") or is_live(), f"step {n} ({steps[n - 1]}) is reached")
        if uncrashed(cluster):
            assert n > 5, "fewer steps than any edit takes"
            break  # this one took fewer steps than the one before: it found less to write
        wait_for(lambda: cluster.agent() not in (None, pid), f"the agent was killed at step {n} and is back")
        wait_for(is_live, f"the edit is live, killed at step {n} ({steps[n - 1]})", 40)
        converged(cluster)
        cluster.jobs.check()


def test_an_agent_that_is_killed_at_any_moment(cluster):
    dice = random.Random(6)
    for _ in range(KILLS):
        edits = dice.choices(EDITS, weights=[6, 3, 3, 2, 1], k=dice.randint(1, 3))
        pid, checks = cluster.agent(), {}
        for edit in edits:
            checks[edit] = edit(cluster)
        time.sleep(dice.random() * 0.05)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: cluster.agent() not in (None, pid), "the agent is back")
        for is_live in checks.values():
            wait_for(is_live, f"{[e.__name__ for e in edits]} are live", 40)
        converged(cluster)
        cluster.jobs.check()


def test_a_slurmctld_that_is_killed_in_the_middle(cluster):
    """Each kind of edit, killed after more and more milliseconds."""
    for edit in EDITS:
        for delay in (0.0, 0.005, 0.015, 0.04, 0.1):
            is_live = edit(cluster)
            time.sleep(delay)
            kill(wait_for(cluster.slurmctld, "slurmctld runs"))
            wait_for(is_live, f"{edit.__name__} is live, with a kill after {delay} s", 40)
            converged(cluster)
            cluster.jobs.check()


def test_a_slurmctld_that_is_down(cluster):
    """The author is told that nothing has it yet; then it starts with it."""
    with open(f"{cluster.share}/hold.slurmctld", "w"):
        pass
    os.kill(cluster.slurmctld(), signal.SIGKILL)
    wait_for(lambda: cluster.slurmctld() is None, "slurmctld is gone")
    is_live = by_call(cluster)
    told = wait_for(lambda: cluster.state_of("controllers", "slurm", "ConfigApplied").get("status") == "False" and
                    cluster.state_of("controllers", "slurm", "ConfigApplied"), "the author is told")
    print(told["message"])
    assert "slurmctld" in told["message"] and told["reason"] != "Refused"
    # what cannot be right is refused all the same
    bad = cluster.change("controllers", "slurm", {"extraConf": BARE + "Frobnicate=1\n"})
    assert bad.code == 422 and "Frobnicate" in bad.json["message"]
    os.unlink(f"{cluster.share}/hold.slurmctld")
    wait_for(is_live, "the edit is live", 40)


def test_a_slurmctld_that_stands_still(cluster):
    pid = cluster.slurmctld()
    os.kill(pid, signal.SIGSTOP)
    try:
        is_live = by_call(cluster)
        told = cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", seconds=40)
        print(told["message"])
        assert "slurmctld" in told["message"] and "answer" in told["message"]
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(is_live, "the edit is live", 40)
    assert cluster.slurmctld() == pid


def test_a_slurmctld_that_is_slow(cluster):
    """Stopped for a moment again and again: edits wait for it, and get there."""
    pid = cluster.slurmctld()
    for _ in range(5):
        os.kill(pid, signal.SIGSTOP)
        is_live = by_call(cluster)
        time.sleep(1)
        os.kill(pid, signal.SIGCONT)
        wait_for(is_live, "the edit is live")
    assert cluster.slurmctld() == pid


def test_an_agent_that_is_down(cluster):
    pid = cluster.slurmctld()
    with open(f"{cluster.share}/hold.agent", "w"):
        pass
    os.kill(cluster.agent(), signal.SIGKILL)
    is_live = by_call(cluster)
    told = wait_for(lambda: "6821" in cluster.state_of("controllers", "slurm", "ConfigApplied").get("message", "") and
                    cluster.state_of("controllers", "slurm", "ConfigApplied"), "the author is told")
    print(told["status"], told["message"])
    assert told["status"] != "True"
    assert cluster.slurmctld() == pid
    wait_for(lambda: cluster.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld answers")
    cluster.jobs.check()
    assert not is_live()
    os.unlink(f"{cluster.share}/hold.agent")
    wait_for(is_live, "the edit is live", 40)


# Takes the agent's place as soon as its port is free, and writes down what anybody tells it.
IMPOSTOR = """
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
server = socket.create_server(("", 6821))
while True:
    connection, _ = server.accept()
    connection.settimeout(5)
    try:
        heard = context.wrap_socket(connection, server_side=True).recv(65536).decode(errors="replace")
    except OSError as e:
        heard = f"refused: {e}"
    with open(sys.argv[2], "a") as f:
        f.write(heard + "\\n")
    connection.close()
"""


def test_an_agent_with_another_certificate(cluster, tmp_path):
    """It gets neither the token nor the configuration, and the author is told."""
    made, heard = tmp_path / "made.pem", tmp_path / "heard"
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
        "/CN=slurm-agent.default", "-addext", "subjectAltName=DNS:slurm-agent.default", "-keyout", str(made), "-out",
        str(tmp_path / "crt"))
    made.write_text(made.read_text() + (tmp_path / "crt").read_text())
    with open(f"{cluster.share}/hold.agent", "w"):
        pass
    os.kill(cluster.agent(), signal.SIGKILL)
    wait_for(lambda: cluster.agent() is None, "the agent is gone")
    impostor = subprocess.Popen(["nsenter", "-t", str(cluster.slurmctld()), "-n", sys.executable, "-c", IMPOSTOR, str(made),
                                 str(heard)])
    try:
        is_live = by_call(cluster)
        told = wait_for(lambda: "certificate" in cluster.state_of("controllers", "slurm", "ConfigApplied").get("message", "")
                        and cluster.state_of("controllers", "slurm", "ConfigApplied"), "the author is told")
        print(told["status"], told["message"])
        lines = wait_for(lambda: heard.exists() and heard.read_text().splitlines(), "somebody has called")
        assert all(line.startswith("refused: ") for line in lines), lines
        assert impostor.poll() is None and told["status"] != "True" and not is_live()
    finally:
        impostor.kill()
        impostor.wait()
    os.unlink(f"{cluster.share}/hold.agent")
    wait_for(is_live, "the edit is live", 40)


def test_an_agent_that_stands_still(cluster):
    pid = cluster.agent()
    os.kill(pid, signal.SIGSTOP)
    try:
        is_live = by_call(cluster)
        time.sleep(2)
        cluster.jobs.check()
        assert cluster.state_of("controllers", "slurm", "ConfigApplied")["status"] != "True"
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for(is_live, "the edit is live")


def test_workers_of_the_agent_that_are_killed(cluster):
    """libslurm's children may die at any time: the agent makes new ones."""
    dice = random.Random(8)
    pid = cluster.agent()
    for _ in range(10):
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            children = f.read().split()
        is_live = by_call(cluster)
        time.sleep(dice.random() * 0.02)
        for child in children:
            kill(int(child))
        wait_for(is_live, "the edit is live")
    assert cluster.agent() == pid


@pytest.mark.parametrize("verb", ["operator", "apiserver", "node"])
def test_our_own_processes(cluster, verb):
    pid = cluster.process(verb)
    by_call(cluster)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: cluster.process(verb) not in (None, pid), f"{verb} is back")

    def answers():
        try:
            return cluster.api.get("/readyz").code == 200
        except OSError:
            return False
    wait_for(answers, "the API answers")
    wait_for(by_call(cluster), "the edit is live", 40)


def test_what_was_bad_does_not_come_back_with_a_new_process(cluster):
    """Refused, and then agent and slurmctld are killed: neither starts from it."""
    wait_for(by_call(cluster), "the edit is live")
    cluster.change("controllers", "slurm", {"extraConf": BARE + "PriorityType=priority/nothing\n"}).ok()
    cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", "Refused")
    try:
        for victim in (cluster.agent(), cluster.slurmctld()):
            os.kill(victim, signal.SIGKILL)
        wait_for(lambda: cluster.slurmctld() and "priority/nothing" not in cluster.in_pod("/etc/slurm/slurm.conf"),
                 "slurmctld runs on the last good files")
        cluster.inside = True
        wait_for(lambda: cluster.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld answers")
        cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", "Refused", "priority")
    finally:
        cluster.inside = False
        by_restart(cluster)


def test_an_agent_that_is_killed_while_slurmctld_ends_on_something_bad(cluster):
    """What no rehearsal shows: slurmctld has ended on it, or refuses it, and whoever asked for it is gone."""
    for delay_s in (0, 0.3, 1.0):
        wait_for(by_call(cluster), "the edit is live")
        pid = cluster.slurmctld()
        cluster.change("controllers", "slurm", {"extraConf": BARE + "SlurmSchedLogFile=/no/such/dir/file\n"}).ok()
        if not release.has("service"):
            wait_for(lambda: cluster.slurmctld() != pid, "slurmctld is started again")
        time.sleep(delay_s)
        kill(cluster.agent())
        cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", "Refused", release.end_of_a_start()[1], 60)
        cluster.inside = True
        wait_for(lambda: cluster.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld answers", 30)
        cluster.inside = False
        by_restart(cluster)
        converged(cluster)
        cluster.jobs.check()
