/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a configuration means: settings of the cluster and objects, with DEFAULT lines worked in. */
#pragma once

#include "src/base/map.h"
#include "src/slurm/conf.h"
#include "src/slurm/hostset.h"
#include "src/slurm/keys.h"
#include "src/slurm/partition.h"

/* One key of an object: own, or from a DEFAULT line. */
struct model_value {
    const struct conf_key *key; /* NULL for a key that no release has */
    const char *name;           /* the key's name in the table, or as written */
    const char *value;
    const struct conf_line *line;
};

/* A line that stands for something: a partition, a group of nodes, a node set, ... */
struct model_object {
    enum conf_section section;
    const char *name; /* as written: "gpu", "n[1-10]" */
    const struct conf_line *line;
    struct model_value *values; /* one for each key, without the one that names the object */
    size_t n;
};

/* Immutable.  Borrows the conf it was made from. */
struct model {
    const struct conf *conf;
    uint32_t release;
    struct arena arena;
    struct model_value *settings; /* of the cluster; repeated keys in order, others once */
    size_t n_settings;
    struct model_object *objects; /* in the order of the file, all sections */
    size_t n_objects;
    struct map by_name[CONF_N_SECTIONS]; /* of objects: place + 1, of the last one */
};

/*
 * Make the model.  The conf must outlive it.  Keys are taken as Slurm of this release takes them:
 * last one wins unless the key repeats, older names count as the newer ones, own values before
 * those of the DEFAULT lines above.
 */
struct model *model_new(const struct conf *conf, uint32_t release);
struct model *model_free(struct model *m);
DEFINE_AUTO(struct model, model_free);

/* Value of a cluster setting, or its default, or NULL. */
const char *model_setting(const struct model *m, const char *key);
/* Own or inherited value of an object's key, or NULL. */
const char *model_get(const struct model_object *object, const char *key);

/* The last object of a section by name (no case for none of them), or NULL. */
const struct model_object *model_find(const struct model *m, enum conf_section section,
                                      const char *name);

/*
 * A partition object as typed fields; DisableRootJobs falls back to the cluster's.  *ret must have
 * been partition_init'ed and is filled; fails as partition_load does.
 */
int model_partition(const struct model *m, const struct model_object *object, struct partition *ret,
                    struct err *e) MUST_CHECK;

/* All names of NodeName lines, and all names of NodeSet lines; owned by the caller. */
struct host_set *model_nodes(const struct model *m);
struct host_set *model_nodesets(const struct model *m);
