/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which NodeSets and Partitions have which name in Slurm, for whoever holds very many of them. */
#pragma once

#include "src/base/map.h"
#include "src/json/jsn.h"

/* {0} before name_index_init; name_index_done after. */
struct name_index {
    struct map names;   /* "NodeSet/ns/object" to its name in Slurm */
    struct map holders; /* "NodeSet/ns/name in Slurm" to those that have it */
};

void name_index_init(struct name_index *x);
void name_index_done(struct name_index *x);
DEFINE_AUTO_DONE(struct name_index, name_index_done);

/* Note an object that is there now, in place of what was noted of it.  A kind of ours; what
 * does not decode has no name. */
void name_index_put(struct name_index *x, const char *kind, const char *ns,
                    const struct jsn *object);
void name_index_drop(struct name_index *x, const char *kind, const char *ns, const char *object);

/* Visit the names of the objects that have this name in Slurm; false ends the visit. */
typedef bool (*name_index_fn)(void *arg, const char *object);
void name_index_each(const struct name_index *x, const char *kind, const char *ns, const char *name,
                     name_index_fn fn, void *arg);
