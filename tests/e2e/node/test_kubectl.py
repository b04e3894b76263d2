# SPDX-License-Identifier: GPL-2.0-or-later
"""kubectl logs, exec, cp, attach and port-forward, with every kubectl there is."""
import os
import pty
import select
import signal
import subprocess
import time
import urllib.request

import pytest

from cluster import container, free_port, pod, sleeper, wait_for


@pytest.fixture(scope="module")
def box(cluster):
    cluster.apply(pod("box", container(
        "trap 'exit 0' TERM; echo one; echo two >&2; echo three; while :; do sleep 0.1; done")))
    cluster.wait_ready("box")
    yield "box"
    cluster.kubectl("delete", "pod", "box", "--wait=false")


def start(cluster, program, *args, **kwargs):
    return subprocess.Popen([program, "--kubeconfig", cluster.kubeconfig, *args], **kwargs)


def test_logs_and_their_options(cluster, box, kubectl):
    def logs(*args):
        return cluster.kubectl("logs", box, *args, program=kubectl).stdout
    assert sorted(logs().split()) == ["one", "three", "two"]
    assert len(logs("--tail=1").splitlines()) == 1
    assert logs("--tail=0") == ""
    stamped = logs("--timestamps").splitlines()
    assert len(stamped) == 3 and all(line.startswith("20") and "Z " in line for line in stamped)
    assert logs("--limit-bytes=2") == logs()[:2]
    time.sleep(1.2)
    assert logs("--since=1s") == ""
    assert sorted(logs("--since=1h").split()) == ["one", "three", "two"]


def test_logs_follow_until_the_end(cluster, pods, kubectl):
    name = pods("follow")
    cluster.apply(pod(name, container("for i in 1 2 3 4 5; do echo $i; sleep 0.3; done"), restartPolicy="Never"))
    cluster.wait_phase(name, "Running")
    out = cluster.kubectl("logs", "-f", name, program=kubectl, timeout=20).stdout
    assert out.split() == ["1", "2", "3", "4", "5"]


def test_logs_of_nothing_say_why(cluster, pods, kubectl):
    name = pods("nologs")
    cluster.apply(pod(name, container(["sleep", "9"], volumeMounts=[{"name": "v", "mountPath": "/v"}]),
                      volumes=[{"name": "v", "secret": {"secretName": "none-such"}}]))
    wait_for(lambda: "FailedMount" in cluster.reasons(name), "it waits")
    done = cluster.kubectl("logs", name, check=False, program=kubectl)
    assert "is waiting to start: ContainerCreating" in done.stderr
    done = cluster.kubectl("logs", "-p", name, check=False, program=kubectl)
    assert "previous terminated container" in done.stderr


def test_logs_are_rotated_and_read_through(cluster, pods):
    name = pods("rotate")
    cluster.apply(pod(name, container("seq 1 400000; echo end", name="main"), restartPolicy="Never"))
    cluster.wait_phase(name, "Succeeded")
    lines = cluster.kubectl("logs", name).stdout.split()
    assert lines[-1] == "end" and lines[-2] == "400000" and len(lines) > 100000
    assert all(int(b) == int(a) + 1 for a, b in zip(lines[:-2], lines[1:-1]))


def test_exec_gives_output_and_code(cluster, box, kubectl):
    done = cluster.exec(box, "sh", "-c", "echo out; echo err >&2; exit 42", check=False, program=kubectl)
    assert (done.stdout, done.returncode) == ("out\n", 42)
    assert done.stderr.startswith("err\n")


def test_exec_passes_input_and_its_end(cluster, box, kubectl):
    text = "x" * 300000 + "\n"
    assert cluster.exec(box, "cat", input=text, program=kubectl).stdout == text
    assert cluster.exec(box, "wc", "-c", input=text, program=kubectl).stdout.strip() == str(len(text))


def test_exec_with_much_output(cluster, box, kubectl):
    out = cluster.exec(box, "sh", "-c", "seq 1 200000", program=kubectl).stdout
    assert out.split()[-1] == "200000"


def test_exec_of_what_is_not_there_fails(cluster, box, kubectl):
    done = cluster.exec(box, "no-such-program", check=False, program=kubectl)
    assert done.returncode != 0 and "no-such-program" in done.stderr


