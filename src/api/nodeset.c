/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind NodeSet: its tables, and what follows from them.
 *
 * In Slurm a NodeSet is a feature: each of its nodes registers with it, a NodeSet line gathers
 * them, and a partition may stand on that line.  All three have one name (nodeset_slurm_name).
 * Where `partition` is given at all, it is enabled unless it says otherwise.
 */
#include "src/api/nodeset.h"

#include <ctype.h>

#include "src/api/kinds.h"
#include "src/api/node_count.h"

static const char *const scaling_names[] = {"DaemonSet", "StatefulSet", NULL};
static const char *const update_names[] = {"RollingUpdate", "OnDelete", "ScheduledUpdate", NULL};
static const char *const retention_names[] = {"Retain", "Delete", NULL};
static const char *const prune_names[] = {"Never", "NodeNotFound", NULL};

static const struct jsn_field ssh_fields[] = {
    {"enabled", JSN_FLAG, offsetof(struct nodeset_ssh, enabled), 0, .def = "false",
     .doc = "Whether users may log in to nodes on which they have a job."},
    {"extraSshdConfig", JSN_STR, offsetof(struct nodeset_ssh, extra_sshd_config), 0,
     .doc = "Lines to add to sshd_config."},
    {"sssdConfRef", JSN_SUB, offsetof(struct nodeset_ssh, sssd_conf_ref), 0,
     .sub = api_secret_key_fields, .size = sizeof(struct api_key_ref), .list_type = "atomic",
     .doc = "The sssd.conf that tells who the users are. Needed where ssh is enabled; without ssh, "
            "jobs of such users have their names all the same."},
    JSN_END,
};

static const struct jsn_field partition_fields[] = {
    {"enabled", JSN_FLAG, offsetof(struct nodeset_partition, enabled), 0, .def = "true",
     .doc = "Whether the partition exists; true if left out."},
    {"config", JSN_STR, offsetof(struct nodeset_partition, config), 0,
     .doc = "Settings of the partition as in slurm.conf, in one line, such as "
            "\"Default=YES MaxTime=24:00:00 State=UP\". PartitionName and Nodes are set already.",
     .extra = "{\"pattern\":\"^[^\\\\n]*$\"}"},
    JSN_END,
};

static const struct jsn_field scheduled_fields[] = {
    {"startTime", JSN_TIME, offsetof(struct nodeset_scheduled, start_us), 0,
     .doc = "When the update may begin."},
    {"duration", JSN_DURATION, offsetof(struct nodeset_scheduled, duration_ms), 0, .def = "\"30m\"",
     .doc = "How long the nodes are reserved for it; at least 1m."},
    {"flags", JSN_STRS, offsetof(struct nodeset_scheduled, flags), JSN_NULLABLE, .list_type = "set",
     .doc = "Further flags of the reservation, such as DAILY."},
    JSN_END,
};

static const struct jsn_field strategy_fields[] = {
    {"type", JSN_ENUM, offsetof(struct nodeset_strategy, type), 0, .def = "\"RollingUpdate\"",
     .names = update_names,
     .doc = "RollingUpdate replaces outdated pods as their nodes become idle, OnDelete only when "
            "somebody deletes them, ScheduledUpdate in a reservation."},
    {"rollingUpdate", JSN_GROUP, 0, 0, .doc = "How a rolling update goes about."},
    {"rollingUpdate.maxUnavailable", JSN_INT_OR_STR,
     offsetof(struct nodeset_strategy, max_unavailable), 0, .def = "\"25%\"",
     .doc = "How many pods may be away at once: a number from 1, or a share of all such as 25%, "
            "which is rounded up."},
    {"scheduledUpdate", JSN_SUB, offsetof(struct nodeset_strategy, scheduled), JSN_PTR,
     .sub = scheduled_fields, .size = sizeof(struct nodeset_scheduled),
     .doc = "When a scheduled update takes place. Needed where type is ScheduledUpdate."},
    JSN_END,
};

static const struct jsn_field claim_policy_fields[] = {
    {"whenDeleted", JSN_ENUM, offsetof(struct nodeset_claim_policy, when_deleted), 0,
     .def = "\"Retain\"", .names = retention_names,
     .doc = "What happens to the claims when the NodeSet is deleted."},
    {"whenScaled", JSN_ENUM, offsetof(struct nodeset_claim_policy, when_scaled), 0,
     .def = "\"Retain\"", .names = retention_names,
     .doc = "What happens to the claim of a pod that is scaled away."},
    JSN_END,
};

