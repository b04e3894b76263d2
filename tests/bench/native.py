# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a declared change takes to be live in slurmctld, against one bare libslurm update.

A cluster of three nodes is brought up with `slurmkeeper up`.  Measured, all in one run: bare libslurm
updates of a partition; edits of a NodeSet's partition.config and of a Partition, from the API
server's answer to the value being live; a new NodeSet until its partition is there; a setting of the
cluster, which takes a rehearsal and a reconfigure, against a bare `scontrol reconfigure`; 500 Partitions
on 1,000 nodes, all of them at once and an edit of one; an edit of one among 5,000 on 10,000 nodes;
then the same edit on a cluster without the agent, where a sidecar looks at the files and reconfigures.

Each is told as a multiple of a bare update on the same cluster.  A bare update itself takes slurmctld
longer where there are more partitions, so that it is measured again at each size, before the edits and
after them.  AIMS says how many times of it are good enough, for a machine that has nothing else to do.

When an edit is live says slurmctld's own log (slurmctld_log.py): asking slurmctld again and again would
be more work for it than the edit.
"""
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "api"))
from lib.client import Api  # noqa: E402
from lib.kubeconfig import Kubeconfig  # noqa: E402
from slurmctld_log import Log  # noqa: E402

BUILD = os.environ["BUILD"]
PROGRAM = os.path.join(BUILD, "src/cli/slurmkeeper")
NODESETS = "/apis/slinky.slurm.net/v1beta1/namespaces/default/nodesets"
PARTITIONS = "/apis/slurmkeeper.dev/v1alpha1/namespaces/default/partitions"
CONTROLLER = "/apis/slinky.slurm.net/v1beta1/namespaces/default/controllers/slurm"
EDITS = int(os.environ.get("BENCH_EDITS", "50"))
AIMS = {"edit": 6, "new": 30, "each": 3, "one of 500": 12, "one of 5000": 24}
PAUSE_S = 0.1  # between two edits: what the last one left behind is over
P95_MS = 100
NEW_MS = 250
MANY = 500
LARGE = int(os.environ.get("BENCH_LARGE", "5000"))  # 0: that part is left out
SMALL = os.environ.get("BENCH_SMALL")  # only what a cluster of three nodes can tell
RECONFIGURES = 15
RECONFIGURE_TIMES, RECONFIGURE_MORE_MS = 1.5, 300  # of a bare one, for the rehearsal


class Cluster:
    """A cluster by `slurmkeeper up`, and a stop-watch inside of its Slurm."""

    def __init__(self, name, *options):
        self.state = tempfile.mkdtemp(prefix="sk-bench-")
        self.name, self.options = name, options
        self.probe = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *exc):
        self.down()

    def start(self):
        start = time.monotonic()
        subprocess.run([PROGRAM, "up", "--state", self.state, "--name", self.name, *self.options], check=True,
                       timeout=180)
        self.conf = f"{self.state}/clients/default/slurm/slurm.conf"
        env = dict(os.environ, SLURM_CONF=self.conf)
        subprocess.run(["srun", "-N3", "hostname"], check=True, env=env, timeout=60,
                       stdout=subprocess.DEVNULL, cwd="/")
        self.up_s = time.monotonic() - start
        self.api = Api(Kubeconfig(f"{self.state}/admin.kubeconfig", self.state))
        self.log = Log(self.state)
        self.probe = subprocess.Popen([os.path.join(BUILD, "tests/bench/bench-probe")], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)

    def ask(self, line):
        self.probe.stdin.write(line + "\n")
        self.probe.stdin.flush()
        answer = self.probe.stdout.readline().strip()
        if answer.startswith("-"):
            raise SystemExit(f"bench: '{line}': {answer[1:].strip() or 'time is out'}")
        return int(answer)

    def operator(self):
        """Process number of the operator."""
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline") as f:
                    words = f.read().split("\0")
            except OSError:
                continue
            if words[1:2] == ["operator"] and any(self.state in word for word in words):
                return int(entry)
        raise SystemExit("bench: there is no operator")

    def down(self):
        if self.probe:
            self.probe.stdin.close()
            self.probe.wait(10)
        subprocess.run([PROGRAM, "down", "--state", self.state, "--purge", "--force"], check=False,
                       timeout=120)
        shutil.rmtree(self.state, ignore_errors=True)


def ok(answer):
    if answer.code not in (200, 201):
        raise SystemExit(f"bench: the API server answered {answer.code}: {answer.body}")


def bare(cluster, count=EDITS):
    """Milliseconds of bare libslurm updates, and of their last part: from slurmctld's log line to the answer."""
    took, after_line = [], []
    for i in range(count):
        took.append(cluster.ask(f"update compute {1000 + i}") / 1e6)
        answered = time.time_ns()
        line = cluster.log.when_set("compute", 1000 + i, 1)
        if line:
            after_line.append((answered - line) / 1e6)
    return took, after_line


