/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of our kinds, and what each is called, how it is shown, which fields it has. */
#pragma once

#include "src/api/meta.h"

/*
 * The one list of our kinds: K(IDENTIFIER, name).
 *
 * Each layer makes its own table from it, of descriptions that stand with the kind's other code:
 *
 *   layer      description                      says
 *   api        struct api_kind api_kind_X       names, fields, columns (src/api/X.c)
 *   build      struct render_kind render_X      what `render` makes of a manifest (src/build)
 *   admission  struct admission_kind admit_X    what may be stored (src/admission/X.c)
 *   operator   struct operator_kind operator_X  how it is watched, whom its change concerns, how
 *                                               it is planned (src/operator/kind_X.c)
 *
 * A description that is missing is an error of the linker; one that lacks a member fails the unit
 * test of its layer.  docs/adding-a-kind.md leads through it.
 */
#define API_KINDS(K)                                                                               \
    K(ACCOUNTING, accounting)                                                                      \
    K(CONTROLLER, controller)                                                                      \
    K(LOGINSET, loginset)                                                                          \
    K(NODESET, nodeset)                                                                            \
    K(PARTITION, partition)                                                                        \
    K(RESTAPI, restapi)                                                                            \
    K(TOKEN, token)

/* Kind, plural, group and version of each: how the description of a kind begins. */
#define API_ACCOUNTING_NAMES "Accounting", "accountings", API_GROUP, API_VERSION
#define API_CONTROLLER_NAMES "Controller", "controllers", API_GROUP, API_VERSION
#define API_LOGINSET_NAMES "LoginSet", "loginsets", API_GROUP, API_VERSION
#define API_NODESET_NAMES "NodeSet", "nodesets", API_GROUP, API_VERSION
#define API_PARTITION_NAMES "Partition", "partitions", API_OWN_GROUP, API_OWN_VERSION
#define API_RESTAPI_NAMES "RestApi", "restapis", API_GROUP, API_VERSION
#define API_TOKEN_NAMES "Token", "tokens", API_GROUP, API_VERSION

#define API_KIND_ID(ID, name) KIND_##ID,
enum api_kind_id { API_KINDS(API_KIND_ID) API_N_KINDS };

/* A column of `kubectl get`. */
struct api_column {
    const char *name;
    const char *type; /* integer, string, date */
    const char *path;
    const char *doc;
    bool wide; /* only with -o wide */
};

/* Every member is set: src/api/test/kinds.c walks all of them. */
struct api_kind {
    const char *kind;
    const char *plural;
    const char *group;
    const char *version;
    enum api_kind_id id;
    const char *singular;
    const char *const *short_names; /* NULL-terminated */
    const char *doc;
    const struct jsn_field *fields;
    const struct api_column *columns; /* ends with a NULL name */
    bool scale;                       /* .spec.replicas, .status.replicas, .status.selector */
    bool needed; /* there is no cluster without it: a server that lacks its definition is waited for
                  */
    /* What Slurm calls the object, in `a`: no two of a cluster may have the same name there.  NULL:
     * it has none, or does not decode.  api_no_slurm_name: objects of this kind never have. */
    const char *(*slurm_name)(struct arena *a, const struct jsn *object);
};

#define API_KIND_DECLARE(ID, name) extern const struct api_kind api_kind_##name;
API_KINDS(API_KIND_DECLARE)

/* All of them in the order of the list, by enum api_kind_id; a NULL follows the last. */
extern const struct api_kind *const api_kinds[API_N_KINDS + 1];

/* API_FOR_KINDS (k) ...: k is a const struct api_kind *. */
#define API_FOR_KINDS(k)                                                                           \
    for (const struct api_kind *const *k##_at = api_kinds, *k; (k = *k##_at) != NULL; k##_at++)

/* By kind ("NodeSet") or plural ("nodesets"); NULL if it is not one of ours. */
const struct api_kind *api_kind_find(const char *name);
/* Of an object: its apiVersion must be the kind's, too. */
const struct api_kind *api_kind_of(const struct jsn *object);
/* Is it a group of ours? */
bool api_group_is_ours(const char *group);
/* The version that a group of ours is served in; NULL: it is none of ours. */
const char *api_group_version(const char *group);
/* "Controller, NodeSet or Partition", for messages; in `a`. */
const char *api_kind_names(struct arena *a);

const char *api_no_slurm_name(struct arena *a, const struct jsn *object);
