/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of objects that plans read and write: where the API has them, and what is done. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* What is done with objects of a kind; the operator's permissions follow from it. */
enum plan_use {
    PLAN_READ = 1 << 0, /* get, list, watch */
    PLAN_CREATE = 1 << 1,
    PLAN_PATCH = 1 << 2,
    PLAN_DELETE = 1 << 3,
    PLAN_STATUS = 1 << 4, /* patch of the status subresource */
    PLAN_OWN = 1 << 5,    /* others are made that it owns: its deletion may be held up by them */
};

/* What must be known of a kind before work starts. */
enum plan_sight {
    SIGHT_OPTIONAL, /* nothing: the server may not have the kind */
    SIGHT_AWAITED,  /* its objects, or that the server does not have the kind: a configuration that
                       lacked the Partitions would lose their jobs */
    SIGHT_NEEDED,   /* its objects: a server that does not have the kind is waited for */
};

struct plan_kind {
    const char *kind; /* "StatefulSet" */
    const char *plural;
    const char *group; /* "" for the core */
    const char *version;
    const char *older; /* the version that servers have which do not know that one; NULL: none */
    unsigned uses;     /* enum plan_use */
    enum plan_sight sight; /* ask plan_kind_sight */
    bool by_owner;         /* found by their owners */
    const char *selector;  /* only those with these labels are read; NULL: all */
    /* Paths that are ours to set, ends with NULL: everything else of the object is left alone.  No
     * paths: once made, only its labels, annotations and owners are kept right. */
    const char *const *fields;
    bool cluster; /* in no namespace */
};

/* All of them: ours, then Kubernetes'; ends with a NULL kind. */
extern const struct plan_kind plan_kinds[];
/* How many there are. */
extern const size_t plan_n_kinds;

/* What must be known of it: our kinds say themselves whether they are needed. */
enum plan_sight plan_kind_sight(const struct plan_kind *kind);

/* Never NULL: a kind that is not in the table is a programmer's error and aborts. */
const struct plan_kind *plan_kind_find(const char *kind);
