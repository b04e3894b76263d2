/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One call to an API server.
 *
 * It goes through these states:
 *
 *   QUEUED  waits for its turn
 *   LOGIN   waits for a credential that a plugin is making
 *   SENT    is with the server
 *   PAUSED  waits as long as the server asked for (Retry-After), then QUEUED again
 *   FAILED  cannot be sent; told in the next turn, as nothing is called back inside a start
 *
 * One timer covers whichever is next: the end of a pause, or the deadline, which counts from the
 * start and over all states.  Answers of success are parsed here, once.  What is no success becomes
 * a kube_failure.
 */
#include "src/base/alloc.h"
#include "src/kube/address.h"
#include "src/kube/client_private.h"

#define DEADLINE_MS 30000
#define MAX_RETRIES 10
#define MAX_ANSWER_BYTES ((size_t)512 << 20)
#define MAX_REFUSAL_BYTES ((size_t)1 << 20)

/* Off the wire and off every queue; the call itself stays. */
static void detach(struct kube_call *call)
{
    list_remove(&call->queued);
    kube_login_forget(&call->wait);
    if (call->http)
        http_call_cancel(TAKE(call->http));
    client_leave_flight(call);
}

static void call_free(struct kube_call *call)
{
    detach(call);
    list_remove(&call->link);
    (void)loop_source_free(call->timer);
    free(call->what);
    buf_done(&call->url);
    buf_done(&call->body);
    buf_done(&call->refusal);
    free(call);
}

void kube_call_cancel(struct kube_call *call)
{
    call_free(call);
}

static void tell(struct kube_call *call, const struct kube_answer *a, const struct kube_failure *f)
{
    kube_done_fn fn = call->fn;
    void *arg = call->arg;
    struct kube_failure copy;

    if (f)
        copy = *f; /* it may stand in the call */
    call_free(call);
    fn(arg, a, f ? &copy : NULL);
}

static int64_t deadline_left(const struct kube_call *call)
{
    if (call->deadline_ms < 0)
        return INT64_MAX;
    return MAX(call->deadline_ms - loop_now_ms(call->client->loop), (int64_t)0);
}

static void arm_deadline(struct kube_call *call)
{
    if (call->deadline_ms >= 0)
        loop_timer_arm(call->timer, deadline_left(call));
    else
        loop_timer_disarm(call->timer);
}

/* To be told in the next turn. */
static void fail_later(struct kube_call *call, const struct err *e)
{
    detach(call);
    call->state = CALL_FAILED;
    call->failure = (struct kube_failure){.err = *e};
    (void)err_wrap(&call->failure.err, e->num, "%s", call->what);
    loop_timer_arm(call->timer, 0);
}

static void enqueue(struct kube_call *call)
{
    call->state = CALL_QUEUED;
    list_append(&call->client->queue, &call->queued);
    arm_deadline(call);
    client_pump(call->client);
}

/* Wait as the server asks, and be queued again; false if there is no time for that. */
static bool pause_call(struct kube_call *call, int delay_ms)
{
    if (call->once || call->retries >= MAX_RETRIES || delay_ms >= deadline_left(call))
        return false;
    detach(call);
    buf_clear(&call->refusal);
    call->retries++;
    call->state = CALL_PAUSED;
    loop_timer_arm(call->timer, delay_ms);
    return true;
}

static int retry_after_ms(const struct http_answer *a)
{
    const char *text = http_answer_header(a, "Retry-After");
    uint32_t seconds = 0;

    if (!text || str_to_u32(str_trim(str_of(text)), &seconds) < 0)
        return 0;
    return (int)MIN(seconds, 3600U) * 1000;
}

static void refused(struct kube_call *call, const struct http_answer *a)
{
    struct str body = call->on_chunk ? buf_view(&call->refusal) : a->body;
    int delay_ms = retry_after_ms(a);
    struct kube_failure f;

    if (a->status == 401 && !call->relogged &&
        kube_login_refused(call->client->login, call->generation)) {
        detach(call);
        buf_clear(&call->refusal);
        call->relogged = true;
        enqueue(call);
        return;
    }
    if (delay_ms > 0 && (a->status == 429 || a->status >= 500) && pause_call(call, delay_ms))
        return;
    kube_failure_from_answer(&f, call->what, a->status, body);
    if (delay_ms > 0)
        f.retry_after_ms = delay_ms;
    tell(call, NULL, &f);
}

static void succeeded(struct kube_call *call, const struct http_answer *a)
{
    AUTO(arena_done) struct arena arena = {0};
    struct kube_answer answer = {.code = a->status, .text = a->body, .arena = &arena};
    struct kube_failure f = {.code = a->status};

    if (!call->on_chunk && !call->plain &&
        jsn_parse(&arena, a->body, NULL, &answer.value, &f.err) < 0) {
        f.err.num = -EBADMSG;
        f.err.class = ERR_RETRY;
        (void)err_wrap(&f.err, -EBADMSG, "%s: the server's answer is not JSON", call->what);
        tell(call, NULL, &f);
        return;
    }
    tell(call, &answer, NULL);
}

