# SPDX-License-Identifier: GPL-2.0-or-later
"""Declared -> must be live: a row for every field of every kind (see README.md)."""
import collections

# kind, field, [(value, {key: what scontrol shows}), ...], {key: what it shows without the field; a set: any of these},
# needs: a row of tests/release.py; lacks: a row that must not be there
Live = collections.namedtuple("Live", "kind field values unset needs lacks", defaults=(None, None))
# kind, fields, spec as it is, patch, words of the answer (a warning or a refusal)
Answer = collections.namedtuple("Answer", "kind fields spec patch says")
# kind, fields, file, a word that stands in it
Held = collections.namedtuple("Held", "kind fields file word")


def partition(field, values, unset, needs=None, lacks=None):
    return Live("Partition", f"spec.{field}", values, unset, needs, lacks)


def plain(field, key, first, second, unset, **more):
    """Values that scontrol shows under one key: (declared, shown) each."""
    return partition(field, [(first[0], {key: first[1]}), (second[0], {key: second[1]})], {key: unset}, **more)


def yes_no(field, key, unset="NO", **more):
    return plain(field, key, (True, "YES"), (False, "NO"), unset, **more)


PARTITION = [
    partition("state", [("DRAIN", {"State": "DRAIN"}), ("INACTIVE", {"State": "INACTIVE"})], {"State": "UP"}),
    plain("maxTime", "MaxTime", ("2-00:00:00", "2-00:00:00"), (90, "01:30:00"), "UNLIMITED"),
    plain("defaultTime", "DefaultTime", ("1:00:00", "01:00:00"), (30, "00:30:00"), "NONE"),
    plain("overTimeLimit", "OverTimeLimit", (5, "5"), (7, "7"), "NONE"),
    plain("graceTime", "GraceTime", (30, "30"), (31, "31"), "0"),
    plain("priorityTier", "PriorityTier", (7, "7"), (8, "8"), "1"),
    plain("priorityJobFactor", "PriorityJobFactor", (9, "9"), (10, "10"), "1"),
    plain("maxNodes", "MaxNodes", (2, "2"), (3, "3"), "UNLIMITED"),
    plain("minNodes", "MinNodes", (2, "2"), (3, "3"), {"0", "1"}),
    plain("maxCPUsPerNode", "MaxCPUsPerNode", (1, "1"), (2, "2"), "UNLIMITED"),
    plain("maxCPUsPerSocket", "MaxCPUsPerSocket", (1, "1"), (2, "2"), "UNLIMITED", needs="maxCPUsPerSocket"),
    plain("maxMemPerNode", "MaxMemPerNode", (512, "512"), (600, "600"), "UNLIMITED"),
    plain("maxMemPerCPU", "MaxMemPerCPU", (256, "256"), (300, "300"), None),
    plain("defMemPerNode", "DefMemPerNode", (128, "128"), (129, "129"), "UNLIMITED"),
    plain("defMemPerCPU", "DefMemPerCPU", (64, "64"), (65, "65"), None),
    plain("defMemPerGPU", "JobDefaults", (100, "DefMemPerGPU=100"), (101, "DefMemPerGPU=101"), "(null)"),
    plain("defCPUPerGPU", "JobDefaults", (2, "DefCpuPerGPU=2"), (3, "DefCpuPerGPU=3"), "(null)"),
    plain("allowGroups", "AllowGroups", (["root"], "root"), (["root", "slurm"], "root,slurm"), "ALL"),
    plain("allowAccounts", "AllowAccounts", (["one"], "one"), (["one", "two"], "one,two"), "ALL"),
    plain("denyAccounts", "DenyAccounts", (["bad"], "bad"), (["bad", "worse"], "bad,worse"), None),
    plain("allowQos", "AllowQos", (["high"], "high"), (["high", "low"], "high,low"), "ALL", lacks="qos lists are looked up"),
    plain("denyQos", "DenyQos", (["high"], "high"), (["high", "low"], "high,low"), None, lacks="qos lists are looked up"),
    plain("allocNodes", "AllocNodes", ("compute-0", "compute-0"), ("compute-1", "compute-1"), "ALL"),
    plain("oversubscribe", "OverSubscribe", ("FORCE:2", "FORCE:2"), ("EXCLUSIVE", "EXCLUSIVE"), "NO"),
    plain("preemptMode", "PreemptMode", ("CANCEL", "CANCEL"), ("REQUEUE", "REQUEUE"), "OFF"),
    plain("alternate", "Alternate", ("compute", "compute"), ("beside", "beside"), None),
    Held("Partition", ["spec.default"], "src/build/test/partitions.c", "default: true"),
    yes_no("hidden", "Hidden"),
    yes_no("rootOnly", "RootOnly"),
    yes_no("disableRootJobs", "DisableRootJobs"),
    yes_no("exclusiveUser", "ExclusiveUser"),
    yes_no("exclusiveTopo", "ExclusiveTopo", needs="exclusiveTopo"),
    yes_no("reqResv", "ReqResv"),
    yes_no("lln", "LLN"),
    yes_no("powerDownOnIdle", "PowerDownOnIdle", needs="powerDownOnIdle"),
    plain("suspendTime", "SuspendTime", (300, "300"), (301, "301"), {"GLOBAL", None}),
    plain("suspendTimeout", "SuspendTimeout", (30, "30"), (31, "31"), {"GLOBAL", None}),
    plain("resumeTimeout", "ResumeTimeout", (30, "30"), (31, "31"), {"GLOBAL", None}),
    plain("cpuBind", "CpuBind", ("core", {"core", "cores"}), ("socket", {"socket", "sockets"}), None),
    plain("tresBillingWeights", "TRESBillingWeights", ("CPU=1.0", "CPU=1.0"), ("CPU=2.0", "CPU=2.0"), None),
    plain("config", "GraceTime", ("GraceTime=44", "44"), ("GraceTime=45", "45"), "0"),
    # a partition of all nodes, and back to those of its NodeSet
    partition("all", [(True, {"TotalNodes": "4"}), (False, {"TotalNodes": "3"})], {"TotalNodes": "3"}),
    Live("Partition", "spec.nodeSetRefs[].name",
         [([{"name": "compute"}, {"name": "second"}], {"TotalNodes": "4"}), ([{"name": "second"}], {"TotalNodes": "1"})],
         {"TotalNodes": "3"}),
    Held("Partition", ["spec.nodes"], "tests/e2e/native/test_edits.py", "nodes"),
    Held("Partition", ["spec.qos"], "tests/e2e/native/test_refused.py", "qos"),
    Held("Partition", ["spec.exclusive"], "tests/e2e/native/test_newer.py", "exclusive"),
    Held("Partition", ["spec.topology"], "tests/e2e/native/test_newer.py", "topology"),
    Held("Partition", ["spec.partitionName"], "tests/e2e/slurm/test_partition.py", "partitionName"),
    Answer("Partition", ["spec.controllerRef.name"], {"all": True}, {"controllerRef": {"name": "other"}},
           "spec.controllerRef: Forbidden: cannot be changed"),
    Answer("Partition", ["spec.controllerRef.namespace"], {"all": True}, {"controllerRef": {"namespace": "other"}},
           "must be in the Partition's own namespace"),
]


