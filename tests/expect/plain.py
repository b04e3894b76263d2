# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain Slurm on this machine: slurmctld, three slurmds and munged, with the settings of the quick start."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def quickstart():
    """Lines of slurm.conf, and cgroup.conf."""
    with open(f"{TOP}/examples/quickstart.yaml", encoding="utf-8") as f:
        text = f.read()

    def block(key):
        found = re.search(rf"^( *){re.escape(key)}: \|\n((?:\1 +.*\n)+)", text, re.M)
        return "".join(line.strip() + "\n" for line in found.group(2).splitlines())
    # this machine's tree may be hybrid, which autodetect does not take outside of pods
    groups = block("cgroup.conf")
    if os.path.exists("/sys/fs/cgroup/unified"):
        groups = groups.replace("autodetect", "cgroup/v1")
    return block("extraConf"), groups


class Plain:
    """Its daemons are children of this process; a context that removes what it made."""

    def __init__(self, directory):
        self.dir = directory
        self.names = [f"compute-{i}" for i in range(3)]
        self.children = []

    def write(self, name, text, mode=0o644):
        with open(f"{self.dir}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(f"{self.dir}/{name}", mode)

    def conf(self):
        ctld, *slurmds = free_ports(4)
        hardware = subprocess.run(["slurmd", "-C"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        shape = " ".join(w for w in hardware.split() if not w.startswith("NodeName="))
        settings, groups = quickstart()
        host = socket.gethostname().split(".")[0]
        self.write("cgroup.conf", groups)
        self.write("slurm.conf", f"""ClusterName=plain
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser=root
AuthInfo=socket={self.dir}/munge.socket
StateSaveLocation={self.dir}/state
SlurmdSpoolDir={self.dir}/spool-%n
SlurmctldPidFile={self.dir}/slurmctld.pid
SlurmdPidFile={self.dir}/slurmd-%n.pid
SlurmctldLogFile={self.dir}/slurmctld.log
SlurmdLogFile={self.dir}/slurmd-%n.log
SelectType=select/cons_tres
{settings}""" + "".join(f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={p} Features=compute {shape}\n"
                        for n, p in zip(self.names, slurmds)) +
                   f"PartitionName=compute Nodes={','.join(self.names)} Default=YES MaxTime=24:00:00\n")

    def start(self, *argv):
        with open(f"{self.dir}/daemons.log", "ab") as log:
            child = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.env())
        self.children.append(child)

    def env(self):
        return {**os.environ, "SLURM_CONF": f"{self.dir}/slurm.conf"}

    def __enter__(self):
        os.mkdir(f"{self.dir}/state")
        with open(f"{self.dir}/munge.key", "wb") as f:
            f.write(os.urandom(128))
        os.chmod(f"{self.dir}/munge.key", 0o400)
        self.conf()
        self.start("munged", "--foreground", "--force", f"--key-file={self.dir}/munge.key",
                   f"--socket={self.dir}/munge.socket", f"--pid-file={self.dir}/munged.pid",
                   f"--seed-file={self.dir}/munged.seed", f"--log-file={self.dir}/munged.log")
        while not os.path.exists(f"{self.dir}/munge.socket"):
            time.sleep(0.05)
        self.start("slurmctld", "-D", "-i")
        for name in self.names:
            self.start("slurmd", "-D", "-N", name)
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for name in self.names:
            subprocess.run(["find", "/sys/fs/cgroup", "-depth", "-type", "d", "-path", f"*/slurm_{name}*", "-exec",
                            "rmdir", "{}", "+"], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(f"{self.dir}/state", ignore_errors=True)
