/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the operator's executor, queue and list of asked changes call: a loop in simulated time, an
 * API client and links to agents whose calls are answered when the simulation says so.
 */
#include <stdarg.h>

#include "src/base/alloc.h"
#include "src/kube/pace.h"
#include "tests/sim/sim.h"

/* --- the loop --- */

struct sim_timer {
    struct sim_timer *next;
    struct sim *sim;
    loop_timer_fn fn;
    void *arg;
    int64_t at_ms; /* INT64_MAX: it is off */
};

struct loop {
    struct sim sim; /* never made: a loop is the simulation under another name */
};

struct sim *sim_of_loop(struct loop *l)
{
    return (struct sim *)l;
}

int64_t loop_now_ms(const struct loop *l)
{
    return ((const struct sim *)l)->now_ms;
}

void loop_defer(struct loop *l, loop_defer_fn fn, void *arg)
{
    struct sim *s = sim_of_loop(l);

    assert(s->n_deferred < ARRAY_LEN(s->deferred));
    s->deferred[s->n_deferred] = fn;
    s->deferred_args[s->n_deferred++] = arg;
}

void seam_run_deferred(struct sim *s)
{
    for (size_t i = 0; i < s->n_deferred; i++)
        s->deferred[i](s->deferred_args[i]);
    s->n_deferred = 0;
}

struct loop_source *loop_add_timer(struct loop *l, loop_timer_fn fn, void *arg)
{
    struct sim *s = sim_of_loop(l);
    struct sim_timer *t = xcalloc(1, sizeof(*t));

    *t = (struct sim_timer){s->timers, s, fn, arg, INT64_MAX};
    s->timers = t;
    return (struct loop_source *)t;
}

void loop_timer_arm(struct loop_source *source, int64_t delay_ms)
{
    struct sim_timer *t = (struct sim_timer *)source;

    t->at_ms = t->sim->now_ms + delay_ms;
}

void loop_timer_disarm(struct loop_source *source)
{
    ((struct sim_timer *)source)->at_ms = INT64_MAX;
}

struct loop_source *loop_source_free(struct loop_source *source)
{
    struct sim_timer *t = (struct sim_timer *)source;

    if (!t)
        return NULL;
    for (struct sim_timer **at = &t->sim->timers; *at; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            break;
        }
    free(t);
    return NULL;
}

void seam_run_timers(struct sim *s)
{
    for (struct sim_timer *t = s->timers, *next; t; t = next) {
        next = t->next;
        if (t->at_ms > s->now_ms)
            continue;
        t->at_ms = INT64_MAX;
        t->fn(t->arg);
    }
}

int64_t seam_next_timer_ms(const struct sim *s)
{
    int64_t first = INT64_MAX;

    for (const struct sim_timer *t = s->timers; t; t = t->next)
        first = MIN(first, t->at_ms);
    return first;
}

/* --- how soon to try again: as in src/kube/pace.c, without its jitter --- */

int64_t pace_backoff_next(struct pace_backoff *b)
{
    int64_t step = b->first_ms;

    for (unsigned i = 0; i < b->failures && step < b->max_ms; i++)
        step *= 2;
    b->failures++;
    return MIN(step, b->max_ms);
}

void pace_backoff_reset(struct pace_backoff *b)
{
    b->failures = 0;
}

/* --- calls --- */

struct sim_call *seam_call(struct sim *s, enum sim_call_kind kind, unsigned operator, void * arg)
{
    for (size_t i = 0; i < SIM_CALLS; i++) {
        struct sim_call *c = &s->calls[i];

        if (c->kind != CALL_NONE)
            continue;
        *c = (struct sim_call){
            .kind = kind, .operator= operator, .heard = true, .sent_ms = s->now_ms, .arg = arg};
        return c;
    }
    abort(); /* an executor has 16 calls under way at most */
}

void seam_call_free(struct sim_call *c)
{
    arena_done(&c->arena);
    *c = (struct sim_call){0};
}

static struct sim_operator *owner(struct kube_client *c)
{
    return (struct sim_operator *)c;
}

struct loop *kube_client_loop(const struct kube_client *c)
{
    return (struct loop *)((const struct sim_operator *)c)->sim;
}

static const char *kind_of(const char *plural)
{
    for (const struct plan_kind *k = plan_kinds; k->kind; k++)
        if (streq(k->plural, plural))
            return k->kind;
    abort();
}

struct kube_call *kube_call_start(struct kube_client *client, const struct kube_request *r)
{
    struct sim_operator *o = owner(client);
    struct sim_call *c = seam_call(o->sim, CALL_API, o->number, r->arg);

    c->verb = r->verb;
    c->object_kind = kind_of(r->resource.plural);
    c->name = r->name ? arena_strdup(&c->arena, r->name) : NULL;
    c->subresource = r->subresource;
    c->body = r->body ? jsn_clone(&c->arena, r->body) : NULL;
    c->dry = r->query != NULL;
    c->api_fn = r->fn;
    return (struct kube_call *)c;
}

/* The server may carry it out all the same. */
void kube_call_cancel(struct kube_call *call)
{
    ((struct sim_call *)call)->heard = false;
}

void kube_recorder_emit(struct kube_recorder *r, const struct kube_reference *about,
                        enum kube_event_type type, const char *reason, const char *fmt, ...)
{
    (void)r;
    (void)about;
    (void)type;
    (void)reason;
    (void)fmt;
}

/* --- the agent --- */

struct agent_link *agents_find(const struct agents *g, const char *ns, const char *controller)
{
    (void)ns;
    (void)controller;
    return (struct agent_link *)(uintptr_t)g;
}

void agent_link_push(struct agent_link *k, const struct jsn *body)
{
    (void)k;
    (void)body;
}

struct agent_call *agent_link_change_node(struct agent_link *k, const char *node,
                                          const struct jsn *body, agent_done_fn fn, void *arg)
{
    struct sim_operator *o = (struct sim_operator *)k;
    struct sim_call *c = seam_call(o->sim, CALL_AGENT, o->number, arg);
    const char *what = jsn_get_str(body, "action");
    AUTO(buf_done) struct buf text = {0};

    c->node = arena_strdup(&c->arena, node);
    c->body = jsn_clone(&c->arena, body);
    c->agent_fn = fn;
    if (streq(what, "update"))
        jsn_print(&text, body);
    asked_put(o->asked, node, streq(what, "update") ? buf_str(&text) : what);
    return (struct agent_call *)c;
}

struct agent_call *agent_link_hold_node(struct agent_link *k, const char *node, const char *reason,
                                        agent_done_fn fn, void *arg)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = jsn_object(&a);
    struct agent_call *call;

    jsn_set_str(&a, body, "action", "drain");
    jsn_set_str(&a, body, "reason", reason);
    call = agent_link_change_node(k, node, body, fn, arg);
    ((struct sim_call *)call)->hold = true;
    return call;
}

void agent_call_cancel(struct agent_call *call)
{
    ((struct sim_call *)call)->heard = false;
}
