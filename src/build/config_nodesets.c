/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of NodeSets in slurm.conf:
 *
 *     NodeSet=compute Feature=compute
 *     PartitionName=compute Nodes=compute Default=YES MaxTime=24:00:00
 *
 * The first one always, the second where the partition is enabled (with a blank at its end where
 * it has no settings).  They stand in the order of the objects' names.  Of two NodeSets with one
 * name in Slurm the older one counts; the other one is left out and told why: a partition that
 * stands twice would end slurmctld.
 */
#include "src/build/config_impl.h"

static int by_name(const void *a, const void *b)
{
    const struct nodeset *x = *(const struct nodeset *const *)a;
    const struct nodeset *y = *(const struct nodeset *const *)b;

    return strcmp(x->meta.name, y->meta.name);
}

/* Who made it first; those that are in a file only come last. */
static bool is_older(const struct nodeset *x, const struct nodeset *y)
{
    int64_t a = x->meta.created_us ? x->meta.created_us : INT64_MAX;
    int64_t b = y->meta.created_us ? y->meta.created_us : INT64_MAX;

    return a != b ? a < b : strcmp(x->meta.name, y->meta.name) < 0;
}

void config_settle_nodesets(struct config_work *w)
{
    for (size_t i = 0; i < w->c->n_nodesets; i++) {
        const struct nodeset *ns = w->c->nodesets[i];
        const char *name = nodeset_slurm_name(w->a, ns);
        const struct nodeset *rival = map_get(&w->nodesets, str_of(name));

        if (!rival || is_older(ns, rival))
            map_put(&w->nodesets, str_of(name), (void *)(uintptr_t)ns);
    }
}

static const struct nodeset *winner_of(const struct config_work *w, const struct nodeset *ns)
{
    return map_get(&w->nodesets, str_of(nodeset_slurm_name(w->a, ns)));
}

bool config_nodeset_is_used(const struct config_work *w, const struct nodeset *ns)
{
    return winner_of(w, ns) == ns;
}

static void refuse(struct config_work *w, const struct nodeset *ns, const struct nodeset *winner)
{
    w->p->object = arena_printf(w->a, "NodeSet %s", api_full_name(w->a, &ns->meta));
    api_problem_add(
        w->p, API_DUPLICATE,
        api_template_hostname(&ns->spec.template) ? "spec.template.spec.hostname" : "metadata.name",
        "NodeSet %s of the same cluster has the name %s in Slurm already; this one is left out "
        "until it has another",
        winner->meta.name, nodeset_slurm_name(w->a, ns));
    w->p->object = w->controller;
}

static void add_nodeset(struct config_work *w, struct conf_text *t, const struct nodeset *ns)
{
    const char *name = nodeset_slurm_name(w->a, ns);
    const char *object = arena_printf(w->a, "NodeSet %s", api_full_name(w->a, &ns->meta));
    const char *config = nodeset_partition_config(ns);

    conf_text_origin(t, object,
                     api_template_hostname(&ns->spec.template) ? "spec.template.spec.hostname"
                                                               : "metadata.name",
                     false);
    conf_text_line(t, "NodeSet=%s Feature=%s", name, name);
    if (!nodeset_has_partition(ns))
        return;
    conf_text_origin(t, object, "spec.partition.config", false);
    if (strchr(config, '\n')) {
        w->p->object = object;
        api_problem_add(w->p, API_INVALID, "spec.partition.config", "must stand in one line");
        w->p->object = w->controller;
        w->unusable = true;
        return;
    }
    conf_text_line(t, "%s", nodeset_partition_line(w->a, ns));
}

static bool has_partition(const struct config_work *w)
{
    const struct conf_line *lines;
    size_t n = 0;

    if (config_has_partitions(w))
        return true;
    for (size_t i = 0; i < w->c->n_nodesets; i++)
        if (nodeset_has_partition(w->c->nodesets[i]))
            return true;
    lines = w->extra ? conf_lines(w->extra, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (lines[i].section == CONF_PARTITION)
            return true;
    return false;
}

void config_add_nodesets(struct config_work *w, struct conf_text *t)
{
    size_t n = w->c->n_nodesets;
    const struct nodeset **list = arena_calloc(w->a, n + 1, sizeof(*list));
    /* Slurm before 23.02 does not start without a partition: an empty one nobody sees stands in. */
    bool needs_one = build_release(w->c) < SERIES(23, 2) && !has_partition(w);

    for (size_t i = 0; i < n; i++)
        list[i] = w->c->nodesets[i];
    if (n)
        qsort(list, n, sizeof(*list), by_name);
    if (n || needs_one || config_has_partitions(w))
        conf_text_header(t, "COMPUTE & PARTITION");
    for (size_t i = 0; i < n; i++) {
        if (config_nodeset_is_used(w, list[i]))
            add_nodeset(w, t, list[i]);
        else
            refuse(w, list[i], winner_of(w, list[i]));
    }
    conf_text_origin(t, NULL, NULL, false);
    config_add_partitions(w, t);
    if (needs_one)
        conf_text_line(t, "PartitionName=none State=INACTIVE Hidden=YES");
}
