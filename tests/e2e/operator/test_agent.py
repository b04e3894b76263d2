# SPDX-License-Identifier: GPL-2.0-or-later
"""The operator and the agent beside slurmctld: configurations go there, Slurm's state comes back.

The agent is a double (agent.py) over real HTTPS, on a loopback address that the test gives to
slurmctld's pod.  The cases build on one another.
"""
import base64
import json
import os
import statistics
import time

import pytest

from agent import Agent
from conftest import Cluster, eventually, TOP

ADDRESS = f"127.{os.getpid() % 200 + 20}.{os.getpid() // 200 % 250}.1"
CLUSTER = """
apiVersion: v1
kind: Namespace
metadata: {name: slurm}
---
apiVersion: slinky.slurm.net/v1beta1
kind: Controller
metadata: {name: lab, namespace: slurm}
spec: {}
---
apiVersion: slinky.slurm.net/v1beta1
kind: NodeSet
metadata: {name: compute, namespace: slurm}
spec:
  controllerRef: {name: lab}
  replicas: 3
  partition: {enabled: true, config: "Default=YES MaxTime=24:00:00"}
"""


@pytest.fixture(scope="module", name="lab")
def a_cluster(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp("agent"))
    try:
        c.start_server()
        c.kubectl("apply", "-f", str(TOP / "deploy/crds"))
        c.start_operator("--agent")
        yield c
    finally:
        codes = {name: c.stop(name) for name in ("operator", "apiserver")}
    assert not [name for name, code in codes.items() if code not in (0, -15)], codes


@pytest.fixture(scope="module", name="agent")
def an_agent(lab):
    lab.apply(CLUSTER)
    data = eventually(lambda: lab.get("secret", "lab-agent")["data"], "the agent's Secret")
    text = {k: base64.b64decode(v).decode() for k, v in data.items()}
    agent = Agent(ADDRESS, text["tls.crt"], text["tls.key"], text["token"])
    yield agent
    agent.stop()


def set_status(lab, pod, **status):
    lab.kubectl("patch", "pod", pod, "-n", "slurm", "--subresource=status", "--type=merge", "-p",
                json.dumps({"status": status}))


def run_worker(lab, pod):
    set_status(lab, pod, phase="Running", conditions=[
        {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}])


def patch(lab, kind, name, spec):
    lab.kubectl("patch", kind, name, "-n", "slurm", "--type=merge", "-p",
                json.dumps({"spec": spec}))


def applied(lab):
    return lab.condition("controller", "lab", "ConfigApplied") or {}


def events(lab, name, reason):
    return [e for e in lab.get("events")
            if e["involvedObject"]["name"] == name and e["reason"] == reason]


def test_without_an_agent_nothing_is_claimed(lab, agent):
    assert not agent.pushes
    eventually(lambda: applied(lab).get("reason") == "AgentUnreachable", "the condition")
    assert applied(lab)["status"] == "Unknown"


def test_the_first_push(lab, agent):
    eventually(lambda: lab.get("pod", "lab-controller-0"), "slurmctld's pod")
    set_status(lab, "lab-controller-0", phase="Running", podIP=ADDRESS)
    eventually(lambda: agent.pushes, "the push")
    body = agent.pushes[0]
    assert set(body["files"]) == {"slurm.conf", "cgroup.conf"}
    assert body["files"]["slurm.conf"] == lab.get("configmap", "lab-config")["data"]["slurm.conf"]
    assert body["driftPolicy"] == "Report" and body["declared"]
    eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")
    assert applied(lab)["reason"] == "Applied"
    eventually(lambda: lab.condition("controller", "lab", "Ready")["status"] == "True", "Ready")
    assert len(agent.pushes) == 1


