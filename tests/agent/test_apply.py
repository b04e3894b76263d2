# SPDX-License-Identifier: GPL-2.0-or-later
"""A declaration reaches slurmctld by the lightest way, or not at all."""
import os
import re
import signal
import subprocess
import time

import pytest

from agent import Cluster
from slurm import release, wait_for


def rpc_counts(c):
    """How often slurmctld got each kind of request, from sdiag."""
    text = subprocess.run([release.program("sdiag")], capture_output=True, text=True, check=True,
                          env={"PATH": os.environ["PATH"], "SLURM_CONF": c.conf}).stdout
    return {kind: int(n) for kind, n in re.findall(r"(REQUEST_\w+)\s*\(\s*\d+\) count:(\d+)", text)}


def changed_rpcs(before, after):
    return {k: after[k] - before.get(k, 0) for k in after if after[k] != before.get(k, 0)}


def steps_of(answer):
    return [s["step"] for s in answer["steps"]]


def hold_job(c, partition):
    """A job that waits for ever."""
    out = subprocess.run([release.program("sbatch"), "-H", "--parsable", "-p", partition, "-o", "/dev/null",
                          "--wrap=true"], capture_output=True, text=True, check=True, cwd="/",
                         env={"PATH": os.environ["PATH"], "SLURM_CONF": c.conf}).stdout
    return int(out)


def end_job(c, job):
    subprocess.run([release.program("scancel"), str(job)], check=True,
                   env={"PATH": os.environ["PATH"], "SLURM_CONF": c.conf})


@pytest.fixture(name="c")
def a_cluster():
    cluster = Cluster(partitions=["PartitionName=all Nodes=ALL Default=YES",
                                  "PartitionName=debug Nodes=few State=UP"])
    yield cluster
    cluster.stop()


def test_one_partition_of_many_is_one_call():
    c = Cluster(nodes=1000, partitions=[
        f"PartitionName=p{i} Nodes=c[{2 * i + 1:04d}-{2 * i + 2:04d}]" for i in range(500)])
    try:
        c.push()
        before = rpc_counts(c)
        c.partitions[250] += " MaxTime=60"
        answer = c.push()
        assert answer["result"] == "applied" and answer["class"] == "rpc"
        assert steps_of(answer).count("rpc") == 1
        changes = changed_rpcs(before, rpc_counts(c))
        assert changes.get("REQUEST_UPDATE_PARTITION") == 1, changes
        assert "REQUEST_RECONFIGURE" not in changes
        assert c.log().count("Processing Reconfiguration Request") == 0
        assert c.partition("p250")["MaxTime"] == "01:00:00"
    finally:
        c.stop()


def test_partitions_come_change_and_go(c):
    c.partitions.append("PartitionName=new Nodes=c[0005-0006] MaxTime=5 Hidden=YES PriorityTier=7")
    answer = c.push()
    assert (answer["result"], answer["class"]) == ("applied", "rpc")
    new = c.partition("new")
    assert (new["MaxTime"], new["Hidden"], new["PriorityTier"], new["MinNodes"]) == (
        "00:05:00", "YES", "7", "0")
    c.partitions[2] = "PartitionName=new Nodes=few MaxTime=UNLIMITED"
    assert c.push()["result"] == "applied"
    new = c.partition("new")
    assert (new["MaxTime"], new["Hidden"], new["PriorityTier"]) == ("UNLIMITED", "NO", "1")
    del c.partitions[2]
    answer = c.push()
    assert (answer["result"], answer["class"]) == ("applied", "rpc")
    assert c.partition_names() == {"all", "debug"}
    assert c.live_conf() == c.text()
    assert not c.drift()


def test_a_restart_of_slurmctld_changes_nothing(c):
    c.partitions[1] = "PartitionName=debug Nodes=few State=DRAIN MaxTime=7 Hidden=YES"
    c.partitions.append("PartitionName=new Nodes=c0005 AllowGroups=root DefMemPerCPU=10")
    c.push()
    before = c.scontrol("-o", "show", "partition").stdout
    c.signal_ctld(signal.SIGKILL)
    wait_for(lambda: c.scontrol("ping", check=False).returncode == 0)
    assert c.scontrol("-o", "show", "partition").stdout == before


