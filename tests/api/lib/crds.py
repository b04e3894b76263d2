# SPDX-License-Identifier: GPL-2.0-or-later
"""The custom resource definitions that the suite registers, and their objects."""
from . import objects

STRING = {"type": "string"}
INTEGER = {"type": "integer"}


def obj(properties, **more):
    return {"type": "object", "properties": properties, **more}


WIDGET_SPEC = obj({
    "size": {"type": "string", "enum": ["small", "large"], "description": "How big it is."},
    "replicas": {"type": "integer", "minimum": 0, "maximum": 10},
    "mode": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "default": "fast"},
    "ratio": {"type": "number"},
    "flag": {"type": "boolean"},
    "note": {"type": "string", "nullable": True},
    "hint": {"type": "string", "nullable": True, "default": "none"},
    "when": {"type": "string", "format": "date-time"},
    "tags": {"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
    "ports": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": obj({
            "name": STRING, "port": INTEGER, "protocol": {"type": "string", "default": "TCP"},
        }, required=["name"]),
    },
    "atoms": {"type": "array", "items": STRING, "minItems": 1, "maxItems": 3},
    "opts": {"type": "object", "additionalProperties": STRING},
    "fixed": obj({"a": STRING, "b": STRING}, **{"x-kubernetes-map-type": "atomic"}),
    "free": obj({"known": obj({"a": STRING})}, **{"x-kubernetes-preserve-unknown-fields": True}),
    "embedded": {
        "type": "object", "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
    "nested": obj({"must": STRING, "level": {"type": "integer", "default": 1}}, required=["must"]),
}, description="What the widget should be.")

WIDGET_STATUS = obj({
    "phase": STRING, "replicas": INTEGER, "selector": STRING,
    "conditions": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
        "items": obj({"type": STRING, "status": STRING}, required=["type"]),
    },
})


def _column(name, kind, path, **more):
    return {"name": name, "type": kind, "jsonPath": path, **more}


WIDGET_COLUMNS = [
    _column("Size", "string", ".spec.size", description="The size."),
    _column("Replicas", "integer", ".spec.replicas"),
    _column("Ratio", "number", ".spec.ratio"),
    _column("Flag", "boolean", ".spec.flag"),
    _column("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
    _column("When", "date", ".spec.when"),
    _column("Note", "string", ".spec.note", priority=1),
]


def version(name, schema, storage=True, **more):
    return {
        "name": name, "served": True, "storage": storage,
        "schema": {"openAPIV3Schema": schema}, **more,
    }


class Crd:
    """A definition: its manifest, and the paths and bodies of its objects."""

    def __init__(self, group, kind, versions, namespaced=True, **names):
        self.group, self.kind, self.plural = group, kind, kind.lower() + "s"
        self.version = versions[0]["name"]
        self.name = f"{self.plural}.{group}"
        self.resource = self.name
        self.short = names.get("shortNames", [None])[0]
        self.category = names.get("categories", [None])[0]
        self.url = f"{objects.CRDS}/{self.name}"
        self.manifest = {
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name},
            "spec": {
                "group": group, "scope": "Namespaced" if namespaced else "Cluster",
                "names": {"plural": self.plural, "kind": kind, **names},
                "versions": versions,
            },
        }

    @property
    def api_version(self):
        return f"{self.group}/{self.version}"

    def at(self, namespace=None, name=None, sub=None, version=None):
        base = f"/apis/{self.group}/{version or self.version}"
        return objects.url(self.plural, namespace and getattr(namespace, "name", namespace),
                           name, sub, base)

    def make(self, name, spec=None, version=None, **more):
        made = {
            "apiVersion": f"{self.group}/{version or self.version}", "kind": self.kind,
            "metadata": {"name": name}, **more,
        }
        return made if spec is None else {**made, "spec": spec}

    def install(self, api):
        """Create it and wait until the server serves it and discovery shows it."""
        api.post(objects.CRDS, self.manifest).ok(201)
        api.until(self.url, lambda a: condition(a.json, "Established") == "True")
        api.until(self.at(), lambda a: a.code == 200)
        api.until("/apis", lambda a: any(g["name"] == self.group for g in a.json["groups"]))
        api.until(f"/apis/{self.api_version}", lambda a: a.code == 200 and any(
            r["name"] == self.plural for r in a.json["resources"]))
        return self


def condition(obj_, kind):
    """The status of a condition, None if there is no such condition."""
    for c in obj_.get("status", {}).get("conditions") or []:
        if c["type"] == kind:
            return c["status"]
    return None


def widgets(group):
    """A namespaced kind with nearly every schema feature, both subresources and columns."""
    schema = obj({"spec": WIDGET_SPEC, "status": WIDGET_STATUS}, description="A test widget.",
                 required=["spec"])
    subresources = {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    }
    v1 = version("v1", schema, subresources=subresources, additionalPrinterColumns=WIDGET_COLUMNS)
    own = group.split(".")[0]
    return Crd(group, "Widget", [v1], shortNames=["w" + own], categories=["c" + own])


def gadgets(group):
    """A cluster-wide kind of two served versions, with no subresources and no columns.

    The int-or-string field is here because 1.20 loses the schema of any kind that has one when
    it tracks ownership.
    """
    spec = obj({"text": STRING, "level": INTEGER, "port": {"x-kubernetes-int-or-string": True}})
    schema = obj({"spec": spec, "status": obj({"done": STRING})})
    return Crd(group, "Gadget", [version("v1", schema), version("v1beta1", schema, storage=False)],
               namespaced=False)
