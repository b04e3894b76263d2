/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of Partitions, remembered.
 *
 * A line follows from the Partition's spec, of which uid and generation tell, from the nodes that
 * its NodeSets have, and from whether it may be the default.  If all of these are as they were, so
 * is the line.  Objects without a uid (from files) are not remembered.
 */
#include "src/build/config_lines.h"

void config_lines_done(struct config_lines *l)
{
    arena_done(&l->arena);
    *l = (struct config_lines){0};
}

const struct config_line *config_lines_next(const struct config_lines *l, size_t *at,
                                            const struct api_meta *m)
{
    int order = -1;

    while (*at < l->n && (order = strcmp(l->items[*at].name, m->name)) < 0)
        (*at)++;
    if (*at == l->n || order != 0)
        return NULL;
    return streq(l->items[*at].uid, m->uid) && l->items[*at].generation == m->generation
               ? &l->items[*at]
               : NULL;
}

const char *config_line_of(const struct config_line *kept, struct arena *a,
                           const struct api_partition *part, const char *nodes, bool may_be_default)
{
    if (kept && streq(kept->nodes, nodes) && kept->may_be_default == may_be_default)
        return kept->line;
    return api_partition_line(a, part, nodes, may_be_default);
}

void config_lines_keep(struct config_lines *l, const struct config_line *items, size_t n)
{
    struct config_lines fresh = {0};

    fresh.items = arena_calloc(&fresh.arena, n + 1, sizeof(*fresh.items));
    for (size_t i = 0; i < n; i++) {
        struct config_line *to = &fresh.items[fresh.n];

        if (!items[i].uid || !items[i].line)
            continue;
        *to = items[i];
        to->name = arena_strdup(&fresh.arena, to->name);
        to->uid = arena_strdup(&fresh.arena, to->uid);
        to->nodes = arena_strdup(&fresh.arena, to->nodes);
        to->line = arena_strdup(&fresh.arena, to->line);
        fresh.n++;
    }
    config_lines_done(l);
    *l = fresh;
}
