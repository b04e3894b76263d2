# SPDX-License-Identifier: GPL-2.0-or-later
"""A Kubernetes on this machine: etcd, API server, controllers, scheduler, CoreDNS, and nodes.

We are in network, mount and process namespaces of our own already (run).  This one is the machine of the
control plane; each node is a further network namespace with a kubelet, a containerd and a kube-proxy, behind
a bridge:

    10.211.0.1      control plane; pods find CoreDNS here
    10.211.0.10+i   node i; its pods are 10.212.i.0/24, on a bridge of the node
    10.96.0.0/16    Services
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

SCRATCH = pathlib.Path(os.environ["SCRATCH"])
PROGRAMS = pathlib.Path(os.environ["PROGRAMS"])
HUB = "10.211.0.1"
URL = f"https://{HUB}:6443"
WAIT_S = float(os.environ.get("E2E_WAIT_S", "120"))


def sh(*argv, text=None, check=True, **more):
    done = subprocess.run([str(a) for a in argv], input=text, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0 or not check, f"{' '.join(map(str, argv))}: {done.stdout}{done.stderr}"
    return done.stdout


def eventually(check, what, wait_s=WAIT_S, every_s=0.2):
    until = time.monotonic() + wait_s
    last = None
    while time.monotonic() < until:
        try:
            found = check()
            if found:
                return found
        except (AssertionError, KeyError, IndexError, TypeError, StopIteration, json.JSONDecodeError) as problem:
            last = problem
        time.sleep(every_s)
    raise AssertionError(f"{what}: not within {wait_s} s: {last}")


class Authority:
    def __init__(self, directory):
        self.at = directory
        directory.mkdir(parents=True)
        self.key("ca")
        sh("openssl", "req", "-x509", "-new", "-key", directory / "ca.key", "-subj", "/CN=test", "-days", "30",
           "-out", directory / "ca.crt", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        sh("openssl", "genrsa", "-out", directory / "accounts.key", "2048")

    def key(self, name):
        sh("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.at / f"{name}.key")

    def pair(self, name, subject, names=""):
        self.key(name)
        sh("openssl", "req", "-new", "-key", self.at / f"{name}.key", "-subj", subject, "-out", self.at / "request")
        (self.at / "extensions").write_text("extendedKeyUsage=serverAuth,clientAuth\n" +
                                            (f"subjectAltName={names}\n" if names else ""))
        sh("openssl", "x509", "-req", "-in", self.at / "request", "-CA", self.at / "ca.crt", "-CAkey",
           self.at / "ca.key", "-CAcreateserial", "-days", "30", "-extfile", self.at / "extensions", "-out",
           self.at / f"{name}.crt")

    def kubeconfig(self, name):
        path = self.at / f"{name}.kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": URL, "certificate-authority": str(self.at / "ca.crt")}}],
            "users": [{"name": "u", "user": {"client-certificate": str(self.at / f"{name}.crt"),
                                             "client-key": str(self.at / f"{name}.key")}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        return path


class Children:
    """Programs of one machine, each with a log; started in the machine's network."""

    def __init__(self, directory, network=None):
        self.at = directory
        self.network = network
        self.running = {}
        directory.mkdir(parents=True, exist_ok=True)

    def start(self, name, *argv, env=None):
        enter = ["nsenter", f"--net=/proc/{self.network}/ns/net", "--"] if self.network else []
        with open(self.at / f"{name}.log", "ab") as log:
            self.running[name] = (subprocess.Popen(enter + [str(a) for a in argv], stdout=log, stderr=log,
                                                   env={**os.environ, **(env or {})}), argv, env)

    def kill(self, name, how=signal.SIGTERM):
        child = self.running.pop(name)
        child[0].send_signal(how)
        child[0].wait(60)
        return child

    def again(self, child, name):
        self.start(name, *child[1], env=child[2])

    def log(self, name):
        return (self.at / f"{name}.log").read_text(errors="replace")


def audit_policy():
    return json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                       "rules": [{"level": "Metadata",
                                  "userGroups": ["system:serviceaccounts:slurmkeeper", "system:serviceaccounts:apart"]},
                                 {"level": "None"}]})


