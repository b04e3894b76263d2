# SPDX-License-Identifier: GPL-2.0-or-later
"""The operator and the agent beside slurmctld: configurations go there, Slurm's state comes back.

The agent is a double (agent.py) over real HTTPS, on a loopback address that the test gives to
slurmctld's pod.  The cases build on one another.
"""
import base64
import json
import os
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
        c.start_operator("--leader-elect", "--lease-namespace", "default")
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
    lab.patch_status(pod, status)


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


def test_an_edit_is_one_push(lab, agent):
    eventually(lambda: applied(lab).get("status") == "True", "rest")
    before = len(agent.pushes)
    for i in range(1, 11):
        patch(lab, "nodeset", "compute", {"partition": {"config": f"MaxTime={i}:00:00"}})
        eventually(lambda n=before + i: len(agent.pushes) >= n, "the push")
        line = f"PartitionName=compute Nodes=compute MaxTime={i}:00:00"
        assert line in agent.pushes[-1]["files"]["slurm.conf"].splitlines()
        eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")
    assert len(agent.pushes) == before + 10
    eventually(lambda: events(lab, "lab", "ConfigApplied"), "the event")
    assert agent.connections <= 8, "connections are kept"


def live(lab):
    """The NodeSet's word on its partition, if it is of what is declared now."""
    o = lab.get("nodeset", "compute")
    found = [c for c in o["status"]["conditions"] if c["type"] == "PartitionApplied"
             and c["observedGeneration"] == o["metadata"]["generation"]]
    return found[0] if found else {}


def plans(lab, kind):
    """How many plans there were for a kind."""
    lines = [line for line in lab.visit("/metrics")[1].splitlines()
             if line.startswith("slurmkeeper_reconciles_total") and f'"{kind}"' in line]
    assert lines
    return sum(int(float(line.split()[-1])) for line in lines)


def test_the_nodeset_says_when_its_partition_is_live(lab, agent):
    eventually(lambda: live(lab).get("status") == "True", "rest")
    agent.gate.clear()
    before = len(agent.pushes)
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=7:00:00"}})
    eventually(lambda: len(agent.pushes) > before, "the push")
    eventually(lambda: live(lab).get("status") == "False", "the condition")
    assert live(lab)["reason"] == "Applying"
    time.sleep(0.5)
    assert live(lab)["status"] == "False", "nobody has said that slurmctld has it"
    agent.gate.set()
    lab.kubectl("wait", "nodeset/compute", "-n", "slurm", "--for=condition=PartitionApplied", "--timeout=5s")
    assert (live(lab)["status"], live(lab)["reason"]) == ("True", "Applied")
    for i in range(1, 6):
        patch(lab, "nodeset", "compute", {"partition": {"config": f"MaxTime={i}:30:00"}})
        lab.kubectl("wait", "nodeset/compute", "-n", "slurm", "--for=condition=PartitionApplied", "--timeout=5s")
        assert f"MaxTime={i}:30:00" in agent.pushes[-1]["files"]["slurm.conf"], "it was not waited for"
        assert live(lab)["status"] == "True"


def test_an_edit_makes_few_plans_of_the_nodeset(lab, agent):
    """One writes that it is on its way, one that it is live; each write is seen again."""
    assert agent
    eventually(lambda: live(lab).get("status") == "True", "rest")
    time.sleep(1)
    before = plans(lab, "NodeSet")
    for i in range(1, 11):
        patch(lab, "nodeset", "compute", {"partition": {"config": f"MaxTime={i}:20:00"}})
        eventually(lambda: live(lab).get("status") == "True", "the partition")
    time.sleep(1)
    assert plans(lab, "NodeSet") - before <= 40


