/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines that Partitions got last, so that only those that have changed are made again. */
#pragma once

#include "src/api/partition.h"

/* What a line was made of, beside the spec of that generation. */
struct config_line {
    const char *name; /* of the object */
    const char *uid;
    int64_t generation;
    const char *nodes;
    bool may_be_default;
    const char *line;
};

/* {0} is a valid empty one. */
struct config_lines {
    struct arena arena;
    struct config_line *items; /* by name */
    size_t n;
};

void config_lines_done(struct config_lines *l);

/*
 * The one of this object, or NULL.  *at is 0 at first: objects that are asked for in the order of
 * their names are found without a search.
 */
const struct config_line *config_lines_next(const struct config_lines *l, size_t *at,
                                            const struct api_meta *m);

/* The line of a Partition, as api_partition_line makes it; the remembered one if it is the same. */
const char *config_line_of(const struct config_line *kept, struct arena *a,
                           const struct api_partition *part, const char *nodes,
                           bool may_be_default);

/* Keep these instead, by name; the texts are copied and may be remembered ones. */
void config_lines_keep(struct config_lines *l, const struct config_line *items, size_t n);