def edits(cluster, partition, patch, limit_s=20, count=EDITS):
    """(milliseconds to the new MaxTime in slurmctld, of each edit, from the API server's answer and from the request;
    the bare updates around)

    slurmctld logs a new value while it still holds its locks; what a bare update takes from its line to its answer
    is therefore added.
    """
    took, (around, after_line) = [], bare(cluster, max(10, count // 2))
    for i in range(count):
        minutes = 100 + i
        path, body = patch(minutes)
        time.sleep(PAUSE_S)
        asked = time.time_ns()
        ok(cluster.api.patch(path, body))
        took.append((asked, time.time_ns(), cluster.log.when_set(partition, minutes, limit_s)))
    more, more_after_line = bare(cluster, max(10, count // 2))
    if not after_line or None in [line for _, _, line in took]:
        raise SystemExit(f"bench: slurmctld's log does not tell of every change of {partition}")
    rest = statistics.median(after_line + more_after_line)
    return ([max(0, (line - answered) / 1e6 + rest) for _, answered, line in took],
            [(line - asked) / 1e6 + rest for asked, _, line in took], around + more)


def edits_by_asking(cluster, partition, patch, count):
    """The same where an edit takes a minute, so that asking slurmctld does no harm."""
    took = []
    for i in range(count):
        path, body = patch(100 + i)
        ok(cluster.api.patch(path, body))
        start = time.monotonic_ns()
        took.append(max(0, cluster.ask(f"wait {partition} {100 + i} 60000") - start) / 1e6)
    return took


def patch_nodeset(minutes):
    config = f"Default=YES MaxTime={minutes}"
    return f"{NODESETS}/compute", {"spec": {"partition": {"config": config}}}


def patch_partition(minutes):
    return f"{PARTITIONS}/debug", {"spec": {"maxTime": str(minutes)}}


def new_nodesets(cluster, count=10):
    took = []
    for i in range(count):
        name = f"new{i}"
        ok(cluster.api.post(NODESETS, {
            "apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet",
            "metadata": {"name": name},
            "spec": {"controllerRef": {"name": "slurm"}, "replicas": 0,
                     "partition": {"enabled": True}}}))
        start = time.monotonic_ns()
        took.append(max(0, cluster.ask(f"exists {name} 20000") - start) / 1e6)
    return took


def partition(i):
    return {"apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition",
            "metadata": {"name": f"p{i:04}", "namespace": "default"},
            "spec": {"controllerRef": {"name": "slurm"}, "nodes": f"c[{2 * i + 1:05}-{2 * i + 2:05}]"}}


def nodes_conf(nodes):
    return ("ReturnToService=2\nSuspendProgram=/bin/true\nResumeProgram=/bin/true\n"
            f"MaxNodeCount={2 * nodes}\nNodeName=c[00001-{nodes:05}] CPUs=4 State=CLOUD\n")


def make_many(cluster, count=MANY, nodes=1000):
    """Seconds from `kubectl apply` of so many Partitions to the last one being live."""
    ok(cluster.api.patch(CONTROLLER, {"spec": {"extraConf": nodes_conf(nodes)}}))
    many = json.dumps({"apiVersion": "v1", "kind": "List", "items": [partition(i) for i in range(count)]})
    time.sleep(3)  # slurmctld is restarted for the nodes
    cluster.ask("exists compute 20000")
    start = time.monotonic()
    subprocess.run(["kubectl", "--kubeconfig", f"{cluster.state}/admin.kubeconfig", "apply", "-f", "-"], input=many,
                   text=True, check=True, stdout=subprocess.DEVNULL, timeout=300)
    cluster.ask(f"seldom p{count - 1:04} 60000")
    took = time.monotonic() - start
    time.sleep(2)
    return took


def judge(failed, aim, what, times):
    if times > AIMS[aim]:
        failed.append(f"{what}: {times:.1f} bare updates, and not {AIMS[aim]}")


def edit_one(cluster, name, count):
    return edits(cluster, name, lambda minutes: (f"{PARTITIONS}/{name}", {"spec": {"maxTime": str(minutes)}}), count=count)


def show_there(around):
    show("bare libslurm update there", around, statistics.median(around))
    return statistics.median(around)


def measure_many(cluster, unit, failed):
    took_s = make_many(cluster)
    times = edit_one(cluster, "p0250", EDITS)
    there, each = show_there(times[2]), took_s * 1000 / MANY
    print(f"{MANY} Partitions on 1,000 nodes, kubectl apply to the last one being live: {took_s:.1f} s, "
          f"each {each / there:.1f} x bare there, {each / unit:.1f} x bare on the small cluster")
    judge(failed, "each", f"{MANY} Partitions, each", each / there)
    took = show_edit(f"edit of one Partition among {MANY} on 1,000 nodes", times, there)
    print(f"{'':<52} {statistics.median(took) / unit:.1f} x bare on the small cluster")
    judge(failed, "one of 500", f"edit of one among {MANY}", statistics.median(took) / there)
    if p95(took) > P95_MS:
        failed.append(f"edit of one among {MANY}: p95 is above {P95_MS} ms")


def measure_large(cluster, failed):
    """The operator sleeps until all is declared, and a new one reads it as a whole: one restart of slurmctld brings nodes and
    partitions, where a call for each of them takes minutes."""
    operator = cluster.operator()
    os.kill(operator, signal.SIGSTOP)
    try:
        for i in range(MANY, LARGE):
            ok(cluster.api.post(PARTITIONS, partition(i)))
        ok(cluster.api.patch(CONTROLLER, {"spec": {"extraConf": nodes_conf(2 * LARGE)}}))
    finally:
        os.kill(operator, signal.SIGKILL)
    cluster.ask(f"exists p{LARGE - 1:04} 240000")
    time.sleep(5)
    times = edit_one(cluster, f"p{LARGE // 2:04}", max(10, EDITS // 4))
    there = show_there(times[2])
    took = show_edit(f"edit of one Partition among {LARGE:,} on {2 * LARGE:,} nodes", times, there)
    judge(failed, "one of 5000", f"edit of one among {LARGE:,}", statistics.median(took) / there)


def bare_reconfigures(cluster):
    """Milliseconds of `scontrol reconfigure`, with nothing changed."""
    took = []
    for _ in range(RECONFIGURES):
        start = time.monotonic()
        subprocess.run(["scontrol", "reconfigure"], check=True, env=dict(os.environ, SLURM_CONF=cluster.conf), timeout=60)
        took.append((time.monotonic() - start) * 1000)
        cluster.ask("exists compute 20000")
    return took


def set_kill_wait(cluster, seconds):
    ok(cluster.api.patch(CONTROLLER, {"spec": {"extraConf": f"ReturnToService=2\nKillWait={seconds}\n"}}))
    start = time.monotonic_ns()
    return max(0, cluster.ask(f"killwait {seconds} 60000") - start) / 1e6


def measure_reconfigures(cluster, failed):
    """A setting that slurmctld takes by a reconfigure alone: rehearsed first, then declared to be live."""
    bare_ms = bare_reconfigures(cluster)
    unit = statistics.median(bare_ms)
    show("bare scontrol reconfigure", bare_ms, unit, "x bare reconfigure")
    took = []
    for i in range(RECONFIGURES):
        took.append(set_kill_wait(cluster, 31 + i))
        time.sleep(0.5)  # the answer is on its way to the operator
    show("a setting of the cluster, rehearsed and reconfigured", took, unit, "x bare reconfigure")
    limit = RECONFIGURE_TIMES * unit + RECONFIGURE_MORE_MS
    if statistics.median(took) > limit:
        failed.append(f"a setting of the cluster took {statistics.median(took):.0f} ms, and not {limit:.0f}")


def p95(values):
    return sorted(values)[max(0, int(len(values) * 0.95) - 1)]


def show(what, values, unit, of="x bare"):
    print(f"{what:<52} median {statistics.median(values):8.2f} ms   p95 {p95(values):8.2f} ms"
          f"   {statistics.median(values) / unit:7.1f} {of}")


def show_edit(what, measured, unit):
    answered, asked, _ = measured
    show(what, answered, unit)
    show("    from the request, not from its answer", asked, unit)
    return answered


def measure_live(cluster, failed):
    """The bare update's median, which everything else is held against."""
    print(f"up to the first finished srun -N3: {cluster.up_s:.1f} s")
    if cluster.up_s > 10:
        failed.append("up took more than 10 s")
    bare(cluster, 10)  # a first one asks for more
    ok(cluster.api.post(PARTITIONS, {
        "apiVersion": "slurmkeeper.dev/v1alpha1", "kind": "Partition",
        "metadata": {"name": "debug"},
        "spec": {"controllerRef": {"name": "slurm"}, "nodeSetRefs": [{"name": "compute"}]}}))
    cluster.ask("exists debug 20000")
    measured = {what: edits(cluster, partition, patch) for what, partition, patch in (
        ("edit of a NodeSet's partition.config", "compute", patch_nodeset),
        ("edit of a Partition", "debug", patch_partition))}
    all_bare = [ms for _, _, around in measured.values() for ms in around]
    unit = statistics.median(all_bare)
    show("bare libslurm update of a partition", all_bare, unit)
    for what, times in measured.items():
        took = show_edit(what, times, unit)
        judge(failed, "edit", what, statistics.median(took) / unit)
        if p95(took) > P95_MS:
            failed.append(f"{what}: p95 is above {P95_MS} ms")
    took = new_nodesets(cluster)
    show("a new NodeSet, to its partition being there", took, unit)
    judge(failed, "new", "a new NodeSet", statistics.median(took) / unit)
    if p95(took) > NEW_MS:
        failed.append(f"a new NodeSet took more than {NEW_MS} ms")
    return unit


def main():
    failed = []
    with Cluster("bench") as cluster:
        unit = measure_live(cluster, failed)
        measure_reconfigures(cluster, failed)
        if not SMALL:
            measure_many(cluster, unit, failed)
        if LARGE and not SMALL:
            try:
                measure_large(cluster, failed)
            except SystemExit as e:  # the rest is worth knowing all the same
                failed.append(f"{LARGE:,} Partitions on {2 * LARGE:,} nodes: {e}")
    if not SMALL:
        with Cluster("bench-files", "--no-agent") as cluster:
            show("the same edit by files, polling and reconfigure",
                 edits_by_asking(cluster, "compute", patch_nodeset, 5), unit)
    for what in failed:
        print(f"bench: {what}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
