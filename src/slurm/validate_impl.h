/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that validate. */
#pragma once

#include "src/slurm/validate.h"

struct checker {
    const struct validate_context *ctx;
    const struct model *m;
    struct faults *faults;
    const bool *known; /* lines that were checked before, by their place; NULL: none */
    bool *flawed;      /* set by a fault of a line that is no setting of the cluster; or NULL */
};

/* Was this line checked before, and need not be again? */
static inline bool validate_is_known(const struct checker *c, const struct conf_line *line)
{
    size_t n;

    return c->known && c->known[line - conf_lines(c->m->conf, &n)];
}

/* Which lines are known from ctx->known, by their place; owned.  NULL: none. */
bool *validate_known_lines(const struct model *m, const struct validate_context *ctx);

/* A fault at a line (or at none), from a format. */
void validate_fault(const struct checker *c, enum fault_level level, const struct conf_line *line,
                    const char *key, const char *fmt, ...) PRINTF(5, 6);

/* Settings that go together: validate_cluster.c. */
void check_cluster(const struct checker *c);
/* Nodes and node sets: validate_nodes.c. */
void check_nodes(const struct checker *c);
/* Partitions: validate_partitions.c. */
void check_partitions(const struct checker *c);
