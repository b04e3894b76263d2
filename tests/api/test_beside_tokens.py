# SPDX-License-Identifier: GPL-2.0-or-later
"""Tokens of the embedded server beside those of a real kube-apiserver: the same questions to both."""
import base64
import json

import pytest

from lib import objects
from lib.beside import blank, said
from lib.client import Api

REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
YEAR = 365 * 24 * 3600


@pytest.fixture
def space(both, unique):
    """A namespace of the same name on both servers, with an account and things to bind to."""
    def make(api):
        api.post("/api/v1/namespaces", objects.namespace(unique)).ok(201)
        at = f"/api/v1/namespaces/{unique}"
        api.until(at + "/serviceaccounts/default", lambda a: a.code == 200)
        for account in ("robot", "other"):
            api.post(at + "/serviceaccounts", objects.service_account(account)).ok(201)
        api.post(at + "/secrets", objects.secret("s")).ok(201)
        api.post(at + "/configmaps", objects.configmap("c")).ok(201)
        api.post("/api/v1/nodes", objects.node(unique)).ok(201)
        for name, more in [("p", {}), ("q", {"nodeName": unique})]:
            api.post(at + "/pods", objects.pod(name, serviceAccountName="robot", **more)).ok(201)

    both.each(make)
    yield unique
    both.each(lambda api: api.delete("/api/v1/nodes/" + unique))
    both.each(lambda api: api.delete("/api/v1/namespaces/" + unique))


def at(space, account="robot"):
    return f"/api/v1/namespaces/{space}/serviceaccounts/{account}/token"


def request(**spec):
    return {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": spec}


def parts(token):
    """Head and claims; what differs by nature (key, time, uids) is blanked, or made relative."""
    head, claims = [json.loads(base64.urlsafe_b64decode(p + "=" * (-len(p) % 4)))
                    for p in token.split(".")[:2]]
    for key in ("exp", "nbf", "iat"):
        claims[key] -= claims["iat"] if key != "iat" else claims["iat"]
    claims["jti"] = "ID" if claims.get("jti") else None

    return sorted(set(head) - {"kid"}), blank(claims)


SPECS = [
    {}, {"expirationSeconds": None}, {"expirationSeconds": 0}, {"expirationSeconds": -1},
    {"expirationSeconds": 599}, {"expirationSeconds": 600}, {"expirationSeconds": 3600},
    {"expirationSeconds": 3607}, {"expirationSeconds": 86400}, {"expirationSeconds": 2**32 + 1},
    {"expirationSeconds": 2**63 - 1}, {"expirationSeconds": "600"}, {"expirationSeconds": 600.5},
    {"audiences": []}, {"audiences": None}, {"audiences": [""]}, {"audiences": ["a", "b"]},
    {"audiences": ["a", "a"]}, {"audiences": "a"}, {"wrong": 1}, {"boundObjectRef": {}},
    {"boundObjectRef": None}, {"boundObjectRef": {"kind": "Pod"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}},
    {"boundObjectRef": {"kind": "Pod", "name": "p"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "q"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": "wrong"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "none"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v2", "name": "p"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "apps/v1", "name": "p"}},
    {"boundObjectRef": {"kind": "pod", "apiVersion": "v1", "name": "p"}},
    {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "s"}},
    {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "none"}},
    {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "s", "uid": "wrong"}},
    {"boundObjectRef": {"kind": "Node", "apiVersion": "v1", "name": "none"}},
    {"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "c"}},
    {"boundObjectRef": {"kind": "Deployment", "apiVersion": "apps/v1", "name": "c"}},
    {"boundObjectRef": {"apiVersion": "v1", "name": "c"}},
]


@pytest.mark.parametrize("spec", SPECS, ids=range(len(SPECS)))
def test_requests(both, space, spec):
    answers = both.ask("POST", at(space), request(**spec))
    if all(a.code == 201 for a in answers):
        both.compare("claims", *[parts(a.json["status"]["token"]) for a in answers])


