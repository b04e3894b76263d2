# SPDX-License-Identifier: GPL-2.0-or-later
"""What roles give, and what they do not: RBAC as kube-apiserver has it.

Users are impersonated, so that one administrator can look at the server with their eyes.
"""
import time

import pytest

from lib.client import Api
from lib.objects import configmap, service_account

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"


class User:
    """Requests as somebody else."""

    def __init__(self, config, name, group=None):
        self.api, self.name = Api(config), name
        self.headers = {"Impersonate-User": name}
        if group:
            self.headers["Impersonate-Group"] = group

    def __call__(self, method, path, body=None, **kw):
        return self.api.request(method, path, body, headers=self.headers, **kw)

    def get(self, path, **kw):
        return self("GET", path, **kw)

    def post(self, path, body, **kw):
        return self("POST", path, body, **kw)


def rule(verbs, resources, groups=("",), names=None):
    made = {"verbs": verbs.split(), "apiGroups": list(groups), "resources": resources.split()}
    if names:
        made["resourceNames"] = names.split()
    return made


def role_ref(name, kind="ClusterRole"):
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}


def user_subject(name, kind="User"):
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}


@pytest.fixture
def bin_(api):
    """Objects outside any namespace, removed after the test."""
    made = []
    yield made
    for path in made:
        api.delete(path)


@pytest.fixture
def grant(api, ns):
    """Give a user a role of these rules in the test's namespace."""
    def give(user, *rules, name="given"):
        api.post(f"{RBAC}/namespaces/{ns.name}/roles",
                 {"metadata": {"name": name}, "rules": list(rules)}).ok(201)
        api.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
                 {"metadata": {"name": name}, "roleRef": role_ref(name, "Role"),
                  "subjects": [user_subject(user)]}).ok(201)
    return give


@pytest.fixture
def joe(config, unique):
    return User(config, f"joe-{unique}")


def can(api, user, verb, resource, ns=None, group="", **more):
    """What a SubjectAccessReview says; waits for nothing, so ask until it is so."""
    attributes = {"verb": verb, "resource": resource, "group": group, **more}
    if ns:
        attributes["namespace"] = ns
    body = {"spec": {"user": user, "resourceAttributes": attributes}}
    return api.post(REVIEWS + "/subjectaccessreviews", body).ok(201)["status"]["allowed"]


def wait_until(test):
    """A server may take a moment to learn of a new role."""
    deadline = time.monotonic() + 10
    while not test():
        assert time.monotonic() < deadline, "still not so after 10 s"
        time.sleep(0.02)


def test_who_has_no_role_may_nothing(joe, ns):
    for path, text in [
        (ns.url("pods"), f'pods is forbidden: User "{joe.name}" cannot list resource "pods" in API '
                         f'group "" in the namespace "{ns.name}"'),
        (ns.url("pods", "a"), f'pods "a" is forbidden: User "{joe.name}" cannot get resource "pods" '
                              f'in API group "" in the namespace "{ns.name}"'),
        (ns.url("pods", "a", "log"), f'pods "a" is forbidden: User "{joe.name}" cannot get resource '
                                     f'"pods/log" in API group "" in the namespace "{ns.name}"'),
        ("/api/v1/nodes", f'nodes is forbidden: User "{joe.name}" cannot list resource "nodes" in '
                          'API group "" at the cluster scope'),
        ("/apis/apps/v1/deployments", f'deployments.apps is forbidden: User "{joe.name}" cannot list '
                                      'resource "deployments" in API group "apps" at the cluster '
                                      'scope'),
        ("/metrics", f'forbidden: User "{joe.name}" cannot get path "/metrics"'),
    ]:
        status = joe.get(path).fails(403, "Forbidden", text)
        assert "details" in status


@pytest.mark.parametrize("verb, method, sub, body", [
    ("create", "POST", None, {}), ("update", "PUT", "x", {}), ("patch", "PATCH", "x", {}),
    ("delete", "DELETE", "x", None), ("deletecollection", "DELETE", None, None),
])
def test_each_verb_is_refused_by_its_name(joe, ns, verb, method, sub, body):
    joe(method, ns.url("configmaps", sub), body).fails(403, "Forbidden") \
        ["message"].index(f"cannot {verb} resource")


