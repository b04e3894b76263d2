# SPDX-License-Identifier: GPL-2.0-or-later
"""Protobuf by hand: Kubernetes request bodies, and enough decoding for OpenAPI v2.

A message to encode is a list of (field number, value): bool and int become varints, str and bytes
are length-delimited, a list is an embedded message, a dict a string map.
"""
import struct

MAGIC = b"k8s\x00"


def varint(n):
    if n < 0:
        n += 1 << 64
    out = bytearray()
    while True:
        n, low = n >> 7, n & 0x7F
        out.append(low | (0x80 if n else 0))
        if not n:
            return bytes(out)


def encode(fields):
    out = b""
    for number, value in fields:
        if isinstance(value, bool) or isinstance(value, int):
            out += varint(number << 3) + varint(int(value))
            continue
        if isinstance(value, dict):
            out += encode([(number, [(1, k), (2, v)]) for k, v in value.items()])
            continue
        if isinstance(value, list):
            value = encode(value)
        elif isinstance(value, str):
            value = value.encode()
        out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def envelope(api_version, kind, fields):
    """A request body: the magic number and the Unknown message around the object."""
    type_meta = [(1, api_version), (2, kind)]
    return MAGIC + encode([(1, type_meta), (2, encode(fields)), (3, ""), (4, "")])


def meta(name, namespace="", labels=None, **more):
    """ObjectMeta as client-go encodes it: zero values are written too."""
    fields = [(1, name), (2, ""), (3, namespace), (4, ""), (5, ""), (6, more.get("version", "")),
              (7, 0), (8, [])]
    return fields + ([(11, labels)] if labels else [])


def time(seconds, nanos=0):
    return [(1, seconds), (2, nanos)]


def _read_varint(data, at):
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def decode(data):
    """Yield (field number, value) of a message; embedded messages stay bytes."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _read_varint(data, at)
        elif wire == 2:
            size, at = _read_varint(data, at)
            value, at = data[at:at + size], at + size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = struct.unpack("<d" if wire == 1 else "<f", data[at:at + size])[0], at + size
        else:
            raise ValueError(f"wire type {wire}")
        yield number, value


def first(data, *path):
    """The value at a path of field numbers, None if there is none."""
    for number in path:
        data = next((v for n, v in decode(data) if n == number), None)
        if data is None:
            return None
    return data


def every(data, number):
    return [v for n, v in decode(data) if n == number]
