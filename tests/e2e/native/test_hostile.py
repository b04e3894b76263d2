# SPDX-License-Identifier: GPL-2.0-or-later
"""A reconfigure with a bad file ends slurmctld 22.05.  No declared object, extraConf or file can bring that about.

Every case declares something bad while jobs run and wait.  What is refused: its author is told, in these words, by the
API's answer or by a condition; slurmctld stays the same process.  What Slurm takes (None): it is live, and slurmctld
has not ended but where it was asked to.  In both cases the jobs notice nothing, others' edits get through, and when the
bad thing is taken back everything is as before.
"""
import itertools

import pytest

import release
from jobs import Jobs
from local import wait_for
from native import BARE, Native, path

GOOD = "Default=YES MaxTime=24:00:00"
SETTLING = {"Applying", "Pending", "Writing", "AgentUnreachable"}
minutes = itertools.count(100)

EXTRA_CONF = {
    "unknown-nodes": ("PartitionName=bad Nodes=nowhere[1-4]\n", "there is no node or node set nowhere[1-4]"),
    "twice": ("PartitionName=bad Nodes=ALL\nPartitionName=bad Nodes=ALL\n", "partition bad stands twice"),
    "twice-in-another-case": ("PartitionName=bad Nodes=ALL\npartitionname=bad nodes=ALL\n", "partition bad stands twice"),
    "that-of-a-nodeset": ("PartitionName=compute Nodes=ALL\n", "NodeSet compute has a partition compute already"),
    "a-second-nodeset-line": ("NodeSet=compute Feature=x\n", "node set compute is that of NodeSet compute"),
    "garbage-nodes": ("PartitionName=bad Nodes=a[1-\n", "'a[1-' is not a host list"),
    "wild-range": ("PartitionName=bad Nodes=a[1-99999999]\n", "the range has more than"),
    "unknown-key": ("NoSuchKey=1\n", "unknown key NoSuchKey"),
    "unknown-partition-key": ("PartitionName=bad Nodes=ALL Frobnicate=1\n", "partition bad: unknown key Frobnicate"),
    "bad-value": ("SlurmctldTimeout=many\n", "SlurmctldTimeout: 'many' is not"),
    "bad-time": ("PartitionName=bad Nodes=ALL MaxTime=tomorrow\n", "MaxTime: 'tomorrow' is not a time"),
    "huge-number": ("PartitionName=bad Nodes=ALL PriorityTier=99999999999\n", "PriorityTier: '99999999999' is not"),
    "bad-state": ("PartitionName=bad Nodes=ALL State=SIDEWAYS\n", "State: 'SIDEWAYS' is not"),
    "no-such-alternate": ("PartitionName=bad Nodes=ALL Alternate=nothing\n", None),
    "missing-include": ("include /etc/slurm/no-such-file.conf\n", "no-such-file.conf"),
    "include-of-itself": ("include slurm.conf\n", "Include 'slurm.conf'"),
    "include-upwards": ("include ../../etc/passwd\n", "passwd"),
    "a-node-twice": ("NodeName=dup State=CLOUD\nNodeName=dup State=CLOUD\n", "node dup is defined already"),
    "a-node-that-exists": ("NodeName=compute-0 State=CLOUD\n", "node compute-0 is a dynamic node"),
    "nodes-without-end": ("NodeName=x[1-999999] State=CLOUD\n", "the range has more than"),
    "no-equals": ("PartitionName\n", "cannot read 'PartitionName'"),
    "unicode": ("PartitionName=b\u00e4d\u200b Nodes=\u8282\u70b9\n", "there is no node or node set \u8282\u70b9"),
    "no-such-plugin": ("SelectType=select/nothing\n", "select/nothing"),
    "auth-plugin": ("AuthType=auth/nothing\n", "AuthType is auth/slurm or auth/munge"),
    "scheduler": ("SchedulerType=sched/nothing\n", release.words("scheduler")),
    "priority-plugin": ("PriorityType=priority/nothing\n", "priority"),
    "job-submit-plugin": ("JobSubmitPlugins=nothing\n", "job_submit"),
    "port": ("SlurmctldPort=0\n", "SlurmctldPort: '0' is not a port"),
    "node-count": ("MaxNodeCount=1\n", "MaxNodeCount"),
    "licences": ("Licenses=a:b:c\n", "Licenses: 'a:b:c' is not"),
    "gres": ("GresTypes=gpu\nNodeName=g1 Gres=gpu:x:y:z State=CLOUD\n", None),
    "topology-without-its-file": ("TopologyPlugin=topology/tree\n", "topology.conf"),
    "down-nodes": ("DownNodes=nowhere State=DOWN\n", None),
    "two-defaults": ("PartitionName=bad Nodes=ALL Default=YES\n", "partition compute is the default already"),
    "fast-schedule": ("FastSchedule=2\n", "FastSchedule: '2' is not 1"),
    "long-line": ("PartitionName=bad Nodes=ALL AllowAccounts=" + "a" * 60000 + "\n", None),
    "carriage-return": ("PartitionName=bad Nodes=ALL\rPartitionName=bad Nodes=ALL\n", "PartitionName is set already"),
    "continuation": ("PartitionName=bad Nodes=ALL \\\n", None),
    "state-dir": ("StateSaveLocation=/no/such/dir\n", "StateSaveLocation is the pod's volume"),
    "other-slurmctld": ("SlurmctldHost=elsewhere\n", "SlurmctldHost"),
    "slurm-user": ("SlurmUser=nobody-here\n", "SlurmUser"),
    "cluster-name": ("ClusterName=other\n", "ClusterName"),
}