def test_a_watch_is_a_verb_of_its_own(api, joe, ns, grant):
    grant(joe.name, rule("get list", "configmaps"))
    wait_until(lambda: joe.get(ns.url("configmaps")).code == 200)
    joe.get(ns.url("configmaps"), query={"watch": "true"}).fails(403, "Forbidden")


def test_a_role_gives_what_it_names_and_nothing_else(api, joe, ns, spaces, grant):
    grant(joe.name, rule("get list create", "configmaps"))
    wait_until(lambda: joe.get(ns.url("configmaps")).code == 200)
    joe.post(ns.url("configmaps"), configmap("mine")).ok(201)
    joe("DELETE", ns.url("configmaps", "mine")).fails(403, "Forbidden")
    joe.get(ns.url("secrets")).fails(403, "Forbidden")
    joe.get(spaces().url("configmaps")).fails(403, "Forbidden")
    joe.get("/api/v1/configmaps").fails(403, "Forbidden")


def test_an_apply_that_creates_needs_to_create(api, joe, ns, grant):
    grant(joe.name, rule("get patch update", "configmaps"))
    wait_until(lambda: can(api, joe.name, "patch", "configmaps", ns.name))
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
    answer = joe("PATCH", ns.url("configmaps", "new"), body, type="application/apply-patch+yaml",
                 query={"fieldManager": "me"})
    answer.fails(403, "Forbidden")
    api.get(ns.url("configmaps", "new")).fails(404, "NotFound")


def test_resource_names_open_single_objects(api, joe, ns, grant):
    grant(joe.name, rule("get list watch", "configmaps", names="a"))
    for name in ("a", "b"):
        ns.create("configmaps", configmap(name))
    wait_until(lambda: joe.get(ns.url("configmaps", "a")).code == 200)
    joe.get(ns.url("configmaps", "b")).fails(403, "Forbidden")
    joe.get(ns.url("configmaps")).fails(403, "Forbidden")
    one = joe.get(ns.url("configmaps"), query={"fieldSelector": "metadata.name=a"}).ok(200)
    assert [o["metadata"]["name"] for o in one["items"]] == ["a"]


def test_subresources_are_resources_of_their_own(api, joe, ns, grant):
    grant(joe.name, rule("get", "pods"), rule("update", "*/scale", groups=["*"]))
    wait_until(lambda: can(api, joe.name, "get", "pods", ns.name))
    assert not can(api, joe.name, "get", "pods", ns.name, subresource="log")
    assert can(api, joe.name, "update", "deployments", ns.name, "apps", subresource="scale")
    assert not can(api, joe.name, "update", "deployments", ns.name, "apps")
    assert not can(api, joe.name, "update", "deployments", ns.name, "apps", subresource="status")


def test_who_has_a_role_in_a_namespace_may_be_shown_it(api, joe, ns, grant):
    grant(joe.name, rule("get", "namespaces"))
    wait_until(lambda: joe.get("/api/v1/namespaces/" + ns.name).code == 200)
    joe.get("/api/v1/namespaces/default").fails(403, "Forbidden")


def test_a_group_has_roles_too(api, config, ns, unique):
    api.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
             {"metadata": {"name": "b"}, "roleRef": role_ref("view"),
              "subjects": [user_subject(unique, "Group")]}).ok(201)
    member = User(config, "somebody-" + unique, unique)
    wait_until(lambda: member.get(ns.url("pods")).code == 200)
    User(config, "somebody-" + unique).get(ns.url("pods")).fails(403, "Forbidden")


def test_rights_end_with_their_binding(api, joe, ns, grant):
    grant(joe.name, rule("list", "configmaps"))
    wait_until(lambda: joe.get(ns.url("configmaps")).code == 200)
    api.delete(f"{RBAC}/namespaces/{ns.name}/rolebindings/given").ok(200)
    wait_until(lambda: joe.get(ns.url("configmaps")).code == 403)


