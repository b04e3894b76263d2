# SPDX-License-Identifier: GPL-2.0-or-later
"""What clients say, as bytes: HTTP requests, SPDY and WebSocket frames, DNS messages, TLS records."""
import json
import re
import struct
import zlib


def request(method, path, headers=(), body=b"", host="h"):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def with_json(method, path, value, kind="application/json", headers=()):
    return request(method, path, [f"Content-Type: {kind}", *headers], json.dumps(value).encode())


def websocket(opcode, data, fin=True, mask=b"\x12\x34\x56\x78"):
    n = len(data)
    head = bytes([(0x80 if fin else 0) | opcode])
    if n < 126:
        head += bytes([0x80 | n])
    elif n < 65536:
        head += b"\xfe" + struct.pack(">H", n)
    else:
        head += b"\xff" + struct.pack(">Q", n)
    return head + mask + bytes(b ^ mask[i & 3] for i, b in enumerate(data))


class Spdy:
    """The client's half of a session.  Headers are stored and not squeezed, so that mutations reach their text."""

    def __init__(self, dictionary):
        self.z = zlib.compressobj(0, zlib.DEFLATED, 15, 8, 0, dictionary)
        self.next = 1

    def open(self, headers):
        block = struct.pack(">I", len(headers))
        for name, value in headers.items():
            for text in (name.encode(), value.encode()):
                block += struct.pack(">I", len(text)) + text
        data = self.z.compress(block) + self.z.flush(zlib.Z_SYNC_FLUSH)
        stream, self.next = self.next, self.next + 2
        return struct.pack(">IIIIH", 0x80030001, len(data) + 10, stream, 0, 0) + data

    @staticmethod
    def data(stream, content, last=False):
        return struct.pack(">II", stream, (1 << 24 if last else 0) | len(content)) + content

    @staticmethod
    def reset(stream):
        return struct.pack(">IIII", 0x80030003, 8, stream, 5)


def spdy_dictionary(source):
    """The protocol's dictionary, from the names and the tail in src/http/spdy_block.c, held against its checksum."""
    with open(source, encoding="utf-8") as f:
        text = f.read()

    def strings(name):
        return re.findall(r'"([^"]*)"', re.search(name + r"\[\] =(.*?);", text, re.S).group(1))

    out = b"".join(struct.pack(">I", len(n)) + n.encode() for n in strings("names")) + "".join(strings("tail")).encode()
    assert zlib.adler32(out) == 0xE3C6A7C2
    return out


def dns_question(name, kind=1, number=7, flags=0x0100, edns=False):
    labels = b"".join(bytes([len(x)]) + x for x in name.encode().split(b".") if x)
    head = struct.pack(">HHHHHH", number, flags, 1, 0, 0, 1 if edns else 0)
    tail = b"\0" + struct.pack(">HHIH", 41, 4096, 0, 0) if edns else b""
    return head + labels + b"\0" + struct.pack(">HH", kind, 1) + tail


def tls_record(kind, content, version=0x0303):
    return struct.pack(">BHH", kind, version, len(content) & 0xFFFF) + content
