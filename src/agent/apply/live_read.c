/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is live, for the declaration at hand.
 *
 * For an edit of a few partitions the hub's picture will do: it is at most moments old, and what
 * was done by declarations before this one is noted in it.  What is wrong with it shows when the
 * partitions are read back, and then the plan is made again (steps_plan_again).
 *
 * Else a job asks for itself, on the lane of changes, since the hub's own questions may stand in
 * the way; and only for the partitions that it is about: out of hundreds that is a tenth of the
 * time. Where all of them matter (a reconfigure, drift put back) it asks for all.
 */
#include "src/agent/apply/engine_impl.h"

#include "src/agent/apply/bug.h"
#include "src/base/clock.h"

/* So many partitions are looked up; for more, one question is worth it. */
#define ASSUME_MOST 16

struct names {
    const char **list;
    size_t n;
    size_t cap;
};

static void name_add(struct arena *a, struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (streq(names->list[i], name))
            return;
    arena_reserve(a, &names->list, &names->cap, names->n + 1, sizeof(*names->list));
    names->list[names->n++] = name;
}

static bool wants_all(const struct job *j)
{
    return j->aim.class >= CHANGE_RECONFIGURE || j->aim.all ||
           request_wants(j->request, WANT_NO_OTHERS) || job_undoes(j);
}

static struct names names_find(struct arena *a, const struct job *j)
{
    struct names names = {0};

    for (size_t i = 0; i < j->aim.compared.slurm.n; i++)
        if (j->aim.compared.slurm.list[i].section == CONF_PARTITION)
            name_add(a, &names, j->aim.compared.slurm.list[i].object);
    for (size_t i = 0; i < j->aim.n_leaving; i++)
        name_add(a, &names, j->aim.leaving[i]);
    return names;
}

/* What was read of these partitions is newer than the hub's picture. */
static void note(const struct job *j)
{
    AUTO(arena_done) struct arena a = {0};
    struct names names = names_find(&a, j);

    if (!bug_is(BUG_OLD_PICTURE) && !wants_all(j))
        hub_note(j->engine->o.hub, names.list, names.n, &j->seen.live, j->seen.asked_ns);
}

static void on_answer(struct job *j, int r, const struct jsn *answer, const struct err *e)
{
    struct live live = {0};
    struct err bad = {0};

    if (r == 0) {
        r = live_decode(jsn_key(answer, "items"), &live, &bad);
        e = &bad;
    }
    if (r == 0) {
        live_done(&j->seen.live);
        j->seen.live = live;
        note(j);
    }
    j->seen.then(j, r, e);
}

bool live_matters(const struct job *j)
{
    AUTO(arena_done) struct arena a = {0};

    return wants_all(j) || names_find(&a, j).n > 0;
}

/* Is what the hub knows true, as far as this agent can tell? */
static bool picture_is_good(const struct engine *g)
{
    return hub_up(g->o.hub) && hub_knows(g->o.hub, HUB_PARTITIONS) &&
           hub_partitions_asked_ns(g->o.hub) > g->unsure_ns;
}

bool live_assume(struct job *j)
{
    AUTO(arena_done) struct arena a = {0};
    struct names names = names_find(&a, j);

    if (j->request->kind != REQUEST_PUSH || wants_all(j) || j->aim.n_leaving > 0 ||
        names.n > ASSUME_MOST || !picture_is_good(j->engine))
        return false;
    for (size_t i = 0; i < names.n; i++) {
        const struct live_partition *p = hub_partition(j->engine->o.hub, names.list[i]);

        if (p)
            live_add(&j->seen.live, p);
    }
    live_sort(&j->seen.live);
    j->seen.assumed = true;
    return true;
}

static struct jsn *names_json(struct arena *a, const struct names *names)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < names->n; i++)
        jsn_append(a, list, jsn_string(a, names->list[i]));
    return list;
}

void live_read(struct job *j, uint64_t timeout_ms, job_live_fn fn)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);
    struct names names = names_find(&a, j);

    j->seen.then = fn;
    j->seen.asked_ns = clock_mono_ns();
    jsn_set_str(&a, request, "call", "partitions");
    if (!wants_all(j))
        jsn_set(&a, request, "only", names_json(&a, &names));
    if (job_ask(j, LANE_WRITE, request, timeout_ms, on_answer) < 0)
        fn(j, -EBUSY, NULL);
}
