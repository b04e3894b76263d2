# SPDX-License-Identifier: GPL-2.0-or-later
"""Request bodies in Kubernetes' protobuf envelope, as client-go sends them for built-in kinds."""
import pytest

from lib import proto
from lib.client import PROTO
from lib.objects import configmap, event, lease
from lib.proto import envelope, meta


def post(api, path, body, **kw):
    kw.setdefault("accept", "application/json")
    return api.post(path, body, type=PROTO, **kw)


def test_a_configmap(api, ns):
    body = envelope("v1", "ConfigMap", [
        (1, meta("a", labels={"x": "y"})), (2, {"k": "v", "empty": ""}), (3, {"bin": b"\x00\xff"}),
        (4, True)])
    made = post(api, ns.url("configmaps"), body).ok(201)
    assert made["data"] == {"k": "v", "empty": ""}
    assert made["binaryData"] == {"bin": "AP8="}
    assert made["immutable"] is True
    assert made["metadata"]["labels"] == {"x": "y"}
    assert made["metadata"]["namespace"] == ns.name
    assert ns.get("configmaps", "a") == made


def test_zero_values_count_as_absent(api, ns):
    made = post(api, ns.url("configmaps"), envelope("v1", "ConfigMap", [(1, meta("a"))])).ok(201)
    given = ns.create("configmaps", configmap("b"))
    assert set(made["metadata"]) == set(given["metadata"])
    assert set(made) == set(given)


def test_a_namespace(api, unique):
    body = envelope("v1", "Namespace", [(1, meta(unique)), (2, []), (3, [(1, "")])])
    made = post(api, "/api/v1/namespaces", body).ok(201)
    assert made["metadata"]["name"] == unique
    assert made["status"]["phase"] == "Active"
    assert made["spec"]["finalizers"] == ["kubernetes"]
    api.delete("/api/v1/namespaces/" + unique).ok()


def test_a_secret(api, ns):
    body = envelope("v1", "Secret", [
        (1, meta("a")), (2, {"k": b"\x01\x02"}), (3, "conformance.test/x"), (4, {"s": "text"})])
    made = post(api, ns.url("secrets"), body).ok(201)
    assert made["data"] == {"k": "AQI=", "s": "dGV4dA=="}
    assert made["type"] == "conformance.test/x"


def test_a_service_account(api, ns):
    body = envelope("v1", "ServiceAccount", [(1, meta("a")), (3, [(1, "pull")]), (4, False)])
    made = post(api, ns.url("serviceaccounts"), body).ok(201)
    assert made["imagePullSecrets"] == [{"name": "pull"}]
    assert made["automountServiceAccountToken"] is False


def test_a_lease(api, ns):
    spec = [(1, "me"), (2, 15), (3, proto.time(1600000000, 123456000)),
            (4, proto.time(1600000001)), (5, 2)]
    body = envelope("coordination.k8s.io/v1", "Lease", [(1, meta("l")), (2, spec)])
    made = post(api, ns.url("leases"), body).ok(201)
    assert made["spec"] == {
        "holderIdentity": "me", "leaseDurationSeconds": 15,
        "acquireTime": "2020-09-13T12:26:40.123456Z", "renewTime": "2020-09-13T12:26:41.000000Z",
        "leaseTransitions": 2}


def test_a_lease_is_updated(api, ns):
    made = ns.create("leases", lease("l", holderIdentity="me"))
    fields = meta("l", ns.name, version=made["metadata"]["resourceVersion"])
    body = envelope("coordination.k8s.io/v1", "Lease", [(1, fields), (2, [(1, "you")])])
    stored = api.put(ns.url("leases", "l"), body, type=PROTO).ok(200)
    assert stored["spec"]["holderIdentity"] == "you"
    api.put(ns.url("leases", "l"), body, type=PROTO).fails(409, "Conflict")


def test_an_event(api, ns):
    about = [(1, "ConfigMap"), (2, ns.name), (3, "thing"), (4, "uid-1"), (5, "v1"),
             (6, ""), (7, "")]
    body = envelope("v1", "Event", [
        (1, meta("e", ns.name)), (2, about), (3, "Tested"), (4, "hello"),
        (5, [(1, "conformance"), (2, "here")]), (6, proto.time(1600000000)),
        (7, proto.time(1600000000)), (8, 3), (9, "Warning"), (10, []), (12, ""), (14, ""),
        (15, "")])
    made = post(api, ns.url("events"), body).ok(201)
    assert made["involvedObject"] == {
        "kind": "ConfigMap", "namespace": ns.name, "name": "thing", "uid": "uid-1",
        "apiVersion": "v1"}
    assert (made["reason"], made["message"], made["type"]) == ("Tested", "hello", "Warning")
    assert made["count"] == 3
    assert made["source"] == {"component": "conformance", "host": "here"}
    assert made["lastTimestamp"] == "2020-09-13T12:26:40Z"
    expected = ns.create("events", event("f", ns.name))
    assert set(expected) - {"source"} <= set(made)


