# SPDX-License-Identifier: GPL-2.0-or-later
"""The objects that Slinky's Helm chart `slurm` makes, with its default values and with others; release and namespace slurm.

Whatever the chart writes for what nobody has set (empty lists, empty maps, null, "") stands here as it does there.
"""
import copy
import json

TAG = "26.05-ubuntu26.04"
NAMESPACE = "slurm"
HELM = {"helm.sh/chart": "slurm-1.2.1", "app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/part-of": "slurm"}
API = "slinky.slurm.net/v1beta1"

DEFAULTS = {
    "controller": {
        "inplaceReconfigure": False, "extraConf": None, "extraConfMap": {}, "service": {"metadata": {}, "spec": {"type": "ClusterIP"}},
        "persistence": {"enabled": True, "existingClaim": "", "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "4Gi"}}},
        "metrics": {"enabled": False, "serviceMonitor": {
            "enabled": False, "metadata": None, "interval": "30s", "scrapeTimeout": "25s",
            "endpoints": [{"path": f"/metrics/{p}"} for p in ("jobs", "nodes", "partitions", "scheduler")]}},
        "podSpec": {}, "slurmctld": {}, "podMetadata": {}},
    "restapi": {"replicas": 1, "slurmrestd": {}, "podSpec": {}, "service": {"metadata": {}, "spec": {"type": "ClusterIP"}}},
    "nodesets": {},
    "nodesetDefaults": {
        "replicas": 1, "scalingMode": "StatefulSet", "slurmd": {}, "extraConf": None, "extraConfMap": {},
        "ssh": {"enabled": False, "extraSshdConfig": ""}, "partition": {"enabled": False},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}, "scheduledUpdate": {}},
        "workloadDisruptionProtection": True, "podSpec": {}, "podMetadata": {}, "ordinalPadding": None, "more": {}},
    "partitions": {}, "configFiles": {}, "prologScripts": {}, "epilogScripts": {}, "clusterName": None,
    "slurmKey": "", "jwtKey": "",
}


def merged(base, over):
    """As Helm lays values over values: maps by key, everything else is replaced."""
    out = copy.deepcopy(base)
    for key, value in (over or {}).items():
        out[key] = merged(out[key], value) if isinstance(value, dict) and isinstance(out.get(key), dict) else value
    return out


def meta(name, part):
    return {"name": name, "namespace": NAMESPACE,
            "labels": {**HELM, "app.kubernetes.io/name": part, "app.kubernetes.io/instance": "slurm"}}


def image(program):
    return f"ghcr.io/slinkyproject/{program}:{TAG}"


def pod_spec(values):
    return {**{"affinity": {}, "tolerations": [], "initContainers": [], "volumes": [], "nodeSelector": {}, "resources": {},
               "imagePullSecrets": None, "priorityClassName": ""}, **values}


def container(program, values):
    return {**{"image": image(program), "imagePullPolicy": "IfNotPresent", "args": [], "env": [], "resources": {},
               "volumeMounts": []}, **values}


def logfile():
    return {"image": "docker.io/library/alpine:latest", "imagePullPolicy": "IfNotPresent", "resources": {}}


def conf_lines(text, table, separator):
    out = [text] if text else []
    for key, value in sorted((table or {}).items()):
        for item in value if isinstance(value, list) else [value]:
            out.append(f"{key}={','.join(f'{k}={v}' for k, v in item.items()) if isinstance(item, dict) else item}")
    return separator.join(out)


def secret(name, key, value):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta(name, "slurm"), "immutable": True,
            "stringData": {key: value}}


def config_map(name, data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, "slurm"), "data": data}


def scripts(values, kind):
    table = values[f"{kind}Scripts"]
    name = f"slurm-{kind}-scripts"
    return ([config_map(name, {f"{kind}-{k}": v for k, v in table.items()})], [{"name": name}]) if table else ([], None)


def partition_lines(values):
    lines = []
    for name, p in sorted(values["partitions"].items()):
        if p.get("enabled", True):
            config = p.get("config") or " ".join(f"{k}={v}" for k, v in sorted((p.get("configMap") or {}).items()))
            lines.append(f"PartitionName={name} Nodes={','.join(p['nodesets'])} {config}")
    return lines


