# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON laid out for people: for curl, wget and browsers, and for who asks for it."""
import json

import pytest

from lib.objects import configmap


def laid_out(answer):
    assert answer.type == "application/json", repr(answer)
    return answer.text == json.dumps(answer.json, indent=2, ensure_ascii=False)


def on_one_line(answer):
    return answer.text.count("\n") == 1 and answer.text.endswith("}\n")


@pytest.mark.parametrize("agent", ["curl/8.5.0", "Wget/1.21.3", "Mozilla/5.0 (X11; Linux x86_64)"])
def test_programs_of_people_get_lines(api, ns, agent):
    ns.create("configmaps", configmap("a", {"k": 'tricky "{[:,]}" \\'}))
    ns.create("configmaps", configmap("b", {}))
    headers = {"User-Agent": agent}
    for url in (ns.url("configmaps", "a"), ns.url("configmaps"), ns.url("configmaps", "missing"),
                "/api/v1", "/apis", "/apis/apps/v1"):
        assert laid_out(api.get(url, headers=headers)), url


def test_other_programs_get_one_line(api, ns):
    ns.create("configmaps", configmap("a"))
    for agent in ("kubectl/v1.36.4", "python", "xcurl"):
        for url in (ns.url("configmaps", "a"), ns.url("configmaps"), ns.url("configmaps", "gone")):
            assert on_one_line(api.get(url, headers={"User-Agent": agent})), (agent, url)


@pytest.mark.parametrize("said", ["1", "t", "T", "true", "True", "TRUE"])
def test_lines_may_be_asked_for(api, ns, said):
    ns.create("configmaps", configmap("a"))
    assert laid_out(api.get(ns.url("configmaps", "a"), query={"pretty": said}))
    assert laid_out(api.get(ns.url("configmaps"), query={"pretty": said}))


@pytest.mark.parametrize("said", ["0", "false", "no", "yes"])
def test_lines_may_be_refused(api, ns, said):
    ns.create("configmaps", configmap("a"))
    headers = {"User-Agent": "curl/8.5.0"}
    assert on_one_line(api.get(ns.url("configmaps", "a"), query={"pretty": said}, headers=headers))


def test_an_empty_wish_is_none(api, ns):
    ns.create("configmaps", configmap("a"))
    assert on_one_line(api.get(ns.url("configmaps", "a"), query={"pretty": ""}))


def test_writes_are_answered_in_lines_too(api, ns):
    headers = {"User-Agent": "curl/8.5.0"}
    assert laid_out(api.post(ns.url("configmaps"), configmap("a"), headers=headers))
    assert laid_out(api.delete(ns.url("configmaps", "a"), headers=headers))


def test_a_long_list_is_laid_out_as_well(api, ns):
    for i in range(12):
        ns.create("configmaps", configmap(f"c{i}", {"k": "{\"a\": [1, 2]}" * 9000}))
    assert laid_out(api.get(ns.url("configmaps"), headers={"User-Agent": "curl/8.5.0"}))


def test_a_watch_has_a_line_for_each_event(api, ns):
    ns.create("configmaps", configmap("a"))
    answer = api.get(ns.url("configmaps"), headers={"User-Agent": "curl/8.5.0"},
                     query={"watch": "1", "timeoutSeconds": "1"})
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert "a" in [e["object"]["metadata"]["name"] for e in events]
