# SPDX-License-Identifier: GPL-2.0-or-later
"""A raw HTTPS client that hides nothing: it sends what it is told and shows what came back.

Api.request() returns an Answer.  ok() and fails() on it are the two assertions nearly every case
makes, so that a failure prints the whole answer.  Watch reads a stream line by line; every read
has a time limit, and "nothing came" is shown with a later write as a fence, never by waiting.
"""
import http.client
import json
import os
import re
import socket
import ssl
import time
from urllib.parse import urlencode

PATCH_TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
TABLE = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,"
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
PROTO = "application/vnd.kubernetes.protobuf"
# A body with thousands of unknown fields is answered with as many warnings.
http.client._MAXHEADERS = 20000
WAIT_S = float(os.environ.get("API_WAIT_S", "20"))


class Answer:
    def __init__(self, what, code, headers, body):
        self.what, self.code, self.headers, self.body = what, code, headers, body

    def __repr__(self):
        return f"{self.what}\n  -> {self.code} {self.body[:1000]!r}"

    @property
    def type(self):
        return self.headers.get("Content-Type", "")

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def warnings(self):
        """Texts of the Warning headers, unquoted."""
        found = self.headers.get_all("Warning") or []
        return [json.loads(re.match(r'299 \S+ (".*")$', w).group(1)) for w in found]

    def ok(self, code=None):
        """The decoded body of a success (of exactly that code, if given)."""
        if code is None:
            assert 200 <= self.code < 300, repr(self)
        else:
            assert self.code == code, repr(self)
        return self.json

    def fails(self, code, reason, message=None):
        """The Status of a failure; message is the text, a tuple of allowed texts or a pattern."""
        assert self.code == code, repr(self)
        status = self.json
        assert (status["kind"], status["apiVersion"]) == ("Status", "v1"), repr(self)
        assert status["status"] == "Failure", repr(self)
        assert status["code"] == code, repr(self)
        assert status.get("reason") == reason, repr(self)
        check_text(status.get("message", ""), message)
        return status


def check_text(text, expected):
    """Compare with a text, a tuple of allowed texts, or a compiled pattern; None allows all."""
    if expected is None:
        return
    if isinstance(expected, str):
        expected = (expected,)
    if isinstance(expected, tuple):
        assert text in expected
    else:
        assert expected.search(text), f"{text!r} does not match {expected.pattern!r}"


def _query(path, query):
    if not query:
        return path
    pairs = []
    for key, value in query.items():
        values = value if isinstance(value, list) else [value]
        pairs += [(key, str(v).lower() if isinstance(v, bool) else v) for v in values]
    return path + ("&" if "?" in path else "?") + urlencode(pairs)


class Api:
    """One identity on one server.  identity=False sends no credentials, token sends another."""

    def __init__(self, config, identity=True, token=None):
        self.config = config
        self._context = config.tls(identity and not token)
        self._token = token or (config.token if identity else None)
        self._conn = None

    def connect(self, timeout=WAIT_S):
        return http.client.HTTPSConnection(
            self.config.host, self.config.port, context=self._context, timeout=timeout
        )

    def headers(self, more):
        headers = {"Accept": "application/json", "User-Agent": "conformance/1.0"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        headers.update(more or {})
        return {k: v for k, v in headers.items() if v is not None}

    def request(self, method, path, body=None, *, type=None, accept=None, query=None, headers=None):
        """Send one request.  A body that is not text or bytes is sent as JSON."""
        path = _query(path, query)
        more = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            more.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        if type:
            more["Content-Type"] = type
        if accept:
            more["Accept"] = accept
        for last in (False, True):
            reused = self._conn is not None
            try:
                return self._once(method, path, body, self.headers(more))
            except (http.client.RemoteDisconnected, ConnectionError, ssl.SSLEOFError):
                # The server may have closed an idle connection.
                if last or not reused:
                    raise

    def _once(self, method, path, body, headers):
        if self._conn is None:
            self._conn = self.connect()
        try:
            self._conn.request(method, path, body, headers)
            r = self._conn.getresponse()
            return Answer(f"{method} {path} {(body or b'')[:500]!r}", r.status, r.headers, r.read())
        except (OSError, http.client.HTTPException):
            self._conn.close()
            self._conn = None
            raise

    def get(self, path, **kw):
        return self.request("GET", path, **kw)

    def post(self, path, body, **kw):
        return self.request("POST", path, body, **kw)

    def put(self, path, body, **kw):
        return self.request("PUT", path, body, **kw)

    def delete(self, path, body=None, **kw):
        return self.request("DELETE", path, body, **kw)

    def patch(self, path, body, kind="merge", **kw):
        return self.request("PATCH", path, body, type=PATCH_TYPES.get(kind, kind), **kw)

    def apply(self, path, body, manager, force=None, **kw):
        """Server-side apply as the manager."""
        query = {"fieldManager": manager, **kw.pop("query", {})}
        if force is not None:
            query["force"] = force
        return self.patch(path, body, "apply", query=query, **kw)

    def watch(self, path, *, accept=None, **query):
        return Watch(self, _query(path, {"watch": True, **query}), accept)

    def until(self, path, test, timeout=WAIT_S, **kw):
        """GET the path until test(answer) is true; returns that answer."""
        deadline = time.monotonic() + timeout
        while True:
            answer = self.get(path, **kw)
            if test(answer):
                return answer
            assert time.monotonic() < deadline, f"still not so after {timeout} s: {answer!r}"
            time.sleep(0.05)

    def until_gone(self, path, timeout=WAIT_S):
        return self.until(path, lambda a: a.code == 404, timeout)


class Watch:
    """An open watch; use it in a with statement."""

    def __init__(self, api, path, accept=None):
        self.path = path
        self._conn = api.connect()
        self._conn.request("GET", path, headers=api.headers({"Accept": accept} if accept else {}))
        self._answer = self._conn.getresponse()
        self.code = self._answer.status
        self.type = self._answer.headers.get("Content-Type")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._answer.close()
        self._conn.close()

    def refused(self):
        """The answer as an ordinary one, for a watch that should not have opened."""
        return Answer("WATCH " + self.path, self.code, self._answer.headers, self._answer.read())

    def line(self):
        """The next event, or None at the end of the stream."""
        assert self.code == 200, repr(self.refused())
        raw = self._answer.readline()
        return json.loads(raw) if raw else None

    def next(self, type=None, name=None):
        """The next event's object, which must be of that type and name."""
        event = self.line()
        assert event is not None, f"the stream of {self.path} ended"
        if type is not None:
            assert event["type"] == type, event
        if name is not None:
            assert event["object"]["metadata"]["name"] == name, event
        return event["object"]

    def skip_to(self, test):
        """Read on until test(event) is true; returns that event."""
        while True:
            event = self.line()
            assert event is not None, f"the stream of {self.path} ended"
            if test(event):
                return event

    def rest(self):
        """All events up to the end of the stream."""
        return list(iter(self.line, None))