NODESET_CONFIG = {
    "unknown-key": ("Frobnicate=1", "unknown key Frobnicate"), "bad-time": ("MaxTime=tomorrow", "is not a time"),
    "line-break": ("MaxTime=1\nPartitionName=compute Nodes=ALL", "must stand in one line"),
    "carriage-return": ("MaxTime=1\rPartitionName=compute Nodes=ALL", "PartitionName is set already"),
    "another-name": ("PartitionName=other", "PartitionName is set already"), "nodes": ("Nodes=nowhere", "Nodes is set already"),
    "huge": ("PriorityTier=99999999999", "PriorityTier: '99999999999' is not"),
    "negative": ("MaxNodes=-5", "MaxNodes: '-5' is not"), "unicode": ("AllowAccounts=\u8282\u70b9", None),
    "comment": ("# MaxTime=1", None), "continuation": ("MaxTime=1 \\", "would join the line with the next one"),
    "empty-value": ("MaxTime=", "cannot read 'MaxTime='"), "no-value": ("MaxTime", "cannot read 'MaxTime'"),
    "quote": ('AllowAccounts="a', None), "equals": ("=", "cannot read '='"), "nul": ("MaxTime=1\u0000x", "without NUL"),
    "long": ("AllowAccounts=" + "a" * 70000, None), "select": ("SelectTypeParameters=CR_Nothing", "'CR_Nothing' is not"),
    "binding": ("CpuBind=sideways", "CpuBind: 'sideways' is not none"),
    "weights": ("TRESBillingWeights=CPU=1,GRES/none=2", "is not in AccountingStorageTRES"),
    "qos": ("QOS=nothing", "Invalid qos" if release.has("qos is looked up") else None), "alternate": ("Alternate=nothing", None),
}

# slurmctld alone finds these: it refuses the one partition and takes the rest, and its NodeSet tells
BY_SLURMCTLD = {"binding", "qos"} if release.has("qos is looked up") else {"binding"}

