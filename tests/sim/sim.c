/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run: steps of trouble, times of rest, and what must not be. */
#include <stdarg.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "tests/sim/sim.h"

#define START_US 1700000000000000
#define STEP_MS 40
#define REST_STEPS 60000
#define QUIET_MS 60000 /* of rest in which nothing is written */
#define CALL_LASTS_MS 30000

int64_t sim_now_us(const struct sim *s)
{
    return START_US + s->now_ms * 1000;
}

void sim_fail(struct sim *s, const char *fmt, ...)
{
    va_list ap;

    if (s->fault[0])
        return;
    va_start(ap, fmt);
    (void)vsnprintf(s->fault, sizeof(s->fault), fmt, ap);
    va_end(ap);
    sim_tell(s, "FOUND: %s", s->fault);
}

void sim_tell(struct sim *s, const char *fmt, ...)
{
    va_list ap;

    if (!s->options.tell)
        return;
    va_start(ap, fmt);
    printf("%8llu %9.3f s  ", (unsigned long long)s->step, (double)s->now_ms / 1000);
    (void)vprintf(fmt, ap);
    putchar('\n');
    va_end(ap);
}

/* --- calls under way --- */

static void answer_api(struct sim_call *c, int code)
{
    struct kube_failure f = {.code = code};
    struct kube_answer a = {.code = code};
    static const struct {
        int code;
        int num;
        enum err_class class;
    } errors[] = {{404, -ENOENT, ERR_PERMANENT}, {409, -ESTALE, ERR_CONFLICT},
                  {403, -EPERM, ERR_PERMANENT},  {429, -EBUSY, ERR_RETRY},
                  {500, -EREMOTEIO, ERR_RETRY},  {0, -ETIMEDOUT, ERR_RETRY}};

    if (!c->heard)
        return;
    if (code == 200 || code == 201) {
        c->api_fn(c->arg, &a, NULL);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        if (errors[i].code == code)
            (void)err_set(&f.err, errors[i].num, errors[i].class, "HTTP %d", code);
    c->api_fn(c->arg, NULL, &f);
}

static void answer_agent(struct sim *s, struct sim_call *c, bool lost)
{
    struct err e = {0};
    struct sim_operator *o = &s->operators[c->operator];
    const char *what = jsn_get_str(c->body, "action");

    if (!c->heard)
        return;
    if (lost)
        (void)err_set(&e, -ETIMEDOUT, ERR_RETRY, "the agent does not answer");
    else if (c->agent_failed)
        e = c->agent_error;
    if (!streq(what, "update"))
        asked_answered(o->asked, c->node, what, e.num != 0);
    c->agent_fn(c->arg, e.num ? &e : NULL);
}

static void answer(struct sim *s, struct sim_call *c, bool lost)
{
    if (c->kind == CALL_API)
        answer_api(c, lost ? 0 : c->code);
    else
        answer_agent(s, c, lost);
}

static void execute(struct sim *s, struct sim_call *c)
{
    if (c->kind == CALL_AGENT) {
        slurm_execute(s, c);
        return;
    }
    c->executed = true;
    c->code = api_execute(s, c);
    sim_tell(s, "api: %s %s %s by operator %u: %d",
             c->verb == KUBE_CREATE   ? "create"
             : c->verb == KUBE_DELETE ? "delete"
                                      : "patch",
             c->object_kind, c->name ? c->name : jsn_get_str(c->body, "metadata.name"), c->operator,
             c->code);
}

/* The server says no without having looked. */
static void refuse(struct sim *s, struct sim_call *c)
{
    static const int codes[] = {409, 429, 500, 403};

    c->executed = true;
    c->code = codes[chance_below(&s->chance, ARRAY_LEN(codes))];
    c->agent_failed = true;
    (void)err_set(&c->agent_error, -EREMOTEIO, ERR_RETRY, "the agent has no time");
    s->tally.faults++;
}

static bool has_bad_luck(struct sim *s, unsigned n)
{
    if (s->calm || !chance_one_in(&s->chance, n))
        return false;
    s->tally.faults++;
    return true;
}

/* One call goes on: it is carried out, or answered, or lost on either way. */
static void step_call(struct sim *s)
{
    struct sim_call *c = &s->calls[chance_below(&s->chance, SIM_CALLS)];

    for (size_t i = 0; i < SIM_CALLS && c->kind == CALL_NONE; i++)
        c = &s->calls[(size_t)(c - s->calls + 1) % SIM_CALLS];
    if (c->kind == CALL_NONE ||
        (c->kind == CALL_AGENT && s->now_ms < s->slurm.agent_slow_until_ms && !s->calm))
        return;
    if (!c->executed && has_bad_luck(s, 40)) {
        refuse(s, c);
    } else if (!c->executed && (!has_bad_luck(s, 40) || !c->heard)) {
        execute(s, c);
    } else {
        answer(s, c, !c->executed || (c->heard && has_bad_luck(s, 40)));
        seam_call_free(c);
    }
}

/* Who waits too long gives up, and the server may still carry it out. */
static void time_out_calls(struct sim *s)
{
    for (size_t i = 0; i < SIM_CALLS; i++) {
        struct sim_call *c = &s->calls[i];

        if (c->kind == CALL_NONE || !c->heard || s->now_ms - c->sent_ms < CALL_LASTS_MS)
            continue;
        answer(s, c, true);
        c->heard = false;
        if (c->executed)
            seam_call_free(c);
    }
}

/* --- steps --- */

static void one_step(struct sim *s)
{
    static const struct {
        void (*fn)(struct sim *s);
        unsigned weight;
    } others[] = {
        {step_call, 30}, {kubelet_step, 10}, {slurm_step, 10}, {people_step, 4}, {api_step, 2}};
    unsigned pick = chance_below(&s->chance, 100);

    s->now_ms += chance_below(&s->chance, STEP_MS);
    seam_run_timers(s);
    time_out_calls(s);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (pick < others[i].weight) {
            if (others[i].fn != people_step || !s->calm)
                others[i].fn(s);
            pick = 0;
            break;
        }
        pick -= others[i].weight;
        if (i + 1 == ARRAY_LEN(others))
            operator_step(s, pick % SIM_OPERATORS);
    }
    seam_run_deferred(s);
    s->tally.steps++;
}

