/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live partitions.
 *
 * slurmctld's records come through the link in slurm.conf's spelling, so that they load like a
 * line of the file and are held against one field by field.  A key that is not there is not set.
 */
#include "src/agent/live.h"

#include <strings.h>

#include "src/base/alloc.h"

static void one_done(struct live_partition *l)
{
    partition_done(&l->p);
}

void live_done(struct live *l)
{
    for (size_t i = 0; i < l->n; i++)
        one_done(&l->list[i]);
    free(l->list);
    *l = (struct live){0};
}

static int decode_one(const struct jsn *item, struct live_partition *ret, struct err *e)
{
    const char *name = jsn_get_str(item, "name");
    const struct jsn *config = jsn_key(item, "config");
    const char *nodesets = jsn_get_str(item, "nodesets");
    struct conf_pair pairs[CONF_MAX_PAIRS];
    size_t n = 0;
    int r;

    if (!name || !jsn_is(config, JSN_OBJECT))
        return err_set(e, -EBADMSG, ERR_PERMANENT, "a live partition without name or settings");
    partition_init(&ret->p);
    JSN_FOR_MEMBERS (m, config) {
        const char *value = jsn_text(m->value);

        if (value && value[0] && n < CONF_MAX_PAIRS)
            pairs[n++] = (struct conf_pair){.key = m->key.p, .value = value, .op = '='};
    }
    r = partition_load(&ret->p, pairs, n, e);
    if (r < 0) {
        partition_done(&ret->p);
        return err_wrap(e, r, "live partition '%s'", name);
    }
    free(ret->p.name);
    ret->p.name = xstrdup(name);
    if (nodesets && nodesets[0])
        ret->p.nodesets = xstrdup(nodesets);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const struct live_partition *x = a;
    const struct live_partition *y = b;

    return strcmp(x->p.name, y->p.name);
}

void live_add(struct live *l, const struct live_partition *from)
{
    array_reserve(&l->list, &l->cap, l->n + 1, sizeof(*l->list));
    partition_copy(&from->p, &l->list[l->n++].p);
}

void live_sort(struct live *l)
{
    if (l->n > 1)
        qsort(l->list, l->n, sizeof(*l->list), by_name);
}

int live_decode(const struct jsn *items, struct live *ret, struct err *e)
{
    AUTO(live_done) struct live l = {0};

    l.cap = jsn_len(items) + 1;
    l.list = xcalloc(l.cap, sizeof(*l.list));
    JSN_FOR_ITEMS (item, items) {
        int r = decode_one(item, &l.list[l.n], e);

        if (r < 0)
            return r;
        l.n++;
    }
    live_sort(&l);
    *ret = l;
    l = (struct live){0};
    return 0;
}

const struct live_partition *live_find(const struct live *l, const char *name)
{
    size_t low = 0;
    size_t high = l ? l->n : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(l->list[middle].p.name, name);

        if (order == 0)
            return &l->list[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

void live_drift(const struct live_partition *live, const struct partition *declared,
                const struct host_set *all, const struct host_set *nodesets, uint32_t release,
                struct part_changes *ret)
{
    size_t kept = 0;

    partition_drift(declared, &live->p, all, nodesets, release, ret);
    for (size_t i = 0; i < ret->n; i++) {
        struct part_change *c = &ret->list[i];

        if (keys_class(c->key, release) <= CHANGE_RPC) {
            ret->list[kept++] = *c;
            continue;
        }
        free(c->from);
        free(c->to);
    }
    ret->n = kept;
}
