/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of our kinds.
 *
 * Names, short names and columns are those of Slinky, so that habits and scripts go on working.
 */
#include "src/api/kinds.h"

#include "src/api/controller.h"
#include "src/api/nodeset.h"

static const char *const controller_short[] = {"slurmctld", NULL};
static const char *const nodeset_short[] = {"nss", "slurmd", NULL};

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

const struct api_kind api_kinds[] = {
    {"Controller", "controllers", "controller", controller_short,
     "A Slurm cluster: its slurmctld, and the configuration of all its daemons.", controller_fields,
     controller_columns, false},
    {"NodeSet", "nodesets", "nodeset", nodeset_short,
     "Compute nodes of a Slurm cluster that are alike: pods that run slurmd, and perhaps a "
     "partition of them.",
     nodeset_fields, nodeset_columns, true},
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
    if (!streq(jsn_get_str(object, "apiVersion"), API_GROUP_VERSION))
        return NULL;
    return api_kind_find(jsn_get_str(object, "kind"));
}