def controller(values, refs):
    c = values["controller"]
    extra = "\n".join(filter(None, [conf_lines(c["extraConf"], c["extraConfMap"], "\n"), *partition_lines(values)]))
    spec = {
        "slurmKeyRef": {"name": "slurm-auth-slurm", "key": "slurm.key"},
        "jwtKeyRef": {"name": "slurm-auth-jwt", "key": "jwt.key"},
        "external": False,
        "slurmctld": container("slurmctld", c["slurmctld"]),
        "inplaceReconfigure": c["inplaceReconfigure"],
        "reconfigure": {"image": image("slurmctld"), "imagePullPolicy": "IfNotPresent", "resources": {}},
        "logfile": logfile(),
        "template": {"metadata": c["podMetadata"], "spec": pod_spec(c["podSpec"])},
        "persistence": c["persistence"], "service": c["service"], "metrics": c["metrics"],
        "configFileRefs": refs.get("config"), "prologScriptRefs": refs.get("prolog"),
        "epilogScriptRefs": refs.get("epilog"), "prologSlurmctldScriptRefs": None, "epilogSlurmctldScriptRefs": None,
    }
    if extra:
        spec["extraConf"] = extra
    if values["clusterName"]:
        spec["clusterName"] = values["clusterName"]
    return {"apiVersion": API, "kind": "Controller", "metadata": meta("slurm", "slurmctld"), "spec": spec}


def nodeset(values, key):
    n = merged(values["nodesetDefaults"], values["nodesets"][key])
    partition = {"enabled": n["partition"]["enabled"]}
    config = n["partition"].get("config") or " ".join(
        f"{k}={v}" for k, v in sorted((n["partition"].get("configMap") or {}).items()))
    if config:
        partition["config"] = config
    ssh = dict(n["ssh"], sssdConfRef={"name": "slurm-sssd-conf", "key": "sssd.conf"})
    spec = {
        "controllerRef": {"name": "slurm"}, "replicas": n["replicas"], "scalingMode": n["scalingMode"],
        "slurmd": container("slurmd", n["slurmd"]), "logfile": logfile(), "ssh": ssh,
        "template": {"metadata": n["podMetadata"], "spec": {"hostname": f"{key}-", **pod_spec(n["podSpec"])}},
        "extraConf": conf_lines(n["extraConf"], n["extraConfMap"], " "), "partition": partition,
        "updateStrategy": n["updateStrategy"], "workloadDisruptionProtection": n["workloadDisruptionProtection"],
        **n["more"],
    }
    if n["ordinalPadding"] is not None:
        spec["ordinalPadding"] = n["ordinalPadding"]
    return {"apiVersion": API, "kind": "NodeSet", "metadata": meta(f"slurm-worker-{key}", "slurmd"), "spec": spec}


def restapi(values):
    r = values["restapi"]
    return {"apiVersion": API, "kind": "RestApi", "metadata": meta("slurm", "slurmrestd"), "spec": {
        "controllerRef": {"name": "slurm"}, "replicas": r["replicas"],
        "slurmrestd": container("slurmrestd", r["slurmrestd"]),
        "template": {"metadata": {}, "spec": pod_spec(r["podSpec"])}, "service": r["service"]}}


SSSD = """[sssd]
services = nss,pam
domains = DEFAULT
[nss]
filter_groups = root,slurm
filter_users = root,slurm
[pam]
[domain/DEFAULT]
id_provider = proxy
proxy_lib_name = files
auth_provider = proxy
proxy_pam_target = sssd-shadowutils
"""


def render(over=None):
    """All objects, in the order in which Helm installs kinds."""
    values = merged(DEFAULTS, over)
    refs = {}
    objects = [secret("slurm-auth-slurm", "slurm.key", values["slurmKey"] or "s" * 1024),
               secret("slurm-auth-jwt", "jwt.key", values["jwtKey"] or "j" * 1024)]
    if any(n.get("ssh", {}).get("enabled") for n in values["nodesets"].values()):
        objects.append({"apiVersion": "v1", "kind": "Secret", "metadata": meta("slurm-sssd-conf", "slurm"),
                        "stringData": {"sssd.conf": SSSD}})
    if values["configFiles"]:
        objects.append(config_map("slurm-config-extra", values["configFiles"]))
        refs["config"] = [{"name": "slurm-config-extra"}]
    for kind in ("prolog", "epilog"):
        maps, refs[kind] = scripts(values, kind)
        objects += maps
    objects.append(controller(values, refs))
    objects += [nodeset(values, key) for key in sorted(values["nodesets"])]
    objects.append(restapi(values))
    return objects


def manifest(objects):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
