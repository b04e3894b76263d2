/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Partitions as slurmctld has them at this moment. */
#pragma once

#include "src/json/jsn.h"
#include "src/slurm/model.h"

struct live_partition {
    struct partition p;
};

/* Sorted by name.  {0} is a valid empty list. */
struct live {
    struct live_partition *list;
    size_t n;
    size_t cap;
};

void live_done(struct live *l);
DEFINE_AUTO_DONE(struct live, live_done);

/*
 * From the items of the link's `partitions`: {"name":...,"config":{Key:value},"nodesets":...}.  A
 * value that cannot be read is an error: better no answer than a wrong one.
 */
int live_decode(const struct jsn *items, struct live *ret, struct err *e) MUST_CHECK;

/* Add a copy; live_sort after the last one. */
void live_add(struct live *l, const struct live_partition *from);
void live_sort(struct live *l);

const struct live_partition *live_find(const struct live *l, const char *name);

/*
 * What is not as declared (from = declared, to = live): as partition_drift, for the fields that a
 * call can change.  Nobody can make the others differ, and slurmctld tells some of them worked out.
 */
void live_drift(const struct live_partition *live, const struct partition *declared,
                const struct host_set *all, const struct host_set *nodesets, uint32_t release,
                struct part_changes *ret);
