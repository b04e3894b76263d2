# SPDX-License-Identifier: GPL-2.0-or-later
"""The kind RestApi: the machine's own slurmrestd, asked with curl and tokens of slurmctld."""
import json
import os
import shutil

import pytest

import release
from local import Local, run, wait_for

RESTAPI = """
apiVersion: slinky.slurm.net/v1beta1
kind: RestApi
metadata: {name: slurm}
spec:
  controllerRef: {name: slurm}
"""


@pytest.fixture(scope="module")
def own(machine):
    if not os.access(release.program("slurmrestd"), os.X_OK) and not shutil.which("slurmrestd"):
        pytest.exit("cannot run: slurmrestd is not installed (tools/packages test)", returncode=1)
    with Local("ra") as c:
        c.up()
        assert c.get("restapi", "slurm", check=False) is None
        c.apply(RESTAPI)
        c.wait_condition("restapi", "slurm", "Ready", "True")
        c.wait_condition("nodeset", "compute", "Ready", "True")
        yield c


def token(c, user="root"):
    out = c.slurm("scontrol", "token", f"username={user}", "lifespan=600").stdout
    return out.strip().split("=", 1)[1]


def ask(c, path, jwt, user="root", body=None, address=None):
    """The answer as JSON, and its status."""
    address = address or c.get("service", "slurm-restapi")["spec"]["clusterIP"]
    args = ["curl", "-sS", "-m", "20", "-w", "\n%{http_code}", "-H", f"X-SLURM-USER-NAME: {user}",
            "-H", f"X-SLURM-USER-TOKEN: {jwt}"]
    if body is not None:
        args += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    text, status = run(*args, f"http://{address}:6820{path}").stdout.rsplit("\n", 1)
    try:
        return json.loads(text), int(status)
    except ValueError:
        return text, int(status)


@pytest.fixture(scope="module")
def version(own):
    """The newest of slurmctld's interface that this slurmrestd has."""
    paths = ask(own, "/openapi/v3", token(own))[0]["paths"]
    return sorted({p.split("/")[2] for p in paths if p.startswith("/slurm/v")})[-1]


def test_it_tells_how_slurmctld_is(own, version):
    answer, status = ask(own, f"/slurm/{version}/ping", token(own))
    assert status == 200 and [p["ping"] for p in answer["pings"]] == ["UP"], answer


def test_a_job_is_submitted(own, version):
    job = {"job": {"name": "rest", "current_working_directory": own.share, "standard_output": f"{own.share}/rest.out",
                   "environment": {"PATH": "/usr/bin:/bin"} if version < "v0.0.40" else ["PATH=/usr/bin:/bin"]},
           "script": "#!/bin/sh\nhostname\n"}
    answer, status = ask(own, f"/slurm/{version}/job/submit", token(own), body=job)
    assert status == 200 and not answer["errors"], answer
    wait_for(lambda: own.slurm("squeue", "-h", "-j", str(answer["job_id"]), check=False).stdout.strip() == "",
             "the job ends", 60)
    with open(f"{own.share}/rest.out") as out:
        assert out.read().startswith("compute-")


def test_a_node_is_drained(own, version):
    jwt = token(own)
    if version < "v0.0.39":
        pytest.skip(f"{version} cannot change nodes")
    answer, status = ask(own, f"/slurm/{version}/node/compute-2", jwt, body={"state": ["DRAIN"], "reason": "by REST"})
    assert status == 200 and not answer["errors"], answer
    wait_for(lambda: "drain" in own.node_states()["compute-2"], "it drains")
    own.slurm("scontrol", "update", "nodename=compute-2", "state=resume")


@pytest.mark.parametrize("jwt", ["", "x.y.z", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdW4iOiJyb290In0.AAAA"])
def test_without_a_good_token_nothing_is_told(own, version, jwt):
    answer, status = ask(own, f"/slurm/{version}/jobs", jwt)
    assert status >= 400 or answer.get("errors"), (status, answer)
    assert not (isinstance(answer, dict) and answer.get("jobs"))


def test_it_runs_as_nobody_and_has_no_key(own):
    pod = own.kubectl("get", "pods", "-l", "app.kubernetes.io/name=slurmrestd", "-o", "name").stdout.split()[0]
    assert own.kubectl("exec", pod, "--", "id", "-u").stdout.strip() == "65534"
    files = own.kubectl("exec", pod, "--", "ls", "/etc/slurm").stdout.split()
    assert "slurm.conf" in files and not [f for f in files if "jwt" in f or "munge" in f], files


def pods(c):
    found = json.loads(c.kubectl("get", "pods", "-l", "app.kubernetes.io/name=slurmrestd", "-o", "json").stdout)["items"]
    return {p["metadata"]["uid"] for p in found if "deletionTimestamp" not in p["metadata"]}


def test_it_lives_on_while_partitions_change(own, version):
    before = pods(own)
    own.kubectl("patch", "nodeset", "compute", "--type=merge", "-p", '{"spec": {"partition": {"config": "MaxTime=9"}}}')
    wait_for(lambda: "00:09:00" in own.slurm("sinfo", "-h", "-o", "%l").stdout or
             "9:00" in own.slurm("sinfo", "-h", "-o", "%l").stdout, "the partition changes")
    assert ask(own, f"/slurm/{version}/ping", token(own))[1] == 200
    assert pods(own) == before


def test_replicas_and_settings(own, version):
    own.kubectl("patch", "restapi", "slurm", "--type=merge", "-p", json.dumps(
        {"spec": {"replicas": 2, "slurmrestd": {"env": [{"name": "A", "value": "b"}]}, "service": {"port": 8080}}}))
    wait_for(lambda: (own.get("restapi", "slurm")["status"].get("readyReplicas") == 2 and len(pods(own)) == 2),
             "two answer", 90)
    own.wait_condition("restapi", "slurm", "Ready", "True")
    assert own.get("service", "slurm-restapi")["spec"]["ports"][0]["port"] == 8080
    address = own.get("service", "slurm-restapi")["spec"]["clusterIP"]
    assert run("curl", "-sS", "-m", "10", f"http://{address}:8080/slurm/{version}/ping", check=False).returncode == 0


@pytest.mark.parametrize("spec, says", [
    ({"slurmrestd": {"image": {"repository": "x"}}}, "spec.slurmrestd.image"),
    ({"slurmrestd": {"bogus": 1}}, "spec.slurmrestd.bogus"),
    ({"service": {"spec": {"type": []}}}, None),
    ({"replicas": -1}, "spec.replicas"),
])
def test_a_bad_one_is_refused(own, spec, says):
    done = own.kubectl("patch", "restapi", "slurm", "--type=merge", "-p", json.dumps({"spec": spec}), check=False)
    assert (done.returncode != 0 and says in done.stderr) if says else done.returncode == 0, done.stderr


def test_it_says_which_controller_it_misses_and_goes_as_a_whole(own):
    own.apply(RESTAPI.replace("name: slurm}\nspec", "name: lost}\nspec").replace("controllerRef: {name: slurm}",
                                                                               "controllerRef: {name: nobody}"))
    told = own.wait_condition("restapi", "lost", "Ready", "False", "ControllerNotFound")
    assert "nobody" in told["message"]
    for name in ("lost", "slurm"):
        own.kubectl("delete", "restapi", name, timeout=90)
    wait_for(lambda: not pods(own) and own.get("service", "slurm-restapi", check=False) is None and
             own.get("deployment", "slurm-restapi", check=False) is None, "all of it goes", 60)