#define TEMPLATE(member) offsetof(struct nodeset_claim_template, member)

static const struct jsn_field claim_template_fields[] = {
    {"apiVersion", JSN_STR, TEMPLATE(api_version), 0, .doc = "v1, if given."},
    {"kind", JSN_STR, TEMPLATE(kind), 0, .doc = "PersistentVolumeClaim, if given."},
    {"metadata", JSN_RAW, TEMPLATE(metadata), 0,
     .doc = "Its name is that of the volume in the pods."},
    {"spec", JSN_RAW, TEMPLATE(spec), 0, .doc = "What to claim: a PersistentVolumeClaimSpec."},
    {"status", JSN_RAW, TEMPLATE(status), 0, .doc = "Not used."},
    JSN_END,
};

#define SPEC(member) offsetof(struct nodeset_spec, member)
#define SUB(path_, member, flags_, table, doc_)                                                    \
    {path_,      JSN_SUB,      SPEC(member),                                                       \
     flags_,     .sub = table, .size = sizeof(((struct nodeset_spec *)NULL)->member),              \
     .doc = doc_}

static const struct jsn_field spec_fields[] = {
    SUB("controllerRef", controller_ref, JSN_REQ, api_controller_ref_fields,
        "The Controller whose cluster the nodes belong to. Cannot be changed later."),
    {"replicas", JSN_I32, SPEC(replicas), JSN_HAS_MIN | JSN_HAS_MAX | JSN_KEEP, .def = "1",
     .min = 0, .max = NODE_COUNT_MOST,
     .doc =
         "How many nodes there should be; with those of other NodeSets no more than MaxNodeCount "
         "of the cluster. Not used where scalingMode is DaemonSet."},
    {"scalingMode", JSN_ENUM, SPEC(scaling_mode), 0, .def = "\"StatefulSet\"",
     .names = scaling_names,
     .doc = "StatefulSet: as many nodes as replicas says, with numbers in their names. DaemonSet: "
            "one on each Kubernetes node that the template allows."},
    {"slurmd", JSN_RAW, SPEC(slurmd), 0,
     .doc = "Settings of the slurmd container: image, resources, args, env, volumeMounts and all "
            "else that a container has."},
    {"ssh", JSN_SUB, SPEC(ssh), JSN_PTR, .sub = ssh_fields, .size = sizeof(struct nodeset_ssh),
     .doc = "Log-in to the nodes for users with a job there."},
    {"logfile", JSN_RAW, SPEC(logfile), 0,
     .doc = "Settings of the container that shows slurmd's log."},
    SUB("template", template, 0, api_template_fields,
        "What to lay over the pods. spec.hostname, if set, begins the nodes' names and is the name "
        "of the NodeSet, feature and partition in Slurm."),
    {"extraConf", JSN_STR, SPEC(extra_conf), 0,
     .doc = "Parameters of the nodes as in a NodeName line, such as \"Gres=gpu:4 "
            "Features=a100\"; given to slurmd --conf."},
    {"partition", JSN_SUB, SPEC(partition), JSN_PTR, .sub = partition_fields,
     .size = sizeof(struct nodeset_partition),
     .doc =
         "A partition of these nodes, named like the NodeSet. For one over several NodeSets make "
         "a Partition."},
    {"volumeClaimTemplates", JSN_SUBS, SPEC(claim_templates), JSN_NULLABLE,
     .sub = claim_template_fields, .size = sizeof(struct nodeset_claim_template),
     .list_type = "atomic", .doc = "Claims to make for each pod. Cannot be changed later."},
    {"updateStrategy", JSN_SUB, SPEC(update_strategy), 0, .sub = strategy_fields,
     .size = sizeof(struct nodeset_strategy), .doc = "How pods come to a changed template.",
     .extra = "{\"x-kubernetes-validations\":[{\"rule\":\"!has(self.type) || self.type != "
              "'ScheduledUpdate' || (has(self.scheduledUpdate) && "
              "has(self.scheduledUpdate.startTime))\",\"message\":\"ScheduledUpdate needs "
              "scheduledUpdate.startTime\"}]}"},
    {"revisionHistoryLimit", JSN_I32, SPEC(revision_history_limit), JSN_HAS_MIN, .def = "0",
     .min = 0, .doc = "How many older revisions of the template are kept."},
    SUB("persistentVolumeClaimRetentionPolicy", claim_policy, 0, claim_policy_fields,
        "What happens to the pods' claims."),
    {"minReadySeconds", JSN_I32, SPEC(min_ready_seconds), JSN_HAS_MIN, .min = 0,
     .doc = "How long a pod must be ready before it counts as available."},
    {"ordinalPadding", JSN_U32, SPEC(ordinal_padding), JSN_HAS_MAX, .def = "0",
     .max = NODESET_PADDING_MAX,
     .doc = "To how many digits the numbers in names are filled with zeros: 3 gives "
            "compute-007."},
    {"pinToNode", JSN_FLAG, SPEC(pin_to_node), 0, .def = "false",
     .doc = "Whether a pod stays on the Kubernetes node on which it first ran. Not used where "
            "scalingMode is DaemonSet."},
    {"workloadDisruptionProtection", JSN_FLAG, SPEC(disruption_protection), 0, .def = "true",
     .doc = "Whether nodes with jobs are protected from eviction by a PodDisruptionBudget."},
    {"pruneSlurmNodeRecords", JSN_ENUM, SPEC(prune_records), 0, .def = "\"Never\"",
     .names = prune_names,
     .doc = "Taken for the sake of manifests that have it. Records of nodes whose pods are gone "
            "for good are deleted in any case."},
    {"oversubscribeNode", JSN_FLAG, SPEC(oversubscribe_node), 0, .def = "false",
     .doc = "Whether several workers may share a Kubernetes node."},
    JSN_END,
};

