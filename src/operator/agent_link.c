/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link to one agent.
 *
 * A question for what is newer than what we have is always with the agent; it answers as soon as
 * there is something, or after WAIT_S.  So a change in Slurm is here as fast as the agent sees it.
 * Each answer, empty or not, says that the state is current.  When STALE_MS have passed without
 * one, the state is not known any more, which for all who ask means: busy.
 *
 * The connections are kept: the question has one, pushes and changes of nodes another.
 */
#include "src/operator/agent_link.h"

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/base/list.h"
#include "src/kube/pace.h"
#include "src/operator/agent_asked.h"
#include "src/operator/agent_push.h"

#define WAIT_S 5
#define ANSWER_MS 7000
#define STALE_MS 10000
#define RETRY_FIRST_MS 50
#define RETRY_MAX_MS 2000
/* An agent that does not wait is not asked all the time. */
#define LEAST_INTERVAL_MS 100
#define NODE_DEADLINE_MS 15000
#define MAX_STATE_BYTES ((size_t)128 << 20)
#define MAX_ANSWER_BYTES ((size_t)1 << 20)

struct agent_link {
    struct loop *loop;
    struct agent_access access;
    struct agent_events events;
    char *address;
    int port;
    char *base;
    char *cert_pem;
    char *host;
    char *token;
    struct agent_state *state;
    struct agent_push *push;
    struct asked *asked;
    struct list calls;      /* struct agent_call that are under way */
    struct http_call *call; /* the question */
    struct loop_source *ask_again;
    struct loop_source *stale;
    struct pace_backoff backoff;
    int64_t asked_ms;
    bool known;
    char *trouble;
    struct slurm_state view;
};

struct agent_call {
    struct list link;        /* in the agent_link's calls */
    struct agent_link *from; /* NULL: it is gone */
    struct http_call *http;
    char *node;
    char *action;
    char *asked; /* what is noted as asked for: the action; of an update, all of it */
    bool hold;   /* it must have no work afterwards */
    agent_done_fn fn;
    void *arg;
};

static void ask(void *arg);

static void set_trouble(struct agent_link *k, const char *text)
{
    free(k->trouble);
    k->trouble = xstrdup_null(text);
}

static void on_stale(void *arg)
{
    struct agent_link *k = arg;

    if (!k->known)
        return;
    k->known = false;
    if (!k->trouble)
        set_trouble(k, "the agent has not answered for a while");
    k->events.lost(k->events.arg);
}

static void fail(struct agent_link *k, const char *why)
{
    bool news = !k->known && !streq(k->trouble, why);

    set_trouble(k, why);
    loop_timer_arm(k->ask_again, pace_backoff_next(&k->backoff));
    if (news)
        k->events.pushed(k->events.arg); /* the configuration's fate has another reason */
}

/* What the agent says about the configuration, held against what was sent. */
static void follow_config(struct agent_link *k, const char *old_boot, struct agent_change *c)
{
    if (old_boot[0] && !streq(old_boot, agent_state_boot(k->state)))
        agent_push_forget(k->push);
    if (agent_push_follow(k->push, agent_state_config(k->state)))
        c->config = true;
    c->held_lines = agent_push_held_lines(k->push);
}

static void take_state(struct agent_link *k, const struct jsn *answer)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *old = xstrdup(agent_state_version(k->state));
    AUTO(free) char *old_boot = xstrdup(agent_state_boot(k->state));
    struct agent_change c = {0};
    struct err e = {0};
    bool was_known = k->known;

    if (agent_state_update(k->state, answer, &a, &c, &e) < 0) {
        k->state = agent_state_free(k->state);
        k->state = agent_state_new();
        fail(k, e.text);
        return;
    }
    set_trouble(k, NULL);
    pace_backoff_reset(&k->backoff);
    k->known = true;
    loop_timer_arm(k->stale, STALE_MS);
    if (!was_known)
        agent_push_kick(k->push);
    c.full = c.full || !was_known;
    asked_compare(k->asked, agent_state_view(k->state));
    follow_config(k, old_boot, &c);
    if (streq(old, agent_state_version(k->state)) && was_known &&
        loop_now_ms(k->loop) - k->asked_ms < LEAST_INTERVAL_MS)
        loop_timer_arm(k->ask_again, LEAST_INTERVAL_MS);
    else
        ask(k);
    if (c.full || !streq(old, agent_state_version(k->state)))
        k->events.changed(k->events.arg, &c);
}

