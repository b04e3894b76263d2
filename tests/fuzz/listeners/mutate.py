# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutations: of bytes, of JSON values, of the order of what is sent.  All chance comes from the `random.Random` given."""
import json

EDGES = [0, 1, -1, 2**31 - 1, 2**31, -2**31, 2**32, 2**53 + 1, 2**63 - 1, -2**63, 2**64, 0.5, -0.0, 1e308, 1e-320]
TEXTS = ["", " ", "a", "a" * 300, "a/b", "../..", "%00", "\u0000", "\ud7ff", "\U0001f600", "a\nb", "-", ".", "..", "A_b",
         "kube-system", "default", "0", "true", "null", "1e999", "500m", "1Gi", "-1", "2026-01-09T10:00:00Z", "{}", "*",
         "system:masters", "a=b,c in (d)", "metadata.name=x", "[", "(", "(?i)a{9999}", "$patch", "x" * 5000]
KEYS = ["metadata", "name", "generateName", "namespace", "labels", "annotations", "finalizers", "ownerReferences", "uid",
        "managedFields", "resourceVersion", "deletionTimestamp", "spec", "status", "data", "stringData", "immutable", "rules",
        "template", "containers", "initContainers", "volumes", "selector", "matchLabels", "ports", "conditions",
        "$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "", "\u0000", "a.b"]
# What makes pods is kept small: the machine that runs this has other work.
COUNTS = {"replicas": 2, "parallelism": 2, "completions": 2, "minReplicas": 1, "maxReplicas": 2}
# A pod of a mutated kind must not get at the machine's own files.
NEVER = {"hostPath", "hostPID", "hostIPC", "hostNetwork", "privileged", "nodeName", "command"}


def scalar(rng):
    return rng.choice([None, True, False, rng.choice(EDGES), rng.choice(TEXTS), rng.randint(-9, 9)])


def value(rng, depth=0):
    """Something new."""
    kind = rng.random()
    if depth > 3 or kind < 0.6:
        return scalar(rng)
    if kind < 0.8:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice(KEYS): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def places(v, at=()):
    """Every place inside of a value."""
    if isinstance(v, dict):
        for k in v:
            if k not in NEVER:
                yield at + (k,)
                yield from places(v[k], at + (k,))
    elif isinstance(v, list):
        for i in range(len(v)):
            yield at + (i,)
            yield from places(v[i], at + (i,))


def change(rng, v, at):
    """Replace, remove, double, wrap or rename what is at a place."""
    inside = v
    for step in at[:-1]:
        inside = inside[step]
    last, how = at[-1], rng.randrange(6)
    if how == 0:
        del inside[last]
    elif how == 1 and isinstance(inside, list):
        inside.insert(last, inside[last])
    elif how == 2 and isinstance(inside, dict):
        inside[rng.choice(KEYS)] = inside.pop(last)
    elif how == 3:
        inside[last] = [inside[last]] if rng.random() < 0.5 else {rng.choice(KEYS): inside[last]}
    elif how == 4 and isinstance(inside, dict):
        inside[rng.choice(KEYS)] = value(rng)
    else:
        inside[last] = value(rng)


def tame(v):
    """Counts of pods are small whatever a mutation made of them."""
    if isinstance(v, dict):
        for k, x in v.items():
            if k in COUNTS and isinstance(x, (int, float)) and not isinstance(x, bool):
                v[k] = x if -3 < x <= COUNTS[k] else COUNTS[k]
            else:
                tame(x)
    elif isinstance(v, list):
        for x in v:
            tame(x)
    return v


def objects(rng, v, most=4):
    """A JSON value with a few things changed."""
    v = json.loads(json.dumps(v))
    for _ in range(rng.randint(0, most)):
        all_places = list(places(v)) if isinstance(v, (dict, list)) else []
        if not all_places:
            return tame(v)
        change(rng, v, rng.choice(all_places))
    return tame(v)


def raw(rng, data, most=6):
    """Bytes with a few things changed."""
    data = bytearray(data)
    for _ in range(rng.randint(1, most)):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(7)
        if how == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
        elif how == 2:
            del data[at:at + rng.randint(1, 16)]
        elif how == 3:
            data[at:at] = data[max(0, at - rng.randint(1, 64)):at] * rng.choice([1, 2, 50])
        elif how == 4:
            del data[at:]
        elif how == 5:
            data[at:at] = rng.choice([b"\r\n", b"\0", b"\r\n\r\n", b": ", b"\xff" * 4, b"%", b"{", b"[" * 200, b'"', b"0\r\n\r\n"])
        else:
            data[at:at + 4] = rng.choice([0, 1, 127, 128, 255, 65535, 2**31 - 1, 2**32 - 1]).to_bytes(4, "big")
    return bytes(data[:1 << 20])


def numbers_in_text(data):
    """False where a text mutation may have made a huge count of pods: those are not sent."""
    return not any(b'"%s":' % k.encode() in data.replace(b" ", b"") for k in COUNTS)


def pieces(rng, data):
    """The same bytes, cut as a network might."""
    if rng.random() < 0.5 or len(data) < 2:
        return [data]
    cuts = sorted(rng.randrange(1, len(data)) for _ in range(rng.randint(1, 5)))
    return [data[a:b] for a, b in zip([0] + cuts, cuts + [len(data)]) if a < b]
