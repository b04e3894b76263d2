/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What NodeSets, Partitions and extraConf have in common: partitions in the words of slurm.conf. */
#pragma once

#include "src/api/lookup.h"
#include "src/base/arena.h"

/* NULL if a partition may have the name, or else what is wrong, to stand after the name. */
const char *partition_name_fault(const char *name);

/*
 * Check the settings of a partition: pairs of partition keys other than PartitionName and Nodes, in
 * one line.  `name` is used in messages.  Release 0: one known release must take them.
 */
int partition_config_check(const char *name, struct str config, uint32_t release,
                           struct err *e) MUST_CHECK;

/* Visit the pairs of such settings; what cannot be read is passed over. */
typedef void (*partition_pair_fn)(void *arg, const char *key, const char *value);
void partition_config_each(struct str config, partition_pair_fn fn, void *arg);
/* Do the settings say Default=YES? */
bool partition_config_is_default(struct str config);

/* A partition that somebody declares. */
struct partition_claim {
    const char *kind;   /* "NodeSet", "Partition", "Controller" */
    const char *object; /* its name */
    const char *name;   /* of the partition */
    bool is_default;
};

/*
 * Visit all partitions that the objects of a cluster declare, those of its Controller's extraConf
 * too; false ends the visit.  Objects that are being deleted do not count.  Claims are borrowed.
 */
typedef bool (*partition_claim_fn)(void *arg, const struct partition_claim *claim);
void partition_claims_each(const struct api_lookup *l, const char *ns, const char *controller,
                           partition_claim_fn fn, void *arg);
/* The same, for the extraConf of a Controller alone; false if `fn` ended the visit. */
bool partition_claims_extra(const char *controller, const char *extra_conf, partition_claim_fn fn,
                            void *arg);

/* The claim of a name by anybody but this object; false if there is none.  Strings in `a`. */
bool partition_claim_find(struct arena *a, const struct api_lookup *l, const char *ns,
                          const char *controller, const char *name, const char *kind,
                          const char *object, struct partition_claim *ret);
