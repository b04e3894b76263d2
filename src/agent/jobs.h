/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unfinished jobs, summed up by node and by partition. */
#pragma once

#include "src/base/map.h"
#include "src/json/jsn.h"

/* Jobs of one node or one partition. */
struct jobs_group {
    int64_t *ids;
    size_t n;
    size_t cap;
    unsigned pending;
    unsigned running;   /* running, suspended or completing */
    int64_t busy_until; /* the latest end of a running one; 0: not known */
};

struct jobs {
    struct map nodes;      /* struct jobs_group by node */
    struct map partitions; /* and by partition: of a job with several, all count it, the first has it
                              among its ids */
    unsigned pending;
    unsigned running;
};

void jobs_init(struct jobs *j);
void jobs_done(struct jobs *j);
DEFINE_AUTO_DONE(struct jobs, jobs_done);

/* Sum up the items of the link's `jobs`.  Finished jobs do not count. */
void jobs_take(struct jobs *j, const struct jsn *items);

/* NULL: none. */
const struct jobs_group *jobs_of_node(const struct jobs *j, const char *node);
const struct jobs_group *jobs_of_partition(const struct jobs *j, const char *partition);
