/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carrying out the steps of a plan, one by one, on the loop.
 *
 * Each step starts, and calls step_ended now or later.  What slurmctld says decides:
 *   it took it             the next step
 *   a refusal              job_refuse: undo
 *   no answer, a death     job_suspend: nobody knows, try again later
 * with one exception: a slurmctld that dies of a reconfigure gets its old files back.
 *
 * The same steps run when a declaration is undone; then nothing is refused any more, failures are
 * only told.
 */
#include "src/agent/engine_impl.h"

#include <fcntl.h>
#include <stdio.h>

#include "src/agent/crash.h"
#include "src/agent/keep.h"
#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"

#define RPC_TIMEOUT_MS 30000
#define RECONFIGURE_TIMEOUT_MS 60000
#define READ_TIMEOUT_MS 10000
#define RESTART_WAIT_MS 90000
#define RESTART_LOOK_MS 100
#define ESLURM_INVALID_PARTITION_NAME 2000
#define ESLURM_PARTITION_IN_USE 2075

static void step_run(struct job *j);

static const struct apply_step *step_now(const struct job *j)
{
    return &j->plan.steps[j->at];
}

static void step_done(struct job *j)
{
    const struct apply_step *s = step_now(j);

    crash_point(step_name(s->kind));
    job_step_note(j, step_name(s->kind), s->what);
    j->at++;
    step_run(j);
}

/* Does this answer leave no doubt? */
static bool is_refusal(int r)
{
    return r == -EREMOTEIO || r == -EACCES || r == -EINVAL;
}

static void step_failed(struct job *j, int r, const struct err *e)
{
    const struct apply_step *s = step_now(j);
    struct err why = e && e->text[0] ? *e : (struct err){0};

    if (!why.text[0])
        (void)err_set(&why, r, ERR_RETRY, "no answer");
    if (is_refusal(r) && r != -EACCES)
        why.class = ERR_PERMANENT;
    if (s->partition)
        (void)err_wrap(&why, r, "partition '%s'", s->partition);
    if (j->phase == APPLY_UNDO) {
        log_error("undoing: %s: %s; trying again", step_name(s->kind), why.text);
        j->engine->reassert_wanted = true;
        j->at++;
        step_run(j);
    } else if (is_refusal(r) || s->kind == STEP_REHEARSE || s->kind == STEP_WRITE ||
               s->kind == STEP_RECONFIGURE || s->kind == STEP_SETTLE) {
        job_refuse(j, step_name(s->kind), &why);
    } else {
        job_suspend(j, step_name(s->kind), &why);
    }
}

/* Note that it is under way, once, before anything is changed. */
static int pend(struct job *j, struct err *e)
{
    struct record *copy;
    int r;

    copy = record_copy(j->record);
    r = store_pend(j->engine->o.store, copy, e);
    if (r < 0)
        (void)record_free(copy);
    else
        j->pended = true;
    return r;
}

static void step_write(struct job *j)
{
    struct err e = {0};
    size_t changed;
    int r = j->phase == APPLY_UNDO || j->pended ? 0 : pend(j, &e);

    if (r == 0) {
        j->written = true;
        r = store_write(j->engine->o.store, &j->to->files, &changed, &e);
    }
    if (r == 0 && j->restart_for_keys)
        r = store_write_keys(j->engine->o.store, &j->engine->keys, &changed, &e);
    if (r < 0)
        step_failed(j, r, &e);
    else
        step_done(j);
}

static void on_rehearsed(void *arg, int r, const struct err *e)
{
    struct job *j = arg;

    j->rehearsal = NULL;
    if (r == -ETIMEDOUT) {
        job_warn(j, "%s", e->text);
        r = 0;
    }
    if (r < 0)
        step_failed(j, r, e);
    else
        step_done(j);
}

static void step_rehearse(struct job *j)
{
    AUTO(hostset_free) struct host_set *dynamic = hub_nodes(j->engine->o.hub, true);
    struct rehearse_options o = {.slurmctld = j->engine->o.slurmctld,
                                 .live = store_live(j->engine->o.store),
                                 .dynamic_nodes = dynamic};
    struct err e = {0};
    int r = rehearse_start(j->engine->o.loop, &o, j->to, on_rehearsed, j, &j->rehearsal, &e);

    if (r < 0)
        step_failed(j, r, &e);
}

