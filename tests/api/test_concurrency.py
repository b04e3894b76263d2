# SPDX-License-Identifier: GPL-2.0-or-later
"""Many writers and watchers at once: nothing is lost, doubled or out of order."""
import threading

from lib.client import Api
from lib.objects import configmap

WRITERS = 6
TURNS = 15


def together(config, work):
    """Run work(api, number) in several threads, each with a connection of its own."""
    failures = []

    def body(number):
        try:
            work(Api(config), number)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=body, args=(n,)) for n in range(WRITERS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]


def test_optimistic_locking_loses_no_update(config, ns):
    ns.create("configmaps", configmap("counter", {"n": "0"}))
    url = ns.url("configmaps", "counter")

    def add(api, _):
        for _ in range(TURNS):
            while True:
                got = api.get(url).ok()
                got["data"]["n"] = str(int(got["data"]["n"]) + 1)
                answer = api.put(url, got)
                if answer.code != 409:
                    answer.ok(200)
                    break

    together(config, add)
    assert ns.get("configmaps", "counter")["data"]["n"] == str(WRITERS * TURNS)


def test_patches_without_a_lock_never_conflict(config, ns):
    ns.create("configmaps", configmap("a", {"x": "y"}))
    url = ns.url("configmaps", "a")

    def write(api, number):
        for turn in range(TURNS):
            api.patch(url, {"data": {f"k{number}": str(turn)}}).ok(200)

    together(config, write)
    expected = {f"k{n}": str(TURNS - 1) for n in range(WRITERS)}
    assert ns.get("configmaps", "a")["data"] == {"x": "y", **expected}


def test_one_of_many_creators_wins(config, ns):
    codes = []

    def create(api, _):
        codes.append(api.post(ns.url("configmaps"), configmap("one")).code)

    together(config, create)
    assert sorted(codes) == [201] + [409] * (WRITERS - 1)


def test_applies_by_several_managers_all_count(config, ns):
    url = ns.url("configmaps", "a")
    ns.create("configmaps", configmap("a"))

    def apply(api, number):
        for turn in range(TURNS):
            api.apply(url, configmap("a", {f"k{number}": str(turn)}), f"m{number}").ok(200)

    together(config, apply)
    assert set(ns.get("configmaps", "a")["data"]) == {f"k{n}" for n in range(WRITERS)}


def test_a_list_and_a_watch_give_the_whole_history(api, config, ns):
    for n in range(5):
        ns.create("configmaps", configmap(f"old{n}", labels={"mine": "yes"}))
    barrier = threading.Barrier(2)

    def churn():
        writer = Api(config)
        barrier.wait()
        for n in range(40):
            writer.post(ns.url("configmaps"), configmap(f"c{n}", labels={"mine": "yes"})).ok(201)
            if n % 2:
                writer.patch(ns.url("configmaps", f"c{n}"), {"data": {"k": str(n)}}).ok()
            if n % 3 == 0:
                writer.delete(ns.url("configmaps", f"c{n}")).ok()
        writer.post(ns.url("configmaps"), configmap("end", labels={"mine": "yes"})).ok(201)

    thread = threading.Thread(target=churn)
    thread.start()
    barrier.wait()
    listed = api.get(ns.url("configmaps"), query={"labelSelector": "mine"}).ok()
    state = {i["metadata"]["name"]: i["metadata"]["resourceVersion"] for i in listed["items"]}
    last = int(listed["metadata"]["resourceVersion"])
    with api.watch(ns.url("configmaps"), labelSelector="mine", resourceVersion=last) as w:
        while "end" not in state:
            event = w.line()
            name = event["object"]["metadata"]["name"]
            seen = int(event["object"]["metadata"]["resourceVersion"])
            assert seen > last
            last = seen
            assert (event["type"] == "ADDED") == (name not in state), event
            if event["type"] == "DELETED":
                del state[name]
            else:
                state[name] = str(seen)
    thread.join()
    final = api.get(ns.url("configmaps"), query={"labelSelector": "mine"}).ok()["items"]
    assert state == {i["metadata"]["name"]: i["metadata"]["resourceVersion"] for i in final}
