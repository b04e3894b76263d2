# SPDX-License-Identifier: GPL-2.0-or-later
"""Events: one store with two faces, core/v1 and events.k8s.io/v1."""
import pytest

from lib.objects import event

NEW = "/apis/events.k8s.io/v1/namespaces/"


def new_event(name, namespace, **more):
    return {
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "eventTime": "2021-01-01T00:00:00.123456Z", "reportingController": "conformance.test/suite",
        "reportingInstance": "one", "action": "Testing", "reason": "Tested", "type": "Normal",
        "regarding": {"apiVersion": "v1", "kind": "ConfigMap", "name": "thing",
                      "namespace": namespace},
        "note": "seen by a test", **more,
    }


@pytest.fixture
def url(ns):
    return NEW + ns.name + "/events"


def test_an_old_event_is_seen_by_the_new_api(api, ns, url):
    ns.create("events", event("e", ns.name))
    got = api.get(url + "/e").ok(200)
    assert (got["kind"], got["apiVersion"]) == ("Event", "events.k8s.io/v1")
    assert got["regarding"]["name"] == "thing"
    assert got["note"] == "seen by a test"
    assert got["deprecatedCount"] == 1
    assert got["deprecatedSource"] == {"component": "conformance", "host": "here"}
    assert got["deprecatedFirstTimestamp"] == "2021-01-01T00:00:00Z"


def test_a_new_event_is_seen_by_the_old_api(api, ns, url):
    api.post(url, new_event("e", ns.name)).ok(201)
    got = ns.get("events", "e")
    assert (got["kind"], got["apiVersion"]) == ("Event", "v1")
    assert got["involvedObject"]["name"] == "thing"
    assert got["message"] == "seen by a test"
    assert got["reportingComponent"] == "conformance.test/suite"
    assert got["eventTime"] == "2021-01-01T00:00:00.123456Z"


def test_a_series_is_patched(api, ns, url):
    api.post(url, new_event("e", ns.name)).ok(201)
    body = {"series": {"count": 2, "lastObservedTime": "2021-01-01T00:00:09.000000Z"}}
    got = api.patch(url + "/e", body, "strategic").ok(200)
    assert got["series"] == body["series"]


def test_a_count_is_raised(api, ns):
    ns.create("events", event("e", ns.name))
    body = {"count": 2, "lastTimestamp": "2021-01-01T00:00:09Z"}
    got = api.patch(ns.url("events", "e"), body, "strategic").ok(200)
    assert (got["count"], got["lastTimestamp"]) == (2, "2021-01-01T00:00:09Z")


def test_the_namespace_must_be_that_of_the_object(api, ns):
    body = event("e", ns.name)
    body["involvedObject"]["namespace"] = "elsewhere"
    api.post(ns.url("events"), body).fails(422, "Invalid")


@pytest.mark.parametrize("field", ["reportingController", "reportingInstance", "action", "reason"])
def test_a_new_event_must_be_complete(api, ns, url, field):
    body = new_event("e", ns.name)
    del body[field]
    api.post(url, body).fails(422, "Invalid")


def test_a_new_event_list(api, ns, url):
    ns.create("events", event("e", ns.name))
    got = api.get(url).ok(200)
    assert (got["kind"], got["apiVersion"]) == ("EventList", "events.k8s.io/v1")
    assert [i["metadata"]["name"] for i in got["items"]] == ["e"]


def test_core_events_are_selected_by_their_fields(api, ns, url):
    ns.create("events", event("old", ns.name))
    api.post(url, new_event("new", ns.name)).ok(201)

    def names(selector):
        items = api.get(ns.url("events"), query={"fieldSelector": selector}).ok(200)["items"]
        return sorted(i["metadata"]["name"] for i in items)

    assert names("source=conformance") == ["old"]
    assert names("source=conformance.test/suite") == ["new"]  # nobody else is named there
    assert names("reportingComponent=conformance.test/suite") == ["new"]
    assert names("involvedObject.name=thing") == ["new", "old"]
    assert names("involvedObject.name=thing,source!=conformance") == ["new"]
    assert names("involvedObject.kind=Pod") == []


def test_new_events_are_selected_by_names_of_their_own(api, ns, url):
    ns.create("events", event("old", ns.name))
    api.post(url, new_event("new", ns.name)).ok(201)

    def names(selector):
        items = api.get(url, query={"fieldSelector": selector}).ok(200)["items"]
        return sorted(i["metadata"]["name"] for i in items)

    assert names("reportingController=conformance.test/suite") == ["new"]
    assert names("regarding.name=thing") == ["new", "old"]
    assert names("regarding.kind=Pod") == []
    assert names("regarding.namespace=" + ns.name + ",type=Normal") == ["new", "old"]
    assert names("metadata.name=old") == ["old"]


@pytest.mark.parametrize("field", ["involvedObject.name", "reportingComponent", "source", "note",
                                   "regarding.nothing"])
def test_new_events_do_not_have_the_old_names(api, url, field):
    api.get(url, query={"fieldSelector": field + "=x"}).fails(
        400, "BadRequest", "field label not supported: " + field)


@pytest.mark.parametrize("field", ["regarding.name", "reportingController", "message", "count"])
def test_core_events_do_not_have_the_new_names(api, ns, field):
    api.get(ns.url("events"), query={"fieldSelector": field + "=x"}).fails(
        400, "BadRequest", "field label not supported: " + field)


def test_a_watch_of_new_events_is_selected_too(api, ns, url):
    with api.watch(url, fieldSelector="regarding.name=b") as w:
        about = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": ns.name}
        for name in "ab":
            api.post(url, new_event(name, ns.name, regarding={**about, "name": name})).ok(201)
        w.next("ADDED", "b")
