# SPDX-License-Identifier: GPL-2.0-or-later
"""From creation to deletion: what a pod goes through, and what kubectl shows of it."""
import time

from cluster import condition, configmap, container, pod, sleeper, wait_for


def test_a_pod_runs_with_an_address_and_says_so(cluster, pods):
    name = pods("runs")
    cluster.apply(pod(name, container(["sleep", "infinity"])))
    seen = cluster.wait_ready(name)
    status = seen["status"]
    assert status["phase"] == "Running"
    assert status["podIP"].startswith("10.")
    assert status["hostIP"]
    assert status["qosClass"] == "BestEffort"
    assert [condition(seen, k) for k in ("Initialized", "ContainersReady", "PodScheduled")] == ["True"] * 3
    state = status["containerStatuses"][0]
    assert state["ready"] and state["started"] and state["restartCount"] == 0
    assert "startedAt" in state["state"]["running"]
    assert {"Scheduled", "Created", "Started", "HostSoftware"} <= cluster.reasons(name)


def test_the_image_is_told_once_not_to_be_used(cluster, pods):
    name = pods("image")
    cluster.apply(pod(name, container(["sleep", "9"]), container(["sleep", "9"], name="other")))
    cluster.wait_ready(name)
    told = [m for r, m in cluster.events(name) if r == "HostSoftware"]
    assert len(told) == 1 and "example.org/nobody/has-this:1" in told[0]


def test_a_container_without_command_says_what_to_do(cluster, pods):
    name = pods("nocommand")
    cluster.apply(pod(name, container()))
    def waiting():
        states = cluster.get("pod", name)["status"].get("containerStatuses", [{}])
        return states[0].get("state", {}).get("waiting", {}).get("reason") == "CreateContainerConfigError"
    wait_for(waiting, "the container waits")
    assert any("give it a command" in m for _, m in cluster.events(name))


def test_a_command_that_does_not_exist_is_a_start_error(cluster, pods):
    name = pods("nofile")
    cluster.apply(pod(name, container(["/no/such/program"]), restartPolicy="Never"))
    seen = cluster.wait_phase(name, "Failed")
    ended = seen["status"]["containerStatuses"][0]["state"]["terminated"]
    assert ended["reason"] == "StartError" and ended["exitCode"] == 128
    assert "/no/such/program" in ended["message"]
    assert any(r == "Failed" and "/no/such/program" in m for r, m in cluster.events(name))