static void on_told(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct job *j = arg;

    /* it is there already, or not any more: slurmctld has read its files since we looked */
    if (jsn_get_int(answer, "error.code", 0) == ESLURM_INVALID_PARTITION_NAME && !j->own)
        r = -EBUSY;
    if (r < 0)
        step_failed(j, r, e);
    else
        step_done(j);
}

static void call_send(struct job *j, const char *call, const char *partition,
                      const struct conf_pair *pairs, size_t n, uint64_t timeout_ms,
                      link_answer_fn fn)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *request = jsn_object(&a);
    struct err e = {0};
    int r = j->phase == APPLY_UNDO || j->pended ? 0 : pend(j, &e);

    if (r < 0) {
        step_failed(j, -EINVAL, &e);
        return;
    }
    jsn_set_str(&a, request, "call", call);
    if (partition)
        jsn_set_str(&a, request, "name", partition);
    if (n > 0) {
        struct jsn *set = jsn_object(&a);

        for (size_t i = 0; i < n; i++)
            jsn_set_str(&a, set, pairs[i].key, pairs[i].value);
        jsn_set(&a, request, "set", set);
    }
    j->told = true;
    r = link_call(j->engine->o.link, LANE_WRITE, request, timeout_ms, fn, j);
    if (r < 0)
        step_failed(j, -EBUSY, &e);
}

/* slurmctld keeps it for its jobs: so do the files, and nothing new gets in. */
static void partition_drain(struct job *j, const char *name)
{
    static const struct conf_pair drain = {.key = "State", .value = "DRAIN", .op = '='};
    const struct live_partition *live = live_find(&j->live, name);
    const struct model *m = candidate_model(j->to);
    const struct model_object *o = model_find(m, CONF_PARTITION, name);
    const struct record_kept *kept = record_kept_find(j->record, name);
    const char *line = kept ? strstr(kept->lines, "PartitionName=") : NULL;
    AUTO(buf_done) struct buf lines = {0};
    struct err e = {0};
    int r;

    if (!o || !line) { /* made by hand: it never stood in a file, and stays as it is */
        step_done(j);
        return;
    }
    /* its NodeSets as they stand there, then the partition itself */
    buf_add(&lines, kept->lines, (size_t)(line - kept->lines));
    r = keep_declared(m, o, m, true, &lines, &e);
    if (r < 0) {
        step_failed(j, r, &e);
        return;
    }
    record_keep(j->record, name, buf_str(&lines));
    if (live && live->p.state == PART_DRAIN)
        step_done(j);
    else
        call_send(j, "partition-update", name, &drain, 1, RPC_TIMEOUT_MS, on_told);
}

static void on_deleted(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct job *j = arg;
    struct apply_step *s = &j->plan.steps[j->at];
    bool in_use = jsn_get_int(answer, "error.code", 0) == ESLURM_PARTITION_IN_USE;

    if (in_use && j->phase != APPLY_UNDO && !j->delete_first) {
        s->what = arena_printf(&j->plan.arena, "partition %s: has jobs, drained first",
                               s->partition);
        partition_drain(j, s->partition);
        return;
    }
    if (r < 0) {
        step_failed(j, in_use ? -EREMOTEIO : r, e);
        return;
    }
    record_unkeep(j->record, s->partition);
    step_done(j);
}

/* The files once more, if what is kept in them has changed. */
static void step_settle(struct job *j)
{
    struct candidate *settled = NULL;
    struct err e = {0};
    size_t changed;
    int r;

    for (size_t i = 0; i < j->n_leaving; i++)
        if (!live_find(&j->live, j->leaving[i])) /* gone before, by us or by hand */
            record_unkeep(j->record, j->leaving[i]);
    r = candidate_of(j->engine, j->record, j->release, &settled, &e);
    if (r == 0 && !fileset_same(&settled->files, &j->to->files)) {
        r = pend(j, &e);
        j->written = true;
        if (r == 0)
            r = store_write(j->engine->o.store, &settled->files, &changed, &e);
    }
    if (r < 0) {
        (void)candidate_free(settled);
        step_failed(j, r, &e);
        return;
    }
    (void)candidate_free(j->to);
    j->to = settled;
    step_done(j);
}

