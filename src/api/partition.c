/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind Partition: its tables, and the line of slurm.conf that it stands for.
 *
 * A setting and its key of slurm.conf have one name but for the case of letters, so that the line
 * is a loop over the table: a row whose path is a key of partitions is a setting.  Keys without a
 * row are written in `config`.  The order of the line is the table's, so that the same object gives
 * the same bytes.
 */
#include "src/api/partition.h"

#include <strings.h>

#include "src/api/kinds.h"
#include "src/api/partition_conf.h"
#include "src/slurm/keys.h"

static const char *const state_names[] = {"UP", "DOWN", "DRAIN", "INACTIVE", NULL};

#define SPEC(member) offsetof(struct api_partition_spec, member)
#define YES_NO(path_, member, doc_) {path_, JSN_FLAG, SPEC(member), JSN_PTR | JSN_KEEP, .doc = doc_}
#define COUNT(path_, member, doc_)                                                                 \
    {path_, JSN_I64, SPEC(member), JSN_PTR | JSN_KEEP | JSN_HAS_MIN, .min = 0, .doc = doc_}
#define LIMIT(path_, member, doc_) {path_, JSN_INT_OR_STR, SPEC(member), 0, .doc = doc_}
#define WORDS(path_, member, doc_)                                                                 \
    {path_, JSN_STRS, SPEC(member), 0, .list_type = "set", .doc = doc_}
#define TEXT(path_, member, doc_) {path_, JSN_STR, SPEC(member), 0, .doc = doc_}

