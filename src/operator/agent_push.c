/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations on their way to an agent.
 *
 * At most one is under way.  A newer one waits for its answer, since the agent would queue it
 * anyway; of several newer ones only the last is sent.  Without an answer (no connection, a broken
 * one, 5xx) it is sent again with a growing delay: a configuration is the whole truth, so that
 * sending it twice does no harm.
 *
 * An answer is final for that configuration: applied, pending (the agent goes on trying by itself)
 * or refused.
 */
#include "src/operator/agent_push.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/kube/pace.h"
#include "src/wire/declaration.h"

#define RETRY_FIRST_MS 50
#define RETRY_MAX_MS 5000
/* A reconfigure of a large cluster, with a rehearsal before it, takes its time. */
#define PUSH_DEADLINE_MS 120000
#define FULL_MS 250
#define MAX_ANSWER_BYTES ((size_t)4 << 20)
#define MAX_FAULTS 32
#define FORGET_AGAIN_MS 10000

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
    struct parcel *waiting; /* behind it */
    struct loop_source *retry;
    struct pace_backoff backoff;
    int64_t count;
    int64_t sent_ms;
    int64_t since_us; /* wall clock: since then there has been one at any time; 0: there is none */
    char *trouble;
    struct arena arena; /* of the outcome */
    struct slurm_applied outcome;
    char *tried;     /* the slurm.conf of the outcome, until slurmctld is known to have it */
    char *held;      /* the one that it has */
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

struct agent_push *agent_push_new(const struct agent_access *access, agent_pushed_fn fn, void *arg)
{
    struct agent_push *p = xcalloc(1, sizeof(*p));

    p->access = access;
    p->fn = fn;
    p->arg = arg;
    p->backoff = (struct pace_backoff){RETRY_FIRST_MS, RETRY_MAX_MS, 0};
    p->retry = loop_add_timer(access->loop, on_retry, p);
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
    arena_done(&p->arena);
    free(p->trouble);
    free(p->tried);
    free(p->held);
    free(p->forgotten);
    free(p);
    return NULL;
}

static const char *copy(struct arena *a, const char *text)
{
    return text && text[0] ? arena_strdup(a, text) : NULL;
}

static void read_faults(struct agent_push *p, const struct wire_problems *list)
{
    struct slurm_fault *faults = arena_calloc(&p->arena, MAX_FAULTS, sizeof(*faults));

    for (size_t i = 0; i < list->n && p->outcome.n_faults < MAX_FAULTS; i++) {
        const struct wire_problem *f = &list->items[i];

        if (f->severity != WIRE_WARNING)
            faults[p->outcome.n_faults++] =
                (struct slurm_fault){.file = copy(&p->arena, f->file),
                                     .line = f->line,
                                     .line_text = copy(&p->arena, f->object),
                                     .key = copy(&p->arena, f->key),
                                     .message = copy(&p->arena, f->message)};
    }
    p->outcome.faults = faults;
}

static bool same_refusals(const struct slurm_applied *have, const struct wire_refusals *list)
{
    bool same = have->n_refused == list->n;

    for (size_t i = 0; same && i < list->n; i++)
        same = streq(have->refused[i].partition, list->items[i].partition) &&
               streq(have->refused[i].error, list->items[i].error);
    return same;
}

/* Partitions that slurmctld refuses, while it took the rest; true: there is news. */
static bool read_refusals(struct agent_push *p, const struct wire_refusals *list)
{
    struct slurm_refusal *refused;

    if (same_refusals(&p->outcome, list))
        return false;
    refused = arena_calloc(&p->arena, list->n + 1, sizeof(*refused));
    for (size_t i = 0; i < list->n; i++)
        refused[i] = (struct slurm_refusal){
            .partition = copy(&p->arena, list->items[i].partition),
            .error = arena_strdup(&p->arena, list->items[i].error ? list->items[i].error : "")};
    p->outcome.refused = refused;
    p->outcome.n_refused = list->n;
    return true;
}

/* "partition debug: State=UP -> DRAIN" of each step that tells something. */
static const char *read_steps(struct arena *a, const struct wire_outcome *o)
{
    AUTO(buf_done) struct buf b = {.max = 1024};
    double ms = 0;

    for (size_t i = 0; i < o->steps.n; i++) {
        const char *what = o->steps.items[i].what;

        ms += o->steps.items[i].ms;
        if (what && what[0])
            buf_printf(&b, "%s%s", b.n ? "; " : "", what);
    }
    if (!o->class || streq(o->class, "none"))
        return NULL;
    return arena_printf(a, "%s%s%s (%.1f ms)", o->class, b.n ? ": " : "", buf_str(&b), ms);
}

