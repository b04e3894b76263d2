# SPDX-License-Identifier: GPL-2.0-or-later
"""The kind RestApi: the machine's own slurmrestd, asked with curl and tokens of slurmctld."""
import base64
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
    # "ping" is gone from v0.0.45 on; "responding" came before that
    assert status == 200 and [p.get("responding", p.get("ping")) in (True, "UP") for p in answer["pings"]] == [True], answer


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


TOKEN = """
apiVersion: slinky.slurm.net/v1beta1
kind: Token
metadata: {name: NAME}
spec:
  jwtKeyRef: {name: slurm-auth-jwt, key: jwt.key}
  username: root
"""


@pytest.fixture(scope="module")
def api(own):
    """slurmrestd, whatever tests before have made of it."""
    own.apply(RESTAPI)
    own.wait_condition("restapi", "slurm", "Ready", "True")
    return own


def kept(c, secret, key="SLURM_JWT"):
    data = (c.get("secret", secret, check=False) or {}).get("data", {})
    return base64.b64decode(data[key]).decode() if key in data else None


def good(c, jwt, version):
    answer, status = ask(c, f"/slurm/{version}/jobs", jwt)
    return status == 200 and isinstance(answer, dict) and not answer.get("errors")


def test_a_token_is_made_that_slurmrestd_takes(api, version):
    api.apply(TOKEN.replace("NAME", "mine"))
    api.wait_condition("token", "mine", "Ready", "True")
    jwt = kept(api, "mine-jwt-root")
    assert good(api, jwt, version)
    lines = api.kubectl("get", "token").stdout.splitlines()
    assert lines[0].split() == ["NAME", "USER", "READY", "IAT", "AGE"] and lines[1].split()[:3] == ["mine", "root", "True"]
    # It goes with its Token.
    api.kubectl("delete", "token", "mine", timeout=60)
    wait_for(lambda: kept(api, "mine-jwt-root") is None, "the Secret goes", 60)


def test_a_token_is_renewed_before_it_expires(api, version):
    api.apply(TOKEN.replace("NAME", "brief") + "  lifetime: 10s\n  secretRef: {name: here, key: jwt}\n")
    api.wait_condition("token", "brief", "Ready", "True")
    first = kept(api, "here", "jwt")
    assert good(api, first, version)
    second = wait_for(lambda: (lambda now: now if now != first else None)(kept(api, "here", "jwt")), "another one", 60)
    assert good(api, second, version)
    wait_for(lambda: not good(api, first, version), "the first one has expired", 60)
    assert good(api, kept(api, "here", "jwt"), version)
    api.kubectl("delete", "token", "brief", timeout=60)


def test_without_refresh_the_secret_is_left_as_it_is(api):
    api.apply(TOKEN.replace("NAME", "once") + "  lifetime: 10s\n  refresh: false\n")
    api.wait_condition("token", "once", "Ready", "True")
    assert api.get("secret", "once-jwt-root")["immutable"] is True
    first = kept(api, "once-jwt-root")
    api.wait_condition("token", "once", "Ready", "False", "NotRenewed")
    assert kept(api, "once-jwt-root") == first
    api.kubectl("delete", "token", "once", timeout=60)


@pytest.mark.parametrize("change, says", [
    ("  username: root\n", None),
    ("  username: 'a b'\n", "spec.username"),
    ("  username: x\n  lifetime: 1s\n", "spec.lifetime"),
    ("  username: x\n  secretRef: {name: 'A_B', key: k}\n", "spec.secretRef.name"),
])
def test_a_bad_token_is_refused(api, change, says):
    done = api.apply(TOKEN.replace("NAME", "bad").replace("  username: root\n", change), check=False)
    assert done.returncode == (1 if says else 0) and (says or "") in done.stderr, done.stderr
    if not says:
        moved = api.kubectl("patch", "token", "bad", "--type=merge", "-p",
                            '{"spec": {"jwtKeyRef": {"name": "other", "key": "k"}}}', check=False)
        assert moved.returncode != 0 and "spec.jwtKeyRef" in moved.stderr
        api.kubectl("delete", "token", "bad", timeout=60)
