/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scripted worker.
 *
 * Each lane deals with one call at a time, in order, as the real link does.  A call is carried out
 * by the slurmctld of the test (ctld.c) when its turn comes, and answered a millisecond later by
 * the clock of the test, unless the script says otherwise.
 */
#include "src/agent/apply/test/script.h"

#include <stdio.h>

#include "src/base/alloc.h"
#include "src/base/list.h"

#define RULES_MAX 8
#define LATENCY_MS 1

struct scripted_call {
    struct list link; /* in lane->calls, the first is in hand */
    struct arena arena;
    struct jsn *request;
    int64_t deadline_ms;
    link_answer_fn fn;
    void *arg;
    enum script_act act;
    int r;
    struct jsn *answer;
    struct err e;
};

struct scripted_lane {
    struct script *script;
    enum link_lane id;
    struct list calls;
    struct loop_source *timer; /* armed while a call is in hand */
};

struct rule {
    char call[32]; /* "": any */
    unsigned skip;
    enum script_act act;
};

struct script {
    struct link link;
    struct loop *loop;
    struct ctld *ctld;
    struct scripted_lane lanes[LANE_N];
    struct rule rules[RULES_MAX];
    size_t n_rules;
    struct buf said;
    unsigned restarts;
    unsigned open;
};

static struct script *script_of(struct link *link)
{
    return CONTAINER_OF(link, struct script, link);
}

struct link *script_link(struct script *s)
{
    return &s->link;
}

void script_next(struct script *s, const char *call, unsigned skip, enum script_act act)
{
    struct rule *r = &s->rules[s->n_rules++];

    assert(s->n_rules <= RULES_MAX);
    *r = (struct rule){.skip = skip, .act = act};
    (void)snprintf(r->call, sizeof(r->call), "%s", call ? call : "");
}

/* The questions of the hub are not the script's: only what a job asks for. */
static enum script_act act_find(struct script *s, enum link_lane lane, const char *call)
{
    if (lane == LANE_READ && s->ctld->silent)
        return SCRIPT_HANG;
    for (size_t i = 0; i < s->n_rules && lane != LANE_READ; i++) {
        struct rule *r = &s->rules[i];
        enum script_act act = r->act;

        if (r->call[0] && !streq(r->call, call))
            continue;
        if (r->skip > 0) {
            r->skip--;
            return SCRIPT_DO;
        }
        memmove(r, r + 1, (--s->n_rules - i) * sizeof(*r));
        return act;
    }
    return SCRIPT_DO;
}

static void call_free(struct script *s, struct scripted_call *c)
{
    list_remove(&c->link);
    s->open--;
    arena_done(&c->arena);
    free(c);
}

static void note(struct script *s, enum link_lane lane, const struct jsn *q)
{
    const char *name = jsn_get_str(q, "name");

    if (lane == LANE_READ)
        return;
    buf_printf(&s->said, "%s%s%s%s", s->said.n > 0 ? "; " : "", jsn_get_str(q, "call"),
               name ? " " : "", name ? name : "");
    JSN_FOR_MEMBERS (m, jsn_key(q, "set"))
        buf_printf(&s->said, " %s=%s", m->key.p, jsn_text(m->value));
}

static int trouble(struct scripted_call *c, int r, const char *text)
{
    c->answer = NULL;
    return err_set(&c->e, r, r == -EREMOTEIO || r == -EACCES ? ERR_PERMANENT : ERR_RETRY, "%s",
                   text);
}

static void carry_out(struct script *s, struct scripted_call *c)
{
    if (c->act == SCRIPT_DO || c->act == SCRIPT_DO_AND_DIE || c->act == SCRIPT_DO_AND_HANG ||
        c->act == SCRIPT_LATE || c->act == SCRIPT_TWICE || c->act == SCRIPT_HALF)
        c->r = ctld_call(s->ctld, &c->arena, c->request, c->act == SCRIPT_HALF, &c->answer, &c->e);
    if (c->act == SCRIPT_REFUSE)
        c->r = trouble(c, -EREMOTEIO, "slurmctld says no");
    else if (c->act == SCRIPT_DENY)
        c->r = trouble(c, -EACCES, "slurmctld does not let us");
    else if (c->act == SCRIPT_DOWN)
        c->r = trouble(c, -EHOSTDOWN, "slurmctld is not there");
    else if (c->act == SCRIPT_BUSY)
        c->r = trouble(c, -EBUSY, "slurmctld has too much to do");
    else if (c->act == SCRIPT_DIE || c->act == SCRIPT_DO_AND_DIE)
        c->r = trouble(c, -EPIPE, "the child has ended");
    else if (c->act == SCRIPT_HANG || c->act == SCRIPT_DO_AND_HANG)
        c->r = trouble(c, -ETIMEDOUT, "no answer in time");
}

