/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executor.
 *
 * Stage by stage, each after the one before.  Within a stage one action is tried first, and twice
 * as many at a time with each that succeeds: a server that refuses a thousand pods is asked for
 * one. After a failure the rest of its stage is left out; later stages go on (a Service that cannot
 * be made is no reason to keep a configuration back), save for the status, which speaks of what the
 * plan has achieved.  Whoever started it plans again and finds what is missing.
 *
 * A configuration for an agent is handed over and not waited for: nothing that the API server does
 * may hold it up, and how it fares comes back with Slurm's state.
 *
 * What is only tried is a create that the server checks and does not keep.  If it says no, what was
 * to go for it stays: actions that are guarded are left out.
 *
 * Somebody else being faster is no failure worth an event: a conflict is told apart by its class.
 */
#include "src/operator/executor.h"

#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/operator/room.h"

#define MAX_AT_ONCE 16

struct run {
    struct execution *x;
    const struct action *action;
    struct kube_call *call; /* NULL: not under way */
    struct agent_call *agent_call;
};

struct execution {
    const struct executor *ex;
    struct arena arena;
    struct run *runs;
    size_t n;
    size_t next;   /* to be started */
    size_t active; /* calls under way */
    size_t at_once;
    unsigned stage;
    bool stage_failed;
    bool refused;   /* something that was tried */
    bool scheduled; /* a step is deferred */
    bool cancelled;
    struct kube_reference about;
    struct execution_end end;
    execution_done_fn done;
    void *arg;
};

static void step_later(struct execution *x);

static void x_free(void *arg)
{
    struct execution *x = arg;

    arena_done(&x->arena);
    free(x->runs);
    free(x);
}

static void note_failure(struct execution *x, const struct action *a, const struct err *e)
{
    bool worse = e->class == ERR_PERMANENT && x->end.first.class != ERR_PERMANENT;

    x->stage_failed = true;
    if (x->end.failures++ == 0 || worse) {
        x->end.first = *e;
        x->end.step = a->step;
    }
    if (e->class != ERR_CONFLICT)
        kube_recorder_emit(x->ex->recorder, &x->about, KUBE_EVENT_WARNING, "SyncFailed",
                           "Failed \"%s\" step: %s", a->step, e->text);
}

static void emit(struct execution *x, const struct action *a)
{
    if (a->reason)
        kube_recorder_emit(x->ex->recorder, &x->about,
                           a->warning ? KUBE_EVENT_WARNING : KUBE_EVENT_NORMAL, a->reason, "%s",
                           a->text);
}

/* Gone already is what a deletion is after; and what is full only by what goes has room. */
static bool is_success(const struct action *a, const struct kube_failure *f)
{
    return !f || (a->verb == ACTION_DELETE && f->err.num == -ENOENT) ||
           (a->verb == ACTION_TRY && a->same_size && room_will_be(f->err.text));
}

static void note_success(struct execution *x, const struct action *a)
{
    x->end.writes += a->verb != ACTION_TRY;
    x->at_once = MIN(x->at_once * 2, (size_t)MAX_AT_ONCE);
    emit(x, a);
}

static void on_answer(void *arg, const struct kube_answer *answer, const struct kube_failure *f)
{
    struct run *r = arg;
    struct execution *x = r->x;
    struct err e;

    (void)answer;
    r->call = NULL;
    x->active--;
    if (x->ex->wrote && r->action->verb != ACTION_TRY)
        x->ex->wrote(x->ex->arg, r->action, f);
    if (r->action->verb == ACTION_TRY && !is_success(r->action, f))
        x->refused = true;
    if (is_success(r->action, f)) {
        note_success(x, r->action);
    } else {
        e = f->err;
        /* What we mean to change is gone, or was just made: the next look tells. */
        if (e.num == -ENOENT || e.num == -EEXIST)
            e.class = ERR_CONFLICT;
        note_failure(x, r->action, &e);
    }
    step_later(x);
}

