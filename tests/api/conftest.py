# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixtures: the server named by KUBECONFIG, a namespace for each test, the kubectls found.

A case may be marked since(minor, why) or before(minor, why): it is skipped where the server's
release is on the other side.  embedded marks what only our own server promises, controllers what
needs kube-controller-manager elsewhere.
"""
import functools
import itertools
import os
import tempfile
import time
import uuid

import pytest

from lib import beside, crds, objects
from lib.client import WAIT_S, Api
from lib.kubeconfig import Kubeconfig
from lib.kubectl import Kubectl, find_kubectls

RUN = uuid.uuid4().hex[:6]
KUBECTLS = find_kubectls()
_scratch = tempfile.TemporaryDirectory(prefix="test-api-")
_count = itertools.count(1)


@functools.lru_cache(None)
def _config():
    path = os.environ.get("KUBECONFIG")
    if not path:
        pytest.exit("KUBECONFIG is not set; start the suite with tests/api/run", 2)
    return Kubeconfig(path.split(":")[0], _scratch.name)


@functools.lru_cache(None)
def _version():
    return Api(_config()).get("/version").ok(200)


def _minor():
    return int(_version()["minor"].rstrip("+"))


def _embedded():
    return os.environ.get("API_EMBEDDED") == "1" or "slurmkeeper" in _version()["gitVersion"]


@functools.lru_cache(None)
def _controllers():
    """Does somebody make the accounts that every namespace gets?"""
    api, url = Api(_config()), "/api/v1/namespaces/default/serviceaccounts/default"
    deadline = time.monotonic() + 3
    while api.get(url).code != 200 and time.monotonic() < deadline:
        time.sleep(0.05)
    return api.get(url).code == 200


def pytest_configure(config):
    config.addinivalue_line("markers", "since(minor, why): only from that release on")
    config.addinivalue_line("markers", "before(minor, why): only before that release")
    config.addinivalue_line("markers", "controllers: only where somebody runs them")
    config.addinivalue_line("markers", "embedded: a promise of the embedded server alone")


def pytest_report_header():
    kubectls = ", ".join(f"1.{minor} ({path})" for minor, path in KUBECTLS.items())
    return [f"server: {_config().server} {_version()['gitVersion']}", f"kubectl: {kubectls}"]


def pytest_runtest_setup(item):
    for mark in item.iter_markers("since"):
        if _minor() < mark.args[0]:
            pytest.skip(f"needs 1.{mark.args[0]}: {mark.args[1]}")
    for mark in item.iter_markers("before"):
        if _minor() >= mark.args[0]:
            pytest.skip(f"gone in 1.{mark.args[0]}: {mark.args[1]}")
    if item.get_closest_marker("controllers") and not _controllers():
        pytest.skip("no controllers run here")
    if item.get_closest_marker("embedded") and not _embedded():
        pytest.skip("a promise of the embedded server alone")


def pytest_generate_tests(metafunc):
    if "kubectl" in metafunc.fixturenames:
        minors = sorted(KUBECTLS)
        metafunc.parametrize("kubectl", minors, indirect=True, ids=[f"k{m}" for m in minors])


class Space:
    """A namespace of one test."""

    def __init__(self, api, name):
        self.api, self.name = api, name

    def url(self, resource, name=None, sub=None):
        return objects.url(resource, self.name, name, sub)

    def create(self, resource, obj, **kw):
        """Create and return the stored object; waits for the default account if a pod needs it."""
        deadline = time.monotonic() + WAIT_S
        while True:
            answer = self.api.post(self.url(resource), obj, **kw)
            waits = answer.code in (403, 500) and b"service account" in answer.body
            if not waits or time.monotonic() > deadline:
                return answer.ok(201)
            time.sleep(0.05)

    def get(self, resource, name, **kw):
        return self.api.get(self.url(resource, name), **kw).ok(200)

    def names(self, resource, **query):
        """Names of the listed objects, in the server's order."""
        items = self.api.get(self.url(resource), query=query).ok(200)["items"]
        return [i["metadata"]["name"] for i in items]


@pytest.fixture(scope="session")
def config():
    return _config()


@pytest.fixture(scope="session")
def api(config):
    policy = "v1" if _minor() >= 21 else "v1beta1"
    objects.GROUPS["poddisruptionbudgets"] = "/apis/policy/" + policy
    return Api(config)


@pytest.fixture(scope="session")
def ours(tmp_path_factory):
    """An embedded server beside the real one that the suite runs against."""
    if _embedded():
        pytest.skip("compares with a real kube-apiserver: make test-api-real")
    if not beside.program():
        pytest.skip("SLURMKEEPER names no program to compare with")
    server = beside.Embedded(beside.program(), tmp_path_factory.mktemp("ours"))
    yield server.start()
    server.stop()


@pytest.fixture
def both(api, ours):
    """Ask the real server and ours; what differs fails the case at its end."""
    pair = beside.Both(api, ours)
    yield pair
    pair.agree()


@pytest.fixture(scope="session")
def embedded(api):
    """Is this our own server?"""
    return _embedded()


@pytest.fixture(scope="session")
def minor(api):
    """The server's minor release, as a number."""
    return _minor()


@pytest.fixture(scope="session")
def spaces(api):
    """Makes namespaces; they go all together at the end, so that no case waits for it."""
    made = []

    def make(**more):
        name = f"conf-{RUN}-{os.getpid()}-{next(_count)}"
        api.post("/api/v1/namespaces", objects.namespace(name, **more)).ok(201)
        made.append(name)
        return Space(api, name)

    yield make
    for name in made:
        api.delete("/api/v1/namespaces/" + name)


@pytest.fixture
def ns(spaces):
    return spaces()


@pytest.fixture
def unique():
    """A name for an object outside any namespace."""
    return f"conf-{RUN}-{os.getpid()}-{next(_count)}"


@pytest.fixture(scope="session")
def group():
    """The API group of this run's custom resources."""
    return f"g{RUN}{os.getpid()}.conformance.test"


@pytest.fixture(scope="session")
def widgets(api, group):
    crd = crds.widgets(group).install(api)
    yield crd
    api.delete(crd.url)


@pytest.fixture(scope="session")
def gadgets(api, group):
    crd = crds.gadgets(group).install(api)
    yield crd
    api.delete(crd.url)


@pytest.fixture
def crd_bin(api):
    """Collects definitions that a test made, to be removed after it."""
    made = []
    yield made
    for crd in made:
        api.delete(crd.url)


@pytest.fixture(scope="session")
def kubectl_home():
    return tempfile.mkdtemp(dir=_scratch.name)


@pytest.fixture
def kubectl(request, config, kubectl_home, ns):
    """Each kubectl that was found, in turn, pointed at the test's namespace."""
    home = os.path.join(kubectl_home, str(request.param))
    k = Kubectl(KUBECTLS[request.param], request.param, config, home)
    k.namespace = ns.name
    return k