def test_a_pod_that_ends_well_has_succeeded(cluster, pods):
    name = pods("done")
    cluster.apply(pod(name, container("echo bye"), restartPolicy="Never"))
    seen = cluster.wait_phase(name, "Succeeded")
    assert seen["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] == "Completed"
    assert condition(seen, "Ready") == "False"
    assert cluster.kubectl("logs", name).stdout == "bye\n"


def test_a_pod_that_fails_tells_code_and_message(cluster, pods):
    name = pods("fails")
    cluster.apply(pod(name, container("echo -n sorry > /dev/termination-log; exit 3"),
                      restartPolicy="Never"))
    seen = cluster.wait_phase(name, "Failed")
    ended = seen["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (3, "Error", "sorry")


def test_the_message_may_come_from_the_log(cluster, pods):
    name = pods("fromlog")
    cluster.apply(pod(name, container("echo why it failed; exit 1",
                                      terminationMessagePolicy="FallbackToLogsOnError"),
                      restartPolicy="Never"))
    seen = cluster.wait_phase(name, "Failed")
    ended = seen["status"]["containerStatuses"][0]["state"]["terminated"]
    assert ended["message"] == "why it failed\n"


def test_failures_are_restarted_ever_slower(cluster, pods):
    name = pods("crash")
    cluster.apply(pod(name, container("echo run; exit 1")))
    def looping():
        states = cluster.get("pod", name)["status"].get("containerStatuses", [{}])
        waiting = states[0].get("state", {}).get("waiting", {})
        return states[0] if waiting.get("reason") == "CrashLoopBackOff" else None
    seen = wait_for(looping, "the back-off begins")
    assert seen["restartCount"] == 1
    assert seen["lastState"]["terminated"]["exitCode"] == 1
    assert "back-off 10s restarting failed container=main" in seen["state"]["waiting"]["message"]
    row = cluster.kubectl("get", "pod", name, "--no-headers").stdout.split()
    assert row[2] == "CrashLoopBackOff"
    assert "BackOff" in cluster.reasons(name)
    assert cluster.kubectl("logs", "-p", name).stdout == "run\n"


def test_a_container_that_runs_again_tells_how_it_ended_before(cluster, pods):
    name = pods("again")
    cluster.apply(pod(name, container("test -e /dev/shm/again && sleep 600; touch /dev/shm/again; exit 7",
                                      volumeMounts=[{"name": "shm", "mountPath": "/dev/shm"}]),
                      volumes=[{"name": "shm", "emptyDir": {}}]))
    def again():
        status = cluster.get("pod", name)["status"].get("containerStatuses", [{}])[0]
        return status if status.get("restartCount") == 1 and "running" in status["state"] else None
    seen = wait_for(again, "it runs again")
    assert seen["lastState"]["terminated"]["exitCode"] == 7


def test_on_failure_ends_with_success(cluster, pods):
    name = pods("onfailure")
    cluster.apply(pod(name, container("test -e /keep/x && exit 0; touch /keep/x; exit 1",
                                      volumeMounts=[{"name": "keep", "mountPath": "/keep"}]),
                      restartPolicy="OnFailure", volumes=[{"name": "keep", "emptyDir": {}}]))
    seen = cluster.wait_phase(name, "Succeeded")
    assert seen["status"]["containerStatuses"][0]["restartCount"] == 1


def test_init_containers_run_in_order_then_sidecars_stay(cluster, pods):
    name = pods("init")
    mount = [{"name": "w", "mountPath": "/w"}]
    cluster.apply(pod(
        name, container("cat /w/order; echo main >> /w/order; sleep 1000", volumeMounts=mount),
        volumes=[{"name": "w", "emptyDir": {}}],
        initContainers=[
            container("echo first >> /w/order", name="a", volumeMounts=mount),
            container("trap 'exit 0' TERM; echo side >> /w/order; while :; do sleep 0.1; done",
                      name="side", restartPolicy="Always", volumeMounts=mount,
                      startupProbe={"exec": {"command": ["test", "-s", "/w/order"]},
                                    "periodSeconds": 1}),
            container("echo last >> /w/order", name="b", volumeMounts=mount)]))
    seen = cluster.wait_ready(name)
    assert cluster.sh(name, "cat /w/order", container="main").split() == ["first", "side", "last", "main"]
    states = {s["name"]: s for s in seen["status"]["initContainerStatuses"]}
    assert states["a"]["state"]["terminated"]["reason"] == "Completed"
    assert states["side"]["ready"] and "running" in states["side"]["state"]
    assert cluster.kubectl("get", "pod", name, "--no-headers").stdout.split()[1] == "2/2"


def test_a_failing_init_container_fails_a_pod_that_never_restarts(cluster, pods):
    name = pods("initfail")
    cluster.apply(pod(name, container(["sleep", "9"]), restartPolicy="Never",
                      initContainers=[container("exit 4", name="i")]))
    seen = cluster.wait_phase(name, "Failed")
    assert seen["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 4
    assert condition(seen, "Initialized") == "False"


def test_sidecars_end_when_the_main_containers_have(cluster, pods):
    name = pods("sideend")
    cluster.apply(pod(name, container("sleep 0.5"), restartPolicy="Never", initContainers=[
        container("trap 'exit 0' TERM; while :; do sleep 0.1; done", name="s",
                  restartPolicy="Always")]))
    cluster.wait_phase(name, "Succeeded")


def test_liveness_restarts_and_says_why(cluster, pods):
    name = pods("live")
    cluster.apply(pod(name, container(
        "touch /tmp/ok; sleep 1; rm /tmp/ok; trap 'exit 0' TERM; while :; do sleep 0.1; done",
        livenessProbe={"exec": {"command": ["test", "-e", "/tmp/ok"]}, "periodSeconds": 1,
                       "failureThreshold": 2})))
    wait_for(lambda: cluster.get("pod", name)["status"].get("containerStatuses", [{}])[0].get("restartCount", 0) >= 1,
             "it is restarted")
    assert "Unhealthy" in cluster.reasons(name)
    assert any("failed liveness probe, will be restarted" in m for _, m in cluster.events(name))


def test_readiness_follows_its_probe(cluster, pods):
    name = pods("ready")
    cluster.apply(pod(name, container(
        "trap 'exit 0' TERM; while :; do sleep 0.1; done",
        readinessProbe={"exec": {"command": ["test", "-e", "/tmp/ready"]}, "periodSeconds": 1,
                        "failureThreshold": 1})))
    cluster.wait_phase(name, "Running")
    assert condition(cluster.get("pod", name), "Ready") == "False"
    cluster.exec(name, "touch", "/tmp/ready")
    cluster.wait_ready(name, 5)
    cluster.exec(name, "rm", "/tmp/ready")
    wait_for(lambda: condition(cluster.get("pod", name), "Ready") == "False", "unready again", 5)


def test_http_and_tcp_probes(cluster, pods):
    name = pods("probes")
    cluster.apply(pod(name, container(
        ["python3", "-m", "http.server", "8080"], ports=[{"name": "web", "containerPort": 8080}],
        startupProbe={"tcpSocket": {"port": "web"}, "periodSeconds": 1, "failureThreshold": 20},
        readinessProbe={"httpGet": {"path": "/etc/hostname", "port": "web"}, "periodSeconds": 1},
        livenessProbe={"httpGet": {"path": "/etc/hostname", "port": 8080}, "periodSeconds": 1}),
    ))
    cluster.wait_ready(name)
    time.sleep(2)
    assert cluster.get("pod", name)["status"]["containerStatuses"][0]["restartCount"] == 0


def test_hooks_run_after_the_start_and_before_the_end(cluster, pods, tmp_path):
    name = pods("hooks")
    cluster.apply(pod(name, container(
        "trap 'echo term >> /h/log; exit 0' TERM; while :; do sleep 0.1; done",
        volumeMounts=[{"name": "h", "mountPath": "/h"}],
        lifecycle={"postStart": {"exec": {"command": ["sh", "-c", "echo post >> /h/log"]}},
                   "preStop": {"exec": {"command": ["sh", "-c", "sleep 0.3; echo pre >> /h/log"]}}}),
        volumes=[{"name": "h", "hostPath": {"path": str(tmp_path)}}],
        terminationGracePeriodSeconds=10))
    cluster.wait_ready(name)
    cluster.kubectl("delete", "pod", name)
    assert (tmp_path / "log").read_text().split() == ["post", "pre", "term"]


def test_a_container_that_ends_in_the_midst_of_its_hook_is_what_is_told(cluster, pods):
    name = pods("brief")
    cluster.apply(pod(name, container("sleep 0.5; exit 3", lifecycle={"postStart": {"exec": {"command": ["sleep", "30"]}}}),
                      restartPolicy="Never"))
    wait_for(lambda: cluster.get("pod", name)["status"]["phase"] == "Failed", "it has ended")
    assert cluster.get("pod", name)["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3
    assert not [m for r, m in cluster.events(name) if r == "FailedPostStartHook"], cluster.events(name)


def test_deletion_waits_for_the_grace_period_and_then_kills(cluster, pods):
    name = pods("stubborn")
    cluster.apply(pod(name, container("trap '' TERM; while :; do sleep 0.1; done"),
                      terminationGracePeriodSeconds=2))
    cluster.wait_ready(name)
    began = time.monotonic()
    cluster.kubectl("delete", "pod", name, "--wait=false")
    assert cluster.get("pod", name)["metadata"]["deletionTimestamp"]
    cluster.wait_gone("pod", name)
    assert 1.5 < time.monotonic() - began < 6
    assert any(r == "Killing" and m == "Stopping container main" for r, m in cluster.events(name))


def test_forced_deletion_ends_the_container_too(cluster, pods):
    name = pods("forced")
    cluster.apply(pod(name, container("trap '' TERM; echo pid $$; exec sleep 31415")))
    cluster.wait_ready(name)
    cluster.kubectl("delete", "pod", name, "--force", "--grace-period=0")
    import subprocess
    wait_for(lambda: subprocess.run(["pgrep", "-f", "sleep 31415"], check=False,
                                    capture_output=True).returncode != 0, "the process is gone", 10)


def test_a_pod_over_its_deadline_fails(cluster, pods):
    name = pods("deadline")
    cluster.apply(sleeper(name, activeDeadlineSeconds=1))
    seen = cluster.wait_phase(name, "Failed", 10)
    assert seen["status"]["reason"] == "DeadlineExceeded"


def test_memory_beyond_the_limit_is_an_oom_kill(cluster, pods):
    name = pods("oom")
    cluster.apply(pod(name, container(["python3", "-c", "x = bytearray(300 << 20)"],
                                      resources={"limits": {"memory": "64Mi"}}),
                      restartPolicy="Never"))
    seen = cluster.wait_phase(name, "Failed")
    ended = seen["status"]["containerStatuses"][0]["state"]["terminated"]
    assert ended["reason"] == "OOMKilled" and ended["exitCode"] == 137
    assert seen["status"]["qosClass"] in ("Burstable", "Guaranteed")


def test_a_missing_configmap_holds_the_container_back_until_it_comes(cluster, pods):
    name = pods("later")
    cluster.apply(pod(name, container(["sleep", "99"], env=[
        {"name": "A", "valueFrom": {"configMapKeyRef": {"name": name, "key": "a"}}}])))
    def waiting():
        states = cluster.get("pod", name)["status"].get("containerStatuses", [{}])
        return states[0].get("state", {}).get("waiting", {}).get("reason") == "CreateContainerConfigError"
    wait_for(waiting, "it waits")
    cluster.apply(configmap(name, a="1"))
    cluster.wait_ready(name, 10)
    assert cluster.sh(name, "echo $A") == "1\n"


def test_security_context_is_applied(cluster, pods):
    name = pods("security")
    cluster.apply(pod(name, container(
        "id -u; id -g; id -G; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status; touch /x || echo ro; sleep 1000",
        securityContext={"runAsUser": 1234, "runAsGroup": 5678, "readOnlyRootFilesystem": True,
                         "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}),
        securityContext={"fsGroup": 4321, "supplementalGroups": [99]}))
    cluster.wait_ready(name)
    out = wait_for(lambda: (t := cluster.kubectl("logs", name).stdout) and "ro\n" in t and t, "its output")
    lines = out.split("\n")
    assert lines[0] == "1234" and lines[1] == "5678"
    assert set(lines[2].split()) == {"5678", "99", "4321"}
    assert lines[3].split()[1] == "0000000000000000"
    assert lines[4].split()[1] == "1"


def test_privileged_containers_have_devices_and_rights(cluster, pods):
    name = pods("privileged")
    cluster.apply(pod(name, container(["sleep", "99"], securityContext={"privileged": True})))
    cluster.wait_ready(name)
    assert cluster.sh(name, "mkdir /m && mount -t tmpfs none /m && echo mounted") == "mounted\n"


def test_containers_of_a_pod_share_what_they_should(cluster, pods):
    name = pods("share")
    cluster.apply(pod(name, container(["sleep", "271828"], name="a"),
                      container(["sleep", "99"], name="b"), shareProcessNamespace=True))
    cluster.wait_ready(name)
    assert "271828" in cluster.sh(name, "ps ax", container="b")
    cluster.sh(name, "echo shared > /dev/shm/x", container="a")
    assert cluster.sh(name, "cat /dev/shm/x", container="b") == "shared\n"
    ips = [cluster.sh(name, "hostname -I", container=c) for c in "ab"]
    assert ips[0] == ips[1]


def test_host_network_and_pid(cluster, pods):
    import socket
    name = pods("host")
    cluster.apply(pod(name, container(["sleep", "99"]), hostNetwork=True, hostPID=True))
    seen = cluster.wait_ready(name)
    assert seen["status"]["podIP"] == seen["status"]["hostIP"]
    assert cluster.sh(name, "hostname").strip() == socket.gethostname()
    assert cluster.sh(name, "cat /proc/1/comm").strip() == open("/proc/1/comm").read().strip()


def test_the_root_is_the_containers_own(cluster, pods):
    name = pods("root")
    cluster.apply(pod(name, container(["sleep", "99"]), container(["sleep", "99"], name="other")))
    cluster.wait_ready(name)
    cluster.sh(name, "touch /etc/mine /var/lib/mine /tmp/mine", container="main")
    cluster.sh(name, "! touch /usr/mine /opt/mine 2>/dev/null", container="main")
    out = cluster.sh(name, "ls /etc/mine /usr/mine /var/lib/mine /tmp/mine 2>/dev/null | wc -l", container="other")
    assert out.strip() == "0"
    import os
    assert not os.path.exists("/etc/mine") and not os.path.exists("/usr/mine")


def test_volumes_find_a_place_in_the_machines_directories(cluster, pods):
    """Where the machine has no such path, and where it has one."""
    name = pods("place")
    paths = ["/usr/local/nowhere/deep", "/usr/local/other", "/opt/nowhere", "/usr/share", "/etc/ssl/nowhere", "/etc/nowhere"]
    mounts = [{"name": "v", "mountPath": p} for p in paths]
    cluster.apply(pod(name, {**container(["sleep", "99"]), "volumeMounts": mounts},
                      volumes=[{"name": "v", "emptyDir": {}}]))
    cluster.wait_ready(name)
    cluster.sh(name, "touch /opt/nowhere/mine && " + " && ".join(f"ls {p}/mine" for p in paths))
    cluster.sh(name, "ls /etc/ssl/openssl.cnf /usr/local/bin /etc/passwd")
    import os
    assert not os.path.exists("/usr/local/nowhere") and not os.path.exists("/opt/nowhere")


def test_who_may_mount_cannot_write_the_machines_directories(cluster, pods):
    name = pods("mounter")
    c = {**container(["sleep", "99"]), "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}
    cluster.apply(pod(name, c))
    cluster.wait_ready(name)
    cluster.sh(name, "mount -o remount,rw /usr 2>/dev/null; touch /usr/mine-too; touch /etc/mine-too; echo x:x:9:9::/:/x >> /etc/passwd")
    import os
    assert not os.path.exists("/usr/mine-too") and not os.path.exists("/etc/mine-too")
    with open("/etc/passwd") as f:
        assert "x:x:9:9" not in f.read()
