# SPDX-License-Identifier: GPL-2.0-or-later
"""What a job reaches, line by line: as an ordinary user, and as root in a worker pod.

All lines of a user run in one job; each is a test of its own.  A line is a shell command: its status says whether it
got through.  docs/pod-isolation.md has the same lines as promises.
"""
import contextlib
import glob
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import uuid

import pytest

from local import PROGRAM, Local, as_user, nodeset, run, wait_for

NO, YES = False, True
OPEN = None  # not promised: the user owns it, or root in the pod does

CANARY = f"slurmkeeper-reach-{uuid.uuid4().hex[:8]}"
PROBE = "python3 {share}/probe.py"

# what, the command, whether it gets through: for a user, for root in the pod
LINES = [
    # files of the machine
    ("a private file in /etc", f"cat /etc/{CANARY}", NO, NO),
    ("a private file that came to /etc later", f"cat /etc/{CANARY}-later", NO, NO),
    ("password hashes", "grep -v ':[*]:' /etc/shadow", NO, NO),
    ("password hashes of the day before", "cat /etc/shadow- /etc/gshadow- /etc/gshadow", NO, NO),
    ("host keys of ssh", "cat /etc/ssh/ssh_host_*_key", NO, NO),
    ("private keys of TLS", "cat /etc/ssl/private/*", NO, NO),
    ("the machine's munge key", "cat /etc/munge/munge.key", NO, NO),
    ("sudo's rules", "cat /etc/sudoers", NO, NO),
    ("root's home", f"cat /root/{CANARY}", NO, NO),
    ("the machine's /tmp", f"cat /tmp/{CANARY}", NO, NO),
    ("the machine's /run", f"cat /run/{CANARY}", NO, NO),
    # files of the cluster
    ("the state directory", "ls {state}/node", NO, NO),
    ("the administrator's kubeconfig", "cat {state}/admin.kubeconfig", NO, NO),
    ("the store", "cat {state}/api.db", NO, NO),
    ("the node's socket", PROBE + " socket {state}/node.sock", NO, NO),
    ("keys of Slurm in the pod", "cat /etc/slurm/munge.ring", NO, OPEN),
    ("the munge key in the pod", "cat /etc/slurm/munge.key /run/munge-*/*/key", NO, OPEN),
    ("a token for the API server", "cat /var/run/secrets/kubernetes.io/serviceaccount/token", NO, NO),
    ("Secrets by the API server", "curl -skf -m 5 https://10.96.0.1/api/v1/secrets", NO, NO),
    ("the keys of slurmctld's pod", "cat /etc/slurm/jwt.key /etc/slurmkeeper-agent/*", NO, NO),
    ("the agent, which asks for its token",
     "[ $(curl -sk -m 5 -o /dev/null -w '%{http_code}' https://{agent}:6821/v1/state) = 401 ]", YES, YES),
    ("what slurmd was started with", "cat /proc/1/environ", NO, OPEN),
    ("the root of slurmd", "ls /proc/1/root/", NO, OPEN),
    # the kernel
    ("core_pattern", PROBE + " rewrite /proc/sys/kernel/core_pattern", NO, NO),
    ("kernel.hostname and kin", PROBE + " rewrite /proc/sys/kernel/printk", NO, NO),
    ("settings of memory", PROBE + " rewrite /proc/sys/vm/overcommit_memory", NO, NO),
    ("settings of the network", PROBE + " rewrite /proc/sys/net/ipv4/ip_forward", NO, NO),
    ("sysrq", "echo h > /proc/sysrq-trigger", NO, NO),
    ("the kernel's memory", "head -c 1 /proc/kcore | grep -q .", NO, NO),
    ("the kernel's log by its file", "timeout 1 head -c 1 /dev/kmsg", NO, NO),
    ("the kernel's log by a call", PROBE + " kernel_log", NO, NO),
    ("debugfs", "ls /sys/kernel/debug/*", NO, NO),
    ("writing into /sys", PROBE + " rewrite /sys/kernel/mm/transparent_hugepage/enabled", NO, NO),
    ("mounts", PROBE + " mount", NO, NO),
    ("mounts, the new way", PROBE + " open_tree", NO, NO),
    ("a user namespace", PROBE + " unshare 10000000", NO, NO),
    ("a mount namespace", PROBE + " unshare 20000", NO, NO),
    ("another namespace of the pod", PROBE + " join mnt", NO, NO),
    ("modules", PROBE + " module", NO, NO),
    ("kexec", PROBE + " kexec", NO, NO),
    ("reboot", PROBE + " reboot", NO, NO),
    ("the clock", PROBE + " clock", NO, NO),
    ("swap", PROBE + " swap", NO, NO),
    ("accounting", PROBE + " acct", NO, NO),
    ("bpf", PROBE + " bpf", NO, NO),
    ("keyrings", PROBE + " keys", NO, NO),
    ("files by handle", PROBE + " handle", NO, NO),
    ("events of all processors", PROBE + " perf", NO, NO),
    ("userfaultfd", PROBE + " userfaultfd", NO, NO),
    ("io_uring", PROBE + " io_uring", NO, NO),
    # devices and control groups
    ("the machine's disk", PROBE + " disk", NO, NO),
    ("disks in /dev", "ls /dev/[svx]d[a-z] /dev/vd[a-z] /dev/nvme*", NO, NO),
    ("memory by its device", "head -c 1 /dev/mem", NO, NO),
    ("release_agent", "find /sys/fs/cgroup -name release_agent | grep -q .", NO, NO),
    ("control groups by a mount", "mkdir -p /tmp/g$$ && mount -t cgroup -o memory none /tmp/g$$", NO, NO),
    ("more devices by the control group", "echo 'a *:* rwm' > /sys/fs/cgroup/devices/devices.allow", NO, NO),
    ("a program with its owner's rights", PROBE + " plant {share}/planted-$$", NO, NO),
    ("the same by a later call", PROBE + " plant_anew {share}/planted-anew-$$", NO, NO),
    ("a program with a capability", PROBE + " empower {share}/empowered-$$", NO, NO),
    ("a device in a shared directory", "mknod {share}/null-$$ c 1 3", NO, NO),
    ("a program of the machine by a hard link", "ln /libexec/slurmkeeper/slurmkeeper {share}/linked-$$", NO, NO),
    ("a file of the machine by a hard link", "ln /etc/hosts {share}/hosts-$$", NO, NO),
    ("the state directory through a link in a share", "ln -s {state} {share}/way-$$ && ls {share}/way-$$/node", NO, NO),
    # processes and the network
    ("processes of the machine", PROBE + " sees pytest", NO, NO),
    ("signals to slurmd", "kill -0 $(pgrep -xo slurmd) 1", NO, OPEN),
    ("tracing slurmd", PROBE + " trace $(pgrep -xo slurmd)", NO, OPEN),
    ("slurmd's memory by a call", PROBE + " peek $(pgrep -xn slurmd)", NO, OPEN),
    ("slurmd's memory by its file", ": < /proc/$(pgrep -xn slurmd)/mem", NO, OPEN),
    ("slurmd's open files", PROBE + " take $(pgrep -xn slurmd)", NO, OPEN),
    ("the environment of slurmstepd", "cat /proc/$(pgrep -o slurmstepd)/environ", NO, OPEN),
    ("the memory of slurmstepd", PROBE + " peek $(pgrep -o slurmstepd)", NO, OPEN),
    ("its own memory by a call", PROBE + " peek self", YES, YES),
    ("where slurmd's memory dump would lie", "touch /core-$$", NO, OPEN),
    ("shared memory of the machine", "grep -q {shm} /proc/sysvipc/shm", NO, NO),
    ("raw sockets", PROBE + " raw", NO, NO),
    ("packets as they are on the wire", PROBE + " packet", NO, NO),
    ("speaking as the gateway", PROBE + " spoof", NO, NO),
    ("another address", "ip address add 192.0.2.7/32 dev lo", NO, NO),
    ("routes", "ip route add 192.0.2.0/24 dev lo", NO, NO),
    ("firewall rules", "nft list ruleset", NO, NO),
    ("the host of a virtual machine", PROBE + " vsock", NO, NO),
    ("the same, as 32-bit programs ask", PROBE + " vsock32", NO, NO),
    ("crypto sockets of the kernel", PROBE + " alg", NO, NO),
    ("sockets of the machine without a file", PROBE + f" abstract {CANARY}", NO, NO),
    ("the machine's loopback", PROBE + " tcp 127.0.0.1 {port}", NO, NO),
    # logs
    ("a line in slurmd's log", "echo forged >> /var/log/slurm/slurmd.log", NO, OPEN),
    ("another log in its place", "mv /var/log/slurm/slurmd.log /tmp", NO, OPEN),
    ("a file beside the log", "touch /var/log/slurm/mine", NO, OPEN),
    ("how slurmd ended", "echo forged > /dev/termination-log", NO, OPEN),
    ("slurmd's output", "for p in 1 $(pgrep -x slurmd); do echo forged > /proc/$p/fd/1 && exit 0; done; exit 1",
     NO, OPEN),
    # and what a job needs
    ("users of the machine", "getent passwd slurm", YES, YES),
    ("the user's own name", "[ -n \"$(id -un)\" ]", YES, YES),
    ("homes", "ls -d /home", YES, YES),
    ("a /tmp of the pod's own", "touch /tmp/$$ && rm /tmp/$$", YES, YES),
    ("shared directories", "touch {share}/$$ && rm {share}/$$", YES, YES),
    ("memory that is shared", "touch /dev/shm/$$ && rm /dev/shm/$$", YES, YES),
    ("names of other nodes", "getent hosts compute-1", YES, YES),
    ("a way to ping", PROBE + " ping", YES, YES),
    ("another node's slurmd", PROBE + " tcp compute-1 6818", YES, YES),
    ("slurmctld", "scontrol ping | grep -q UP", YES, YES),
    ("steps of its own", "srun -n1 true", YES, YES),
    ("changing to another user", "setpriv --reuid 65534 --clear-groups true", NO, YES),
    ("the umask of a login", "[ $(umask) = 0022 ]", YES, YES),
]