static void http_done(void *arg, const struct http_answer *a, const struct err *e)
{
    struct kube_call *call = arg;
    struct kube_failure f = {0};

    call->http = NULL;
    if (e) {
        (void)err_set(&f.err, e->num, e->class, "%s: %s", call->what, e->text);
        tell(call, NULL, &f);
    } else if (a->status < 200 || a->status > 299) {
        refused(call, a);
    } else {
        succeeded(call, a);
    }
}

static void http_chunk(void *arg, int status, struct str data)
{
    struct kube_call *call = arg;

    if (status < 200 || status > 299)
        buf_addstr(&call->refusal, data);
    else
        call->on_chunk(call->arg, data);
}

static void send_call(struct kube_call *call, const struct kube_credential *cred)
{
    struct kube_client *c = call->client;
    const char *headers[5] = {"Accept: application/json", c->user_agent};
    size_t n = 2;
    struct http_call_options o = {
        .method = address_method(call->verb),
        .url = buf_str(&call->url),
        .headers = headers,
        .proxy_url = c->target->cluster->proxy_url,
        .body = buf_view(&call->body),
        .tls = &cred->tls,
        .deadline_ms = -1,
        .max_body_bytes = MAX_ANSWER_BYTES,
        .on_chunk = call->on_chunk ? http_chunk : NULL,
        .on_done = http_done,
        .arg = call,
    };

    if (call->body.n > 0)
        headers[n++] = address_content_type(call->verb);
    if (cred->authorization)
        headers[n++] = cred->authorization;
    call->state = CALL_SENT;
    call->generation = cred->generation;
    call->http = http_client_call(c->http, &o);
    if (call->on_chunk)
        client_leave_flight(call);
}

static void credential_made(void *arg, const struct kube_credential *cred, const struct err *e)
{
    struct kube_call *call = arg;

    if (cred) {
        send_call(call, cred);
        return;
    }
    fail_later(call, e);
}

/* It is this call's turn. */
void call_begin(struct kube_call *call)
{
    struct kube_credential cred;
    struct err e = {0};
    int r;

    list_remove(&call->queued);
    if (!call->urgent) {
        call->counted = true;
        call->client->in_flight++;
    }
    call->state = CALL_LOGIN;
    call->wait = (struct kube_login_wait){.fn = credential_made, .arg = call};
    r = kube_login_get(call->client->login, &call->wait, &cred, &e);
    if (r < 0)
        fail_later(call, &e);
    else if (r == 0)
        send_call(call, &cred);
}

static const char *state_text(enum call_state state)
{
    static const char *const texts[] = {
        [CALL_QUEUED] = "held back by the client's rate limit",
        [CALL_LOGIN] = "the credential plugin did not finish",
        [CALL_SENT] = "no answer",
        [CALL_PAUSED] = "the server asked to wait",
        [CALL_FAILED] = "failed",
    };

    return texts[state];
}

static void time_reached(void *arg)
{
    struct kube_call *call = arg;
    struct kube_failure f = {0};

    if (call->state == CALL_FAILED) {
        tell(call, NULL, &call->failure);
    } else if (call->state == CALL_PAUSED) {
        enqueue(call);
    } else {
        (void)err_set(&f.err, -ETIMEDOUT, ERR_RETRY, "%s: %s within %.1f s", call->what,
                      state_text(call->state), (double)call->allowed_ms / 1000);
        tell(call, NULL, &f);
    }
}

struct kube_call *kube_call_start(struct kube_client *c, const struct kube_request *r)
{
    struct kube_call *call = xcalloc(1, sizeof(*call));
    struct err e = {0};

    *call = (struct kube_call){
        .client = c,
        .verb = r->verb,
        .what = address_describe(r),
        .urgent = r->urgent,
        .once = r->once,
        .plain = r->plain,
        .on_chunk = r->on_chunk,
        .fn = r->fn,
        .arg = r->arg,
        .allowed_ms = r->deadline_ms ? r->deadline_ms : DEADLINE_MS,
    };
    call->timer = loop_add_timer(c->loop, time_reached, call);
    call->deadline_ms = call->allowed_ms < 0 ? -1 : loop_now_ms(c->loop) + call->allowed_ms;
    buf_init(&call->refusal, MAX_REFUSAL_BYTES);
    list_append(&c->calls, &call->link);
    if (r->body)
        jsn_print(&call->body, r->body);
    if (address_url(c->target->cluster->server, r, c->field_manager, &call->url, &e) < 0) {
        fail_later(call, &e);
        return call;
    }
    enqueue(call);
    return call;
}
