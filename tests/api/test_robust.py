# SPDX-License-Identifier: GPL-2.0-or-later
"""Rude clients: whatever arrives, the others are still served."""
import socket

import pytest

from lib.objects import configmap


@pytest.fixture
def dial(config):
    """Opens raw TLS connections; they are closed after the test."""
    opened = []

    def connect():
        plain = socket.create_connection((config.host, config.port), timeout=20)
        opened.append(config.tls().wrap_socket(plain, server_hostname=config.host))
        return opened[-1]

    yield connect
    for s in opened:
        s.close()


def send(sock, text):
    """Send bytes and read until the peer closes or an answer's head is there."""
    try:
        sock.sendall(text if isinstance(text, bytes) else text.encode())
    except OSError:
        pass
    got = b""
    try:
        while b"\r\n\r\n" not in got:
            piece = sock.recv(65536)
            if not piece:
                break
            got += piece
    except OSError:
        pass
    return got


def code(answer):
    return int(answer.split()[1]) if answer.startswith(b"HTTP/") else None


def head(config, line, *headers):
    auth = [f"Authorization: Bearer {config.token}"] if config.token else []
    return "\r\n".join([line, "Host: x", *auth, *headers, "", ""])


@pytest.mark.parametrize("text", [
    "\r\n\r\n\r\n\r\n", "nonsense\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "GET /version HTTP/1.1\r\nBroken header\r\n\r\n", "\x00" * 100 + "\r\n\r\n",
    "GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
], ids=range(9))
def test_nonsense_is_refused_or_ignored(api, dial, text):
    sock = dial()
    sock.settimeout(1)
    assert code(send(sock, text)) not in (200, 201)
    assert api.get("/version").code == 200


def test_a_huge_header_is_refused(api, config, dial):
    text = head(config, "GET /version HTTP/1.1", "X-Big: " + "x" * (4 << 20))
    assert code(send(dial(), text)) in (400, 413, 431, None)
    assert api.get("/version").code == 200


def test_a_huge_path_is_refused(api, config, dial):
    text = head(config, "GET /api/v1/" + "x" * (4 << 20) + " HTTP/1.1")
    assert code(send(dial(), text)) in (400, 404, 413, 414, 431, None)
    assert api.get("/version").code == 200


def test_two_requests_in_one_packet_get_two_answers(config, dial):
    text = head(config, "GET /version HTTP/1.1")
    sock = dial()
    sock.sendall((text * 2).encode())
    got = b""
    while got.count(b'"gitVersion"') < 2:
        piece = sock.recv(65536)
        assert piece, got
        got += piece
    assert got.count(b"HTTP/1.1 200") == 2


def test_a_request_in_small_pieces_is_answered(config, dial):
    sock = dial()
    for byte in head(config, "GET /version HTTP/1.1").encode():
        sock.sendall(bytes([byte]))
    assert code(send(sock, b"")) == 200


def test_half_requests_do_not_block_others(api, config, dial):
    for _ in range(50):
        dial().sendall(b"GET /version HT")
    for _ in range(50):
        text = head(config, "POST /api/v1/namespaces HTTP/1.1", "Content-Length: 1000")
        dial().sendall((text + "{").encode())
    assert api.get("/version").code == 200


def test_many_idle_connections_do_not_block_others(api, dial):
    for _ in range(200):
        dial()
    assert api.get("/version").code == 200


def test_a_reader_that_went_away_does_no_harm(config, dial, ns):
    for _ in range(20):
        sock = dial()
        sock.sendall(head(config, "GET " + ns.url("configmaps") + "?watch=1 HTTP/1.1").encode())
        sock.close()
    ns.create("configmaps", configmap("a"))


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "FOO", "CONNECT"])
def test_unusual_methods_are_refused(api, ns, method):
    assert api.request(method, ns.url("configmaps")).code in (400, 404, 405, 501)


@pytest.mark.parametrize("path", [
    "/api/v1/namespaces/../../etc/passwd", "/api/v1/namespaces/%2e%2e/%2e%2e", "//api//v1//pods",
    "/api/v1/namespaces/%00/configmaps", "/api/v1/namespaces/a%2fb/configmaps/c", "/api/v1/pods/",
    "/apis//v1/x", "/api/v1/namespaces//configmaps", "/%ff%fe",
])
def test_strange_paths_do_no_harm(api, path):
    answer = api.get(path)
    assert answer.code < 500, answer
    assert api.get("/version").code == 200


@pytest.mark.parametrize("query", [
    "limit=-1", "limit=99999999999999999999", "timeoutSeconds=x&watch=1",
    "watch=maybe&timeoutSeconds=1",
    "labelSelector=%ff", "fieldSelector=%00", "continue=%00%01", "a=b&a=c&&=&",
    "resourceVersion=-1", "resourceVersion=99999999999999999999999",
    "labelSelector=" + "x" * 8000, "resourceVersion=01&watch=1&timeoutSeconds=1",
])
def test_strange_queries_do_no_harm(api, ns, query):
    api.get(ns.url("configmaps") + "?" + query)
    assert api.get("/version").code == 200
