# SPDX-License-Identifier: GPL-2.0-or-later
"""The embedded API server against kube-apiserver on etcd: the same requests, the same machine, one run.

Absolute figures depend on the machine; the ratios are what is claimed.  Both servers write durably
(etcd's WAL is synced, ours is SQLite's with synchronous=FULL).
"""
import json
import os
import pathlib
import selectors
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))
from lib.client import Api  # noqa: E402
from lib.kubeconfig import Kubeconfig  # noqa: E402

BUILD = os.environ["BUILD"]
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
LISTED = int(os.environ.get("BENCH_OBJECTS", "10000"))
WATCHERS = 100
# What tools/kubernetes has built, by release.
BUILT = pathlib.Path(os.environ.get("SLURMKEEPER_CACHE", "/var/cache/slurmkeeper")) / "kubernetes"


def reference_programs():
    """kube-apiserver and etcd: the one that is named, or the newest that was built; None where one is missing."""
    built = sorted(BUILT.glob("*/kube-apiserver"), key=lambda p: [int(n) for n in p.parent.name.split(".")])
    server = os.environ.get("KUBE_APISERVER") or (built[-1] if built else None)
    beside = pathlib.Path(server).with_name("etcd") if server else pathlib.Path("/nonexistent")
    etcd = beside if beside.exists() else shutil.which("etcd")
    return (str(server), str(etcd)) if server and etcd else None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until_ready(config, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if Api(config).get("/readyz").code == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit("a server did not become ready")


def resident_mb(process):
    with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as f:
        for line in f:
            if line.startswith("Rss:"):
                return int(line.split()[1]) / 1024
    return 0


class Embedded:
    name = "embedded"

    def __init__(self, scratch):
        self.dir = os.path.join(scratch, "embedded")
        os.mkdir(self.dir)
        port = free_port()
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "slurmkeeper"), "apiserver", "--state", self.dir,
             "--listen", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
        path = os.path.join(self.dir, "admin.kubeconfig")
        while not os.path.exists(path):
            time.sleep(0.02)
        self.config = Kubeconfig(path, self.dir)
        until_ready(self.config)

    def memory(self):
        return resident_mb(self.process)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


class Reference:
    """kube-apiserver on etcd, with certificates made by openssl."""
    name = "kube-apiserver"

    def __init__(self, scratch):
        program, etcd = reference_programs()
        self.dir = d = os.path.join(scratch, "reference")
        os.mkdir(d)
        self._certificates()
        etcd_port, peer_port, port = free_port(), free_port(), free_port()
        etcd_url = f"http://127.0.0.1:{etcd_port}"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.etcd = subprocess.Popen(
            [etcd, "--data-dir", os.path.join(d, "etcd"), "--listen-client-urls", etcd_url,
             "--advertise-client-urls", etcd_url,
             "--listen-peer-urls", f"http://127.0.0.1:{peer_port}"], **quiet)
        self.process = subprocess.Popen(
            [program, "--etcd-servers", etcd_url, "--secure-port", str(port), "--bind-address", "127.0.0.1",
             "--tls-cert-file", f"{d}/server.crt", "--tls-private-key-file", f"{d}/server.key",
             "--client-ca-file", f"{d}/ca.crt", "--service-account-key-file", f"{d}/server.key",
             "--service-account-signing-key-file", f"{d}/server.key",
             "--service-account-issuer", "https://bench", "--authorization-mode", "AlwaysAllow",
             "--service-cluster-ip-range", "10.96.0.0/16", "--cert-dir", d,
             "--disable-admission-plugins", "ServiceAccount",
             "--max-requests-inflight", "2000", "--max-mutating-requests-inflight", "1000"], **quiet)
        path = os.path.join(d, "kubeconfig")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"current-context": "x",
                       "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                       "clusters": [{"name": "x", "cluster": {
                           "server": f"https://127.0.0.1:{port}",
                           "certificate-authority": f"{d}/ca.crt"}}],
                       "users": [{"name": "x", "user": {"client-certificate": f"{d}/admin.crt",
                                                        "client-key": f"{d}/admin.key"}}]}, f)
        self.config = Kubeconfig(path, d)
        until_ready(self.config, 120)
        time.sleep(3)

    def _certificates(self):
        def openssl(*args):
            subprocess.run(["openssl", *args], check=True, cwd=self.dir,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt",
                "-subj", "/CN=ca", "-days", "2")
        for name, subject in (("server", "/CN=server"), ("admin", "/O=system:masters/CN=admin")):
            openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key",
                    "-out", f"{name}.csr", "-subj", subject)
            with open(os.path.join(self.dir, "ext"), "w", encoding="ascii") as f:
                f.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                    "-CAcreateserial", "-out", f"{name}.crt", "-days", "2", "-extfile", "ext")

    def memory(self):
        return resident_mb(self.process) + resident_mb(self.etcd)

    def stop(self):
        """It ends its watches first, for up to a minute; what it serves is scratch."""
        for p in (self.process, self.etcd):
            p.kill()
            p.wait(30)


def load(config, operation, count, connections):
    out = subprocess.run(
        [os.path.join(BUILD, "tests", "bench", "bench-load"), config.host, str(config.port),
         config.ca_file, config.cert_file, config.key_file, operation, str(count),
         str(connections)], stdout=subprocess.PIPE, check=True, timeout=600).stdout
    return json.loads(out)


