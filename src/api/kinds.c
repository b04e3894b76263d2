/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of our kinds.
 *
 * Names, short names and columns of its group are those of Slinky, so that habits and scripts go on
 * working.
 */
#include "src/api/kinds.h"

#include "src/api/controller.h"
#include "src/api/nodeset.h"
#include "src/api/partition.h"

static const char *const controller_short[] = {"slurmctld", NULL};
static const char *const nodeset_short[] = {"nss", "slurmd", NULL};

static const char *const partition_short[] = {"part", "parts", NULL};

static const struct api_column controller_columns[] = {
    {"READY", "string", ".status.conditions[?(@.type==\"Ready\")].status",
     "Whether the cluster is up.", false},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

static const struct api_column nodeset_columns[] = {
    {"DESIRED", "integer", ".status.desired", "How many pods there should be.", false},
    {"REPLICAS", "integer", ".status.replicas", "How many pods there are.", false},
    {"UPDATED", "integer", ".status.updatedReplicas", "How many have the present template.", false},
    {"READY", "integer", ".status.readyReplicas", "How many are ready.", false},
    {"IDLE", "integer", ".status.slurmIdle", "Slurm nodes that are idle.", true},
    {"ALLOCATED", "integer", ".status.slurmAllocated", "Slurm nodes that run jobs.", true},
    {"DOWN", "integer", ".status.slurmDown", "Slurm nodes that are down.", true},
    {"DRAIN", "integer", ".status.slurmDrain", "Slurm nodes that are drained.", true},
    {"AGE", "date", ".metadata.creationTimestamp", "When it was made.", false},
    {NULL},
};

static const struct api_column partition_columns[] = {
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

const struct api_kind api_kinds[] = {
    {API_GROUP, API_VERSION, "Controller", "controllers", "controller", controller_short,
     "A Slurm cluster: its slurmctld, and the configuration of all its daemons.", controller_fields,
     controller_columns, false},
    {API_GROUP, API_VERSION, "NodeSet", "nodesets", "nodeset", nodeset_short,
     "Compute nodes of a Slurm cluster that are alike: pods that run slurmd, and perhaps a "
     "partition of them.",
     nodeset_fields, nodeset_columns, true},
    {API_OWN_GROUP, API_OWN_VERSION, "Partition", "partitions", "partition", partition_short,
     "A partition of a Slurm cluster over any of its nodes. A change is in slurmctld at once, and "
     "no job is lost by it.",
     api_partition_fields, partition_columns, false},
    {NULL},
};

const struct api_kind *api_kind_find(const char *name)
{
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        if (streq(k->kind, name) || streq(k->plural, name))
            return k;
    return NULL;
}

const struct api_kind *api_kind_of(const struct jsn *object)
{
    const struct api_kind *k = api_kind_find(jsn_get_str(object, "kind"));
    struct str version = {0};
    struct str rest = str_of(jsn_get_str(object, "apiVersion"));

    if (!k || !str_split(&rest, '/', &version) || !str_eqz(version, k->group) ||
        !str_eqz(rest, k->version))
        return NULL;
    return k;
}

bool api_group_is_ours(const char *group)
{
    return streq(group, API_GROUP) || streq(group, API_OWN_GROUP);
}
