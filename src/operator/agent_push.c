/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations on their way to an agent.
 *
 * At most one is under way.  A newer one waits for its answer, since the agent would queue it
 * anyway; of several newer ones only the last is sent.  Without an answer (no connection, a broken
 * one, 5xx) it is sent again with a growing delay: a configuration is the whole truth, so that
 * sending it twice does no harm.
 *
 * Where many changes come in a row (hundreds of Partitions by one apply), each configuration would
 * take along the few that came while the one before it was applied, and each costs the agent and
 * slurmctld a look at all partitions.  So if several had to wait for the answer, there is a rest
 * before the next one, about as long as the last one took; whoever edits one thing at a time never
 * meets it.  At its end the next plan sends what is newest; if none does, what waits is sent.
 *
 * An answer is final for that configuration: applied, pending (the agent goes on trying by itself)
 * or refused.
 */
#include "src/operator/agent_push.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/kube/pace.h"
#include "src/operator/agent_outcome.h"
#include "src/wire/declaration.h"

#define RETRY_FIRST_MS 50
#define RETRY_MAX_MS 5000
/* A reconfigure of a large cluster, with a rehearsal before it, takes its time. */
#define PUSH_DEADLINE_MS 120000
#define FULL_MS 250
#define MAX_ANSWER_BYTES ((size_t)4 << 20)
#define FORGET_AGAIN_MS 10000
/* So many that had to wait for one answer are many. */
#define CROWD 2
#define REST_LEAST_MS 10
#define REST_MOST_MS 100
/* For the plan that is due at the end of a rest. */
#define RIPE_MS 60

struct parcel {
    char *hash;
    bool reverts;
    int64_t count; /* its generation */
    char *conf;    /* its slurm.conf */
    struct buf body;
};

struct agent_push {
    const struct agent_access *access;
    agent_pushed_fn fn;
    void *arg;
    struct http_call *call;
    struct parcel *sent;    /* under way, or to be sent again */
    struct parcel *waiting; /* after it */
    struct loop_source *retry;
    struct pace_backoff backoff;
    int64_t count;
    int64_t sent_ms;
    struct loop_source *rest;
    unsigned crowd;   /* how many had to wait since it was sent */
    bool resting;     /* nothing is sent before the rest is over */
    int64_t since_us; /* wall clock: since then there has been one at any time; 0: there is none */
    char *trouble;
    struct agent_outcome outcome;
    char *forgotten; /* the other declaration for which an outcome was forgotten last */
    int64_t forgotten_ms;
};

static struct parcel *parcel_free(struct parcel *c)
{
    if (!c)
        return NULL;
    free(c->hash);
    free(c->conf);
    buf_done(&c->body);
    free(c);
    return NULL;
}

static struct parcel *parcel_new(const struct jsn *body, int64_t count)
{
    struct parcel *c = xcalloc(1, sizeof(*c));
    AUTO(arena_done) struct arena a = {0};

    c->hash = xstrdup_null(jsn_get_str(body, "declared"));
    c->conf = xstrdup_null(jsn_text(jsn_member(jsn_key(body, "files"), STR("slurm.conf"))));
    c->count = count;
    c->reverts = streq(jsn_get_str(body, "driftPolicy"), "Revert");
    jsn_print(&c->body, wire_declaration_seal(&a, body, count));
    return c;
}

static void send(struct agent_push *p);

static void on_retry(void *arg)
{
    send(arg);
}

static void send_waiting(struct agent_push *p)
{
    p->sent = TAKE(p->waiting);
    send(p);
}

static void on_rest(void *arg)
{
    struct agent_push *p = arg;

    if (p->resting)
        loop_timer_arm(p->rest, RIPE_MS);
    else if (p->waiting && !p->call)
        send_waiting(p);
    p->resting = false;
}

/* Let more come before what waits is sent. */
static void rest(struct agent_push *p)
{
    int64_t took_ms = loop_now_ms(p->access->loop) - p->sent_ms;

    p->resting = true;
    loop_timer_arm(p->rest, MIN(MAX(took_ms, REST_LEAST_MS), REST_MOST_MS));
}

struct agent_push *agent_push_new(const struct agent_access *access, agent_pushed_fn fn, void *arg)
{
    struct agent_push *p = xcalloc(1, sizeof(*p));