def ordinary_user():
    return next((e.pw_name for e in pwd.getpwall() if 1000 <= e.pw_uid < 60000), "nobody")


USERS = {"user": ordinary_user(), "root": None}


def put(path, text="secret\n"):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(fd, text.encode())
    os.close(fd)


@pytest.fixture(scope="module")
def canaries():
    """Files that only root of the machine may read, and a socket of its."""
    paths = [f"/etc/{CANARY}", f"/root/{CANARY}", f"/tmp/{CANARY}", f"/run/{CANARY}"]
    later = f"/etc/{CANARY}-later"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0{CANARY}")
    listener.listen()
    for path in paths:
        put(path)
    yield later
    listener.close()
    for path in [*paths, later]:
        if os.path.exists(path):
            os.unlink(path)


@pytest.fixture(scope="module")
def segment():
    """The key of a shared memory segment of the machine."""
    number = run("ipcmk", "-M", "8", "-p", "0666").stdout.split()[-1]
    with open("/proc/sysvipc/shm") as f:
        yield next(line.split()[0] for line in f if line.split()[1] == number)
    run("ipcrm", "-m", number)


@pytest.fixture(scope="module")
def own(canaries, segment):
    with Local("r") as c:
        c.up()
        shutil.copy(f"{os.path.dirname(__file__)}/probe.py", c.share)
        os.chmod(f"{c.share}/probe.py", 0o644)
        put(canaries)
        with open(f"{c.state}/admin.kubeconfig") as f:
            c.port = f.read().split("127.0.0.1:")[1].split()[0].strip('"/')
        c.shm = segment
        c.agent = c.get("pod", "slurm-controller-0")["status"]["podIP"]
        c.limited = c.submit("sleep 314159 & sleep 314159", "-t", "1", "-w", "compute-2", "-o", "/dev/null",
                             user=USERS["user"])
        yield c


