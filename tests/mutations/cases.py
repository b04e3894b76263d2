# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases: the base set of files with one thing changed."""
import collections
import hashlib
import random

import values

Key = collections.namedtuple("Key", "file section name kind standing choices")
# what: to be printed; key: what a refusal must name; text: (base lines -> lines); more: other files
Case = collections.namedtuple("Case", "id file section key how value lines drop more")

# A line of each section, into which the key is put.
LINES = {
    "node": {"NodeName": "x0001", "NodeAddr": "127.0.0.1", "CPUs": "4", "RealMemory": "4000", "State": "CLOUD"},
    "nodeset": {"NodeSet": "mutated", "Nodes": "c0002"},
    "partition": {"PartitionName": "debug", "Nodes": "few"},
    "down": {"DownNodes": "x0001", "State": "DOWN", "Reason": "mutated"},
    "frontend": {"FrontendName": "front"},
    "power": {"PowerAction": "act", "Program": "/bin/true", "Location": "slurmctld"},
    "gres": {"NodeName": "x0001", "Name": "gpu", "Count": "1"},
    "switch": {"SwitchName": "s1", "Nodes": "ALL_NODES"},
}
# What a file needs in slurm.conf to be read at all.
READ_BY = {
    "topology.conf": ["TopologyPlugin=topology/tree"],
    "job_container.conf": ["JobContainerType=job_container/tmpfs", "PrologFlags=Contain"],
    "namespace.yaml": ["NamespaceType=namespace/linux", "PrologFlags=Contain"],
    "acct_gather.conf": ["AcctGatherProfileType=acct_gather_profile/influxdb"],
    "burst_buffer.conf": ["BurstBufferType=burst_buffer/lua"],
    "job_submit.lua": ["JobSubmitPlugins=lua"],
    "helpers.conf": ["NodeFeaturesPlugins=node_features/helpers"],
    "plugstack.conf": [], "mpi.conf": [], "oci.conf": [], "cgroup.conf": [], "gres.conf": [], "topology.yaml": [],
    "cli_filter.lua": ["CliFilterPlugins=cli_filter/lua"],
}
GOOD = {
    "topology.conf": ["SwitchName=s1 Nodes=ALL_NODES", "SwitchName=s1 Nodes=c[0001-0002]\nSwitchName=s2 Switches=s1",
                      "BlockName=b1 Nodes=c[0001-0004]\nBlockSizes=2"],
    "topology.yaml": ["- topology: t\n  cluster_default: true\n  flat: true\n",
                      "- topology: t\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s\n        nodes: c[0001-0004]\n",
                      "- topology: t\n  cluster_default: true\n  block:\n    block_sizes: [3]\n    blocks: []\n",
                      "- topology: t\n  tree:\n    switches:\n      - switch: s\n        nodes: nowhere\n",
                      "- topology: t\n  nothing: 1\n"],
    "job_container.conf": ["BasePath=/var/tmp AutoBasePath=true", "BasePath=/nonexistent", "Nothing=1"],
    "plugstack.conf": ["optional /nonexistent.so", "required /nonexistent.so", "include /nonexistent/*", "what is this"],
    "job_submit.lua": ["function slurm_job_submit(j,p,u) return 0 end\nfunction slurm_job_modify(j,r,p,u) return 0 end\n",
                       "function broken(", "error('no')", "while true do break end"],
    "gres.conf": ["AutoDetect=nvml", "Name=gpu File=/dev/nvidia0", "Name=nothing Count=1"],
    "cgroup.conf": ["CgroupPlugin=disabled", "CgroupPlugin=cgroup/v1", "ConstrainCores=yes"],
    "mpi.conf": ["PMIxDebug=1", "Nothing=1"], "oci.conf": ["RunTimeRun=\"true\"", "Nothing=1"],
    "acct_gather.conf": ["ProfileInfluxDBHost=localhost:1", "Nothing=1"],
    "helpers.conf": ["Feature=a Helper=/bin/true", "Nothing=1"],
}
TEXTS = ["", "\n\n", "#", "x", "Nothing=1", "=", "é=é", "Include /nonexistent/file", "Name=\"", values.LONG, "\x01\x02",
         "a: [", "- - -", "\\"]


def line_of(section, key, value):
    pairs = {k: v for k, v in LINES[section].items() if k.lower() != key.lower()}
    first = next(iter(LINES[section]))
    opening = f"{key}={value}" if key.lower() == first.lower() else f"{first}={LINES[section][first]}"
    rest = [f"{k}={v}" for k, v in pairs.items() if k != first]
    return " ".join([opening, *rest] + ([] if key.lower() == first.lower() else [f"{key}={value}"]))


def case(key, how, value, lines, more=None):
    """The name of a case is the same in every run."""
    said = repr((key.file, key.section, key.name, how, value))
    name = hashlib.sha1(said.encode()).hexdigest()[:12]
    drop = {"cluster": [key.name], "partition": ["PartitionName=debug"], "node": ["NodeName=x0001"]}.get(key.section, [])
    return Case(name, key.file, key.section, key.name, how, value, lines, drop, more or {})


def of_key(key, release):
    for how, value in values.values(key, release):
        if key.file != "slurm.conf":
            line = f"{key.name}={value}" if key.section == "cluster" else line_of(key.section, key.name, value)
            yield case(key, how, value, READ_BY.get(key.file, []), {key.file: line + "\n"})
        elif key.section == "cluster":
            yield case(key, how, value, [f"{key.name}={value}"])
        else:
            yield case(key, how, value, [line_of(key.section, key.name, value)])
    if key.file == "slurm.conf" and key.section == "cluster":
        first = values.values(key, release)[0][1]
        yield case(key, "twice", first, [f"{key.name}={first}", f"{key.name}={first}"])
        yield case(key, "twice, one bad", first, [f"{key.name}=nothing/here", f"{key.name}={first}"])
        yield case(key, "two in a line", first, [f"{key.name}={first} {key.name}={first}"])
        yield case(key, "included", first, ["Include more.conf"], {"more.conf": f"{key.name}={first}\n"})
        yield case(key, "included, bad", first, ["Include more.conf"], {"more.conf": f"{key.name}=/nonexistent\n"})


def of_files():
    for name, lines in READ_BY.items():
        key = Key(name, "file", name, "file", "has", "")
        for text in GOOD.get(name, []):
            yield case(key, "known", text, lines, {name: text + "\n"})
        for text in TEXTS:
            yield case(key, "bad", text, lines, {name: text})
        yield case(key, "missing", "", lines)


def all_cases(keys, release, seed):
    """Each key's first value, then each key's second, ...: whenever it is stopped, no key was left out."""
    rng = random.Random(seed)
    groups = [list(of_key(k, release)) for k in keys]
    by_file = collections.defaultdict(list)
    for c in of_files():
        by_file[c.file].append(c)
    groups += list(by_file.values())
    for group in groups:
        rng.shuffle(group)
    rng.shuffle(groups)
    while groups:
        for group in groups:
            yield group.pop()
        groups = [g for g in groups if g]
