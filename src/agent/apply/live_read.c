/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is live, for the declaration at hand.
 *
 * The hub's picture may be a second old, and its questions may stand in the way; so a job asks for
 * itself, on the lane of changes, and only for the partitions that it is about: out of hundreds
 * that is a tenth of the time.  Where all of them matter (a reconfigure, drift put back) it asks
 * for all.
 */
#include "src/agent/apply/engine_impl.h"

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
    }
    j->seen.then(j, r, e);
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
    return j->aim.class >= CHANGE_RECONFIGURE || j->aim.all ||
           request_wants(j->request, WANT_NO_OTHERS) || job_undoes(j);
}

static struct jsn *names_find(struct arena *a, const struct job *j)
{
    struct jsn *names = jsn_array(a);

    for (size_t i = 0; i < j->aim.compared.slurm.n; i++)
        if (j->aim.compared.slurm.list[i].section == CONF_PARTITION)
            name_add(a, names, j->aim.compared.slurm.list[i].object);
    for (size_t i = 0; i < j->aim.n_leaving; i++)
        name_add(a, names, j->aim.leaving[i]);
    return names;
}

bool live_matters(const struct job *j)
{
    AUTO(arena_done) struct arena a = {0};

    return wants_all(j) || jsn_len(names_find(&a, j)) > 0;
}

void live_read(struct job *j, uint64_t timeout_ms, job_live_fn fn)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);

    j->seen.then = fn;
    jsn_set_str(&a, request, "call", "partitions");
    if (!wants_all(j))
        jsn_set(&a, request, "only", names_find(&a, j));
    if (job_ask(j, LANE_WRITE, request, timeout_ms, on_answer) < 0)
        fn(j, -EBUSY, NULL);
}