def expectation(line, who):
    return line[3] if who == "root" else line[2]


def script(c, who):
    """Every line of which something is expected, its number and its status after it."""
    text = "#!/bin/bash\nexec 2>/dev/null </dev/null\ncd /tmp\n"
    for i, line in enumerate(LINES):
        if expectation(line, who) is OPEN:
            continue
        command = line[1]
        for name in ("share", "state", "port", "agent", "shm"):
            command = command.replace("{" + name + "}", getattr(c, name))
        text += f"( timeout 20 bash -c {quote(command)} ) >/dev/null; echo {i} $?\n"
    return text


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


@pytest.fixture(scope="module")
def answers(own):
    """For each user: the status of each line, by its number."""
    result = {}
    for who, user in USERS.items():
        path = f"{own.share}/{who}.sh"
        with open(path, "w") as f:
            f.write(script(own, who))
        os.chmod(path, 0o755)
        out = own.slurm("srun", "-w", "compute-0", "--overlap", "-n1", path, user=user, timeout=300).stdout
        result[who] = dict(line.split() for line in out.splitlines())
    return result


CASES = [(i, who) for i, line in enumerate(LINES) for who in USERS if expectation(line, who) is not OPEN]


@pytest.mark.parametrize("line,who", CASES, ids=[f"{who}: {LINES[i][0]}" for i, who in CASES])
def test_reach(answers, line, who):
    expected = expectation(LINES[line], who)
    status = answers[who][str(line)]
    assert (status == "0") == expected, f"{LINES[line][0]}, as {who}: {LINES[line][1]}: status {status}"


