# SPDX-License-Identifier: GPL-2.0-or-later
"""list: shape, selectors, paging and what resourceVersion means."""
import re

import pytest

from lib.objects import configmap, event, node, pod, secret

MINE = "conformance=yes"


@pytest.fixture
def five(ns):
    """Five ConfigMaps a..e labelled as ours; the server may add others of its own."""
    for i, name in enumerate("abcde"):
        labels = {"conformance": "yes", "n": str(i), "parity": "odd" if i % 2 else "even"}
        ns.create("configmaps", configmap(name, {"k": name}, labels=labels))
    return ns


def page(api, ns, **query):
    return api.get(ns.url("configmaps"), query=query).ok(200)


def names(answer):
    return [i["metadata"]["name"] for i in answer["items"]]


def test_a_list_has_kind_version_and_resource_version(api, five):
    answer = page(api, five)
    assert (answer["kind"], answer["apiVersion"]) == ("ConfigMapList", "v1")
    assert re.match(r"^[1-9]\d*$", answer["metadata"]["resourceVersion"])


def test_items_of_a_builtin_have_no_kind(api, five):
    assert all("kind" not in i and "apiVersion" not in i for i in page(api, five)["items"])


def test_items_of_a_custom_resource_have_a_kind(api, ns, widgets):
    api.post(widgets.at(ns), widgets.make("a", {})).ok(201)
    answer = api.get(widgets.at(ns)).ok(200)
    assert (answer["kind"], answer["apiVersion"]) == ("WidgetList", widgets.api_version)
    assert answer["items"][0]["kind"] == "Widget"
    assert answer["items"][0]["apiVersion"] == widgets.api_version


def test_items_are_in_order_of_name(five):
    assert five.names("configmaps", labelSelector=MINE) == list("abcde")


def test_an_empty_list_has_an_empty_array(api, ns, widgets):
    assert api.get(widgets.at(ns)).ok(200)["items"] == []


def test_a_list_in_a_missing_namespace_is_empty(api, unique):
    answer = api.get(f"/api/v1/namespaces/{unique}/configmaps").ok(200)
    assert answer["items"] == []


def test_a_list_over_all_namespaces_is_in_order_of_namespace(api, spaces):
    made = [spaces(), spaces()]
    for space in made:
        space.create("configmaps", configmap("both", labels={"pair": made[0].name}))
    answer = api.get("/api/v1/configmaps", query={"labelSelector": "pair=" + made[0].name}).ok()
    assert [i["metadata"]["namespace"] for i in answer["items"]] == sorted(s.name for s in made)


def test_the_version_of_a_list_is_not_older_than_its_items(api, five):
    answer = page(api, five)
    newest = max(int(i["metadata"]["resourceVersion"]) for i in answer["items"])
    assert int(answer["metadata"]["resourceVersion"]) >= newest


@pytest.mark.parametrize("selector, expected", [
    ("parity=odd", "bd"),
    ("parity==odd", "bd"),
    ("parity!=odd", "ace"),
    ("n in (1,3)", "bd"),
    ("n in (1, 3),parity=odd", "bd"),
    ("n notin (0,1)", "cde"),
    ("parity", "abcde"),
    ("!parity", ""),
    ("n=0,parity=even", "a"),
    ("n=0,parity=odd", ""),
    ("n > 2", "de"),
    ("n < 2", "ab"),
    ("absent!=x", "abcde"),
    ("absent notin (x)", "abcde"),
])
def test_label_selector(five, selector, expected):
    assert five.names("configmaps", labelSelector=f"{MINE},{selector}") == list(expected)


@pytest.mark.parametrize("selector", [
    "a in (", "a in x", "a=b=c", "=x", "a b", "-a=x", "a=-", "a,,"])
def test_a_malformed_label_selector_is_a_bad_request(api, ns, selector):
    api.get(ns.url("configmaps"), query={"labelSelector": selector}).fails(400, "BadRequest")


@pytest.mark.parametrize("selector, text", [
    ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
    ("a in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"),
    ("a in x", "unable to parse requirement: found 'x' expected: '('"),
    ("=a", "found '=', expected: !, identifier, or 'end of string'"),
    ("(", "found '(', expected: !, identifier, or 'end of string'"),
    ("a=b c", "found 'c', expected: ',' or 'end of string'"),
    ("a,,", "found ',', expected: identifier after ','"),
])
def test_the_text_of_a_malformed_label_selector(api, ns, selector, text):
    api.get(ns.url("configmaps"), query={"labelSelector": selector}).fails(400, "BadRequest", text)


@pytest.mark.parametrize("selector, expected", [
    ("metadata.name=c", "c"),
    ("metadata.name==c", "c"),
    ("metadata.name!=c", "abde"),
    ("metadata.name=c,metadata.namespace=elsewhere", ""),
    ("metadata.name=zz", ""),
])
def test_field_selector(five, selector, expected):
    assert five.names("configmaps", labelSelector=MINE, fieldSelector=selector) == list(expected)


