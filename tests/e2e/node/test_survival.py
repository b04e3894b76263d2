# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes die at any time: pods run on, and whoever comes back finds everything."""
import os
import signal
import subprocess
import time

import pytest

from cluster import container, pod, sleeper, wait_for


def main_pid(cluster, name, number=0):
    seen = cluster.get("pod", name)
    uid = seen["metadata"]["uid"]
    import glob, json
    paths = sorted(glob.glob(f"{cluster.state}/node/pods/{uid}/containers/main/*/status.json"))
    return json.load(open(paths[-1]))["pid"]


def alive(pid):
    return os.path.exists(f"/proc/{pid}/ns")


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGKILL])
def test_a_new_node_process_takes_running_pods_over(own_cluster, signo):
    c = own_cluster
    c.apply(pod("p", container("i=0; while :; do i=$((i+1)); echo $i; sleep 0.1; done",
                               readinessProbe={"exec": {"command": ["true"]}, "periodSeconds": 1})))
    before = c.wait_ready("p")
    pid = main_pid(c, "p")
    c.end("node", signo)
    time.sleep(1)
    assert alive(pid)
    c.start_node()
    after = c.get("pod", "p")
    assert alive(pid)
    assert after["status"]["podIP"] == before["status"]["podIP"]
    assert after["status"]["containerStatuses"] == before["status"]["containerStatuses"]
    numbers = [int(x) for x in c.kubectl("logs", "p").stdout.split()]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 10
    assert c.sh("p", "echo still here") == "still here\n"
    ready = [x for x in after["status"]["conditions"] if x["type"] == "Ready"][0]
    was = [x for x in before["status"]["conditions"] if x["type"] == "Ready"][0]
    assert ready == was


def test_an_exit_while_nobody_looks_is_not_lost(own_cluster):
    c = own_cluster
    c.apply(pod("p", container("sleep 2; exit 23"), restartPolicy="Never"),
            pod("q", container("sleep 2; echo again >> /k/n; exec sleep 1000",
                               volumeMounts=[{"name": "k", "mountPath": "/k"}]),
                volumes=[{"name": "k", "emptyDir": {}}]))
    c.wait_phase("p", "Running")
    c.wait_phase("q", "Running")
    c.end("node", signal.SIGKILL)
    time.sleep(2.5)
    c.start_node()
    seen = c.wait_phase("p", "Failed", 10)
    assert seen["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 23
    c.wait_ready("q")
    assert c.sh("q", "cat /k/n") == "again\n"


def test_a_pod_deleted_while_the_node_is_away_is_ended_when_it_is_back(own_cluster):
    c = own_cluster
    c.apply(sleeper("p"))
    c.wait_ready("p")
    pid = main_pid(c, "p")
    c.end("node", signal.SIGKILL)
    c.kubectl("delete", "pod", "p", "--force", "--grace-period=0")
    assert alive(pid)
    c.start_node()
    wait_for(lambda: not alive(pid), "its process is gone", 10)
    wait_for(lambda: os.listdir(f"{c.state}/node/pods") == [], "its directory is gone", 10)


def test_pods_run_on_without_the_api_server_and_it_learns_everything_later(own_cluster):
    c = own_cluster
    c.apply(sleeper("p"), pod("q", container("sleep 2; exit 7"), restartPolicy="Never"))
    c.wait_ready("p")
    c.wait_phase("q", "Running")
    pid = main_pid(c, "p")
    c.end("apiserver", signal.SIGKILL)
    time.sleep(3)
    assert alive(pid)
    c.start_api()
    seen = c.wait_phase("q", "Failed", 20)
    assert seen["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7
    assert alive(pid)
    c.apply(sleeper("r"))
    c.wait_ready("r", 20)


def test_both_away_and_back_in_the_other_order(own_cluster):
    c = own_cluster
    c.apply(sleeper("p"))
    c.wait_ready("p")
    pid = main_pid(c, "p")
    c.end("node", signal.SIGKILL)
    c.end("apiserver", signal.SIGKILL)
    c._spawn("node", "node", "--state", c.state, "--name", c.name)
    time.sleep(1)
    c.start_api()
    wait_for(c.node_ready, "the node is back")
    c.wait_ready("p")
    assert alive(pid)


def test_a_killed_shim_is_a_container_that_is_restarted(own_cluster):
    c = own_cluster
    c.apply(sleeper("p"))
    c.wait_ready("p")
    import glob, json
    path = glob.glob(f"{c.state}/node/pods/*/containers/main/0/status.json")[0]
    state = json.load(open(path))
    os.kill(state["shim"], signal.SIGKILL)
    wait_for(lambda: c.get("pod", "p")["status"]["containerStatuses"][0]["restartCount"] == 1, "the restart")
    c.wait_ready("p")
    wait_for(lambda: not alive(state["pid"]), "the old process is gone", 10)


def test_a_killed_sandbox_is_made_anew(own_cluster):
    c = own_cluster
    c.apply(sleeper("p", initContainers=[container("echo init", name="i")]))
    before = c.wait_ready("p")
    import glob, json
    path = glob.glob(f"{c.state}/node/pods/*/sandbox.json")[0]
    os.kill(json.load(open(path))["pid"], signal.SIGKILL)
    wait_for(lambda: c.get("pod", "p")["status"]["containerStatuses"][0]["restartCount"] == 1, "the restart")
    after = c.wait_ready("p")
    assert after["status"]["podIP"] == before["status"]["podIP"]
    assert after["status"]["initContainerStatuses"][0]["restartCount"] == 1
    assert "SandboxChanged" in c.reasons("p")


def test_two_node_processes_do_not_share_a_directory(own_cluster):
    from cluster import PROGRAM
    done = subprocess.run([PROGRAM, "node", "--state", own_cluster.state, "--name", own_cluster.name],
                          check=False, capture_output=True, text=True, timeout=10)
    assert done.returncode == 1 and "another node process runs on" in done.stderr


def test_purge_leaves_nothing_on_the_machine(own_cluster):
    c = own_cluster
    c.apply(sleeper("p"), pod("m", container(["sleep", "999"], volumeMounts=[{"name": "m", "mountPath": "/m"}]),
                              volumes=[{"name": "m", "emptyDir": {"medium": "Memory"}}]))
    c.wait_ready("p")
    c.wait_ready("m")
    pid = main_pid(c, "p")
    c.end("node", signal.SIGKILL)
    assert c.purge().returncode == 0
    assert not alive(pid)
    assert f"sk-{c.name}" not in subprocess.run(["ip", "link"], capture_output=True, text=True, check=True).stdout
    assert c.state not in open("/proc/self/mountinfo").read()
    found = subprocess.run(["find", "/sys/fs/cgroup", "-maxdepth", "3", "-name", f"slurmkeeper-{c.name}"],
                           capture_output=True, text=True, check=False).stdout
    assert found == ""
    processes = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
    assert c.state not in "\n".join(l for l in processes.splitlines() if "apiserver" not in l)
    assert c.purge().returncode == 0  # again is fine