static bool settings_differ(const struct job *j)
{
    for (size_t i = 0; i < j->compared.slurm.n; i++)
        if (j->compared.slurm.list[i].section == CONF_GLOBAL)
            return true;
    return false;
}

/*
 * slurmctld is gone, or silent.  That may be an accident, the first time; when the same declaration
 * does it again, it is not.
 */
static void reconfigure_failed(struct job *j, int r, const struct err *e)
{
    struct engine *g = j->engine;
    struct err why = e ? *e : (struct err){0};

    if (!is_refusal(r)) {
        why.class = streq(g->deadly, j->record->hash) ? ERR_PERMANENT : ERR_RETRY;
        memcpy(g->deadly, j->record->hash, sizeof(g->deadly));
    }
    step_failed(j, r, &why);
}

static void on_reconfigured(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct job *j = arg;

    (void)answer;
    if (r < 0) {
        reconfigure_failed(j, r, e);
        return;
    }
    if (settings_differ(j))
        link_restart(j->engine->o.link);
    step_done(j);
}

static void restart_look(void *arg);

static void on_restarted(void *arg, int r, const struct err *e)
{
    struct job *j = arg;
    struct hub *hub = j->engine->o.hub;
    struct err late = {0};

    if (r == 0 && hub_boot_time(hub) != j->boot_before) {
        step_done(j);
        return;
    }
    if (loop_now_ms(j->engine->o.loop) > j->deadline_ms) {
        (void)err_set(&late, -EREMOTEIO, ERR_RETRY,
                      "slurmctld did not come back within %d s%s%s", RESTART_WAIT_MS / 1000,
                      e && e->text[0] ? ": " : "", e ? e->text : "");
        step_failed(j, -EREMOTEIO, &late);
        return;
    }
    if (!j->timer)
        j->timer = loop_add_timer(j->engine->o.loop, restart_look, j);
    loop_timer_arm(j->timer, RESTART_LOOK_MS);
}

static void restart_look(void *arg)
{
    struct job *j = arg;

    hub_ping(j->engine->o.hub, 2000, on_restarted, j);
}

static void on_shut_down(void *arg, int r, const struct jsn *answer, const struct err *e)
{
    struct job *j = arg;

    (void)answer;
    /* one that is gone already is as good */
    if (r < 0 && r != -EHOSTDOWN) {
        step_failed(j, r, e);
        return;
    }
    link_restart(j->engine->o.link);
    j->deadline_ms = loop_now_ms(j->engine->o.loop) + RESTART_WAIT_MS;
    restart_look(j);
}

static void step_restart(struct job *j)
{
    const char *marker = j->engine->o.marker;
    AUTO(close) int fd = -1;
    struct err e = {0};

    if (marker)
        fd = open(marker, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        (void)err_set(&e, -EHOSTDOWN, ERR_RETRY,
                      "the files are in place, but this change needs slurmctld to be started anew, "
                      "and nobody here can do that: restart it by hand");
        step_failed(j, -EHOSTDOWN, &e);
        return;
    }
    j->boot_before = hub_boot_time(j->engine->o.hub);
    call_send(j, "shutdown", NULL, NULL, 0, RPC_TIMEOUT_MS, on_shut_down);
}

/* Was this one meant to change? */
static bool must_match(const struct job *j, const char *name)
{
    for (size_t i = 0; i < j->plan.n; i++)
        if (streq(j->plan.steps[i].partition, name))
            return true;
    for (size_t i = 0; i < j->compared.slurm.n; i++)
        if (j->compared.slurm.list[i].section == CONF_PARTITION &&
            streq(j->compared.slurm.list[i].object, name))
            return true;
    return false;
}

