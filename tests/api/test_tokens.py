# SPDX-License-Identifier: GPL-2.0-or-later
"""Tokens of service accounts: what they are bound to, how long they live, whom they are for."""
import base64
import json
import time

import pytest

from lib.client import TABLE, WAIT_S, Api
from lib.objects import pod, secret, service_account

REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
YEAR = 365 * 24 * 3600


def bound(kind, obj, **more):
    return {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": obj["metadata"]["name"],
                               "uid": obj["metadata"]["uid"], **more}}


@pytest.fixture
def robot(ns):
    return ns.create("serviceaccounts", service_account("robot"))


@pytest.fixture
def ask(api, ns, robot):
    """Ask for a token of the account; the whole answer."""
    def do(account="robot", **spec):
        body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": spec}
        return api.post(ns.url("serviceaccounts", account, "token"), body)
    return do


@pytest.fixture
def lets_in(config):
    return lambda token: Api(config, token=token).get("/api").code == 200


def until_refused(config, token):
    """A server may remember a good token for some seconds."""
    deadline = time.monotonic() + WAIT_S
    while Api(config, token=token).get("/api").code != 401:
        assert time.monotonic() < deadline, "the token still lets in"
        time.sleep(0.1)


def token_of(answer):
    return answer.ok(201)["status"]["token"]


def claims_of(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def review(api, token, **spec):
    return api.post(REVIEW, {"spec": {"token": token, **spec}}).ok(201)["status"]


def test_the_claims_say_who_and_until_when(ask, ns, robot):
    token = token_of(ask(expirationSeconds=1000))
    claims = claims_of(token)
    assert claims["sub"] == f"system:serviceaccount:{ns.name}:robot"
    assert claims["exp"] - claims["iat"] in range(1000, YEAR + 8)
    assert claims["kubernetes.io"]["namespace"] == ns.name
    assert claims["kubernetes.io"]["serviceaccount"] == {"name": "robot",
                                                         "uid": robot["metadata"]["uid"]}


def test_a_token_dies_with_its_account(api, config, ns, ask, lets_in):
    token = token_of(ask())
    assert lets_in(token)
    api.delete(ns.url("serviceaccounts", "robot")).ok(200)
    until_refused(config, token)


def test_an_account_of_the_same_name_is_another(api, config, ns, ask):
    token = token_of(ask())
    api.delete(ns.url("serviceaccounts", "robot")).ok(200)
    ns.create("serviceaccounts", service_account("robot"))
    until_refused(config, token)


@pytest.mark.controllers
def test_a_token_dies_with_its_namespace(api, config, spaces):
    space = spaces()
    space.create("serviceaccounts", service_account("robot"))
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}
    token = token_of(api.post(space.url("serviceaccounts", "robot", "token"), body))
    api.delete("/api/v1/namespaces/" + space.name)
    until_refused(config, token)


def test_a_token_dies_with_its_pod(api, config, ns, ask, lets_in):
    made = ns.create("pods", pod("p", serviceAccountName="robot"))
    token = token_of(ask(**bound("Pod", made)))
    assert claims_of(token)["kubernetes.io"]["pod"] == {"name": "p", "uid": made["metadata"]["uid"]}
    assert lets_in(token)
    api.delete(ns.url("pods", "p"), {"gracePeriodSeconds": 0}).ok(200)
    until_refused(config, token)


def test_a_pod_of_the_same_name_is_another(api, config, ns, ask):
    made = ns.create("pods", pod("p", serviceAccountName="robot"))
    token = token_of(ask(**bound("Pod", made)))
    api.delete(ns.url("pods", "p"), {"gracePeriodSeconds": 0}).ok(200)
    again = ns.create("pods", pod("p", serviceAccountName="robot"))
    until_refused(config, token)
    assert again["metadata"]["uid"] != made["metadata"]["uid"]


def test_a_token_dies_with_its_secret(api, config, ns, ask, lets_in):
    made = ns.create("secrets", secret("s"))
    token = token_of(ask(**bound("Secret", made)))
    assert lets_in(token)
    api.delete(ns.url("secrets", "s")).ok(200)
    until_refused(config, token)


def test_what_a_token_is_bound_to_must_be_there(ns, ask):
    made = ns.create("pods", pod("p", serviceAccountName="robot"))
    ref = bound("Pod", made)["boundObjectRef"]
    ask(boundObjectRef={**ref, "name": "q"}).fails(404, "NotFound", 'pods "q" not found')
    ask(boundObjectRef={**ref, "uid": "other"}).fails(409, "Conflict")
    ask(boundObjectRef={**ref, "kind": "ConfigMap"}).fails(
        400, "BadRequest", "cannot bind token to object of type /v1, Kind=ConfigMap")


def test_a_token_is_bound_to_a_pod_of_its_account_only(ns, ask):
    made = ns.create("pods", pod("p"))
    ask(**bound("Pod", made)).fails(
        400, "BadRequest", 'cannot bind token for serviceaccount "robot" to pod running with '
        "different serviceaccount name.")


