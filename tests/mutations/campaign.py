# SPDX-License-Identifier: GPL-2.0-or-later
"""Every known key with good, odd and bad values: slurmctld always comes back, or the change was refused by name.

See README.md.  Each result is a line of JSON in RESULTS, written when it is known; a case that stands there is not
tried again, so that a run that was stopped goes on where it was.
"""
import collections
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "agent"))

import cases  # noqa: E402
import stage  # noqa: E402
from slurm import BUILD, release  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
MINUTES = float(os.environ.get("MINUTES", "60"))
JOBS = int(os.environ.get("JOBS", "2"))
KEYS = [k for k in os.environ.get("KEYS", "").split(",") if k]
SERIES = ".".join(release.text().split(".")[:2])
RESULTS = os.environ.get("RESULTS", f"/var/tmp/slurmkeeper-mutations/{SERIES}.jsonl")

# Refused by its own name, or by a name for the same.
ALIASES = {"CPUs": ["Cores"], "Procs": ["CPUs"], "Shared": ["OverSubscribe"], "Feature": ["Features"], "Link": ["Links"],
           "Files": ["File"], "CryptoType": ["CredType"], "SbcastParameters": ["BcastParameters"],
           "AcctGatherInfinibandType": ["AcctGatherInterconnectType"], "SlurmctldAddr": ["SlurmctldHost"]}


def known_keys():
    said = subprocess.run([os.path.join(BUILD, "tests/mutations/mutation-keys"), SERIES], check=True,
                          capture_output=True, text=True).stdout
    return [cases.Key(*line.split("\t")) for line in said.splitlines()]


def is_wanted(case):
    """KEYS=SlurmctldParameters,node.Gres,gres.conf,good: by name, section.name, file or kind of value"""
    return not KEYS or any(k.lower() in (case.key.lower(), f"{case.section}.{case.key}".lower(), case.file.lower(), case.how)
                           for k in KEYS)


def is_named(case, answer):
    said = " ".join([answer.get("error") or "", *(p["message"] for p in answer.get("problems", []))]).lower()
    names = [case.key, *ALIASES.get(case.key, [])]
    if case.file != "slurm.conf":
        names += [case.file, *(line.split("=")[0] for line in case.lines)]
    if case.section in ("frontend", "power"):  # the line as a whole is what some releases do not have
        names.append(next(iter(cases.LINES[case.section])))
    if case.key == "Nodes":
        names.append("no node")
    return any(name.lower() in said for name in names)


def refused(c, case, answer, before):
    out = {"result": "refused" if is_named(case, answer) else "unnamed", "step": answer.get("step")}
    c.wait_up("after the refusal")
    if c.ctld_pid() != before:
        out["ended"] = True  # it went back by itself
    return out


def taken(c, answer):
    out = {"result": "taken", "class": answer.get("class")}
    if answer.get("refused"):
        out["aside"] = answer["refused"][0]["error"]
    out["start_ms"] = c.kill_and_start()
    out["reconfigure_ms"] = c.reconfigure()
    lost = c.node_stays()
    if lost:
        out["node"] = lost
    return out


def tried(c, case):
    before = c.ctld_pid()
    start = time.monotonic()
    status, answer = c.request("PUT", "/v1/config", {"generation": int(time.time()), "files": c.files_of(case)})
    out = {"status": status, "ms": stage.ms_since(start), "said": (answer.get("error") or answer.get("reason") or "")[:400]}
    try:
        if status == 200 and answer.get("result") in ("applied", "unchanged"):
            out.update(taken(c, answer))
            c.back()
            if out.get("node"):
                c.node_again()
        elif status == 422:
            out.update(refused(c, case, answer, before))
        elif status == 200 and answer.get("refused"):  # a partition that was set aside
            out.update({"result": "refused", "aside": True})
            c.back()
        else:
            raise stage.Dead(f"neither taken nor refused: {status} {json.dumps(answer)[:500]}")
    except stage.Dead as e:
        out.update({"result": "dead", "why": str(e)})
    except subprocess.TimeoutExpired as e:
        out.update({"result": "dead", "why": f"no answer: {e}"})
    return out


def record(case, out):
    value = case.value if len(case.value) < 100 else f"{case.value[:20]}... ({len(case.value)} bytes)"
    line = {"id": case.id, "file": case.file, "section": case.section, "key": case.key, "how": case.how, "value": value, **out}
    with open(RESULTS, "a", encoding="utf-8") as f:
        f.write(json.dumps(line) + "\n")
    if out["result"] in ("dead", "unnamed") or out.get("node"):
        print(f"{case.file} {case.section}: {case.key}={value!r}: {out['result']}: "
              f"{out.get('why') or out.get('node') or out['said']}", flush=True)


def work(number, end):
    """One of JOBS clusters, with every JOBS-th case."""
    done = {line["id"] for line in results()}
    c = None
    try:
        for i, case in enumerate(cases.all_cases(known_keys(), SERIES, SEED)):
            if time.monotonic() > end:
                return
            if i % JOBS != number or case.id in done or not is_wanted(case):
                continue
            c = c or stage.Stage()
            out = tried(c, case)
            record(case, out)
            if out["result"] == "dead":
                c.stop()
                c = None
    finally:
        if c:
            c.stop()


def results():
    try:
        with open(RESULTS, encoding="utf-8") as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def median(numbers):
    numbers = [n for n in numbers if n is not None]
    return f"{statistics.median(numbers):.0f} ms" if numbers else "-"


def summary():
    lines = results()
    by = collections.defaultdict(list)
    for line in lines:
        by[line["result"]].append(line)
    keys = {(x["file"], x["section"], x["key"]) for x in lines}
    print(f"\nSlurm {release.text()}, SEED={SEED}: {len(lines)} values of {len(keys)} keys and files")
    for name, what in [("taken", "taken"), ("refused", "refused with the name"), ("unnamed", "refused without the name"),
                       ("dead", "slurmctld did not come back")]:
        print(f"  {what:30} {len(by[name]):6}   median {median(x['ms'] for x in by[name])}")
    print(f"  {'ended, and went back by itself':30} {sum(1 for x in lines if x.get('ended')):6}   median "
          f"{median(x['ms'] for x in lines if x.get('ended'))}")
    print(f"  {'a node was lost':30} {sum(1 for x in lines if x.get('node')):6}")
    print(f"  kill -9 to an answer: median {median(x.get('start_ms') for x in lines)}; "
          f"reconfigure: median {median(x.get('reconfigure_ms') for x in lines)}")
    return len(by["dead"]) + len(by["unnamed"])


def main():
    os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
    end = time.monotonic() + MINUTES * 60
    workers = [multiprocessing.Process(target=work, args=(n, end)) for n in range(JOBS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    failed = [w for w in workers if w.exitcode != 0]
    bad = summary()
    print(f"results: {RESULTS}")
    return 1 if bad or failed else 0


if __name__ == "__main__":
    sys.exit(main())