def test_exec_with_a_terminal_follows_its_size(cluster, box, kubectl):
    import fcntl, struct, termios
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    child = start(cluster, kubectl, "exec", "-it", box, "--", "sh", stdin=slave, stdout=slave, stderr=slave,
                  start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(slave)
    seen = b""

    def read_until(what, seconds=10):
        nonlocal seen
        until = time.monotonic() + seconds
        while what not in seen:
            assert time.monotonic() < until, seen
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 4096)
    read_until(b"# ")
    time.sleep(0.5)
    os.write(master, b"stty size; tty\n")
    read_until(b"33 101")
    read_until(b"/dev/pts/")
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    time.sleep(0.5)
    os.write(master, b"stty size\n")
    read_until(b"40 120")
    os.write(master, b"exit 5\n")
    assert child.wait(10) == 5
    os.close(master)


def test_a_client_that_goes_takes_its_command_with_it(cluster, box, kubectl):
    child = start(cluster, kubectl, "exec", box, "--", "sleep", "161803", stdout=subprocess.DEVNULL,
                  stderr=subprocess.DEVNULL)
    def runs():
        return subprocess.run(["pgrep", "-xf", "sleep 161803"], check=False, capture_output=True).returncode == 0
    wait_for(runs, "the command runs")
    child.kill()
    child.wait()
    wait_for(lambda: not runs(), "the command is gone", 10)


def test_copying_both_ways(cluster, box, kubectl, tmp_path):
    data = os.urandom(500000)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f").write_bytes(data)
    cluster.kubectl("cp", str(tmp_path / "a"), f"{box}:/tmp/copied", program=kubectl)
    cluster.kubectl("cp", f"{box}:/tmp/copied", str(tmp_path / "back"), program=kubectl)
    assert (tmp_path / "back" / "f").read_bytes() == data
    cluster.exec(box, "rm", "-r", "/tmp/copied")


def test_port_forward_reaches_loopback_of_the_pod(cluster, pods, kubectl):
    name = pods("forward")
    cluster.apply(pod(name, container(["python3", "-m", "http.server", "8080", "--bind", "127.0.0.1"])))
    cluster.wait_ready(name)
    port = free_port()
    child = start(cluster, kubectl, "port-forward", name, f"{port}:8080", stdout=subprocess.PIPE,
                  stderr=subprocess.PIPE, text=True)
    try:
        assert "Forwarding from 127.0.0.1" in child.stdout.readline()
        def get():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/etc/hostname", timeout=3) as r:
                    return r.read().decode().strip()
            except OSError:
                return None
        assert wait_for(get, "a page", 10) == name
        assert [get() for _ in range(3)] == [name] * 3
    finally:
        child.kill()
        child.wait()


def test_attach_joins_the_containers_streams(cluster, pods, kubectl):
    name = pods("attach")
    cluster.apply(pod(name, container("echo ready; while read x; do echo got $x; [ $x = end ] && exit 3; done",
                                      stdin=True), restartPolicy="Never"))
    cluster.wait_phase(name, "Running")
    child = start(cluster, kubectl, "attach", "-i", name, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                  stderr=subprocess.PIPE)
    try:
        time.sleep(1)
        child.stdin.write(b"hello\n")
        child.stdin.flush()
        seen = b""
        until = time.monotonic() + 10
        while b"got hello" not in seen:
            assert time.monotonic() < until, seen
            if select.select([child.stdout], [], [], 0.1)[0]:
                seen += os.read(child.stdout.fileno(), 4096)
        child.stdin.write(b"end\n")
        child.stdin.flush()
        child.wait(10)
    finally:
        child.kill()
        child.wait()
    seen = cluster.wait_phase(name, "Failed")
    assert seen["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3


def test_run_with_input_and_output(cluster, pods, kubectl):
    name = pods("run")
    done = cluster.kubectl("run", name, "-i", "--quiet", "--restart=Never", "--image=none", "--command", "--",
                           "sh", "-c", "read x; echo you said $x", input="hey\n", program=kubectl, timeout=60)
    assert "you said hey" in done.stdout