def test_a_restart_that_nobody_misses_slurmctld_for_is_seen(c):
    """The entry point starts it again at once: hardly a question of the agent's is in between."""
    def boot_time():
        return c.state()["slurmctld"]["bootTime"]

    wait_for(lambda: c.state()["slurmctld"]["up"])
    before = boot_time()
    wait_for(lambda: time.time() > before + 2)  # start times are in seconds
    with open(c.marker, "w", encoding="utf-8"):
        pass
    c.signal_ctld(signal.SIGKILL)
    wait_for(lambda: c.state()["slurmctld"]["up"] and boot_time() > before)


def test_default_lines_are_honoured(c):
    c.partitions = ["PartitionName=DEFAULT MaxTime=30 PriorityTier=5 Nodes=ALL",
                    "PartitionName=all Default=YES", "PartitionName=debug Nodes=few",
                    "PartitionName=third MaxTime=40"]
    assert c.push()["class"] == "rpc"
    assert c.partition("all")["MaxTime"] == "00:30:00"
    assert c.partition("debug")["PriorityTier"] == "5"
    assert c.partition("third")["MaxTime"] == "00:40:00"
    assert c.partition("third")["PriorityTier"] == "5"
    c.partitions[0] = "PartitionName=DEFAULT MaxTime=31 Nodes=ALL"
    c.push()
    assert c.partition("debug")["MaxTime"] == "00:31:00"
    assert c.partition("third")["MaxTime"] == "00:40:00"
    assert c.partition("third")["PriorityTier"] == "1"


def test_the_default_moves_in_one_call(c):
    before = rpc_counts(c)
    c.partitions = ["PartitionName=all Nodes=ALL", "PartitionName=debug Nodes=few Default=YES"]
    assert c.push()["result"] == "applied"
    assert changed_rpcs(before, rpc_counts(c))["REQUEST_UPDATE_PARTITION"] == 1
    assert c.partition("all")["Default"] == "NO"
    assert c.partition("debug")["Default"] == "YES"


def test_the_same_again_and_another_text_cost_nothing(c):
    before = rpc_counts(c)
    assert c.push()["result"] == "unchanged"
    c.partitions[1] = "PartitionName=debug   state=up nodes=few MaxTime=INFINITE  # the same"
    answer = c.push()
    assert (answer["result"], answer["class"], steps_of(answer)) == (
        "applied", "none", ["validate", "parse", "write"])
    assert "REQUEST_UPDATE_PARTITION" not in changed_rpcs(before, rpc_counts(c))
    assert c.live_conf() == c.text()


def test_a_partition_with_jobs_drains_first(c):
    job = hold_job(c, "debug")
    del c.partitions[1]
    answer = c.push()
    assert answer["result"] == "pending"
    assert answer["waiting"] == [{"partition": "debug", "jobs": [job]}]
    assert c.partition("debug")["State"] == "DRAIN"
    assert "PartitionName=debug" in c.live_conf(), "a start without it would kill its jobs"
    c.signal_ctld(signal.SIGKILL)
    wait_for(lambda: c.scontrol("ping", check=False).returncode == 0)
    assert str(job) in c.scontrol("show", "job", str(job)).stdout
    wait_for(lambda: c.state()["slurmctld"]["up"])
    assert c.state()["config"]["waiting"] == [{"partition": "debug", "jobs": [job]}]
    # another declaration meanwhile
    c.partitions[0] += " MaxTime=100"
    assert c.push()["result"] == "pending"
    assert c.partition("all")["MaxTime"] == "01:40:00"
    end_job(c, job)
    wait_for(lambda: c.partition_names() == {"all"})
    wait_for(lambda: c.live_conf() == c.text())
    wait_for(lambda: c.state()["config"]["waiting"] == [])


def test_a_partition_that_comes_back_while_it_drains_is_as_declared(c):
    hold_job(c, "debug")
    line = c.partitions.pop(1)
    assert c.push()["result"] == "pending"
    c.partitions.append(line)
    assert c.push()["result"] == "applied"
    assert c.partition("debug")["State"] == "UP"
    assert c.live_conf() == c.text()


