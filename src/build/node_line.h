/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a NodeSet declares of each of its nodes: its name and extraConf, as one line of settings. */
#pragma once

#include "src/json/jsn.h"

struct node_setting {
    const char *key; /* as Slurm spells it */
    const char *value;
};

struct node_line {
    const char *features;       /* the NodeSet's own name among them; sorted, by commas */
    struct node_setting *items; /* all others, sorted by key */
    size_t n;
};

/* Read extraConf (NULL: none) of a NodeSet of that name in Slurm.  What cannot be read was refused
 * before, and counts as nothing.  All in `a`. */
void node_line_read(struct arena *a, const char *slurm_name, const char *extra_conf,
                    struct node_line *ret);

/* NULL: it is not declared. */
const char *node_line_get(const struct node_line *l, const char *key);

/*
 * The settings that slurmctld takes from a slurmd when it makes the node's record, and never
 * afterwards: all but features and weight, and, with `topology`, the topology.  As text, in `a`;
 * two lines with the same text need no other pod and no other record.
 */
const char *node_line_lasting(struct arena *a, const struct node_line *l, bool topology);

/* A limit of slurmd's container, or else of its pod, in whole units, rounded up; 0 without one. */
int64_t node_limit(const struct jsn *slurmd, const struct jsn *pod_spec, const char *resource);