class Control:
    """The control plane."""

    def __init__(self):
        self.children = Children(SCRATCH / "control")
        self.ca = Authority(SCRATCH / "keys")
        self.audit = SCRATCH / "control/audit.log"
        at = self.ca.at
        self.ca.pair("server", "/CN=kubernetes", f"IP:{HUB},IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc")
        for name, subject in (("admin", "/O=system:masters/CN=admin"), ("controllers", "/CN=system:kube-controller-manager"),
                              ("scheduler", "/CN=system:kube-scheduler"), ("proxy", "/CN=system:kube-proxy"),
                              ("dns", "/O=system:masters/CN=dns")):
            self.ca.pair(name, subject)
        self.kubeconfig = self.ca.kubeconfig("admin")
        (SCRATCH / "control/audit.json").write_text(audit_policy())
        sh("ip", "link", "add", "hub", "type", "bridge")
        sh("ip", "address", "add", f"{HUB}/16", "dev", "hub")
        sh("ip", "link", "set", "hub", "up")
        sh("sysctl", "-qw", "net.ipv4.ip_forward=1")
        self.children.start("etcd", PROGRAMS / "etcd", "--data-dir", SCRATCH / "etcd", "--listen-client-urls",
                            "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
                            "--listen-peer-urls", "http://127.0.0.1:2380", "--unsafe-no-fsync", "--log-level", "warn")
        self.start_apiserver()
        self.children.start("controllers", PROGRAMS / "kube-controller-manager", "--kubeconfig",
                            self.ca.kubeconfig("controllers"), "--secure-port", "0", "--leader-elect=false",
                            "--use-service-account-credentials", "--root-ca-file", at / "ca.crt",
                            "--service-account-private-key-file", at / "accounts.key",
                            "--node-monitor-grace-period", "60s")
        self.children.start("scheduler", PROGRAMS / "kube-scheduler", "--kubeconfig", self.ca.kubeconfig("scheduler"),
                            "--leader-elect=false", "--secure-port", "0")
        (SCRATCH / "control/Corefile").write_text(
            ".:53 {\n bind " + HUB + "\n errors\n ready\n kubernetes cluster.local in-addr.arpa {\n"
            f"  kubeconfig {self.ca.kubeconfig('dns')}\n  ttl 0\n }}\n}}\n")
        self.children.start("coredns", PROGRAMS / "coredns", "-conf", SCRATCH / "control/Corefile")

    def start_apiserver(self):
        at = self.ca.at
        self.children.start(
            "apiserver", PROGRAMS / "kube-apiserver", "--advertise-address", HUB, "--bind-address", "0.0.0.0",
            "--etcd-servers", "http://127.0.0.1:2379", "--tls-cert-file", at / "server.crt", "--tls-private-key-file",
            at / "server.key", "--client-ca-file", at / "ca.crt", "--kubelet-client-certificate", at / "admin.crt",
            "--kubelet-client-key", at / "admin.key", "--authorization-mode", "Node,RBAC", "--service-account-issuer",
            "https://kubernetes.default.svc.cluster.local", "--service-account-key-file", at / "accounts.key",
            "--service-account-signing-key-file", at / "accounts.key", "--service-cluster-ip-range", "10.96.0.0/16",
            "--allow-privileged", "--kubelet-preferred-address-types", "InternalIP", "--enable-aggregator-routing", "--audit-log-path", self.audit, "--audit-policy-file",
            SCRATCH / "control/audit.json")
        eventually(lambda: self.kubectl("get", "--raw", "/readyz", check=False) == "ok", "the API server")

    def kubectl(self, *argv, text=None, check=True, timeout=120):
        return sh("kubectl", "--kubeconfig", self.kubeconfig, *argv, text=text, check=check, timeout=timeout)


