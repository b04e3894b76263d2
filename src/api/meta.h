/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every object of ours has: apiVersion, and the part of metadata that we read. */
#pragma once

#include "src/base/groups.h"
#include "src/json/fields.h"

#define API_VERSION "v1beta1"
#define API_GROUP_VERSION API_GROUP "/" API_VERSION
/* Of the kinds that Slinky does not have: API_OWN_GROUP. */
#define API_OWN_VERSION "v1alpha1"
/* What labels and annotations of worker pods begin with. */
#define API_NODESET_PREFIX "nodeset." API_GROUP "/"

/* Of an object from the API, or from a file (then uid and times are absent). */
struct api_meta {
    const char *name;
    const char *namespace;
    const char *uid;
    const char *resource_version;
    int64_t generation;
    int64_t created_us; /* 0: not known */
    int64_t deleted_us; /* 0: not being deleted */
    struct jsn_map labels;
    struct jsn_map annotations;
    struct jsn_strs finalizers;
};

extern const struct jsn_field api_meta_fields[];

/* The row that every kind's table starts with. */
#define API_META_ROW(type)                                                                         \
    {"metadata",                                                                                   \
     JSN_SUB,                                                                                      \
     offsetof(type, meta),                                                                         \
     0,                                                                                            \
     .sub = api_meta_fields,                                                                       \
     .size = sizeof(struct api_meta)}

/* The namespace, "default" where a file does not say. */
const char *api_namespace(const struct api_meta *m);
/* An annotation, or NULL. */
const char *api_annotation(const struct api_meta *m, const char *key);
/* "slurm/compute" for messages; in `a`. */
const char *api_full_name(struct arena *a, const struct api_meta *m);