@pytest.mark.since(32, "older ones check less")
def test_a_request_names_its_account_and_nothing_else(api, ns, robot):
    url = ns.url("serviceaccounts", "robot", "token")
    for meta, code, text in [
        ({"name": "other"}, 422, "metadata.name: Invalid value: \"other\": must match the service "
                                 "account name if specified"),
        ({"namespace": "other"}, 400, "the namespace of the provided object does not match the "
                                      "namespace sent on the request"),
    ]:
        assert text in api.post(url, {"metadata": meta, "spec": {}}).json["message"]
        assert api.post(url, {"metadata": meta, "spec": {}}).code == code
    made = api.post(url, {"metadata": {"name": "robot", "namespace": ns.name}, "spec": {}}).ok(201)
    assert made["metadata"]["name"] == "robot" and made["metadata"]["uid"]
    assert api.post(url, {"spec": {"wrong": 1}}).warnings == ['unknown field "spec.wrong"']
    api.post(url, {"spec": {}}, query={"dryRun": "x"}).fails(422, "Invalid")
    api.post(url, {"spec": {}}, accept=TABLE.split(",")[0]).fails(406, "NotAcceptable")
    api.post(url, {"spec": {}}, accept=TABLE).ok(201)
    api.post(f"/api/v1/namespaces/no-{ns.name}/serviceaccounts/robot/token", {"spec": {}}).fails(
        404, "NotFound", f'namespaces "no-{ns.name}" not found')


@pytest.mark.parametrize("seconds, text", [
    (599, "may not specify a duration less than 10 minutes"),
    (2**32 + 1, "may not specify a duration larger than 2^32 seconds"),
])
def test_a_life_too_short_or_too_long_is_refused(ask, seconds, text):
    message = ask(expirationSeconds=seconds).fails(422, "Invalid")["message"]
    assert f"spec.expirationSeconds: Invalid value: {seconds}: {text}" in message


@pytest.mark.embedded  # elsewhere by --service-account-max-token-expiration
def test_a_long_life_is_cut_to_a_year(ask):
    answer = ask(expirationSeconds=2**32)
    made = answer.ok(201)
    assert answer.warnings == [
        f"requested expiration of {2**32} seconds shortened to {YEAR} seconds"]
    assert made["spec"]["expirationSeconds"] == YEAR
    claims = claims_of(made["status"]["token"])
    assert claims["exp"] - claims["iat"] == YEAR
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(claims["exp"]))
    assert made["status"]["expirationTimestamp"] == until


def test_a_token_for_others_does_not_let_in(api, ask, lets_in):
    made = ask(audiences=["vault"]).ok(201)
    assert made["spec"]["audiences"] == ["vault"]
    token = made["status"]["token"]
    assert not lets_in(token)
    assert not review(api, token).get("authenticated")
    status = review(api, token, audiences=["vault", "other"])
    assert status["authenticated"] is True
    assert status["audiences"] == ["vault"]


def test_a_review_says_whose_token_it_is(api, ns, ask, robot):
    made = ns.create("pods", pod("p", serviceAccountName="robot"))
    status = review(api, token_of(ask(**bound("Pod", made))))
    assert status["authenticated"] is True
    user = status["user"]
    assert user["username"] == f"system:serviceaccount:{ns.name}:robot"
    assert user["uid"] == robot["metadata"]["uid"]
    assert user["groups"] == ["system:serviceaccounts", f"system:serviceaccounts:{ns.name}",
                              "system:authenticated"]
    assert user["extra"]["authentication.kubernetes.io/pod-name"] == ["p"]
    assert user["extra"]["authentication.kubernetes.io/pod-uid"] == [made["metadata"]["uid"]]


@pytest.mark.parametrize("token", ["x", "a.b.c", "." * 9000])
def test_a_review_of_nonsense_is_no(api, token):
    status = review(api, token)
    assert not status.get("authenticated")
    assert "username" not in status.get("user", {})


def test_a_changed_token_is_refused(config, ask):
    token = token_of(ask())
    head, body, mac = token.split(".")
    claims = claims_of(token)
    claims["sub"] = "system:serviceaccount:kube-system:admin"
    forged = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    for bad in (f"{head}.{forged}.{mac}", f"{none}.{body}.", f"{none}.{body}", f"{head}.{body}.",
                f"{head}.{body}.{mac[:-2]}", token + "x"):
        assert Api(config, token=bad).get("/api").code == 401


def test_the_token_of_an_ordinary_account_may_do_nothing(api, config, ns, ask):
    client = Api(config, token=token_of(ask()))
    for path in (ns.url("pods"), ns.url("secrets"), ns.url("configmaps"), "/api/v1/nodes",
                 "/api/v1/namespaces", ns.url("serviceaccounts", "robot")):
        client.get(path).fails(403, "Forbidden")
    client.post(ns.url("pods"), pod("mine")).fails(403, "Forbidden")
    client.post(ns.url("serviceaccounts", "robot", "token"), {"spec": {}}).fails(403, "Forbidden")


# Tokens in Secrets; elsewhere the controller manager makes them.

def token_secret(name, account):
    return secret(name, type="kubernetes.io/service-account-token") | {
        "metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": account}}}


@pytest.mark.controllers
def test_a_token_secret_is_filled_and_lets_in(api, config, ns, robot, lets_in):
    ns.create("secrets", token_secret("s", "robot"))
    made = api.until(ns.url("secrets", "s"), lambda a: "token" in a.json.get("data", {})).json
    data = {k: base64.b64decode(v).decode() for k, v in made["data"].items()}
    assert data["namespace"] == ns.name
    assert "BEGIN CERTIFICATE" in data["ca.crt"]
    assert made["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == \
        robot["metadata"]["uid"]
    assert lets_in(data["token"])
    api.delete(ns.url("secrets", "s")).ok(200)
    until_refused(config, data["token"])


@pytest.mark.controllers
def test_a_token_secret_goes_with_its_account(api, ns, robot):
    ns.create("secrets", token_secret("s", "robot"))
    api.until(ns.url("secrets", "s"), lambda a: "token" in a.json.get("data", {}))
    api.delete(ns.url("serviceaccounts", "robot")).ok(200)
    api.until_gone(ns.url("secrets", "s"))


@pytest.mark.controllers
def test_a_token_secret_without_its_account_goes(api, ns):
    ns.create("secrets", token_secret("s", "nobody"))
    api.until_gone(ns.url("secrets", "s"))