def test_an_unknown_field_in_a_selector_is_a_bad_request(api, ns):
    api.get(ns.url("configmaps"), query={"fieldSelector": "data.x=1"}).fails(
        400, "BadRequest", re.compile(
            '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'))


def test_an_unknown_field_of_a_custom_resource_is_a_bad_request(api, ns, widgets):
    api.get(widgets.at(ns), query={"fieldSelector": "spec.x=1"}).fails(
        400, "BadRequest", re.compile("field label not supported: spec.x"))


def test_a_malformed_field_selector_is_a_bad_request(api, ns):
    api.get(ns.url("configmaps"), query={"fieldSelector": "metadata.name"}).fails(400, "BadRequest")


@pytest.mark.parametrize("selector, expected", [
    ("status.phase=Pending", ["p1", "p2"]),
    ("status.phase=Running", []),
    ("spec.restartPolicy=Never", ["p2"]),
    ("spec.nodeName=", ["p1", "p2"]),
    ("spec.schedulerName=conformance.test", ["p1", "p2"]),
    ("spec.serviceAccountName=default", ["p1", "p2"]),
    ("spec.serviceAccountName!=default", []),
    ("status.podIP=10.0.0.1", []),
    ("status.nominatedNodeName=x", []),
])
def test_field_selector_of_pods(ns, selector, expected):
    ns.create("pods", pod("p1"))
    ns.create("pods", pod("p2", restartPolicy="Never"))
    assert ns.names("pods", fieldSelector=selector) == expected


def test_field_selector_of_secrets(ns):
    ns.create("secrets", secret("plain"))
    ns.create("secrets", secret("other", type="conformance.test/x"))
    assert ns.names("secrets", fieldSelector="type=conformance.test/x") == ["other"]


def test_field_selector_of_events(ns):
    ns.create("events", event("e1", ns.name, about="one"))
    ns.create("events", event("e2", ns.name, about="two", reason="Other", type="Warning"))
    assert ns.names("events", fieldSelector="involvedObject.name=one") == ["e1"]
    assert ns.names("events", fieldSelector="involvedObject.kind=ConfigMap,reason=Other") == ["e2"]
    assert ns.names("events", fieldSelector="type=Warning") == ["e2"]
    assert ns.names("events", fieldSelector="source=conformance") == ["e1", "e2"]
    assert ns.names("events", fieldSelector="involvedObject.namespace!=" + ns.name) == []


def test_field_selector_of_namespaces(api, ns):
    query = {"fieldSelector": "status.phase=Active,metadata.name=" + ns.name}
    assert names(api.get("/api/v1/namespaces", query=query).ok()) == [ns.name]
    query = {"fieldSelector": "status.phase=Terminating,metadata.name=" + ns.name}
    assert names(api.get("/api/v1/namespaces", query=query).ok()) == []


def test_field_selector_of_nodes(api, unique):
    api.post("/api/v1/nodes", node(unique)).ok(201)
    query = {"fieldSelector": "spec.unschedulable=false,metadata.name=" + unique}
    assert names(api.get("/api/v1/nodes", query=query).ok()) == [unique]
    api.patch("/api/v1/nodes/" + unique, {"spec": {"unschedulable": True}}).ok()
    assert names(api.get("/api/v1/nodes", query=query).ok()) == []
    api.delete("/api/v1/nodes/" + unique).ok()


def test_limit_cuts_and_continue_goes_on(api, five):
    seen, token, sizes = [], None, []
    while True:
        query = {"labelSelector": MINE, "limit": 2, **({"continue": token} if token else {})}
        answer = page(api, five, **query)
        seen += names(answer)
        sizes.append(len(answer["items"]))
        token = answer["metadata"].get("continue")
        if not token:
            break
    assert seen == list("abcde")
    assert sizes == [2, 2, 1]


def test_every_page_shows_the_first_pages_version(api, five):
    first = page(api, five, limit=1)
    five.create("configmaps", configmap("f"))
    second = page(api, five, limit=1, **{"continue": first["metadata"]["continue"]})
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_later_pages_show_the_state_of_the_first(api, five):
    first = page(api, five, limit=1, labelSelector=MINE)
    five.create("configmaps", configmap("cc", labels={"conformance": "yes"}))
    api.delete(five.url("configmaps", "d")).ok()
    query = {"continue": first["metadata"]["continue"], "labelSelector": MINE}
    assert names(page(api, five, **query)) == list("bcde")


