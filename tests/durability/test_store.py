# SPDX-License-Identifier: GPL-2.0-or-later
"""What is damaged, lost, older or full is told, and nothing that was acknowledged vanishes without a word."""
import base64
import os
import shutil
import signal
import stat
import subprocess
import threading
import time

import pytest

from server import MAPS, PROGRAM, SECRETS, Server, fill, listed

VALUE = "a-munge-key-that-nobody-may-read"


@pytest.fixture
def server(tmp_path):
    s = Server(tmp_path)
    yield s
    s.kill()
    subprocess.run([PROGRAM, "down", "--purge", "--state", s.state], capture_output=True, check=False)


def flip(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 0x40]))


def damaged(s):
    flip(s.path("api.db-wal"), os.path.getsize(s.path("api.db-wal")) // 2)


def missing(s):
    os.unlink(s.path("api.db-wal"))


def cut(s):
    os.truncate(s.path("api.db-wal"), os.path.getsize(s.path("api.db-wal")) // 2)


@pytest.mark.parametrize("harm", [damaged, missing, cut])
def test_a_harmed_log_is_told_and_served_only_by_a_persons_word(server, harm):
    server.start()
    fill(server.api(), 300)
    version = listed(server.api())[1]
    server.kill()
    harm(server)
    before = {n: os.path.getsize(server.path(n)) for n in os.listdir(server.path("")) if n.startswith("api.")}
    for _ in range(2):
        words = server.refused()
        assert "acknowledged" in words and "recover --accept-loss" in words and "restore FILE" in words
    assert before == {n: os.path.getsize(server.path(n)) for n in before}
    out = server.run("recover", "--accept-loss").stdout
    assert "before-recover-" in out
    server.start()
    names, now = listed(server.api())
    assert len(names) < 300 and now > version
    gone = server.api().get(f"/api/v1/configmaps?watch=true&resourceVersion={version}&timeoutSeconds=1")
    assert gone.code == 410 or '"code":410' in str(gone.text if hasattr(gone, "text") else gone)
    fill(server.api(), 5, 1000)
    server.kill()
    server.start()


def test_files_that_were_opened_to_others_are_closed_at_the_next_start(server):
    server.start()
    fill(server.api(), 3)
    server.kill()
    for name in ("api.db", "api.db-wal"):
        os.chmod(server.path(name), 0o666)
    server.start()
    for name in ("api.db", "api.db-wal"):
        assert stat.S_IMODE(os.stat(server.path(name)).st_mode) == 0o600, name


def test_a_kill_alone_is_no_loss(server):
    server.start()
    fill(server.api(), 50)
    server.kill()
    before = os.listdir(server.state)
    assert "Nothing is missing" in server.run("recover", "--accept-loss").stdout
    assert set(os.listdir(server.state)) <= set(before)
    server.start()
    assert len(listed(server.api())[0]) == 50


@pytest.mark.parametrize("names", [["api.db"], ["api.db", "api.db-wal", "api.mark"]])
def test_a_removed_database_is_told(server, names):
    server.start()
    fill(server.api(), 5)
    server.kill(signal.SIGTERM)
    for name in names:
        if os.path.exists(server.path(name)):
            os.unlink(server.path(name))
    assert "is missing" in server.refused()
    assert not os.path.exists(server.path("api.db"))
    server.run("recover", "--accept-loss")
    server.start()
    assert listed(server.api())[0] == set()


def shows(path):
    """Does any file below it hold the value, in any of the forms that it has on its way?"""
    forms = [VALUE.encode(), base64.b64encode(VALUE.encode())]
    found = []
    for top, _, names in os.walk(path) if os.path.isdir(path) else [(os.path.dirname(path), 0, [os.path.basename(path)])]:
        for name in names:
            with open(os.path.join(top, name), "rb") as f:
                content = f.read()
            found += [name for form in forms if form in content]
    return found


def test_secrets_are_in_no_file_and_keys_are_exchanged_while_it_runs(server):
    server.start()
    api = server.api()
    secret = {"metadata": {"name": "key"}, "stringData": {"munge.key": VALUE}}
    api.post(SECRETS, secret).ok(201)
    api.patch(f"{SECRETS}/key", {"metadata": {"labels": {"a": "b"}}}).ok(200)
    api.post(SECRETS, {"metadata": {"name": "gone"}, "stringData": {"x": VALUE}}).ok(201)
    api.delete(f"{SECRETS}/gone").ok(200)
    backup = f"{server.directory}/backup.tar"
    server.run("backup", backup)
    assert shows(server.state) == [] and shows(backup) == []
    for top, _, names in os.walk(server.state):
        for name in names:
            mode = os.lstat(os.path.join(top, name)).st_mode
            assert stat.S_ISSOCK(mode) or mode & 0o077 == 0, name
    with open(server.path("keys/store.key")) as f:
        old = f.read()
    server.run("rotate-keys")
    with open(server.path("keys/store.key")) as f:
        assert f.read() != old and len(old.split("\n")) == 2
    got = server.api().get(f"{SECRETS}/key").ok(200)
    assert base64.b64decode(got["data"]["munge.key"]).decode() == VALUE
    server.kill()
    server.start()
    got = server.api().get(f"{SECRETS}/key").ok(200)
    assert base64.b64decode(got["data"]["munge.key"]).decode() == VALUE
    server.kill()
    server.run("rotate-keys")
    os.rename(server.path("keys/store.key"), server.path("kept"))
    assert "store.key' is missing: bring that file back" in server.refused()
    assert not os.path.exists(server.path("keys/store.key"))
    os.rename(server.path("kept"), server.path("keys/store.key"))
    server.start()
    assert shows(server.state) == []


def test_a_backup_is_written_into_no_file_that_others_made(server):
    """In /tmp, somebody may hold a file open before the backup gets its name, or have made a link."""
    server.start()
    backup, victim = f"{server.directory}/backup.tar", f"{server.directory}/victim"
    with open(victim, "w") as f:
        f.write("kept")
    with open(f"{backup}.part", "w+b") as held:
        os.link(victim, backup)
        server.run("backup", backup)
        assert held.read() == b""
    with open(victim) as f:
        assert f.read() == "kept"
    st = os.stat(backup)
    assert st.st_mode & 0o777 == 0o600 and st.st_nlink == 1
    assert sorted(n for n in os.listdir(server.directory) if n.startswith("backup.tar")) == ["backup.tar", "backup.tar.part"]


def test_a_backup_of_a_running_server_is_of_one_moment_and_comes_back(server):
    server.start()
    api = server.api()
    fill(api, 20)
    stop = threading.Event()

    def write():
        mine, i = server.api(), 0
        while not stop.is_set():
            i += 1
            mine.patch(f"{MAPS}/m0", {"data": {"n": str(i)}}).ok(200)
            mine.patch(f"{MAPS}/m1", {"data": {"n": str(i)}}).ok(200)

    writer = threading.Thread(target=write)
    writer.start()
    backup = f"{server.directory}/backup.tar"
    try:
        time.sleep(0.2)
        server.run("backup", backup)
    finally:
        stop.set()
        writer.join()
    assert os.stat(backup).st_mode & 0o777 == 0o600
    assert not [n for n in os.listdir(server.state) if n.startswith("backup-")]
    manifest = subprocess.run(["tar", "-xOf", backup, "manifest.json"], capture_output=True, text=True, check=True)
    assert '"version"' in manifest.stdout and '"release"' in manifest.stdout
    fill(api, 3, 100)
    api.delete(f"{MAPS}/m5").ok(200)
    version = listed(api)[1]

    refused = server.run("restore", backup, check=False)
    assert refused.returncode == 1 and "another API server runs" in refused.stderr
    server.kill()
    bad = f"{server.directory}/bad.tar"
    with open(backup, "rb") as f:
        content = f.read()
    for harm in (content[:-1], content[:4096] + bytes([content[4096] ^ 1]) + content[4097:], b"", content[:-128]):
        with open(bad, "wb") as f:
            f.write(harm)
        refused = server.run("restore", bad, check=False)
        assert refused.returncode == 1 and ("damaged" in refused.stderr or "no backup" in refused.stderr)
    out = server.run("restore", backup).stdout
    assert "made since, and lost:      configmaps default/m100" in out, out
    assert "removed since, and back:  configmaps default/m5" in out, out
    server.start()
    names, now = listed(server.api())
    assert names == {f"m{i}" for i in range(20)} and now > version
    first = int(server.api().get(f"{MAPS}/m0").ok(200)["data"]["n"])
    second = int(server.api().get(f"{MAPS}/m1").ok(200)["data"]["n"])
    assert first - second in (0, 1)


def test_a_backup_comes_back_onto_a_fresh_machine(server):
    server.start()
    fill(server.api(), 7)
    kubeconfig = server.api()
    backup = f"{server.directory}/backup.tar"
    with open(backup, "wb") as out:
        subprocess.run([PROGRAM, "backup", "--state", server.state, "-"], stdout=out, check=True)
    server.kill()
    os.rename(server.state, f"{server.state}.old")
    server.run("restore", backup)
    server.start()
    assert len(listed(kubeconfig)[0]) == 7  # credentials that were handed out go on to work


def test_pods_of_another_machine_are_made_again_on_a_fresh_one(server):
    if os.geteuid() != 0:
        pytest.skip("another host name needs root")
    server.start()
    api = server.api()
    spec = {"nodeName": os.uname().nodename, "containers": [{"name": "c", "image": "i"}]}
    api.post("/api/v1/namespaces/default/pods", {"metadata": {"name": "p"}, "spec": spec}).ok(201)
    api.post("/api/v1/nodes", {"metadata": {"name": os.uname().nodename}}).ok(201)
    backup = f"{server.directory}/backup.tar"
    server.run("backup", backup)
    server.kill()
    server.run("restore", backup)
    server.start()
    assert api.get("/api/v1/namespaces/default/pods/p").code == 200
    server.kill()
    out = server.run("restore", backup, around=["unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "-"])
    assert "2 pods and nodes that are not here are taken out" in out.stdout
    server.start()
    assert api.get("/api/v1/namespaces/default/pods/p").code == 404


def test_a_cluster_moves_to_another_directory_when_somebody_says_so(server, tmp_path):
    server.start()
    api = server.api()
    spec = {"nodeName": os.uname().nodename, "containers": [{"name": "c", "image": "i"}]}
    api.post("/api/v1/namespaces/default/pods", {"metadata": {"name": "p"}, "spec": spec}).ok(201)
    volume = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
              "hostPath": {"path": f"{server.state}/node/claims/v"}}
    api.post("/api/v1/persistentvolumes", {"metadata": {"name": "v"}, "spec": volume}).ok(201)
    backup = f"{server.directory}/backup.tar"
    server.run("backup", backup)
    server.kill()
    old = server.state
    server.state = f"{tmp_path}/elsewhere"
    refused = server.run("restore", backup, check=False)
    assert refused.returncode == 1 and f"--state {old}" in refused.stderr and "--moved" in refused.stderr
    assert not os.path.exists(f"{server.state}/api.db")
    out = server.run("restore", backup, "--moved").stdout
    assert "1 pod or node that is not here is taken out" in out and f"has moved from {old}" in out, out
    server.start()
    assert api.get("/api/v1/namespaces/default/pods/p").code == 404
    moved = api.get("/api/v1/persistentvolumes/v").ok(200)
    assert moved["spec"]["hostPath"]["path"] == f"{server.state}/node/claims/v"
    api.patch("/api/v1/persistentvolumes/v", {"metadata": {"labels": {"a": "b"}}}).ok(200)


@pytest.mark.parametrize("words", [("backup", "/dev/null/file"), ("restore", "BACKUP"), ("rotate-keys",),
                                   ("user", "list"), ("recover", "--accept-loss")], ids=lambda words: words[0])
def test_strangers_learn_whose_the_cluster_is(server, words):
    if os.geteuid() != 0:
        pytest.skip("another user needs root")
    server.start()
    backup = f"{server.directory}/backup.tar"
    server.run("backup", backup)
    server.kill()
    os.chmod(backup, 0o644)
    for path in (server.directory, os.path.dirname(server.directory), os.path.dirname(os.path.dirname(server.directory))):
        os.chmod(path, 0o755)
    refused = server.run(*[backup if w == "BACKUP" else w for w in words], check=False,
                         around=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    assert refused.returncode == 1, refused.stderr
    assert "are root's alone: run this as root" in refused.stderr, refused.stderr


SMALL = ["unshare", "-m", "sh", "-c",
         'mount --make-rprivate / && mkdir -p "$0" && mount -t tmpfs -o size=3m,mode=700 none "$0" && exec "$@"']


@pytest.fixture
def small(tmp_path):
    """A server whose state directory is a small disk of its own."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("mounts need root")
    s = Server(tmp_path)
    s.around = [*SMALL, s.state]
    s.start()
    s.root = f"/proc/{s.process.pid}/root"
    yield s
    s.kill()


def fill_up(api):
    done, i = 0, 0
    while i < 400:
        i += 1
        answer = api.post(MAPS, {"metadata": {"name": f"big{i}"}, "data": {"n": "1", "x": "y" * 40000}})
        if answer.code != 201:
            return done, answer
        done += 1
    raise AssertionError("the disk did not fill up")


def test_a_full_disk_loses_nothing_and_is_told(small):
    api = small.api()
    fill(api, 10)
    done, answer = fill_up(api)
    assert answer.code == 500 and "disk of the state directory is full; free some room" in str(answer)
    names, _ = listed(small.api())
    assert len(names) == 10 + done
    for i in range(1, 4):
        code = api.delete(f"{MAPS}/big{i}").code
        assert code in (200, 500)
    inner = ["nsenter", "-t", str(small.process.pid), "-m"]
    subprocess.run([*inner, "mount", "-o", "remount,size=60m", small.state], check=True)
    fill(api, 3, 500)
    names, _ = listed(small.api())
    # killed, and started again on the same disk
    keeper = subprocess.Popen([*inner, "sleep", "600"])
    place = os.readlink(f"/proc/{small.process.pid}/ns/mnt")
    until = time.monotonic() + 20
    while os.readlink(f"/proc/{keeper.pid}/ns/mnt") != place and time.monotonic() < until:
        time.sleep(0.01)  # it holds the mount only when it is there
    try:
        small.kill()
        small.root = f"/proc/{keeper.pid}/root"
        small.start(around=["nsenter", "-t", str(keeper.pid), "-m"])
        assert listed(small.api())[0] == names
    finally:
        keeper.kill()
        keeper.wait()


DISK = ["unshare", "-m", "sh", "-c",
        'mount --make-rprivate / && mkdir -p "$0" && mount -o loop,errors=remount-ro "$1" "$0" && chmod 700 "$0" && '
        'echo mounted && exec sleep 600']


@pytest.fixture
def failing(tmp_path):
    """A server whose state directory is a disk that can be made to fail, as ext4 sees it."""
    if os.geteuid() != 0 or not shutil.which("mkfs.ext4"):
        pytest.skip("a disk of its own needs root and mkfs.ext4")
    s = Server(tmp_path)
    s.disk = f"{s.directory}/disk"
    with open(s.disk, "wb") as f:
        f.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", s.disk], check=True)
    keeper = subprocess.Popen([*DISK, s.state, s.disk], stdout=subprocess.PIPE, text=True)
    try:
        if keeper.stdout.readline() != "mounted\n":
            pytest.skip("this machine has no loop devices")
        s.inner, s.root = ["nsenter", "-t", str(keeper.pid), "-m"], f"/proc/{keeper.pid}/root"
        s.around = s.inner
        yield s.start()
    finally:
        s.kill()
        keeper.kill()
        keeper.wait()


def test_a_disk_that_turns_read_only_is_told_and_reads_go_on(failing):
    api = failing.api()
    fill(api, 10)
    subprocess.run([*failing.inner, "mount", "-o", "remount,abort", failing.state], check=True)
    for name in ("no", "neither"):
        answer = api.post(MAPS, {"metadata": {"name": name}, "data": {"n": "1"}})
        assert answer.code == 500 and "the disk of the state directory" in str(answer), answer
    assert len(listed(failing.api())[0]) == 10
    failing.kill()
    words = failing.refused()
    assert "read-only" in words.lower(), words
    subprocess.run([*failing.inner, "umount", failing.state], check=True)
    assert subprocess.run(["e2fsck", "-fp", failing.disk], check=False, capture_output=True).returncode in (0, 1)
    subprocess.run([*failing.inner, "mount", "-o", "loop", failing.disk, failing.state], check=True)
    failing.start()
    assert len(listed(failing.api())[0]) == 10
