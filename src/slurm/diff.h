/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between two configurations, by meaning and not by text. */
#pragma once

#include "src/slurm/model.h"

enum diff_what { DIFF_CHANGED, DIFF_ADDED, DIFF_REMOVED };

struct conf_change {
    enum diff_what what; /* of a key, or of a whole object where `key_name` is NULL */
    enum conf_section section;
    const char *object;         /* "gpu", "n[1-10]"; NULL for a setting of the cluster */
    const char *key_name;       /* as in the key table */
    const struct conf_key *key; /* NULL for a whole object or an unknown key */
    const char *from;           /* value before; the line for a removed object; NULL if none */
    const char *to;
    const struct conf_line *line; /* where to look: in the new file, or the old one if it is gone */
    const struct model_object *subject; /* the object in the new file, or the old one; or NULL */
};

struct conf_diff {
    struct arena arena;
    struct conf_change *list;
    size_t n;
    size_t cap;
};

/*
 * Compare two models of the same kind of file and release.  Different texts of the same value (time
 * and number forms, order and compression of lists, case where it does not count), the order of
 * lines, aliases, settings at their default and lines that only split or join nodes are no
 * differences.  *ret is filled and must be diff_done'd; both models must outlive it.  Fails if a
 * partition has a value that cannot be read.
 */
int diff_models(const struct model *from, const struct model *to, struct conf_diff *ret,
                struct err *e) MUST_CHECK;

void diff_done(struct conf_diff *d);
DEFINE_AUTO_DONE(struct conf_diff, diff_done);

/* Append one as a line for people: "partition gpu: MaxTime: UNLIMITED -> 1-00:00:00". */
void diff_print(const struct conf_change *change, struct buf *out);
