# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies of every shape to every verb: each is answered, none ends the server.

A scalar where an object is expected, an object where a list is, nothing at all: whoever has any
credentials can send such bodies.  A refusal is a Status with a 4xx code.  Some shapes are valid for
some verbs (an empty patch changes nothing), so a case only says what must never happen: no answer,
or a fault of the server's (5xx).
"""
import http.client
import itertools
import json
import os
import pathlib

import pytest
import yaml

from lib import objects
from lib.client import PATCH_TYPES

TOP = pathlib.Path(__file__).resolve().parents[2]
DEEP = "[" * 400 + "]" * 400
DEEPER = '{"a":' * 600 + "1" + "}" * 600
BODIES = {
    "empty": b"", "blank": b" \n", "null": b"null", "true": b"true", "number": b"3",
    "negative": b"-1e400", "string": b'"x"', "array": b"[]", "nulls": b"[null]", "object": b"{}",
    "objects": b"[{}]", "yaml": b"---", "yaml-list": b"- a\n- b\n", "yaml-alias": b"a: &a [*a]\n",
    "cut": b'{"metadata":', "two": b"{}{}", "nul": b'{"a\\u0000b":"\\u0000"}', "bytes": b"\xff\xfe",
    "deep": DEEP.encode(), "deeper": DEEPER.encode(),
    "long-key": json.dumps({"k" * 100000: "v"}).encode(),
    "many-keys": json.dumps({f"k{i}": i for i in range(5000)}).encode(),
    "doubled": b'{"metadata":{},"metadata":{"name":"a","name":"b"},"kind":"x","kind":3}',
}
WRONG = [None, True, 7, "x", [], [None], {}, {"a": None}, {"a": {"a": [{}]}}]
PLACES = ["kind", "apiVersion", "metadata", "spec", "status", "data", "metadata.name",
          "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.finalizers",
          "metadata.ownerReferences", "metadata.managedFields", "metadata.uid",
          "metadata.resourceVersion", "metadata.deletionTimestamp", "spec.replicas",
          "spec.template", "spec.template.spec", "spec.template.metadata", "spec.selector",
          "spec.containers", "spec.ports", "spec.volumes", "spec.strategy", "status.conditions"]
KINDS = {
    "configmaps": lambda n: objects.configmap(n, {"a": "b"}),
    "secrets": lambda n: objects.secret(n, stringData={"a": "b"}),
    "pods": objects.pod,
    "services": objects.service,
    "deployments": objects.deployment,
    "statefulsets": objects.statefulset,
    "jobs": objects.job,
    "leases": objects.lease,
    "roles": lambda n: {"metadata": {"name": n}, "rules": []},
}
PATCHES = ["json", "merge", "strategic", "apply"]


# What kube-apiserver itself calls a fault of the server's.
KNOWN_500 = [b"resourceVersion should not be set on objects to be created",
             b"Object 'Kind' is missing in the applied configuration",
             b"failed to create typed patch object", b"strconv.ParseUint: parsing",
             b"list element types are not identical", b"failed to convert new object"]
EMBEDDED = os.environ.get("API_EMBEDDED") == "1"


def ask(api, *args, **kw):
    """Send it.  kube-apiserver ends the connection at some bodies; our server answers them all."""
    try:
        return api.request(*args, **kw)
    except http.client.RemoteDisconnected:
        assert not EMBEDDED, args
        return None


def alive(api, answer):
    """It answered, with no fault of its own, and a refusal is a Status."""
    if answer is None:
        assert api.get("/readyz").code == 200
        return
    known = answer.code == 500 and any(text in answer.body for text in KNOWN_500)
    assert 200 <= answer.code <= 499 or known, repr(answer)
    if answer.code >= 400 and "json" in answer.type:
        assert answer.json["kind"] == "Status" and answer.json["message"], repr(answer)
    assert api.get("/readyz").code == 200


def changed(obj, path, value):
    """A copy in which one place holds another value."""
    obj = json.loads(json.dumps(obj))
    at = obj
    *way, last = path.split(".")
    for key in way:
        at = at.setdefault(key, {})
        if not isinstance(at, dict):
            return None
    at[last] = value
    return obj


def verbs(url, name):
    """Every way to send a body: verb, path, content type, query."""
    kinds = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]
    for type_ in kinds:
        yield "POST", url, type_, {}
        yield "PUT", f"{url}/{name}", type_, {}
        yield "DELETE", f"{url}/absent", type_, {}
        yield "DELETE", url, type_, {"labelSelector": "a=none"}
    for form in PATCHES:
        query = {"fieldManager": "shape"} if form == "apply" else {}
        yield "PATCH", f"{url}/{name}", form, query
        yield "PATCH", f"{url}/{name}-new", form, query


def send(api, verb, path, type_, query, body):
    return ask(api, verb, path, body, type=PATCH_TYPES.get(type_, type_), query=query)


@pytest.mark.parametrize("shape", BODIES)
@pytest.mark.parametrize("resource", ["configmaps", "pods", "statefulsets"])
def test_a_body_of_any_shape_is_answered(api, ns, resource, shape):
    ns.create(resource, KINDS[resource]("kept"))
    for verb, path, type_, query in verbs(ns.url(resource), "kept"):
        alive(api, send(api, verb, path, type_, query, BODIES[shape]))


@pytest.mark.parametrize("shape", BODIES)
def test_a_body_of_any_shape_is_answered_for_custom_kinds(api, ns, widgets, shape):
    url = widgets.at(ns.name)
    for verb, path, type_, query in verbs(url, "kept"):
        if type_ != "strategic":
            alive(api, send(api, verb, path, type_, query, BODIES[shape]))


@pytest.mark.parametrize("shape", ["empty", "null", "number", "string", "array", "yaml"])
def test_apply_refuses_what_is_no_object(api, ns, shape):
    answer = api.patch(ns.url("configmaps", "a"), BODIES[shape], "apply", query={
        "fieldManager": "shape"})
    assert answer.code == 400, repr(answer)


@pytest.mark.parametrize("form", ["merge", "strategic"])
@pytest.mark.parametrize("shape", ["number", "string", "true", "array"])
def test_a_patch_that_is_no_object_is_refused(api, ns, form, shape):
    ns.create("configmaps", objects.configmap("kept"))
    answer = api.patch(ns.url("configmaps", "kept"), BODIES[shape], form)
    assert answer.code == 400, repr(answer)


@pytest.mark.parametrize("resource", KINDS)
def test_wrong_types_inside_an_object_are_answered(api, ns, resource):
    ns.create(resource, KINDS[resource]("kept"))
    stored = ns.get(resource, "kept")
    for path, value in itertools.product(PLACES, WRONG):
        new = changed(KINDS[resource]("new"), path, value)
        if new is not None:
            alive(api, api.post(ns.url(resource), new, query={"dryRun": "All"}))
        old = changed(stored, path, value)
        if old is not None:
            alive(api, api.put(ns.url(resource, "kept"), old, query={"dryRun": "All"}))


@pytest.mark.parametrize("form", ["merge", "strategic", "apply"])
@pytest.mark.parametrize("resource", ["configmaps", "pods", "deployments"])
def test_wrong_types_inside_a_patch_are_answered(api, ns, resource, form):
    whole = KINDS[resource]("kept")
    ns.create(resource, whole)
    query = {"dryRun": "All"}
    if form == "apply":
        query.update(fieldManager="shape", force="true")
    for path, value in itertools.product(PLACES, WRONG):
        body = changed(whole if form == "apply" else {}, path, value)
        if body is None:
            continue
        alive(api, api.patch(ns.url(resource, "kept"), json.dumps(body).encode(), form,
                             query=query))


OPERATIONS = [
    {"op": op, "path": path, "from": path, "value": value}
    for op in ("add", "remove", "replace", "move", "copy", "test", "", None, 3)
    for path in ("", "/", "/metadata", "/metadata/labels/-", "/data/a/b/c", "/metadata/name", "x",
                 None, 3)
    for value in (None, 3, "x", [], {})
]


def test_json_patches_of_any_shape_are_answered(api, ns):
    ns.create("configmaps", objects.configmap("kept", {"a": "b"}))
    url = ns.url("configmaps", "kept")
    for op in OPERATIONS:
        slim = {k: v for k, v in op.items() if v is not None}
        for body in ([op], [slim]):
            alive(api, send(api, "PATCH", url, "json", {"dryRun": "All"},
                            json.dumps(body).encode()))


SUBS = [("POST", "pods", "kept", "eviction"), ("POST", "pods", "kept", "binding"),
        ("PUT", "pods", "kept", "status"), ("PATCH", "pods", "kept", "status"),
        ("PUT", "deployments", "kept", "scale"), ("PATCH", "deployments", "kept", "scale"),
        ("PUT", "deployments", "kept", "status"), ("PATCH", "deployments", "kept", "status"),
        ("POST", "serviceaccounts", "default", "token")]


@pytest.mark.parametrize("verb,resource,name,sub", SUBS, ids=[f"{v}-{r}-{s}" for v, r, n, s in SUBS])
def test_subresources_answer_every_shape(api, ns, verb, resource, name, sub):
    if name == "kept":
        ns.create(resource, KINDS[resource]("kept"))
    else:
        api.until(ns.url(resource, name), lambda a: a.code == 200)
    url = ns.url(resource, name, sub)
    inside = [json.dumps(changed({}, p, v)).encode() for p, v in itertools.product(PLACES, WRONG)]
    for body in [*BODIES.values(), *inside]:
        for form in PATCHES if verb == "PATCH" else ["application/json"]:
            query = {"fieldManager": "shape", "force": "true"} if form == "apply" else {}
            alive(api, send(api, verb, url, form, query, body))


REVIEWS = ["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
           "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
           "/apis/authorization.k8s.io/v1/subjectaccessreviews",
           "/apis/authentication.k8s.io/v1/tokenreviews"]
REVIEW_PLACES = ["spec", "status", "metadata", "spec.resourceAttributes", "spec.token", "spec.user",
                 "spec.groups", "spec.extra", "spec.nonResourceAttributes", "spec.audiences",
                 "spec.namespace", "spec.resourceAttributes.verb", "spec.uid"]


@pytest.mark.parametrize("url", REVIEWS, ids=[u.split("/")[-1] for u in REVIEWS])
def test_reviews_answer_every_shape(api, url):
    inside = [json.dumps(changed({}, p, v)).encode()
              for p, v in itertools.product(REVIEW_PLACES, WRONG)]
    for body in [*BODIES.values(), *inside]:
        alive(api, api.request("POST", url, body=body))


OPTION_PLACES = ["kind", "apiVersion", "preconditions", "preconditions.uid", "propagationPolicy",
                 "orphanDependents", "gracePeriodSeconds", "dryRun"]


def test_delete_options_of_any_shape_are_answered(api, ns):
    ns.create("configmaps", objects.configmap("kept"))
    for path, value in itertools.product(OPTION_PLACES, WRONG):
        body = json.dumps(changed({}, path, value)).encode()
        for url in (ns.url("configmaps", "kept"), ns.url("configmaps")):
            alive(api, api.request("DELETE", url, body=body, query={"dryRun": "All"}))


def definition(unique):
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"shapes.{unique}.test"},
        "spec": {"group": f"{unique}.test", "scope": "Namespaced",
                 "names": {"plural": "shapes", "kind": "Shape"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
                     "openAPIV3Schema": {"type": "object"}}}]}}


CRD_PLACES = ["spec", "spec.group", "spec.scope", "spec.names", "spec.names.plural",
              "spec.names.kind", "spec.names.shortNames", "spec.versions", "spec.conversion",
              "spec.preserveUnknownFields", "metadata.annotations"]
SCHEMA_PLACES = ["type", "properties", "properties.spec", "items", "required", "enum", "default",
                 "additionalProperties", "x-kubernetes-validations", "pattern", "maximum",
                 "x-kubernetes-preserve-unknown-fields", "x-kubernetes-list-type", "not", "allOf",
                 "x-kubernetes-list-map-keys", "format", "nullable", "description"]
VERSION_PLACES = ["subresources", "subresources.scale", "subresources.status", "schema",
                  "additionalPrinterColumns", "name", "served", "storage"]


OURS = {
    "controllers": {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "Controller",
                    "metadata": {"name": "a"}, "spec": {}},
    "nodesets": {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet",
                 "metadata": {"name": "a"}, "spec": {"controllerRef": {"name": "a"}}},
    "partitions": {"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition",
                   "metadata": {"name": "a"}, "spec": {"controllerRef": {"name": "a"}}},
}
OUR_PLACES = ["metadata", "metadata.labels", "metadata.annotations", "spec", "spec.controllerRef",
              "spec.controllerRef.name", "spec.replicas", "spec.extraConf", "spec.partition",
              "spec.partition.config", "spec.template", "spec.template.spec", "spec.slurmd",
              "spec.slurmd.resources", "spec.nodeSetRefs", "spec.nodes", "spec.maxTime",
              "spec.configFileRefs", "spec.prologScriptRefs", "spec.persistence", "spec.service",
              "spec.ssh", "spec.updateStrategy", "spec.volumeClaimTemplates", "status"]


@pytest.mark.embedded
@pytest.mark.parametrize("resource", OURS)
def test_our_own_kinds_answer_every_shape(api, ns, resource):
    whole = OURS[resource]
    group = whole["apiVersion"]
    crd = yaml.safe_load((TOP / f"deploy/crds/{group.split('/')[0]}_{resource}.yaml").read_text())
    made = api.post(objects.CRDS, crd)
    assert made.code in (201, 409), repr(made)
    url = f"/apis/{group}/namespaces/{ns.name}/{resource}"
    api.until(url, lambda a: a.code == 200)
    for path, value in itertools.product(OUR_PLACES, WRONG):
        body = changed(whole, path, value)
        alive(api, api.post(url, body, query={"dryRun": "All"}))
        alive(api, api.patch(f"{url}/a", json.dumps(body).encode(), "apply",
                             query={"dryRun": "All", "fieldManager": "shape"}))
    for verb, path, type_, query in verbs(url, "a"):
        for body in BODIES.values():
            if type_ != "strategic":
                alive(api, send(api, verb, path, type_, query, body))
    if made.code == 201:
        api.delete(f"{objects.CRDS}/{crd['metadata']['name']}")


def test_definitions_of_any_shape_are_answered(api, unique):
    whole = definition(unique)
    bodies = [changed(whole, p, v) for p, v in itertools.product(CRD_PLACES, WRONG)]
    for where, places in ((None, VERSION_PLACES), ("openAPIV3Schema", SCHEMA_PLACES)):
        for path, value in itertools.product(places, WRONG):
            new = definition(unique)
            version = new["spec"]["versions"][0]
            if where is None:
                new["spec"]["versions"][0] = changed(version, path, value)
            else:
                version["schema"][where] = changed(version["schema"][where], path, value)
            bodies.append(new)
    for body in filter(None, bodies):
        alive(api, api.post(objects.CRDS, body, query={"dryRun": "All"}))