def test_a_binding_to_a_missing_role_says_so(api, joe, ns):
    api.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
             {"metadata": {"name": "b"}, "roleRef": role_ref("no-such-role"),
              "subjects": [user_subject(joe.name)]}).ok(201)
    wait_until(lambda: 'clusterrole.rbac.authorization.k8s.io "no-such-role" not found' in
               joe.get(ns.url("pods")).fails(403, "Forbidden")["message"])


# The roles that every server has.

@pytest.mark.parametrize("role, verb, resource, group, want", [
    ("view", "list", "pods", "", True), ("view", "get", "secrets", "", False),
    ("view", "create", "pods", "", False), ("edit", "get", "secrets", "", True),
    ("edit", "create", "deployments", "apps", True), ("edit", "update", "pods/status", "", False),
    ("edit", "create", "roles", "rbac.authorization.k8s.io", False),
    ("edit", "create", "serviceaccounts/token", "", True),
    ("admin", "create", "roles", "rbac.authorization.k8s.io", True),
    ("admin", "list", "pods", "", True), ("admin", "update", "resourcequotas", "", False),
    ("admin", "create", "localsubjectaccessreviews", "authorization.k8s.io", True),
    ("cluster-admin", "update", "resourcequotas", "", True),
])
def test_default_roles(api, joe, ns, role, verb, resource, group, want):
    api.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
             {"metadata": {"name": "b"}, "roleRef": role_ref(role),
              "subjects": [user_subject(joe.name)]}).ok(201)
    resource, _, sub = resource.partition("/")
    wait_until(lambda: can(api, joe.name, "list", "pods", ns.name))
    assert can(api, joe.name, verb, resource, ns.name, group, subresource=sub) is want


@pytest.mark.embedded
@pytest.mark.parametrize("role, verb, want", [("view", "list", True), ("view", "patch", False),
                                              ("edit", "patch", True), ("admin", "delete", True)])
def test_default_roles_know_our_kinds(api, joe, ns, role, verb, want):
    api.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
             {"metadata": {"name": "b"}, "roleRef": role_ref(role),
              "subjects": [user_subject(joe.name)]}).ok(201)
    for group, resource in [("slinky.slurm.net", "nodesets"), ("slurmkeeper.dev", "partitions")]:
        assert can(api, joe.name, verb, resource, ns.name, group) is want


