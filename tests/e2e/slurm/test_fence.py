# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing that is meant for the cluster's own addresses leaves the machine.

The cluster runs in a network namespace whose default route leads to nobody; what goes out there is counted.
"""
import os
import time

import pytest

from local import PROGRAM, Local, run

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
        return self

    def up(self):
        c = self.cluster
        self.run(PROGRAM, "up", "--state", c.state, "--name", c.name, "--share", c.share, "--pod-cidr", "10.131.0.0/16",
                 "--timeout", "90", timeout=120)
        self.environment = {**os.environ, **c.env()}

    def __exit__(self, *_):
        self.environment = None
        self.run(PROGRAM, "down", "--state", self.cluster.state, "--purge", "--force", "--grace", "1", check=False)
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
