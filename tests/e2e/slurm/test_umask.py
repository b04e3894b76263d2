# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may read what: the same whatever umask `up` was started with, and nothing that is secret."""
import base64
import json
import os
import re
import subprocess

import pytest

from local import Local

MASKS = [0o022, 0o027, 0o077]
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
RANDOM = re.compile(r"\.\.\d{4}_[0-9_.]+|munge-\w+|\b[0-9a-f]{12,}\b|-[0-9a-f]{16,}|[^/]*\.new-\w+")
# of processes that go on: pipes and records that come and go; what a run writes into its own root
RESTLESS = re.compile(r"/(runtime|node/claims/[^/]+|apiserver\.lock|api\.db.*|var/spool/slurmd|run|tmp|cache|volumes/run|slurm-live|slurm-logfile/last-good(\.new)?)(/|$)")
OPEN_TO_ALL = re.compile(r"^(|clients(/[^/]+){0,2}|clients/.*/(slurm|plugstack|cgroup|topology|gres)[^/]*\.conf|"
                         r"clients/.*/slurmkeeper-spank\.so|clients/.*/munge\.(socket(\.\d+)?(\.lock)?|pid)|cluster\.json|serve\.json)$")


def modes_of_state(c):
    """Every path below the state directory, as others would find it in another cluster; with its mode."""
    seen = set()
    uids = {}
    for base, dirs, files in os.walk(c.state):
        for name in dirs + files:
            path = os.path.join(base, name)
            short = path[len(c.state):]
            for uid in UID.findall(short):
                if uid not in uids:
                    uids[uid] = pod_name(c, uid)
                short = short.replace(uid, uids[uid])
            short = RANDOM.sub("R", short)
            if not RESTLESS.search(short) and os.path.lexists(path) and not os.path.islink(path):
                seen.add(f"{os.lstat(path).st_mode & 0o7777:o} {short}")
    return seen


def pod_name(c, uid):
    try:
        with open(f"{c.state}/node/pods/{uid}/pod.json") as f:
            return json.load(f)["metadata"]["name"]
    except OSError:
        return "pod"


def modes_in_pod(c):
    """The same of a pod's root, from inside: its own file system, and what is mounted there."""
    out = c.exec("compute-0", "sh", "-c",
                 "find / -xdev \\( -path /tmp -o -path /home -o -path /srv -o -path /root -o -path /var/tmp -o "
                 "-path /usr -o -path /opt -o -path /.etc -o -path /libexec -o -path '/etc/slurm.*.d' -o "
                 "-path /var/spool/slurmd \\) -prune -o -printf '%m %u %g %p\\n';"
                 "stat -c '%a %U %G %n' /run /dev/shm /etc /etc/slurm /etc/slurm/* /etc/passwd /etc/shadow /usr/bin "
                 "/var/log/slurm /var/log/slurm/slurmd.log /libexec/slurmkeeper/entrypoint/slurmd",
                 container="slurmd").stdout
    return set(out.splitlines())


def readable(c, uid=65534):
    """What a stranger on the machine reads of it: paths below the state directory."""
    paths = [os.path.join(base, name) for base, dirs, files in os.walk(c.state) for name in dirs + files]
    out = subprocess.run(["python3", "-c", "import os,sys\nfor p in sys.stdin.read().split(chr(0)):\n"
                          " if os.access(p, os.R_OK): print(p)"], input="\0".join(paths), user=uid, group=uid,
                         extra_groups=[], check=True, capture_output=True, text=True).stdout
    return {line[len(c.state) + 1:] for line in out.splitlines()}


def on_disk(c):
    """Files of the node that are not in memory."""
    device = os.stat(c.state).st_dev
    for base, _, files in os.walk(f"{c.state}/node"):
        for name in files:
            path = os.path.join(base, name)
            st = os.lstat(path)
            if st.st_dev == device and os.path.isfile(path) and not os.path.islink(path) and st.st_size < 1 << 20:
                yield path


@pytest.fixture(scope="module")
def seen():
    """For each umask: what there was, after a job has run."""
    result = {}
    for mask in MASKS:
        with Local("u") as c:
            os.chmod(c.state, 0o755)  # a parent that others may pass
            c.up(umask=mask)
            assert c.slurm("srun", "-N3", "-n3", "hostname", user="nobody").stdout
            secrets = json.loads(c.kubectl("get", "secrets", "-o", "json").stdout)["items"]
            keys = [base64.b64decode(v) for s in secrets for v in s["data"].values()]
            result[mask] = {"state": modes_of_state(c), "pod": modes_in_pod(c), "readable": readable(c),
                            "umask": c.exec("compute-0", "sh", "-c", "umask").stdout.strip(),
                            "leaked": [p for p in on_disk(c) for k in keys if len(k) > 16 and
                                       k in open(p, "rb").read()]}
    return result


@pytest.mark.parametrize("mask", MASKS[1:], ids=oct)
@pytest.mark.parametrize("where", ["state", "pod"])
def test_modes_are_the_same_with_every_umask(seen, mask, where):
    assert sorted(seen[mask][where] ^ seen[0o022][where]) == []


@pytest.mark.parametrize("mask", MASKS, ids=oct)
def test_others_read_what_commands_need_and_nothing_else(seen, mask):
    assert [p for p in seen[mask]["readable"] if not OPEN_TO_ALL.match(p)] == []
    assert any(p.endswith("/slurm.conf") for p in seen[mask]["readable"])


@pytest.mark.parametrize("mask", MASKS, ids=oct)
def test_secrets_of_pods_are_not_on_the_disk(seen, mask):
    assert seen[mask]["leaked"] == []


@pytest.mark.parametrize("mask", MASKS, ids=oct)
def test_commands_in_containers_have_the_usual_umask(seen, mask):
    assert seen[mask]["umask"] == "0022"
