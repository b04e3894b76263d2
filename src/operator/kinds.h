/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the operator does with each of our kinds: how it keeps, routes and plans for its objects. */
#pragma once

#include "src/api/kinds.h"
#include "src/kube/cache.h"
#include "src/operator/reconcile.h"
#include "src/operator/routes.h"

/*
 * One kind (src/operator/kind_X.c).  Every member is set, save the decoder; where there is nothing
 * to do, one of the functions below says so.  src/operator/test/kinds.c walks all of them.
 */
struct operator_kind {
    const struct api_kind *api;

    /* In the cache.  Beside the text of an object, as much of it as is needed at every turn; NULL:
     * nothing. */
    const struct kube_decoder *decoder;
    /* By WORLD_BY_REFERENCE; all but the Controller also by WORLD_BY_CONTROLLER.  Ends with a NULL
     * name. */
    const struct kube_index *indexes;

    /* Put into the queue whom a change concerns, besides the object itself and its owner: of the
     * object (`old` or `now` may be NULL), of Slurm's state, of the configuration that was
     * written. */
    void (*changed)(const struct routes *r, const struct kube_object *old,
                    const struct kube_object *now);
    void (*slurm_changed)(const struct routes *r, const char *ns, const char *controller,
                          const struct agent_change *c);
    void (*config_written)(const struct routes *r, const char *ns, const char *controller,
                           const char *conf);

    /* Hand what the configuration of a Controller's cluster is made from to the plan of another
     * object; borrowed from the caches for this turn. */
    void (*join)(struct reconcile *r, const char *controller, struct build_cluster *cluster);
    /* Gather what the plan of r->object needs, and plan. */
    void (*plan)(struct reconcile *r);
    /* The object is gone: let go of what was kept about it. */
    void (*gone)(struct reconcile *r);
};

#define OPERATOR_KIND_DECLARE(ID, name) extern const struct operator_kind operator_##name;
API_KINDS(OPERATOR_KIND_DECLARE)

/* By enum api_kind_id. */
extern const struct operator_kind *const operator_kinds[API_N_KINDS];

/* One of ours, by "NodeSet"; NULL: it is none. */
const struct operator_kind *operator_kind_find(const char *kind);

/* For kinds where there is nothing to do. */
void operator_changes_nobody(const struct routes *r, const struct kube_object *old,
                             const struct kube_object *now);
void operator_ignores_slurm(const struct routes *r, const char *ns, const char *controller,
                            const struct agent_change *c);
void operator_ignores_config(const struct routes *r, const char *ns, const char *controller,
                             const char *conf);
void operator_joins_nothing(struct reconcile *r, const char *controller,
                            struct build_cluster *cluster);
void operator_keeps_nothing(struct reconcile *r);
