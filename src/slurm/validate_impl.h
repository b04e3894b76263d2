/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that validate. */
#pragma once

#include "src/slurm/validate.h"

struct checker {
    const struct validate_context *ctx;
    const struct model *m;
    struct faults *faults;
};

/* A fault at a line (or at none), from a format. */
void validate_fault(const struct checker *c, enum fault_level level, const struct conf_line *line,
                    const char *key, const char *fmt, ...) PRINTF(5, 6);

/* Settings that go together: validate_cluster.c. */
void check_cluster(const struct checker *c);
/* Nodes and node sets: validate_nodes.c. */
void check_nodes(const struct checker *c);
/* Partitions: validate_partitions.c. */
void check_partitions(const struct checker *c);
