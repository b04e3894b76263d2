# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing that is meant for the cluster's own addresses leaves the machine, and nothing comes in from outside.

The cluster runs in a network namespace whose default route leads to nobody; what goes out there is counted.  Beside it is
a neighbour, in a namespace of its own, who sends what is for the cluster's addresses to the machine.
"""
import os
import subprocess
import time

import pytest

from local import PROGRAM, Local, run, wait_for

COUNTER = """table ip sk_test {
 chain out { type filter hook postrouting priority 300;
  oifname "out" ip daddr { 10.96.0.0/16, 10.131.0.0/16 } counter
 }
}"""
CONNECT = ("import socket,sys,time\nt=time.monotonic()\ntry:\n socket.create_connection((sys.argv[1],80),15)\n"
           "except OSError as e: print(e.errno,time.monotonic()-t)\n")


class Apart:
    """A machine's network of its own, with a cluster on it."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.net = f"/run/netns/sk-test-{cluster.name}"
        self.environment = None

    def run(self, *argv, **more):
        return run("nsenter", f"--net={self.net}", *argv, env=self.environment, **more)

    def __enter__(self):
        run("ip", "netns", "add", os.path.basename(self.net))
        for words in ("link set lo up", "link add out type veth peer name far", "link set far up", "link set out up",
                      "addr add 192.0.2.2/24 dev out", "neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev out",
                      "route add default via 192.0.2.1"):
            self.run("ip", *words.split())
        self.run("nft", "-f", "-", input=COUNTER)
        run("ip", "netns", "add", f"{os.path.basename(self.net)}-n")
        self.run("ip", "link", "add", "side", "type", "veth", "peer", "name", "side", "netns", f"{os.path.basename(self.net)}-n")
        self.run("ip", "link", "set", "side", "up")
        self.run("ip", "addr", "add", "198.51.100.1/24", "dev", "side")
        for words in ("link set side up", "addr add 198.51.100.2/24 dev side", "route add default via 198.51.100.1"):
            self.neighbour("ip", *words.split())
        return self

    def neighbour(self, *argv, **more):
        return run("nsenter", f"--net={self.net}-n", *argv, **more)

    def up(self):
        c = self.cluster
        self.run(PROGRAM, "up", "--state", c.state, "--name", c.name, "--share", c.share, "--pod-cidr", "10.131.0.0/16",
                 "--timeout", "90", timeout=120)
        self.environment = {**os.environ, **c.env()}

    def __exit__(self, *_):
        self.environment = None
        self.run(PROGRAM, "down", "--state", self.cluster.state, "--purge", "--force", "--grace", "1", check=False)
        run("ip", "netns", "del", f"{os.path.basename(self.net)}-n")
        run("ip", "netns", "del", os.path.basename(self.net))

    def packets(self):
        words = self.run("nft", "list", "table", "ip", "sk_test").stdout.split()
        return int(words[words.index("packets") + 1])


@pytest.fixture(scope="module")
def apart():
    with Local("f") as c, Apart(c) as a:
        a.up()
        yield a


def from_machine(a, address):
    return a.run("python3", "-c", CONNECT, address)


def from_pod(a, address):
    return a.run("srun", "-w", "compute-0", "-n1", "python3", "-c", CONNECT, address, cwd=a.cluster.share)


@pytest.mark.parametrize("ask", [from_machine, from_pod])
def test_an_address_that_no_service_has_is_refused_at_once(apart, ask):
    errno, seconds = ask(apart, "10.96.200.200").stdout.split()
    assert int(errno) == 111 and float(seconds) < 1


@pytest.mark.parametrize("ask", [from_machine, from_pod])
def test_a_port_that_a_service_does_not_have_is_refused_at_once(apart, ask):
    errno, seconds = ask(apart, "10.96.0.1").stdout.split()
    assert int(errno) == 111 and float(seconds) < 1


def test_a_service_without_pods_is_refused_at_once(apart):
    apart.run("kubectl", "apply", "-f", "-", input='{"apiVersion":"v1","kind":"Service","metadata":{"name":"idle"},'
              '"spec":{"clusterIP":"10.96.44.44","selector":{"no":"pod"},"ports":[{"port":80}]}}')
    time.sleep(1)
    errno, seconds = from_pod(apart, "10.96.44.44").stdout.split()
    assert int(errno) == 111 and float(seconds) < 1


@pytest.mark.parametrize("ask", [from_machine, from_pod])
def test_an_address_that_no_pod_has_is_not_reachable(apart, ask):
    errno, seconds = ask(apart, "10.131.250.250").stdout.split()
    assert int(errno) == 113 and float(seconds) < 8


REACH = "import socket,sys\nsocket.create_connection((sys.argv[1],int(sys.argv[2])),float(sys.argv[3])).close()\n"


def listeners(a):
    """What the cluster has on its network: DNS and the way to the API on the bridge, slurmctld and the agent in a pod."""
    pod = a.run("kubectl", "get", "pod", "slurm-controller-0", "-o", "jsonpath={.status.podIP}").stdout
    lines = a.run("ss", "-Htln", "src", "10.131.0.1").stdout.splitlines()
    bridge = [("10.131.0.1", line.split()[3].split(":")[1]) for line in lines]
    assert len(bridge) == 2
    return [*bridge, (pod, "6817"), (pod, "6821")]


def reaches(who, address, port, seconds):
    return who("python3", "-c", REACH, address, port, seconds, check=False).returncode == 0


def test_a_neighbour_reaches_neither_pods_nor_the_bridge(apart):
    for address, port in listeners(apart):
        assert reaches(apart.run, address, port, "10"), "it listens"
        assert not reaches(apart.neighbour, address, port, "1"), f"{address}:{port}"


def test_a_neighbour_reaches_what_a_node_port_opens(apart):
    apart.run("kubectl", "apply", "-f", "-", input='{"apiVersion":"v1","kind":"Service","metadata":{"name":"open"},'
              '"spec":{"type":"NodePort","selector":{"app.kubernetes.io/name":"slurmctld"},'
              '"ports":[{"port":6817,"nodePort":30817}]}}')
    wait_for(lambda: reaches(apart.neighbour, "198.51.100.1", "30817", "1"), "the node port answers")


def test_pods_reach_a_neighbour_and_are_answered(apart):
    """As the machine itself does, by its address."""
    listener = subprocess.Popen(["nsenter", f"--net={apart.net}-n", "python3", "-m", "http.server", "8080"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: reaches(apart.run, "198.51.100.2", "8080", "1"), "it listens")
        apart.run("kubectl", "exec", "compute-0", "--", "python3", "-c", REACH, "198.51.100.2", "8080", "10")
    finally:
        listener.kill()
        listener.wait()


def test_nothing_left_the_machine(apart):
    """Of all the above, and of what `up` has asked before there were rules."""
    assert apart.packets() == 0


def test_nothing_leaves_without_rules_either(apart):
    apart.run("nft", "delete", "table", "ip", f"slurmkeeper_{apart.cluster.name}")
    errno, _ = from_machine(apart, "10.96.200.201").stdout.split()
    assert int(errno) == 113
    errno, _ = apart.run("kubectl", "exec", "compute-0", "--", "python3", "-c", CONNECT, "10.96.200.201").stdout.split()
    assert int(errno) in (110, 113)
    assert apart.packets() == 0