def test_jobs_of_a_partition_concern_no_nodeset(lab, agent):
    eventually(lambda: live(lab).get("status") == "True", "rest")
    agent.put("partitions", "compute", config={"MaxTime": "05:30:00"}, pending=1)
    time.sleep(0.5)
    before = lab.get("nodeset", "compute")["metadata"]["resourceVersion"]
    plans_before = plans(lab, "NodeSet")
    for i in range(20):
        agent.put("partitions", "compute", pending=i)
        time.sleep(0.02)
    time.sleep(0.3)
    assert plans(lab, "NodeSet") == plans_before
    assert lab.get("nodeset", "compute")["metadata"]["resourceVersion"] == before
    agent.remove("partitions", "compute")


def test_the_newest_wins(lab, agent):
    before = len(agent.pushes)
    agent.gate.clear()
    for i in range(1, 6):
        patch(lab, "nodeset", "compute", {"partition": {"config": f"MaxTime={i}-00:00:00"}})
    eventually(lambda: "MaxTime=5-00:00:00" in lab.get("configmap", "lab-config")["data"]["slurm.conf"],
               "the last one's file")
    agent.gate.set()
    eventually(lambda: "MaxTime=5-00:00:00" in agent.pushes[-1]["files"]["slurm.conf"], "the last")
    eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")
    assert 2 <= len(agent.pushes) - before <= 3


def test_a_refusal_is_told_to_its_author(lab, agent):
    conf = agent.pushes[-1]["files"]["slurm.conf"].splitlines()
    line = [i for i, text in enumerate(conf, 1) if text.startswith("PartitionName=compute")][0]
    agent.refuse_with = (422, {"error": "slurmctld would not start", "step": "rehearse",
                               "problems": [{"file": "slurm.conf", "line": line,
                                             "object": "PartitionName=compute",
                                             "message": "QOS none is not known"}]})
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=1:00:00 QOS=none"}})
    eventually(lambda: applied(lab).get("reason") == "Refused", "the condition")
    assert applied(lab)["status"] == "False"
    assert "NodeSet slurm/compute: spec.partition.config: QOS none" in applied(lab)["message"]
    own = eventually(lambda: lab.condition("nodeset", "compute", "ConfigApplied"), "the NodeSet's")
    assert (own["status"], own["reason"]) == ("False", "Refused")
    assert "QOS none is not known" in own["message"]
    eventually(lambda: live(lab).get("reason") == "Refused", "the partition's")
    assert live(lab)["status"] == "False" and "QOS none is not known" in live(lab)["message"]
    refused = len(agent.pushes)
    time.sleep(1)
    assert len(agent.pushes) == refused, "a refusal is final"
    agent.refuse_with = None
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=2:00:00"}})
    eventually(lambda: applied(lab).get("status") == "True", "the end of it")
    eventually(lambda: not lab.condition("nodeset", "compute", "ConfigApplied"), "the NodeSet's end")
    eventually(lambda: live(lab).get("status") == "True", "the partition's end")


def test_what_is_pending_is_told(lab, agent):
    agent.pending_with = "slurmctld is down"
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=3:00:00"}})
    eventually(lambda: applied(lab).get("reason") == "Pending", "the condition")
    assert "slurmctld is down" in applied(lab)["message"]
    eventually(lambda: live(lab).get("reason") == "Pending", "the partition's")
    assert "slurmctld is down" in live(lab)["message"]
    agent.pending_with = None
    agent.section("config", dict(agent.sections["config"], result="applied", reason=""))
    eventually(lambda: applied(lab).get("status") == "True", "its end")
    eventually(lambda: live(lab).get("status") == "True", "the partition's")


def test_what_waits_for_other_jobs_is_live(lab, agent):
    agent.pending_with = "partition 'old' is drained and deleted when its jobs have ended"
    patch(lab, "nodeset", "compute", {"partition": {"config": "MaxTime=3:10:00"}})
    eventually(lambda: applied(lab).get("reason") == "Pending", "the condition")
    config = agent.sections["config"]
    agent.section("config", dict(config, good={"declared": config["declared"]}))
    eventually(lambda: live(lab).get("status") == "True", "the partition")
    assert applied(lab)["reason"] == "Pending"
    agent.pending_with = None
    agent.section("config", dict(agent.sections["config"], result="applied", reason=""))
    eventually(lambda: applied(lab).get("status") == "True", "its end")