def test_a_node_set_with_its_partition_comes_and_goes(c):
    c.extra = "NodeSet=green Feature=green"
    c.partitions.append("PartitionName=green Nodes=green")
    start = time.monotonic()
    answer = c.push()
    assert (answer["result"], answer["class"]) == ("applied", "reconfigure")
    assert time.monotonic() - start < 2
    assert c.partition("green")["NodeSets"] == "green"
    job = hold_job(c, "green")
    c.extra = ""
    c.partitions.pop()
    assert c.push()["result"] == "pending"
    assert re.search(r"NodeSet=green Feature=green\nPartitionName=green Nodes=green .*State=DRAIN\n",
                     c.live_conf())
    end_job(c, job)
    wait_for(lambda: "green" not in c.partition_names())
    wait_for(lambda: c.live_conf() == c.text())


REFUSED = {
    "unknown nodes": "PartitionName=bad Nodes=nowhere",
    "a partition twice": "PartitionName=debug Nodes=few",
    "an unknown key": "PartitionName=bad Nodes=few Colour=blue",
    "a bad value": "PartitionName=bad Nodes=few MaxTime=soon",
    "a value out of range": "PartitionName=bad Nodes=few PriorityTier=70000",
    "a node twice": "NodeName=c0001 CPUs=4",
    "a missing include": "Include nothing.conf",
    "two defaults": "PartitionName=bad Nodes=few Default=YES",
    "garbage": "this is not a configuration",
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_files_are_refused_and_touch_nothing(c, what):
    before = c.live_conf()
    rpcs = rpc_counts(c)
    c.partitions.append(REFUSED[what])
    answer = c.push(expect=422)
    assert answer["error"] and answer["step"] in ("validate", "parse"), answer
    assert c.live_conf() == before
    assert c.scontrol("ping").returncode == 0
    assert not {"REQUEST_UPDATE_PARTITION", "REQUEST_RECONFIGURE"} & set(
        changed_rpcs(rpcs, rpc_counts(c)))


def test_problems_name_file_and_line(c):
    c.partitions.append("PartitionName=bad Nodes=nowhere")
    answer = c.push(expect=422)
    line = c.text().splitlines().index("PartitionName=bad Nodes=nowhere") + 1
    assert answer["problems"][0]["file"] == "slurm.conf"
    assert answer["problems"][0]["line"] == line
    assert answer["problems"][0]["key"] == "Nodes"


def test_what_slurmctld_refuses_stays_with_its_partition(c):
    """A QOS that is not there: only slurmctld knows, and it takes the settings before it."""
    if not release.has("qos is looked up"):
        pytest.skip("this release refuses nothing that we let through")
    before = c.scontrol("-o", "show", "partition", "debug").stdout
    good = c.partitions[1]
    c.partitions[0] += " MaxTime=77"
    c.partitions[1] += " MaxTime=5 QOS=nope"
    answer = c.push()
    assert answer["result"] == "pending"
    assert [r["partition"] for r in answer["refused"]] == ["debug"] and answer["refused"][0]["error"]
    assert "set aside" in steps_of(answer)
    assert "MaxTime=01:17:00" in c.scontrol("show", "partition", "all").stdout
    assert c.scontrol("-o", "show", "partition", "debug").stdout == before
    # what is declared next is applied, a new start of slurmctld changes nothing, and a mended line is taken at once
    c.partitions[0] = c.partitions[0].replace("MaxTime=77", "MaxTime=78")
    assert [r["partition"] for r in c.push()["refused"]] == ["debug"]
    assert "MaxTime=01:18:00" in c.scontrol("show", "partition", "all").stdout
    c.signal_ctld(signal.SIGKILL)
    wait_for(lambda: c.scontrol("ping", check=False).returncode == 0)
    assert "MaxTime=01:18:00" in c.scontrol("show", "partition", "all").stdout
    assert "MaxTime=00:05:00" not in c.scontrol("show", "partition", "debug").stdout
    c.partitions[1] = good + " MaxTime=6"
    assert c.push()["result"] == "applied"
    assert "MaxTime=00:06:00" in c.scontrol("show", "partition", "debug").stdout


def test_settings_are_reconfigured_and_read_by_slurmctld(c):
    c.extra = "SchedulerParameters=bf_interval=41"
    answer = c.push()
    assert answer["class"] == "reconfigure" and "rehearse" in steps_of(answer)
    assert "bf_interval=41" in c.scontrol("show", "config").stdout


def test_a_restart_class_change_restarts_slurmctld(c):
    pid = c.ctld_pid()
    line, key, value = release.restart_setting()
    c.extra = line
    answer = c.push()
    assert answer["class"] == "restart" and answer["result"] == "applied"
    assert c.ctld_pid() != pid
    assert not os.path.exists(c.marker)
    assert re.search(rf"{key}\s*= {value}", c.scontrol("show", "config").stdout)


def test_a_file_that_slurmctld_would_wait_for_is_a_fault(c):
    pid = c.ctld_pid()
    c.extra = "TopologyPlugin=topology/tree"
    start = time.monotonic()
    answer = c.push(expect=422)
    assert answer["step"] == "rehearse" and "topology.conf" in answer["error"], answer
    assert time.monotonic() - start < 5 and c.ctld_pid() == pid
    c.more["topology.conf"] = "SwitchName=s1 Nodes=c[0001-0020]\n"
    answer = c.push()
    assert answer["class"] == release.node_class() and answer["result"] == "applied"


def test_partitions_made_by_hand_survive_a_reconfigure_while_they_have_jobs(c):
    c.scontrol("create", "partition=hand", "nodes=c0001", "maxtime=10")
    c.scontrol("create", "partition=idle", "nodes=c0001")
    job = hold_job(c, "hand")
    c.extra = "SchedulerParameters=bf_interval=42"
    answer = c.push()
    assert answer["result"] == "pending"
    assert any("idle" in p["message"] for p in answer["problems"])
    assert c.partition_names() == {"all", "debug", "hand"}
    assert "JobState=PENDING" in c.scontrol("show", "job", str(job)).stdout
    end_job(c, job)
    wait_for(lambda: c.partition_names() == {"all", "debug"})


def test_other_files_are_written_and_removed(c):
    c.more["prolog.sh"] = "#!/bin/sh\nexit 0\n"
    c.more["cgroup.conf"] = "CgroupPlugin=cgroup/v1\n"
    assert c.push(modes={"prolog.sh": 0o755})["class"] == "reconfigure"
    assert os.stat(f"{c.live}/prolog.sh").st_mode & 0o777 == 0o755
    del c.more["prolog.sh"]
    c.push()
    assert not os.path.exists(f"{c.live}/prolog.sh")
    assert os.path.exists(f"{c.live}/cgroup.conf")


def test_plan_changes_nothing(c):
    before = c.live_conf()
    c.partitions[1] = "PartitionName=debug Nodes=few State=DRAIN"
    answer = c.plan()
    assert (answer["result"], answer["class"]) == ("plan", "rpc")
    assert {"step": "rpc", "what": "partition debug: State=UP -> DRAIN"} in answer["steps"]
    assert c.live_conf() == before and c.partition("debug")["State"] == "UP"


def test_bad_requests_are_told(c):
    for body, status in (({}, 400), ({"files": []}, 400), ({"files": {"../x": ""}}, 400),
                         ({"files": {"slurm.key": "x"}}, 400), ({"files": {"a.conf": ""}}, 422),
                         ({"files": {"slurm.conf": 1}}, 400),
                         ({"files": c.files(), "driftPolicy": "Perhaps"}, 400)):
        got, answer = c.request("PUT", "/v1/config", body)
        assert got == status and answer["error"], (body, got, answer)
    assert c.request("GET", "/v1/nothing")[0] == 404


def test_a_push_replaces_one_that_waits(c):
    import threading
    answers = []

    def push(n):
        body = c.body()
        body["files"]["slurm.conf"] += f"PartitionName=n{n} Nodes=c0001\n"
        answers.append((n, c.request("PUT", "/v1/config", body)))

    threads = [threading.Thread(target=push, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(status == 200 for _, (status, _) in answers), answers
    names = c.partition_names()
    assert len([n for n in names if n.startswith("n")]) == 1, names


def test_static_nodes_that_nobody_finds_do_not_hold_a_rehearsal_up(c):
    c.extra = "NodeName=far[1-300] CPUs=1 State=UNKNOWN"
    c.partitions.append("PartitionName=far Nodes=far[1-300]")
    answer = c.plan()
    assert answer["class"] == release.node_class(), answer
    start = time.monotonic()
    # the real slurmctld looks them up; only the rehearsal is asked here
    c.partitions.append("PartitionName=x Nodes=far1 SelectTypeParameters=CR_Core")
    c.extra += "\nPriorityType=priority/nothing"
    answer = c.push(expect=422)
    assert answer["step"] == "rehearse" and "priority" in answer["error"], answer
    assert time.monotonic() - start < 5
