/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many pods each replica set of a deployment should have now.
 *
 * RollingUpdate: the new set grows while the total stays within replicas + maxSurge; the old ones
 * shrink while at least replicas - maxUnavailable stay available, those that are not available
 * first.  Recreate: the old ones go to nothing, and when their last pod is gone the new set gets
 * everything.  Paused: no rollout.
 *
 * A change of spec.replicas in the middle of a rollout is shared out among the sets in proportion
 * to their sizes, the remainder going to the largest; the annotation desired-replicas on each set
 * says for which number it was last sized.
 */
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/deployment.h"
#include "src/cluster/workloads/pod.h"

static int64_t old_total(const struct rollout_state *x)
{
    int64_t n = 0;

    for (size_t i = 0; i < x->n_old; i++)
        n += x->old[i].replicas;
    return n;
}

static int64_t annotation(const struct rollout_set *s, const char *key)
{
    const char *text = jsn_text(jsn_key(jsn_get(s->object, "metadata.annotations"), key));
    int64_t n = -1;

    return text && str_to_i64(str_of(text), &n) == 0 ? n : -1;
}

static bool sized_for_another(const struct rollout_state *x, const struct rollout_set *s)
{
    int64_t n = annotation(s, "deployment.kubernetes.io/desired-replicas");

    return s->replicas > 0 && !s->fresh && n >= 0 && n != x->wanted;
}

static bool scaling(const struct rollout_state *x)
{
    for (size_t i = 0; i < x->n_old; i++)
        if (sized_for_another(x, &x->old[i]))
            return true;
    return x->new && sized_for_another(x, x->new);
}

/* The share of one set, moved towards its part of the allowed total and never past `left`. */
static int64_t share(const struct rollout_set *s, int64_t allowed, int64_t left)
{
    int64_t maximum = annotation(s, "deployment.kubernetes.io/max-replicas");
    int64_t part;

    if (maximum <= 0)
        return 0;
    part = (s->replicas * allowed * 2 + maximum) / (maximum * 2) - s->replicas;
    if (left > 0)
        return MIN(MAX(part, 0), left);
    return MAX(MIN(part, 0), left);
}

static int larger(const void *pa, const void *pb)
{
    const struct rollout_set *const *a = pa;
    const struct rollout_set *const *b = pb;

    return (*a)->replicas<(*b)->replicas ? 1 : (*a)->replicas>(*b)->replicas ? -1 : 0;
}

static void scale_in_proportion(struct rollout_state *x)
{
    struct rollout_set **active = arena_calloc(x->p->arena, x->n_old + 2, sizeof(*active));
    int64_t allowed = x->wanted > 0 ? x->wanted + x->surge : 0;
    int64_t total = old_total(x) + (x->new ? x->new->replicas : 0);
    int64_t left = allowed - total;
    size_t n = 0;

    if (x->new && x->new->replicas > 0)
        active[n++] = x->new;
    for (size_t i = 0; i < x->n_old; i++)
        if (x->old[i].replicas > 0)
            active[n++] = &x->old[i];
    if (n == 1) {
        deployment_scale(active[0], x->wanted);
        return;
    }
    qsort(active, n, sizeof(struct rollout_set *), larger);
    for (size_t i = 0; i < n && left != 0; i++) {
        int64_t part = share(active[i], allowed, left);

        deployment_scale(active[i], active[i]->replicas + part);
        left -= part;
    }
    if (n > 0 && left != 0)
        deployment_scale(active[0], MAX(active[0]->replicas + left, 0));
}

static bool old_pods_left(const struct rollout_state *x)
{
    for (size_t i = 0; i < x->n_old; i++)
        JSN_FOR_ITEMS (pod, x->v->pods)
            if (owned_by(pod, x->old[i].object) && !pod_over(pod))
                return true;
    return false;
}

static void recreate(struct rollout_state *x)
{
    bool was_empty = old_total(x) == 0;

    for (size_t i = 0; i < x->n_old; i++)
        deployment_scale(&x->old[i], 0);
    if (was_empty && !old_pods_left(x))
        deployment_scale(x->new, x->wanted);
}

/* Returns true if the new set was changed; the old ones then wait for its pods. */
static bool grow_new(struct rollout_state *x)
{
    int64_t room = x->wanted + x->surge - old_total(x) - x->new->replicas;
    int64_t before = x->new->replicas;

    if (before > x->wanted)
        deployment_scale(x->new, x->wanted);
    else if (room > 0)
        deployment_scale(x->new, before + MIN(room, x->wanted - before));
    return x->new->replicas != before;
}

static void shrink_old(struct rollout_state *x)
{
    int64_t keep = x->wanted - x->unavailable;
    int64_t missing = x->new->replicas - MIN(x->new->available, x->new->replicas);
    int64_t spare = old_total(x) + x->new->replicas - keep - missing;
    int64_t available = x->new->available;
    int64_t surplus;

    for (size_t i = 0; i < x->n_old && spare > 0; i++) {
        struct rollout_set *s = &x->old[i];
        int64_t n = MIN(spare, MAX(s->replicas - s->available, 0));

        deployment_scale(s, s->replicas - n);
        spare -= n;
    }
    for (size_t i = 0; i < x->n_old; i++)
        available += MIN(x->old[i].available, x->old[i].replicas);
    surplus = MIN(available - keep, spare);
    for (size_t i = 0; i < x->n_old && surplus > 0; i++) {
        int64_t n = MIN(surplus, x->old[i].replicas);

        deployment_scale(&x->old[i], x->old[i].replicas - n);
        surplus -= n;
    }
}

void deployment_roll(struct rollout_state *x)
{
    if (scaling(x)) {
        scale_in_proportion(x);
        return;
    }
    if (!x->new || jsn_get_bool(x->v->deployment, "spec.paused", false))
        return;
    if (streq(jsn_get_str(x->v->deployment, "spec.strategy.type"), "Recreate"))
        recreate(x);
    else if (!grow_new(x))
        shrink_old(x);
}