def test_default_roles_are_marked(api):
    for name in ("cluster-admin", "admin", "edit", "view", "system:discovery",
                 "system:basic-user", "system:public-info-viewer"):
        meta = api.get(f"{RBAC}/clusterroles/{name}").ok(200)["metadata"]
        assert meta["labels"]["kubernetes.io/bootstrapping"] == "rbac-defaults"
        assert meta["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] == "true"
    admin = api.get(f"{RBAC}/clusterroles/admin").ok(200)
    assert admin["aggregationRule"]["clusterRoleSelectors"] == [
        {"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}}]


def test_everybody_known_may_discover(joe):
    for path in ("/api", "/apis", "/api/v1", "/openapi/v2", "/version", "/healthz"):
        assert joe.get(path).code == 200, path


# Aggregation.

@pytest.mark.controllers
def test_an_aggregated_role_follows_its_parts(api, joe, ns, unique, bin_):
    label = {f"{unique}/part": "true"}
    sum_, part = f"sum-{unique}", f"part-{unique}"
    bin_ += [f"{RBAC}/clusterroles/{n}" for n in (sum_, part)]
    api.post(f"{RBAC}/clusterroles",
             {"metadata": {"name": sum_}, "rules": [rule("delete", "nodes")],
              "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]}}).ok(201)
    api.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
             {"metadata": {"name": "b"}, "roleRef": role_ref(sum_),
              "subjects": [user_subject(joe.name)]}).ok(201)
    rules = [rule("list", "configmaps")]
    api.post(f"{RBAC}/clusterroles",
             {"metadata": {"name": part, "labels": label}, "rules": rules}).ok(201)
    api.until(f"{RBAC}/clusterroles/{sum_}", lambda a: a.json["rules"] == rules)
    wait_until(lambda: joe.get(ns.url("configmaps")).code == 200)
    api.delete(f"{RBAC}/clusterroles/{part}").ok(200)
    api.until(f"{RBAC}/clusterroles/{sum_}", lambda a: not a.json.get("rules"))
    wait_until(lambda: joe.get(ns.url("configmaps")).code == 403)


@pytest.mark.embedded
def test_roles_that_aggregate_each_other_come_to_rest(api, unique, bin_):
    names = [f"{c}-{unique}" for c in "abc"]
    bin_ += [f"{RBAC}/clusterroles/{n}" for n in names]
    for i, name in enumerate(names):
        after = names[(i + 1) % 3]
        api.post(f"{RBAC}/clusterroles",
                 {"metadata": {"name": name, "labels": {f"{unique}/{name}": "true"}},
                  "rules": [rule("get", f"r{i}")],
                  "aggregationRule": {"clusterRoleSelectors": [
                      {"matchLabels": {f"{unique}/{after}": "true"}}]}}).ok(201)
    for name in names:
        api.until(f"{RBAC}/clusterroles/{name}", lambda a: not a.json.get("rules"))
    versions = [api.get(f"{RBAC}/clusterroles/{n}").ok()["metadata"]["resourceVersion"]
                for n in names]
    api.post("/api/v1/namespaces/default/configmaps", configmap(unique)).ok(201)
    api.delete(f"/api/v1/namespaces/default/configmaps/{unique}")
    assert versions == [api.get(f"{RBAC}/clusterroles/{n}").ok()["metadata"]["resourceVersion"]
                        for n in names]


# Nobody gives what they do not have.

def missing(user, *lines):
    return (f'user "{user}" (groups=["system:authenticated"]) is attempting to grant RBAC '
            "permissions not currently held:\n" + "\n".join(lines))


@pytest.fixture
def admin(api, ns, joe):
    api.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
             {"metadata": {"name": "the-admin"}, "roleRef": role_ref("admin"),
              "subjects": [user_subject(joe.name)]}).ok(201)
    wait_until(lambda: can(api, joe.name, "create", "roles", ns.name, "rbac.authorization.k8s.io"))
    return joe


def test_a_role_of_rights_not_held_is_refused(admin, ns):
    url = f"{RBAC}/namespaces/{ns.name}/roles"
    admin.post(url, {"metadata": {"name": "r"}, "rules": [rule("get list", "pods")]}).ok(201)
    admin.post(url, {"metadata": {"name": "s"}, "rules": [rule("get delete", "nodes")]}).fails(
        403, "Forbidden", 'roles.rbac.authorization.k8s.io "s" is forbidden: ' +
        missing(admin.name,
                '{APIGroups:[""], Resources:["nodes"], Verbs:["get" "delete"]}'))


def test_an_update_may_not_add_rights_not_held(admin, ns):
    url = f"{RBAC}/namespaces/{ns.name}/roles"
    made = admin.post(url, {"metadata": {"name": "r"}, "rules": [rule("get", "pods")]}).ok(201)
    made["rules"].append(rule("*", "*", groups=["*"]))
    admin("PUT", url + "/r", made).fails(
        403, "Forbidden", 'roles.rbac.authorization.k8s.io "r" is forbidden: ' +
        missing(admin.name, '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'))
    for kind, body in [("application/merge-patch+json", {"rules": [rule("get", "nodes")]}),
                       ("application/json-patch+json",
                        [{"op": "add", "path": "/rules/0/verbs/0", "value": "escalate"}])]:
        admin("PATCH", url + "/r", body, type=kind).fails(403, "Forbidden")


def test_a_binding_of_rights_not_held_is_refused(admin, ns):
    url = f"{RBAC}/namespaces/{ns.name}/rolebindings"
    body = {"metadata": {"name": "b"}, "roleRef": role_ref("view"),
            "subjects": [user_subject("jim")]}
    admin.post(url, body).ok(201)
    body = {"metadata": {"name": "c"}, "roleRef": role_ref("cluster-admin"),
            "subjects": [user_subject(admin.name)]}
    admin.post(url, body).fails(
        403, "Forbidden", 'rolebindings.rbac.authorization.k8s.io "c" is forbidden: ' +
        missing(admin.name, '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
                '{NonResourceURLs:["*"], Verbs:["*"]}'))
    body["roleRef"] = role_ref("no-such")
    admin.post(url, body).fails(404, "NotFound")


def test_escalate_and_bind_are_verbs(api, admin, ns, grant):
    grant(admin.name, rule("escalate", "roles", groups=["rbac.authorization.k8s.io"]),
          rule("bind", "clusterroles", groups=["rbac.authorization.k8s.io"], names="cluster-admin"))
    wait_until(lambda: can(api, admin.name, "escalate", "roles", ns.name,
                           "rbac.authorization.k8s.io"))
    admin.post(f"{RBAC}/namespaces/{ns.name}/roles",
               {"metadata": {"name": "r"}, "rules": [rule("get", "nodes")]}).ok(201)
    admin.post(f"{RBAC}/namespaces/{ns.name}/rolebindings",
               {"metadata": {"name": "c"}, "roleRef": role_ref("cluster-admin"),
                "subjects": [user_subject("jim")]}).ok(201)


def test_aggregation_needs_all_rights(api, joe, unique, bin_):
    bin_ += [f"{RBAC}/clusterrolebindings/{unique}", f"{RBAC}/clusterroles/{unique}"]
    api.post(f"{RBAC}/clusterroles",
             {"metadata": {"name": unique},
              "rules": [rule("create", "clusterroles", groups=["rbac.authorization.k8s.io"])]}).ok()
    api.post(f"{RBAC}/clusterrolebindings",
             {"metadata": {"name": unique}, "roleRef": role_ref(unique),
              "subjects": [user_subject(joe.name)]}).ok(201)
    wait_until(lambda: can(api, joe.name, "create", "clusterroles", None,
                           "rbac.authorization.k8s.io"))
    joe.post(f"{RBAC}/clusterroles",
             {"metadata": {"name": "all-" + unique}, "rules": [],
              "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}).fails(
        403, "Forbidden", f'clusterroles.rbac.authorization.k8s.io "all-{unique}" is forbidden: must '
        "have cluster-admin privileges to use the aggregationRule")


@pytest.mark.embedded
def test_rules_of_too_many_combinations_are_refused(admin, ns):
    words = [f"w{i}" for i in range(400)]
    admin.post(f"{RBAC}/namespaces/{ns.name}/roles",
               {"metadata": {"name": "r"}, "rules": [{"verbs": words, "apiGroups": words,
                                                      "resources": words}]}).fails(403, "Forbidden")


# Acting as somebody else.

def test_impersonation_needs_a_right(config, joe, ns):
    nested = User(config, joe.name)
    nested.get(ns.url("pods")).fails(403, "Forbidden")
    token_user = joe.get("/api/v1/nodes").fails(403, "Forbidden")
    assert joe.name in token_user["message"]


def test_who_may_impersonate_one_may_not_another(api, config, ns, unique, bin_):
    ns.create("serviceaccounts", service_account("robot"))
    token = api.post(ns.url("serviceaccounts", "robot", "token"),
                     {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
                      "spec": {}}).ok()["status"]["token"]
    bin_ += [f"{RBAC}/clusterrolebindings/{unique}", f"{RBAC}/clusterroles/{unique}"]
    api.post(f"{RBAC}/clusterroles",
             {"metadata": {"name": unique},
              "rules": [rule("impersonate", "users", names="alice"),
                        rule("impersonate", "groups", names="staff"),
                        rule("impersonate", "userextras/scopes", groups=["authentication.k8s.io"],
                             names="view")]}).ok(201)
    api.post(f"{RBAC}/clusterrolebindings",
             {"metadata": {"name": unique}, "roleRef": role_ref(unique),
              "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": ns.name}]}).ok()
    robot, me = Api(config, token=token), f"system:serviceaccount:{ns.name}:robot"
    wait_until(lambda: can(api, me, "impersonate", "users", name="alice"))

    def as_(**headers):
        headers = {"Impersonate-" + k.replace("_", "-"): v for k, v in headers.items()}
        return robot.get(ns.url("pods"), headers=headers)

    as_(User="alice").fails(403, "Forbidden", f'pods is forbidden: User "alice" cannot list resource '
                            f'"pods" in API group "" in the namespace "{ns.name}"')
    assert 'User "alice" cannot list' in as_(User="alice", Group="staff").json["message"]
    assert 'User "alice" cannot list' in as_(User="alice", Extra_Scopes="view").json["message"]
    as_(User="bob").fails(403, "Forbidden", f'users "bob" is forbidden: User "{me}" cannot '
                          'impersonate resource "users" in API group "" at the cluster scope')
    as_(User="alice", Group="system:masters").fails(
        403, "Forbidden", f'groups "system:masters" is forbidden: User "{me}" cannot impersonate '
        'resource "groups" in API group "" at the cluster scope')
    as_(User="alice", Extra_Scopes="admin").fails(403, "Forbidden")
    as_(User=f"system:serviceaccount:{ns.name}:other").fails(
        403, "Forbidden", f'serviceaccounts "other" is forbidden: User "{me}" cannot impersonate '
        f'resource "serviceaccounts" in API group "" in the namespace "{ns.name}"')


def test_acting_as_others_may_be_limited_to_some_requests(api, config, ns, unique, bin_, minor,
                                                          embedded):
    if minor < 36 and not embedded:
        pytest.skip("needs 1.36: constrained impersonation")
    ns.create("serviceaccounts", service_account("robot"))
    token = api.post(ns.url("serviceaccounts", "robot", "token"), {"spec": {}}).ok(201)
    robot = Api(config, token=token["status"]["token"])
    identity = ["authentication.k8s.io"]
    bin_ += [f"{RBAC}/clusterrolebindings/{unique}", f"{RBAC}/clusterroles/{unique}"]
    api.post(f"{RBAC}/clusterroles", {"metadata": {"name": unique}, "rules": [
        rule("impersonate:user-info", "users", identity, names="alice system:node:n"),
        rule("impersonate:arbitrary-node", "nodes", identity, names="n"),
        rule("impersonate:serviceaccount", "serviceaccounts", identity, names="other"),
        rule("impersonate-on:user-info:list impersonate-on:arbitrary-node:list "
             "impersonate-on:serviceaccount:get", "pods")]}).ok(201)
    api.post(f"{RBAC}/clusterrolebindings", {
        "metadata": {"name": unique}, "roleRef": role_ref(unique),
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": ns.name}]}).ok(201)
    me = f"system:serviceaccount:{ns.name}:robot"
    wait_until(lambda: can(api, me, "impersonate-on:user-info:list", "pods"))

    def refused(user, resource="pods", name=None, **more):
        headers = {"Impersonate-User": user, **more}
        message = robot.get(ns.url(resource, name), headers=headers).fails(403, "Forbidden")
        return message["message"].split('User "')[1].split('"')[0]

    other = f"system:serviceaccount:{ns.name}:other"
    assert refused("alice") == "alice" and refused("system:node:n") == "system:node:n"
    assert refused("alice", "secrets") == me and refused("alice", name="p") == me
    assert refused("bob") == me and refused("system:node:m") == me
    assert refused(other) == me and refused(other, name="p") == other
    assert refused("alice", **{"Impersonate-Group": "staff"}) == me
    assert refused("alice", **{"Impersonate-Group": "system:masters"}) == me


def test_groups_without_a_user_are_an_error(api, ns):
    answer = api.get(ns.url("pods"), headers={"Impersonate-Group": "staff"})
    assert answer.code in (400, 500)  # 400 since 1.36


@pytest.mark.since(28, "authentication.k8s.io/v1 has it")
@pytest.mark.parametrize("headers, groups", [
    ({"User": "a"}, ["system:authenticated"]),
    ({"User": "a", "Group": "g"}, ["g", "system:authenticated"]),
    ({"User": "system:anonymous"}, ["system:unauthenticated"]),
    ({"User": "system:serviceaccount:n:s"},
     ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"]),
    ({"User": "system:serviceaccount:N!:s"}, ["system:authenticated"]),
])
def test_the_groups_of_the_impersonated(api, headers, groups):
    body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    headers = {"Impersonate-" + k: v for k, v in headers.items()}
    answer = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", body, headers=headers)
    if headers["Impersonate-User"] == "system:anonymous":
        answer.fails(403, "Forbidden")
        return
    info = answer.ok(201)["status"]["userInfo"]
    assert info["username"] == headers["Impersonate-User"]
    assert info["groups"] == groups


# Reviews.

def test_an_access_review_names_the_binding(api, joe, ns, grant):
    grant(joe.name, rule("list", "configmaps"))
    wait_until(lambda: can(api, joe.name, "list", "configmaps", ns.name))
    body = {"spec": {"user": joe.name, "resourceAttributes":
                     {"verb": "list", "resource": "configmaps", "namespace": ns.name}}}
    status = api.post(REVIEWS + "/subjectaccessreviews", body).ok(201)["status"]
    assert status["reason"] == (f'RBAC: allowed by RoleBinding "given/{ns.name}" of Role "given" to '
                                f'User "{joe.name}"')
    body["spec"]["resourceAttributes"]["verb"] = "delete"
    assert not api.post(REVIEWS + "/subjectaccessreviews", body).ok(201)["status"]["allowed"]


def test_an_access_review_needs_a_subject(api):
    body = {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}}
    api.post(REVIEWS + "/subjectaccessreviews", body).fails(422, "Invalid")


def test_a_local_review_is_about_its_namespace(api, joe, ns):
    url = f"{REVIEWS}/namespaces/{ns.name}/localsubjectaccessreviews"
    spec = {"user": joe.name, "resourceAttributes": {"verb": "list", "resource": "pods",
                                                     "namespace": ns.name}}
    assert not api.post(url, {"metadata": {"namespace": ns.name}, "spec": spec}).ok(201) \
        ["status"]["allowed"]
    spec["resourceAttributes"]["namespace"] = "default"
    api.post(url, {"metadata": {"namespace": ns.name}, "spec": spec}).fails(422, "Invalid")


def test_who_has_no_role_may_ask_about_themselves_alone(joe):
    own = {"spec": {"resourceAttributes": {"verb": "list", "resource": "pods"}}}
    assert not joe.post(REVIEWS + "/selfsubjectaccessreviews", own).ok(201)["status"]["allowed"]
    joe.post(REVIEWS + "/subjectaccessreviews",
             {"spec": {"user": "x", **own["spec"]}}).fails(403, "Forbidden")


def test_a_rules_review_lists_what_one_may(api, joe, ns, grant):
    given = rule("list", "configmaps", names="a")
    grant(joe.name, given)
    wait_until(lambda: can(api, joe.name, "list", "configmaps", ns.name, name="a"))
    status = joe.post(REVIEWS + "/selfsubjectrulesreviews",
                      {"spec": {"namespace": ns.name}}).ok(201)["status"]
    assert given in status["resourceRules"]
    assert any("/healthz" in r["nonResourceURLs"] for r in status["nonResourceRules"])
    joe.post(REVIEWS + "/selfsubjectrulesreviews", {"spec": {}}).fails(400, "BadRequest")


def test_kubectl_asks_and_is_told(kubectl, api, joe, ns, grant):
    grant(joe.name, rule("list", "configmaps"))
    wait_until(lambda: can(api, joe.name, "list", "configmaps", ns.name))
    assert kubectl("auth", "can-i", "list", "configmaps", "--as", joe.name).out == "yes\n"
    assert kubectl.fails("auth", "can-i", "list", "secrets", "--as", joe.name).out == "no\n"
    assert "configmaps" in kubectl("auth", "can-i", "--list", "--as", joe.name).out
    assert "Forbidden" in kubectl.fails("get", "secrets", "--as", joe.name).err
    kubectl("get", "configmaps", "--as", joe.name)
    groups = kubectl.fails("get", "nodes", "--as", "a", "--as-group", "b", "--as-group", "c")
    assert 'User "a" cannot list' in groups.err
