# SPDX-License-Identifier: GPL-2.0-or-later
"""What an operator sees of slurmkeeper-agent, over real HTTPS; Slurm is a few dictionaries.

Follows the agent's contract: PUT /v1/config, GET /v1/state with long poll and differences,
POST /v1/nodes/NAME.  Tests change nodes, partitions and drift, and read what was asked for.
"""
import http.server
import json
import pathlib
import ssl
import tempfile
import threading
import time
import urllib.parse


class Agent:
    def __init__(self, address, cert, key, token, port=6821):
        self.token = token
        self.lock = threading.Condition()
        self.boot, self.version = f"{time.monotonic_ns():x}", 1
        self.parts = {"nodes": {}, "partitions": {}}
        self.stamps = {"nodes": {}, "partitions": {}}
        self.sections = {"slurmctld": {"up": True, "release": "22.05.8"}, "drift": [],
                         "config": {}, "jobs": {"pending": 0, "running": 0}}
        self.section_stamps = dict.fromkeys(self.sections, 1)
        self.pushes, self.calls = [], []
        self.refuse_with = None     # (status, body) for the next pushes
        self.pending_with = None    # reason
        self.on_node = None         # called with (name, body): changes what Slurm would
        self.gate = threading.Event()   # pushes are answered while it is open
        self.gate.set()
        self.connections = 0
        self.server = self._serve(address, port, cert, key)

    def _serve(self, address, port, cert, key):
        with tempfile.TemporaryDirectory() as scratch:
            files = [pathlib.Path(scratch) / n for n in ("crt", "key")]
            for path, text in zip(files, (cert, key)):
                path.write_text(text, encoding="utf-8")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*files)
        server = http.server.ThreadingHTTPServer((address, port), self._handler())
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def _handler(self):
        agent = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self):
                super().setup()
                agent.connections += 1

            def log_message(self, *args):  # pylint: disable=arguments-differ
                pass

            def answer(self, status, value):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def handle_any(self):
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size)) if size else None
                if self.headers.get("Authorization") != f"Bearer {agent.token}":
                    self.answer(401, {"error": "who are you?"})
                    return
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                if (self.command, url.path) == ("GET", "/v1/state"):
                    self.answer(200, agent.state(query.get("since", ""),
                                                 float(query.get("wait", "0"))))
                elif (self.command, url.path) == ("PUT", "/v1/config"):
                    self.answer(*agent.push(body))
                elif self.command == "POST" and url.path.startswith("/v1/nodes/"):
                    self.answer(*agent.node_call(url.path[len("/v1/nodes/"):], body))
                else:
                    self.answer(404, {"error": "no such thing"})

            do_GET = do_PUT = do_POST = handle_any

        return Handler

    # What tests change.

    def _touch(self):
        self.version += 1
        self.lock.notify_all()

    def put(self, kind, name, **fields):
        with self.lock:
            self.parts[kind][name] = dict(self.parts[kind].get(name, {}), name=name, **fields)
            self._touch()
            self.stamps[kind][name] = self.version

    def node(self, name, state, reason="", jobs=(), **more):
        self.put("nodes", name, state=state, reason=reason, jobs=list(jobs), **more)

    def remove(self, kind, name):
        with self.lock:
            del self.parts[kind][name]
            self._touch()
            self.stamps[kind][name] = self.version

    def section(self, name, value):
        with self.lock:
            self.sections[name] = value
            self._touch()
            self.section_stamps[name] = self.version

    def restart(self):
        """A new process: versions start again."""
        with self.lock:
            self.boot = f"{time.monotonic_ns():x}"
            self._touch()

    # What the operator asks for.

    def state(self, since, wait_s):
        boot, _, number = since.rpartition("-")
        until = time.monotonic() + wait_s
        with self.lock:
            while boot == self.boot and int(number) >= self.version and time.monotonic() < until:
                self.lock.wait(until - time.monotonic())
            full = boot != self.boot
            seen = 0 if full else int(number)
            answer = {"version": f"{self.boot}-{self.version}", "full": full, "removed": {}}
            for kind, parts in self.parts.items():
                stamps = self.stamps[kind]
                answer[kind] = [p for n, p in parts.items() if full or stamps[n] > seen]
                answer["removed"][kind] = [n for n, s in stamps.items()
                                           if n not in parts and s > seen and not full]
            for name, value in self.sections.items():
                if full or self.section_stamps[name] > seen:
                    answer[name] = value
            return answer

    def push(self, body):
        self.pushes.append(body)
        self.gate.wait(30)
        if self.refuse_with:
            return self.refuse_with
        own = body["declared"]
        result = "pending" if self.pending_with else "applied"
        known = self.sections["config"].get("declared") == own
        self.section("config", {"declared": own, "generation": body["generation"], "result": result,
                                "reason": self.pending_with or ""})
        return 200, {"result": "unchanged" if known else result, "declared": own,
                     "class": "none" if known else "rpc", "reason": self.pending_with or "",
                     "steps": [{"step": "rpc", "what": "partition compute: MaxTime", "ms": 0.9}]}

    def node_call(self, name, body):
        self.calls.append((name, body))
        if name not in self.parts["nodes"]:
            return 404, {"error": f"there is no node {name}"}
        if self.on_node:
            self.on_node(name, body)
        return 200, {"result": "applied"}
