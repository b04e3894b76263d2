# SPDX-License-Identifier: GPL-2.0-or-later
"""Is slurmctld asked how it is by HTTP, or by scontrol ping?  It depends on the release, and on a plugin that may be missing."""
import glob
import os
import re
import shutil
import tempfile

import pytest

import release
from local import PROGRAM, Local, run

# The directory of plugins is another one for all that the command starts.
OTHER_PLUGINS = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'


def probes(c):
    """How each probe of slurmctld asks."""
    pod = c.get("pod", "slurm-controller-0")
    container = next(x for x in pod["spec"]["containers"] if x["name"] == "slurmctld")
    return {name: "http" if "httpGet" in container[name] else "exec"
            for name in ("startupProbe", "readinessProbe", "livenessProbe") if name in container}


def plugin_dir():
    said = run("ldd", release.program("slurmctld")).stdout
    return os.path.dirname(re.search(r"libslurmfull\.so => (/\S+)", said).group(1))


def test_slurmctld_is_asked_by_http_where_it_answers(cluster):
    asked = set(probes(cluster).values())
    assert asked == ({"http"} if release.has("http") else {"exec"}), probes(cluster)
    assert cluster.condition("pod", "slurm-controller-0", "Ready")["status"] == "True"


def test_slurmctld_without_a_parser_is_asked_by_scontrol():
    """No liveness probe then: scontrol ping fails for reasons that a new start does not mend."""
    if not release.has("http"):
        pytest.skip("daemons of this release never answer HTTP")
    plugins = tempfile.mkdtemp(prefix="sk-plugins-", dir="/var/tmp")
    os.chmod(plugins, 0o755)
    try:
        for path in glob.glob(f"{plugin_dir()}/*"):
            if "http_parser" not in path:
                shutil.copy(path, plugins)
        with Local("hp") as c:
            run("unshare", "--mount", "sh", "-c", OTHER_PLUGINS, "sh", plugins, plugin_dir(), PROGRAM, "up", "--state", c.state,
                "--name", c.name, "--share", c.share, "--timeout", "60", timeout=90)
            assert set(probes(c).values()) == {"exec"} and "livenessProbe" not in probes(c), probes(c)
            c.wait_condition("nodeset", "compute", "Ready", "True")
            assert len(c.slurm("srun", "-N3", "hostname").stdout.split()) == 3
            assert c.condition("pod", "slurm-controller-0", "Ready")["status"] == "True"
    finally:
        shutil.rmtree(plugins)
