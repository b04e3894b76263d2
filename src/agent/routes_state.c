/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/state?since=VERSION&wait=SECONDS
 *
 * Without `since`, or with one that says nothing here, everything comes at once.  Else what has
 * changed since then; if that is nothing, the answer waits for a change, or for `wait` seconds.
 */
#include "src/agent/routes.h"

#include "src/base/alloc.h"
#include "src/http/url.h"

#define WAIT_MAX_S 300

struct long_poll {
    struct routes *routes;
    struct http_exchange *x;
    char *since;
    struct hub_watcher *watcher;
    struct loop_source *timer;
};

static void poll_free(struct long_poll *p)
{
    (void)hub_watcher_free(p->watcher);
    (void)loop_source_free(p->timer);
    free(p->since);
    free(p);
}

static void state_reply(struct routes *r, struct http_exchange *x, const char *since)
{
    AUTO(buf_done) struct buf text = {0};

    hub_print(r->hub, since, &text);
    buf_addc(&text, '\n');
    metrics_request(r->metrics, "state", 200);
    http_reply(x, 200, "application/json", NULL, buf_view(&text));
}

static void poll_answer(struct long_poll *p)
{
    http_exchange_on_close(p->x, NULL, NULL);
    state_reply(p->routes, p->x, p->since);
    poll_free(p);
}

static void on_change(void *arg)
{
    struct long_poll *p = arg;

    p->watcher = NULL; /* it is over with this call */
    poll_answer(p);
}

static void on_timeout(void *arg)
{
    poll_answer(arg);
}

static void on_close(void *arg)
{
    poll_free(arg);
}

void route_state(struct routes *r, struct http_exchange *x)
{
    AUTO(url_query_done) struct url_query query = {0};
    const char *since;
    struct long_poll *p;
    int64_t wait = 0;
    struct err e = {0};

    if (url_query_parse(http_exchange_request(x)->query, &query, &e) < 0 ||
        url_query_i64(&query, "wait", 0, &wait, &e) < 0 || wait < 0) {
        reply_error(r, x, "state", 400, "%s", e.text[0] ? e.text : "wait: is less than 0");
        return;
    }
    since = url_query_get(&query, "since");
    if (wait == 0 || hub_is_newer(r->hub, since)) {
        state_reply(r, x, since);
        return;
    }
    p = xcalloc(1, sizeof(*p));
    *p = (struct long_poll){.routes = r, .x = x, .since = xstrdup(since)};
    p->watcher = hub_watch(r->hub, on_change, p);
    p->timer = loop_add_timer(r->loop, on_timeout, p);
    loop_timer_arm(p->timer, MIN(wait, WAIT_MAX_S) * 1000);
    http_exchange_on_close(x, on_close, p);
}