static struct jsn *delete_options(struct arena *a, const struct action *action)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "kind", "DeleteOptions");
    jsn_set_str(a, o, "apiVersion", "v1");
    jsn_set_str(a, o, "propagationPolicy", "Background");
    if (action->uid)
        jsn_set_path(a, o, "preconditions.uid", jsn_string(a, action->uid));
    if (action->version)
        jsn_set_path(a, o, "preconditions.resourceVersion", jsn_string(a, action->version));
    return o;
}

static void start_write(struct execution *x, struct run *r)
{
    static const enum kube_verb verbs[] = {
        [ACTION_CREATE] = KUBE_CREATE, [ACTION_PATCH] = KUBE_PATCH_MERGE,
        [ACTION_DELETE] = KUBE_DELETE, [ACTION_STATUS] = KUBE_PATCH_MERGE,
        [ACTION_TRY] = KUBE_CREATE,
    };
    static const char *const dry[] = {"dryRun", "All", NULL};
    const struct action *a = r->action;
    const char *version = x->ex->version ? x->ex->version(x->ex->arg, a->kind) : a->kind->version;
    struct kube_request q = {
        .verb = a->strategic ? KUBE_PATCH_STRATEGIC : verbs[a->verb],
        .resource = {a->kind->group, version, a->kind->plural},
        .namespace = a->namespace,
        .name = verbs[a->verb] == KUBE_CREATE ? NULL : a->name,
        .subresource = a->verb == ACTION_STATUS ? "status" : NULL,
        .body = a->verb == ACTION_DELETE ? delete_options(&x->arena, a) : a->body,
        .query = a->verb == ACTION_TRY ? dry : NULL,
        .fn = on_answer,
        .arg = r,
    };

    x->active++;
    r->call = kube_call_start(x->ex->client, &q);
}

static void on_node_answer(void *arg, const struct err *e)
{
    struct run *r = arg;
    struct execution *x = r->x;

    r->agent_call = NULL;
    x->active--;
    if (e)
        note_failure(x, r->action, e);
    else
        note_success(x, r->action);
    step_later(x);
}

/* NULL: it is gone, which is noted. */
static struct agent_link *agent_of(struct execution *x, const struct action *a,
                                   const char *controller)
{
    struct agent_link *link =
        x->ex->agents ? agents_find(x->ex->agents, a->namespace, controller) : NULL;
    struct err e = {0};

    if (link)
        return link;
    (void)err_set(&e, -ENOTCONN, ERR_CONFLICT, "the agent of Controller %s/%s is gone",
                  a->namespace, controller);
    note_failure(x, a, &e);
    return NULL;
}

/* What is for an agent. */
static void start_agent(struct execution *x, struct run *r)
{
    const struct action *a = r->action;
    struct agent_link *link = agent_of(x, a, a->name);

    if (!link)
        return;
    if (a->verb == ACTION_PUSH) {
        agent_link_push(link, a->body);
    } else {
        x->active++;
        r->agent_call = agent_link_change_node(link, a->node, a->body, on_node_answer, r);
    }
}

/* Start it if it may be done at all. */
static void start_checked(struct execution *x, struct run *r,
                          void (*start)(struct execution *x, struct run *r))
{
    const struct action *a = r->action;
    struct err e = {0};

    if (x->ex->may_write && !x->ex->may_write(x->ex->arg)) {
        (void)err_set(&e, -EPERM, ERR_CONFLICT, "another operator leads now");
        note_failure(x, a, &e);
    } else if (!action_is_allowed(a)) {
        (void)err_set(&e, -EPERM, ERR_PERMANENT,
                      "%s %s is not among what the operator does (src/plan/kind.c)", a->kind->kind,
                      a->name);
        note_failure(x, a, &e);
    } else {
        start(x, r);
    }
}

/* slurmctld has let go of the node: nothing can start there any more. */
static void on_held(void *arg, const struct err *e)
{
    struct run *r = arg;
    struct execution *x = r->x;
    bool held = !e || (e->num == -ENOENT && r->action->hold->may_be_absent);

    r->agent_call = NULL;
    x->active--;
    if (!held)
        note_failure(x, r->action, e);
    else
        start_checked(x, r, start_write);
    step_later(x);
}

