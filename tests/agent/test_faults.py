# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes wrong: slurmctld gone, stopped, killed in a call; bad files; no rights; dead parents."""
import os
import shutil
import signal
import subprocess
import time

import pytest

from link import EACCES, EHOSTDOWN, EINVAL, EPIPE, EREMOTEIO, ETIMEDOUT, CALL, Link
from slurm import release, wait_for


def update(link, value="30", **fields):
    return link.send("partition-update", name="all", set={"MaxTime": value}, **fields)


def gone(pid):
    """True if the process has ended, reaped or not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_ping_tells_who_is_there(own, own_link):
    answer = own_link.ok("ping")
    assert answer["up"] and answer["release"] == release.text() and answer["cluster"] == "scratch"
    assert answer["controllers"] == [{"name": "localhost", "mode": "primary", "up": True}]


def test_what_is_under_way_to_nodes_is_told(own, own_link):
    own_link.ok("reconfigure")
    wait_for(lambda: own_link.ok("under-way")["messages"] == 0)


def test_down_is_known_soon(own, own_link):
    own_link.ok("ping")
    own_link.ok("partition-update", name="all", set={"MaxTime": "10"})
    own.kill()
    answer = own_link.ok("ping")
    assert not answer["up"] and not answer["controllers"][0]["up"]
    for call in ("partitions", "nodes", "jobs", "reservations", "conf"):
        whole = own_link.call(call)
        assert whole["r"] == EHOSTDOWN and whole["ms"] < 2000, whole
    whole = own_link.wait(update(own_link))
    assert whole["r"] == EHOSTDOWN and whole["ms"] < 2000, whole
    assert whole["answer"]["error"]["kind"] == "down"
    own.start()
    assert own_link.ok("ping")["up"]
    assert own_link.wait(update(own_link))["r"] == 0


def test_never_up_is_known_at_the_first_call(own, own_link):
    own.kill()
    whole = own_link.wait(update(own_link))
    assert whole["r"] == EHOSTDOWN and whole["ms"] < 2500, whole


def test_stopped_is_a_timeout_and_the_lane_recovers(own, own_link):
    own_link.ok("partition-update", name="all", set={"MaxTime": "10"})
    own.send(signal.SIGSTOP)
    before = time.monotonic()
    whole = own_link.wait(update(own_link, timeout_ms=1000))
    assert whole["r"] == ETIMEDOUT and 0.9 < time.monotonic() - before < 3
    own.send(signal.SIGCONT)
    # slurmctld has the first one still: it comes into effect now, before or after the next one
    wait_for(lambda: own.partition("all")["MaxTime"] == "00:30:00")
    assert own_link.wait(update(own_link, "33"))["r"] == 0
    assert own.partition("all")["MaxTime"] == "00:33:00"


def test_a_stopped_slurmctld_holds_up_one_lane_at_a_time(own, own_link):
    own.send(signal.SIGSTOP)
    stuck = update(own_link, timeout_ms=4000)
    before = time.monotonic()
    assert own_link.ok("parse", dir=own.dir)["ok"]
    assert time.monotonic() - before < 2
    own.send(signal.SIGCONT)
    assert own_link.wait(stuck)["r"] == 0


def test_a_slow_slurmctld_is_waited_for(own, own_link):
    own_link.ok("partition-update", name="all", set={"MaxTime": "10"})
    own.send(signal.SIGSTOP)
    number = update(own_link, "21")
    time.sleep(1.5)
    own.send(signal.SIGCONT)
    whole = own_link.wait(number)
    assert whole["r"] == 0 and 1400 < whole["ms"] < 5000, whole
    assert own.partition("all")["MaxTime"] == "00:21:00"


def test_a_backup_that_is_not_there(own, tmp_path):
    own.kill()
    own.extra = "CommunicationParameters=NoCtldInAddrAny"
    own.write()
    own.start()
    conf = own.text().replace("SlurmctldPort", "SlurmctldHost=spare(127.0.0.9)\nSlurmctldPort")
    (tmp_path / "slurm.conf").write_text(conf)
    link = Link(str(tmp_path / "slurm.conf"))
    answer = link.ok("ping")
    assert answer["up"] and [c["up"] for c in answer["controllers"]] == [True, False]
    assert [c["name"] for c in answer["controllers"]] == ["localhost", "spare"]
    assert link.wait(update(link))["r"] == 0
    own.kill()
    assert not link.ok("ping")["up"]
    whole = link.wait(update(link))
    assert whole["r"] == EHOSTDOWN and whole["ms"] < 3000, whole
    link.close()


def test_killed_in_the_middle_of_a_call(own, own_link):
    own_link.ok("ping")
    own_link.ok("partition-update", name="all", set={"MaxTime": "10"})
    own.send(signal.SIGSTOP)
    calls = [update(own_link), own_link.send("partitions")]
    time.sleep(0.5)
    own.kill()
    for number in calls:
        whole = own_link.wait(number)
        assert whole["r"] == EHOSTDOWN, whole
        assert whole["ms"] < 3000
    own.start()
    assert own_link.wait(update(own_link, "44"))["r"] == 0
    assert own.partition("all")["MaxTime"] == "00:44:00"


def test_without_munged(own, own_link):
    own_link.ok("ping")
    munged = own.processes[0]
    munged.kill()
    munged.wait()
    whole = own_link.wait(update(own_link))
    assert whole["r"] == EHOSTDOWN and whole["ms"] < 2000, whole
    assert "munged is not there" in whole["error"], whole
    os.unlink(own.munge_socket)
    own.start_munged()
    own.kill()
    own.start()
    assert own_link.wait(update(own_link))["r"] == 0


def test_without_a_file(own, tmp_path):
    link = Link(str(tmp_path / "slurm.conf"))
    whole = link.call("ping")
    assert whole["r"] == EHOSTDOWN and "No such file" in whole["error"] and whole["ms"] < 1000
    shutil.copy(own.conf, tmp_path / "slurm.conf")
    assert link.ok("ping")["up"]
    link.close()


def test_a_bad_file_is_the_reason_of_the_childs_end(tmp_path):
    (tmp_path / "slurm.conf").write_text("ClusterName=x\nSlurmctldHost=localhost\nBogus=1\n")
    link = Link(str(tmp_path / "slurm.conf"))
    whole = link.call("ping")
    assert whole["r"] == EPIPE and "Bogus" in whole["error"] and whole["ms"] < 2000, whole
    link.close()


def test_a_changed_port_needs_a_restart_of_the_link(own, own_link):
    own_link.ok("ping")
    own.kill()
    own.fields["port"] += 1
    own.write()
    own.start()
    assert not own_link.ok("ping")["up"]
    own_link.restart()
    assert own_link.ok("ping")["up"]
    assert own_link.wait(update(own_link))["r"] == 0


def test_reconfigure_reads_the_file(own, own_link):
    own.partitions.append("PartitionName=second Nodes=c0001")
    own.write()
    own_link.ok("reconfigure")
    assert set(own_link.items("partitions")) == {"all", "second"}


def test_a_reconfigure_that_slurmctld_refuses_or_dies_of_is_told(own, own_link):
    own.partitions.append("PartitionName=second Nodes=nowhere")
    own.write()
    whole = own_link.call("reconfigure")
    if release.has("service"):
        assert whole["r"] == EREMOTEIO and own_link.ok("ping")["up"], whole
        return
    assert whole["r"] == EHOSTDOWN, whole
    own.ctld.wait(10)


def test_shutdown_ends_slurmctld_alone(own, own_link):
    own_link.ok("shutdown")
    assert own.ctld.wait(15) == 0
    assert not own_link.ok("ping")["up"]


def test_conf_has_what_slurmctld_runs_on(own, own_link):
    answer = own_link.ok("conf")
    config = answer["config"]
    assert config["SlurmctldPort"] == str(own.port) and config["ClusterName"] == "scratch"
    assert config["MessageTimeout"] == "10 sec" and answer["release"] == release.text()
    assert own_link.ok("conf", since=answer["time"] + 5) == {"ok": True, "unchanged": True}


@pytest.mark.parametrize("line,text,key", [
    ("Bogus=1", "Bogus", "Bogus"),
    ("PartitionName=p Nodes=c0001 MaxTime=soon", "MaxTime", None),  # libslurm prints the whole line
    ("PartitionName=p Nodes=c0001 Wrong=1", "Wrong", "Wrong"),
    ("MessageTimeout=never", "MessageTimeout", "MessageTimeout"),
    ("Include nothing.conf", "nothing.conf", None),
])
def test_parse_refuses_what_libslurm_does(own, own_link, tmp_path, line, text, key):
    own.partitions.append(line)
    own.write(tmp_path / "slurm.conf")
    whole = own_link.call("parse", dir=str(tmp_path))
    assert whole["r"] == EREMOTEIO, whole
    problems = whole["answer"]["problems"]
    assert any(text in p["message"] for p in problems), problems
    assert key is None or any(p.get("key") == key for p in problems), problems
    assert own_link.ok("parse", dir=own.dir)["ok"]


def test_parse_names_file_and_line(own, own_link, tmp_path):
    own.write(tmp_path / "slurm.conf")
    lines = len((tmp_path / "slurm.conf").read_text().splitlines())
    with open(tmp_path / "slurm.conf", "a", encoding="utf-8") as f:
        f.write("PartitionName=p Wrong=1\n")
    problems = own_link.call("parse", dir=str(tmp_path))["answer"]["problems"]
    placed = [p for p in problems if "line" in p]
    assert placed and placed[0]["line"] == lines + 1, problems
    assert placed[0]["file"] == str(tmp_path / "slurm.conf")


def test_parse_takes_includes(own, own_link, tmp_path):
    own.partitions.append("Include more.conf")
    own.write(tmp_path / "slurm.conf")
    (tmp_path / "more.conf").write_text("PartitionName=more Nodes=c0002\n")
    assert own_link.ok("parse", dir=str(tmp_path))["problems"] == []
    assert own_link.call("parse", dir=str(tmp_path / "none"))["r"] == EINVAL
    assert own_link.call("parse")["r"] == EINVAL


def test_who_is_not_root_is_denied(own):
    user = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", CALL,
                             os.path.join(os.path.dirname(CALL),
                                          "../../src/agent/worker/slurmkeeper-agent-worker"),
                             own.conf], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    link = Link.__new__(Link)
    link.process, link.made, link.answers = user, 0, {}
    assert link.ok("ping")["up"]
    whole = link.wait(update(link))
    assert whole["r"] == EACCES, whole
    assert own.partition("all")["MaxTime"] == "UNLIMITED"
    link.close()


def test_calls_that_make_no_sense(own_link):
    assert own_link.call("frobnicate")["r"] == EINVAL
    assert own_link.call("partition-update", set={})["r"] == EINVAL


def test_children_die_with_their_parent(own):
    link = Link(own.conf)
    link.ok("ping")
    update_number = update(link)
    link.wait(update_number)
    children = link.children()
    assert len(children) == 2
    link.process.kill()
    link.process.wait()
    wait_for(lambda: all(gone(pid) for pid in children), seconds=5)


def test_a_killed_child_is_replaced(own, own_link):
    own_link.ok("ping")
    for pid in own_link.children():
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.2)
    assert own_link.ok("ping")["up"]
