/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store hands out: keys, rows and changes. */
#pragma once

#include "src/base/list.h"
#include "src/base/str.h"

/* The namespace is "" for cluster-wide kinds; the resource is "pods" or
 * "nodesets.slinky.slurm.net". */
struct store_key {
    const char *resource;
    const char *ns;
    const char *name;
};

/* One state of one object.  `data` is its JSON without kind and apiVersion. */
struct store_row {
    struct store_key key;
    int64_t rv;
    uint32_t schema; /* caller's mark: by which schema it was written */
    struct str data;
};

enum store_change { STORE_ADDED, STORE_MODIFIED, STORE_DELETED };

/* A change.  For DELETED `data` is the last state, with the version of the deletion in it.
 * `prev` is empty for ADDED. */
struct store_event {
    struct list link; /* the store's own */
    enum store_change change;
    struct store_row row;
    struct str prev;
};

typedef void (*store_event_fn)(void *arg, const struct store_event *ev);
/* Return false to stop. */
typedef bool (*store_change_fn)(void *arg, const struct store_event *ev);
typedef bool (*store_row_fn)(void *arg, const struct store_row *row);