def test_a_forged_line_does_not_show(own, answers):
    assert answers
    for container in ("slurmd", "logfile"):
        assert "forged" not in own.kubectl("logs", "compute-0", "-c", container).stdout.split("\n")


def test_a_batch_job_of_a_user_writes_its_output(own):
    user = USERS["user"]
    job = own.submit("id -un; umask", "-o", "%j.txt", user=user)
    own.wait_job(job, "COMPLETED")
    path = f"{own.share}/{job}.txt"
    with open(path) as f:
        assert f.read().split() == [user, "0022"]
    assert os.stat(path).st_uid == as_user(user)["user"]


TALK = """
import os, socket, sys, time
place = sys.argv[1]
if os.environ["SLURM_PROCID"] == "0":
    s = socket.create_server(("", 0))
    with open(place + ".new", "w") as f:
        f.write(f"{socket.gethostname()} {s.getsockname()[1]}")
    os.rename(place + ".new", place)
    s.settimeout(20)
    print(s.accept()[0].recv(5).decode())
else:
    while not os.path.exists(place):
        time.sleep(0.05)
    host, port = open(place).read().split()
    socket.create_connection((host, int(port)), 20).send(b"hello")
"""


def test_tasks_on_two_nodes_talk_to_each_other(own):
    """As MPI does: a port of one's own, told to the others."""
    out = own.slurm("srun", "-N2", "-n2", "-w", "compute-[0-1]", "python3", "-c", TALK, f"{own.share}/place",
                    user=USERS["user"], timeout=60).stdout
    assert out.split() == ["hello"]


def test_processes_of_a_job_are_tracked_by_their_control_group(own):
    out = own.slurm("srun", "cat", "/proc/self/cgroup", user=USERS["user"]).stdout
    assert "freezer:/slurm_" in out and "/job_" in out and "/step_" in out


def outer_limits(c, name):
    """Of the groups that hold containers of a name to their limits, as the machine sees them."""
    return {int(open(f).read()) for f in glob.glob(f"/sys/fs/cgroup/memory/slurmkeeper-{c.name}/pod*/{name}-0/"
                                                   "memory.limit_in_bytes")}


