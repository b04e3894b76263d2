# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad objects on the embedded server beside a real one: what is wrong must be told in the same words.

Everything is a dry run, but for the definition of one custom kind.
"""
import time

import pytest

from lib import objects

CORE, APPS = "/api/v1/namespaces/default/", "/apis/apps/v1/namespaces/default/"
DRY = {"dryRun": "All"}


def workload(**spec):
    return {"metadata": {"name": "w"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
        **spec}}


def pod(**spec):
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "x"}], **spec}}


def container(**more):
    return {"containers": [{"name": "c", "image": "x", **more}]}


SELECTORS = [{"selector": None}, {"selector": {}}, {"selector": {"matchLabels": {"c": "d"}}},
             {"selector": {"matchExpressions": [{"key": "a", "operator": "Foo"}]}}]
STRATEGIES = [{"strategy": {"type": "X"}}, {"updateStrategy": {"type": "X"}},
              {"strategy": {"rollingUpdate": {"maxUnavailable": "110%", "maxSurge": -1}}},
              {"strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}},
              {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 2}}},
              {"replicas": -1}, {"minReadySeconds": -1}]


@pytest.mark.parametrize("spec", SELECTORS + STRATEGIES, ids=str)
@pytest.mark.parametrize("resource", ["deployments", "daemonsets", "statefulsets", "replicasets"])
def test_workloads(both, resource, spec):
    both.ask("POST", APPS + resource, workload(**spec), query=DRY, pick=refusal)


def refusal(answer):
    """A refusal as it stands; of a success, that it is one."""
    return answer if answer[0] >= 400 else answer[:2]


@pytest.mark.parametrize("spec", [
    {"clusterIPs": ["1.2.3.4"], "clusterIP": "1.2.3.4"}, {"clusterIPs": ["10.96.0.9"]},
    {"clusterIP": "x"}, {"ports": [{"port": 0}]}, {"ports": [{"port": 80, "targetPort": "BAD_"}]},
    {"clusterIPs": ["None", "10.96.3.4"], "clusterIP": "None"}, {"type": "X"}, {"ports": []},
    {"ports": [{"port": 80}, {"port": 81}]}, {"ports": [{"port": 80, "name": "A"}]},
    {"ports": [{"port": 80, "protocol": "X"}]}, {"sessionAffinity": "X"},
    {"type": "ExternalName"}, {"type": "ExternalName", "externalName": "A_"},
    {"ports": [{"port": 80, "nodePort": 30000}]}, {"type": "NodePort", "clusterIP": "None"},
], ids=str)
def test_services(both, spec):
    both.ask("POST", CORE + "services", {"metadata": {"name": "s"}, "spec": {
        "ports": [{"port": 80}], **spec}}, query=DRY, pick=refusal)


@pytest.mark.parametrize("spec", [
    {"dnsConfig": {"nameservers": ["x", "1.1.1.1", "1.1.1.2", "1.1.1.3"]}}, {"dnsPolicy": "None"},
    {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "a", "whenUnsatisfiable": "X"}]},
    {"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 0, "podAffinityTerm": {"topologyKey": "a"}}]}}},
    {"activeDeadlineSeconds": 0}, {"restartPolicy": "X"}, {"volumes": [{"name": "a"}]},
    {"volumes": [{"name": "A", "emptyDir": {}}]}, {"hostAliases": [{"ip": "x"}]},
    {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]},
    {"containers": []}, container(name="C"), container(image=""), container(ports=[{"containerPort": 0}]),
    container(livenessProbe={"httpGet": {"port": "bad_"}}), container(imagePullPolicy="X"),
    container(resources={"limits": {"cpu": "-1"}}), container(env=[{"name": ""}]),
    container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
    container(resources={"limits": {"a b": "1"}}), container(volumeMounts=[{"name": "x", "mountPath": "/a"}]),
    {"securityContext": {"sysctls": [{"name": "a", "value": "1"}, {"name": "a", "value": "1"}]}},
    {"terminationGracePeriodSeconds": -1}, {"nodeName": "A_"}, {"hostname": "A"}, {"priority": 5},
    {"tolerations": [{"operator": "Equal"}]}, {"serviceAccountName": "none"}, {"schedulerName": "X!"},
    {"nodeSelector": {"a b": "c"}}, {"readinessGates": [{"conditionType": "a b"}]},
    {"enableServiceLinks": "x"}, {"containers": "x"}, {"unknown": 1},
], ids=str)
def test_pods(both, spec):
    both.ask("POST", CORE + "pods", pod(**spec), query=DRY, pick=refusal)


@pytest.mark.parametrize("name", ["a.b", "A", "a_b", "-a", "a" * 64, "a" * 254, "", "1a", "a..b", "ä"])
def test_names(both, name):
    for url, body in [("/api/v1/namespaces", {}), (CORE + "services", {"spec": {"ports": [{"port": 80}]}}),
                      (CORE + "pods", pod()), (CORE + "configmaps", {}), (CORE + "secrets", {}),
                      (CORE + "serviceaccounts", {})]:
        both.ask("POST", url, {**body, "metadata": {"name": name}}, query=DRY, pick=refusal)


@pytest.mark.parametrize("meta", [
    {"labels": {"a b": "c"}}, {"labels": {"a": "b c"}}, {"labels": {"a": "x" * 64}},
    {"labels": {"x" * 64: "a"}}, {"annotations": {"A!": "b"}}, {"annotations": {"a": "x" * 300000}},
    {"finalizers": ["a"]}, {"finalizers": ["orphan", "foregroundDeletion"]}, {"generateName": "A"},
    {"ownerReferences": [{}]}, {"namespace": "other"}, {"labels": {"a": 5}}, {"labels": []},
    {"uid": "x"}, {"unknown": 1}, {"deletionTimestamp": "x"}, {"creationTimestamp": "x"},
], ids=lambda m: str(m)[:50])
def test_metadata(both, meta):
    both.ask("POST", CORE + "configmaps", {"metadata": {"name": "c", **meta}}, query=DRY, pick=refusal)


SCHEMA = {"type": "object", "properties": {
    "e": {"type": "string", "enum": ["a"], "nullable": True}, "i": {"type": "integer", "maximum": 3},
    "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
          "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
    "n": {"type": "number", "maximum": 0.5}, "p": {"type": "string", "pattern": "^a+$", "maxLength": 3},
    "s": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "o": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}},
    "a": {"type": "array", "maxItems": 1, "items": {"type": "string"}},
    "d": {"type": "string", "format": "date-time"}, "b": {"type": "string", "format": "byte"},
    "x": {"type": "object", "x-kubernetes-embedded-resource": True,
          "x-kubernetes-preserve-unknown-fields": True},
    "w": {"x-kubernetes-int-or-string": True},
    "c": {"type": "object", "properties": {"q": {"type": "integer"}, "r": {"type": "string"}},
          "x-kubernetes-validations": [
              {"rule": "self.q > 3", "message": "too small"},
              {"rule": "!has(self.r) || self.r.startsWith('a')", "fieldPath": ".r",
               "reason": "FieldValueForbidden", "messageExpression": "'not ' + self.r"}]},
    "v": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 5"}]},
}}


@pytest.fixture(scope="module")
def probes(api, ours):
    """The same custom kind on both servers."""
    name = f"probes.p{int(time.time())}.test"
    group = name.partition(".")[2]
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name}, "spec": {
                "group": group, "scope": "Namespaced", "names": {"plural": "probes", "kind": "Probe"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"spec": SCHEMA}}}}]}}
    url = f"/apis/{group}/v1/namespaces/default/probes"
    for server in (api, ours):
        server.post(objects.CRDS, body).ok(201)
        server.until(url, lambda a: a.code == 200)
    yield url, group
    for server in (api, ours):
        server.delete(f"{objects.CRDS}/{name}")


@pytest.mark.parametrize("spec", [
    {"e": None}, {"e": "b"}, {"e": 5}, {"i": 5}, {"i": "x"}, {"i": None}, {"n": 0.75},
    {"n": 1e30}, {"l": [{"name": "a"}, {"name": "a"}]}, {"l": ["x"]}, {"l": [None]}, {"l": [{}]},
    {"s": ["a", "a"]}, {"o": {"a": "b", "c": "d"}}, {"o": {"a": 5}}, {"a": ["b", "c"]}, {"a": "b"},
    {"x": {"apiVersion": "v1", "kind": []}}, {"x": {"kind": "A"}}, {"c": {"q": 1}}, {"c": {}},
    {"x": {"apiVersion": "v1", "kind": "A", "metadata": {"annotations": {"a": 1}}}},
    {"c": {"q": 5, "r": "b"}}, {"c": {"q": 1, "r": "b"}}, {"v": 7}, {"v": "x"}, {"p": "b"},
    {"p": "aaaa"}, {"d": "x"}, {"b": "!"}, {"w": 1.5}, {"w": "x"}, {"unknown": 1}, "x", None, [],
], ids=str)
def test_custom_objects(both, probes, spec):
    url, group = probes
    body = {"apiVersion": group + "/v1", "kind": "Probe", "metadata": {"name": "x"}, "spec": spec}
    both.ask("POST", url, body, query=DRY, pick=refusal)


@pytest.mark.parametrize("change", [
    {"served": False}, {"schema": None}, {"name": "V1"}, {"name": ""},
    {"subresources": {"scale": {}}}, {"additionalPrinterColumns": [{}]},
    {"additionalPrinterColumns": [{"name": "a", "type": "x", "jsonPath": "a"}]},
    *({"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": s}}}} for s in (
        {}, {"type": "x"}, {"type": "array"}, {"type": "object", "default": {"zz": 1}},
        {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "foo"},
        {"type": "string", "pattern": "("}, {"type": "integer", "default": "x"},
        {"type": "object", "x-kubernetes-validations": [{"rule": ""}]},
        {"type": "object", "x-kubernetes-validations": [{"rule": "true", "reason": "X"}]},
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"type": "object", "uniqueItems": True}, {"type": "string", "nullable": True, "default": None},
        {"anyOf": [{"type": "string"}]}, {"type": "object", "$ref": "x"}, {"type": "null"})),
], ids=str)
def test_definitions(both, change):
    version = {"name": "v1", "served": True, "storage": True, "schema": {
        "openAPIV3Schema": {"type": "object"}}, **change}
    both.ask("POST", objects.CRDS, {
        "metadata": {"name": "odds.odd.test"}, "spec": {
            "group": "odd.test", "scope": "Namespaced", "names": {"plural": "odds", "kind": "Odd"},
            "versions": [version]}}, query=DRY, pick=refusal)