static const struct jsn_field spec_fields[] = {
    {"controllerRef", JSN_SUB, SPEC(controller_ref), JSN_REQ, .sub = api_controller_ref_fields,
     .size = sizeof(struct api_controller_ref),
     .doc = "The Controller whose cluster has the partition. Cannot be changed later."},
    {"partitionName", JSN_STR, SPEC(name), 0,
     .doc = "What Slurm calls the partition; the object's name if left out."},
    {"nodeSetRefs", JSN_SUBS, SPEC(nodeset_refs), 0, .sub = api_ref_fields,
     .size = sizeof(struct api_ref), .list_type = "atomic",
     .doc = "NodeSets whose nodes belong to the partition. Nodes that they get later belong to it, "
            "too. A NodeSet that is not there is passed over, and the Ready condition says so."},
    {"nodes", JSN_STR, SPEC(nodes), 0,
     .doc = "Further nodes as a host list, such as \"rack[1-4]n[01-16]\": names of NodeName and "
            "NodeSet lines in the Controller's extraConf. Nodes of NodeSets come and go, and "
            "belong to a partition by nodeSetRefs only."},
    {"all", JSN_FLAG, SPEC(all), 0,
     .doc = "Whether all nodes of the cluster belong to the partition, whatever they come from. "
            "Then nodeSetRefs and nodes must be left out."},
    {"state", JSN_ENUM, SPEC(state), 0, .def = "\"UP\"", .names = state_names,
     .doc = "UP: jobs are queued and started. DRAIN: those that are queued and run go on, new "
            "ones are refused. DOWN: jobs are queued and not started. INACTIVE: neither."},
    YES_NO("default", is_default,
           "Whether jobs that name no partition go here. One partition of a "
           "cluster can be the default."),
    LIMIT("maxTime", max_time,
          "The longest time limit of a job: minutes, \"HH:MM:SS\", \"D-HH\", \"D-HH:MM:SS\" or "
          "UNLIMITED."),
    LIMIT("defaultTime", default_time,
          "The time limit of jobs that ask for none, written like maxTime; maxTime if left out."),
    LIMIT("overTimeLimit", over_time_limit,
          "Minutes that a job may run beyond its limit, or UNLIMITED; the cluster's setting if "
          "left out."),
    COUNT("graceTime", grace_time, "Seconds that a job to be preempted is given to end."),
    COUNT("priorityTier", priority_tier,
          "Jobs of a partition with a higher tier are looked at first, and may preempt others."),
    COUNT("priorityJobFactor", priority_job_factor,
          "What being in this partition adds to a job's priority, by PriorityWeightPartition."),
    LIMIT("maxNodes", max_nodes, "The most nodes that a job may have, or UNLIMITED."),
    COUNT("minNodes", min_nodes, "The fewest nodes that a job may have."),
    LIMIT("maxCPUsPerNode", max_cpus_per_node,
          "The most CPUs of a node that this partition's jobs may use together, or UNLIMITED."),
    LIMIT("maxCPUsPerSocket", max_cpus_per_socket,
          "The same for each socket, or UNLIMITED. Slurm 23.02 and later."),
    COUNT("maxMemPerNode", max_mem_per_node,
          "The most memory in MB that a job may have on a node; 0 means no limit. Not together "
          "with maxMemPerCPU."),
    COUNT("maxMemPerCPU", max_mem_per_cpu,
          "The most memory in MB that a job may have for each CPU; 0 means no limit."),
    COUNT("defMemPerNode", def_mem_per_node,
          "Memory in MB on each node for jobs that ask for none; 0 means all of it. Not together "
          "with defMemPerCPU."),
    COUNT("defMemPerCPU", def_mem_per_cpu,
          "Memory in MB for each CPU for jobs that ask for none; 0 means all of it."),
    COUNT("defMemPerGPU", def_mem_per_gpu, "Memory in MB for each GPU for jobs that ask for none."),
    COUNT("defCPUPerGPU", def_cpu_per_gpu, "CPUs for each GPU for jobs that ask for none."),
    WORDS("allowGroups", allow_groups,
          "Groups whose members may use the partition; everybody if left out."),
    WORDS("allowAccounts", allow_accounts, "Accounts that may use the partition; all if left out."),
    WORDS("denyAccounts", deny_accounts,
          "Accounts that may not use the partition. Ignored beside allowAccounts."),
    WORDS("allowQos", allow_qos, "QOS that may be used in the partition; all if left out."),
    WORDS("denyQos", deny_qos,
          "QOS that may not be used in the partition. Ignored beside allowQos."),
    TEXT("allocNodes", alloc_nodes,
         "Hosts from which jobs may be submitted, as a host list; all if left out."),
    TEXT("qos", qos, "The partition's own QOS, whose limits hold for all of its jobs."),
    TEXT("oversubscribe", oversubscribe,
         "Whether jobs may share resources: NO, EXCLUSIVE, YES or FORCE, the last two with a "
         "number of jobs after a colon such as FORCE:4."),
    TEXT("preemptMode", preempt_mode,
         "What happens to jobs that are preempted: OFF, CANCEL, REQUEUE or SUSPEND; the cluster's "
         "setting if left out."),
    TEXT("alternate", alternate, "Partition that takes jobs while this one is DRAIN or INACTIVE."),
    YES_NO("hidden", hidden, "Whether sinfo and squeue leave the partition out unless asked."),
    YES_NO("rootOnly", root_only, "Whether only root may submit jobs, also for others."),
    YES_NO("disableRootJobs", disable_root_jobs, "Whether root itself may run no jobs."),
    TEXT(
        "exclusive", exclusive,
        "What is given to one job or user at a time: NO, NODE (a job has its nodes alone), USER (a "
        "user has) or TOPO (a job has a part of the topology). Stands for exclusiveUser, "
        "exclusiveTopo and oversubscribe: EXCLUSIVE. Slurm 26.05 and later."),
    YES_NO("exclusiveUser", exclusive_user, "Whether a node is given to one user at a time."),
    YES_NO("exclusiveTopo", exclusive_topo,
           "Whether a part of the topology is given to one job at a time. Slurm 24.05 and later."),
    YES_NO("reqResv", req_resv, "Whether jobs must name a reservation."),
    YES_NO("lln", lln, "Whether the least loaded nodes are taken first."),
    YES_NO("powerDownOnIdle", power_down_on_idle,
           "Whether nodes are powered down as soon as they are idle."),
    LIMIT("suspendTime", suspend_time,
          "Seconds after which idle nodes are powered down, or INFINITE; the cluster's setting if "
          "left out."),
    COUNT("suspendTimeout", suspend_timeout, "Seconds that powering a node down may take."),
    COUNT("resumeTimeout", resume_timeout, "Seconds that powering a node up may take."),
    TEXT("cpuBind", cpu_bind,
         "How tasks are bound to CPUs where they ask for nothing: none, socket, ldom, core, thread "
         "or off."),
    TEXT("tresBillingWeights", tres_billing_weights,
         "What resources cost, such as \"CPU=1.0,Mem=0.25G,GRES/gpu=2.0\"."),
    TEXT("topology", topology, "Name of the topology that is used. Slurm 25.05 and later."),
    {"config", JSN_STR, SPEC(config), 0,
     .doc = "Settings that have no field, as in slurm.conf and in one line, such as "
            "\"SelectTypeParameters=CR_Core\". A key that has a field is written there.",
     .extra = "{\"pattern\":\"^[^\\\\n]*$\"}"},
    JSN_END,
};