def pod(name):
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {
        "name": name, "labels": {"app": "bench", "set": "workers"},
        "annotations": {"note": "x" * 200}},
        "spec": {"nodeName": "node-1", "automountServiceAccountToken": False,
                 "containers": [{"name": "main", "image": "registry.test/app:1.0",
                                 "command": ["sleep", "infinity"],
                                 "env": [{"name": f"V{i}", "value": "x" * 20} for i in range(10)],
                                 "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]}}


def fill_pods(config, count):
    """Many pods, by a few connections."""
    numbers, lock = iter(range(count)), threading.Lock()

    def work():
        api = Api(config)
        while True:
            with lock:
                i = next(numbers, None)
            if i is None:
                return
            api.post(PODS, pod(f"pod-{i}")).ok(201)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def open_watch(config, path):
    """A connection on which a watch runs, with what came at its beginning read."""
    context = ssl.create_default_context(cafile=config.ca_file)
    context.load_cert_chain(config.cert_file, config.key_file)
    s = context.wrap_socket(socket.create_connection((config.host, config.port)), server_hostname="localhost")
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    while b"\r\n\r\n" not in s.recv(65536):
        pass
    s.setblocking(False)
    return s


def wait_for_event(selector, count):
    """Until each connection has said that the object was modified."""
    seen = set()
    while len(seen) < count:
        for key, _ in selector.select(30):
            try:
                if b"MODIFIED" in key.fileobj.recv(65536):
                    seen.add(key.fileobj)
            except ssl.SSLWantReadError:
                pass


def watch_latency(config):
    """From a write until the last of 100 watchers has it; median of 30.  One thread reads them all: a hundred would be
    measured themselves."""
    api, times = Api(config), []
    api.post(CONFIGMAPS, {"metadata": {"name": "watched"}}).ok(201)
    version = api.get(CONFIGMAPS, query={"limit": 1}).ok()["metadata"]["resourceVersion"]
    path = f"{CONFIGMAPS}?watch=1&resourceVersion={version}&fieldSelector=metadata.name%3Dwatched"
    with selectors.DefaultSelector() as selector:
        watches = [open_watch(config, path) for _ in range(WATCHERS)]
        for w in watches:
            selector.register(w, selectors.EVENT_READ)
        for i in range(30):
            time.sleep(0.05)
            start = time.monotonic()
            api.patch(f"{CONFIGMAPS}/watched", {"data": {"n": str(i)}}).ok()
            wait_for_event(selector, WATCHERS)
            times.append((time.monotonic() - start) * 1000)
        for w in watches:
            w.close()
    return sorted(times)[len(times) // 2]


def measure(server):
    c, r = server.config, {}
    load(c, "create", 200, 4)  # warm up
    Api(c).delete(CONFIGMAPS, query={"labelSelector": "app=bench"}).ok()
    for operation, count in (("create", 2000), ("get", 4000), ("patch", 2000)):
        r[operation] = load(c, operation, count, 16)
    r["patch one by one"] = load(c, "patch", 300, 1)
    r["watchers"] = watch_latency(c)
    fill_pods(c, LISTED)
    r["list"] = load(c, f"list:{PODS}", 5, 1)
    r["memory"] = server.memory()
    return r


def line(name, ours, theirs, unit, better_is_less=True):
    if theirs is None:
        print(f"  {name:<44} {ours:>10.2f} {unit}")
        return
    ratio = ours / theirs if better_is_less else theirs / ours
    print(f"  {name:<44} {ours:>10.2f} {theirs:>10.2f} {unit:<5} {ratio:>7.3f}")


def report(ours, theirs):
    print(f"  {'':<44} {'embedded':>10} " + (f"{'reference':>10}       {'ratio':>7}" if theirs else ""))

    def pick(key, field):
        return ours[key][field], theirs and theirs[key][field]
    for operation in ("create", "get", "patch"):
        line(f"{operation}, 16 connections", *pick(operation, "per_second"), "/s", False)
        line(f"{operation}, 16 connections, median latency", *pick(operation, "median_ms"), "ms")
    line("patch, one connection, median latency", *pick("patch one by one", "median_ms"), "ms")
    line(f"list of {LISTED} pods", *pick("list", "median_ms"), "ms")
    line(f"a write until {WATCHERS} watchers have it", ours["watchers"],
         theirs and theirs["watchers"], "ms")
    line(f"resident memory with {LISTED} pods", ours["memory"], theirs and theirs["memory"], "MB")


def main():
    scratch = tempfile.mkdtemp()
    results, servers = {}, [Embedded]
    if reference_programs():
        servers.append(Reference)
        said = subprocess.run([reference_programs()[0], "--version"], capture_output=True, text=True, check=True).stdout
        print(f"API servers: embedded, and {said.strip()} on etcd")
    else:
        print("API servers: the embedded one alone. There is no kube-apiserver with an etcd: name one by KUBE_APISERVER, or have "
              "one built: tools/kubernetes build etcd kube-apiserver")
    try:
        for kind in servers:
            server = kind(scratch)
            try:
                results[kind.name] = measure(server)
            finally:
                server.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    report(results["embedded"], results.get("kube-apiserver"))


main()