static void start_held(struct execution *x, struct run *r)
{
    const struct action *a = r->action;
    struct agent_link *link = agent_of(x, a, a->hold->controller);

    if (!link)
        return;
    x->active++;
    r->agent_call = agent_link_hold_node(link, a->hold->node, a->hold->reason, on_held, r);
}

static void start_action(struct execution *x, struct run *r)
{
    const struct action *a = r->action;

    if (a->verb == ACTION_EVENT) {
        emit(x, a);
    } else if (a->verb == ACTION_REQUEUE) {
        if (!x->end.has_requeue || a->at_us < x->end.requeue_us)
            x->end.requeue_us = a->at_us;
        x->end.has_requeue = true;
    } else if (a->verb == ACTION_PUSH || a->verb == ACTION_NODE) {
        start_checked(x, r, start_agent);
    } else {
        start_checked(x, r, a->hold ? start_held : start_write);
    }
}

static bool is_left_out(const struct execution *x, const struct action *a)
{
    if (a->guarded && x->refused)
        return true;
    return a->verb == ACTION_STATUS ? x->end.failures > 0 : x->stage_failed;
}

/* True if the next action may start now. */
static bool may_start(struct execution *x)
{
    const struct action *a = x->runs[x->next].action;

    if (a->stage != x->stage) {
        if (x->active > 0)
            return false;
        x->stage = a->stage;
        x->stage_failed = false;
        x->at_once = 1;
    }
    return x->active < x->at_once;
}

static void step(void *arg)
{
    struct execution *x = arg;

    x->scheduled = false;
    if (x->cancelled) {
        x_free(x);
        return;
    }
    while (x->next < x->n && may_start(x)) {
        struct run *r = &x->runs[x->next++];

        if (!is_left_out(x, r->action))
            start_action(x, r);
    }
    if (x->next < x->n || x->active > 0)
        return;
    x->done(x->arg, &x->end);
    x_free(x);
}

static void step_later(struct execution *x)
{
    if (x->scheduled)
        return;
    x->scheduled = true;
    loop_defer(kube_client_loop(x->ex->client), step, x);
}

static struct kube_reference copy_reference(struct arena *a, const struct kube_reference *r)
{
    struct kube_reference copy = {
        .api_version = r->api_version ? arena_strdup(a, r->api_version) : NULL,
        .kind = r->kind ? arena_strdup(a, r->kind) : NULL,
        .namespace = r->namespace ? arena_strdup(a, r->namespace) : NULL,
        .name = r->name ? arena_strdup(a, r->name) : NULL,
        .uid = r->uid ? arena_strdup(a, r->uid) : NULL,
        .version = r->version ? arena_strdup(a, r->version) : NULL,
    };

    return copy;
}

struct execution *execution_start(const struct executor *ex, const struct kube_reference *about,
                                  struct arena *arena, const struct actions *list,
                                  execution_done_fn done, void *arg)
{
    struct execution *x = xcalloc(1, sizeof(*x));

    x->ex = ex;
    x->arena = *arena;
    *arena = (struct arena){0};
    x->n = list->n;
    x->runs = xcalloc(MAX(list->n, (size_t)1), sizeof(*x->runs));
    for (size_t i = 0; i < list->n; i++)
        x->runs[i] = (struct run){.x = x, .action = &list->items[i]};
    x->about = copy_reference(&x->arena, about);
    x->at_once = 1;
    x->done = done;
    x->arg = arg;
    step_later(x);
    return x;
}

struct execution *execution_cancel(struct execution *x)
{
    if (!x)
        return NULL;
    for (size_t i = 0; i < x->n; i++) {
        if (x->runs[i].call)
            kube_call_cancel(x->runs[i].call);
        if (x->runs[i].agent_call)
            agent_call_cancel(x->runs[i].agent_call);
    }
    x->cancelled = true;
    if (!x->scheduled)
        x_free(x);
    return NULL;
}
