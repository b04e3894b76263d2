/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of a NodeSet's nodes, read out of its spec.
 *
 * They are told twice: to slurmd, which brings them along when it registers, and in the comparison
 * with what slurmctld has.  Some can be changed in a record that is there (features, weight; the
 * topology from 25.05 on).  All others are taken when the record is made: for them the pod is made
 * again, and the record with it.
 */
#include "src/build/node_line.h"

#include <strings.h>

#include "src/api/node_features.h"
#include "src/json/quantity.h"
#include "src/slurm/conf.h"
#include "src/slurm/keys.h"

struct reading {
    struct arena *a;
    struct str features[NODE_FEATURES_MAX];
    size_t n_features;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct node_setting *)a)->key, ((const struct node_setting *)b)->key);
}

static void add_features(struct reading *r, const char *list)
{
    struct str rest = str_of(list);
    struct str item;

    while (str_split(&rest, ',', &item)) {
        bool known = false;

        item = str_trim(item);
        for (size_t i = 0; i < r->n_features; i++)
            known = known || str_eq(r->features[i], item);
        if (item.n && !known && r->n_features < NODE_FEATURES_MAX)
            r->features[r->n_features++] = item;
    }
}

static const char *join_features(struct reading *r)
{
    AUTO(buf_done) struct buf b = {0};

    qsort(r->features, r->n_features, sizeof(r->features[0]), by_text);
    for (size_t i = 0; i < r->n_features; i++) {
        if (i)
            buf_addc(&b, ',');
        buf_addstr(&b, r->features[i]);
    }
    return arena_strdup(r->a, buf_str(&b));
}

static struct conf *parse(const char *extra_conf)
{
    AUTO(faults_done) struct faults faults = {0};
    AUTO(buf_done) struct buf line = {0};
    struct conf_input in = {.kind = CONF_SLURM, .name = "extraConf"};
    struct conf *conf = NULL;

    buf_adds(&line, "NodeName=x ");
    for (const char *p = extra_conf ? extra_conf : ""; *p; p++)
        buf_addc(&line, strchr("\n\r\t", *p) ? ' ' : *p);
    in.text = buf_view(&line);
    return conf_parse(&in, &faults, &conf, NULL) == 0 && faults.fatal == 0 ? conf : conf_free(conf);
}

static const char *spelling(struct arena *a, const char *key)
{
    const struct conf_key *known = keys_find(CONF_SLURM, CONF_NODE, str_of(key));

    if (!known)
        return arena_strdup(a, key);
    return known->same_as ? known->same_as : known->name;
}

void node_line_read(struct arena *a, const char *slurm_name, const char *extra_conf,
                    struct node_line *ret)
{
    AUTO(conf_free) struct conf *conf = parse(extra_conf);
    struct reading r = {.a = a};
    size_t n = 0;
    const struct conf_line *lines = conf ? conf_lines(conf, &n) : NULL;
    const struct conf_line *line = n ? &lines[0] : NULL;

    *ret = (struct node_line){0};
    ret->items = arena_calloc(a, line ? line->n + 1 : 1, sizeof(*ret->items));
    add_features(&r, slurm_name);
    for (size_t i = 1; line && i < line->n; i++) {
        const char *key = spelling(a, line->pairs[i].key);

        if (strcasecmp(key, "Features") == 0)
            add_features(&r, line->pairs[i].value);
        else
            ret->items[ret->n++] =
                (struct node_setting){key, arena_strdup(a, line->pairs[i].value)};
    }
    if (ret->n)
        qsort(ret->items, ret->n, sizeof(*ret->items), by_key);
    ret->features = join_features(&r);
}

const char *node_line_get(const struct node_line *l, const char *key)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcasecmp(l->items[i].key, key) == 0)
            return l->items[i].value;
    return NULL;
}

const char *node_line_lasting(struct arena *a, const struct node_line *l, bool topology)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; i < l->n; i++)
        if (strcasecmp(l->items[i].key, "Weight") != 0 &&
            !(topology && strcasecmp(l->items[i].key, "Topology") == 0))
            buf_printf(&b, "%s%s=%s", b.n ? " " : "", l->items[i].key, l->items[i].value);
    return arena_strdup(a, buf_str(&b));
}

int64_t node_limit(const struct jsn *slurmd, const struct jsn *pod_spec, const char *resource)
{
    const struct jsn *own = jsn_key(jsn_get(slurmd, "resources.limits"), resource);
    const struct jsn *limit = own ? own : jsn_key(jsn_get(pod_spec, "resources.limits"), resource);
    struct quantity q;

    if (jsn_is(limit, JSN_INT))
        return limit->i;
    if (!jsn_is(limit, JSN_STRING) || quantity_parse(limit->s, &q, NULL) < 0)
        return 0;
    return quantity_value(&q);
}