def test_requests_bound_to_a_node(both, space):
    spec = {"boundObjectRef": {"kind": "Node", "apiVersion": "v1", "name": space}}
    answers = both.ask("POST", at(space), request(**spec))
    both.compare("claims", *[parts(a.json["status"]["token"]) for a in answers])


@pytest.mark.parametrize("body", [
    {}, {"kind": "TokenRequest"}, {"apiVersion": "v1", "kind": "Pod"}, {"spec": None}, {"spec": "x"},
    {"spec": {}, "metadata": {"name": "robot"}}, {"spec": {}, "metadata": {"name": "wrong"}},
    {"spec": {}, "metadata": {"namespace": "wrong"}}, {"spec": {}, "status": {"token": "x"}},
    {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1beta1", "spec": {}},
], ids=range(10))
def test_requests_of_odd_forms(both, space, body):
    both.ask("POST", at(space), body)


def test_requests_at_odd_places(both, space):
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        both.ask(method, at(space), request())
    both.ask("POST", at(space, "none"), request())
    both.ask("POST", at("no-such-" + space), request())
    both.ask("POST", at(space), request(), query={"dryRun": "All"}, pick=lambda s: s[:2])
    both.ask("POST", at(space), request(), query={"dryRun": "x"})
    both.ask("POST", at(space), request(), accept="application/json;as=Table;v=v1;g=meta.k8s.io")


REVIEWS = [{}, {"token": ""}, {"token": "x"}, {"token": "a.b.c"}, {"token": None}, {"token": 3},
           {"token": "x", "audiences": []}, {"token": "x", "audiences": ["a"]}]


@pytest.mark.parametrize("spec", REVIEWS, ids=range(len(REVIEWS)))
def test_reviews_of_nonsense(both, spec):
    both.ask("POST", REVIEW, {"spec": spec}, pick=shown)


def shown(answer):
    """What a review says; why a token is bad is each server's own text."""
    code, warnings, body = answer
    if body.get("status", {}) and isinstance(body["status"], dict) and "error" in body["status"]:
        body["status"]["error"] = "..."
    return code, warnings, body


@pytest.mark.parametrize("audiences", [None, [], ["vault"], ["other"], ["vault", "other"],
                                       ["https://kubernetes.default.svc.cluster.local"]])
@pytest.mark.parametrize("spec", [
    {}, {"audiences": ["vault", "https://kubernetes.default.svc.cluster.local"]},
    {"audiences": ["vault", "third"]},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}},
    {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "q"}},
    {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "s"}},
], ids=range(6))
def test_reviews(both, space, spec, audiences):
    answers = []
    for api in (both.real, both.ours):
        made = api.post(at(space), request(**spec)).ok(201)["status"]["token"]
        answers.append(api.post(REVIEW, {"spec": {"token": made, "audiences": audiences}}))
    both.compare("review", *[shown(said(a)) for a in answers])


def test_who_a_token_says_one_is(both, space):
    url = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    for name in ("p", "q"):
        spec = {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": name}}
        answers = []
        for api in (both.real, both.ours):
            made = api.post(at(space), request(**spec)).ok(201)["status"]["token"]
            answers.append(blank(Api(api.config, token=made).post(url, body).ok(201)))
        both.compare(name, *answers)


@pytest.mark.parametrize("authorization", [
    "Bearer x", "Bearer", "Bearer ", "bearer x", "Basic YTpi", "x", "", "Bearer x y", "Bearer a.b.c"])
@pytest.mark.parametrize("path", ["/api", "/version", "/api/v1/pods", "/metrics"])
def test_bad_credentials(both, path, authorization):
    answers = [Api(api.config, identity=False).get(path, headers={"Authorization": authorization})
               for api in (both.real, both.ours)]
    both.compare(path, *[(a.code, a.json if a.code >= 400 else None) for a in answers])