static void on_state(void *arg, const struct http_answer *answer, const struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct agent_link *k = arg;
    struct jsn *v = NULL;
    struct err bad = {0};

    k->call = NULL;
    if (!answer) {
        AUTO(free) char *why = agent_trouble_text(&k->access, e);

        fail(k, why);
    } else if (jsn_parse(&a, answer->body, NULL, &v, &bad) < 0 || answer->status != 200) {
        const char *error = jsn_get_str(v, "error");
        AUTO(free)
        char *why = xasprintf("the agent answers %d: %s", answer->status,
                              error ? error : (bad.num ? bad.text : ""));

        fail(k, why);
    } else {
        take_state(k, v);
    }
}

static void ask(void *arg)
{
    struct agent_link *k = arg;
    AUTO(buf_done) struct buf url = {0};
    struct http_call_options o = {.bearer_token = k->token,
                                  .tls = &k->access.tls,
                                  .deadline_ms = ANSWER_MS,
                                  .connect_timeout_ms = 3000,
                                  .max_body_bytes = MAX_STATE_BYTES,
                                  .on_done = on_state,
                                  .arg = k};

    loop_timer_disarm(k->ask_again);
    buf_printf(&url, "%s/v1/state?wait=%d&since=", k->base, k->known ? WAIT_S : 0);
    encode_url(&url, str_of(agent_state_version(k->state)));
    o.url = buf_str(&url);
    k->asked_ms = loop_now_ms(k->loop);
    k->call = http_client_call(k->access.client, &o);
}

static void on_pushed(void *arg)
{
    struct agent_link *k = arg;

    if (k->known)
        (void)agent_push_recover(k->push, agent_state_config(k->state));
    k->events.pushed(k->events.arg);
}

/* Nothing shows of a change that was asked for: let its NodeSet look at the node again. */
static void on_expired(void *arg, const char *node)
{
    struct agent_link *k = arg;
    struct agent_change c = {.nodes = &node, .n_nodes = 1};

    k->events.changed(k->events.arg, &c);
}

struct agent_link *agent_link_new(struct loop *l, struct http_client *c,
                                  const struct agent_target *t, const struct agent_events *events)
{
    struct agent_link *k = xcalloc(1, sizeof(*k));
    bool v6 = strchr(t->address, ':') != NULL;

    k->loop = l;
    k->events = *events;
    k->address = xstrdup(t->address);
    k->port = t->port;
    k->base = xasprintf("https://%s%s%s:%d", v6 ? "[" : "", t->address, v6 ? "]" : "", t->port);
    k->cert_pem = xstrdup(t->cert_pem);
    k->host = xstrdup(t->host);
    k->token = xstrdup(t->token);
    k->access = (struct agent_access){.client = c,
                                      .loop = l,
                                      .base = k->base,
                                      .token = k->token,
                                      .tls = {.ca_pem = k->cert_pem, .server_name = k->host}};
    k->backoff = (struct pace_backoff){RETRY_FIRST_MS, RETRY_MAX_MS, 0};
    k->state = agent_state_new();
    k->push = agent_push_new(&k->access, on_pushed, k);
    k->asked = asked_new(l, on_expired, k);
    list_init(&k->calls);
    k->ask_again = loop_add_timer(l, ask, k);
    k->stale = loop_add_timer(l, on_stale, k);
    ask(k);
    return k;
}

struct agent_link *agent_link_free(struct agent_link *k)
{
    if (!k)
        return NULL;
    if (k->call)
        http_call_cancel(k->call);
    LIST_FOR_EACH (call, &k->calls, struct agent_call, link) {
        list_remove(&call->link);
        call->from = NULL;
    }
    (void)asked_free(k->asked);
    (void)agent_push_free(k->push);
    (void)agent_state_free(k->state);
    (void)loop_source_free(k->ask_again);
    (void)loop_source_free(k->stale);
    explicit_bzero(k->token, strlen(k->token));
    free(k->token);
    free(k->address);
    free(k->base);
    free(k->cert_pem);
    free(k->host);
    free(k->trouble);
    free(k);
    return NULL;
}

bool agent_link_is_to(const struct agent_link *k, const struct agent_target *t)
{
    return streq(k->address, t->address) && k->port == t->port && streq(k->cert_pem, t->cert_pem) &&
           streq(k->host, t->host) && streq(k->token, t->token);
}

