/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is what slurmctld starts from any good?
 *
 * A slurmctld that answers, with nothing under way, has shown it: what it serves with is saved for
 * the next pod (agent/proven.c).  A moment later, so that many edits in a row cost one write; but
 * at once after a heavier change, which may be why the pod is about to be replaced.
 *
 * One that does not come up after this process has started may have died of its files, and nobody
 * is there who could refuse them.  After a while they are tried out on a scratch slurmctld, whose
 * last words are the reason that is told.  The files stay: there are no others that are known to
 * work.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/agent/proven.h"
#include "src/base/log.h"

#define SAVE_AFTER_MS 500
#define TRY_OUT_AFTER_MS 4000

static bool is_due(const struct engine *g)
{
    const struct record *good = store_good(g->o.store);

    return g->o.proven && good && good->written_us != g->proven_us && !g->current &&
           !store_pending(g->o.store) && hub_up(g->o.hub);
}

static void save(void *arg)
{
    struct engine *g = arg;
    struct err e = {0};

    if (!is_due(g))
        return;
    if (proven_save(g->o.proven, g->o.store, hub_release(g->o.hub), &e) < 0)
        log_warn("a new pod would start from what is mounted: %s", e.text);
    g->proven_us = store_good(g->o.store)->written_us;
}

void proof_start(struct engine *g)
{
    g->proof = loop_add_timer(g->o.loop, save, g);
    if (!store_pending(g->o.store))
        loop_timer_arm(g->retry, TRY_OUT_AFTER_MS);
}

void proof_stop(struct engine *g)
{
    save(g);
    g->proof = loop_source_free(g->proof);
}

void proof_on_up(struct engine *g)
{
    const struct record *good = store_good(g->o.store);

    if (g->seen_up)
        return;
    g->seen_up = true;
    if (store_pending(g->o.store) || !good || !streq(g->last.hash, good->hash))
        return;
    loop_timer_disarm(g->retry);
    g->last.result = good->n_kept + good->n_aside > 0 ? WIRE_PENDING : WIRE_APPLIED;
    g->last.reason = NULL;
    engine_publish(g);
}

void proof_on_applied(struct engine *g, enum change_class class)
{
    if (class >= CHANGE_RECONFIGURE)
        save(g);
}

void proof_on_round(struct engine *g)
{
    if (is_due(g) && !loop_timer_armed(g->proof))
        loop_timer_arm(g->proof, SAVE_AFTER_MS);
}