static int read_back_one(struct job *j, const struct model_object *o, struct err *e)
{
    AUTO(hostset_free) struct host_set *nodesets = model_nodesets(candidate_model(j->to));
    AUTO(part_changes_done) struct part_changes drift = {0};
    AUTO(partition_done) struct partition declared = {0};
    const struct live_partition *live = live_find(&j->live, o->name);
    int r;

    if (!live)
        return err_set(e, -EREMOTEIO, ERR_PERMANENT,
                       "partition '%s' is not there, though slurmctld took it", o->name);
    partition_init(&declared);
    r = model_partition(candidate_model(j->to), o, &declared, e);
    if (r < 0)
        return r;
    live_drift(live, &declared, NULL, nodesets, j->release, &drift);
    if (drift.n == 0)
        return 0;
    return err_set(e, -EREMOTEIO, ERR_PERMANENT,
                   "partition '%s' has %s=%s after the change, and not %s", o->name,
                   drift.list[0].key->name, drift.list[0].to, drift.list[0].from);
}

static void on_read_back(void *arg, int r, const struct err *e)
{
    struct job *j = arg;
    const struct model *m = j->phase == APPLY_UNDO ? NULL : candidate_model(j->to);

    if (r < 0) {
        step_failed(j, r, e);
        return;
    }
    for (size_t i = 0; m && i < m->n_objects; i++) {
        const struct model_object *o = &m->objects[i];
        struct err why = {0};

        if (o->section != CONF_PARTITION ||
            (j->class < CHANGE_RECONFIGURE && !must_match(j, o->name)))
            continue;
        r = read_back_one(j, o, &why);
        if (r == 0)
            continue;
        if (must_match(j, o->name)) {
            step_failed(j, r, &why);
            return;
        }
        job_warn(j, "%s", why.text);
    }
    step_done(j);
}

static void all_done(struct job *j)
{
    struct err e = {0};

    if (j->phase == APPLY_UNDO) {
        if (store_drop(j->engine->o.store, &e) < 0)
            log_error("%s", e.text);
        job_finish(j, RESULT_REFUSED);
        return;
    }
    if (!j->live_known) {
        struct err down = j->why;

        (void)err_set(&e, -EHOSTDOWN, ERR_RETRY, "slurmctld does not answer%s%s",
                      down.text[0] ? ": " : "", down.text);
        job_suspend(j, "apply", &e);
        return;
    }
    if ((!j->pended && pend(j, &e) < 0) || store_commit(j->engine->o.store, &e) < 0) {
        job_suspend(j, "commit", &e);
        return;
    }
    (void)candidate_free(j->engine->running);
    j->engine->running = TAKE(j->to);
    j->from = NULL;
    job_finish(j, j->record->n_kept > 0 ? RESULT_PENDING : RESULT_APPLIED);
}

static void step_run(struct job *j)
{
    const struct apply_step *s;

    if (j->at == j->plan.n) {
        all_done(j);
        return;
    }
    s = step_now(j);
    switch (s->kind) {
    case STEP_REHEARSE:
        step_rehearse(j);
        break;
    case STEP_WRITE:
        step_write(j);
        break;
    case STEP_CREATE:
        call_send(j, "partition-create", s->partition, s->pairs, s->n, RPC_TIMEOUT_MS, on_told);
        break;
    case STEP_UPDATE:
        call_send(j, "partition-update", s->partition, s->pairs, s->n, RPC_TIMEOUT_MS, on_told);
        break;
    case STEP_DELETE:
        call_send(j, "partition-delete", s->partition, NULL, 0, RPC_TIMEOUT_MS, on_deleted);
        break;
    case STEP_RECONFIGURE:
        call_send(j, "reconfigure", NULL, NULL, 0, RECONFIGURE_TIMEOUT_MS, on_reconfigured);
        break;
    case STEP_RESTART:
        step_restart(j);
        break;
    case STEP_SETTLE:
        step_settle(j);
        break;
    case STEP_READ_BACK:
        live_read(j, READ_TIMEOUT_MS, on_read_back, j);
        break;
    case STEP_N:
        abort();
    }
}

void steps_start(struct job *j)
{
    if (j->phase != APPLY_UNDO) {
        job_set_phase(j, APPLY_STEPS);
        log_info("Reconfiguring Slurm...");
    }
    j->at = 0;
    step_run(j);
}