#define DRIFT(member) offsetof(struct api_partition_drift, member)

static const struct jsn_field drift_fields[] = {
    {"field", JSN_STR, DRIFT(field), JSN_REQ, .doc = "The setting, as slurm.conf calls it."},
    {"declared", JSN_STR, DRIFT(declared), JSN_KEEP, .doc = "What it should be."},
    {"live", JSN_STR, DRIFT(live), JSN_KEEP, .doc = "What it is."},
    JSN_END,
};

#define STATUS(member) offsetof(struct api_partition_status, member)

const struct jsn_field api_partition_status_fields[] = {
    {"observedGeneration", JSN_I64, STATUS(observed_generation), 0,
     .doc = "The metadata.generation that this status speaks of."},
    {"partitionName", JSN_STR, STATUS(name), 0, .doc = "What Slurm calls the partition."},
    {"line", JSN_STR, STATUS(line), 0,
     .doc = "The line of slurm.conf that was last made of it and found good."},
    {"state", JSN_STR, STATUS(state), 0, .doc = "The state in slurmctld."},
    {"nodes", JSN_STR, STATUS(nodes), 0, .doc = "The nodes that it has, as a host list."},
    {"totalNodes", JSN_I32, STATUS(total_nodes), JSN_PTR | JSN_KEEP,
     .doc = "How many nodes it has."},
    {"pendingJobs", JSN_I32, STATUS(pending_jobs), JSN_PTR | JSN_KEEP,
     .doc = "How many of its jobs wait."},
    {"runningJobs", JSN_I32, STATUS(running_jobs), JSN_PTR | JSN_KEEP,
     .doc = "How many of its jobs run."},
    {"live", JSN_MAP, STATUS(live), 0,
     .doc = "All settings as slurmctld has them, spelled as in slurm.conf."},
    {"drift", JSN_SUBS, STATUS(drift), 0, .sub = drift_fields,
     .size = sizeof(struct api_partition_drift), .list_type = "map", .list_keys = "field",
     .doc = "Settings that somebody changed in slurmctld, and that differ from what is declared."},
    API_CONDITIONS_ROW(struct api_partition_status),
    JSN_END,
};

const struct jsn_field api_partition_fields[] = {
    API_META_ROW(struct api_partition),
    {"spec", JSN_SUB, offsetof(struct api_partition, spec), JSN_REQ, .sub = spec_fields,
     .size = sizeof(struct api_partition_spec), .doc = "The partition as it should be.",
     .extra = "{\"x-kubernetes-validations\":[{\"rule\":\"!has(self.all) || !self.all || "
              "(!has(self.nodeSetRefs) && !has(self.nodes))\",\"message\":\"all leaves no room for "
              "nodeSetRefs and nodes\"}]}"},
    {"status", JSN_SUB, offsetof(struct api_partition, status), 0,
     .sub = api_partition_status_fields, .size = sizeof(struct api_partition_status),
     .doc = "The partition as it is."},
    JSN_END,
};

int api_partition_decode(struct arena *a, const struct jsn *v, struct api_partition *ret,
                         struct err *e)
{
    *ret = (struct api_partition){0};
    return fields_decode(a, api_partition_fields, v, ret, e);
}

const char *api_partition_slurm_name(const struct api_partition *part)
{
    return part->spec.name && part->spec.name[0] ? part->spec.name : part->meta.name;
}

/* The key that a row is about; NULL if it is no setting. */
static const char *key_of(const struct jsn_field *f)
{
    static const char *const others[] = {"nodes", "partitionName", "config"};
    const struct conf_key *key;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (streq(f->path, others[i]))
            return NULL;
    key = keys_find(CONF_SLURM, CONF_PARTITION, str_of(f->path));
    return key ? key->name : NULL;
}

static const char *join(struct arena *a, const struct jsn_strs *words)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < words->n; i++)
        buf_printf(&b, "%s%s", i ? "," : "", words->items[i]);
    return words->n ? arena_strdup(a, buf_str(&b)) : NULL;
}

static const char *int_or_str(struct arena *a, const struct jsn_int_or_str *v)
{
    if (!v->set)
        return NULL;
    return v->str ? v->str : arena_printf(a, "%d", (int)v->i);
}

