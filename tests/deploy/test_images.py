# SPDX-License-Identifier: GPL-2.0-or-later
"""The operator's image: small, the same each time, and nothing in it but the program and what it loads."""
import json
import os
import pathlib
import subprocess
import tarfile

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))


def make(into):
    subprocess.run([TOP / "tools/images", "--build", BUILD, "--into", into, "operator"], check=True, capture_output=True)
    return into / "operator.tar"


@pytest.fixture(scope="module", name="archive")
def an_archive(tmp_path_factory):
    return make(tmp_path_factory.mktemp("one"))


def member(archive, name):
    with tarfile.open(archive) as tar:
        return tar.extractfile(name).read()


def blob(archive, of):
    return member(archive, f"blobs/sha256/{of['digest'].split(':')[1]}")


def manifest_of(archive):
    return json.loads(blob(archive, json.loads(member(archive, "index.json"))["manifests"][0]))


def layer_files(archive, tmp_path):
    (tmp_path / "layer.tgz").write_bytes(blob(archive, manifest_of(archive)["layers"][0]))
    with tarfile.open(tmp_path / "layer.tgz") as tar:
        return tar.getmembers()


def test_the_same_input_gives_the_same_bytes(archive, tmp_path):
    assert make(tmp_path).read_bytes() == archive.read_bytes()


def test_it_is_small(archive, tmp_path):
    assert archive.stat().st_size < 30e6
    assert sum(m.size for m in layer_files(archive, tmp_path)) < 40e6


def test_it_has_no_shell_and_gives_no_rights(archive, tmp_path):
    files = layer_files(archive, tmp_path)
    programs = [m.name for m in files if m.name.startswith(("bin/", "sbin/", "usr/bin/", "usr/sbin/", "usr/local/bin/"))]
    assert programs == ["usr/local/bin/slurmkeeper"]
    assert not [m.name for m in files if m.mode & 0o6022]
    assert {(m.uid, m.gid) for m in files} == {(0, 0)}


def test_it_does_not_run_as_root(archive):
    config = json.loads(blob(archive, manifest_of(archive)["config"]))["config"]
    assert config["User"] == "65532:65532"
    assert config["Entrypoint"] == ["/usr/local/bin/slurmkeeper"]


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
def test_it_runs_by_itself(archive, tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "layer.tgz").write_bytes(blob(archive, manifest_of(archive)["layers"][0]))
    subprocess.run(["tar", "-xzf", tmp_path / "layer.tgz", "-C", tmp_path / "root"], check=True)
    said = subprocess.run(["chroot", "--userspec=65532:65532", tmp_path / "root", "/usr/local/bin/slurmkeeper", "version"],
                          capture_output=True, text=True, check=True).stdout
    assert "0." in said
