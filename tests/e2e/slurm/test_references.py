# SPDX-License-Identifier: GPL-2.0-or-later
"""A reference to what is not there: nothing of it is configured, a condition names it, and slurmctld goes on."""
import json

import pytest

from local import Local, wait_for


@pytest.fixture(scope="module")
def own(machine):
    with Local("r") as c:
        c.up()
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def declare(c, **spec):
    return c.kubectl("patch", "controller", "slurm", "--type=merge", "-p", json.dumps({"spec": spec}), check=False)


def slurmctld(c):
    return sorted(start for (name, _), start in c.daemons().items() if name == "slurmctld")


def restarts(c):
    """The controller's pod, and how often its containers were started again."""
    pod = c.get("pod", "slurm-controller-0")
    return pod["metadata"]["uid"], [x["restartCount"] for x in pod["status"]["containerStatuses"]]


def setting(c, key):
    out = c.slurm("scontrol", "show", "config", check=False).stdout
    return next((line.split("=", 1)[1].strip() for line in out.splitlines() if line.split("=")[0].strip() == key), None)


def test_an_accounting_that_is_not_there_is_not_configured(own):
    before = restarts(own)
    assert declare(own, accountingRef={"name": "nobody"}).returncode == 0
    seen = own.wait_condition("controller", "slurm", "AccountingFound", "False", "AccountingNotFound")
    assert "nobody" in seen["message"]
    # What else is declared takes effect, and slurmctld is not restarted.
    assert declare(own, extraConf="MessageTimeout=17").returncode == 0
    wait_for(lambda: setting(own, "MessageTimeout") == "17 sec", "another change is live", 60)
    assert setting(own, "AccountingStorageType") == "accounting_storage/none"
    assert restarts(own) == before and own.slurm("srun", "hostname").stdout.strip()
    declare(own, accountingRef=None, extraConf=None)
    wait_for(lambda: own.condition("controller", "slurm", "AccountingFound") is None, "the condition goes")


def wait_settled(c):
    """Until slurmctld has what is declared, in the pod that is to be there: other volumes have it made again."""
    def look():
        o = c.get("controller", "slurm")
        applied = c.condition("controller", "slurm", "ConfigApplied") or {}
        wanted = c.get("statefulset", "slurm-controller")
        pod = c.get("pod", "slurm-controller-0", check=False) or {"metadata": {}}
        return (applied.get("status") == "True" and applied["observedGeneration"] == o["metadata"]["generation"] and
                wanted["status"].get("observedGeneration") == wanted["metadata"]["generation"] and
                pod["metadata"].get("labels", {}).get("controller-revision-hash") == wanted["status"]["updateRevision"]
                and (c.condition("pod", "slurm-controller-0", "Ready") or {}).get("status") == "True")
    wait_for(look, "the declaration is applied", 90)


@pytest.mark.parametrize("field", ["configFileRefs", "prologScriptRefs", "epilogSlurmctldScriptRefs"])
def test_files_that_are_not_there_leave_slurmctld_alone(own, field):
    name = field.lower()
    own.kubectl("create", "configmap", name, "--from-literal=" +
                ("gres.conf=" if field == "configFileRefs" else "late.sh=#!/bin/sh"))
    assert declare(own, **{field: [{"name": name}]}).returncode == 0
    wait_settled(own)
    before = slurmctld(own)
    own.kubectl("delete", "configmap", name)
    seen = own.wait_condition("controller", "slurm", "ConfigApplied", "False", "ConfigInvalid")
    assert name in seen["message"]
    assert slurmctld(own) == before and own.slurm("srun", "hostname").stdout.strip()
    declare(own, **{field: None})
    wait_settled(own)
