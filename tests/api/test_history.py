# SPDX-License-Identifier: GPL-2.0-or-later
"""What is too old is 410: watches, exact lists and continue tokens after compaction.

A shared server compacts every few minutes, so these cases start an embedded server of their own
with a history of one second.  The answers were read off a kube-apiserver whose etcd was compacted.
"""
import os
import socket
import subprocess
import time

import pytest

from lib.client import WAIT_S, Api
from lib.kubeconfig import Kubeconfig
from lib.objects import configmap

pytestmark = pytest.mark.embedded
PATH = "/api/v1/namespaces/default/configmaps"
EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list.")


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory):
    """A server that forgets after a second, and a page and a version that it has forgotten."""
    program = os.environ.get("SLURMKEEPER")
    if not program:
        pytest.skip("SLURMKEEPER does not name the program to start")
    state = tmp_path_factory.mktemp("forgetful")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = subprocess.Popen([program, "apiserver", "--state", str(state / "server"), "--listen",
                               f"127.0.0.1:{port}", "--history", "1"], stderr=subprocess.DEVNULL)
    try:
        api = connect(state, server)
        for name in "abcd":
            api.post(PATH, configmap(name, labels={"mine": "yes"})).ok(201)
        page = api.get(PATH, query={"limit": 1, "labelSelector": "mine"}).ok()["metadata"]
        api.delete(PATH + "/b").ok()
        api.post(PATH, configmap("e", labels={"mine": "yes"})).ok(201)
        exact = {"resourceVersion": page["resourceVersion"], "resourceVersionMatch": "Exact",
                 "limit": 500}
        api.until(PATH, lambda a: a.code == 410, query=exact)
        yield api, page
    finally:
        server.terminate()
        server.wait()


def connect(state, server):
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            api = Api(Kubeconfig(str(state / "server/admin.kubeconfig"), str(state)))
            if api.get("/readyz").code == 200:
                return api
        except (OSError, TypeError):
            pass
        assert server.poll() is None and time.monotonic() < deadline, "the server did not start"
        time.sleep(0.05)


def test_an_exact_list_is_410(forgetful):
    api, page = forgetful
    query = {"resourceVersion": page["resourceVersion"], "resourceVersionMatch": "Exact",
             "limit": 500}
    api.get(PATH, query=query).fails(
        410, "Expired", "The resourceVersion for the provided list is too old.")


def test_a_continue_token_is_410_and_offers_another(forgetful):
    api, page = forgetful
    query = {"limit": 1, "continue": page["continue"], "labelSelector": "mine"}
    status = api.get(PATH, query=query).fails(410, "Expired", EXPIRED)
    query["continue"] = status["metadata"]["continue"]
    rest = api.get(PATH, query={**query, "limit": 500}).ok(200)
    assert [i["metadata"]["name"] for i in rest["items"]] == ["c", "d", "e"]
    assert int(rest["metadata"]["resourceVersion"]) > int(page["resourceVersion"])


def test_a_watch_gets_an_expired_event_and_ends(forgetful):
    api, page = forgetful
    with api.watch(PATH, resourceVersion=page["resourceVersion"]) as w:
        status = w.next("ERROR")
        assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
        assert status["message"].startswith(
            f"too old resource version: {page['resourceVersion']} (")
        assert w.line() is None


def test_lists_and_watches_without_a_version_go_on(forgetful):
    api, page = forgetful
    items = api.get(PATH, query={"labelSelector": "mine"}).ok()["items"]
    names = [i["metadata"]["name"] for i in items]
    assert names == ["a", "c", "d", "e"]
    old = {"resourceVersion": page["resourceVersion"], "labelSelector": "mine"}
    assert len(api.get(PATH, query=old).ok()["items"]) == 4
    with api.watch(PATH, labelSelector="mine", resourceVersion="0") as w:
        assert sorted(w.next("ADDED")["metadata"]["name"] for _ in range(4)) == names


def test_a_version_from_now_can_be_watched(forgetful):
    api, _ = forgetful
    now = api.get(PATH).ok()["metadata"]["resourceVersion"]
    with api.watch(PATH, resourceVersion=now) as w:
        api.post(PATH, configmap("later")).ok(201)
        w.next("ADDED", "later")