def test_an_edit_is_one_push_and_fast(lab, agent):
    eventually(lambda: applied(lab).get("status") == "True", "rest")
    before = len(agent.pushes)
    delays = []
    for i in range(1, 11):
        patch(lab, "nodeset", "compute", {"partition": {"config": f"MaxTime={i}:00:00"}})
        answered = time.monotonic()
        eventually(lambda n=before + i: len(agent.pushes) >= n, "the push")
        delays.append(agent.push_times[-1] - answered)
        line = f"PartitionName=compute Nodes=compute MaxTime={i}:00:00"
        assert line in agent.pushes[-1]["files"]["slurm.conf"].splitlines()
        eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")
    assert len(agent.pushes) == before + 10
    # kubectl takes longer to end than a push to arrive.
    assert statistics.median(delays) < 0.02, delays
    eventually(lambda: events(lab, "lab", "ConfigApplied"), "the event")
    assert agent.connections <= 8, "connections are kept"


def test_the_newest_wins(lab, agent):
    before = len(agent.pushes)
    agent.delay_s = 1
    for i in range(1, 6):
        patch(lab, "nodeset", "compute", {"partition": {"config": f"MaxTime={i}-00:00:00"}})
    eventually(lambda: "MaxTime=5-00:00:00" in agent.pushes[-1]["files"]["slurm.conf"], "the last")
    agent.delay_s = 0
    eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")
    assert 2 <= len(agent.pushes) - before <= 4


def test_a_refusal_is_told_to_its_author(lab, agent):
    conf = agent.pushes[-1]["files"]["slurm.conf"].splitlines()
    line = [i for i, text in enumerate(conf, 1) if text.startswith("PartitionName=compute")][0]
    agent.refuse_with = (422, {"error": "slurmctld would not start", "step": "rehearse",
                               "problems": [{"file": "slurm.conf", "line": line,
                                             "message": "QOS none is not known"}]})
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=1:00:00 QOS=none"}})
    eventually(lambda: applied(lab).get("reason") == "Refused", "the condition")
    assert applied(lab)["status"] == "False"
    assert "NodeSet slurm/compute: spec.partition.config: QOS none" in applied(lab)["message"]
    own = eventually(lambda: lab.condition("nodeset", "compute", "ConfigApplied"), "the NodeSet's")
    assert (own["status"], own["reason"]) == ("False", "Refused")
    assert "QOS none is not known" in own["message"]
    refused = len(agent.pushes)
    time.sleep(1)
    assert len(agent.pushes) == refused, "a refusal is final"
    agent.refuse_with = None
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=2:00:00"}})
    eventually(lambda: applied(lab).get("status") == "True", "the end of it")
    eventually(lambda: not lab.condition("nodeset", "compute", "ConfigApplied"), "the NodeSet's end")


def test_what_is_pending_is_told(lab, agent):
    agent.pending_with = "slurmctld is down"
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=3:00:00"}})
    eventually(lambda: applied(lab).get("reason") == "Pending", "the condition")
    assert "slurmctld is down" in applied(lab)["message"]
    agent.pending_with = None
    agent.section("config", dict(agent.sections["config"], result="applied", reason=""))
    eventually(lambda: applied(lab).get("status") == "True", "its end")


def test_another_configuration_is_set_right(lab, agent):
    before = len(agent.pushes)
    agent.section("config", {"hash": "somebody-elses", "result": "applied"})
    eventually(lambda: len(agent.pushes) > before, "the push")
    eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")


def test_a_new_agent_process_is_asked_anew(lab, agent):
    before = len(agent.pushes)
    agent.restart()
    eventually(lambda: len(agent.pushes) > before, "the push")
    eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")


def test_the_drift_policy_is_handed_over(lab, agent):
    lab.kubectl("annotate", "controller", "lab", "-n", "slurm",
                "slurmkeeper.dev/drift-policy=Revert")
    eventually(lambda: agent.pushes[-1]["driftPolicy"] == "Revert", "the policy")
    lab.kubectl("annotate", "controller", "lab", "-n", "slurm", "slurmkeeper.dev/drift-policy-")
    eventually(lambda: agent.pushes[-1]["driftPolicy"] == "Report", "the policy")


def test_a_wrong_token_is_no_state(lab, agent):
    right, agent.token = agent.token, "another"
    agent.restart()
    eventually(lambda: "401" in applied(lab).get("message", ""), "the condition")
    agent.token = right
    eventually(lambda: applied(lab).get("status") == "True", "its end")
