/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How validation sees the other objects: a store, a cache or a list of manifests behind it. */
#pragma once

#include "src/json/jsn.h"

/* Called for each object; false ends the visit. */
typedef bool (*api_visit_fn)(void *arg, const struct jsn *object);

/*
 * Kinds are named "ConfigMap", "Secret", "PersistentVolumeClaim", "Controller", "NodeSet",
 * "Partition", "Accounting", "Node" (in no namespace: ns is NULL).  Objects are borrowed and stay
 * valid as long as the check runs.
 */
struct api_lookup {
    /* *ret_object is NULL where there is none.  Negative if nobody can tell. */
    int (*get)(void *ctx, const char *kind, const char *ns, const char *name,
               const struct jsn **ret_object);
    int (*each)(void *ctx, const char *kind, const char *ns, api_visit_fn visit, void *arg);
    void *ctx;
    /* Of NodeSets and Partitions: those that have this name in Slurm; others may be among them.
     * NULL: all are visited. */
    int (*each_named)(void *ctx, const char *kind, const char *ns, const char *name,
                      api_visit_fn visit, void *arg);
};

enum api_found { API_ABSENT, API_PRESENT, API_UNKNOWN };

/* Look one up; a NULL lookup knows nothing.  ret_object may be NULL. */
enum api_found api_lookup_get(const struct api_lookup *l, const char *kind, const char *ns,
                              const char *name, const struct jsn **ret_object);
/* Visit all of a kind in a namespace; false if they could not be listed. */
bool api_lookup_each(const struct api_lookup *l, const char *kind, const char *ns,
                     api_visit_fn visit, void *arg);

/* Visit those of a kind that may have the name in Slurm. */
bool api_lookup_each_named(const struct api_lookup *l, const char *kind, const char *ns,
                           const char *name, api_visit_fn visit, void *arg);
