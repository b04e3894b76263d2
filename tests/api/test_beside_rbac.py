# SPDX-License-Identifier: GPL-2.0-or-later
"""RBAC of the embedded server beside that of a real kube-apiserver: the same questions to both.

These cases know no texts by heart: whatever the real one says is right (lib/beside.py).
"""
import itertools
import time

import pytest

from lib import objects
from lib.beside import blank

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
AUTH = "authentication.k8s.io"
VERBS = "get list watch create update patch delete deletecollection".split()
# What only our server has, and what only a cluster with all of Kubernetes' programs needs.
OUR_ROLES = ("slurm-edit", "system:slurmkeeper:")
THEIR_ROLES = ("system:controller:",)


def as_(user, *groups):
    return {"Impersonate-User": user, **({"Impersonate-Group": groups[0]} if groups else {})}


def rule(verbs, resources, groups=("",), names=None):
    made = {"verbs": verbs.split(), "apiGroups": list(groups), "resources": resources.split()}
    return {**made, "resourceNames": names.split()} if names else made


def binding(name, role, user, kind="ClusterRole"):
    return {"metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}]}


def allowed(api, user, ns):
    body = {"spec": {"user": user, "resourceAttributes": {
        "verb": "get", "resource": "configmaps", "namespace": ns, "name": "probe"}}}
    return api.post(REVIEWS + "/subjectaccessreviews", body).ok(201)["status"]["allowed"]


@pytest.fixture
def space(both, unique):
    """A namespace of the same name on both servers, with a user for each default role."""
    def make(api):
        api.post("/api/v1/namespaces", objects.namespace(unique)).ok(201)
        url = f"{RBAC}/namespaces/{unique}/rolebindings"
        for role in ("view", "edit", "admin"):
            api.post(url, binding(role, role, f"{role}-{unique}")).ok(201)
        deadline = time.monotonic() + 10
        while not all(allowed(api, f"{r}-{unique}", unique) for r in ("view", "edit", "admin")):
            assert time.monotonic() < deadline
            time.sleep(0.02)

    both.each(make)
    yield unique
    both.each(lambda api: api.delete("/api/v1/namespaces/" + unique))


def served(api):
    """(group and version, resource, namespaced) of everything our server has, subresources too."""
    versions = ["/api/v1"]
    for group in api.get("/apis").ok(200)["groups"]:
        versions.append("/apis/" + group["preferredVersion"]["groupVersion"])
    for url in versions:
        for r in api.get(url).ok(200)["resources"]:
            yield url, r["name"], r["namespaced"]


def paths(api, ns):
    for url, resource, namespaced in served(api):
        resource, _, sub = resource.partition("/")
        at = f"{url}/namespaces/{ns}/{resource}" if namespaced else f"{url}/{resource}"
        yield at, sub


def sensible(role):
    return not role["metadata"]["name"].startswith(OUR_ROLES + THEIR_ROLES)


def rights(rules):
    """What rules give, one by one: how they are put together in rules is each server's own."""
    given = []
    for r in rules or []:
        given += itertools.product(r["verbs"], r.get("nonResourceURLs", []))
        given += itertools.product(r["verbs"], r.get("apiGroups", []), r.get("resources", []),
                                   r.get("resourceNames") or ["any"])
    ours = {"slinky.slurm.net", "slurmkeeper.dev"}
    return {" ".join(right): True for right in given if not ours & set(right)}


def slim(role):
    meta = role["metadata"]
    kept = {k: role.get(k) for k in ("aggregationRule", "roleRef", "subjects")}
    kept["rights"] = rights(role.get("rules"))
    labels = {k: v for k, v in meta["labels"].items() if not k.startswith("slurmkeeper.dev/")}
    return {**kept, "labels": labels, "annotations": meta["annotations"]}


@pytest.mark.parametrize("resource", ["clusterroles", "clusterrolebindings"])
def test_default_roles_and_bindings_are_the_same(both, resource):
    def listed(api):
        items = api.get(f"{RBAC}/{resource}").ok(200)["items"]
        return {i["metadata"]["name"]: slim(i) for i in items
                if sensible(i) and "kubernetes.io/bootstrapping" in i["metadata"].get("labels", {})}

    real, ours = both.each(listed)
    for name in sorted(set(real) | set(ours)):
        both.compare(name, real.get(name), ours.get(name))


def test_refusals_of_every_resource_and_verb(both, ours, space):
    joe = as_("joe-" + space)
    for at, sub in paths(ours, space):
        end = f"/x/{sub}" if sub else "/x"
        for method in ("GET", "PUT", "PATCH", "DELETE", "POST"):
            both.ask(method, at + end, headers=joe)
        if not sub:
            for method in ("GET", "POST", "DELETE"):
                both.ask(method, at, headers=joe)
            both.ask("GET", at, headers=joe, query={"watch": "true"})
            both.ask("GET", at, headers=joe, query={"fieldSelector": "metadata.name=y"})


@pytest.mark.parametrize("path", [
    "/", "/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/no.such/v1",
    "/api/v1/nothing", "/api/v2/pods", "/apis/apps/v1/nothing/x", "/metrics", "/logs", "/healthz",
    "/healthz/ping", "/livez", "/readyz/etcd", "/openapi/v2", "/openapi/v3", "/version", "/debug/pprof",
    "/version/", "/nowhere", "/api/v1/watch/pods", "/api/v1/namespaces/x/pods/y/proxy/z",
    "/api/v1/watch/namespaces/x/pods/y", "/api/v1/namespaces/x",
    "/api/v1/namespaces/x/status", "/api/v1/namespaces/x/finalize", "/.well-known/openid-configuration",
    "/openid/v1/jwks", "//api", "/api/v1/", "/apis/", "/API",
])
def test_refusals_of_paths(both, path):
    for headers in (as_("joe"), as_("system:anonymous")):
        for method in ("GET", "POST", "DELETE"):
            both.ask(method, path, headers=headers, pick=lambda s: s[2] if s[0] >= 400 else s[0])


@pytest.mark.parametrize("role", ["view", "edit", "admin"])
def test_what_a_default_role_allows(both, ours, space, role):
    verbs = VERBS + ["impersonate", "bind", "escalate", "*", ""]
    for url, resource, _ in served(ours):
        if "slinky" in url or "slurmkeeper" in url:
            continue
        resource, _, sub = resource.partition("/")
        group = "" if url == "/api/v1" else url.split("/")[2]
        for verb in verbs:
            attributes = {"verb": verb, "group": group, "resource": resource, "subresource": sub,
                          "namespace": space}
            both.ask("POST", REVIEWS + "/subjectaccessreviews", {"spec": {
                "user": f"{role}-{space}", "resourceAttributes": attributes}},
                pick=lambda s: (s[0], s[2].get("status")))


@pytest.mark.parametrize("spec", [
    {}, {"resourceAttributes": {}}, {"resourceAttributes": None}, {"nonResourceAttributes": {}},
    {"resourceAttributes": {}, "nonResourceAttributes": {}},
    {"resourceAttributes": {"verb": "get"}}, {"resourceAttributes": {"resource": "pods"}},
    {"resourceAttributes": {"verb": "*", "resource": "*", "group": "*"}},
    {"resourceAttributes": {"verb": "get", "resource": "pods", "version": "v9", "name": "x"}},
    {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "kube-system"}},
    {"resourceAttributes": {"verb": "list", "resource": "pods", "fieldSelector": {
        "rawSelector": "spec.nodeName=a"}}},
    {"resourceAttributes": {"verb": "list", "resource": "pods", "fieldSelector": {
        "requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["a"]}]}}},
    {"resourceAttributes": {"verb": "list", "resource": "pods", "fieldSelector": {
        "rawSelector": "a=b", "requirements": [{"key": "a", "operator": "Exists"}]}}},
    {"resourceAttributes": {"verb": "list", "resource": "pods", "labelSelector": {
        "requirements": [{"key": "a", "operator": "Weird"}]}}},
    {"resourceAttributes": {"verb": "list", "resource": "pods", "labelSelector": {}}},
    {"nonResourceAttributes": {"path": "/healthz", "verb": "get"}},
    {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}},
    {"nonResourceAttributes": {"path": "/healthz"}}, {"nonResourceAttributes": {"verb": "get"}},
    {"user": "x", "groups": ["system:masters"], "resourceAttributes": {"verb": "x", "resource": "y"}},
    {"groups": ["system:masters"], "resourceAttributes": {"verb": "x", "resource": "y"}},
    {"user": "", "groups": [], "resourceAttributes": {"verb": "x", "resource": "y"}},
    {"user": "x", "uid": "7", "extra": {"a": ["b"]}, "resourceAttributes": {"verb": "x"}},
    {"user": "system:serviceaccount:a:b", "resourceAttributes": {"verb": "get", "resource": "pods"}},
    {"user": "x", "groups": ["system:authenticated"], "nonResourceAttributes": {
        "path": "/api", "verb": "get"}},
])
@pytest.mark.parametrize("kind", ["SelfSubjectAccessReview", "SubjectAccessReview",
                                  "LocalSubjectAccessReview"])
def test_access_reviews(both, space, kind, spec):
    at = f"{REVIEWS}/namespaces/{space}" if kind.startswith("Local") else REVIEWS
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
    both.ask("POST", f"{at}/{kind.lower()}s", body)
    both.ask("POST", f"{at}/{kind.lower()}s", body, headers=as_("edit-" + space))
    if kind.startswith("Local") and spec.get("resourceAttributes"):
        inside = {**spec["resourceAttributes"], "namespace": space}
        both.ask("POST", f"{at}/{kind.lower()}s", {
            "metadata": {"namespace": space}, "spec": {**spec, "resourceAttributes": inside}})


@pytest.mark.parametrize("review", ["selfsubjectaccessreviews", "subjectaccessreviews",
                                    "selfsubjectrulesreviews"])
def test_reviews_of_odd_forms(both, review):
    url = f"{REVIEWS}/{review}"
    for method, body in [("GET", None), ("PUT", {}), ("DELETE", None), ("POST", {}),
                         ("POST", {"kind": "Pod", "apiVersion": "v1"}),
                         ("POST", {"spec": {"wrong": 1}}), ("POST", {"metadata": {"name": "x"}})]:
        both.ask(method, url, body)
    both.ask("GET", url + "/x")
    both.ask("POST", url, {"spec": {}}, query={"dryRun": "All"})


@pytest.mark.parametrize("who", ["view", "edit", "admin", "joe", "system:anonymous"])
def test_rules_reviews(both, space, who):
    def rules(answer):
        if answer[0] != 201:
            return answer
        kept = answer[2]["status"]
        for key in ("resourceRules", "nonResourceRules"):
            kept[key] = rights(kept.get(key))
        return answer[0], kept

    user = f"{who}-{space}" if ":" not in who else who
    for ns in (space, "default", "no-such", ""):
        both.ask("POST", REVIEWS + "/selfsubjectrulesreviews", {"spec": {"namespace": ns}},
                 headers=as_(user), pick=rules)


GRANTS = [
    [rule("get", "nodes")], [rule("get delete", "nodes pods")], [rule("*", "*", ["*"])],
    [rule("get", "*", ["*"])], [rule("*", "pods")], [rule("get", "pods", ["*"])],
    [rule("get", "secrets", names="a b")], [rule("get", "nodes", names="a b")],
    [rule("get update", "nodes secrets", names="b a")],
    [rule("update", "*/scale", ["apps"])], [rule("update", "*/*", ["apps"])],
    [rule("get", "nodes/proxy pods/proxy")], [rule("get list", "nodes"), rule("watch", "nodes")],
    [rule("use", "things", ["a.test", "b.test"])], [rule("impersonate", "users groups")],
    [rule("create", "pods"), rule("create", "nodes")], [rule("get", "pods")], [],
    [rule("deletecollection get", "nodes namespaces", ["", "apps"])],
]
URLS = [[{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/metrics", "/api/*"]}],
        [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
        [{"verbs": ["get", "post"], "nonResourceURLs": ["/x"]}]]


@pytest.mark.parametrize("rules", GRANTS, ids=range(len(GRANTS)))
def test_nobody_gives_what_they_do_not_have(both, space, rules):
    admin, at = as_("admin-" + space), f"{RBAC}/namespaces/{space}"
    role = {"metadata": {"name": "new"}, "rules": rules}
    both.ask("POST", at + "/roles", role, headers=admin)
    both.each(lambda api: api.post(at + "/roles", {**role, "metadata": {"name": "there"}}).ok(201))
    both.ask("POST", at + "/rolebindings", binding("b", "there", "x", "Role"), headers=admin)
    empty = {"metadata": {"name": "empty"}, "rules": []}
    both.each(lambda api: api.post(at + "/roles", empty).ok(201))
    both.ask("PATCH", at + "/roles/empty", {"rules": rules}, headers=admin,
             type="application/merge-patch+json")
    both.ask("PUT", at + "/roles/other", {**role, "metadata": {"name": "other"}}, headers=admin)


@pytest.mark.parametrize("rules", GRANTS + URLS, ids=range(len(GRANTS) + len(URLS)))
def test_nobody_gives_what_they_do_not_have_in_the_whole_cluster(both, space, rules):
    user = "giver-" + space
    mine = [rule("*", "clusterroles clusterrolebindings", ["rbac.authorization.k8s.io"]),
            rule("get list", "pods nodes"), rule("get", "configmaps", names="probe")]

    def prepare(api):
        api.post(f"{RBAC}/clusterroles", {"metadata": {"name": user}, "rules": mine}).ok(201)
        api.post(f"{RBAC}/clusterrolebindings", binding(user, user, user)).ok(201)
        api.post(f"{RBAC}/clusterroles", {"metadata": {"name": "t-" + user}, "rules": rules}).ok(201)
        mine[0] = {**mine[0], "verbs": ["create", "update", "get"]}
        api.patch(f"{RBAC}/clusterroles/{user}", {"rules": mine}).ok(200)
        deadline = time.monotonic() + 10
        while not allowed(api, user, ""):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.2)

    both.each(prepare)
    both.ask("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "n-" + user}, "rules": rules},
             headers=as_(user))
    both.ask("POST", f"{RBAC}/clusterrolebindings", binding("n-" + user, "t-" + user, "x"),
             headers=as_(user))
    both.ask("POST", f"{RBAC}/clusterrolebindings", binding("m-" + user, "no-such", "x"),
             headers=as_(user))
    both.ask("POST", f"{RBAC}/clusterroles", {
        "metadata": {"name": "a-" + user}, "rules": rules,
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}},
        headers=as_(user))
    for resource, prefix in itertools.product(("clusterrolebindings", "clusterroles"),
                                              ("", "t-", "n-", "a-", "m-")):
        both.each(lambda api, r=resource, p=prefix: api.delete(f"{RBAC}/{r}/{p}{user}"))


ODD_RULES = [
    [{}], [{"verbs": []}], [{"verbs": ["get"]}], [{"verbs": ["get"], "apiGroups": [""]}],
    [{"verbs": ["get"], "resources": ["pods"]}],
    [{"verbs": ["get"], "nonResourceURLs": ["/x"]}],
    [{"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["pods"], "apiGroups": [""]}],
    [{"verbs": ["get"], "nonResourceURLs": ["x", "/a*b", ""]}],
    [{"verbs": [""], "apiGroups": ["Bad!"], "resources": ["a b", ""]}],
    [{"verbs": ["get", "get"], "apiGroups": ["", ""], "resources": ["pods", "pods"]}],
    [{"verbs": "get"}], "x", [None], None,
]


@pytest.mark.parametrize("rules", ODD_RULES, ids=range(len(ODD_RULES)))
@pytest.mark.parametrize("kind", ["Role", "ClusterRole"])
def test_roles_of_odd_forms(both, space, kind, rules):
    at = f"{RBAC}/namespaces/{space}/roles" if kind == "Role" else f"{RBAC}/clusterroles"
    both.ask("POST", at, {"metadata": {"name": f"odd-{space}"}, "rules": rules},
             query={"dryRun": "All"})
    both.ask("POST", at, {"metadata": {"name": f"odd-{space}"}, "rules": rules,
                          "aggregationRule": {"clusterRoleSelectors": []}}, query={"dryRun": "All"})


REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
USER = {"kind": "User", "name": "x"}
ODD_BINDINGS = [
    (REF, None), (REF, []), ({}, []), (None, [USER]), ({**REF, "kind": "Role"}, [USER]),
    ({**REF, "kind": "Weird"}, []), ({**REF, "apiGroup": "x"}, []), ({**REF, "name": ""}, []),
    ({**REF, "name": "a/b"}, []), ({**REF, "apiGroup": ""}, []), (REF, [{}]), (REF, [{"kind": "User"}]),
    (REF, [{"kind": "Weird", "name": "x"}]), (REF, [{"name": "x"}]), (REF, [USER, USER]),
    (REF, [{**USER, "apiGroup": "x"}]), (REF, [{**USER, "namespace": "y"}]),
    (REF, [{**USER, "kind": "Group"}]), (REF, [{"kind": "ServiceAccount", "name": "x"}]),
    (REF, [{"kind": "ServiceAccount", "name": "x", "namespace": "y"}]),
    (REF, [{"kind": "ServiceAccount", "name": "X!", "namespace": "Y"}]),
    (REF, [{"kind": "ServiceAccount", "name": "x", "namespace": "y", "apiGroup": "z"}]),
]


@pytest.mark.parametrize("ref, subjects", ODD_BINDINGS, ids=range(len(ODD_BINDINGS)))
@pytest.mark.parametrize("kind", ["RoleBinding", "ClusterRoleBinding"])
def test_bindings_of_odd_forms(both, space, kind, ref, subjects):
    whole = kind == "ClusterRoleBinding"
    at = f"{RBAC}/clusterrolebindings" if whole else f"{RBAC}/namespaces/{space}/rolebindings"
    body = {"metadata": {"name": f"odd-{space}"}, "roleRef": ref, "subjects": subjects}
    both.ask("POST", at, body, query={"dryRun": "All"})
    both.each(lambda api: api.post(at, binding("kept-" + space, "view", "y")).ok(201))
    both.ask("PATCH", f"{at}/kept-{space}", {"roleRef": ref, "subjects": subjects},
             type="application/merge-patch+json", query={"dryRun": "All"})
    if whole:
        both.each(lambda api: api.delete(f"{at}/kept-{space}").ok(200))


WHO = [
    {"User": "joe"}, {"User": "joe", "Group": "a"}, {"User": "joe", "Uid": "7"}, {"Uid": "7"},
    {"Group": "a"}, {"Extra-Scopes": "a"}, {"User": ""}, {"User": "", "Group": "a"},
    {"User": "joe", "Group": ""}, {"User": "joe", "Extra-Scopes": "a"}, {"User": "system:anonymous"},
    {"User": "joe", "Extra-acme.com%2fProject": "a"}, {"User": "joe", "Extra-A": ""},
    {"User": "system:anonymous", "Group": "a"}, {"User": "joe", "Group": "system:unauthenticated"},
    {"User": "joe", "Group": "system:authenticated"}, {"User": "system:serviceaccount:a:b"},
    {"User": "system:serviceaccount:a:b", "Group": "c"}, {"User": "system:serviceaccount:a"},
    {"User": "system:serviceaccount:a:"}, {"User": "system:serviceaccount:A!:b"},
    {"User": "system:serviceaccount:a:b:c"}, {"User": "system:node:x"},
    {"User": "system:node:x", "Group": "system:nodes"}, {"User": "joe", "Group": "system:masters"},
    {"User": "system:serviceaccount:a:b", "Extra-Authentication.kubernetes.io%2fnode-name": "n"},
]


@pytest.mark.parametrize("who", WHO, ids=range(len(WHO)))
def test_acting_as_somebody_else(both, space, who):
    headers = {"Impersonate-" + k: v for k, v in who.items()}
    if who == {"User": "system:node:x"}:
        pytest.skip("an administrator's groups depend on what the server has remembered")
    both.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
             {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}, headers=headers)
    both.ask("GET", f"/api/v1/namespaces/{space}/configmaps", headers=headers,
             pick=lambda s: s if s[0] >= 400 else s[0])


def token(api, ns):
    api.post(f"/api/v1/namespaces/{ns}/serviceaccounts", objects.service_account("robot"))
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}
    url = f"/api/v1/namespaces/{ns}/serviceaccounts/robot/token"
    return {"Authorization": "Bearer " + api.post(url, body).ok(201)["status"]["token"]}


def outcome(answer):
    """Who was refused, if anybody; which of the rights that are missing is named differs."""
    status = blank(answer.json)
    message = status.get("message", "")
    if "cannot impersonate" in message:
        return answer.code, message.split(" cannot impersonate")[0].split("User ")[1]
    return answer.code, message, status.get("details")


@pytest.mark.parametrize("rules", [
    [], [rule("impersonate", "users", names="joe")], [rule("impersonate", "users groups")],
    [rule("impersonate", "*")], [rule("impersonate", "users uids userextras/scopes", ["*"])],
    [rule("impersonate", "serviceaccounts")],
    [rule("impersonate:user-info", "users", [AUTH]), rule("impersonate-on:user-info:list", "pods")],
    [rule("impersonate:user-info", "*", [AUTH]), rule("impersonate-on:user-info:list", "*", ["*"])],
    [rule("impersonate:user-info", "users", [AUTH]), rule("impersonate-on:user-info:get", "pods")],
    [rule("impersonate:user-info", "users"), rule("impersonate-on:user-info:list", "pods")],
    [rule("impersonate:serviceaccount", "serviceaccounts", [AUTH], names="b"),
     rule("impersonate-on:serviceaccount:list", "pods")],
    [rule("impersonate:arbitrary-node", "nodes", [AUTH], names="x"),
     rule("impersonate-on:arbitrary-node:list", "pods")],
    [rule("impersonate:user-info", "users groups", [AUTH]), rule("*", "pods")],
    [rule("impersonate", "users"), rule("impersonate", "userextras/a", ["authentication.k8s.io"],
                                        names="")],
], ids=range(14))
def test_who_may_act_as_whom(both, space, rules):
    user = "actor-" + space

    def prepare(api):
        robot = {"kind": "ServiceAccount", "name": "robot", "namespace": space}
        api.post(f"{RBAC}/clusterroles", {"metadata": {"name": user}, "rules": rules}).ok(201)
        api.post(f"{RBAC}/clusterrolebindings",
                 {**binding(user, user, "x"), "subjects": [robot]}).ok(201)
        probe = [rule("get", "configmaps", names="probe")]
        api.post(f"{RBAC}/namespaces/{space}/roles", {"metadata": {"name": "p"}, "rules": probe})
        api.post(f"{RBAC}/namespaces/{space}/rolebindings",
                 {**binding("p", "p", "x", "Role"), "subjects": [robot]}).ok(201)
        deadline = time.monotonic() + 10
        while not allowed(api, f"system:serviceaccount:{space}:robot", space):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return token(api, space)

    tokens = both.each(prepare)
    for who in WHO:
        headers = {"Impersonate-" + k: v for k, v in who.items()}
        answers = []
        for api, authorization in zip((both.real, both.ours), tokens):
            stranger = type(api)(api.config, identity=False)
            answers.append(stranger.get(f"/api/v1/namespaces/{space}/pods",
                                        headers={**headers, **authorization}))
        both.compare(who, *map(outcome, answers))
    for resource in ("clusterroles", "clusterrolebindings"):
        both.each(lambda api, r=resource: api.delete(f"{RBAC}/{r}/{user}").ok(200))
