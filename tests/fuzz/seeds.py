#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the seeds of the listeners' fuzz targets into tests/fuzz/corpus.

A seed is what a client sends, with steps between (script.h, peers.h, frames.h): step("f") lets the
server take what has gathered, step("t", 31) lets half a minute pass.  Inputs that a fuzzer found stay
beside them under names of their own; this script writes only its own files.
"""
import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"


def step(letter, arg=0):
    return bytes([0xFF, ord(letter), arg])


def raw(data):
    """Bytes as they are: the mark is doubled."""
    return data.replace(b"\xff", b"\xff\xff")


def request(method="GET", path="/now", headers=(), body=b"", length=True):
    lines = [f"{method} {path} HTTP/1.1", "Host: h", *headers]
    if body and length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(*pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


CHUNKED = ["Transfer-Encoding: chunked"]
SPDY = ["Connection: Upgrade", "Upgrade: SPDY/3.1"]
WEBSOCKET = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
]


def http_server():
    get = request()
    return {
        "get": get,
        "pipelined": get * 3 + request(path="/big") + get,
        "cut": get[:9] + step("f") + get[9:20] + step("f") + get[20:],
        "post": request("POST", "/now", body=b"hello"),
        "post_cut": request("POST", "/now", body=b"hello")[:-3] + step("f") + b"llo",
        "chunked": request("POST", "/now", CHUNKED, chunked(b"abc", b"de"), length=False),
        "chunked_cut": request("POST", "/now", CHUNKED) + b"3\r\nab" + step("f") + b"c\r\n0;x=y\r\nA: b\r\n\r\n",
        "continue": request("POST", "/now", ["Content-Length: 3", "Expect: 100-continue"]) + step("f") + b"abc",
        "head_late": get[:10] + step("t", 31),
        "body_late": request("POST", "/now", ["Content-Length: 9"]) + b"abc" + step("t", 61),
        "idle_late": get + step("t", 181),
        "later": request(path="/later") + step("A", 3),
        "later_gone": request(path="/later") + step("r") + step("A", 3),
        "later_ended": request(path="/later") + step("e") + step("A", 3),
        "stream": request(path="/stream") + step("W", 3) + step("W", 9) + step("N"),
        "stream_behind": request(path="/stream") + step("d", 1) + step("W", 255) * 3,
        "stream_gone": request(path="/stream") + step("W", 3) + step("r"),
        "raw": request(path="/raw", headers=["Connection: Upgrade", "Upgrade: echo"]) + step("f") + b"hello"
        + step("P", 1) + b"more" + step("P") + step("K"),
        "raw_behind": request(path="/raw") + step("d", 1) + b"0123456789" + step("x", 255) + step("f")
        + step("W", 255) + step("d") + step("f"),
        "hijack": request(path="/hijack") + step("W", 2) + step("e"),
        "big_deaf": step("d", 1) + request(path="/big") + step("f") + step("t", 61),
        "too_large": request("POST", "/now", ["Content-Length: 99999999"]) + b"abc",
        "too_much_head": get[:-2] + b"A: aaaaaaaaaaaaaaaa\r\n" + step("x", 255) + b"\r\n",
        "http10": b"GET / HTTP/1.0\r\n\r\n",
        "close": request(headers=["Connection: close"]) + get,
        "nonsense": b"nonsense\r\n\r\n",
        "smuggled": request("POST", "/now", ["Content-Length: 4"] + CHUNKED) + chunked(b"abcd"),
        "many": get + step("c", 1) + request(path="/later") + step("c", 2) + request(path="/stream")
        + step("A", 1) + step("W", 1) + step("c", 0) + get,
    }


def http_sessions():
    query = "?stdin=true&stdout=true&stderr=true"
    spdy = request("POST", "/exec" + query, SPDY + ["X-Stream-Protocol-Version: v4.channel.k8s.io"])
    tty = request("POST", "/exec?stdin=1&stdout=1&tty=1", SPDY + ["X-Stream-Protocol-Version: v4.channel.k8s.io"])
    forward = request("POST", "/forward", SPDY + ["X-Stream-Protocol-Version: portforward.k8s.io"])
    exec_streams = step("Y", 0) + step("Y", 1) + step("Y", 2) + step("Y", 3)

    def ws(path, protocol):
        return request("GET", path, WEBSOCKET + ["Sec-WebSocket-Protocol: " + protocol])

    v4 = ws("/exec" + query, "v4.channel.k8s.io") + step("f")
    v5 = ws("/exec?stdin=1&stdout=1&tty=1", "v5.channel.k8s.io") + step("f")
    fws = ws("/forward", "v4.channel.k8s.io") + step("f")
    tunnel = ws("/forward", "SPDY/3.1+portforward.k8s.io") + step("f")
    ping = struct.pack(">III", 0x80030006, 4, 1)
    goaway = struct.pack(">IIII", 0x80030007, 8, 0, 0)
    return {
        "spdy_exec": spdy + step("f") + exec_streams + b"echo" + step("D", 1) + step("D", 0x81) + step("f")
        + step("O", 9) + step("X", 0),
        "spdy_tty": tty + step("f") + step("Y", 0) + step("Y", 1) + step("Y", 2) + step("Y", 4) + step("f")
        + b'{"Width":80,"Height":25}' + step("D", 3) + step("f") + step("X", 3),
        "spdy_exit": spdy + step("f") + exec_streams + step("f") + b"exit\x01" + step("D", 1),
        "spdy_late": spdy + step("f") + step("Y", 0) + step("t", 31),
        "spdy_reset": spdy + step("f") + exec_streams + step("f") + step("Z", 1) + step("Z", 2) + step("f") + step("F"),
        "spdy_deaf": spdy + step("f") + exec_streams + step("f") + step("d", 1) + step("O", 255) + step("O", 255)
        + step("E", 255) + step("d") + step("f") + step("X"),
        "spdy_ping": spdy + step("f") + raw(ping) + exec_streams + raw(goaway),
        "forward": forward + step("f") + step("Y", 5) + step("Y", 6) + b"data" + step("D", 1) + step("f")
        + step("W", 3) + step("N") + step("D", 0x81) + step("f"),
        "forward_two": forward + step("f") + step("Y", 5) + step("Y", 6) + step("Y", 7) + step("Y", 8) + step("f")
        + b"a" + step("D", 1) + b"b" + step("D", 3) + step("f") + step("K", 1) + step("Z", 3) + step("f") + step("X"),
        "forward_refused": forward + step("f") + step("Y", 9) + step("Y", 10) + step("Y", 11) + step("f"),
        "forward_error_reset": forward + step("f") + step("Y", 5) + step("f") + step("Z", 0) + step("Y", 5)
        + step("f") + step("Z", 1),
        "forward_exit": forward + step("f") + step("Y", 5) + step("Y", 6) + step("f") + b"exit!" + step("D", 1),
        "ws_v4": v4 + b"\x00input" + step("M", 0x82) + step("f") + step("O", 5) + step("E", 5) + step("X", 1),
        "ws_v5": v5 + b'\x04{"Width":80,"Height":25}' + step("M", 0x82) + b"\x00in" + step("M", 0x82)
        + raw(b"\xff\x00") + step("M", 0x82) + step("f") + step("X"),
        "ws_fragments": v4 + b"\x00in" + step("M", 0x02) + b"put" + step("M", 0x80) + b"p" + step("M", 0x89)
        + b"\x03\xe8" + step("M", 0x88),
        "ws_gone": v4 + b"\x00in" + step("M", 0x82) + step("r"),
        "ws_base64": ws("/exec" + query, "base64.channel.k8s.io") + step("f") + b"0aGVsbG8=" + step("M", 0x81),
        "ws_forward": fws + b"\x00data" + step("M", 0x82) + b"\x04exit" + step("M", 0x82) + step("f") + step("W", 7)
        + step("K"),
        "ws_tunnel": tunnel + raw(ping) + step("M", 0x82) + step("f"),
        "bad_upgrade": request("POST", "/exec" + query, ["Connection: Upgrade", "Upgrade: SPDY/4"]),
        "no_protocol": request("POST", "/exec" + query, SPDY),
    }


def http_tls():
    get = request()
    hello = bytes.fromhex("16030100050100000100")
    return {
        "session": step("S") + get + step("f"),
        "named": step("S", 1) + get + step("f") + step("Q"),
        "post_cut": step("S") + request("POST", "/now", body=b"hello")[:-2] + step("f") + b"lo" + step("f"),
        "stranger": step("S", 2) + get + step("f") + step("c", 1) + step("S", 1) + get,
        "plain": get,
        "hello_cut": raw(hello) + step("f") + step("t", 31),
        "alert": raw(bytes.fromhex("15030300020100")) + step("f"),
        "huge_record": raw(bytes.fromhex("160301ffff01")) + step("x", 200),
        "sslv2": raw(bytes.fromhex("802e0100020015000000100100800200800300800400800500800600400700c0")),
        "forged": step("S") + get + step("f") + raw(bytes.fromhex("1703030005aabbccddee")) + step("R"),
        "keys": step("S") + get + step("K", 1) + get + step("f"),
        "gone": step("S") + get[:10] + step("r"),
        "ended": step("S") + get + step("e"),
        "two": step("S") + get + step("c", 1) + step("S", 1) + get + step("c", 0) + get,
        "large": step("S") + request("POST", "/now", ["Content-Length: 65536"]) + step("f") + b"x" * 256 + step("x", 255),
    }


def question(name, kind=1, number=7, flags=0x0100, edns=False):
    labels = b"".join(bytes([len(x)]) + x for x in name.encode().split(b".") if x)
    head = struct.pack(">HHHHHH", number, flags, 1, 0, 0, 1 if edns else 0)
    tail = b"\0" + struct.pack(">HHIH", 41, 4096, 0, 0) if edns else b""
    return head + labels + b"\0" + struct.pack(">HH", kind, 1) + tail


def dns_server():
    ours = question("s.n.svc.cluster.local")
    pod = question("h.s.n.svc.cluster.local", edns=True)
    other = question("example.org", 28)

    def tcp(m):
        return struct.pack(">H", len(m)) + m

    return {
        "udp": raw(ours) + step("U") + raw(pod) + step("U"),
        "reverse": raw(question("2.0.131.10.in-addr.arpa", 12)) + step("U"),
        "srv": raw(question("_p._tcp.s.n.svc.cluster.local", 33)) + step("U"),
        "unknown": raw(question("x.n.svc.cluster.local")) + step("U"),
        "forwarded": raw(other) + step("U") + raw(other) + step("A", 1),
        "forwarded_wrong": raw(other) + step("U") + b"zz" + step("A") + step("t", 2) + step("t", 2),
        "forwarded_silent": raw(other) + step("U") + step("t", 3) + step("t", 3),
        "tcp": raw(tcp(ours) + tcp(pod)) + step("f"),
        "tcp_cut": raw(tcp(ours)[:7]) + step("f") + raw(tcp(ours)[7:]) + step("f") + step("t", 31),
        "tcp_forwarded": raw(tcp(other) + tcp(ours)) + step("f") + raw(tcp(other)) + step("B") + step("f"),
        "tcp_forwarded_cut": raw(tcp(other)) + step("f") + raw(tcp(other)[:5]) + step("B") + step("C") + step("f"),
        "tcp_gone": raw(tcp(other)) + step("f") + step("r") + raw(tcp(other)) + step("B"),
        "tcp_deaf": step("d", 1) + raw(tcp(pod)) + step("x", 255) + step("f"),
        "tcp_empty": b"\0\0" * 9 + step("f"),
        "format": raw(ours[:15]) + step("U") + raw(ours[:12]) + step("U") + b"x" + step("U"),
        "pointer": raw(ours[:12] + b"\xc0\x0c\0\1\0\1") + step("U"),
    }


def api_relay():
    return {
        "echo": b"hello" + step("f") + step("A") + b"there" + step("B") + step("f"),
        "half": b"hello" + step("e") + step("A") + b"there" + step("B") + step("H") + step("f"),
        "server_gone": b"hello" + step("f") + step("A") + step("C") + b"more" + step("f"),
        "pod_gone": b"hello" + step("f") + step("A") + step("r") + b"more" + step("B"),
        "refused": step("G", 1) + b"hello" + step("f") + step("G") + b"again" + step("f"),
        "behind": b"0123456789abcdef" + step("x", 255) + step("x", 255) + step("f") + step("A") + step("R") + step("f"),
        "two": b"a" + step("c", 1) + b"b" + step("f") + step("A") + step("A") + b"c" + step("B"),
    }


def call(method, path, body=None, kind="application/json", headers=()):
    """A request with a body of its own kind, sent at once."""
    if body is None:
        return request(method, path, headers) + step("f")
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return request(method, path, [f"Content-Type: {kind}", *headers], data) + step("f")


def named(name, **more):
    return {"metadata": {"name": name}, **more}


CORE = "/api/v1/namespaces/default"
APPS = "/apis/apps/v1/namespaces/default"
POD = {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}]}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": POD}
SELECT = {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}
MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
STRATEGIC, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"


def definition(plural="things", kind="Thing"):
    schema = {"type": "object", "properties": {"spec": {
        "type": "object", "properties": {"count": {"type": "integer", "minimum": 0, "default": 1}, "s": {"type": "string"},
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "template": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
            "list": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
                "type": "object", "required": ["k"], "properties": {"k": {"type": "string", "pattern": "^a+$"}}}}}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
               "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.count"}},
               "additionalPrinterColumns": [{"name": "Count", "type": "integer", "jsonPath": ".spec.count"}]}
    return named(f"{plural}.example.org", spec={
        "group": "example.org", "scope": "Namespaced", "names": {"plural": plural, "kind": kind}, "versions": [version]})


def thing(name="t", **spec):
    return {"apiVersion": "example.org/v1", "kind": "Thing", **named(name, spec=spec)}


TABLE = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"
PROBE = {"httpGet": {"path": "/x", "port": 80, "scheme": "HTTPS", "httpHeaders": [{"name": "A", "value": "b"}]}, "periodSeconds": 3}
RICH_POD = {
    "containers": [{
        "name": "c", "image": "i", "command": ["a"], "workingDir": "/", "ports": [{"name": "p", "containerPort": 80, "protocol": "UDP"}],
        "env": [{"name": "A", "value": "b"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": True}}},
                {"name": "D", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}],
        "envFrom": [{"prefix": "P", "configMapRef": {"name": "m"}}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi", "example.org/gpu": "2"}, "requests": {"cpu": "500m"}},
        "livenessProbe": PROBE, "readinessProbe": {"tcpSocket": {"port": "p"}}, "startupProbe": {"exec": {"command": ["a"]}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 3}}, "postStart": {"exec": {"command": ["a"]}}},
        "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "x"}, {"name": "e", "mountPath": "/e"}],
        "securityContext": {"runAsUser": 3, "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}}}],
    "initContainers": [{"name": "i", "image": "i", "restartPolicy": "Always"}],
    "volumes": [{"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": "p", "mode": 256}]}},
                {"name": "e", "emptyDir": {"sizeLimit": "1Mi", "medium": "Memory"}}, {"name": "s", "secret": {"secretName": "s"}},
                {"name": "d", "downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
                {"name": "h", "hostPath": {"path": "/x", "type": "Directory"}}, {"name": "n", "nfs": {"server": "s", "path": "/"}},
                {"name": "q", "persistentVolumeClaim": {"claimName": "c"}},
                {"name": "j", "projected": {"sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 600}}]}}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}}, "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "podAffinityTerm": {
                "topologyKey": "k", "labelSelector": {"matchLabels": {"a": "b"}}}}]}},
    "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}],
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}], "dnsConfig": {"nameservers": ["10.0.0.1"]}, "restartPolicy": "OnFailure",
}
# Path and kind's own content of those that no other seed makes.
OTHERS = {
    "rich_pod": (CORE + "/pods", {"spec": RICH_POD}),
    "daemonset": (APPS + "/daemonsets", {"spec": {"selector": SELECT["selector"], "template": TEMPLATE}}),
    "replicaset": (APPS + "/replicasets", {"spec": {"replicas": 1, **SELECT}}),
    "replication": (CORE + "/replicationcontrollers", {"spec": {"replicas": 1, "selector": {"app": "a"}, "template": TEMPLATE}}),
    "podtemplate": (CORE + "/podtemplates", {"template": TEMPLATE}),
    "cronjob": ("/apis/batch/v1/namespaces/default/cronjobs", {"spec": {"schedule": "*/5 1-3 * jan mon", "jobTemplate": {
        "spec": {"template": {"spec": {"restartPolicy": "Never", **POD}}}}}}),
    "claim": (CORE + "/persistentvolumeclaims", {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
    "volume": ("/api/v1/persistentvolumes", {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                                                      "hostPath": {"path": "/x"}, "claimRef": {"name": "c", "namespace": "default"}}}),
    "class": ("/apis/storage.k8s.io/v1/storageclasses", {"provisioner": "p", "parameters": {"a": "b"}, "reclaimPolicy": "Retain"}),
    "node": ("/api/v1/nodes", {"spec": {"podCIDR": "10.0.0.0/24", "taints": [{"key": "k", "effect": "NoSchedule"}]},
                               "status": {"capacity": {"cpu": "3"}}}),
    "quota": (CORE + "/resourcequotas", {"spec": {"hard": {"pods": "3", "requests.cpu": "1"}, "scopes": ["BestEffort"]}}),
    "limits": (CORE + "/limitranges", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "1"}}]}}),
    "ingress": ("/apis/networking.k8s.io/v1/namespaces/default/ingresses", {"spec": {"rules": [{"host": "h", "http": {"paths": [
        {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}}),
    "policy": ("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", {"spec": {"podSelector": {}, "ingress": [
        {"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}], "ports": [{"port": 80, "endPort": 90}]}]}}),
    "binding_role": ("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
    "binding_cluster": ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "u", "namespace": "n"}]}),
    "role_own": ("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", {"rules": [
        {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["get"], "resourceNames": ["a"]}]}),
    "lease": ("/apis/coordination.k8s.io/v1/namespaces/default/leases", {"spec": {"leaseDurationSeconds": 3, "holderIdentity": "h"}}),
    "priority": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 3, "globalDefault": True}),
    "slice": ("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]}),
    "endpoints": (CORE + "/endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}),
    "node_port": (CORE + "/services", {"spec": {"type": "NodePort", "clusterIP": "10.96.3.4", "ports": [
        {"name": "a", "port": 80, "nodePort": 30080, "targetPort": "x"}], "sessionAffinity": "ClientIP"}}),
    "balancer": (CORE + "/services", {"spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}]}}),
    "external": (CORE + "/services", {"spec": {"type": "ExternalName", "externalName": "x.y"}}),
    "webhook": ("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {"webhooks": [
        {"name": "a.b.c", "clientConfig": {"url": "https://x/"}, "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [
            {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]}]}),
    "event": ("/apis/events.k8s.io/v1/namespaces/default/events", {"eventTime": "2026-01-09T10:00:00.000000Z", "action": "A", "reason": "R",
                                                                   "type": "Normal", "reportingController": "c", "reportingInstance": "i",
                                                                   "regarding": {"kind": "Pod", "name": "p"}}),
    "docker": (CORE + "/secrets", {"type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e30="}}),
}


def others():
    """Make, show, change, patch and delete one of each."""
    for name, (path, rest) in OTHERS.items():
        changed = json.loads(json.dumps(rest))
        changed["metadata"] = {"name": "x", "labels": {"a": "b"}}
        yield name, (call("POST", path, named("x", **rest)) + call("GET", path, headers=[TABLE]) + call("PUT", path + "/x", changed)
                     + call("PATCH", path + "/x", {"metadata": {"annotations": {"k": "v"}}}, STRATEGIC) + step("t", 1)
                     + call("DELETE", path + "/x"))


def api_server():
    config = named("a", data={"k": "v"})
    make_config = call("POST", CORE + "/configmaps", config)
    make_pod = call("POST", CORE + "/pods", named("p", spec=POD))
    here = call("POST", CORE + "/pods", named("p", spec={**POD, "nodeName": "n"}))
    at = CORE + "/configmaps/a"
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    things = "/apis/example.org/v1/namespaces/default/things"
    return {
        **dict(others()),
        "pages": b"".join(call("GET", p) for p in ("/api", "/apis", "/version", "/healthz", "/metrics", "/api/v1", "/nothing")),
        "openapi": call("GET", "/openapi/v3") + call("GET", "/openapi/v3/api/v1"),
        "crud": make_config + call("GET", at) + call("PUT", at, named("a", data={"k": "w"})) + call("DELETE", at),
        "list": make_config + call("GET", CORE + "/configmaps?limit=1&labelSelector=a%3Db,c+in+(d)")
        + call("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Da&resourceVersion=0"),
        "table": make_pod + call("GET", CORE + "/pods", headers=[
            "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json"]),
        "merge": make_config + call("PATCH", at, {"data": {"k": None, "l": "x"}}, MERGE),
        "json_patch": make_config + call("PATCH", at, [
            {"op": "test", "path": "/data/k", "value": "v"}, {"op": "move", "from": "/data/k", "path": "/data/m"}], JSON_PATCH),
        "strategic": make_pod + call("PATCH", CORE + "/pods/p", {"spec": {"containers": [
            {"name": "c", "image": "j"}]}, "metadata": {"labels": {"x": "y"}}}, STRATEGIC),
        "apply": call("PATCH", at + "?fieldManager=m", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n", APPLY)
        + call("PATCH", at + "?fieldManager=n&force=true", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: w}\n", APPLY),
        "watch": call("GET", CORE + "/configmaps?watch=1&timeoutSeconds=9&allowWatchBookmarks=true") + step("c", 1) + make_config
        + call("DELETE", at) + step("c", 0) + step("t", 10),
        "watch_gone": call("GET", "/api/v1/configmaps?watch=1") + step("c", 1) + make_config + step("c", 0) + step("r"),
        "watch_deaf": call("GET", "/api/v1/configmaps?watch=1") + step("d", 1) + step("c", 1)
        + call("POST", CORE + "/configmaps", named("big", data={"k": "x" * 300})) * 3,
        "watch_old": make_config + call("GET", "/api/v1/configmaps?watch=1&resourceVersion=1") + step("t", 200) + step("t", 200),
        "deployment": call("POST", APPS + "/deployments", named("d", spec={"replicas": 2, **SELECT})) + step("t", 1)
        + call("GET", APPS + "/deployments/d/scale") + call("PATCH", APPS + "/deployments/d/scale", {"spec": {"replicas": 0}}, MERGE)
        + step("t", 1) + call("DELETE", APPS + "/deployments/d", {"propagationPolicy": "Foreground"}) + step("t", 2),
        "statefulset": call("POST", APPS + "/statefulsets", named("s", spec={"serviceName": "s", "replicas": 2, **SELECT}))
        + step("t", 1) + call("GET", CORE + "/pods") + call("DELETE", CORE + "/pods/s-0") + step("t", 31),
        "job": call("POST", "/apis/batch/v1/namespaces/default/jobs", named("j", spec={
            "template": {"spec": {"restartPolicy": "Never", **POD}}})) + step("t", 1),
        "service": call("POST", CORE + "/services", named("s", spec={"selector": {"app": "a"}, "ports": [{"port": 80}]}))
        + make_pod + step("t", 1) + call("GET", CORE + "/endpoints"),
        "secret": call("POST", CORE + "/secrets", named("s", stringData={"a": "b"}, data={"c": "ZA=="}, immutable=True))
        + call("PUT", CORE + "/secrets/s", named("s", data={"c": "ZQ=="})),
        "namespace": call("POST", "/api/v1/namespaces", named("n")) + call("POST", "/api/v1/namespaces/n/configmaps", config)
        + call("DELETE", "/api/v1/namespaces/n") + step("t", 1) + call("GET", "/api/v1/namespaces/n"),
        "status": make_pod + call("PATCH", CORE + "/pods/p/status", {"status": {"phase": "Running", "podIP": "10.0.0.1"}}, MERGE)
        + call("GET", CORE + "/pods/p/log") + call("GET", CORE + "/pods/p/exec?command=a"),
        "log": here + call("GET", CORE + "/pods/p/log?tailLines=3&follow=true") + step("N") + step("R")
        + b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nlog" + step("S") + step("Q"),
        "exec": here + request("POST", CORE + "/pods/p/exec?command=a&stdin=1", SPDY) + step("f") + step("N") + step("R")
        + b"HTTP/1.1 101 Switching\r\n\r\nout" + step("S") + b"input" + step("f") + step("R") + step("H") + b"more" + step("f"),
        "forward": here + request("GET", CORE + "/pods/p/portforward?ports=80", WEBSOCKET) + step("f") + step("N") + b"0123456789abcdef"
        + step("x", 255) + step("x", 99) + step("f") + step("R") + step("f") + step("r") + step("Q"),
        "log_refused": here + call("GET", CORE + "/pods/p/log?tailLines=-1") + call("GET", CORE + "/pods/p/log?container=x"),
        "evict": make_pod + call("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", named("b", spec={
            "minAvailable": "50%", "selector": {}})) + call("POST", CORE + "/pods/p/eviction", named("p")) + step("t", 31),
        "binding": make_pod + call("POST", CORE + "/pods/p/binding", named("p", target={"kind": "Node", "name": "x"})),
        "token": call("POST", CORE + "/serviceaccounts", named("t")) + call("POST", CORE + "/serviceaccounts/t/token", {
            "spec": {"expirationSeconds": 3600}}),
        "review": call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
            "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
        "role": call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", named("r", rules=[
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}])),
        "crd": call("POST", crds, definition()) + step("t", 1) + call("POST", things, thing(s="x", extra=1, list=[{"k": "a"}]))
        + call("PUT", things + "/t", thing(s=3, list=[{"k": "b"}, {}], count=-1)) + call("GET", things, headers=[TABLE])
        + call("POST", things, thing("u", template={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "A"}}, raw={"a": [1]}))
        + call("PATCH", things + "/t/scale", {"spec": {"replicas": 3}}, MERGE) + call("GET", things)
        + call("PATCH", things + "/t?fieldManager=f", b"apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: t}\nspec: {count: 4}\n", APPLY)
        + call("DELETE", crds + "/things.example.org") + step("t", 1),
        "delete_all": make_config + call("DELETE", CORE + "/configmaps?dryRun=All") + call("DELETE", CORE + "/configmaps"),
        "finalizer": call("POST", CORE + "/configmaps", {"metadata": {"name": "f", "finalizers": ["a.b/c"]}})
        + call("DELETE", CORE + "/configmaps/f") + call("PATCH", CORE + "/configmaps/f", {"metadata": {"finalizers": None}}, MERGE),
        "generate": call("POST", CORE + "/pods", {"metadata": {"generateName": "g-"}, "spec": POD}) * 2,
        "yaml": call("POST", CORE + "/configmaps", b"metadata:\n  name: y\ndata:\n  k: |\n    v\n", "application/yaml"),
        "nobody": step("c", 3) + call("GET", CORE + "/secrets") + call("GET", "/livez") + call("POST", CORE + "/configmaps", config),
        "token_bad": step("c", 3) + call("GET", CORE + "/pods", headers=["Authorization: Bearer a.b.c"]),
        "conflict": make_config + make_config + call("PUT", at, {"metadata": {"name": "a", "resourceVersion": "1"}}),
        "scalars": make_config + b"".join(call("PATCH", at, b, k) for b in (b"3", b'"x"', b"[]", b"{}") for k in (MERGE, JSON_PATCH, STRATEGIC)),
    }


def node_socket():
    query = "?command=a&command=b&stdin=true&stdout=true&stderr=true"
    v4 = SPDY + ["X-Stream-Protocol-Version: v4.channel.k8s.io"]
    streams = step("f") + step("Y", 0) + step("Y", 1) + step("Y", 2) + step("Y", 3) + step("f")
    tty = "?command=sh&stdin=true&stdout=true&tty=true"
    tty_streams = step("f") + step("Y", 0) + step("Y", 1) + step("Y", 2) + step("Y", 4) + step("f")
    forward = request("POST", "/portforward/default/p?ports=80,443&ports=8", SPDY + [
        "X-Stream-Protocol-Version: portforward.k8s.io"]) + step("f")
    shim = b"o\0\0\0\5hello" + b"e\0\0\0\2no"
    ws = request("GET", "/exec/default/p/c" + query, WEBSOCKET + ["Sec-WebSocket-Protocol: v5.channel.k8s.io"]) + step("f")
    return {
        "logs": request(path="/logs/default/p/c?tailLines=2&timestamps=true") + request(path="/logs/default/p"),
        "logs_since": request(path="/logs/default/p/c?sinceTime=2026-01-09T10:00:01Z&limitBytes=9")
        + request(path="/logs/default/p/c?sinceSeconds=5") + request(path="/logs/default/p/c?sinceTime=x"),
        "logs_follow": request(path="/logs/default/p/c?follow=true") + step("f")
        + b"2026-01-09T10:00:03.000000001Z stdout F more\n" + step("L") + step("V")
        + b"2026-01-09T10:00:04.000000001Z stdout F again\n" + step("L") + step("t", 1) + step("E", 4) + step("t", 1),
        "logs_gone": request(path="/logs/default/p/c?follow=1") + step("f") + step("r") + step("t", 1),
        "logs_previous": request(path="/logs/default/p/down?previous=true") + request(path="/logs/default/p/new")
        + request(path="/logs/default/p/c?previous=1"),
        "exec": request("POST", "/exec/default/p/c" + query, v4) + streams + b"in" + step("D", 1) + step("f")
        + step("I", 5) + step("D", 0x81) + step("f") + b"out" + step("O", 2) + b"err" + step("O", 0) + step("X", 3) + step("Q") + step("t", 1),
        "exec_linger": request("POST", "/exec/default/p/c" + query, v4) + streams + step("X", 0) + b"late" + step("O", 2)
        + step("m", 100) + b"later" + step("O", 2) + step("m", 250),
        "exec_gone": request("POST", "/exec/default/p/c" + query, v4) + streams + b"x" + step("O", 2) + step("r"),
        "exec_tty": request("POST", "/exec/default/p/c" + tty, v4) + tty_streams + b'{"Width":9,"Height":9}' + step("D", 3)
        + b"in" + step("D", 1) + step("f") + b"out" + step("O") + step("X", 1),
        "exec_full": request("POST", "/exec/default/p/c" + query, v4) + streams + (b"0123456789abcdef" * 64 + step("x", 255)
        + step("D", 1) + step("f")) * 2 + step("I", 5) + step("I", 5) + step("f") + step("D", 0x81) + step("f") + step("Q"),
        "attach_end": request("POST", "/attach/default/p/c?stdin=1&stdout=1&tty=1", v4) + step("f") + step("Y", 0)
        + step("Y", 1) + step("Y", 2) + step("Y", 4) + step("f") + b'{"Width":9,"Height":9}' + step("D", 3) + b"in" + step("D", 1)
        + step("D", 0x81) + step("f") + step("I"),
        "forward_end": forward + step("Y", 5) + step("Y", 6) + step("f") + b"data" + step("D", 0x81) + step("f") + step("I") + step("Q"),
        "exec_ws": ws + b"\0in" + step("M", 0x82) + step("f") + b"out" + step("O", 2) + step("X") + step("t", 1),
        "exec_down": request("POST", "/exec/default/p/down" + query, v4) + request("POST", "/exec/default/x" + query, v4),
        "exec_deaf": request("POST", "/exec/default/p/c" + query, v4) + streams + step("d", 1) + b"0123456789" + step("x", 255)
        + step("O", 2) + step("O", 2) + step("d") + step("f") + step("r"),
        "attach": request("POST", "/attach/default/p/c?stdin=1&stdout=1&stderr=1", v4) + step("f") + step("Y", 0)
        + step("Y", 1) + step("Y", 2) + step("f") + b"in" + step("D", 1) + step("f") + step("I") + raw(shim) + step("O") + step("Q"),
        "attach_bad": request("POST", "/attach/default/p/c?stdout=1", v4) + step("f") + step("Y", 0) + step("Y", 2)
        + step("f") + raw(b"o\x7f\xff\xff\xff") + step("O"),
        "forward": forward + step("Y", 5) + step("Y", 6) + step("f") + b"data" + step("D", 1) + step("f") + step("I")
        + b"answer" + step("O") + step("D", 0x81) + step("f") + step("Q"),
        "forward_refused": forward + step("Y", 9) + step("f") + step("Y", 7) + step("Y", 8) + step("f") + step("Z", 2) + step("f"),
        "forward_behind": forward + step("Y", 5) + step("Y", 6) + step("Y", 7) + step("Y", 8) + step("f")
        + (b"0123456789abcdef" * 16 + step("x", 255) + step("D", 1) + step("f")) * 4 + b"x" + step("D", 3) + step("f")
        + step("Z", 1) + step("f") + b"y" + step("D", 3) + step("f"),
        "forward_ws": request("GET", "/portforward/default/p?ports=80", WEBSOCKET + [
            "Sec-WebSocket-Protocol: v4.channel.k8s.io"]) + step("f") + b"\0data" + step("M", 0x82) + step("f") + b"a" + step("O"),
        "none": request(path="/what/default/p") + request(path="/logs/default/p/none") + request(path="/logs/%zz/p"),
    }


def agent_routes():
    conf = "ClusterName=c\nSlurmctldHost=localhost\nNodeName=n1 CPUs=1\nPartitionName=compute Nodes=n1"
    token = ["Authorization: Bearer secret"]

    def push(*lines, method="PUT", path="/v1/config", **more):
        text = conf + "".join(lines) + "\n"
        return call(method, path, {"generation": 2, "files": {"slurm.conf": text}, **more}, headers=token)

    rpc = push(" MaxTime=00:10:00", declared="x", driftPolicy="Revert")
    return {
        "state": call("GET", "/v1/state", headers=token) + call("GET", "/v1/state?since=1&wait=9", headers=token) + step("t", 10),
        "watch": call("GET", "/v1/state?since=99-1&wait=300", headers=token) + step("P", 2) + step("t", 2) + step("r"),
        "long_poll": call("GET", "/v1/state", headers=token) + b"GET /v1/state?since=" + step("V") + request(
            path="&wait=9", headers=token)[4:] + step("f") + step("P", 2) + step("t", 2) + step("t", 9),
        "long_poll_gone": call("GET", "/v1/state", headers=token) + b"GET /v1/state?since=" + step("V") + request(
            path="&wait=9", headers=token)[4:] + step("f") + step("r") + step("P", 2) + step("t", 2),
        "again": rpc + step("t", 1) + step("B") + step("t", 2) + step("c", 2) + call("GET", "/v1/state"),
        "again_pending": step("H", 1) + rpc + step("B") + step("H") + step("t", 5),
        "restart": push("\nStateSaveLocation=/x") + step("t", 1) + step("U", 0) + step("t", 3) + step("U", 1) + step("t", 3),
        "push_rpc": rpc + step("t", 1) + step("P", 2) + step("t", 1) + step("t", 30),
        "push_partition": push("\nPartitionName=debug Nodes=n1 MaxTime=00:10:00") + step("P", 2) + step("t", 1) + step("t", 20),
        "push_reconfigure": push("\nSchedulerParameters=x") + step("t", 5) + step("t", 60),
        "push_restart": push("\nAuthType=auth/slurm") + step("t", 1),
        "push_bad": push("\nNonsense=1") + push("\nPartitionName=compute Nodes=n1") + push(" Nodes=n9"),
        "push_held": step("H", 1) + rpc + step("c", 1) + push(" MaxTime=5") + step("c", 0) + step("r") + step("H") + step("t", 1),
        "push_refused": rpc + step("H", 1) + b'{"ok":false,"error":{"code":2021,"text":"no"}}' + step("A") + step("A", 1) * 5 + step("H") + step("t", 9),
        "push_down": step("U", 0) + rpc + step("t", 5) + step("U", 1) + step("t", 5),
        "plan": push(" MaxTime=1", method="POST", path="/v1/plan") + step("t", 1),
        "node": call("POST", "/v1/nodes/n1", {"action": "drain", "reason": "r"}, headers=token) + step("t", 1)
        + call("POST", "/v1/nodes/n1", {"action": "what"}, headers=token) + call("DELETE", "/v1/nodes/d1", headers=token),
        "reservation": call("PUT", "/v1/reservations/r", {"nodes": "n1"}, headers=token) + call("DELETE", "/v1/reservations/r", headers=token),
        "open": step("c", 2) + call("GET", "/v1/state") + call("GET", "/metrics") + call("GET", "/healthz"),
        "no_token": call("GET", "/v1/state") + call("PUT", "/v1/config", {"files": {}}) + call("GET", "/healthz"),
        "files": call(
            "PUT", "/v1/config", {"files": {"slurm.conf": conf, "gres.conf": "Name=gpu", "p.sh": "x"}, "modes": {"p.sh": 493}}, headers=token),
        "scalars": b"".join(call("PUT", "/v1/config", b, headers=token) for b in (b"3", b"[]", b"{}", b'{"files":[]}', b"null")),
    }


def kube_reflector():
    def text(value):
        return json.dumps(value, separators=(",", ":")).encode()

    def pod(name, version):
        return {"metadata": {"name": name, "namespace": "n", "resourceVersion": str(version), "uid": name}}

    def page(*names, more=None, version=5):
        meta = {"resourceVersion": str(version), **({"continue": more} if more else {})}
        return text({"kind": "PodList", "metadata": meta, "items": [pod(x, 3) for x in names]}) + step("A")

    def event(kind, name="a", version=6):
        return text({"type": kind, "object": pod(name, version)}) + b"\n"

    gone = text({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})
    return {
        "list": page("a", "b"),
        "pages": page("a", "b", more="x") + page("c"),
        "page_gone": page("a", more="x") + gone + step("F", 4) + page("a"),
        "watch": page("a") + event("ADDED", "b") + event("MODIFIED", "b", 7) + event("DELETED", "b", 8) + step("f") + step("A"),
        "watch_cut": page("a") + event("ADDED")[:20] + step("f") + event("ADDED")[20:] + step("f") + event("BOOKMARK")[:9] + step("A"),
        "watch_gone": page("a") + text({"type": "ERROR", "object": {"kind": "Status", "code": 410}}) + b"\n" + step("f") + step("t", 1),
        "watch_silent": page("a") + step("t", 250) + step("t", 2) + event("ADDED"),
        "watch_back": page("a") + event("ADDED", "b", 2) + step("f") + step("t", 1) + page("a"),
        "watch_nonsense": page("a") + b"{}\n" + step("f") + step("t", 1) + b"x\n" + step("f") + step("t", 2),
        "watch_same": page("a") + event("BOOKMARK", version=9) + step("A") + event("ADDED", "c", 10) + step("f"),
        "refused": b"no" + step("F", 2) + step("t", 1) + step("F", 5) + step("t", 9) + page("a"),
        "no_version": text({"items": [{"metadata": {}}], "metadata": {}}) + step("A") + step("t", 1),
        "scalar": b"3" + step("A") + b"[]" + step("A") + b"null" + step("A") + step("t", 1),
    }


def agent_link():
    ping = b'{"call":"ping"}'
    return {
        "call": ping + step("C", 3) + b'{"ok":true}' + step("F"),
        "queue": ping + step("C", 3) + step("C", 3) + step("C", 4) + b'{"ok":true}' + step("F") + b'{"ok":false,"error":{"kind":"busy"}}' + step("F") + step("F", 1),
        "late": ping + step("C", 3) + step("t", 4) + step("C", 3) + step("t", 9),
        "ended": ping + step("C", 3) + step("C", 6) + step("E") + step("E") + step("t", 1) + step("E") + step("t", 6),
        "nonsense": ping + step("C", 3) + b"3" + step("F") + ping + step("C", 3) + b"{" + step("F") + step("t", 1),
        "unasked": ping + step("C", 3) + b'{"ok":true}' + step("F") + b'{"ok":true}' + step("F") + ping + step("C", 3),
        "last": ping + step("C", 3) + step("C", 3) + b'{"ok":true,"last":true}' + step("F") + step("t", 4),
        "no_start": step("S", 1) + ping + step("C", 9) + step("t", 1) + step("S") + step("t", 5) + b'{"ok":true}' + step("F"),
        "restart": ping + step("C", 3) + step("R") + b'{"ok":true}' + step("F") + step("R") + ping + step("C", 3),
    }


def shim_peers():
    def frame(kind, data):
        return kind + struct.pack(">I", len(data)) + data

    return {
        "watch": b"watch\n" + step("f") + step("T") + step("T"),
        "attach": b"attach\n" + raw(frame(b"i", b"input") + frame(b"r", b"\0\x50\0\x18") + frame(b"x", b"")) + step("O", 3) + step("O", 2),
        "cut": b"att" + step("f") + b"ach\n" + frame(b"i", b"input")[:7] + step("f") + frame(b"i", b"input")[7:],
        "behind": b"attach\n" + step("d", 1) + step("P") + step("d") + step("f"),
        "huge": b"attach\n" + raw(b"i\x7f\xff\xff\xff") + step("f"),
        "unknown": b"what\n" + step("f") + step("c", 1) + b"x" * 70,
        "gone": b"attach\n" + step("r") + step("O", 3) + step("c", 1) + b"watch\n" + step("T") + step("r") + step("T"),
        "many": b"".join(step("c", i) + b"attach\n" + step("f") for i in range(4)) + step("O", 9) + step("e"),
    }


def plugin():
    def answer(**status):
        return json.dumps({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status}).encode()

    return {
        "token": answer(token="t"),
        "expires": answer(token="t", expirationTimestamp="2026-01-09T10:00:00Z"),
        "pair": answer(clientCertificateData="c", clientKeyData="k"),
        "half": answer(clientCertificateData="c"),
        "none": answer(),
        "version": b'{"kind":"ExecCredential","apiVersion":"v9","status":{"token":"t"}}',
        "scalar": b"3",
    }


def http_client():
    ok = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
    stream = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return {
        "ok": ok + step("f") + step("c", 1) + ok,
        "stream": stream + b"5\r\nhello\r\n" + step("f") + b"0\r\n\r\n" + step("c", 1) + stream + b"3\r\nabc\r\n" + step("f") + step("e"),
        "until_end": b"HTTP/1.0 200 OK\r\n\r\nhello" + step("e") + step("c", 1) + b"HTTP/1.1 503 No\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n",
        "kept": ok + step("N") + ok + step("N", 1) + ok + step("f"),
        "cut": ok[:20] + step("f") + ok[20:40] + step("r"),
        "too_much": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 100 + step("x", 255) + step("f"),
        "continue": b"HTTP/1.1 100 Continue\r\n\r\n" + ok + step("f"),
        "upgrade": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw" + step("f"),
        "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n" + step("f"),
        "given_up": step("f") + step("K") + step("K") + ok,
        "encoded": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc" + step("f"),
        "http2": b"HTTP/2 200\r\n\r\n" + step("f") + b"SSH-2.0-x\r\n" + step("f"),
    }


def operator_agent():
    def state(version="1-1", **more):
        full = {"version": version, "full": True, "slurmctld": {"up": True, "release": "22.05.8"}, "nodes": [
            {"name": "n1", "state": "IDLE"}], "partitions": [{"name": "compute", "config": {"State": "UP"}}], "jobs": [], "reservations": [],
            "config": {"hash": "h", "generation": 2}, "drift": [], **more}
        return json.dumps(full).encode() + step("A")

    push = b'{"generation":2,"files":{"slurm.conf":"ClusterName=c"},"declared":"x"}' + step("P")
    result = json.dumps({"result": "applied", "hash": "h", "generation": 2, "steps": []}).encode()
    return {
        "state": state() + state("1-2", full=False, gone={"nodes": ["n1"]}),
        "other": state() + state("2-1") + state("2-1", full=False),
        "down": state(slurmctld={"up": False}) + state("1-2", nodes=[{"name": "n1", "state": "DOWN"}, {"name": "n0"}]),
        "lost": state() + step("F", 4) + step("t", 1) + step("F") + step("t", 3) + state(),
        "refused": b"no" + step("B", 4) + step("t", 1) + b"{}" + step("B", 36) + step("t", 9) + state(),
        "push": state() + push + result + step("A", 1) + push + result + step("B", 17),
        "push_lost": push + step("F", 5) + step("t", 2) + result + step("A", 1) + state(),
        "push_twice": push + push + b'{"generation":3,"declared":"i","files":{}}' + step("P") + result + step("A", 1) + result + step("A", 1),
        "node": state() + step("N") + b"{}" + step("A", 1) + step("N") + b'{"error":"x"}' + step("B", 17) + step("N") + step("K"),
        "node_lost": step("N") + step("L") + step("F", 1) + state(),
        "silent": state() + step("t", 250) + step("t", 250),
        "nonsense": b"3" + step("A") + step("t", 1) + b'{"nodes":3}' + step("A") + step("t", 1) + b"{" + step("A"),
    }


def main():
    for make in (operator_agent, http_client, agent_link, shim_peers, plugin, kube_reflector, agent_routes, http_server, http_sessions, http_tls, dns_server, api_relay, api_server, node_socket):
        directory = CORPUS / make.__name__
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in make().items():
            (directory / name).write_bytes(data)


if __name__ == "__main__":
    main()