#define STATUS(member) offsetof(struct nodeset_status, member)

static const struct jsn_field nodeset_status_fields[] = {
    {"replicas", JSN_I32, STATUS(replicas), JSN_KEEP, .doc = "How many pods there are."},
    {"updatedReplicas", JSN_I32, STATUS(updated_replicas), JSN_KEEP,
     .doc = "How many of them are made from the present template."},
    {"readyReplicas", JSN_I32, STATUS(ready_replicas), JSN_KEEP,
     .doc = "How many of them are ready."},
    {"availableReplicas", JSN_I32, STATUS(available_replicas), JSN_KEEP,
     .doc = "How many of them have been ready for minReadySeconds."},
    {"unavailableReplicas", JSN_I32, STATUS(unavailable_replicas), JSN_KEEP,
     .doc = "How many are missing or not available."},
    {"desired", JSN_I32, STATUS(desired), JSN_KEEP, .doc = "How many pods there should be."},
    {"slurmIdle", JSN_I32, STATUS(slurm_idle), JSN_KEEP, .doc = "How many Slurm nodes are idle."},
    {"slurmAllocated", JSN_I32, STATUS(slurm_allocated), JSN_KEEP,
     .doc = "How many Slurm nodes run jobs."},
    {"slurmDown", JSN_I32, STATUS(slurm_down), JSN_KEEP, .doc = "How many Slurm nodes are down."},
    {"slurmDrain", JSN_I32, STATUS(slurm_drain), JSN_KEEP,
     .doc = "How many Slurm nodes are drained or draining."},
    {"observedGeneration", JSN_I64, STATUS(observed_generation), 0,
     .doc = "The metadata.generation that this status speaks of."},
    {"nodeSetHash", JSN_STR, STATUS(hash), JSN_KEEP,
     .doc = "Hash of the revision that pods are brought to."},
    {"collisionCount", JSN_I32, STATUS(collision_count), JSN_PTR,
     .doc = "How many revisions had the same hash."},
    API_CONDITIONS_ROW(struct nodeset_status),
    {"ordinalToNode", JSN_MAP, STATUS(ordinal_to_node), 0,
     .doc = "Where pods are pinned: number to Kubernetes node."},
    {"selector", JSN_STR, STATUS(selector), JSN_KEEP, .doc = "Selects the pods; for autoscalers."},
    JSN_END,
};

