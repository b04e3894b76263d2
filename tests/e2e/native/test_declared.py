# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of tests/declared on a real cluster: what is declared is live; set, changed, taken back."""
import os
import sys

import pytest

import release
from local import wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "declared"))
import table  # noqa: E402

ROWS = [row for row in table.ROWS if isinstance(row, table.Live)]
KINDS = {"Partition": ("partitions", "fields"), "NodeSet": ("nodesets", "second"), "Controller": ("controllers", "slurm")}


@pytest.fixture(scope="module")
def objects(shared):
    extra = shared.object("controllers", "slurm")["spec"].get("extraConf")
    shared.make("nodesets", "second", {"replicas": 1, "partition": {"enabled": True}}).ok()
    shared.make("partitions", "fields", {"nodeSetRefs": [{"name": "compute"}]}).ok()
    shared.make("partitions", "beside", {"nodeSetRefs": [{"name": "compute"}]}).ok()
    shared.wait_idle("second-0", seconds=60)
    shared.wait_live("fields", State="UP")
    shared.wait_live("beside", State="UP")
    yield
    shared.change("controllers", "slurm", {"extraConf": extra}).ok()
    shared.remove_all("partitions", "fields", "beside")
    shared.remove_all("nodesets", "second", seconds=60)


def live(c, row, key):
    """What slurmctld has under a key: of the partition, the node, or its configuration."""
    if row.kind == "Controller":
        out = c.slurm("scontrol", "show", "config", check=False).stdout
        found = [line.split("=", 1)[1].strip() for line in out.splitlines() if line.split("=", 1)[0].strip() == key]
        return found[0] if found else None
    if key in ("AvailableFeatures", "Weight"):
        out = c.slurm("scontrol", "-o", "show", "node", "second-0", check=False).stdout
        return dict(word.split("=", 1) for word in out.split() if "=" in word).get(key)
    return c.live(KINDS[row.kind][1]).get(key)


def fits(seen, shown):
    return seen in shown if isinstance(shown, set) else seen == shown or (shown is None and seen in (None, "", "(null)"))


def wait_shown(c, row, wanted):
    def look():
        seen.update({key: live(c, row, key) for key in wanted})
        return all(fits(seen[key], shown) for key, shown in wanted.items())
    seen = {}
    try:
        wait_for(look, "", 60)
    except AssertionError:
        raise AssertionError(f"{row.kind} {row.field}: {wanted} is not live, but {seen}") from None


def patch_of(field, value):
    """{"a": {"b": value}} of spec.a.b; what stands after [] belongs to the list."""
    names = field.split("[]")[0].split(".")[1:]
    for name in reversed(names):
        value = {name: value}
    return value


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r.kind}-{r.field}")
def test_what_is_declared_is_live(cluster, objects, row):
    if row.needs and not release.has(row.needs):
        pytest.skip(f"needs another release: {row.needs}")
    if row.lacks and release.has(row.lacks):
        pytest.skip(f"not on this release: {row.lacks}")
    kind, name = KINDS[row.kind]
    refs = [{"name": "compute"}]
    # what the quick start says stays: without it slurmctld would be started again
    base = cluster.object(kind, name)["spec"].get("extraConf") if row.kind == "Controller" else None
    for value, shown in row.values:
        change = patch_of(row.field, f"{base}{value}\n" if base else value)
        if row.field == "spec.all":
            change["nodeSetRefs"] = None if value else refs
        cluster.change(kind, name, change).ok()
        wait_shown(cluster, row, shown)
        if row.field == "spec.extraConf" and row.kind == "NodeSet":
            # the operator has seen it, too: what is taken back before counts as somebody else's
            cluster.wait_state(kind, name, "NodesApplied", "True")
    change = patch_of(row.field, base)
    if row.field == "spec.nodeSetRefs[].name":
        change = {"nodeSetRefs": refs}
    cluster.change(kind, name, change).ok()
    wait_shown(cluster, row, row.unset)
    if row.kind == "Partition":
        cluster.wait_state(kind, name, "Ready", "True", "Applied")