def test_root_in_a_pod_does_not_lift_its_limits(own):
    if not os.path.exists("/sys/fs/cgroup/memory"):
        pytest.skip("control groups of this machine are v2 alone")
    own.apply(nodeset("small", replicas=1, partition={"enabled": True},
                      slurmd={"resources": {"limits": {"memory": "512Mi", "cpu": "1"}}}))
    own.wait_idle("small-0", seconds=60)
    assert 512 << 20 in outer_limits(own, "slurmd")
    out = own.exec("small-0", "sh", "-c",
                   "echo 9000000000 > /sys/fs/cgroup/memory/memory.limit_in_bytes;"
                   "grep hierarchical_memory_limit /sys/fs/cgroup/memory/memory.stat").stdout
    assert out.split()[1] == str(512 << 20)
    assert 512 << 20 in outer_limits(own, "slurmd")
    own.kubectl("delete", "nodeset", "small")


def group_files(c, pattern):
    """Contents of files of the cluster's control groups, whatever the machine has of them."""
    tops = glob.glob(f"/sys/fs/cgroup/*/slurmkeeper-{c.name}") + glob.glob(f"/sys/fs/cgroup/slurmkeeper-{c.name}")
    return [open(f).read().strip() for top in tops for f in glob.glob(f"{top}/{pattern}")]


def kernel_number(name):
    with open(f"/proc/sys/kernel/{name}") as f:
        return int(f.read())


def test_a_fork_bomb_leaves_the_machine_processes(own):
    all_tasks = min(kernel_number("pid_max"), kernel_number("threads-max"))
    assert group_files(own, "pids.max") == [str(all_tasks // 4 * 3)]
    workers = group_files(own, "pod*/slurmd-0/pids.max")
    assert workers and set(workers) == {str(all_tasks // 4)}


def test_pods_together_leave_the_machine_memory(own):
    limits = group_files(own, "memory.limit_in_bytes") + group_files(own, "memory.max")
    with open("/proc/meminfo") as f:
        total = int(f.readline().split()[1]) << 10
    assert len(limits) == 1 and total // 2 <= int(limits[0]) < total - (100 << 20)


FROZEN = """
cd /sys/fs/cgroup/freezer 2>/dev/null && mkdir ice && echo $$ > ice/cgroup.procs && sleep 1000 & sleep 1
echo FROZEN > /sys/fs/cgroup/freezer/ice/freezer.state
mkdir -p /sys/fs/cgroup/ice && echo 1 > /sys/fs/cgroup/ice/cgroup.freeze
sleep 1000
"""


def test_a_pod_that_freezes_itself_can_be_deleted(own):
    own.apply(json.dumps({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "ice", "annotations": {"confine.slurmkeeper.dev/c": "KILL"}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{
            "name": "c", "image": "x", "command": ["bash", "-c", FROZEN], "securityContext": {"privileged": True}}]}}))
    own.wait_ready("ice")
    wait_for(lambda: "FROZEN" in group_files(own, "pod*/c-0/inside/ice/freezer.state") or
             "1" in group_files(own, "pod*/c-0/inside/ice/cgroup.freeze"), "it is frozen")
    own.kubectl("delete", "pod", "ice", "--wait=false")
    wait_for(lambda: own.get("pod", "ice", check=False) is None, "it is gone", seconds=15)


def test_a_pod_of_ones_own_has_no_raw_packets_and_leaves_no_programs_for_others(own):
    own.apply('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"plain"},"spec":{"containers":[{"name":"c",'
              '"image":"x","command":["sleep","1000"]}]}}')
    own.wait_ready("plain")
    for attempt in ("raw", "packet", "spoof", "disk", f"plant {own.share}/p", f"empower {own.share}/e",
                    f"plant_anew {own.share}/a", "unshare 10000000"):
        done = own.exec("plain", "python3", f"{own.share}/probe.py", *attempt.split(), check=False)
        assert done.returncode != 0, attempt
    own.kubectl("delete", "pod", "plain", "--now")


def test_a_pod_does_not_set_what_is_the_machines(own):
    """The value is the one that is there: nothing happens where it gets through."""
    with open("/proc/sys/kernel/core_pattern") as f:
        sysctl = {"name": "kernel.core_pattern", "value": f.read().strip()}
    own.apply(json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "setter"},
        "spec": {"securityContext": {"sysctls": [sysctl]},
                 "containers": [{"name": "c", "image": "x", "command": ["sleep", "1000"]}]}}))
    wait_for(lambda: any("a setting of the whole machine" in m for _, m in own.events("setter")), "it is refused")
    own.kubectl("delete", "pod", "setter", "--now")


