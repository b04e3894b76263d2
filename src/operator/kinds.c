/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's table of kinds.
 *
 * Each row stands in a file of its own (kind_controller.c, ...); the list in src/api/kinds.h brings
 * them together.  World, routes and reconcile go over this table and know no kind of ours by name.
 */
#include "src/operator/kinds.h"

#define ROW(ID, name) [KIND_##ID] = &operator_##name,
const struct operator_kind *const operator_kinds[API_N_KINDS] = {API_KINDS(ROW)};

const struct operator_kind *operator_kind_find(const char *kind)
{
    const struct api_kind *k = api_kind_find(kind);

    return k ? operator_kinds[k->id] : NULL;
}

void operator_changes_nobody(const struct routes *r, const struct kube_object *old,
                             const struct kube_object *now)
{
    (void)r;
    (void)old;
    (void)now;
}

void operator_ignores_slurm(const struct routes *r, const char *ns, const char *controller,
                            const struct agent_change *c)
{
    (void)r;
    (void)ns;
    (void)controller;
    (void)c;
}

void operator_ignores_config(const struct routes *r, const char *ns, const char *controller,
                             const char *conf)
{
    (void)r;
    (void)ns;
    (void)controller;
    (void)conf;
}

void operator_joins_nothing(struct reconcile *r, const char *controller,
                            struct build_cluster *cluster)
{
    (void)r;
    (void)controller;
    (void)cluster;
}

void operator_keeps_nothing(struct reconcile *r)
{
    (void)r;
}