def node(field, values, unset):
    return Live("NodeSet", f"spec.{field}", values, unset)


CLAIM = {"volumeClaimTemplates": [{"metadata": {"name": "c"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}

NODESET = [
    node("extraConf", [("Features=a100 Weight=3", {"AvailableFeatures": "a100,second", "Weight": "3"}),
                       ("Features=h100", {"AvailableFeatures": "h100,second", "Weight": "1"})],
         {"AvailableFeatures": "second", "Weight": "1"}),
    node("partition.config", [("MaxTime=5", {"MaxTime": "00:05:00"}), ("MaxTime=6 Hidden=YES", {"MaxTime": "00:06:00", "Hidden": "YES"})],
         {"MaxTime": "UNLIMITED", "Hidden": "NO"}),
    node("partition.enabled", [(False, {"PartitionName": None}), (True, {"PartitionName": "second"})], {"PartitionName": "second"}),
    node("replicas", [(2, {"TotalNodes": "2"}), (1, {"TotalNodes": "1"})], {"TotalNodes": "1"}),
    Held("NodeSet", ["spec.slurmd"], "tests/e2e/slurm/test_declared_nodes.py", "slurmd={"),
    Held("NodeSet", ["spec.ordinalPadding", "spec.template.spec"], "tests/e2e/slurm/test_truth.py", "ordinalPadding=3"),
    Held("NodeSet", ["spec.logfile", "spec.oversubscribeNode", "spec.template.metadata.labels", "spec.template.metadata.annotations"],
         "src/build/test/objects.c", "oversubscribeNode"),
    Held("NodeSet", ["spec.ssh.enabled"], "tests/e2e/slurm/test_login.py", "host=hosts[1]"),
    Held("NodeSet", ["spec.ssh.extraSshdConfig", "spec.ssh.sssdConfRef.name", "spec.ssh.sssdConfRef.key",
                     "spec.ssh.sssdConfRef.optional"], "src/build/test/objects.c", "workers_have_sssd_conf_where_it_is_there"),
    Held("NodeSet", ["spec.volumeClaimTemplates[].metadata", "spec.volumeClaimTemplates[].spec"],
         "tests/e2e/slurm/test_machine.py", "volumeClaimTemplates"),
    Answer("NodeSet", ["spec.volumeClaimTemplates[].apiVersion"], CLAIM, {"volumeClaimTemplates": [{**CLAIM["volumeClaimTemplates"][0],
           "apiVersion": "v2"}]}, "apiVersion: Invalid value: \"v2\": must be v1, or left out"),
    Answer("NodeSet", ["spec.volumeClaimTemplates[].kind"], CLAIM, {"volumeClaimTemplates": [{**CLAIM["volumeClaimTemplates"][0],
           "kind": "Pod"}]}, "kind: Invalid value: \"Pod\": must be PersistentVolumeClaim, or left out"),
    Answer("NodeSet", ["spec.volumeClaimTemplates[].status"], CLAIM, {"volumeClaimTemplates": [{**CLAIM["volumeClaimTemplates"][0],
           "status": {"phase": "Bound"}}]}, "status: is not used"),
    Held("NodeSet", ["spec.updateStrategy.type", "spec.updateStrategy.scheduledUpdate.startTime",
                     "spec.updateStrategy.scheduledUpdate.duration"], "src/plan/test/nodeset_update.c", "ScheduledUpdate"),
    Held("NodeSet", ["spec.updateStrategy.rollingUpdate.maxUnavailable"], "src/plan/test/nodeset_update.c", "maxUnavailable"),
    Held("NodeSet", ["spec.revisionHistoryLimit"], "src/plan/test/nodeset_update.c", "revisionHistoryLimit"),
    Held("NodeSet", ["spec.minReadySeconds"], "src/plan/test/nodeset_status.c", "minReadySeconds"),
    Held("NodeSet", ["spec.persistentVolumeClaimRetentionPolicy.whenDeleted"], "src/build/test/objects.c", "whenDeleted"),
    Held("NodeSet", ["spec.persistentVolumeClaimRetentionPolicy.whenScaled"], "tests/e2e/slurm/test_machine_cordon.py", "whenScaled"),
    Held("NodeSet", ["spec.pinToNode"], "src/plan/test/nodeset_scale.c", "pinToNode"),
    Held("NodeSet", ["spec.workloadDisruptionProtection"], "tests/e2e/slurm/test_chart.py", "workloadDisruptionProtection=False"),
    Answer("NodeSet", ["spec.scalingMode"], {}, {"scalingMode": "DaemonSet"}, "DaemonSet is not there yet"),
    Answer("NodeSet", ["spec.pruneSlurmNodeRecords"], {}, {"pruneSlurmNodeRecords": "NodeNotFound"}, "changes nothing"),
    Answer("NodeSet", ["spec.updateStrategy.scheduledUpdate.flags"], {},
           {"updateStrategy": {"type": "ScheduledUpdate",
                               "scheduledUpdate": {"startTime": "2027-01-01T00:00:00Z", "flags": ["MAINT"]}}},
           "flags: are not used"),
    Answer("NodeSet", ["spec.controllerRef.name"], {}, {"controllerRef": {"name": "other"}}, "cannot be changed"),
    Answer("NodeSet", ["spec.controllerRef.namespace"], {}, {"controllerRef": {"namespace": "other"}}, "NodeSet's own namespace"),
]

KEY = ["name", "key", "optional"]


def controller(field, values, unset):
    return Live("Controller", f"spec.{field}", values, unset)


CONTROLLER = [
    controller("extraConf", [("SlurmdTimeout=61", {"SlurmdTimeout": "61 sec"}), ("SlurmdTimeout=62", {"SlurmdTimeout": "62 sec"})],
               {"SlurmdTimeout": "300 sec"}),
    Held("Controller", [f"spec.slurmKeyRef.{k}" for k in KEY[:2]], "src/plan/test/controller.c", "slurmKeyRef"),
    Held("Controller", [f"spec.{ref}.{k}" for ref in ("jwtKeyRef", "jwtHs256KeyRef") for k in KEY], "src/plan/test/controller.c",
         "jwtHs256KeyRef"),
    Held("Controller", [f"spec.jwksKeyRef.{k}" for k in KEY], "src/build/test/objects.c", "jwksKeyRef"),
    Answer("Controller", ["spec.slurmKeyRef.optional"], {"slurmKeyRef": {"name": "a", "key": "b"}},
           {"slurmKeyRef": {"optional": True}}, "slurmKeyRef.optional: is not used"),
    Held("Controller", ["spec.accountingRef.name"], "tests/e2e/slurm/test_references.py", "accountingRef"),
    Held("Controller", ["spec.external"], "src/plan/test/controller.c", "external"),
    Held("Controller", ["spec.ha.enabled", "spec.ha.backups", "spec.metrics.enabled"], "src/build/test/config.c",
         "ha: {enabled: true, backups: 1}\\n  metrics: {enabled: true}"),
    Held("Controller", ["spec.slurmctld", "spec.template.spec", "spec.template.metadata.labels", "spec.template.metadata.annotations"],
         "src/build/test/objects.c", "template"),
    Held("Controller", ["spec.inplaceReconfigure"], "src/plan/test/controller_config.c", "inplaceReconfigure"),
    Held("Controller", ["spec.logfile", "spec.persistence.accessModes", "spec.persistence.resources"],
         "src/build/test/objects.c", "accessModes"),
    Held("Controller", ["spec.configFileRefs[].name"], "tests/e2e/slurm/test_declared_nodes.py", "configFileRefs"),
    Held("Controller", ["spec.prologScriptRefs[].name"], "tests/e2e/slurm/test_survival.py", "prologScriptRefs"),
    Held("Controller", ["spec.epilogScriptRefs[].name", "spec.prologSlurmctldScriptRefs[].name"], "src/build/test/config.c",
         "prologSlurmctldScriptRefs"),
    Held("Controller", ["spec.epilogSlurmctldScriptRefs[].name"], "tests/e2e/slurm/test_references.py", "epilogSlurmctldScriptRefs"),
    Held("Controller", ["spec.service.metadata.labels", "spec.service.metadata.annotations", "spec.service.spec", "spec.service.port",
                        "spec.service.nodePort"], "src/build/test/objects.c", "nodePort"),
    Held("Controller", ["spec.metrics.serviceMonitor.labels", "spec.metrics.serviceMonitor.annotations",
                        "spec.metrics.serviceMonitor.interval", "spec.metrics.serviceMonitor.scrapeTimeout",
                        "spec.metrics.serviceMonitor.endpoints[].path", "spec.metrics.serviceMonitor.endpoints[].interval",
                        "spec.metrics.serviceMonitor.endpoints[].scrapeTimeout"], "src/build/test/objects.c", "serviceMonitor"),
    Answer("Controller", ["spec.clusterName"], {}, {"clusterName": "other"}, "spec.clusterName: Forbidden: cannot be changed"),
    Answer("Controller", ["spec.externalConfig.host", "spec.externalConfig.port"], {},
           {"externalConfig": {"host": "h", "port": 6817}}, "externalConfig: is not used, since external is false"),
    Answer("Controller", ["spec.reconfigure"], {}, {"reconfigure": {"image": "x"}}, "reconfigure.image: is not used"),
    Answer("Controller", ["spec.metrics.serviceMonitor.enabled"], {}, {"metrics": {"serviceMonitor": {"enabled": True}}},
           "is ignored, since metrics.enabled is false"),
    Answer("Controller", ["spec.persistence.enabled"], {}, {"persistence": {"enabled": False}}, "persistence.enabled: Forbidden"),
    Answer("Controller", ["spec.persistence.existingClaim"], {}, {"persistence": {"existingClaim": "x"}},
           "persistence.existingClaim: Forbidden"),
] + [
    Answer("Controller", [f"spec.persistence.{field}"], {}, {"persistence": {field: value}},
           "spec.persistence: a claim that is there stays as it is")
    for field, value in (("storageClassName", "x"), ("volumeName", "x"), ("volumeMode", "Block"),
                         ("volumeAttributesClassName", "x"), ("selector", {"matchLabels": {"a": "b"}}),
                         ("dataSource", {"kind": "VolumeSnapshot", "name": "x"}),
                         ("dataSourceRef", {"kind": "VolumeSnapshot", "name": "x"}))
]

SERVICE = [f"spec.service.{field}" for field in ("metadata.annotations", "metadata.labels", "nodePort", "port", "spec")]
TEMPLATE = [f"spec.template.{field}" for field in ("metadata.annotations", "metadata.labels", "spec")]
REF = ["spec.controllerRef.name", "spec.controllerRef.namespace"]

LOGINSET = [
    Held("LoginSet", REF, "src/plan/test/loginset.c", "controllerRef"),
    Held("LoginSet", ["spec.replicas"], "tests/e2e/slurm/test_login.py", "replicas"),
    Held("LoginSet", ["spec.login", "spec.extraSshdConfig"], "tests/e2e/slurm/test_login.py", "extraSshdConfig"),
    Held("LoginSet", ["spec.rootSshAuthorizedKeys"], "tests/e2e/slurm/test_login.py", "rootSshAuthorizedKeys"),
    Held("LoginSet", [f"spec.sssdConfRef.{k}" for k in KEY[:2]], "tests/e2e/slurm/test_login.py", "sssdConfRef"),
    Held("LoginSet", ["spec.sssdConfRef.optional"], "src/build/test/objects.c", "a_login_waits_for_the_users_that_it_needs"),
    Held("LoginSet", ["spec.initconf"], "src/build/test/objects.c", "initconf"),
    Held("LoginSet", ["spec.strategy"], "src/build/test/objects.c", "strategy"),
    Held("LoginSet", SERVICE + TEMPLATE, "src/build/test/golden/login-26.05.yaml", "nodePort"),
]

RESTAPI = [
    Held("RestApi", REF, "src/plan/test/restapi.c", "controllerRef"),
    Held("RestApi", ["spec.replicas", "spec.slurmrestd"], "tests/e2e/slurm/test_restapi.py", "slurmrestd"),
    Held("RestApi", SERVICE + TEMPLATE, "src/build/test/restapi.c", "nodePort"),
]

TOKEN = [
    Held("Token", [f"spec.{ref}.{k}" for ref in ("jwtKeyRef", "jwtHs256KeyRef") for k in KEY[:2]], "src/plan/test/token.c",
         "jwtKeyRef"),
    Held("Token", [f"spec.secretRef.{k}" for k in KEY[:2]], "tests/e2e/slurm/test_restapi.py", "secretRef"),
] + [
    Answer("Token", [f"spec.{ref}.optional"], {"username": "u", "jwtKeyRef": {"name": "a", "key": "b"}},
           {ref: {"name": "a", "key": "b", "optional": True}}, f"{ref}.optional: is not used")
    for ref in ("jwtKeyRef", "jwtHs256KeyRef", "secretRef")
] + [
    Held("Token", ["spec.username", "spec.lifetime", "spec.refresh"], "src/plan/test/token.c", "lifetime"),
]

ACCOUNTING = [
    Held("Accounting", ["spec.external", "spec.externalConfig.host", "spec.externalConfig.port"],
         "tests/e2e/slurm/test_accounting.py", "externalConfig"),
    Held("Accounting", [f"spec.{ref}.{k}" for ref in ("slurmKeyRef", "jwtKeyRef", "jwtHs256KeyRef") for k in KEY[:2]],
         "src/plan/test/accounting.c", "KeyMismatch"),
    Held("Accounting", [f"spec.jwksKeyRef.{k}" for k in KEY] + ["spec.slurmdbd", "spec.extraConf"] + SERVICE + TEMPLATE,
         "src/build/test/accounting.c", "accounting-storage-26.05.yaml"),
    Answer("Accounting", ["spec.slurmKeyRef.optional"], {}, {"slurmKeyRef": {"name": "a", "key": "b", "optional": True}},
           "slurmKeyRef.optional: is not used"),
    Answer("Accounting", ["spec.storageConfig.passwordKeyRef.optional"], {},
           {"storageConfig": {"host": "h", "passwordKeyRef": {"name": "a", "key": "b", "optional": True}}},
           "passwordKeyRef.optional: is not used"),
    Held("Accounting", [f"spec.{ref}.optional" for ref in ("jwtKeyRef", "jwtHs256KeyRef")],
         "src/build/test/accounting.c", "optional: true"),
    Held("Accounting", ["spec.storageConfig.host", "spec.storageConfig.port", "spec.storageConfig.username"]
         + [f"spec.storageConfig.passwordKeyRef.{k}" for k in KEY[:2]], "src/build/test/accounting.c", "storageConfig"),
    Held("Accounting", ["spec.storageConfig.database"], "tests/e2e/slurm/test_accounting.py", "database"),
]

ROWS = PARTITION + NODESET + CONTROLLER + LOGINSET + RESTAPI + TOKEN + ACCOUNTING


def fields_of(row):
    return [row.field] if isinstance(row, Live) else row.fields