def test_the_bridge_takes_no_router_from_a_pod(own):
    path = f"/proc/sys/net/ipv6/conf/sk-{own.name}/disable_ipv6"
    if os.path.exists("/proc/sys/net/ipv6"):
        with open(path) as f:
            assert f.read().strip() == "1"


def test_a_pod_that_says_privileged_itself_still_is(own):
    own.apply('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"mighty"},"spec":{"containers":[{"name":"c",'
              '"image":"x","command":["sleep","1000"],"securityContext":{"privileged":true}}]}}')
    own.wait_ready("mighty")
    own.exec("mighty", "mount", "-t", "tmpfs", "none", "/mnt")
    own.kubectl("delete", "pod", "mighty", "--now")


@contextlib.contextmanager
def place_in_software(c):
    """It lies below a directory that all pods see."""
    top = tempfile.mkdtemp(prefix=f"sk-{c.name}-", dir="/opt")
    os.chmod(top, 0o755)
    yield f"{top}/state", c.share
    shutil.rmtree(top)


@contextlib.contextmanager
def place_on_overlay(c):
    """It lies on an overlay, as everything does in a live system or a container: Linux takes no second one there."""
    below = tempfile.mkdtemp(prefix=f"sk-{c.name}-", dir="/var/tmp")
    run("mount", "-t", "tmpfs", "tmpfs", below)
    for name in ("lower", "upper", "work", "at"):
        os.mkdir(f"{below}/{name}")
    options = f"lowerdir={below}/lower,upperdir={below}/upper,workdir={below}/work"
    run("mount", "-t", "overlay", "overlay", "-o", options, f"{below}/at")
    yield f"{below}/at/state", c.share
    run("umount", f"{below}/at", below)
    os.rmdir(below)


@pytest.mark.parametrize("place", [place_in_software, place_on_overlay])
def test_the_state_directory_is_seen_nowhere(own, place):
    with Local("rs") as c, place(c) as (state, share):
        kubectl = ["kubectl", "--kubeconfig", f"{state}/admin.kubeconfig", "exec", "compute-0", "--"]
        try:
            run(PROGRAM, "up", "--state", state, "--name", c.name, "--share", share, timeout=120)
            assert run(*kubectl, "ls", "-A", state, check=False).stdout == ""
            assert run(*kubectl, "touch", f"{state}/x", check=False).returncode != 0
            run(*kubectl, "touch", f"{share}/x", "/etc/x", "/var/x")
            assert run(*kubectl, "touch", "/usr/x", "/opt/x", check=False).returncode != 0
            assert os.path.exists(f"{c.share}/x") and not os.path.exists("/etc/x")
        finally:
            run(PROGRAM, "down", "--state", state, "--purge", "--force", "--grace", "1", timeout=60)
        assert not [line for line in open("/proc/self/mountinfo") if f"{state}/" in line]


def test_a_path_that_mounts_cannot_name_is_refused_at_once(own):
    with Local("rc") as c:
        state = f"{c.share}/a,b"
        done = run(PROGRAM, "up", "--state", state, "--name", c.name, check=False, timeout=120)
        assert done.returncode == 1 and "cannot be a state directory" in done.stderr
        run(PROGRAM, "down", "--state", state, "--purge", "--force", "--grace", "1", timeout=60)


def test_a_time_limit_still_kills(own):
    """The job was begun with the cluster: a minute is the least limit that there is."""
    own.wait_job(own.limited, "TIMEOUT", seconds=180)
    wait_for(lambda: subprocess.run(["pgrep", "-xf", "sleep 314159"], check=False, capture_output=True).returncode,
             "its processes are gone", seconds=60)
