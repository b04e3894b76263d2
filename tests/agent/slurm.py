# SPDX-License-Identifier: GPL-2.0-or-later
"""A slurmctld of one's own: real munged and slurmctld with their own key, socket, ports and state.

Nothing of the machine's own Slurm or munge is touched.  The nodes are State=CLOUD: slurmctld neither
resolves nor contacts them.
"""
import ctypes
import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import release  # noqa: E402

BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build"))
SUPERVISE = os.path.join(BUILD, "src/supervise/slurmkeeper-supervise")
# slurmctld as its start script runs it; the file comes after.
DAEMON = ([SUPERVISE, release.program("slurmctld"), "--systemd", "-f"] if release.has("service")
          else [release.program("slurmctld"), "-D", "-f"])

CONF = """ClusterName={name}
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={slurmd_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge.socket
StateSaveLocation={dir}/state
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmctldDebug=verbose
SlurmdSpoolDir={dir}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
PrivateData=cloud
SuspendProgram=/bin/true
ResumeProgram=/bin/true
SuspendTime=86400
ResumeTimeout=60
ReturnToService=2
MessageTimeout=10
GresTypes=gpu
PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
"""

NODES = """NodeName=c[0001-{nodes:04d}] CPUs=4 RealMemory=4000 Feature=blue State=CLOUD
NodeSet=blue Feature=blue
NodeSet=few Nodes=c[0001-0003]
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def die_with_parent():
    """In a new process: be killed when the test is."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def wait_for(what, seconds=20, every=0.02):
    """The first true answer of what(); an assertion that says what it waited for."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = what()
        if answer:
            return answer
        time.sleep(every)
    raise AssertionError(f"not within {seconds} s: {what.__doc__ or what.__name__}")


def daemon_of(pid):
    """The slurmctld that was started as this process, or that this one looks after."""
    if not release.has("service"):
        return pid
    mine = [int(p) for p in os.listdir("/proc") if p.isdigit() and parent_of(p) == pid and
            name_of(p) == "slurmctld"]
    return max(mine, default=pid)


def is_stopped(pid):
    """Every thread of it: one that still runs may answer a call."""
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(path, encoding="utf-8") as f:
            if f.read().rsplit(")", 1)[1].split()[0] not in "TZ":
                return False
    return True


def signal_daemon(pid, how):
    os.kill(pid, how)
    if how == signal.SIGSTOP:
        wait_for(lambda: is_stopped(pid), every=0.001)


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


class Slurm:
    def __init__(self, nodes=1000, partitions=None, extra=""):
        self.dir = tempfile.mkdtemp(prefix="sk-agent-")
        self.conf = os.path.join(self.dir, "slurm.conf")
        self.port = free_port()
        self.fields = dict(name="scratch", port=self.port, slurmd_port=free_port(), dir=self.dir,
                           nodes=nodes)
        self.partitions = partitions or ["PartitionName=all Nodes=ALL Default=YES"]
        self.extra = extra
        self.processes = []
        self.ctld = None
        os.chmod(self.dir, 0o755)
        os.mkdir(os.path.join(self.dir, "state"), 0o700)
        try:
            self.write()
            self.start_munged()
            self.start()
        except BaseException:
            self.stop()
            raise

    def text(self):
        lines = CONF.format(**self.fields) + self.extra + "\n"
        if self.fields["nodes"]:
            lines += NODES.format(**self.fields)
        return lines + "\n".join(self.partitions) + "\n"

    def write(self, path=None):
        with open(path or self.conf, "w", encoding="utf-8") as f:
            f.write(self.text())

    def start_munged(self):
        key = os.path.join(self.dir, "munge.key")
        with open(key, "wb") as f:
            f.write(os.urandom(128))
        os.chmod(key, 0o400)
        self.munge_socket = os.path.join(self.dir, "munge.socket")
        self.processes.append(subprocess.Popen(
            ["/usr/sbin/munged", "-F", "--key-file", key, "--socket", self.munge_socket,
             "--pid-file", f"{self.dir}/munged.pid", "--log-file", f"{self.dir}/munged.log",
             "--seed-file", f"{self.dir}/munged.seed", "--force"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=die_with_parent))
        wait_for(lambda: os.path.exists(self.munge_socket))

    def start(self):
        self.ctld = subprocess.Popen(
            [*DAEMON, self.conf], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent,
            env={"PATH": os.environ["PATH"], "SLURM_CONF": self.conf})
        wait_for(self.is_up)

    def is_up(self):
        """slurmctld answers"""
        assert self.ctld.poll() is None, self.log()[-2000:]
        return self.scontrol("ping", check=False).returncode == 0

    def send(self, how):
        signal_daemon(daemon_of(self.ctld.pid), how)

    def kill(self, how=signal.SIGKILL):
        self.send(how)
        self.ctld.wait(20)

    def log(self):
        try:
            with open(f"{self.dir}/slurmctld.log", encoding="utf-8", errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def scontrol(self, *args, check=True):
        return subprocess.run([release.program("scontrol"), *args], check=check, capture_output=True,
                              text=True, timeout=30,
                              env={"PATH": os.environ["PATH"], "SLURM_CONF": self.conf})

    def partition(self, name):
        """Keys of scontrol show partition."""
        text = self.scontrol("-o", "show", "partition", name).stdout
        return dict(pair.split("=", 1) for pair in text.split() if "=" in pair)

    def stop(self):
        if self.ctld and self.ctld.poll() is None and daemon_of(self.ctld.pid) != self.ctld.pid:
            self.send(signal.SIGCONT)
            self.kill()
        for process in [self.ctld, *self.processes]:
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait(20)
        shutil.rmtree(self.dir, ignore_errors=True)