class Node:
    """A machine of the cluster: its network, containerd, kubelet, kube-proxy."""

    def __init__(self, control, number):
        self.name = f"node{number}"
        self.control = control
        self.at = SCRATCH / self.name
        self.group = f"/{SCRATCH.name}-{number}"
        self.address = f"10.211.0.{10 + number}"
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self.network = holder.pid
        eventually(lambda: os.readlink(f"/proc/{holder.pid}/ns/net") != os.readlink("/proc/self/ns/net"), "a network")
        self.children = Children(self.at, self.network)
        self.connect(number)
        for hierarchy in pathlib.Path("/sys/fs/cgroup").iterdir():
            self.make_group(hierarchy)
        self.start_containerd(number)
        self.start_kubelet()
        self.children.start("proxy", PROGRAMS / "kube-proxy", "--kubeconfig", control.ca.kubeconfig("proxy"),
                            "--proxy-mode", "nftables", "--hostname-override", self.name, "--conntrack-max-per-core", "0",
                            "--conntrack-tcp-timeout-established", "0", "--conntrack-tcp-timeout-close-wait", "0",
                            "--healthz-bind-address", "127.0.0.1:10256", "--metrics-bind-address", "127.0.0.1:10249")

    def inside(self, *argv, check=True):
        return sh("nsenter", f"--net=/proc/{self.network}/ns/net", "--", *argv, check=check)

    def connect(self, number):
        sh("ip", "link", "add", f"to-{self.name}", "type", "veth", "peer", "name", "eth0", "netns", self.network)
        sh("ip", "link", "set", f"to-{self.name}", "master", "hub", "up")
        for line in (f"address add {self.address}/16 dev eth0", "link set lo up", "link set eth0 up",
                     f"route add default via {HUB}"):
            self.inside("ip", *line.split())
        self.inside("sysctl", "-qw", "net.ipv4.ip_forward=1")
        sh("ip", "route", "add", f"10.212.{number}.0/24", "via", self.address)

    def make_group(self, hierarchy):
        group = hierarchy / self.group[1:]
        group.mkdir(exist_ok=True)
        for name in ("cpuset.cpus", "cpuset.mems"):
            if (group / name).exists():
                (group / name).write_text((hierarchy / name).read_text())

    def start_containerd(self, number):
        cni = self.at / "cni"
        cni.mkdir()
        (cni / "10-bridge.conflist").write_text(json.dumps({
            "cniVersion": "0.4.0", "name": "pods", "plugins": [
                {"type": "bridge", "bridge": "pods", "isGateway": True, "hairpinMode": True,
                 "ipam": {"type": "host-local", "dataDir": str(self.at / "addresses"),
                          "ranges": [[{"subnet": f"10.212.{number}.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
                {"type": "portmap", "capabilities": {"portMappings": True}}]}))
        (self.at / "containerd.toml").write_text(f"""
version = 2
root = "{self.at}/containerd"
state = "{self.at}/run"
oom_score = 0
[grpc]
address = "{self.at}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/slurmkeeper/pause:test"
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{cni}"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
BinaryName = "/usr/sbin/runc"
""")
        self.children.start("containerd", "containerd", "--config", self.at / "containerd.toml")
        eventually(lambda: "SERVING" in self.ctr("version", check=False) or "Server" in self.ctr("version", check=False),
                   "containerd")

    def ctr(self, *argv, check=True):
        return sh("ctr", "--address", self.at / "containerd.sock", "--namespace", "k8s.io", *argv, check=check)

    def load(self, *archives):
        for archive in archives:
            self.ctr("images", "import", "--no-unpack" if "--no-unpack" in archives else "--all-platforms", archive)

    def start_kubelet(self):
        ca = self.control.ca
        ca.pair(self.name, f"/O=system:nodes/CN=system:node:{self.name}", f"DNS:{self.name},IP:{self.address}")
        (self.at / "resolv.conf").write_text(f"nameserver {HUB}\n")
        (self.at / "kubelet.json").write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": str(ca.at / "ca.crt")}},
            "authorization": {"mode": "Webhook"}, "address": self.address, "cgroupDriver": "cgroupfs",
            "cgroupRoot": self.group, "clusterDNS": [HUB], "clusterDomain": "cluster.local",
            "containerRuntimeEndpoint": f"unix://{self.at}/containerd.sock", "enforceNodeAllocatable": [],
            "evictionHard": {"memory.available": "50Mi"}, "failCgroupV1": False, "failSwapOn": False,
            "healthzPort": 0, "imageGCHighThresholdPercent": 100, "localStorageCapacityIsolation": False,
            "oomScoreAdj": 0, "resolvConf": str(self.at / "resolv.conf"), "syncFrequency": "10s",
            "nodeStatusUpdateFrequency": "5s", "podLogsDir": str(self.at / "logs"), "maxPods": 60,
            "tlsCertFile": str(ca.at / f"{self.name}.crt"), "tlsPrivateKeyFile": str(ca.at / f"{self.name}.key")}))
        self.children.start("kubelet", PROGRAMS / "kubelet", "--config", self.at / "kubelet.json", "--kubeconfig",
                            ca.kubeconfig(self.name), "--root-dir", self.at / "kubelet", "--cert-dir", self.at / "pki",
                            "--hostname-override", self.name, "--node-ip", self.address, "--v", "2")

    def route_to(self, other, number):
        self.inside("ip", "route", "add", f"10.212.{number}.0/24", "via", other.address)


class Kubernetes:
    def __init__(self, n_nodes):
        self.control = Control()
        self.nodes = [Node(self.control, i) for i in range(n_nodes)]
        for node in self.nodes:
            for i, other in enumerate(self.nodes):
                if other is not node:
                    node.route_to(other, i)
        eventually(lambda: sum(" Ready" in line for line in self.kubectl("get", "nodes").splitlines()) == n_nodes,
                   "the nodes")

    def kubectl(self, *argv, **more):
        return self.control.kubectl(*argv, **more)

    def apply(self, text):
        return self.kubectl("apply", "-f", "-", text=text)

    def get(self, kind, name=None, ns="slurm"):
        out = json.loads(self.kubectl("get", kind, *([name] if name else []), "-n", ns, "-o", "json"))
        return out if name else out["items"]

    def load(self, *archives):
        for node in self.nodes:
            node.load(*archives)

    def logs(self):
        """The ends of all logs, for who looks why something failed."""
        found = []
        for machine in [self.control, *self.nodes]:
            for name in sorted(p.stem for p in machine.children.at.glob("*.log") if p.name != "audit.log"):
                text = machine.children.log(name)
                found.append(f"--- {machine.children.at.name}/{name}\n" + "\n".join(re.sub(r"\s+$", "", line)[:300]
                                                                                  for line in text.splitlines()[-15:]))
        return "\n".join(found)