PARTITIONS = {
    "no-nodes": ({"nodes": "nowhere[1-9]"}, "there is no node or node set nowhere[1-9]"),
    "garbage": ({"nodes": "a[1-"}, "is not a host list"), "wild": ({"nodes": "a[1-99999999]"}, "the range has more than"),
    "name-of-a-nodeset": ({"partitionName": "compute"}, "NodeSet compute of the same cluster"),
    "name-in-another-case": ({"partitionName": "COMPUTE"}, None),
    "default-as-a-name": ({"partitionName": "DEFAULT"}, "is taken by Slurm for the defaults"),
    "space-in-name": ({"partitionName": "a b"}, "may hold only letters"),
    "line-break-in-name": ({"partitionName": "a\nPartitionName=b"}, "may hold only letters"),
    "line-break-in-config": ({"config": "MaxTime=1\nPartitionName=compute Nodes=ALL"}, "must stand in one line"),
    "line-break-in-nodes": ({"nodes": "ALL\nPartitionName=compute Nodes=ALL"}, "must stand in one line"),
    "line-break-in-list": ({"allowAccounts": ["a\nPartitionName=compute Nodes=ALL"]}, "must stand in one line"),
    "blank-in-list": ({"allowAccounts": ["a Nodes=nowhere"]}, None),
    "unknown-key": ({"config": "Frobnicate=1"}, "unknown key Frobnicate"),
    "twice": ({"config": "MaxTime=1 MaxTime=2"}, None),
    "nodes-in-config": ({"config": "Nodes=nowhere"}, "Nodes is set already"),
    "name-in-config": ({"config": "PartitionName=compute"}, "PartitionName is set already"),
    "huge": ({"priorityTier": 99999999999}, "is not a number"), "negative": ({"priorityTier": -1}, "-1 is below 0"),
    "time": ({"maxTime": "tomorrow"}, "is not a time"), "share": ({"oversubscribe": "FORCE:x"}, "is not NO, EXCLUSIVE"),
    "unicode": ({"partitionName": "\u8282\u70b9"}, "may hold only letters"), "alternate": ({"alternate": "nothing"}, None),
    "qos": ({"qos": "none such"}, "slurmctld refuses it" if release.has("qos is looked up") else None), "nothing": ({"all": None}, "must name the NodeSets"),
    "second-default": ({"default": True}, None),
    "groups": ({"allowGroups": ["no-such-group"]}, None),
    "nodeset": ({"all": None, "nodeSetRefs": [{"name": "nothing"}]}, "there is no NodeSet nothing"),
}

TREE = "TopologyPlugin=topology/tree\n"
MORE = "include more.conf\n"
# what a key of a ConfigMap of configFileRefs holds, what extraConf must say for it to be read, and what it may well hold
FILES = {
    "gres-garbage": ("gres.conf", "Name=gpu File=/dev/nothing[", "GresTypes=gpu\n", "gres.conf", "# none"),
    "gres-unknown-key": ("gres.conf", "Frobnicate=1", "GresTypes=gpu\n", "gres.conf", "# none"),
    "gres-count": ("gres.conf", "NodeName=nowhere Name=gpu Count=x", "GresTypes=gpu\n", None, "# none"),
    "topology-unknown-nodes": ("topology.conf", "SwitchName=s1 Nodes=nowhere", TREE, None, "SwitchName=s1 Nodes=compute-[0-2]"),
    "topology-loop": ("topology.conf", "SwitchName=s1 Switches=s1", TREE, "invalid child", "SwitchName=s1 Nodes=compute-[0-2]"),
    "topology-garbage": ("topology.conf", "garbage", TREE, "topology.conf", "SwitchName=s1 Nodes=compute-[0-2]"),
    "cgroup-unknown-key": ("cgroup.conf", "Frobnicate=1", "", "cgroup.conf", "ConstrainCores=no"),
    "cgroup-plugin": ("cgroup.conf", "CgroupPlugin=nothing", "", "cgroup.conf", "ConstrainCores=no"),
    "slurm-conf": ("slurm.conf", "PartitionName=bad Nodes=nowhere", "", "slurm.conf", None),
    "include-unknown-nodes": ("more.conf", "PartitionName=bad Nodes=nowhere", MORE, "nowhere", "# none"),
    "include-double": ("more.conf", "PartitionName=compute Nodes=ALL", MORE, "compute", "# none"),
    "include-unknown-key": ("more.conf", "Frobnicate=1", MORE, "Frobnicate", "# none"),
    "include-loop": ("more.conf", "include more.conf", MORE, "more.conf", "# none"),
    "include-deadly": ("more.conf", "AuthType=auth/nothing", MORE, "AuthType is auth/slurm or auth/munge", "# none"),
    "include-state": ("more.conf", "StateSaveLocation=/tmp", MORE, "StateSaveLocation is the pod's volume", "# none"),
    "include-name": ("more.conf", "ClusterName=other", MORE, "ClusterName comes from spec.clusterName", "# none"),
    "job-container": ("job_container.conf", "Frobnicate=1", "PrologFlags=Contain\nJobContainerType=job_container/tmpfs\n", None,
                      "# none"),
    "acct-gather": ("acct_gather.conf", "Frobnicate=1", "AcctGatherFilesystemType=acct_gather_filesystem/lustre\n",
                    "acct_gather.conf", "# none"),
    "binary": ("more.conf", "\u0001\u0002\u0003", MORE, "more.conf", "# none"),
    "huge": ("more.conf", "# " + "x" * 900000, MORE, None, "# none"),
}


