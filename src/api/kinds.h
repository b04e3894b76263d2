/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of our kinds: what each is called, how it is shown, which fields it has. */
#pragma once

#include "src/api/meta.h"

/* A column of `kubectl get`. */
struct api_column {
    const char *name;
    const char *type; /* integer, string, date */
    const char *path;
    const char *doc;
    bool wide; /* only with -o wide */
};

struct api_kind {
    const char *group;
    const char *version;
    const char *kind;
    const char *plural;
    const char *singular;
    const char *const *short_names; /* NULL-terminated */
    const char *doc;
    const struct jsn_field *fields;
    const struct api_column *columns; /* ends with a NULL name */
    bool scale;                       /* .spec.replicas, .status.replicas, .status.selector */
};

/* All of them, by name; ends with a NULL kind. */
extern const struct api_kind api_kinds[];

/* By kind ("NodeSet") or plural ("nodesets"); NULL if it is not one of ours. */
const struct api_kind *api_kind_find(const char *name);
/* Of an object: its apiVersion must be the kind's, too. */
const struct api_kind *api_kind_of(const struct jsn *object);
/* Is it a group of ours? */
bool api_group_is_ours(const char *group);
