# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases: a valid conversation with some listener, mutated.

A case is made from its number and the seed alone.  It says where to connect, as whom, and what to do: bytes to send,
"end" (send no more), "reset", a pause in seconds, and whether the answers are read at all.
"""
import json
import random
from dataclasses import dataclass, field

import mutate
import wire

SPACES = [f"fz{i}" for i in range(3)]
POD = {"nodeName": "elsewhere", "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [
    {"name": "A", "value": "b"}], "resources": {"requests": {"cpu": "10m"}}}], "terminationGracePeriodSeconds": 0}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": POD}
WORKLOAD = {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "properties": {
    "n": {"type": "integer", "minimum": 0}, "s": {"type": "string", "pattern": "^a*$"}, "l": {
        "type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}},
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}}}}}
VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA},
           "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
           "additionalPrinterColumns": [{"name": "N", "type": "integer", "jsonPath": ".spec.n"}]}

# Group, plural, kind, namespaced, and the rest of an object.
KINDS = [
    ("", "configmaps", "ConfigMap", True, {"data": {"k": "v"}}),
    ("", "secrets", "Secret", True, {"stringData": {"k": "v"}, "type": "Opaque"}),
    ("", "pods", "Pod", True, {"spec": POD}),
    ("", "services", "Service", True, {"spec": {"selector": {"app": "a"}, "ports": [{"port": 80, "targetPort": "x"}]}}),
    ("", "serviceaccounts", "ServiceAccount", True, {}),
    ("", "persistentvolumeclaims", "PersistentVolumeClaim", True, {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}}),
    ("", "endpoints", "Endpoints", True, {"subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 1}]}]}),
    ("", "events", "Event", True, {"involvedObject": {"kind": "Pod", "name": "a"}, "reason": "R", "message": "m"}),
    ("", "namespaces", "Namespace", False, {}),
    ("apps", "deployments", "Deployment", True, {"spec": WORKLOAD}),
    ("apps", "statefulsets", "StatefulSet", True, {"spec": {"serviceName": "s", **WORKLOAD}}),
    ("apps", "replicasets", "ReplicaSet", True, {"spec": WORKLOAD}),
    ("batch", "jobs", "Job", True, {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}),
    ("policy", "poddisruptionbudgets", "PodDisruptionBudget", True, {"spec": {"minAvailable": "50%", "selector": {}}}),
    ("networking.k8s.io", "networkpolicies", "NetworkPolicy", True, {"spec": {"podSelector": {}}}),
    ("rbac.authorization.k8s.io", "roles", "Role", True, {"rules": RULES}),
    ("rbac.authorization.k8s.io", "clusterroles", "ClusterRole", False, {"rules": RULES}),
    ("coordination.k8s.io", "leases", "Lease", True, {"spec": {"holderIdentity": "h", "leaseDurationSeconds": 9}}),
    ("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", False, {"spec": {
        "group": "fz.example.org", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
        "versions": [VERSION]}}),
    ("fz.example.org", "things", "Thing", True, {"spec": {"n": 1, "s": "aa", "l": [{"k": "x"}]}}),
    ("slinky.slurm.net", "controllers", "Controller", True, {"spec": {"slurmKeyRef": {"name": "k", "key": "k"}}}),
    ("slinky.slurm.net", "nodesets", "NodeSet", True, {"spec": {"controllerRef": {"name": "c"}, "replicas": 0}}),
    ("slurmkeeper.dev", "partitions", "Partition", True, {"spec": {"controllerRef": {"name": "c"}, "nodeSets": ["a"]}}),
]
VERSIONS = {"slinky.slurm.net": "v1beta1", "slurmkeeper.dev": "v1alpha1"}
PATCHES = ["application/merge-patch+json", "application/json-patch+json", "application/strategic-merge-patch+json",
           "application/apply-patch+yaml"]
SUBS = ["status", "scale", "eviction", "binding", "token", "log", "finalize", "exec", "attach", "portforward", "nothing"]
PAGES = ["/", "/api", "/apis", "/version", "/healthz", "/readyz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3",
         "/openapi/v3/apis/apps/v1", "/api/v1", "/apis/apps/v1", "/logs", "/nothing"]
ACCEPTS = ["application/json", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/vnd.kubernetes.protobuf",
           "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/yaml", "*/*", "x", ""]
QUERIES = ["limit=1", "limit=-1", "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", "labelSelector=app%3Da", "labelSelector=%2C%2C", "watch=1",
           "fieldSelector=metadata.name%3Da", "resourceVersion=1", "resourceVersion=0", "resourceVersionMatch=Exact", "watch=true",
           "dryRun=All", "fieldManager=m", "force=true", "fieldValidation=Strict", "timeoutSeconds=1", "allowWatchBookmarks=true",
           "pretty=true", "propagationPolicy=Foreground", "gracePeriodSeconds=0", "orphanDependents=true", "sendInitialEvents=true"]
CONF = "ClusterName=c\nSlurmctldHost=localhost\nNodeName=n1 CPUs=1\nPartitionName=compute Nodes=n1 MaxTime=5\n"


@dataclass
class Case:
    number: int
    listener: str
    named: bool = True  # with credentials
    steps: list = field(default_factory=list)
    deaf: bool = False
    answers: int = 1  # how many will come, as far as can be known

    def describe(self):
        return json.dumps({"case": self.number, "listener": self.listener, "named": self.named, "deaf": self.deaf,
                           "steps": [s.decode("latin-1") if isinstance(s, bytes) else s for s in self.steps]}, indent=1)


def group_path(group):
    return f"/apis/{group}/{VERSIONS.get(group, 'v1')}" if group else "/api/v1"


def name_of(rng, plural):
    if plural == "customresourcedefinitions":
        return rng.choice(["things.fz.example.org", "others.fz.example.org", "x"])
    if plural == "namespaces":
        return rng.choice(["fz-x", "fz-y", "fz-z", "default", "kube-system"])  # the others' cases need SPACES to live
    return rng.choice(["a", "a", "a", "a", "b", "b", "c", "A", "a.b"])


def object_of(rng, kind, name):
    group, _, what, _, rest = kind
    version = f"{group}/{VERSIONS.get(group, 'v1')}" if group else "v1"
    return {"apiVersion": version, "kind": what, "metadata": {"name": name, "labels": {"app": "a"}}, **rest}


def query(rng):
    return "" if rng.random() < 0.4 else "?" + "&".join(rng.choice(QUERIES) for _ in range(rng.randint(1, 3)))


def body_of(rng, value, kind="application/json"):
    """Its bytes and its type: JSON as a rule, YAML or nonsense at times."""
    data = json.dumps(value).encode()
    chance = rng.random()
    if chance < 0.12:
        mutated = mutate.raw(rng, data)
        data = mutated if mutate.numbers_in_text(mutated) else data
    elif chance < 0.16:
        data, kind = b"k8s\0" + mutate.raw(rng, b"\n\x0f\n\x02v1\x12\tConfigMap\x12\x11\n\x0f\n\x01a\x12\0\x1a\0"), "application/vnd.kubernetes.protobuf"
    elif chance < 0.2:
        kind = "application/yaml"
    elif chance < 0.22:
        kind = rng.choice(["", "text/plain", "application/json; charset=x", "a/b/c", PATCHES[rng.randrange(4)]])
    return data, kind


def patch_of(rng, value):
    kind = rng.choice(PATCHES)
    if kind == PATCHES[1]:
        spots = ["/metadata/labels/app", "/data/k", "/spec", "/metadata/finalizers/-", "", "/", "/a~2", "/spec/containers/0"]
        return [{"op": rng.choice(["add", "remove", "replace", "test", "copy", "move", "x"]), "path": rng.choice(spots),
                 "from": rng.choice(spots), "value": mutate.value(rng)} for _ in range(rng.randint(0, 4))], kind
    if rng.random() < 0.1:
        return mutate.value(rng), kind
    return mutate.objects(rng, value), kind


def api_call(rng):
    """One request to the API server, as it should be but for a few things."""
    if rng.random() < 0.06:
        return wire.request(rng.choice(["GET", "POST", "HEAD"]), rng.choice(PAGES) + query(rng))
    kind = rng.choice(KINDS)
    group, plural, _, namespaced, _ = kind
    base = group_path(group) + (f"/namespaces/{rng.choice(SPACES)}" if namespaced else "") + "/" + plural
    name = name_of(rng, plural)
    headers = ["Accept: " + rng.choice(ACCEPTS)] if rng.random() < 0.3 else []
    verb = rng.choice(["GET", "LIST", "POST", "POST", "POST", "POST", "PUT", "PUT", "PATCH", "PATCH", "PATCH", "DELETE", "SUB"])
    value = mutate.objects(rng, object_of(rng, kind, name), rng.choice([0, 1, 2, 5]))
    if verb == "LIST":
        return wire.request("GET", base + query(rng), headers)
    if verb == "GET" or (verb == "DELETE" and rng.random() < 0.5):
        return wire.request(verb, f"{base}/{name}{query(rng)}", headers)
    path = base if verb == "POST" else f"{base}/{name}"
    content, typ = (patch_of(rng, value)) if verb == "PATCH" else (value, "application/json")
    if verb == "SUB":
        verb, path = rng.choice(["GET", "POST", "PUT", "PATCH"]), f"{path}/{rng.choice(SUBS)}"
        typ = rng.choice(PATCHES) if verb == "PATCH" else typ
    data, typ = body_of(rng, content, typ)
    return wire.request(verb, path + query(rng), [f"Content-Type: {typ}", *headers], data)


SPDY_UP = ["Connection: Upgrade", "Upgrade: SPDY/3.1"]
WS_UP = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]


def spdy_frames(rng, forward):
    s = wire.Spdy(SpdyDictionary.value)
    if forward:
        kinds = [{"streamtype": t, "port": str(rng.choice([80, 8080, 0, 70000])), "requestid": str(rng.randrange(3))}
                 for t in rng.choices(["error", "data", "x"], [5, 5, 1], k=rng.randint(1, 6))]
    else:
        kinds = [{"streamtype": t} for t in rng.choices(["error", "stdin", "stdout", "stderr", "resize", "x"], k=rng.randint(1, 6))]
    frames = [s.open(k) for k in kinds]
    for _ in range(rng.randint(0, 6)):
        stream = rng.choice([1, 3, 5, 7, 9, 0, 99])
        frames.append(rng.choice([lambda: s.data(stream, b"x" * rng.choice([0, 1, 5, 9000]), rng.random() < 0.3), lambda: s.reset(stream),
                                  lambda: s.data(stream, b'{"Width":80,"Height":9}'), lambda: b"\x80\x03\0\6\0\0\0\4\0\0\0\1"])())
    return frames


def ws_frames(rng):
    frames = []
    for _ in range(rng.randint(1, 8)):
        data = bytes([rng.choice([0, 1, 2, 3, 4, 5, 255])]) + rng.choice([b"", b"ls\n", b'{"Width":1,"Height":2}', b"x" * 70000, b"\x00"])
        frames.append(wire.websocket(rng.choice([2, 2, 2, 1, 0, 8, 9, 10, 3, 15]), data, rng.random() < 0.8))
    return frames


def session(rng, prefix, pod):
    """exec, attach or port-forward of a pod that runs, over SPDY or WebSocket."""
    what = rng.choice(["exec", "attach", "portforward"])
    path = f"{prefix}/{pod}/{what}" if prefix.startswith("/api") else f"/{what}/{prefix}/{pod}"
    asked = "&".join(rng.sample(["stdin=true", "stdout=true", "stderr=true", "tty=true", "container=main", "command=cat",
                                 "command=true", "ports=80", "ports=8080,x"], rng.randint(1, 6)))
    if rng.random() < 0.5:
        protocol = rng.choice(["portforward.k8s.io" if what == "portforward" else "v4.channel.k8s.io", "v1", ""])
        head = wire.request("POST", f"{path}?{asked}", SPDY_UP + [f"X-Stream-Protocol-Version: {protocol}"])
        frames = spdy_frames(rng, what == "portforward")
    else:
        protocol = rng.choice(["v4.channel.k8s.io", "v5.channel.k8s.io", "base64.channel.k8s.io", "SPDY/3.1+portforward.k8s.io", "x"])
        head = wire.request("GET", f"{path}?{asked}", WS_UP + [f"Sec-WebSocket-Protocol: {protocol}"])
        frames = ws_frames(rng)
        if protocol.startswith("SPDY"):
            frames = [wire.websocket(2, f) for f in spdy_frames(rng, True)]
    if rng.random() < 0.5:
        frames = [mutate.raw(rng, b"".join(frames), 3)]
    return [head, 0.05] + frames


class SpdyDictionary:
    value = b""


def finish(rng, case, chunks):
    """Cut, delayed, ended early: how the bytes of a case arrive."""
    for chunk in chunks:
        case.steps += mutate.pieces(rng, chunk) if isinstance(chunk, bytes) else [chunk]
        if rng.random() < 0.03:
            case.steps.append(rng.choice([0.01, 0.1]))
    if rng.random() < 0.1:
        del case.steps[rng.randint(1, len(case.steps)):]
    case.steps.append(rng.choice(["wait", "wait", "wait", "end", "reset"]))
    case.deaf = rng.random() < 0.05
    return case


def api_case(rng, case):
    case.named = rng.random() < 0.9
    chance = rng.random()
    if chance < 0.06:
        return finish(rng, case, session(rng, "/api/v1/namespaces/default/pods", rng.choice(["p", "q"])))
    if chance < 0.1:
        case.named = False
        case.listener = "api-tls"
        return finish(rng, case, [tls_garbage(rng)])
    calls = [api_call(rng) for _ in range(rng.choice([1, 1, 2, 4, 8, 16]))]
    if rng.random() < 0.8:  # the server closes after the last answer, so that nobody waits for more
        calls[-1] = calls[-1].replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    if rng.random() < 0.15:
        calls = [mutate.raw(rng, c) if mutate.numbers_in_text(c) else c for c in calls]
    case.answers = len(calls)
    return finish(rng, case, calls)


def tls_garbage(rng):
    hello = bytes.fromhex("0100002f0303") + bytes(rng.randrange(256) for _ in range(32)) + bytes.fromhex("000004130113020100000a")
    data = b"".join(wire.tls_record(rng.choice([20, 21, 22, 23, 24]), rng.choice([hello, b"\1\0", b"\1", b"x" * 100]),
                                    rng.choice([0x0301, 0x0303, 0x0200])) for _ in range(rng.randint(1, 4)))
    return mutate.raw(rng, data, 3)


def agent_call(rng):
    conf = rng.choice([CONF, "", "Include x\n", CONF + "PartitionName=a Nodes=n1\n", CONF.replace("n1", "n[1-99999]")])
    push = {"generation": rng.choice(mutate.EDGES[:8]), "files": {"slurm.conf": conf, "gres.conf": "Name=gpu"},
            "modes": {"slurm.conf": 420}, "driftPolicy": rng.choice(["Report", "Revert", "x"]), "declared": "x"}
    node = {"action": rng.choice(["drain", "undrain", "resume", "down", "update", "x"]), "reason": rng.choice(mutate.TEXTS),
            "comment": "c", "features": "f"}
    method, path, value = rng.choice([
        ("PUT", "/v1/config", push), ("POST", "/v1/plan", push), ("POST", "/v1/plan", push), ("POST", "/v1/nodes/c0001", node),
        ("POST", "/v1/nodes/none", node), ("DELETE", "/v1/nodes/none", None), ("PUT", "/v1/reservations/r", {
            "nodes": "c0001", "users": "root", "startTime": 0, "endTime": 9999999999, "flags": "MAINT"}),
        ("DELETE", "/v1/reservations/r", None), ("GET", "/v1/state", None), ("GET", "/v1/state?since=x&wait=1", None),
        ("GET", "/v1/state?since=1-1&wait=1", None), ("GET", "/metrics", None), ("GET", "/healthz", None)])
    if value is None:
        return method, path, b""
    data = json.dumps(mutate.objects(rng, value)).encode()
    return method, path, mutate.raw(rng, data) if rng.random() < 0.2 else data


def agent_case(rng, case):
    case.listener = rng.choice(["agent", "agent", "agent-socket", "agent-tls"])
    case.named = rng.random() < 0.9
    if case.listener == "agent-tls":
        return finish(rng, case, [tls_garbage(rng)])
    token = ["Authorization: Bearer TOKEN"] if case.named else []
    calls = [wire.request(m, p, token, b) for m, p, b in (agent_call(rng) for _ in range(rng.randint(1, 3)))]
    return finish(rng, case, [mutate.raw(rng, c) if rng.random() < 0.15 else c for c in calls])


def node_case(rng, case):
    if rng.random() < 0.6:
        return finish(rng, case, session(rng, "default", "p"))
    asked = "&".join(rng.sample(["follow=true", "tailLines=1", "tailLines=-5", "sinceSeconds=9", "limitBytes=3", "previous=true",
                                 "timestamps=true", "sinceTime=x", "sinceTime=2026-01-09T10:00:00Z"], 2))
    calls = [wire.request("GET", f"/logs/default/{rng.choice(['p', 'x', '%2e'])}/{rng.choice(['main', '', 'x'])}?{asked}")]
    return finish(rng, case, [mutate.raw(rng, c) if rng.random() < 0.4 else c for c in calls])


def dns_case(rng, case):
    names = ["kubernetes.default.svc.cluster.local", "p.default.svc.cluster.local", "x.cluster.local", "1.0.131.10.in-addr.arpa",
             "a." * 60 + "cluster.local", "_https._tcp.kubernetes.default.svc.cluster.local", "", "outside.invalid"]
    messages = [wire.dns_question(rng.choice(names), rng.choice([1, 28, 33, 12, 255, 6, 65535]), rng.randrange(65536),
                                  rng.choice([0x0100, 0, 0x8000, 0x7800]), rng.random() < 0.3) for _ in range(rng.randint(1, 5))]
    messages = [mutate.raw(rng, m, 3) if rng.random() < 0.5 else m for m in messages]
    if rng.random() < 0.5:
        case.listener = "dns-tcp"
        messages = [len(m).to_bytes(2, "big") + m for m in messages if len(m) < 65536]
        return finish(rng, case, messages or [b"\0"])
    case.steps = [m[:4000] for m in messages]
    return case


def operator_case(rng, case):
    case.named = False
    calls = [wire.request(rng.choice(["GET", "POST", "HEAD"]), rng.choice(["/metrics", "/healthz", "/readyz", "/x"]))]
    return finish(rng, case, [mutate.raw(rng, c) if rng.random() < 0.5 else c for c in calls])


def relay_case(rng, case):
    case.named = False
    return finish(rng, case, [tls_garbage(rng) if rng.random() < 0.7 else mutate.raw(rng, b"GET / HTTP/1.1\r\n\r\n")])


MAKERS = {"api": (api_case, 60), "agent": (agent_case, 12), "node": (node_case, 10), "dns": (dns_case, 12),
          "operator": (operator_case, 3), "relay": (relay_case, 3)}


def make(seed, number, only):
    rng = random.Random(f"{seed}:{number}")
    listeners = [x for x in MAKERS if not only or x in only]
    listener = rng.choices(listeners, [MAKERS[x][1] for x in listeners])[0]
    return MAKERS[listener][0](rng, Case(number, listener))
