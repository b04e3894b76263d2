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
