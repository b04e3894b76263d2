/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is live, for the declaration at hand.
 *
 * The hub's picture may be a second old, and its questions may stand in the way; so a job asks for
 * itself, on the lane of changes, and only for the partitions that it is about: out of hundreds that
 * is a tenth of the time.  Where all of them matter (a reconfigure, drift put back) it asks for all.
 */
#include "src/agent/engine_impl.h"

#include "src/base/alloc.h"

struct reading {
    struct job *job;
    hub_fresh_fn fn;
    void *arg;
};

static void on_answer(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct reading *q = arg;
    struct live live = {0};
    struct err bad = {0};

    if (r == 0) {
        r = live_decode(jsn_key(answer, "items"), &live, &bad);
        e = &bad;
    }
    if (r == 0) {
        live_done(&q->job->live);
        q->job->live = live;
    }
    q->fn(q->arg, r, e);
    free(q);
}

static void name_add(struct arena *a, struct jsn *names, const char *name)
{
    JSN_FOR_ITEMS (item, names)
        if (streq(jsn_text(item), name))
            return;
    jsn_append(a, names, jsn_string(a, name));
}

static bool wants_all(const struct job *j)
{
    return j->class >= CHANGE_RECONFIGURE || j->reassert || j->remove_foreign ||
           j->phase == APPLY_UNDO;
}

static struct jsn *names_find(struct arena *a, const struct job *j)
{
    struct jsn *names = jsn_array(a);

    for (size_t i = 0; i < j->compared.slurm.n; i++)
        if (j->compared.slurm.list[i].section == CONF_PARTITION)
            name_add(a, names, j->compared.slurm.list[i].object);
    for (size_t i = 0; i < j->n_leaving; i++)
        name_add(a, names, j->leaving[i]);
    return names;
}

bool live_matters(const struct job *j)
{
    AUTO(arena_done) struct arena a = {0};

    return wants_all(j) || jsn_len(names_find(&a, j)) > 0;
}

void live_read(struct job *j, uint64_t timeout_ms, hub_fresh_fn fn, void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct reading *q = xcalloc(1, sizeof(*q));
    struct jsn *request = jsn_object(&a);

    *q = (struct reading){.job = j, .fn = fn, .arg = arg};
    jsn_set_str(&a, request, "call", "partitions");
    if (!wants_all(j))
        jsn_set(&a, request, "only", names_find(&a, j));
    if (link_call(j->engine->o.link, LANE_WRITE, request, timeout_ms, on_answer, q) == 0)
        return;
    free(q);
    fn(arg, -EBUSY, NULL);
}