static void lane_begin(struct scripted_lane *lane)
{
    struct script *s = lane->script;
    struct scripted_call *c;
    int64_t left;

    if (loop_timer_armed(lane->timer) || list_empty(&lane->calls))
        return;
    c = LIST_ENTRY(lane->calls.next, struct scripted_call, link);
    note(s, lane->id, c->request);
    carry_out(s, c);
    left = MAX(c->deadline_ms - loop_now_ms(s->loop), LATENCY_MS);
    if (c->act == SCRIPT_HANG || c->act == SCRIPT_DO_AND_HANG || c->act == SCRIPT_LATE)
        loop_timer_arm(lane->timer, c->act == SCRIPT_LATE ? left - LATENCY_MS : left);
    else
        loop_timer_arm(lane->timer, LATENCY_MS);
}

static void lane_answer(void *arg)
{
    struct scripted_lane *lane = arg;
    struct scripted_call *c = LIST_ENTRY(lane->calls.next, struct scripted_call, link);

    list_remove(&c->link);
    c->fn(c->arg, c->r, c->answer, &c->e);
    if (c->act == SCRIPT_TWICE)
        c->fn(c->arg, c->r, c->answer, &c->e);
    call_free(lane->script, c);
    lane_begin(lane);
}

static int script_call(struct link *link, enum link_lane lane, const struct jsn *request,
                       uint64_t timeout_ms, link_answer_fn fn, void *arg)
{
    struct script *s = script_of(link);
    enum script_act act = act_find(s, lane, jsn_get_str(request, "call"));
    struct scripted_call *c;

    if (act == SCRIPT_NO_ROOM)
        return -E2BIG;
    c = xcalloc(1, sizeof(*c));
    c->act = act;
    c->request = jsn_clone(&c->arena, request);
    c->deadline_ms = loop_now_ms(s->loop) + (int64_t)timeout_ms;
    c->fn = fn;
    c->arg = arg;
    s->open++;
    list_append(&s->lanes[lane].calls, &c->link);
    lane_begin(&s->lanes[lane]);
    return 0;
}

static void script_restart(struct link *link)
{
    script_of(link)->restarts++;
}

static const struct link_ops script_ops = {.call = script_call, .restart = script_restart};

struct script *script_new(struct loop *l, struct ctld *c)
{
    struct script *s = xcalloc(1, sizeof(*s));

    s->link.ops = &script_ops;
    s->loop = l;
    s->ctld = c;
    for (unsigned i = 0; i < LANE_N; i++) {
        s->lanes[i] = (struct scripted_lane){.script = s, .id = (enum link_lane)i};
        list_init(&s->lanes[i].calls);
        s->lanes[i].timer = loop_add_timer(l, lane_answer, &s->lanes[i]);
    }
    return s;
}

struct script *script_free(struct script *s)
{
    if (!s)
        return NULL;
    for (unsigned i = 0; i < LANE_N; i++) {
        LIST_FOR_EACH (c, &s->lanes[i].calls, struct scripted_call, link)
            call_free(s, c);
        (void)loop_source_free(s->lanes[i].timer);
    }
    buf_done(&s->said);
    free(s);
    return NULL;
}

const char *script_said(struct script *s)
{
    return s->said.n > 0 ? buf_str(&s->said) : "";
}

void script_forget(struct script *s)
{
    buf_clear(&s->said);
}

unsigned script_restarts(const struct script *s)
{
    return s->restarts;
}

unsigned script_open(const struct script *s)
{
    return s->open;
}

bool script_scripted(const struct script *s)
{
    return s->n_rules > 0;
}
