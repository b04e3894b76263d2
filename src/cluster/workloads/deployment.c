/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for a deployment.
 *
 * It owns one replica set for each template that it has had.  The one with the template as it is
 * now is the new one; a rollout moves pods from the old ones to it (deployment_roll.c).  The
 * revision of the new one is written to the deployment too, along with the status.
 */
#include "src/cluster/workloads/deployment.h"

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/pod.h"

#define REVISION "deployment.kubernetes.io/revision"

int64_t deployment_revision(const struct jsn *object)
{
    const char *text = jsn_text(jsn_key(jsn_get(object, "metadata.annotations"), REVISION));
    int64_t n = 0;

    return text && str_to_i64(str_of(text), &n) == 0 ? n : 0;
}

/* maxSurge is rounded up, maxUnavailable down; not both may be nothing. */
static void read_strategy(struct rollout_state *x)
{
    const struct jsn *d = x->v->deployment;
    const struct jsn *rolling = jsn_get(d, "spec.strategy.rollingUpdate");

    x->wanted = MAX(jsn_get_int(d, "spec.replicas", 1), 0);
    if (streq(jsn_get_str(d, "spec.strategy.type"), "Recreate"))
        return;
    x->surge = count_of(jsn_key(rolling, "maxSurge"), x->wanted, true, 1);
    x->unavailable = count_of(jsn_key(rolling, "maxUnavailable"), x->wanted, false, 0);
    if (x->surge == 0 && x->unavailable == 0)
        x->unavailable = 1;
    x->unavailable = MIN(x->unavailable, x->wanted);
}

void deployment_plan(struct plan *p, const struct deployment_view *v)
{
    struct owner o = {"apps/v1", "Deployment", v->deployment,
                      jsn_get(v->deployment, "spec.selector"), NULL};
    struct jsn *owned = owned_claim(p, &o, "replicasets.apps", v->replicasets);
    int64_t collisions = jsn_get_int(v->deployment, "status.collisionCount", 0);
    struct rollout_state x = {.p = p, .v = v};

    if (object_deleting(v->deployment))
        return;
    read_strategy(&x);
    deployment_sets_find(&x, &o, owned, &collisions);
    deployment_roll(&x);
    deployment_status(&x, collisions);
    deployment_sets_store(&x);
}
