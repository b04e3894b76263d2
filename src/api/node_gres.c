/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generic resources of a NodeSet's nodes.
 *
 * A node may declare Gres=gpu:4 only where the cluster has GresTypes=gpu.  Where it has not,
 * slurmctld takes the node and leaves the devices out, and says nothing.  So it is said here: when
 * the NodeSet is written, and later in its condition NodesApplied.
 *
 * What stands in files that extraConf includes is not known here; then nothing is claimed.
 */
#include "src/api/node_gres.h"

#include <strings.h>

#include "src/api/names.h"
#include "src/api/node_features.h"
#include "src/slurm/conf.h"

/* "gpu" of "gpu:a100:4(S:0)". */
static struct str kind_of(struct str item)
{
    item = str_trim(item);
    for (size_t i = 0; i < item.n; i++)
        if (item.p[i] == ':' || item.p[i] == '(')
            item.n = i;
    return item;
}

static bool is_named(const char *types, struct str kind)
{
    struct str rest = str_of(types ? types : "");
    struct str item;

    while (str_split(&rest, ',', &item))
        if (str_eq_nocase(str_trim(item), kind))
            return true;
    return false;
}

/* The first kind in the value of Gres that is not among the types; n == 0: there is none. */
static struct str unnamed_in(const char *gres, const char *types)
{
    struct str rest = str_of(gres);
    struct str item;

    while (str_split(&rest, ',', &item)) {
        struct str kind = kind_of(item);

        if (kind.n && !is_named(types, kind))
            return kind;
    }
    return (struct str){0};
}

const char *node_gres_unknown(struct arena *a, const struct nodeset *ns, const struct controller *c)
{
    AUTO(conf_free) struct conf *conf = NULL;
    const struct conf_line *lines;
    const char *types;
    size_t n = 0;

    if (!ns->spec.extra_conf || !strcasestr(ns->spec.extra_conf, "gres") || c->spec.external ||
        (c->spec.extra_conf && strcasestr(c->spec.extra_conf, "include")))
        return NULL;
    conf = node_conf_parse(ns->spec.extra_conf);
    lines = conf ? conf_lines(conf, &n) : NULL;
    types = controller_extra(a, c, "GresTypes");
    for (size_t i = 1; n > 0 && i < lines[0].n; i++) {
        const struct conf_pair *pair = &lines[0].pairs[i];
        struct str kind = {0};

        if (strcasecmp(pair->key, "Gres") == 0)
            kind = unnamed_in(pair->value, types);
        if (kind.n)
            return arena_str(a, kind);
    }
    return NULL;
}

void nodeset_check_gres(const struct nodeset *ns, const struct api_lookup *l,
                        struct api_problems *p)
{
    const struct jsn *found = NULL;
    struct controller c;
    const char *kind;

    if (!ns->spec.controller_ref.name ||
        api_lookup_get(l, "Controller", api_namespace(&ns->meta), ns->spec.controller_ref.name,
                       &found) != API_PRESENT ||
        !found || controller_decode(p->arena, found, &c, NULL) < 0)
        return;
    kind = node_gres_unknown(p->arena, ns, &c);
    if (kind)
        api_problem_add(p, API_WARNING, "spec.extraConf",
                        "Gres: slurmctld leaves %s out, since GresTypes in spec.extraConf of "
                        "Controller %s does not name it",
                        kind, c.meta.name);
}