    p->access = access;
    p->fn = fn;
    p->arg = arg;
    p->backoff = (struct pace_backoff){RETRY_FIRST_MS, RETRY_MAX_MS, 0};
    p->retry = loop_add_timer(access->loop, on_retry, p);
    p->rest = loop_add_timer(access->loop, on_rest, p);
    return p;
}

struct agent_push *agent_push_free(struct agent_push *p)
{
    if (!p)
        return NULL;
    if (p->call)
        http_call_cancel(p->call);
    p->sent = parcel_free(p->sent);
    p->waiting = parcel_free(p->waiting);
    (void)loop_source_free(p->retry);
    (void)loop_source_free(p->rest);
    agent_outcome_done(&p->outcome);
    free(p->trouble);
    free(p->forgotten);
    free(p);
    return NULL;
}

/* Conditions repeat it: times and versions in it would make each attempt a new one. */
char *agent_trouble_text(const struct agent_access *access, const struct err *e)
{
    const char *why = strstr(e->text, ": ");
    const char *after;
    const char *ms;

    why = why ? why + 2 : e->text;
    after = strstr(why, " after ");
    ms = after ? strstr(after, " ms") : NULL;
    if (!ms)
        return xasprintf("%s: %s", access->base, why);
    return xasprintf("%s: %.*s%s", access->base, (int)(after - why), why, ms + 3);
}

static void set_trouble(struct agent_push *p, const char *text)
{
    free(p->trouble);
    p->trouble = xstrdup_null(text);
}

/* What became of the one that was sent; by the answer, or by the state. */
static void note_outcome(struct agent_push *p, const struct wire_outcome *o)
{
    agent_outcome_take(&p->outcome, p->sent->hash, p->sent->reverts, TAKE(p->sent->conf), o);
}

/* Again later, or the newer one in its place. */
static void try_again(struct agent_push *p, const char *why)
{
    set_trouble(p, why);
    if (p->waiting) {
        p->sent = parcel_free(p->sent);
        p->sent = TAKE(p->waiting);
    }
    loop_timer_arm(p->retry, pace_backoff_next(&p->backoff));
}

static void finish(struct agent_push *p)
{
    set_trouble(p, NULL);
    pace_backoff_reset(&p->backoff);
    p->sent = parcel_free(p->sent);
    if (!p->waiting) {
        p->since_us = 0;
        return;
    }
    if (p->crowd >= CROWD)
        rest(p);
    else
        send_waiting(p);
}

static bool is_final(int status)
{
    return status == 200 || status == 422 || status == 400 || status == 413;
}

/* An agent that cannot read the request has no outcome, but a sentence. */
static void take_answer(struct agent_push *p, const struct jsn *v, int status)
{
    AUTO(arena_done) struct arena a = {0};
    struct wire_outcome o = {.result = -1};
    struct err e = {0};

    if (wire_outcome_decode(&a, v, &o, &e) < 0)
        o = (struct wire_outcome){.result = WIRE_REFUSED, .error = e.text};
    else if (status != 200)
        o.result = WIRE_REFUSED;
    else if (o.result < 0)
        o.result = WIRE_APPLIED;
    note_outcome(p, &o);
}

static void on_done(void *arg, const struct http_answer *answer, const struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct agent_push *p = arg;
    struct jsn *v = NULL;
    struct err bad = {0};

    p->call = NULL;
    log_debug("push %lld: %s", (long long)p->sent->count, answer ? "answered" : e->text);
    if (!answer) {
        AUTO(free) char *why = agent_trouble_text(p->access, e);

        try_again(p, why);
    } else if (jsn_parse(&a, answer->body, NULL, &v, &bad) < 0 || !is_final(answer->status)) {
        const char *error = jsn_get_str(v, "error");
        AUTO(free)
        char *why = xasprintf("the agent answers %d: %s", answer->status,
                              error ? error : (bad.num ? bad.text : ""));

        try_again(p, why);
    } else {
        take_answer(p, v, answer->status);
        finish(p);
    }
    p->fn(p->arg);
}

