/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which nodes a Partition has, edited: for `slurmkeeper partition`. */
#pragma once

#include "src/json/jsn.h"

/*
 * "nodes+=N" or "nodes-=N" on a Partition's spec, which is changed in place.  Of N, a list, the
 * names of NodeSets (`nodesets`: those of its cluster) are added to nodeSetRefs or taken from
 * there, all others are hosts, to be added to nodes or taken from there.  -EINVAL with a sentence.
 */
int partition_edit(struct arena *a, struct jsn *spec, const struct jsn *nodesets, const char *word,
                   struct err *e) MUST_CHECK;
