# SPDX-License-Identifier: GPL-2.0-or-later
"""Long lists and watches that are far behind: whole, in order, in little memory; or visibly cut."""
import http.client
import json
import os
import time

import pytest
import yaml

from servers import CONFIGMAPS

LIST_MIB = int(os.environ.get("HOSTILE_LIST_MIB", "24"))
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def fill(server, count, kib, prefix="big"):
    """ConfigMaps of that size; the version before the first one."""
    connection = server.connect()
    connection.request("GET", CONFIGMAPS + "?limit=1")
    version = json.loads(connection.getresponse().read())["metadata"]["resourceVersion"]
    for i in range(count):
        body = {"metadata": {"name": f"{prefix}-{i:05}"}, "data": {"x": "y" * (kib << 10)}}
        connection.request("POST", CONFIGMAPS, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()
        answer.read()
    connection.close()
    return version


@pytest.fixture(scope="module", name="full")
def a_full_server(tmp_path_factory):
    from servers import ApiServer

    server = ApiServer(tmp_path_factory.mktemp("full"))
    server.before = fill(server, LIST_MIB * 2, 512)
    server.count = LIST_MIB * 2
    server.idle_kib = server.rss_kib()
    yield server
    server.stop()


def names(items):
    return [i["metadata"]["name"] for i in items if i["metadata"]["name"].startswith("big-")]


def wanted(server):
    return [f"big-{i:05}" for i in range(server.count)]


@pytest.mark.parametrize("accept", ["application/json", "application/yaml"])
def test_a_long_list_is_whole(full, accept):
    code, body = full.ask(CONFIGMAPS, Accept=accept, timeout=120)
    assert code == 200
    got = json.loads(body) if "json" in accept else yaml.load(body, yaml.CSafeLoader)
    assert (got["kind"], got["apiVersion"]) == ("ConfigMapList", "v1")
    assert int(got["metadata"]["resourceVersion"]) > 0
    assert names(got["items"]) == wanted(full)
    assert full.rss_kib() < full.idle_kib + 12 * 1024


def test_a_long_list_as_a_table_with_objects_is_whole(full):
    code, body = full.ask(CONFIGMAPS + "?includeObject=Object", Accept=TABLE, timeout=120)
    got = json.loads(body)
    assert (code, got["kind"]) == (200, "Table")
    assert got["columnDefinitions"][0]["name"] == "Name"
    assert names([r["object"] for r in got["rows"]]) == wanted(full)


def test_a_long_list_of_metadata_is_whole(full):
    got = json.loads(full.ask(CONFIGMAPS, Accept=PARTIAL)[1])
    assert got["kind"] == "PartialObjectMetadataList"
    assert names(got["items"]) == wanted(full)


def test_long_pages_have_a_token_to_go_on_with(full):
    path, seen = CONFIGMAPS + "?limit=10", []
    while True:
        got = json.loads(full.ask(path)[1])
        seen += names(got["items"])
        token = got["metadata"].get("continue")
        if not token:
            break
        assert got["metadata"]["remainingItemCount"] > 0
        path = f"{CONFIGMAPS}?limit=10&continue={token}"
    assert seen == wanted(full)


def slow_get(server, path):
    """A list whose client has read its head and no more: the answer and its connection."""
    connection = server.connect(timeout=60)
    connection.request("GET", path)
    return connection, connection.getresponse()


def test_a_list_shows_one_version_while_others_write(full):
    connection, answer = slow_get(full, CONFIGMAPS)
    first = answer.read(1000)
    try:
        assert full.ask(CONFIGMAPS + f"/big-{full.count - 1:05}", "DELETE")[0] == 200
        fill(full, 1, 1, "new")
        assert names(json.loads(first + answer.read())["items"]) == wanted(full)
    finally:
        connection.close()
        full.count -= 1


def test_slow_readers_of_lists_cost_little(full):
    opened = [slow_get(full, CONFIGMAPS) for _ in range(20)]
    try:
        assert full.ask("/api/v1/namespaces")[0] == 200
        assert full.rss_kib() < full.idle_kib + 24 * 1024
    finally:
        for connection, _ in opened:
            connection.close()


def events(server, query):
    """(connection, generator) of a watch's events."""
    connection = server.connect(timeout=60)
    connection.request("GET", CONFIGMAPS + "?watch=1&" + query)
    answer = connection.getresponse()
    assert answer.status == 200

    def lines():
        while True:
            line = answer.readline()
            if not line:
                return
            yield json.loads(line)

    return connection, lines()


@pytest.mark.parametrize("query", ["", "sendInitialEvents=true&allowWatchBookmarks=true"
                                       "&resourceVersionMatch=NotOlderThan"])
def test_a_watch_that_shows_everything_first_goes_on_with_changes(full, query):
    connection, got = events(full, query)
    seen = []
    for event in got:
        assert event["type"] == "ADDED"
        if event["object"]["metadata"]["name"].startswith("big-"):
            seen.append(event["object"]["metadata"]["name"])
        if len(seen) == full.count:
            break
    assert seen == wanted(full)
    fill(full, 1, 1, f"later-{len(query)}")
    for event in got:
        if event["object"]["metadata"].get("name", "").startswith("later-"):
            break
        assert event["type"] in ("ADDED", "BOOKMARK")
    else:
        raise AssertionError("the stream ended before the change came")
    connection.close()


def test_a_watch_catches_up_however_far_it_is_behind(full):
    connection, got = events(full, f"resourceVersion={full.before}")
    seen = []
    for event in got:
        assert event["type"] == "ADDED", event
        if event["object"]["metadata"]["name"].startswith("big-"):
            seen.append(event["object"]["metadata"]["name"])
        if len(seen) == full.count:
            break
    assert seen == wanted(full)
    assert full.rss_kib() < full.idle_kib + 12 * 1024
    connection.close()


def test_slow_watchers_cost_little_and_miss_nothing(start):
    server = start("api")
    fill(server, 32, 512, "warm")
    version = fill(server, 1, 1, "first")
    opened = [events(server, f"resourceVersion={version}") for _ in range(10)]
    idle = server.rss_kib()
    fill(server, 48, 512)
    assert server.rss_kib() < idle + 10 * 2560  # without a limit it is 240 MiB
    for connection, got in opened:
        seen = [next(got) for _ in range(49)]
        assert [e["object"]["metadata"]["name"] for e in seen] == \
            ["first-00000"] + [f"big-{i:05}" for i in range(48)]
        rvs = [int(e["object"]["metadata"]["resourceVersion"]) for e in seen]
        assert rvs == sorted(set(rvs))
        connection.close()


def test_a_watcher_whose_past_is_compacted_is_told(start):
    server = start("api", history=1)
    version = fill(server, 1, 1, "first")
    connection, got = events(server, f"resourceVersion={version}")
    fill(server, 48, 512)
    time.sleep(2.5)
    fill(server, 1, 1, "last")
    seen = list(got)
    assert seen[-1]["type"] == "ERROR"
    assert (seen[-1]["object"]["code"], seen[-1]["object"]["reason"]) == (410, "Expired")
    connection.close()


def test_a_list_that_cannot_be_completed_is_cut(start):
    server = start("api", history=1)
    fill(server, 48, 512)
    connection, answer = slow_get(server, CONFIGMAPS)
    deadline = time.monotonic() + 10
    with pytest.raises((http.client.IncompleteRead, OSError)):
        while "cut off" not in server.words() and time.monotonic() < deadline:
            fill(server, 1, 1, f"x{time.monotonic_ns()}")
            time.sleep(0.3)
            answer.read(1 << 20)
        while answer.read(1 << 20):
            pass
        raise AssertionError("the list looked complete")
    connection.close()
