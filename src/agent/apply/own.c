/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine does by itself, between declarations:
 *   - it applies again what is pending, when slurmctld comes up, and else with growing pauses;
 *   - it deletes kept partitions when their jobs have ended;
 *   - it tries partitions again that were refused (aside.c), with pauses that grow;
 *   - it puts drift back, where that is the policy (drift.c);
 *   - it takes keys that the mount has brought;
 *   - it tells nodes that have older files than slurmctld;
 *   - it tries the live files out, where slurmctld does not start with them (proof.c).
 * All of that are requests like any other, and give way to a push.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"

#define REGISTERED_BY_S 60
#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS 30000
#define ASIDE_FIRST_MS 15000
#define ASIDE_MOST_MS 300000

void engine_retry_later(struct engine *g)
{
    int64_t wait = RETRY_FIRST_MS;

    for (unsigned i = 0; i < g->failures && wait < RETRY_MOST_MS; i++)
        wait *= 2;
    g->failures++;
    loop_timer_arm(g->retry, MIN(wait, RETRY_MOST_MS));
}

void engine_on_retry(void *arg)
{
    struct engine *g = arg;
    bool pending;
    unsigned wants = 0;

    if (!g->current && engine_give_up(g)) {
        engine_publish(g); /* slurmctld comes up from the old files: engine_on_up */
        return;
    }
    pending = store_pending(g->o.store) != NULL;
    if (g->reassert_wanted || pending)
        wants |= WANT_ALL;
    if (!g->seen_up && !pending)
        wants |= WANT_TRY_OUT;
    if (g->keys_changed)
        wants |= WANT_KEYS;
    if (engine_own(g, engine_declared(g), wants))
        g->reassert_wanted = false;
}

void engine_aside_later(struct engine *g, bool fresh)
{
    const struct record *good = store_good(g->o.store);
    int64_t wait = ASIDE_FIRST_MS;

    g->aside_tries = fresh ? 0 : g->aside_tries + 1;
    for (unsigned i = 0; i < g->aside_tries && wait < ASIDE_MOST_MS; i++)
        wait *= 2;
    if (good && good->n_aside > 0)
        loop_timer_arm(g->aside, MIN(wait, ASIDE_MOST_MS));
}

/* Not in the way of something else: that may bring an end to it, and has its own retries. */
void engine_on_aside(void *arg)
{
    struct engine *g = arg;
    const struct record *good = store_good(g->o.store);

    if (!good || good->n_aside == 0)
        return;
    if (store_pending(g->o.store) || !hub_up(g->o.hub) || !engine_own(g, good, WANT_ASIDE))
        loop_timer_arm(g->aside, ASIDE_FIRST_MS);
}

static void on_warm(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    (void)arg;
    (void)answer;
    if (r < 0)
        log_debug("the child for changes: %s", e->text);
}

/* Have the child for changes ready, so that the first one is as quick as the others. */
static void warm_up(struct engine *g)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);

    jsn_set_str(&a, request, "call", "ping");
    if (link_call(g->o.link, LANE_WRITE, request, 5000, on_warm, g) < 0)
        log_debug("the child for changes has enough to do");
}

void engine_on_up(struct engine *g)
{
    warm_up(g);
    proof_on_up(g);
    g->unsure_ns = clock_mono_ns();
    if (g->current)
        return; /* it waits for slurmctld itself, or fails and is tried again */
    engine_running_find(g);
    g->drift_seen = 0;
    g->settled_ns = g->unsure_ns;
    if (store_pending(g->o.store) || g->reassert_wanted || g->keys_changed) {
        g->failures = 0;
        engine_on_retry(g);
    }
}

void engine_keys(struct engine *g, const struct fileset *keys, bool restart)
{
    AUTO(fileset_done) struct fileset copy = {0};
    struct err e = {0};
    size_t changed;

    fileset_copy(keys, &copy);
    fileset_done(&g->keys);
    g->keys = copy;
    copy = (struct fileset){0};
    /* one that is down may be so for want of them, and nothing is told to it before it is up */
    if ((!restart || !hub_up(g->o.hub)) && store_write_keys(g->o.store, &g->keys, &changed, &e) < 0)
        log_error("the keys cannot be put in place: %s", e.text);
    if (!restart)
        return;
    g->keys_changed = true;
    log_info("keys have changed: slurmctld is started again with them");
    engine_on_retry(g);
}

void engine_revert(struct engine *g)
{
    (void)engine_own(g, store_good(g->o.store), WANT_ALL | WANT_NO_OTHERS);
}

/* Can a kept partition go now? */
static bool kept_is_free(const struct engine *g, const struct record *good)
{
    for (size_t i = 0; good && i < good->n_kept; i++) {
        const struct jobs_group *jobs =
            jobs_of_partition(hub_jobs(g->o.hub), good->kept[i].partition);

        if (!jobs || jobs->n == 0)
            return true;
    }
    return false;
}

/*
 * In a new pod slurmctld starts from other files than its nodes may have, and one that has just
 * started does not know them all when it gets others.  They are told when they come.
 */
static bool tell_older_nodes(struct engine *g, const struct record *good)
{
    const char *older = hub_older_node(g->o.hub, g->handed_to);

    if (!g->fresh || !good)
        return false;
    if (!older) {
        /* they register after slurmctld's start, some later than others */
        g->fresh = clock_wall_us() / 1000000 < hub_boot_time(g->o.hub) + REGISTERED_BY_S;
        return false;
    }
    g->fresh = false;
    log_info("node %s runs for longer than slurmctld: all nodes are told of its files", older);
    return engine_own(g, good, WANT_TELL_NODES);
}

void engine_on_round(struct engine *g)
{
    const struct record *good = store_good(g->o.store);

    if (g->current || g->next || !hub_complete(g->o.hub) || store_pending(g->o.store))
        return;
    engine_running_refresh(g);
    if (tell_older_nodes(g, good) || (kept_is_free(g, good) && engine_own(g, good, 0)))
        return;
    proof_on_round(g);
    drift_look(g);
    engine_publish(g);
}