static void start_outcome(struct agent_push *p)
{
    arena_done(&p->arena);
    p->arena = (struct arena){0};
    p->outcome = (struct slurm_applied){.hash = arena_strdup(&p->arena, p->sent->hash),
                                        .reverts = p->sent->reverts};
    free(p->tried);
    p->tried = TAKE(p->sent->conf);
}

/* Both mean that slurmctld has it. */
static bool is_there(const char *result)
{
    return streq(result, "applied") || streq(result, "unchanged");
}

/* Does slurmctld have it now?  What is pending may only wait for jobs of partitions that go. */
static bool note_held(struct agent_push *p, const struct wire_outcome *o)
{
    if (!p->tried || (!is_there(p->outcome.result) && !streq(o->good, p->outcome.hash)))
        return false;
    free(p->held);
    p->held = TAKE(p->tried);
    p->outcome.taken = true;
    return true;
}

/* What became of the one that was sent; by the answer, or by the state. */
static void note_outcome(struct agent_push *p, const struct wire_outcome *o)
{
    start_outcome(p);
    p->outcome.result = wire_result_name((enum wire_result)o->result);
    if (o->result == WIRE_REFUSED) {
        p->outcome.reason =
            arena_printf(&p->arena, "%s%s%s", o->step ? o->step : "", o->step ? ": " : "",
                         o->error ? o->error : "the agent gives no reason");
        read_faults(p, &o->problems);
        return;
    }
    (void)note_held(p, o);
    (void)read_refusals(p, &o->refused);
    p->outcome.reason = copy(&p->arena, o->reason);
    p->outcome.steps = read_steps(&p->arena, o);
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
    p->sent = TAKE(p->waiting);
    send(p);
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

    assert(hash);
    if (is_same(p->waiting ? p->waiting : p->sent, hash, reverts))
        return;
    p->waiting = parcel_free(p->waiting);
    if (is_same(p->sent, hash, reverts))
        return; /* somebody changed his mind, and back */
    if (p->call) {
        p->waiting = parcel_new(body, ++p->count);
        return;
    }
    if (!p->sent)
        p->since_us = clock_wall_us();
    p->sent = parcel_free(p->sent);
    p->sent = parcel_new(body, ++p->count);
    send(p);
}

bool agent_push_is_full(const struct agent_push *p)
{
    return p->call && p->waiting && loop_now_ms(p->access->loop) - p->sent_ms < FULL_MS;
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
    return &p->outcome;
}

const char *agent_push_held(const struct agent_push *p)
{
    return p->held;
}

const char *agent_push_tried(const struct agent_push *p)
{
    return p->tried;
}

const char *agent_push_trouble(const struct agent_push *p)
{
    return p->trouble;
}

void agent_push_forget(struct agent_push *p)
{
    p->outcome = (struct slurm_applied){0};
    free(TAKE(p->tried));
    free(TAKE(p->held));
}

static bool copy_if_other(struct arena *a, const char **text, const char *now)
{
    if (now && !now[0])
        now = NULL;
    if (streq(*text, now) || (!*text && !now))
        return false;
    *text = now ? arena_strdup(a, now) : NULL;
    return true;
}

/* The answer was lost on its way, and the state tells what it would have told. */
static bool is_lost_answer(const struct agent_push *p, const struct wire_outcome *o)
{
    return p->sent && !p->call && !o->retry && o->generation == p->sent->count &&
           streq(o->declared, p->sent->hash);
}

static bool update_outcome(struct agent_push *p, const struct wire_outcome *o)
{
    const char *result = wire_result_name((enum wire_result)o->result);
    bool changed = false;

    if (!is_there(result) || !is_there(p->outcome.result))
        changed = copy_if_other(&p->arena, &p->outcome.result, result);
    if (copy_if_other(&p->arena, &p->outcome.reason, o->error ? o->error : o->reason))
        changed = true;
    if (read_refusals(p, &o->refused))
        changed = true;
    return note_held(p, o) || changed;
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
    if (o->result < 0 || !p->outcome.hash)
        return false;
    /* a refusal is final, but for what the agent has come to take by itself */
    if (streq(p->outcome.result, "refused") &&
        (!streq(o->declared, p->outcome.hash) || o->result == WIRE_REFUSED))
        return false;
    if (streq(o->declared, p->outcome.hash))
        return update_outcome(p, o);
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
