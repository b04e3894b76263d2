# SPDX-License-Identifier: GPL-2.0-or-later
"""OpenAPI of custom kinds on both servers: kubectl explains and checks by it."""
import copy
import time

import pytest

from lib import crds

KEEP = {"x-kubernetes-preserve-unknown-fields": True}
SCHEMAS = {
    "whole": {"type": "object", **KEEP},
    "whole-with-fields": {"type": "object", **KEEP, "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"}}}}},
    "member": crds.obj({"spec": {"type": "object", **KEEP}, "b": {"type": "integer"}}),
    "member-with-fields": crds.obj({"spec": {
        "type": "object", **KEEP, "properties": {"a": {"type": "string"}}, "required": ["a"]}}),
    "embedded": crds.obj({"spec": {
        "type": "object", **KEEP, "x-kubernetes-embedded-resource": True}}),
    "items": crds.obj({"list": {"type": "array", "items": {"type": "object", **KEEP}}}),
    "map": crds.obj({"map": {"type": "object", "additionalProperties": {
        "type": "object", **KEEP}}}),
    "any": crds.obj({"any": {**KEEP}}),
    "plain": crds.obj({"spec": crds.obj({"n": {"type": "integer", "default": 3, "nullable": True},
                                         "s": {"type": "string", "enum": ["a", "b"]}})}),
}


def definition(api, kind):
    """What /openapi/v2 says of a kind, without what the server writes to metadata itself."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for name, found in api.get("/openapi/v2").ok(200)["definitions"].items():
            if name.endswith("." + kind):
                found = copy.deepcopy(found)
                for own in ("apiVersion", "kind", "metadata"):
                    found.get("properties", {}).pop(own, None)
                return found
        time.sleep(0.1)
    return None


@pytest.mark.parametrize("name", SCHEMAS)
def test_unknown_fields_in_openapi(both, group, name):
    kind = "Beside" + name.title().replace("-", "")
    crd = crds.Crd(group, kind, [crds.version("v1", SCHEMAS[name])])
    both.each(crd.install)
    both.compare(name, *both.each(lambda api: definition(api, kind)))
    both.each(lambda api: api.delete(crd.url).ok(200))
