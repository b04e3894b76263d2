/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of objects that plans read and write, and where the API has them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct plan_kind {
    const char *kind;  /* "StatefulSet" */
    const char *group; /* "" for the core */
    const char *version;
    const char *older; /* the version that servers have which do not know that one; NULL: none */
    const char *plural;
    /* Paths that are ours to set, ends with NULL: everything else of the object is left alone.  No
     * paths: once made, only its labels, annotations and owners are kept right. */
    const char *const *fields;
};

/* All of them, by kind; ends with a NULL kind. */
extern const struct plan_kind plan_kinds[];

/* Never NULL: a kind that is not in the table is a programmer's error and aborts. */
const struct plan_kind *plan_kind_find(const char *kind);
