/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an agent begins: with what the last one left.
 *
 *   nothing           the live files are the declaration
 *   a good record     the live files must be as it says, or are put back
 *   a pending one     it is applied again, from the start; a few times at most, and not if
 *                     slurmctld turns out to have ended on it meanwhile
 */
#include "src/agent/apply/engine_impl.h"

#include "src/base/clock.h"
#include "src/base/log.h"

#define ATTEMPTS_MAX 3 /* of processes that died over the same declaration */

/* The first start: what is there is what was declared, and slurmctld has yet to take it. */
static int adopt(struct engine *g, struct err *e)
{
    AUTO(record_free) struct record *r = record_new();
    AUTO(fileset_done) struct fileset keys = {0};
    int ret = fileset_read(store_live(g->o.store), &r->files, e);

    if (ret < 0)
        return ret;
    fileset_split_keys(&r->files, &keys);
    if (!fileset_get(&r->files, "slurm.conf"))
        return 0;
    fileset_hash(&r->files, r->hash);
    ret = store_pend(g->o.store, r, e);
    if (ret < 0)
        return ret;
    (void)TAKE(r);
    return store_commit(g->o.store, e);
}

/* Files that are not as the record says: a roll-back was interrupted, or somebody edited them. */
static int repair(struct engine *g, const struct record *r, struct err *e)
{
    AUTO(fileset_done) struct fileset files = {0};
    size_t changed = 0;
    int ret = record_effective(r, &files, e);

    if (ret == 0)
        ret = store_write(g->o.store, &files, &changed, e);
    if (ret == 0 && changed > 0)
        log_warn("%zu of the live files were not as recorded and have been put back", changed);
    return ret;
}

static int count_attempt(struct engine *g, struct err *e)
{
    struct record *again = record_copy(store_pending(g->o.store));
    int r;

    if (again->attempts >= ATTEMPTS_MAX && store_good(g->o.store)) {
        log_error("generation %lld was given up: the agent ended %u times over it",
                  (long long)again->generation, again->attempts);
        (void)record_free(again);
        /* while both records are there: what only the other has must go */
        r = repair(g, store_good(g->o.store), e);
        return r < 0 ? r : store_drop(g->o.store, e);
    }
    again->attempts++;
    r = store_pend(g->o.store, again, e);
    if (r < 0)
        (void)record_free(again);
    return r;
}

/* What the last process left, until there is something newer to tell. */
static void remember_start(struct engine *g)
{
    const struct record *r = engine_declared(g);
    bool waits;

    if (!r)
        return;
    waits = store_pending(g->o.store) || r->n_kept + r->n_aside > 0 || g->fresh;
    engine_last_note(g, waits ? WIRE_PENDING : WIRE_APPLIED, CHANGE_NONE,
                     g->fresh ? "slurmctld has not answered yet since it was given these files"
                              : NULL,
                     r, r->written_us);
}

static void start_from_other_files(struct engine *g)
{
    link_restart(g->o.link); /* the children may have read what is gone again */
    engine_running_find(g);
    g->reassert_wanted = true;
    restart_go_back(g);
}

bool engine_give_up(struct engine *g)
{
    const struct record *pending = store_pending(g->o.store);
    struct err why = {0};
    struct err e = {0};

    if (!pending || !store_good(g->o.store) || hub_up(g->o.hub) ||
        !restart_has_ended(g, pending->written_us, &why))
        return false;
    if (aside_pending(g, &why) && repair(g, store_pending(g->o.store), &e) == 0) {
        start_from_other_files(g);
        return true;
    }
    log_error("generation %lld: refused, the last good configuration stays: %s",
              (long long)pending->generation, why.text);
    engine_last_note(g, WIRE_REFUSED, CHANGE_RESTART, why.text, pending, clock_wall_us());
    if (repair(g, store_good(g->o.store), &e) < 0 || store_drop(g->o.store, &e) < 0)
        log_error("the previous files cannot be put back: %s", e.text);
    start_from_other_files(g);
    return true;
}

int engine_start(struct engine *g, struct err *e)
{
    int r = 0;

    if (store_pending(g->o.store))
        r = count_attempt(g, e);
    else if (!store_good(g->o.store))
        r = adopt(g, e);
    if (r == 0 && engine_declared(g))
        r = repair(g, engine_declared(g), e);
    if (r < 0)
        return r;
    engine_running_find(g);
    if (store_pending(g->o.store))
        engine_retry_later(g);
    proof_start(g);
    engine_aside_later(g, true);
    remember_start(g);
    engine_publish(g);
    return 0;
}
