# SPDX-License-Identifier: GPL-2.0-or-later
"""watch: where it starts, what it sends, how selectors change it, how it ends."""
import re

import pytest

from lib.client import PROTO, TABLE
from lib.objects import configmap, pod

MINE = "conformance=yes"


def labelled(name, data=None, **labels):
    return configmap(name, data, labels={"conformance": "yes", **labels})


def version(api, ns):
    return api.get(ns.url("configmaps")).ok()["metadata"]["resourceVersion"]


def watch(api, ns, **query):
    query.setdefault("labelSelector", MINE)
    return api.watch(ns.url("configmaps"), **query)


def test_events_of_one_object_come_in_order(api, ns):
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        made = ns.create("configmaps", labelled("a", {"k": "1"}))
        api.patch(ns.url("configmaps", "a"), {"data": {"k": "2"}}).ok()
        api.delete(ns.url("configmaps", "a")).ok()
        assert w.next("ADDED") == made
        changed = w.next("MODIFIED", "a")
        assert changed["data"] == {"k": "2"}
        gone = w.next("DELETED", "a")
        assert gone["data"] == {"k": "2"}
        versions = [int(o["metadata"]["resourceVersion"]) for o in (made, changed, gone)]
        assert versions == sorted(set(versions))


def test_the_stream_is_json_lines(api, ns):
    with watch(api, ns) as w:
        assert w.code == 200
        assert w.type == "application/json"


def test_objects_in_events_have_kind_and_version(api, ns):
    ns.create("configmaps", labelled("a"))
    with watch(api, ns) as w:
        seen = w.next("ADDED")
        assert (seen["kind"], seen["apiVersion"]) == ("ConfigMap", "v1")


@pytest.mark.parametrize("start", [{}, {"resourceVersion": "0"}, {"resourceVersion": ""}])
def test_without_a_version_what_is_there_comes_first(api, ns, start):
    for name in "abc":
        ns.create("configmaps", labelled(name))
    with watch(api, ns, **start) as w:
        assert sorted(w.next("ADDED")["metadata"]["name"] for _ in "abc") == list("abc")
        ns.create("configmaps", labelled("d"))
        w.next("ADDED", "d")


def test_from_a_version_only_what_came_later(api, ns):
    ns.create("configmaps", labelled("a"))
    since = ns.create("configmaps", labelled("b"))["metadata"]["resourceVersion"]
    ns.create("configmaps", labelled("c"))
    with watch(api, ns, resourceVersion=since) as w:
        w.next("ADDED", "c")


def test_a_watch_can_be_resumed_from_the_last_event(api, ns):
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        ns.create("configmaps", labelled("a"))
        last = w.next("ADDED", "a")["metadata"]["resourceVersion"]
    ns.create("configmaps", labelled("b"))
    api.delete(ns.url("configmaps", "a")).ok()
    with watch(api, ns, resourceVersion=last) as w:
        w.next("ADDED", "b")
        w.next("DELETED", "a")


def test_one_object_by_field_selector(api, ns):
    ns.create("configmaps", labelled("a"))
    ns.create("configmaps", labelled("b"))
    with watch(api, ns, fieldSelector="metadata.name=b", resourceVersion="0") as w:
        w.next("ADDED", "b")
        api.patch(ns.url("configmaps", "a"), {"data": {"k": "1"}}).ok()
        api.patch(ns.url("configmaps", "b"), {"data": {"k": "1"}}).ok()
        w.next("MODIFIED", "b")


def test_an_object_that_begins_to_match_is_added(api, ns):
    ns.create("configmaps", configmap("a"))
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        api.patch(ns.url("configmaps", "a"), {"metadata": {"labels": {"conformance": "yes"}}}).ok()
        w.next("ADDED", "a")


def test_an_object_that_stops_matching_is_deleted(api, ns):
    ns.create("configmaps", labelled("a", {"k": "old"}))
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        body = {"metadata": {"labels": {"conformance": None}}, "data": {"k": "new"}}
        changed = api.patch(ns.url("configmaps", "a"), body).ok()
        gone = w.next("DELETED", "a")
        assert gone["data"] == {"k": "old"}
        assert gone["metadata"]["resourceVersion"] == changed["metadata"]["resourceVersion"]


def test_changes_outside_the_selector_are_not_seen(api, ns):
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        ns.create("configmaps", configmap("other"))
        api.patch(ns.url("configmaps", "other"), {"data": {"k": "1"}}).ok()
        api.delete(ns.url("configmaps", "other")).ok()
        ns.create("configmaps", labelled("fence"))
        w.next("ADDED", "fence")


