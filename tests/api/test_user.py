# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmkeeper user: people who share a cluster."""
import os
import shutil
import stat
import subprocess

import pytest
import yaml

from lib.client import Api
from lib.kubeconfig import Kubeconfig
from lib.objects import configmap, pod

PROGRAM = os.environ.get("SLURMKEEPER")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="SLURMKEEPER names no program")
EMBEDDED = os.environ.get("API_EMBEDDED") == "1"
STRANGER = 1000


@pytest.fixture
def user(config):
    def run(*args, check=True):
        done = subprocess.run([PROGRAM, "user", *args, "--kubeconfig", config.path], timeout=60,
                              capture_output=True, text=True, check=False)
        if check:
            assert done.returncode == 0, done.stderr
        return done
    return run


@pytest.fixture
def ann(user, unique):
    """A name; whoever bears it is removed afterwards."""
    yield "ann-" + unique
    user("remove", "ann-" + unique, check=False)


def client(text, tmp_path):
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")
    return Api(Kubeconfig(path, str(tmp_path)))


def test_a_viewer_reads_and_writes_nothing(user, ann, ns, tmp_path):
    api = client(user("add", ann, "--role", "view", "--namespace", ns.name).stdout, tmp_path)
    assert api.get(ns.url("pods")).code == 200
    api.get(ns.url("secrets")).fails(403, "Forbidden")
    api.post(ns.url("configmaps"), configmap("a")).fails(403, "Forbidden")
    api.get("/api/v1/namespaces/default/pods").fails(403, "Forbidden")
    api.get("/api/v1/pods").fails(403, "Forbidden")


def test_an_editor_writes_in_one_namespace(user, ann, ns, spaces, tmp_path):
    api = client(user("add", ann, "--role", "edit", "--namespace", ns.name).stdout, tmp_path)
    api.post(ns.url("configmaps"), configmap("a")).ok(201)
    api.post(spaces().url("configmaps"), configmap("a")).fails(403, "Forbidden")
    api.post(ns.url("roles"), {"metadata": {"name": "r"}, "rules": []}).fails(403, "Forbidden")


def test_a_role_is_for_a_namespace_unless_told_otherwise(user, ann, tmp_path):
    api = client(user("add", ann, "--role", "view").stdout, tmp_path)
    assert api.get("/api/v1/namespaces/default/pods").code == 200
    api.get("/api/v1/pods").fails(403, "Forbidden")
    api = client(user("add", ann, "--role", "view", "--all-namespaces").stdout, tmp_path)
    assert api.get("/api/v1/pods").code == 200
    assert "view, view in default" in user("list").stdout


def test_a_removed_user_is_out_at_once_and_for_good(user, ann, ns, tmp_path):
    api = client(user("add", ann, "--role", "view", "--namespace", ns.name).stdout, tmp_path)
    assert api.get(ns.url("pods")).code == 200
    assert ann in user("list").stdout
    user("remove", ann)
    # A real server may remember for some seconds that a token was good; its rights end at once.
    assert api.get(ns.url("pods")).code in ([401] if EMBEDDED else [401, 403])
    assert ann not in user("list").stdout
    api.until(ns.url("pods"), lambda answer: answer.code == 401)
    user("add", ann, "--role", "edit", "--namespace", ns.name)
    assert api.get(ns.url("pods")).code == 401


def test_the_bindings_of_a_removed_user_go(user, ann, api, ns):
    user("add", ann, "--role", "view", "--namespace", ns.name)
    user("add", ann, "--role", "cluster-admin")
    user("remove", ann)
    for resource in ("rolebindings", "clusterrolebindings"):
        left = api.get("/apis/rbac.authorization.k8s.io/v1/" + resource,
                       query={"labelSelector": "slurmkeeper.dev/user=" + ann}).ok(200)
        assert left["items"] == []
    assert "there is no user" in user("remove", ann, check=False).stderr


def test_the_file_is_new_and_private(user, ann, ns, tmp_path):
    path = tmp_path / "ann.kubeconfig"
    was = os.umask(0)
    try:
        user("add", ann, "--role", "view", "--namespace", ns.name, "--file", str(path))
    finally:
        os.umask(was)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert yaml.safe_load(path.read_text())["contexts"][0]["context"]["namespace"] == ns.name
    again = user("add", ann, "--role", "view", "--file", str(path), check=False)
    assert again.returncode == 1 and "is there already" in again.stderr


@pytest.mark.parametrize("args, code, text", [
    (["add", "X", "--role", "view"], 2, "cannot be a name"),
    (["add", "x"], 2, "give --role"),
    (["add", "x", "--role", "boss"], 2, "is none of admin"),
    (["add", "x", "--role", "view", "--days", "366"], 2, "days"),
    (["add", "x", "--cluster-role", "no-such"], 1, "there is no cluster role 'no-such'"),
    (["add", "x", "--role", "view", "--namespace", "no-such"], 1, "not found"),
    (["add", "x", "--role", "view", "--namespace", "a", "--all-namespaces"], 2, "exclude"),
    (["frob"], 2, "say add NAME"), (["list", "x"], 2, "takes no name"),
])
def test_what_is_wrong_is_said(user, args, code, text):
    done = user(*args, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert text in done.stderr
    assert user("list").stdout.find("\nx ") == -1


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user of the machine")
def test_kubectl_of_another_user_of_the_machine(user, ann, ns, tmp_path):
    home = f"/var/tmp/{ann}"
    os.mkdir(home, 0o700)
    try:
        path = f"{home}/config"
        user("add", ann, "--role", "edit", "--namespace", ns.name, "--file", path)
        for each in (home, path):
            os.chown(each, STRANGER, STRANGER)

        def kubectl(*args, text=None):
            return subprocess.run([shutil.which("kubectl"), *args], user=STRANGER, group=STRANGER,
                                  extra_groups=[], cwd="/", input=text, text=True, timeout=60,
                                  env={"HOME": home, "KUBECONFIG": path}, capture_output=True,
                                  check=False)

        made = kubectl("apply", "-f", "-", text=yaml.safe_dump(pod("mine")))
        assert made.returncode == 0, made.stderr
        assert "mine" in kubectl("get", "pods").stdout
        assert "Forbidden" in kubectl("get", "pods", "-A").stderr
    finally:
        shutil.rmtree(home)