/* What a row holds, as slurm.conf spells it; NULL: nothing, or nothing that has a text. */
static const char *value_of(struct arena *a, const struct jsn_field *f,
                            const struct api_partition_spec *spec)
{
    const char *at = (const char *)spec + f->offset;
    const void *own = NULL;

    if (f->flags & JSN_PTR)
        memcpy(&own, at, sizeof(own));
    switch ((int)f->kind) {
    case JSN_FLAG:
        return own ? (*(const bool *)own ? "YES" : "NO") : NULL;
    case JSN_I64:
        return own ? arena_printf(a, "%lld", (long long)*(const int64_t *)own) : NULL;
    case JSN_ENUM:
        return f->names[*(const int *)(const void *)at];
    case JSN_INT_OR_STR:
        return int_or_str(a, (const void *)at);
    case JSN_STRS:
        return join(a, (const void *)at);
    case JSN_STR:
        memcpy(&own, at, sizeof(own));
        return own && *(const char *)own ? own : NULL;
    default:
        return NULL;
    }
}

void api_partition_settings(struct arena *a, const struct api_partition *part, api_setting_fn fn,
                            void *arg)
{
    for (const struct jsn_field *f = spec_fields; f->kind != JSN_NOTHING; f++) {
        const char *value = value_of(a, f, &part->spec);
        const char *key = value ? key_of(f) : NULL;

        if (key)
            fn(arg, f->path, key, value);
    }
}

struct line {
    struct buf text;
    bool may_be_default;
};

static void add_setting(void *arg, const char *field, const char *key, const char *value)
{
    struct line *l = arg;

    (void)field;
    if (strcasecmp(key, "Default") == 0 && !l->may_be_default)
        return;
    buf_addc(&l->text, ' ');
    conf_pair_print(key, value, &l->text);
}

static void add_pair(void *arg, const char *key, const char *value)
{
    add_setting(arg, NULL, key, value);
}

bool api_partition_is_default(const struct api_partition *part)
{
    return (part->spec.is_default && *part->spec.is_default) ||
           partition_config_is_default(str_of(part->spec.config));
}

const char *api_partition_line(struct arena *a, const struct api_partition *part, const char *nodes,
                               bool may_be_default)
{
    struct line l = {.may_be_default = may_be_default || !api_partition_is_default(part)};
    struct str config = str_trim(str_of(part->spec.config));
    const char *copy;

    conf_pair_print("PartitionName", api_partition_slurm_name(part), &l.text);
    if (nodes[0])
        add_pair(&l, "Nodes", nodes);
    api_partition_settings(a, part, add_setting, &l);
    if (!l.may_be_default) {
        partition_config_each(config, add_pair, &l);
    } else if (config.n) {
        buf_addc(&l.text, ' ');
        buf_addstr(&l.text, config);
    }
    copy = arena_strdup(a, buf_str(&l.text));
    buf_done(&l.text);
    return copy;
}

static const char *slurm_name_of(struct arena *a, const struct jsn *object)
{
    struct api_partition part;

    return api_partition_decode(a, object, &part, NULL) == 0 ? api_partition_slurm_name(&part)
                                                             : NULL;
}

static const char *const short_names[] = {"part", "parts", NULL};
static const struct api_column columns[] = {
    {"STATE", "string", ".status.state", "The state in slurmctld.", false},
    {"NODES", "integer", ".status.totalNodes", "How many nodes it has.", false},
    {"RUNNING", "integer", ".status.runningJobs", "Jobs that run.", false},
    {"PENDING", "integer", ".status.pendingJobs", "Jobs that wait.", false},
    {"READY", "string", ".status.conditions[?(@.type==\"Ready\")].status",
     "Whether slurmctld has it as declared.", false},
    {"DRIFTED", "string", ".status.conditions[?(@.type==\"Drifted\")].status",
     "Whether somebody changed it in slurmctld.", true},
    {"NODELIST", "string", ".status.nodes", "Its nodes.", true},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

const struct api_kind api_kind_partition = {
    API_PARTITION_NAMES,
    .id = KIND_PARTITION,
    .singular = "partition",
    .short_names = short_names,
    .doc = "A partition of a Slurm cluster over any of its nodes. A change is in slurmctld at "
           "once, and no job is lost by it.",
    .fields = api_partition_fields,
    .columns = columns,
    .scale = false,
    .needed = false,
    .slurm_name = slurm_name_of,
};