def test_a_deployment(api, ns):
    container = [(1, "main"), (2, "app:1"), (5, ""), (6, [(1, "web"), (2, 0), (3, 80), (4, "TCP"),
                                                          (5, "")]),
                 (7, [(1, "A"), (2, "b")]),
                 (8, [(1, [(1, "cpu"), (2, [(1, "2")])]), (2, [(1, "cpu"), (2, [(1, "1")])])])]
    pod = [(2, container), (3, "Always"), (4, 30)]
    template = [(1, [(1, ""), (11, {"app": "d"})]), (2, pod)]
    strategy = [(1, "RollingUpdate"), (2, [(1, [(1, 1), (2, 0), (3, "30%")]),
                                           (2, [(1, 0), (2, 2), (3, "")])])]
    spec = [(1, 0), (2, [(1, {"app": "d"})]), (3, template), (4, strategy), (5, 0), (7, False)]
    body = envelope("apps/v1", "Deployment", [(1, meta("d")), (2, spec), (3, [])])
    made = post(api, ns.url("deployments"), body).ok(201)
    assert made["spec"]["replicas"] == 0
    assert made["spec"]["selector"] == {"matchLabels": {"app": "d"}}
    assert made["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": "30%", "maxSurge": 2}
    got, = made["spec"]["template"]["spec"]["containers"]
    assert (got["name"], got["image"]) == ("main", "app:1")
    assert got["ports"] == [{"name": "web", "containerPort": 80, "protocol": "TCP"}]
    assert got["env"] == [{"name": "A", "value": "b"}]
    assert got["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}
    assert got["imagePullPolicy"] == "IfNotPresent"


def test_a_role(api, ns):
    rule = [(1, "get"), (1, "list"), (2, ""), (3, "pods")]
    body = envelope("rbac.authorization.k8s.io/v1", "Role", [(1, meta("r")), (2, rule)])
    made = post(api, ns.url("roles"), body).ok(201)
    assert made["rules"] == [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}]


def test_an_access_review(api):
    spec = [(1, [(1, "default"), (2, "get"), (3, ""), (4, ""), (5, "pods"), (6, ""), (7, "")])]
    body = envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview",
                    [(1, [(1, "")]), (2, spec), (3, [(1, False), (2, ""), (3, ""), (4, False)])])
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert post(api, path, body).ok(201)["status"]["allowed"] is True


def test_delete_options(api, ns):
    ns.create("configmaps", configmap("a"))
    url = ns.url("configmaps", "a")
    wrong = envelope("v1", "DeleteOptions", [(2, [(1, "other-uid")]), (4, "Background")])
    api.delete(url, wrong, type=PROTO).fails(409, "Conflict")
    api.delete(url, envelope("v1", "DeleteOptions", [(4, "Background")]), type=PROTO).ok(200)


@pytest.mark.parametrize("accept", [f"{PROTO},application/json", f"{PROTO}, */*"])
def test_an_answer_may_be_protobuf_or_json(api, ns, accept):
    body = envelope("v1", "ConfigMap", [(1, meta("a")), (2, {"k": "v"})])
    answer = post(api, ns.url("configmaps"), body, accept=accept)
    assert answer.code == 201
    if answer.type == "application/json":
        assert answer.json["data"] == {"k": "v"}
    else:
        assert answer.type == PROTO
        assert answer.body[:4] == proto.MAGIC
        assert proto.first(answer.body[4:], 1, 2) == b"ConfigMap"


def test_a_status_answers_who_prefers_protobuf(api, ns):
    answer = api.get(ns.url("configmaps", "zz"), accept=f"{PROTO},application/json")
    assert answer.code == 404
    if answer.type == "application/json":
        assert answer.json["reason"] == "NotFound"
    else:
        assert proto.first(answer.body[4:], 1, 2) == b"Status"


@pytest.mark.parametrize("body", [
    b"", b"k8s", b"k8s\x00", b"nope", b"k8s\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    proto.MAGIC + proto.encode([(1, [(1, "v1"), (2, "ConfigMap")]), (2, b"\x0a\x7f\x01")]),
], ids=["empty", "short", "bare", "no magic", "bad varint", "truncated"])
def test_a_malformed_body_is_a_bad_request(api, ns, body):
    assert post(api, ns.url("configmaps"), body).code in (400, 422)


def test_a_body_of_another_kind_is_a_bad_request(api, ns):
    post(api, ns.url("configmaps"), envelope("v1", "Secret", [(1, meta("a"))])).fails(
        400, "BadRequest")


def test_validation_applies_as_to_json(api, ns):
    status = post(api, ns.url("configmaps"), envelope("v1", "ConfigMap", [(1, meta("Bad"))])).fails(
        422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "metadata.name"


def test_unknown_field_numbers_are_skipped(api, ns):
    body = envelope("v1", "ConfigMap", [(1, meta("a")), (2, {"k": "v"}), (900, "later"), (901, 5)])
    assert post(api, ns.url("configmaps"), body).ok(201)["data"] == {"k": "v"}
