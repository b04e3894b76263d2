# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may come in, and what the server says about it."""
import os
import re
import socket

import pytest

from lib.client import Api
from lib.objects import service_account

REVIEWS = "/apis/authorization.k8s.io/v1"


@pytest.fixture
def stranger(config):
    return Api(config, identity=False)


def test_a_bad_token_is_401(config):
    status = Api(config, token="not-a-token").get("/api/v1/namespaces").fails(
        401, "Unauthorized", "Unauthorized")
    assert "details" not in status


@pytest.mark.parametrize("value", ["Bearer", "Bearer ", "Basic YTpi", "Weird x"])
def test_a_malformed_authorization_is_passed_over(stranger, value):
    stranger.get("/api/v1/namespaces", headers={"Authorization": value}).fails(
        403, "Forbidden", re.compile('User "system:anonymous" cannot list'))


def test_who_has_no_identity_cannot_read(stranger):
    assert stranger.get("/api/v1/namespaces").code in (401, 403)


@pytest.mark.parametrize("path", ["/api", "/apis", "/openapi/v2", "/metrics", "/nowhere", "/"])
def test_anonymous_may_not_look_around(stranger, path):
    text = f'forbidden: User "system:anonymous" cannot get path "{path}"'
    stranger.get(path).fails(403, "Forbidden", text)


def test_anonymous_is_refused_before_anybody_looks(stranger):
    stranger.get("/api/v1/pods").fails(
        403, "Forbidden", 'pods is forbidden: User "system:anonymous" cannot list resource "pods" '
        'in API group "" at the cluster scope')
    stranger.get("/apis/no.such.group/v1/namespaces/x/things/y").fails(
        403, "Forbidden", 'things.no.such.group "y" is forbidden: User "system:anonymous" cannot '
        'get resource "things" in API group "no.such.group" in the namespace "x"')


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_anonymous_may_ask_for_health(stranger, path):
    answer = stranger.get(path)
    assert (answer.code, answer.text) == (200, "ok")


def test_anonymous_may_ask_for_the_version(stranger):
    assert stranger.get("/version").ok(200)["major"] == "1"


def test_anonymous_writes_are_refused(stranger):
    body = {"metadata": {"name": "intruder"}}
    stranger.post("/api/v1/namespaces", body).fails(403, "Forbidden")
    stranger.delete("/api/v1/namespaces/default").fails(403, "Forbidden")


@pytest.mark.embedded
def test_the_kubeconfig_is_private(config):
    assert os.stat(config.path).st_mode & 0o777 == 0o600


def test_the_server_speaks_tls_only(config):
    with socket.create_connection((config.host, config.port), timeout=10) as s:
        s.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = s.recv(4096)
    assert b"200 OK" not in answer


def test_an_access_review_allows_the_admin(api):
    body = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
            "spec": {"resourceAttributes": {"namespace": "default", "verb": "create",
                                            "resource": "pods"}}}
    answer = api.post(REVIEWS + "/selfsubjectaccessreviews", body).ok(201)
    assert answer["kind"] == "SelfSubjectAccessReview"
    assert answer["status"]["allowed"] is True
    assert answer["spec"] == body["spec"]


def test_an_access_review_of_a_path(api):
    body = {"spec": {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}}
    assert api.post(REVIEWS + "/selfsubjectaccessreviews", body).ok(201)["status"]["allowed"]


def test_an_access_review_needs_attributes(api):
    body = {"spec": {}}
    api.post(REVIEWS + "/selfsubjectaccessreviews", body).fails(422, "Invalid")


def test_a_rules_review_of_the_admin(api):
    body = {"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1",
            "spec": {"namespace": "default"}}
    status = api.post(REVIEWS + "/selfsubjectrulesreviews", body).ok(201)["status"]
    assert status["incomplete"] is False
    assert any("*" in r["verbs"] and "*" in r["resources"] for r in status["resourceRules"])


@pytest.mark.since(28, "authentication.k8s.io/v1 has it")
def test_a_self_review_names_the_user(api):
    body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    assert api.post(path, body).ok(201)["status"]["userInfo"]["username"]


def test_a_token_is_requested_for_an_account(api, ns):
    ns.create("serviceaccounts", service_account("robot"))
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
            "spec": {"expirationSeconds": 3600}}
    answer = api.post(ns.url("serviceaccounts", "robot", "token"), body).ok(201)
    assert answer["kind"] == "TokenRequest"
    assert answer["status"]["token"].count(".") == 2
    assert answer["status"]["expirationTimestamp"].endswith("Z")


def test_a_token_needs_its_account(api, ns):
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}
    api.post(ns.url("serviceaccounts", "zz", "token"), body).fails(404, "NotFound")


def test_a_requested_token_lets_in(api, config, ns):
    ns.create("serviceaccounts", service_account("robot"))
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}
    token = api.post(ns.url("serviceaccounts", "robot", "token"), body).ok()["status"]["token"]
    assert Api(config, token=token).get("/api").code == 200
