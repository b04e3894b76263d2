/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many nodes a cluster may have, and how many are declared. */
#pragma once

#include "src/api/controller.h"
#include "src/api/nodeset.h"

/* The largest MaxNodeCount that the operator sets by itself. */
#define NODE_COUNT_MOST 65536

/* What bounds the nodes of a cluster. */
struct node_limit {
    int64_t most;
    bool from_user; /* by MaxNodeCount in the Controller's extraConf */
};

/* `c` may be NULL: a Controller that is not there yet sets no limit of its own. */
struct node_limit node_limit_of(const struct controller *c);

/* Nodes that the other NodeSets of that cluster declare; 0 where nobody can tell. */
int64_t node_count_others(const struct nodeset *ns, const struct api_lookup *l);

/* Too many, with the others' of its cluster, or for the machines?  Only of one that asks for more
 * than `old` (NULL: a new one) did: what was declared can always be edited otherwise. */
void nodeset_check_count(const struct nodeset *ns, const struct nodeset *old,
                         const struct api_lookup *l, struct api_problems *p);

/* May the Controller's MaxNodeCount be that low? */
void controller_check_count(const struct controller *c, const struct controller *old,
                            const struct api_lookup *l, struct api_problems *p);
