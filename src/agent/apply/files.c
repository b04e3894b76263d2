/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps that write files: the record of what is under way, the live files, the keys; and the way
 * back.
 *
 * The record comes first, so that whoever is killed later leaves word of it.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/agent/apply/bug.h"
#include "src/base/alloc.h"
#include "src/base/log.h"

/*
 * Are there nothing but updates of partitions that are there?  If the machine loses power, the
 * worst is that slurmctld comes up with a setting as it was before.  A partition that was made
 * would be lost with the jobs in it, and a reconfigure may have taken anything.
 */
static bool may_be_lazy(const struct job *j)
{
    bool updates = false;

    for (size_t i = 0; i < j->plan.n; i++) {
        enum step_kind kind = j->plan.steps[i].kind;

        if (kind == STEP_CREATE && bug_is(BUG_LAZY_CREATE))
            kind = STEP_UPDATE;
        if (kind != STEP_WRITE && kind != STEP_UPDATE && kind != STEP_READ_BACK)
            return false;
        updates |= kind == STEP_UPDATE;
    }
    return updates && !job_undoes(j) && j->record->n_kept == 0;
}

/* As it stands now: what is kept may have changed since. */
int step_pend_again(struct job *j, struct err *e)
{
    struct record *copy;
    int r;

    store_set_lazy(j->engine->o.store, may_be_lazy(j));
    copy = record_copy(j->record);
    r = store_pend(j->engine->o.store, copy, e);
    if (r < 0)
        (void)record_free(copy);
    else
        job_reach(j, REACH_RECORD);
    return r;
}

int step_pend(struct job *j, struct err *e)
{
    if (bug_is(BUG_RECORD_LATE) && j->at < j->plan.n)
        return 0;
    return job_undoes(j) || j->reach >= REACH_RECORD ? 0 : step_pend_again(j, e);
}

/* Keys are in no record: those that slurmctld has now are held for the way back. */
static int write_keys(struct job *j, struct err *e)
{
    AUTO(fileset_done) struct fileset live = {0};
    struct store *s = j->engine->o.store;
    size_t changed;
    int r = fileset_read(store_live(s), &live, e);

    if (r < 0)
        return r;
    fileset_done(&j->old_keys);
    fileset_split_keys(&live, &j->old_keys);
    return store_write_keys(s, &j->engine->keys, &changed, e);
}

void step_write(struct job *j)
{
    struct err e = {0};
    size_t changed;
    int r = step_pend(j, &e);

    if (r == 0) {
        if (j->aim.class >= CHANGE_RECONFIGURE)
            handed_set_aside(j);
        job_reach(j, REACH_FILES);
        store_set_lazy(j->engine->o.store, may_be_lazy(j));
        if (!bug_is(BUG_SKIP_WRITE))
            r = store_write(j->engine->o.store, &j->aim.to->files, &changed, &e);
    }
    if (r == 0 && request_wants(j->request, WANT_KEYS))
        r = write_keys(j, &e);
    if (r < 0)
        step_failed(j, r, &e);
    else
        step_done(j);
}

/* The files once more, if what is kept in them has changed. */
void step_settle(struct job *j)
{
    struct candidate *settled = NULL;
    struct err e = {0};
    size_t changed;
    int r;

    for (size_t i = 0; i < j->aim.n_leaving; i++)
        if (!live_find(&j->seen.live, j->aim.leaving[i])) /* gone before, by us or by hand */
            record_unkeep(j->record, j->aim.leaving[i]);
    r = candidate_of(j->engine, j->record, j->seen.release, &settled, &e);
    if (r == 0 && !fileset_same(&settled->files, &j->aim.to->files)) {
        r = step_pend_again(j, &e);
        if (r == 0) {
            job_reach(j, REACH_FILES);
            r = store_write(j->engine->o.store, &settled->files, &changed, &e);
        }
    }
    if (r < 0) {
        (void)candidate_free(settled);
        step_failed(j, r, &e);
        return;
    }
    (void)candidate_free(j->aim.to);
    j->aim.to = settled;
    step_done(j);
}

/* slurmctld has ended on the new ones: they are not tried again until the mount brings others. */
static void keys_back(struct job *j)
{
    struct err e = {0};
    size_t changed;

    if (store_write_keys(j->engine->o.store, &j->old_keys, &changed, &e) < 0)
        log_error("the previous keys cannot be put back: %s", e.text);
    j->engine->keys_changed = false;
}

void files_back(struct job *j)
{
    struct err e = {0};
    size_t changed;

    store_set_lazy(j->engine->o.store, false);
    if (j->seen.from && j->reach >= REACH_FILES &&
        store_write(j->engine->o.store, &j->seen.from->files, &changed, &e) < 0)
        log_error("the previous files cannot be put back: %s", e.text);
    if (j->reach >= REACH_FILES && j->aim.class >= CHANGE_RECONFIGURE)
        handed_back(j);
    if (j->fate == FATE_ENDED && request_wants(j->request, WANT_KEYS))
        keys_back(j);
}
