/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a node was declared to be, held against its record in slurmctld. */
#pragma once

#include "src/api/nodeset.h"
#include "src/build/node_line.h"
#include "src/plan/slurm_state.h"

struct node_declared {
    struct node_line line;
    int64_t cpus;       /* the limit of its pod; 0: none */
    int64_t memory_mib; /* likewise */
    bool topology;      /* slurmctld takes another topology while the node runs */
};

struct node_difference {
    const char *key; /* "Features" */
    const char *declared;
    const char *live;
    bool in_place; /* slurmctld takes it while the node runs; else the record must be made again */
};

#define NODE_DIFFERENCES_MAX 16
struct node_differences {
    struct node_difference items[NODE_DIFFERENCES_MAX];
    size_t n;
    size_t n_lasting; /* of them: those that are not in_place */
};

/* What a NodeSet declares; in `a`. */
void node_declare(struct arena *a, const struct nodeset *ns, bool topology,
                  struct node_declared *ret);

/*
 * Compare.  Only what is declared counts, by its meaning, and what limits of the pod lead to: a
 * node may have more than was said of it (what the machine has).  Features and weight are always
 * declared.  A node of which nothing is told differs in nothing.  Texts are in `a`.
 */
void node_compare(struct arena *a, const struct node_declared *d, const struct slurm_node *n,
                  struct node_differences *ret);