def test_remaining_item_count(api, ns, widgets):
    for name in "abcd":
        api.post(widgets.at(ns), widgets.make(name, {})).ok(201)
    answer = api.get(widgets.at(ns), query={"limit": 1}).ok()
    assert answer["metadata"]["remainingItemCount"] == 3
    query = {"limit": 2, "continue": answer["metadata"]["continue"]}
    answer = api.get(widgets.at(ns), query=query).ok()
    assert answer["metadata"]["remainingItemCount"] == 1
    query["continue"] = answer["metadata"]["continue"]
    assert "remainingItemCount" not in api.get(widgets.at(ns), query=query).ok()["metadata"]


def test_no_remaining_item_count_with_a_selector(api, five):
    assert "remainingItemCount" not in page(api, five, limit=1, labelSelector=MINE)["metadata"]


def test_a_limit_that_is_large_enough_gives_no_token(api, five):
    answer = page(api, five, limit=500)
    assert "continue" not in answer["metadata"]


def test_garbage_as_continue_is_a_bad_request(api, ns):
    api.get(ns.url("configmaps"), query={"limit": 1, "continue": "garbage!"}).fails(
        400, "BadRequest", re.compile("continue (token|key)"))


def test_continue_and_resource_version_exclude_each_other(api, five):
    token = page(api, five, limit=1)["metadata"]["continue"]
    query = {"continue": token, "resourceVersion": "5"}
    api.get(five.url("configmaps"), query=query).fails(
        400, "BadRequest", "specifying resource version is not allowed when using continue")


def test_limit_that_is_no_number_is_a_bad_request(api, ns):
    api.get(ns.url("configmaps"), query={"limit": "x"}).fails(400, "BadRequest")


def test_resource_version_zero_serves_any_state(five):
    assert set(five.names("configmaps", resourceVersion="0", labelSelector=MINE)) <= set("abcde")


def test_a_list_not_older_than_a_version_has_what_was_written_then(five):
    made = five.create("configmaps", configmap("f", labels={"conformance": "yes"}))
    version = made["metadata"]["resourceVersion"]
    assert "f" in five.names("configmaps", resourceVersion=version)
    assert "f" in five.names("configmaps", resourceVersion=version,
                             resourceVersionMatch="NotOlderThan")


def test_an_exact_version_shows_that_state(api, five):
    version = page(api, five)["metadata"]["resourceVersion"]
    api.delete(five.url("configmaps", "a")).ok()
    answer = page(api, five, resourceVersion=version, resourceVersionMatch="Exact", limit=500,
                  labelSelector=MINE)
    assert names(answer) == list("abcde")
    assert answer["metadata"]["resourceVersion"] == version


def test_an_exact_version_that_is_gone_is_410(api, ns):
    query = {"resourceVersion": "1", "resourceVersionMatch": "Exact", "limit": 500}
    answer = api.get(ns.url("configmaps"), query=query)
    if answer.code == 200:
        pytest.skip("the server still has version 1")
    answer.fails(410, "Expired", "The resourceVersion for the provided list is too old.")


def test_a_version_in_the_future_times_out(api, ns):
    answer = api.get(ns.url("configmaps"), query={"resourceVersion": "99999999999"})
    status = answer.fails(504, "Timeout", re.compile("Too large resource version: 99999999999"))
    assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert status["details"]["retryAfterSeconds"] == 1
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize("query", [
    {"resourceVersionMatch": "Exact"},
    {"resourceVersionMatch": "NotOlderThan"},
    {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
    {"resourceVersionMatch": "Other", "resourceVersion": "5"},
])
def test_a_match_that_makes_no_sense_is_invalid(api, ns, query):
    api.get(ns.url("configmaps"), query=query).fails(
        422, "Invalid", re.compile(
            '^ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: '))


def test_a_version_that_is_no_number_is_refused(api, ns):
    assert api.get(ns.url("configmaps"), query={"resourceVersion": "abc"}).code in (400, 500)


def test_metadata_only_objects(api, five):
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    answer = api.get(five.url("configmaps"), accept=accept, query={"labelSelector": MINE}).ok()
    assert answer["kind"] == "PartialObjectMetadataList"
    assert names(answer) == list("abcde")
    assert "data" not in answer["items"][0]
    accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    one = api.get(five.url("configmaps", "a"), accept=accept).ok()
    assert one["kind"] == "PartialObjectMetadata"
    assert one["metadata"]["labels"]["n"] == "0"


@pytest.mark.parametrize("resource, text", [
    ("pods", "field label not supported: a"), ("events", "field label not supported: a"),
    ("jobs", 'field label "a" not supported for Job'),
    ("configmaps", '"a" is not a known field selector: only "metadata.name", "metadata.namespace"'),
])
def test_what_cannot_be_selected_by_is_named(api, ns, resource, text):
    api.get(ns.url(resource), query={"fieldSelector": "a=b"}).fails(400, "BadRequest", re.compile(
        re.escape(text)))