def test_another_configuration_is_set_right(lab, agent):
    before = len(agent.pushes)
    agent.section("config", {"declared": "somebody-elses", "hash": "1", "result": "applied"})
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


def take_lead(lab, seconds):
    """Write ourselves into the lease, for so long."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    lab.kubectl("patch", "lease", "slurm-operator", "-n", "default", "--type=merge", "-p",
                json.dumps({"spec": {"holderIdentity": "somebody", "renewTime": now,
                                     "acquireTime": now, "leaseDurationSeconds": seconds}}))


def test_nothing_is_done_without_the_lead(lab, agent):
    take_lead(lab, 60)
    eventually(lambda: "no longer leading" in lab.log("operator"), "the end of the lead")
    before = len(agent.pushes)
    patch(lab, "nodeset", "compute", {"replicas": 4, "partition": {"config": "MaxTime=4:00:00"}})
    time.sleep(2)
    assert len(agent.pushes) == before
    assert not live(lab), "what was said before is not said of this edit"
    assert "compute-3" not in [p["metadata"]["name"] for p in lab.get("pods")]
    take_lead(lab, 1)
    eventually(lambda: "MaxTime=4:00:00" in agent.pushes[-1]["files"]["slurm.conf"], "the push")
    eventually(lambda: lab.get("pod", "compute-3"), "the pod")
    eventually(lambda: live(lab).get("status") == "True", "the partition")
    patch(lab, "nodeset", "compute", {"replicas": 3})
    eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")


def template(lab):
    spec = lab.get("statefulset", "lab-controller")["spec"]["template"]["spec"]
    return [s["configMap"]["name"] for v in spec["volumes"] if v["name"] == "slurm-etc"
            for s in v["projected"]["sources"] if "configMap" in s]


def test_slurmctld_is_not_ended_for_files_that_it_refuses(lab, agent):
    before = template(lab)
    fault = {"file": "topology.conf", "line": 1, "key": "Switches", "message": "s1 has an invalid child"}
    agent.refuse_with = (422, {"error": "it would not start", "problems": [fault]})
    lab.kubectl("create", "configmap", "topo", "-n", "slurm",
                "--from-literal=topology.conf=SwitchName=s1 Switches=s1")
    patch(lab, "controller", "lab", {"configFileRefs": [{"name": "topo"}]})
    eventually(lambda: applied(lab).get("reason") == "Refused", "the refusal")
    assert "topology.conf line 1: Switches: s1 has an invalid child" in applied(lab)["message"]
    time.sleep(0.5)
    assert template(lab) == before
    agent.refuse_with = None
    lab.kubectl("patch", "configmap", "topo", "-n", "slurm", "--type=merge", "-p",
                json.dumps({"data": {"topology.conf": "SwitchName=s1 Nodes=ALL"}}))
    eventually(lambda: template(lab) == [*before, "topo"], "the new pod's files")
    patch(lab, "controller", "lab", {"configFileRefs": None})
    eventually(lambda: template(lab) == before, "the old files")
    # Nobody is here who would end the old pod.
    lab.kubectl("delete", "pod", "lab-controller-0", "-n", "slurm", "--force", "--grace-period=0")
    eventually(lambda: "podIP" not in lab.get("pod", "lab-controller-0")["status"], "a new pod")
    set_status(lab, "lab-controller-0", phase="Running", podIP=ADDRESS)
    eventually(lambda: applied(lab).get("status") == "True", "ConfigApplied")


def slurm_acts(agent):
    """Have the double do to nodes what slurmctld would."""
    def act(name, body):
        node = agent.parts["nodes"][name]
        base, *flags = node["state"].split("+")
        if body["action"] == "drain":
            agent.node(name, "+".join([base, *flags, "DRAIN"]), body["reason"], node["jobs"])
        elif not node["reason"].startswith(body.get("onlyIfReason", "")):
            return
        elif body["action"] == "undrain":
            agent.node(name, "+".join([base, *[f for f in flags if f != "DRAIN"]]), "",
                       node["jobs"])
        elif body["action"] == "resume":
            agent.node(name, "IDLE", "", node["jobs"])
    agent.on_node = act


def pod_conditions(lab, name):
    return {c["type"]: c.get("message", "") for c in lab.get("pod", name)["status"]["conditions"]
            if c["type"].startswith("SlurmNodeState")}


def status(lab):
    return lab.get("nodeset", "compute")["status"]


def test_the_state_of_nodes_is_shown(lab, agent):
    slurm_acts(agent)
    for i in range(3):
        run_worker(lab, f"compute-{i}")
        agent.node(f"compute-{i}", "IDLE")
    eventually(lambda: status(lab)["slurmIdle"] == 3, "three idle nodes")
    assert pod_conditions(lab, "compute-0") == {"SlurmNodeStateIdle": ""}
    agent.node("compute-0", "MIXED+DRAIN", "broken disk", jobs=[7])
    eventually(lambda: status(lab)["slurmDrain"] == 1, "the drained one", 1)
    assert status(lab)["slurmAllocated"] == 1 and status(lab)["slurmIdle"] == 2
    eventually(lambda: pod_conditions(lab, "compute-0") == {
        "SlurmNodeStateMixed": "broken disk", "SlurmNodeStateDrain": "broken disk"}, "the pod's", 1)
    labels = lab.get("pod", "compute-0")["metadata"]["labels"]
    assert labels["nodeset.slinky.slurm.net/pod-protect"] == "true"
    assert any(c["type"] == "Ready" for c in lab.get("pod", "compute-0")["status"]["conditions"])
    agent.node("compute-0", "IDLE")
    eventually(lambda: status(lab)["slurmIdle"] == 3, "its end", 1)


def test_scale_down_drains_first(lab, agent):
    agent.node("compute-2", "ALLOCATED", jobs=[8])
    agent.node("compute-1", "ALLOCATED", jobs=[9])
    eventually(lambda: status(lab)["slurmAllocated"] == 2, "two at work")
    agent.calls.clear()
    lab.kubectl("scale", "nodeset/compute", "--replicas=1", "-n", "slurm")
    eventually(lambda: len(lab.get("pods")) == 3, "the idle one's end")
    last = {n for n, b in agent.calls if "is being deleted" in b.get("reason", "")}
    assert last == {"compute-0"}, "slurmctld is asked once more before the pod goes"
    eventually(lambda: [n for n, b in agent.calls if b["action"] == "drain" and
                        "is being deleted" not in b["reason"]] == ["compute-0", "compute-2"], "the drains")
    agent.remove("nodes", "compute-0")
    waiting = lab.condition("nodeset", "compute", "ScaledDown")
    assert waiting["reason"] == "WaitingForDrain" and "(job 8)" in waiting["message"]
    time.sleep(1)
    assert "deletionTimestamp" not in lab.get("pod", "compute-2")["metadata"]
    agent.node("compute-2", "IDLE+DRAIN", agent.parts["nodes"]["compute-2"]["reason"])
    eventually(lambda: "compute-2" not in [p["metadata"]["name"] for p in lab.get("pods")],
               "the end of its pod")
    agent.remove("nodes", "compute-2")


def test_a_node_is_let_back_when_its_pod_may_stay(lab, agent):
    lab.kubectl("scale", "nodeset/compute", "--replicas=0", "-n", "slurm")
    eventually(lambda: "DRAIN" in agent.parts["nodes"]["compute-1"]["state"], "the drain")
    lab.kubectl("scale", "nodeset/compute", "--replicas=2", "-n", "slurm")
    eventually(lambda: agent.parts["nodes"]["compute-1"]["state"] == "ALLOCATED", "its end")


def test_a_new_pod_is_not_left_down(lab, agent):
    eventually(lambda: lab.get("pod", "compute-0"), "the new pod")
    agent.node("compute-0", "DOWN", "slurmkeeper: Pod is terminating")
    time.sleep(0.5)
    assert agent.parts["nodes"]["compute-0"]["state"] == "DOWN", "its slurmd is not there yet"
    run_worker(lab, "compute-0")
    eventually(lambda: agent.parts["nodes"]["compute-0"]["state"] == "IDLE", "the node")


def test_drift_is_told(lab, agent):
    agent.section("drift", [{"partition": "compute", "field": "State", "declared": "UP",
                             "live": "DRAIN"}])
    text = "State is DRAIN, declared UP"
    eventually(lambda: text in (lab.condition("controller", "lab", "Drifted") or {}).get(
        "message", ""), "the Controller's condition", 1)
    eventually(lambda: text in (lab.condition("nodeset", "compute", "Drifted") or {}).get(
        "message", ""), "the NodeSet's condition", 1)
    eventually(lambda: events(lab, "compute", "ChangedInSlurm"), "the event")
    assert (live(lab)["status"], live(lab)["reason"]) == ("False", "ChangedInSlurm")
    agent.section("drift", [])
    eventually(lambda: not lab.condition("controller", "lab", "Drifted"), "its end", 1)
    eventually(lambda: live(lab).get("status") == "True", "the partition", 1)


def test_slurmctld_that_is_down_is_told(lab, agent):
    agent.section("slurmctld", {"up": False})
    eventually(lambda: lab.condition("controller", "lab", "Ready")["reason"] == "SlurmctldDown",
               "the condition", 1)
    eventually(lambda: live(lab).get("reason") == "SlurmUnknown", "not knowing", 1)
    lab.kubectl("scale", "nodeset/compute", "--replicas=1", "-n", "slurm")
    eventually(lambda: lab.condition("nodeset", "compute", "ScaledDown"), "the condition")
    time.sleep(0.5)
    assert len([p for p in lab.get("pods") if p["metadata"]["name"].startswith("compute-")]) == 2
    agent.section("slurmctld", {"up": True, "release": "22.05.8"})
    eventually(lambda: lab.condition("controller", "lab", "Ready")["status"] == "True", "its end")
    eventually(lambda: live(lab).get("status") == "True", "the partition")
    eventually(lambda: len([p for p in lab.get("pods")
                            if p["metadata"]["name"].startswith("compute-")]) == 1, "one pod less")


def test_an_agent_that_is_gone_means_not_knowing(lab, agent):
    hold, agent.lock = agent.lock, None  # every question breaks
    eventually(lambda: applied(lab).get("reason") == "AgentUnreachable", "not knowing")
    lab.kubectl("delete", "nodeset", "compute", "-n", "slurm", "--wait=false")
    eventually(lambda: lab.condition("nodeset", "compute", "Ready")["reason"] == "Deleting",
               "the wish")
    time.sleep(0.5)
    assert lab.get("pod", "compute-1")
    agent.lock = hold
    eventually(lambda: "DRAIN" in agent.parts["nodes"]["compute-1"]["state"], "the drain")
    agent.node("compute-1", "IDLE+DRAIN", agent.parts["nodes"]["compute-1"]["reason"])
    eventually(lambda: not lab.get("nodesets"), "the end of the NodeSet")


def test_the_controller_goes_last(lab, agent):
    assert agent.pushes
    lab.kubectl("delete", "controller", "lab", "-n", "slurm", "--timeout=20s")
    eventually(lambda: not lab.get("statefulsets"), "the end of slurmctld")