@pytest.fixture(scope="module")
def hostile(machine):
    with Native("h") as c:
        c.bring_up_bare()
        c.jobs = Jobs(c)
        c.jobs.run("-n1")
        c.jobs.run("-N2", "-n2")
        c.jobs.held = c.jobs.wait("-n1", "-H")
        c.jobs.wait("-N3", "--exclusive")
        c.jobs.settle()
        c.inside = True
        yield c
        c.jobs.check()
        c.jobs.finish(c.jobs.held)


@pytest.fixture
def cluster(hostile):
    """Whatever was declared: nothing has died, the jobs notice nothing, and what was taken back is no more."""
    hostile.pid = hostile.started()
    hostile.known = hostile.deaths()
    yield hostile
    assert not hostile.deaths(hostile.known), "slurmctld has died"
    hostile.wait_applied(60)
    hostile.wait_live("compute", 30, State="UP")
    wait_for(lambda: list(hostile.all_live()) == ["compute"], "nothing is left behind")
    hostile.jobs.check()
    wait_for(hostile.agree, "the files agree")


def verdict(c, kind, name, which):
    """What is said of the declaration as it is now: (taken, words)."""
    def look():
        o = c.object(kind, name)
        for found in (o.get("status") or {}).get("conditions", []):
            if found["type"] == which and found["status"] != "Unknown" and found["reason"] not in SETTLING and \
                    found["observedGeneration"] == o["metadata"]["generation"]:
                return found
        return None
    found = wait_for(look, f"{kind}/{name} was judged", 30)
    return found["status"] == "True", f"{found['reason']}: {found['message']}"