static void set_chance(struct sim *s)
{
    s->chance.state = s->options.seed * 0x2545f4914f6cdd1dU + s->step * 0x9e3779b97f4a7c15U;
    (void)chance_next(&s->chance);
}

static bool is_left_out(const struct sim *s, uint64_t step)
{
    return s->options.left_out && (s->options.left_out[step / 8] & (1U << (step % 8)));
}

static bool has_calls(const struct sim *s)
{
    for (size_t i = 0; i < SIM_CALLS; i++)
        if (s->calls[i].kind != CALL_NONE)
            return true;
    return false;
}

static uint64_t writes(const struct sim *s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < SIM_OPERATORS; i++)
        n += s->operators[i].writes;
    return n;
}

static bool is_quiet(const struct sim *s)
{
    for (size_t i = 0; i < SIM_OPERATORS; i++)
        if (!operator_is_quiet(&s->operators[i]))
            return false;
    return !has_calls(s);
}

/* Nobody acts: within so many steps all is as declared, and stays so without a write. */
static void rest(struct sim *s)
{
    struct chance trouble = s->chance;
    int64_t quiet_since = s->now_ms;
    uint64_t written;

    people_rest(s);
    s->calm = true;
    written = writes(s);
    for (unsigned i = 0; i < REST_STEPS && !s->fault[0]; i++) {
        one_step(s);
        if (writes(s) != written || has_calls(s)) {
            written = writes(s);
            quiet_since = s->now_ms;
        }
        if (s->now_ms - quiet_since > QUIET_MS && is_quiet(s))
            break;
    }
    s->calm = false;
    s->chance = trouble;
    if (s->fault[0] || s->options.safety)
        return;
    if (s->now_ms - quiet_since <= QUIET_MS)
        sim_fail(s, "it does not come to rest within %d steps: %llu writes", REST_STEPS,
                 (unsigned long long)written);
    if (!s->fault[0])
        rest_check(s);
    s->tally.rests += !s->fault[0];
}

bool sim_run(struct sim *s, const struct sim_options *o)
{
    *s = (struct sim){.options = *o};
    api_init(s);
    for (unsigned i = 0; i < SIM_OPERATORS; i++)
        operator_start(s, i);
    s->operators[0].leads = true;
    for (s->step = 0; s->step < o->steps && !s->fault[0]; s->step++) {
        set_chance(s);
        if (s->step % o->calm_every == o->calm_every - 1)
            rest(s);
        else if (!is_left_out(s, s->step))
            one_step(s);
    }
    return s->fault[0] != '\0';
}

void sim_done(struct sim *s)
{
    for (unsigned i = 0; i < SIM_OPERATORS; i++)
        operator_kill(s, i);
    for (size_t i = 0; i < SIM_CALLS; i++)
        if (s->calls[i].kind != CALL_NONE)
            seam_call_free(&s->calls[i]);
    api_done(s);
}