const struct jsn_field nodeset_fields[] = {
    API_META_ROW(struct nodeset),
    {"spec", JSN_SUB, offsetof(struct nodeset, spec), JSN_REQ, .sub = spec_fields,
     .size = sizeof(struct nodeset_spec), .doc = "The nodes as they should be."},
    {"status", JSN_SUB, offsetof(struct nodeset, status), 0, .sub = nodeset_status_fields,
     .size = sizeof(struct nodeset_status), .doc = "The nodes as they are."},
    JSN_END,
};

int nodeset_decode(struct arena *a, const struct jsn *v, struct nodeset *ret, struct err *e)
{
    *ret = (struct nodeset){0};
    return fields_decode(a, nodeset_fields, v, ret, e);
}

struct jsn *nodeset_status_encode(struct arena *a, const struct nodeset_status *status)
{
    return fields_encode(a, nodeset_status_fields, status);
}

const char *nodeset_slurm_name(struct arena *a, const struct nodeset *ns)
{
    struct str name = str_trim(str_of(api_template_hostname(&ns->spec.template)));
    size_t n = 0;

    while (n < name.n && !isspace((unsigned char)name.p[n]))
        n++;
    name.n = n;
    while (name.n && name.p[0] == '-') {
        name.p++;
        name.n--;
    }
    while (name.n && name.p[name.n - 1] == '-')
        name.n--;
    return name.n ? arena_str(a, name) : ns->meta.name;
}

bool nodeset_has_partition(const struct nodeset *ns)
{
    return ns->spec.partition && ns->spec.partition->enabled;
}

const char *nodeset_partition_config(const struct nodeset *ns)
{
    return ns->spec.partition && ns->spec.partition->config ? ns->spec.partition->config : "";
}

const char *nodeset_partition_line(struct arena *a, const struct nodeset *ns)
{
    const char *name = nodeset_slurm_name(a, ns);

    return arena_printf(a, "PartitionName=%s Nodes=%s %s", name, name,
                        nodeset_partition_config(ns));
}

int32_t nodeset_max_unavailable(const struct nodeset *ns, int32_t of)
{
    const struct jsn_int_or_str *max = &ns->spec.update_strategy.max_unavailable;
    struct str text = str_of(max->str);
    uint32_t percent;

    if (!max->str)
        return MAX(max->i, 1);
    if (!str_ends(text, "%") || str_to_u32((struct str){text.p, text.n - 1}, &percent) < 0)
        return 1;
    return (int32_t)MAX(((int64_t)MAX(of, 0) * MIN(percent, 100U) + 99) / 100, (int64_t)1);
}

static const char *slurm_name_of(struct arena *a, const struct jsn *object)
{
    struct nodeset ns;

    return nodeset_decode(a, object, &ns, NULL) == 0 ? nodeset_slurm_name(a, &ns) : NULL;
}

static const char *const short_names[] = {"nss", "slurmd", NULL};
static const struct api_column columns[] = {
    {"DESIRED", "integer", ".status.desired", "How many pods there should be.", false},
    {"REPLICAS", "integer", ".status.replicas", "How many pods there are.", false},
    {"UPDATED", "integer", ".status.updatedReplicas", "How many have the present template.", false},
    {"READY", "integer", ".status.readyReplicas", "How many are ready.", false},
    {"IDLE", "integer", ".status.slurmIdle", "Slurm nodes that are idle.", true},
    {"ALLOCATED", "integer", ".status.slurmAllocated", "Slurm nodes that run jobs.", true},
    {"DOWN", "integer", ".status.slurmDown", "Slurm nodes that are down.", true},
    {"DRAIN", "integer", ".status.slurmDrain", "Slurm nodes that are drained.", true},
    {"PARTITION", "string", ".status.conditions[?(@.type==\"PartitionApplied\")].status",
     "Whether slurmctld has the partition as declared.", true},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

const struct api_kind api_kind_nodeset = {
    API_NODESET_NAMES,
    .id = KIND_NODESET,
    .singular = "nodeset",
    .short_names = short_names,
    .doc = "Compute nodes of a Slurm cluster that are alike: pods that run slurmd, and perhaps a "
           "partition of them.",
    .fields = nodeset_fields,
    .columns = columns,
    .scale = true,
    .needed = true,
    .slurm_name = slurm_name_of,
};
