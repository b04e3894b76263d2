# SPDX-License-Identifier: GPL-2.0-or-later
"""Every field of every kind has a row in tests/declared, and what the API says of some is what the row has."""
import json
import subprocess
import sys

import pytest
import yaml

from conftest import KUBECTL, PROGRAM, TOP, Cluster, eventually

sys.path.insert(0, str(TOP / "tests/declared"))
import table  # noqa: E402

SLINKY = "slinky.slurm.net/v1beta1"
GROUPS = {"Controller": SLINKY, "NodeSet": SLINKY, "Accounting": SLINKY, "Token": SLINKY, "Partition": "slurmkeeper.dev/v1alpha1"}


def leaves(schema, path):
    """The fields below; what holds objects of others (pods, claims) is one field."""
    if "properties" in schema:
        return [leaf for name, sub in schema["properties"].items() for leaf in leaves(sub, f"{path}.{name}")]
    if "properties" in schema.get("items", {}):
        return leaves(schema["items"], f"{path}[]")
    return [path]


def declared_fields():
    text = subprocess.run([PROGRAM, "crds"], capture_output=True, text=True, check=True).stdout
    for d in yaml.safe_load_all(text):
        spec = d["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        for path in leaves(spec, "spec"):
            yield d["spec"]["names"]["kind"], path


def test_no_field_is_without_a_row():
    fields = set(declared_fields())
    rows = {(row.kind, field) for row in table.ROWS for field in table.fields_of(row)}
    assert fields - rows == set(), "say in tests/declared/table.py what must be live for these"
    assert rows - fields == set(), "there are no such fields any more"


@pytest.mark.parametrize("row", [r for r in table.ROWS if isinstance(r, table.Held)], ids=lambda r: f"{r.kind}-{r.fields[0]}")
def test_a_row_names_a_test(row):
    """One in which the field stands; a test of the decoder does not tell that anything comes of it."""
    text = (TOP / row.file).read_text(encoding="utf-8")
    assert row.word in text, f"{row.file} does not speak of {row.word}"
    assert not row.file.startswith("src/api/test/"), "say which test holds what comes of the field"
    unsaid = [f for f in row.fields if f.replace("[]", "").split(".")[-1] not in text]
    assert not unsaid or len(row.fields) == 1, f"{row.file} does not speak of {unsaid}"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """An API server with our definitions, and nothing beside it."""
    c = Cluster(tmp_path_factory.mktemp("declared"))
    try:
        c.start_server()
        c.kubectl("apply", "-f", str(TOP / "deploy/crds"))
        c.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        c.kubectl("create", "namespace", "declared")
        eventually(lambda: "controllers" in c.kubectl("api-resources"), "the kinds are served")
        yield c
    finally:
        c.stop("apiserver")


def kubectl(cluster, *args, text=None):
    return subprocess.run([KUBECTL, "--kubeconfig", str(cluster.kubeconfig), *args], input=text, capture_output=True, text=True,
                          timeout=60, check=False)


@pytest.mark.parametrize("row", [r for r in table.ROWS if isinstance(r, table.Answer)], ids=lambda r: f"{r.kind}-{r.fields[0]}")
def test_the_api_answers(server, row):
    of_cluster = row.kind in ("NodeSet", "Partition", "LoginSet", "RestApi")
    spec = {"controllerRef": {"name": "lab"}, **row.spec} if of_cluster else row.spec
    made = {"apiVersion": GROUPS[row.kind], "kind": row.kind, "metadata": {"name": "declared", "namespace": "declared"}, "spec": spec}
    done = kubectl(server, "apply", "-f", "-", text=json.dumps(made))
    assert done.returncode == 0, done.stderr
    try:
        done = kubectl(server, "patch", row.kind, "declared", "-n", "declared", "--type=merge", "--dry-run=server", "-p",
                       json.dumps({"spec": row.patch}))
        assert row.says in done.stdout + done.stderr
    finally:
        kubectl(server, "delete", row.kind, "declared", "-n", "declared", "--wait=false")
