# SPDX-License-Identifier: GPL-2.0-or-later
"""Hostile requests with credentials: the server answers or closes, lives on, and stays small.

Requests are made from pieces that are valid and then damaged; a seed makes each run the same.
"""
import json
import os
import random
import socket
import time

import pytest

REQUESTS = int(os.environ.get("HOSTILE_REQUESTS", "3000"))
SEED = int(os.environ.get("HOSTILE_SEED", "1"))
SECONDS = float(os.environ.get("HOSTILE_SECONDS", str(60 + REQUESTS / 100)))

METHODS = ["GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "get", "CONNECT", "X"]
NAMES = ["a", "b", "c", "default"] * 4 + ["kube-system", "..", ".", "%00", "%2e%2e", "a" * 300, "A_B", "%ff", "-", "☃"]
API_PATHS = [
    "/api", "/apis", "/version", "/openapi/v2", "/openapi/v3", "/metrics", "/healthz", "/readyz",
    "/api/v1/namespaces/{}", "/api/v1/namespaces/{}/configmaps", "/api/v1/namespaces/{}/configmaps/{}",
    "/api/v1/namespaces/{}/secrets/{}", "/api/v1/namespaces/{}/pods/{}/log",
    "/api/v1/namespaces/{}/pods/{}/exec", "/api/v1/namespaces/{}/pods/{}/eviction",
    "/api/v1/namespaces/{}/serviceaccounts/{}/token", "/apis/apps/v1/namespaces/{}/statefulsets/{}",
    "/apis/apps/v1/namespaces/{}/deployments/{}/scale", "/api/v1/watch/namespaces/{}",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", "/api/v1/nodes/{}/status",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/{}", "//", "/{}/{}", "*",
]
AGENT_PATHS = ["/v1/config", "/v1/plan", "/v1/state", "/v1/nodes/{}", "/v1/reservations/{}", "/metrics",
               "/healthz", "/{}"]
QUERIES = [
    "", "limit=1", "limit=-1", "limit=99999999999999999999", "continue=abc", "resourceVersion=0",
    "resourceVersion=x", "watch=1&timeoutSeconds=0", "watch=1&timeoutSeconds=-1", "labelSelector=a%3D",
    "labelSelector=" + "a," * 500, "fieldSelector=metadata.name%3Dx", "dryRun=All", "dryRun=x",
    "fieldManager=" + "x" * 200, "pretty=1", "since=1&wait=0", "wait=-1", "%zz", "&&&=", "force=true",
]
TYPES = ["application/json", "application/yaml", "application/json-patch+json",
         "application/merge-patch+json", "application/strategic-merge-patch+json",
         "application/apply-patch+yaml", "application/vnd.kubernetes.protobuf", "text/plain", "", "a/b;c=\"d"]
ACCEPTS = ["*/*", "application/json", "application/yaml",
           "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=X;v=v9;g=y", "x", ","]
BODIES = [
    "", "null", "3", "\"x\"", "[]", "{}", "---", "[" * 2000, "{\"a\":" * 500, "\x00\xff", "k8s\x00\x0a\x04",
    json.dumps({"metadata": {"name": "a"}}),
    json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v" * 1000}}),
    json.dumps({"metadata": {"name": "b", "ownerReferences": [{"uid": 3}], "finalizers": [1]}}),
    json.dumps([{"op": "add", "path": "/metadata/labels/x", "value": 1}, {"op": "test", "path": "//"}]),
    json.dumps({"spec": {"replicas": 2**31, "selector": {}, "template": None}}),
    json.dumps({"files": {"slurm.conf": {"text": "ClusterName=x"}}, "generation": -1}),
    "a: &a [*a]", "a: !!binary x\nb: <<", "metadata:\n  name: a\n" + "x: y\n" * 500,
]


class Maker:
    def __init__(self, seed, paths):
        self.random = random.Random(seed)
        self.paths = paths

    def damage(self, data):
        """Flip, drop, double or insert some bytes."""
        r, out = self.random, bytearray(data)
        for _ in range(r.choice((0, 0, 1, 3, 10))):
            at = r.randrange(len(out)) if out else 0
            what = r.randrange(4)
            if what == 0 and out:
                out[at] ^= 1 << r.randrange(8)
            elif what == 1 and out:
                del out[at:at + r.randrange(1, 8)]
            elif what == 2:
                out[at:at] = out[at:at + r.randrange(1, 64)]
            else:
                out[at:at] = bytes(r.randrange(256) for _ in range(r.randrange(1, 5)))
        return bytes(out)

    def request(self, credentials):
        r = self.random
        path = "".join(r.choice(NAMES) if p == "{}" else p
                       for p in r.choice(self.paths).replace("{}", "\n{}\n").split("\n"))
        query = r.choice(QUERIES)
        target = (path + ("?" + query if query else "")).encode()
        if r.random() < 0.2:
            target = self.damage(target)
        body = self.damage(r.choice(BODIES).encode())
        head = [b"%s %s HTTP/1.1" % (r.choice(METHODS).encode(), target), b"Host: a", credentials,
                b"Accept: " + r.choice(ACCEPTS).encode(), b"Content-Type: " + r.choice(TYPES).encode()]
        if r.random() < 0.2:
            head.append(self.damage(b"X-Other: " + b"v" * r.choice((1, 100, 9000))))
        if r.random() < 0.1:
            return b"\r\n".join(head + [b"Transfer-Encoding: chunked", b"", b"%x" % len(body), body, b"0", b"", b""])
        if r.random() < 0.05:
            return self.damage(b"\r\n".join(head + [b"Content-Length: %d" % len(body), b"", body]))
        return b"\r\n".join(head + [b"Content-Length: %d" % len(body), b"", body])


class Talker:
    """One connection after the other; an answer, or its end, is awaited for each request."""

    def __init__(self, server):
        self.server, self.context, self.sock = server, server.tls(), None
        self.codes = {}
        self.first = {}  # of each code: request and answer

    def send(self, data):
        got = b""
        try:
            if not self.sock:
                plain = socket.create_connection(("127.0.0.1", self.server.port), timeout=5)
                self.sock = self.context.wrap_socket(plain, server_hostname="127.0.0.1")
                self.sock.settimeout(0.3)
            self.sock.sendall(data)
            got = self.sock.recv(65536)
            code = got[9:12].decode("latin-1") if got else "closed"
        except TimeoutError:
            code = "silent"
        except OSError:
            code = "closed"
        self.codes[code] = self.codes.get(code, 0) + 1
        self.first.setdefault(code, (data[:3000], got[-1000:]))
        # Only a short answer that is certainly whole leaves the connection in a known state.
        if not (code.isdigit() and b"Connection: close" not in got and len(got) < 4096
                and self._is_whole(got)):
            self.close()

    @staticmethod
    def _is_whole(got):
        head, _, body = got.partition(b"\r\n\r\n")
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                return int(line.split(b":")[1]) == len(body)
        return False

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock = None


@pytest.mark.parametrize("what", ["api", "agent"])
def test_hostile_requests_with_credentials_do_no_harm(start, what):
    server = start(what)
    maker = Maker(SEED, API_PATHS if what == "api" else AGENT_PATHS)
    credentials = b"Authorization: Bearer a-token" if what == "agent" else b"X-None: 1"
    talker = Talker(server)
    idle, most, deadline, sent = server.rss_kib(), 0, time.monotonic() + SECONDS, 0
    while sent < REQUESTS and time.monotonic() < deadline:
        request = maker.request(credentials)
        talker.send(request)
        sent += 1
        if sent % 50 == 0:
            assert server.process.poll() is None, (sent, request, server.words())
            most = max(most, server.rss_kib())
    talker.close()
    print(f"{what}: {sent} requests, {idle} KiB idle, {most} at most", talker.codes)
    assert server.process.poll() is None, server.words()
    assert server.ask(server.ready)[0] == 200
    assert sent == REQUESTS
    assert most < 2 * idle + 16 * 1024
    if "500" in talker.codes:  # a version that is no number gets it from any API server
        assert b"strconv" in talker.first["500"][1], talker.first["500"]