const struct slurm_state *agent_link_view(struct agent_link *k)
{
    if (!k->known)
        return NULL;
    k->view = *agent_state_view(k->state);
    k->view.applied = *agent_push_outcome(k->push);
    k->view.pushing_us = agent_push_since_us(k->push);
    k->view.held = agent_push_held(k->push);
    k->view.held_lines = agent_push_held_lines(k->push);
    k->view.tried = agent_push_tried(k->push);
    k->view.release = agent_state_release(k->state);
    k->view.key_stage = agent_state_key_stage(k->state);
    k->view.error = agent_state_error(k->state);
    k->view.asked = asked_list(k->asked, &k->view.n_asked);
    if (!agent_state_up(k->state)) {
        k->view.down = true;
        k->view.n = k->view.n_partitions = k->view.n_drift = 0;
        k->view.partitions_known = false;
    }
    return &k->view;
}

const char *agent_link_trouble(const struct agent_link *k)
{
    return k->trouble ? k->trouble : agent_push_trouble(k->push);
}

void agent_link_push(struct agent_link *k, const struct jsn *body)
{
    agent_push_start(k->push, body);
}

bool agent_link_is_full(struct agent_link *k)
{
    return agent_push_is_full(k->push);
}

static void call_free(struct agent_call *call)
{
    if (call->from)
        list_remove(&call->link);
    free(call->node);
    free(call->action);
    free(call->asked);
    free(call);
}

void agent_call_cancel(struct agent_call *call)
{
    if (call->http)
        http_call_cancel(call->http);
    call_free(call);
}

static int refusal(const struct agent_call *call, const struct http_answer *answer, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *v = NULL;
    struct err bad = {0};
    const char *why;

    if (jsn_parse(&a, answer->body, NULL, &v, &bad) < 0)
        v = NULL;
    if (answer->status >= 200 && answer->status < 300)
        return call->hold && jsn_get_bool(v, "busy", false)
                   ? err_set(e, -EBUSY, ERR_RETRY, "node %s has work again", call->node)
                   : 0;
    why = jsn_get_str(v, "error");
    /* Slurm's refusals depend on its state: the next look tells whether to try again. */
    return err_set(e, answer->status == 404 ? -ENOENT : -EREMOTEIO, ERR_RETRY, "%s node %s: %s",
                   call->action, call->node, why ? why : "the agent refuses without a reason");
}

static void on_node_done(void *arg, const struct http_answer *answer, const struct err *failure)
{
    struct agent_call *call = arg;
    agent_done_fn fn = call->fn;
    void *fn_arg = call->arg;
    struct err e = {0};

    if (failure) {
        e = *failure;
        e.class = ERR_RETRY;
    } else {
        (void)refusal(call, answer, &e);
    }
    if (call->from)
        asked_answered(call->from->asked, call->node, call->asked, e.num != 0);
    call_free(call);
    fn(fn_arg, e.num ? &e : NULL);
}

struct agent_call *agent_link_change_node(struct agent_link *k, const char *node,
                                          const struct jsn *body, agent_done_fn fn, void *arg)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    struct agent_call *call = xcalloc(1, sizeof(*call));
    const char *action = jsn_get_str(body, "action");
    bool delete = streq(action, "delete");
    AUTO(buf_done) struct buf text = {0};
    AUTO(buf_done) struct buf url = {0};
    struct http_call_options o = {.method = delete ? "DELETE" : "POST",
                                  .headers = headers,
                                  .bearer_token = k->token,
                                  .tls = &k->access.tls,
                                  .deadline_ms = NODE_DEADLINE_MS,
                                  .max_body_bytes = MAX_ANSWER_BYTES,
                                  .on_done = on_node_done,
                                  .arg = call};

    buf_printf(&url, "%s/v1/nodes/", k->base);
    encode_url(&url, str_of(node));
    if (!delete)
        jsn_print(&text, body);
    o.url = buf_str(&url);
    o.body = buf_view(&text);
    call->fn = fn;
    call->arg = arg;
    call->node = xstrdup(node);
    call->action = xstrdup(action ? action : "change");
    call->from = k;
    list_append(&k->calls, &call->link);
    call->asked = xstrdup(streq(action, "update") ? buf_str(&text) : call->action);
    asked_put(k->asked, node, call->asked);
    call->http = http_client_call(k->access.client, &o);
    return call;
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
    call->hold = true;
    return call;
}