def test_a_field_selector_on_status_turns_into_added_and_deleted(api, ns):
    ns.create("pods", pod("p"))
    url = ns.url("pods", "p", "status")
    start = api.get(ns.url("pods")).ok()["metadata"]["resourceVersion"]
    with api.watch(ns.url("pods"), fieldSelector="status.phase=Running",
                   resourceVersion=start) as w:
        api.patch(url, {"status": {"phase": "Running"}}).ok()
        w.next("ADDED", "p")
        api.patch(url, {"status": {"phase": "Succeeded"}}).ok()
        w.next("DELETED", "p")


def test_other_namespaces_are_not_seen(api, ns, spaces):
    other = spaces()
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        other.create("configmaps", labelled("elsewhere"))
        ns.create("configmaps", labelled("fence"))
        w.next("ADDED", "fence")


def test_all_namespaces_are_seen_cluster_wide(api, spaces):
    one, two = spaces(), spaces()
    start = version(api, one)
    with api.watch("/api/v1/configmaps", labelSelector="run=" + one.name,
                   resourceVersion=start) as w:
        for space in (one, two):
            space.create("configmaps", configmap("a", labels={"run": one.name}))
            assert w.next("ADDED")["metadata"]["namespace"] == space.name


def test_a_write_that_changes_nothing_sends_nothing(api, ns):
    ns.create("configmaps", labelled("a", {"k": "1"}))
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        api.patch(ns.url("configmaps", "a"), {"data": {"k": "1"}}).ok()
        ns.create("configmaps", labelled("fence"))
        w.next("ADDED", "fence")


def test_a_dry_run_sends_nothing(api, ns):
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        api.post(ns.url("configmaps"), labelled("a"), query={"dryRun": "All"}).ok(201)
        ns.create("configmaps", labelled("fence"))
        w.next("ADDED", "fence")


def test_timeout_seconds_ends_the_stream_cleanly(api, ns):
    ns.create("configmaps", labelled("a"))
    with watch(api, ns, timeoutSeconds=1) as w:
        assert [e["type"] for e in w.rest()] == ["ADDED"]


def test_no_bookmarks_unless_asked_for(api, ns):
    with watch(api, ns, timeoutSeconds=2, resourceVersion=version(api, ns)) as w:
        ns.create("configmaps", configmap("unseen"))
        assert w.rest() == []


def test_a_bookmark_comes_before_the_timeout(api, ns, widgets):
    quiet = {"timeoutSeconds": 5, "allowWatchBookmarks": True, "labelSelector": MINE}
    start = version(api, ns)
    with watch(api, ns, resourceVersion=start, **quiet) as w, \
            api.watch(widgets.at(ns), resourceVersion=start, **quiet) as custom:
        # Neither watch shows these; only the bookmark can tell that they came to pass.
        last = ns.create("configmaps", configmap("unseen"))["metadata"]["resourceVersion"]
        last_custom = api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
        check_bookmark(w.rest(), last, "ConfigMap", "v1")
        last = last_custom["metadata"]["resourceVersion"]
        check_bookmark(custom.rest(), last, "Widget", widgets.api_version)


def check_bookmark(events, at_least, kind, api_version):
    assert events and all(e["type"] == "BOOKMARK" for e in events)
    mark = events[-1]["object"]
    assert (mark["kind"], mark["apiVersion"]) == (kind, api_version)
    assert int(mark["metadata"]["resourceVersion"]) >= int(at_least)
    assert "name" not in mark["metadata"]
    assert "data" not in mark