def judged(c, answer, kind, name, which, words):
    """Was it taken or refused as it should be, with the words that it takes, and without harm?"""
    taken, said = (False, answer.json["message"]) if answer.code >= 400 else verdict(c, kind, name, which)
    print(("taken: " if taken else "refused: ") + said)
    assert taken == (words is None), said
    assert words is None or words in said, f"'{words}' is not in: {said}"
    assert not c.deaths(c.known), "slurmctld has died"
    if not taken:
        assert c.started() == c.pid, "slurmctld was started again for something bad"
    # scontrol calls slurmctld DOWN when one answer is late, too; a dead one was told above.
    wait_for(lambda: c.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld answers")
    c.jobs.check()


def edit_gets_through(c):
    n = next(minutes)
    c.change("nodesets", "compute", {"partition": {"config": f"Default=YES MaxTime={n}"}}).ok()
    c.wait_live("compute", MaxTime=f"{n // 60:02}:{n % 60:02}:00")
    c.change("nodesets", "compute", {"partition": {"config": GOOD}}).ok()
    c.wait_live("compute", MaxTime="1-00:00:00")


@pytest.mark.parametrize("case", EXTRA_CONF)
def test_extra_conf(cluster, case):
    text, words = EXTRA_CONF[case]
    answer = cluster.change("controllers", "slurm", {"extraConf": BARE + text})
    try:
        judged(cluster, answer, "controllers", "slurm", "ConfigApplied", words)
    finally:
        cluster.change("controllers", "slurm", {"extraConf": BARE}).ok()
    edit_gets_through(cluster)


@pytest.mark.parametrize("text", ["SlurmSchedLogFile=/no/such/dir/file\n",
                                  "JobCompType=jobcomp/filetxt\nJobCompLoc=/no/such/dir/file\n"])
def test_what_only_slurmctld_itself_can_find(cluster, text):
    """It ends on it, or refuses it where a reconfigure can; then it has the old files again, without a container's waits."""
    cluster.change("controllers", "slurm", {"extraConf": BARE + text}).ok()
    try:
        cluster.wait_state("controllers", "slurm", "ConfigApplied", "False", "Refused", release.end_of_a_start()[1])
        wait_for(lambda: cluster.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld is back")
        assert not cluster.deaths(cluster.known), "its container has ended"
        cluster.jobs.check()
    finally:
        cluster.change("controllers", "slurm", {"extraConf": BARE}).ok()
    edit_gets_through(cluster)


@pytest.mark.parametrize("case", NODESET_CONFIG)
def test_partition_config_of_a_nodeset(cluster, case):
    text, words = NODESET_CONFIG[case]
    answer = cluster.change("nodesets", "compute", {"partition": {"config": f"{GOOD} {text}"}})
    where = ("nodesets", "compute", "PartitionApplied") if case in BY_SLURMCTLD else ("controllers", "slurm", "ConfigApplied")
    try:
        if answer.code < 400 and words:
            cluster.wait_state(*where, "False", says=words)
        elif not words:
            wait_for(lambda: text.strip() in cluster.declared_conf() and cluster.agree(), "the files have it")
        judged(cluster, answer, *where, words)
    finally:
        cluster.change("nodesets", "compute", {"partition": {"config": GOOD}}).ok()
    edit_gets_through(cluster)


@pytest.mark.parametrize("case", PARTITIONS)
def test_partition(cluster, case):
    spec, words = PARTITIONS[case]
    answer = cluster.make("partitions", "hostile", {"all": None if "nodes" in spec else True, **spec})
    try:
        judged(cluster, answer, "partitions", "hostile", "Ready", words)
        edit_gets_through(cluster)
    finally:
        cluster.remove_all("partitions", "hostile")


def test_a_nodeset_called_like_a_partition(cluster):
    cluster.make("partitions", "both", {"all": True}).ok()
    cluster.wait_live("both", State="UP")
    answer = cluster.make("nodesets", "both", {"replicas": 0, "partition": {"enabled": True}})
    judged(cluster, answer, "nodesets", "both", "Ready", "Partition both of the same cluster has a partition both")
    cluster.remove_all("partitions", "both")


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_comes_by_reference(cluster, case):
    """It is there from the beginning: the pod is made again for it, and must not start from it."""
    name, text, extra, words, _ = FILES[case]
    cluster.make("configmaps", "files", data={name: text + "\n"}).ok()
    answer = cluster.change("controllers", "slurm", {"configFileRefs": [{"name": "files"}], "extraConf": BARE + extra})
    try:
        told(cluster, answer, words)
    finally:
        cluster.change("controllers", "slurm", {"configFileRefs": None, "extraConf": BARE}).ok()
        cluster.remove("configmaps", "files")
    cluster.wait_applied(60)
    served(cluster)


@pytest.mark.parametrize("case", [case for case in FILES if FILES[case][4]])
def test_a_file_that_turns_bad(cluster, case):
    """A good one is known already; its content changes."""
    name, text, extra, words, good = FILES[case]
    cluster.make("configmaps", "files", data={name: good + "\n"}).ok()
    try:
        cluster.change("controllers", "slurm", {"configFileRefs": [{"name": "files"}], "extraConf": BARE + extra}).ok()
        cluster.wait_applied(60)
        served(cluster)
        answer = cluster.api.patch(path("configmaps", "files"), {"data": {name: text + "\n"}})
        told(cluster, answer, words)
    finally:
        cluster.change("controllers", "slurm", {"configFileRefs": None, "extraConf": BARE}).ok()
        cluster.remove("configmaps", "files")
    cluster.wait_applied(60)
    served(cluster)


def told(c, answer, words):
    def look():
        found = c.state_of("controllers", "slurm", "ConfigApplied")
        return found if found.get("status") == "False" and (words or "") in found["message"] else None
    if answer.code >= 400:
        assert words in answer.json["message"], answer.json
    elif words:
        print(wait_for(look, f"the author is told of {words}", 30)["message"])
    else:
        c.wait_applied(60)


def served(c):
    """slurmctld answers, from whichever pod, has not died of anything, and has its jobs."""
    c.wait_rolled()
    wait_for(lambda: c.slurm("scontrol", "ping", check=False).returncode == 0, "slurmctld answers", 30)
    assert not c.deaths(c.known), "slurmctld has died"
    c.jobs.check()
    edit_gets_through(c)