static void send(struct agent_push *p)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    AUTO(free) char *url = xasprintf("%s/v1/config", p->access->base);
    struct http_call_options o = {.method = "PUT",
                                  .url = url,
                                  .headers = headers,
                                  .bearer_token = p->access->token,
                                  .body = buf_view(&p->sent->body),
                                  .tls = &p->access->tls,
                                  .deadline_ms = PUSH_DEADLINE_MS,
                                  .max_body_bytes = MAX_ANSWER_BYTES,
                                  .on_done = on_done,
                                  .arg = p};

    loop_timer_disarm(p->retry);
    loop_timer_disarm(p->rest);
    p->crowd = 0;
    p->sent_ms = loop_now_ms(p->access->loop);
    p->call = http_client_call(p->access->client, &o);
    log_debug("push %lld: sent", (long long)p->sent->count);
}

static bool is_same(const struct parcel *c, const char *hash, bool reverts)
{
    return c && streq(c->hash, hash) && c->reverts == reverts;
}

void agent_push_start(struct agent_push *p, const struct jsn *body)
{
    const char *hash = jsn_get_str(body, "declared");
    bool reverts = streq(jsn_get_str(body, "driftPolicy"), "Revert");
    bool ripe = p->waiting && !p->call && !p->resting;

    assert(hash);
    if (!ripe && is_same(p->waiting ? p->waiting : p->sent, hash, reverts))
        return;
    p->waiting = parcel_free(p->waiting);
    if (is_same(p->sent, hash, reverts))
        return; /* somebody changed his mind, and back */
    if (p->call || p->resting) {
        p->waiting = parcel_new(body, ++p->count);
        return;
    }
    if (p->since_us == 0)
        p->since_us = clock_wall_us();
    p->sent = parcel_free(p->sent);
    p->sent = parcel_new(body, ++p->count);
    send(p);
}

bool agent_push_is_full(struct agent_push *p)
{
    bool full = p->resting ||
                (p->call && p->waiting && loop_now_ms(p->access->loop) - p->sent_ms < FULL_MS);

    p->crowd += full;
    return full;
}

int64_t agent_push_since_us(const struct agent_push *p)
{
    return p->since_us;
}

void agent_push_kick(struct agent_push *p)
{
    if (p->sent && !p->call)
        send(p);
}

const struct slurm_applied *agent_push_outcome(const struct agent_push *p)
{
    return &p->outcome.applied;
}

const char *agent_push_held(const struct agent_push *p)
{
    return p->outcome.held;
}

const struct map *agent_push_held_lines(const struct agent_push *p)
{
    return p->outcome.held ? &p->outcome.lines : NULL;
}

const char *agent_push_tried(const struct agent_push *p)
{
    return p->outcome.tried;
}

const char *agent_push_trouble(const struct agent_push *p)
{
    return p->trouble;
}

void agent_push_forget(struct agent_push *p)
{
    agent_outcome_forget(&p->outcome);
}

/* The answer was lost on its way, and the state tells what it would have told. */
static bool is_lost_answer(const struct agent_push *p, const struct wire_outcome *o)
{
    return p->sent && !p->call && !o->retry && o->generation == p->sent->count &&
           streq(o->declared, p->sent->hash);
}

bool agent_push_recover(struct agent_push *p, const struct wire_outcome *o)
{
    if (o->result < 0 || !is_lost_answer(p, o))
        return false;
    loop_timer_disarm(p->retry);
    note_outcome(p, o);
    finish(p);
    return true;
}

bool agent_push_follow(struct agent_push *p, const struct wire_outcome *o)
{
    if (agent_push_recover(p, o))
        return true;
    if (o->result < 0 || !p->outcome.applied.hash)
        return false;
    /* a refusal is final, but for what the agent has come to take by itself */
    if (streq(p->outcome.applied.result, "refused") &&
        (!streq(o->declared, p->outcome.applied.hash) || o->result == WIRE_REFUSED))
        return false;
    if (streq(o->declared, p->outcome.applied.hash))
        return agent_outcome_update(&p->outcome, o);
    /* if somebody else declares other files all the time, each would undo the other for ever: once
     * in a while is enough */
    if (streq(o->hash, p->forgotten) &&
        loop_now_ms(p->access->loop) - p->forgotten_ms < FORGET_AGAIN_MS)
        return false;
    free(p->forgotten);
    p->forgotten = xstrdup_null(o->hash);
    p->forgotten_ms = loop_now_ms(p->access->loop);
    agent_push_forget(p);
    return true;
}