def test_a_version_that_is_too_old_gives_an_expired_event(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    with api.watch(widgets.at(ns), resourceVersion="1", timeoutSeconds=3) as w:
        event = w.line()
        assert event is not None
        if event["type"] == "ADDED":
            pytest.skip("the server still has version 1")
        assert event["type"] == "ERROR"
        status = event["object"]
        assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
        assert re.match(r"too old resource version: 1 \(\d+\)$", status["message"])
        assert w.line() is None


def test_a_version_in_the_future_is_waited_for(api, ns):
    with watch(api, ns, resourceVersion="99999999999", timeoutSeconds=1) as w:
        assert w.code == 200
        assert all(e["type"] == "ERROR" for e in w.rest())


def test_a_version_that_is_no_number_is_refused(api, ns):
    with watch(api, ns, resourceVersion="abc") as w:
        assert w.code in (400, 500)
        assert 'resourceVersion: Invalid value: "abc"' in w.refused().json["message"]


def test_custom_resources_are_watched_too(api, ns, widgets):
    start = api.get(widgets.at(ns)).ok()["metadata"]["resourceVersion"]
    with api.watch(widgets.at(ns), resourceVersion=start) as w:
        api.post(widgets.at(ns), widgets.make("a", {"size": "small"})).ok(201)
        assert w.next("ADDED", "a")["spec"]["size"] == "small"
        api.patch(widgets.at(ns, "a", "status"), {"status": {"phase": "Up"}}).ok()
        assert w.next("MODIFIED", "a")["status"] == {"phase": "Up"}
        api.delete(widgets.at(ns, "a")).ok()
        w.next("DELETED", "a")


def test_a_finalizer_turns_deletion_into_modified_then_deleted(api, ns):
    ns.create("configmaps", {**labelled("a"), "metadata": {
        "name": "a", "labels": {"conformance": "yes"}, "finalizers": ["conformance.test/hold"]}})
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        api.delete(ns.url("configmaps", "a")).ok(200)
        assert "deletionTimestamp" in w.next("MODIFIED", "a")["metadata"]
        body = {"metadata": {"finalizers": None}, "data": {"k": "never stored"}}
        api.patch(ns.url("configmaps", "a"), body).ok()
        last = w.next("DELETED", "a")
        assert last["metadata"]["finalizers"] == ["conformance.test/hold"]
        assert "data" not in last


def test_watch_one_means_true(api, ns):
    ns.create("configmaps", labelled("a"))
    with api.watch(ns.url("configmaps") + "?watch=1", labelSelector=MINE) as w:
        w.next("ADDED", "a")


def test_a_watch_sends_tables_when_asked_for(api, ns):
    ns.create("configmaps", labelled("a", {"k": "1"}))
    with watch(api, ns, accept=TABLE) as w:
        first = w.next("ADDED")
        assert first["kind"] == "Table"
        assert [c["name"] for c in first["columnDefinitions"]] == ["Name", "Data", "Age"]
        assert first["rows"][0]["cells"][:2] == ["a", 1]
        api.patch(ns.url("configmaps", "a"), {"data": {"l": "2"}}).ok()
        second = w.next("MODIFIED")
        assert second["columnDefinitions"] is None
        assert second["rows"][0]["cells"][:2] == ["a", 2]
        assert second["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_a_json_stream_satisfies_who_prefers_protobuf(api, ns):
    ns.create("configmaps", labelled("a"))
    with watch(api, ns, accept=f"application/json, {PROTO}") as w:
        w.next("ADDED", "a")


def test_many_watchers_all_see_one_write(api, ns):
    start = version(api, ns)
    watches = [watch(api, ns, resourceVersion=start) for _ in range(20)]
    try:
        ns.create("configmaps", labelled("a"))
        for w in watches:
            w.next("ADDED", "a")
    finally:
        for w in watches:
            w.__exit__()


def test_a_burst_of_writes_arrives_whole_and_in_order(api, ns):
    ns.create("configmaps", labelled("a", {"n": "0"}))
    with watch(api, ns, resourceVersion=version(api, ns)) as w:
        for i in range(1, 51):
            api.patch(ns.url("configmaps", "a"), {"data": {"n": str(i)}}).ok()
        seen = [w.next("MODIFIED")["data"]["n"] for _ in range(50)]
        assert seen == [str(i) for i in range(1, 51)]


@pytest.mark.before(27, "sendInitialEvents is understood")
def test_send_initial_events_is_refused_where_it_is_not_known(api, ns):
    with watch(api, ns, sendInitialEvents=True, resourceVersionMatch="NotOlderThan",
               allowWatchBookmarks=True) as w:
        w.refused().fails(422, "Invalid")


@pytest.mark.since(32, "sendInitialEvents is on")
def test_send_initial_events_ends_with_an_annotated_bookmark(api, ns):
    for name in "ab":
        ns.create("configmaps", labelled(name))
    with watch(api, ns, sendInitialEvents=True, resourceVersionMatch="NotOlderThan",
               allowWatchBookmarks=True) as w:
        assert sorted(w.next("ADDED")["metadata"]["name"] for _ in "ab") == ["a", "b"]
        mark = w.next("BOOKMARK")["metadata"]
        assert mark["annotations"] == {"k8s.io/initial-events-end": "true"}
        ns.create("configmaps", labelled("c"))
        late = w.next("ADDED", "c")["metadata"]
        assert int(late["resourceVersion"]) > int(mark["resourceVersion"])


@pytest.mark.since(32, "sendInitialEvents is on")
@pytest.mark.parametrize("query", [
    {"sendInitialEvents": True},
    {"sendInitialEvents": True, "resourceVersionMatch": "Exact", "resourceVersion": "5"},
    {"resourceVersionMatch": "NotOlderThan", "resourceVersion": "5"},
])
def test_initial_events_with_a_match_that_makes_no_sense_are_invalid(api, ns, query):
    with watch(api, ns, allowWatchBookmarks=True, **query) as w:
        w.refused().fails(422, "Invalid", re.compile('^ListOptions.meta.k8s.io "" is invalid: '))


@pytest.mark.since(32, "sendInitialEvents is on")
def test_initial_events_are_not_for_lists(api, ns):
    api.get(ns.url("configmaps"), query={"sendInitialEvents": True}).fails(
        422, "Invalid", re.compile("sendInitialEvents: Forbidden"))
