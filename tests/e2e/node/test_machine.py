# SPDX-License-Identifier: GPL-2.0-or-later
"""The node and its machine: start scripts, shared directories, full disks, other clusters."""
import os
import subprocess

import pytest

from cluster import PROGRAM, Cluster, container, pod, sleeper, wait_for


def test_images_have_start_scripts(own_cluster, tmp_path):
    c = own_cluster
    script = tmp_path / "slurmd"
    script.write_text("#!/bin/sh\necho started as $0 with $*\nexec sleep 1000\n")
    script.chmod(0o755)
    c.end("node")
    os.environ["SLURMKEEPER_ENTRYPOINTS"] = str(tmp_path)
    try:
        c.start_node()
    finally:
        del os.environ["SLURMKEEPER_ENTRYPOINTS"]
    c.apply(pod("p", {"name": "main", "image": "ghcr.io/slinkyproject/slurmd:25.05-rockylinux9",
                      "args": ["-Z", "--conf", "Feature=x"]}),
            pod("q", {"name": "slurmd", "image": "unknown"}))
    c.wait_ready("p")
    c.wait_ready("q")
    at = "/libexec/slurmkeeper/entrypoint/slurmd"
    assert c.kubectl("logs", "p").stdout == f"started as {at} with -Z --conf Feature=x\n"


def test_programs_of_ours_are_found_in_pods(cluster, pods):
    name = pods("own")
    cluster.apply(sleeper(name))
    cluster.wait_ready(name)
    assert cluster.sh(name, "slurmkeeper version").strip()


def test_shared_directories_are_the_machines(own_cluster, tmp_path):
    c = own_cluster
    c.end("node")
    c.start_node("--share", str(tmp_path))
    c.apply(sleeper("p"))
    c.wait_ready("p")
    c.sh("p", f"echo from pod > {tmp_path}/x")
    assert (tmp_path / "x").read_text() == "from pod\n"


def test_a_full_disk_is_said_and_running_pods_run_on(own_cluster):
    c = own_cluster
    c.end("node")
    directory = f"{c.state}/node"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", directory], check=True)
    try:
        c.start_node()
        c.apply(sleeper("before"))
        c.wait_ready("before")
        with open(f"{directory}/fill", "wb") as fill:
            try:
                while True:
                    fill.write(b"x" * 65536)
                    fill.flush()
            except OSError:
                pass
        c.apply(sleeper("during"))
        wait_for(lambda: any("No space left on device" in m for _, m in c.events("during")), "the event")
        assert c.sh("before", "echo alive") == "alive\n"
        os.unlink(f"{directory}/fill")
        c.wait_ready("during")
    finally:
        c.end("node")
        c.purge()
        subprocess.run(["umount", "-l", directory], check=False)
        c.start_node()


def test_clusters_live_side_by_side(cluster, own_cluster, pods):
    name = pods("twin")
    for c in (cluster, own_cluster):
        c.apply(sleeper(name))
    ips = [c.wait_ready(name)["status"]["podIP"] for c in (cluster, own_cluster)]
    assert ips[0].split(".")[:2] != ips[1].split(".")[:2]
    own_cluster.end("node")
    assert own_cluster.purge().returncode == 0
    assert cluster.sh(name, "echo alive") == "alive\n"
    own_cluster.start_node()


def test_a_range_in_use_is_refused(cluster):
    address = subprocess.run(["ip", "-4", "-o", "addr", "show", f"sk-{cluster.name}"], check=True,
                             capture_output=True, text=True).stdout.split()[3]
    other = Cluster("x")
    try:
        base = ".".join(address.split(".")[:2]) + ".0.0/16"
        done = subprocess.run([PROGRAM, "node", "--state", other.state, "--name", "x", "--pod-cidr", base],
                              check=False, capture_output=True, text=True, timeout=10)
        assert done.returncode == 1
        assert f"is in use by interface sk-{cluster.name}; name another one with --pod-cidr" in done.stderr
    finally:
        other.destroy()


@pytest.mark.parametrize("args, why", [
    (["--pod-cidr", "10.1.2.3/16"], "has bits set after its prefix"),
    (["--pod-cidr", "x"], "is not a range of IPv4 addresses"),
    (["--name", "Bad_Name"], "is not a name of at most 40"),
])
def test_bad_options_are_refused(args, why):
    other = Cluster("y")
    try:
        done = subprocess.run([PROGRAM, "node", "--state", other.state, *(["--name", "y"] if "--name" not in args else []),
                               *args], check=False, capture_output=True, text=True, timeout=10)
        assert done.returncode in (1, 2) and why in done.stderr
    finally:
        other.destroy()
