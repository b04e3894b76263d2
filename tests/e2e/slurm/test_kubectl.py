# SPDX-License-Identifier: GPL-2.0-or-later
"""What kubectl does with the pods of a Slurm cluster: logs, exec, cp, port-forward."""
import os
import pty
import select
import socket
import subprocess
import time

from local import KUBECTLS, read_until, wait_for

POD = "slurm-controller-0"


def start(cluster, *args, **more):
    return subprocess.Popen([cluster.program, "--kubeconfig", cluster.kubeconfig, *args], **more)


def test_logs_of_a_worker_follow_a_job(cluster, kubectl):
    child = start(cluster, "logs", "-f", "--tail=1", "compute-0", "-c", "slurmd", stdout=subprocess.PIPE)
    try:
        read_until(child, "\n")  # it follows from here on
        cluster.slurm("srun", "-w", "compute-0", "true")
        read_until(child, "launch task StepId=")
    finally:
        child.kill()
        child.wait()


def test_logs_of_the_run_before(cluster):
    """slurmd is killed: the container starts again, and what the first one said is kept."""
    def killed():
        return cluster.get("pod", "compute-2")["status"]["containerStatuses"][0]["restartCount"]
    before = killed()
    cluster.exec("compute-2", "sh", "-c", "kill -KILL -1", check=False)
    wait_for(lambda: killed() > before, "the container starts again", 40)
    cluster.wait_ready("compute-2")
    for program in KUBECTLS:
        said = cluster.kubectl("logs", "-p", "compute-2", "-c", "slurmd", program=program).stdout
        assert "slurmd started on" in said
    cluster.wait_idle("compute-2")


def test_exec_with_a_terminal(cluster, kubectl):
    master, slave = pty.openpty()
    child = start(cluster, "exec", "-it", POD, "-c", "slurmctld", "--", "bash", "--norc", stdin=slave, stdout=slave,
                  stderr=slave, start_new_session=True)
    os.close(slave)
    seen = b""

    def read_until(what):
        nonlocal seen
        until = time.monotonic() + 15
        while what not in seen:
            assert time.monotonic() < until, seen
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 4096)
    try:
        read_until(b"$ ")
        os.write(master, b"sinfo -h -o %P; tty\n")
        read_until(b"compute*")
        read_until(b"/dev/pts/")
        os.write(master, b"exit 4\n")
        assert child.wait(10) == 4
    finally:
        child.kill()
        child.wait()
        os.close(master)


def test_exec_passes_input_and_status(cluster, kubectl):
    done = kubectl("exec", "-i", "compute-0", "--", "sh", "-c", "cat; exit 5", input="hello\n", check=False)
    assert (done.stdout, done.returncode) == ("hello\n", 5)


def test_cp_both_ways(cluster, kubectl, tmp_path):
    data = os.urandom(300000)
    (tmp_path / "in").write_bytes(data)
    kubectl("cp", str(tmp_path / "in"), "compute-1:/tmp/in", "-c", "slurmd")
    kubectl("cp", "compute-1:/tmp/in", str(tmp_path / "out"), "-c", "slurmd")
    assert (tmp_path / "out").read_bytes() == data


def test_port_forward_reaches_slurmctld(cluster, kubectl):
    child = start(cluster, "port-forward", POD, ":6817", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = int(child.stdout.readline().split(":")[1].split()[0])
        with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
            s.sendall(b"\0\0\0\4junk")  # slurmctld answers nonsense by closing
            s.settimeout(15)
            s.recv(100)
    finally:
        child.kill()
        child.wait()
