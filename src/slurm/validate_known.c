/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What need not be checked again.
 *
 * One edit changes the line of one partition, and a cluster may have thousands.  Whether a
 * partition's line is sound follows from the line itself and from the lines that are no partitions:
 * nodes, node sets, settings of the cluster.  So if those are the same as in a configuration that
 * was checked before, each partition that stands there in the same words is sound as well.  What
 * concerns partitions among each other (two of one name, two defaults) is always checked.
 *
 * PartitionName=DEFAULT changes what the lines below it mean; where there is one, all are checked.
 */
#include <strings.h>

#include "src/base/alloc.h"
#include "src/slurm/validate_impl.h"

static bool same_line(const struct conf_line *a, const struct conf_line *b)
{
    if (a->section != b->section || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->pairs[i].op != b->pairs[i].op || !streq(a->pairs[i].key, b->pairs[i].key) ||
            !streq(a->pairs[i].value, b->pairs[i].value))
            return false;
    return true;
}

static bool is_partition(const struct conf_line *line)
{
    return line->section == CONF_PARTITION && strcasecmp(line->pairs[0].value, "DEFAULT") != 0;
}

/* The place of the next line that is no partition; n if there is none. */
static size_t next_other(const struct conf_line *lines, size_t n, size_t at)
{
    while (at < n && is_partition(&lines[at]))
        at++;
    return at;
}

/* Are all lines the same, but for partitions, and is none of them a default for partitions? */
static bool others_are_same(const struct conf *a, const struct conf *b)
{
    size_t an;
    size_t bn;
    const struct conf_line *x = conf_lines(a, &an);
    const struct conf_line *y = conf_lines(b, &bn);
    size_t i = next_other(x, an, 0);
    size_t k = next_other(y, bn, 0);

    while (i < an && k < bn && x[i].section != CONF_PARTITION && same_line(&x[i], &y[k])) {
        i = next_other(x, an, i + 1);
        k = next_other(y, bn, k + 1);
    }
    return i == an && k == bn;
}

/* The line of that partition; as a rule the one that follows the last that was found. */
static const struct conf_line *find_line(const struct model *m, const char *name,
                                         const struct model_object **next)
{
    const struct model_object *o = *next;

    if (!o || o == m->objects + m->n_objects || o->section != CONF_PARTITION ||
        !streq(o->name, name))
        o = model_find(m, CONF_PARTITION, name);
    if (!o)
        return NULL;
    *next = o + 1;
    return o->line;
}

bool *validate_known_lines(const struct model *m, const struct validate_context *ctx)
{
    const struct model *known = ctx->known;
    const struct model_object *next = NULL;
    const struct conf_line *lines;
    bool *ret;
    size_t n;

    if (!known || known->release != ctx->release || conf_kind_of(m->conf) != CONF_SLURM ||
        !others_are_same(m->conf, known->conf))
        return NULL;
    lines = conf_lines(m->conf, &n);
    ret = xcalloc(n + 1, sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        const struct conf_line *was =
            is_partition(&lines[i]) ? find_line(known, lines[i].pairs[0].value, &next) : NULL;

        ret[i] = was && same_line(was, &lines[i]);
    }
    return ret;
}
