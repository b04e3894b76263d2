/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches.
 *
 * A watch starts at a version: absent or "0" shows every present object as ADDED first; a number
 * shows what changed after it, from the store's log.
 *
 *   PRESENT -> PAST -> LIVE       catching up (watch_feed.c)
 *              PAST <- LIVE       its client does not keep up
 *
 * While it is LIVE the hub hands it each committed change of its resource, in order.  A watch turns
 * LIVE between two commits, having seen all that is committed, and knows the last version it has
 * sent; so nothing is missed or shown twice.
 *
 * Bookmarks tell quiet watches how far they are.
 */
#include "src/cluster/apiserver/watch.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/watch_private.h"

#define BOOKMARK_EVERY_MS 60000
#define BEHIND_BYTES ((size_t)1 << 20) /* that many wait for a client: it does not keep up */
#define TIMEOUT_LEAST_S 1800

struct watch_hub {
    struct apiserver *server;
    struct map by_resource; /* store name -> struct list of struct watch */
    struct loop_source *bookmark_timer;
    size_t n;
};

static void watch_free(struct watch *w)
{
    list_remove(&w->link);
    w->hub->n--;
    (void)loop_source_free(w->timeout);
    pump_done(&w->pump);
    call_free(w->call);
    free(w->after_ns);
    free(w->after_name);
    free(w);
}

static void client_left(void *arg)
{
    watch_free(arg);
}

/* The stream ends, and the watch is gone. */
static void watch_end(struct watch *w)
{
    http_exchange_on_close(w->call->exchange, NULL, NULL);
    http_stream_end(w->call->exchange);
    watch_free(w);
}

/* The stream has begun with 200: what goes wrong now is an ERROR event. */
void watch_fail(struct watch *w)
{
    watch_send_error(w, w->call->failure);
    watch_end(w);
}

static void join(struct watch_hub *h, struct watch *w)
{
    struct str key = str_of(call_store_name(w->call));
    struct list *head = map_get(&h->by_resource, key);

    if (!head) {
        head = xcalloc(1, sizeof(*head));
        list_init(head);
        (void)map_put(&h->by_resource, key, head);
    }
    list_append(head, &w->link);
}

/* Up to which version the client knows everything. */
static int64_t reached(const struct watch *w)
{
    return w->phase == WATCH_LIVE ? store_committed(w->hub->server->store) : w->seen;
}

static void on_timeout(void *arg)
{
    struct watch *w = arg;

    if (w->bookmarks && w->phase != WATCH_PRESENT)
        watch_send_bookmark(w, reached(w), false);
    watch_end(w);
}

static int check_timeout(struct api_call *c)
{
    const char *text = call_param(c, "timeoutSeconds");
    int64_t s;

    if (!text || !text[0] || str_to_i64(str_of(text), &s) == 0)
        return 0;
    return status_bad_request(c,
                              "timeoutSeconds: Invalid value: \"%s\": strconv.ParseInt: parsing "
                              "\"%s\": invalid syntax",
                              text, text);
}

static int64_t timeout_ms(struct api_call *c)
{
    const char *text = call_param(c, "timeoutSeconds");
    uint32_t random;
    int64_t s = 0;

    if (text && str_to_i64(str_of(text), &s) == 0 && s > 0)
        return clock_s_to_ms(s);
    encode_random(&random, sizeof(random));
    return (TIMEOUT_LEAST_S + random % TIMEOUT_LEAST_S) * 1000LL;
}

static int read_start(struct api_call *c, struct watch *w)
{
    int r = answer_wish_read(c, &w->wish);
    bool present;

    if (r == 0)
        r = selection_read(c, &w->sel);
    if (r == 0)
        r = check_timeout(c);
    if (r == 0)
        r = options_check_list(c, true);
    if (r == 0)
        r = options_version(c, "resourceVersion", &w->seen);
    if (r == 0 && w->wish.form == FORM_TABLE)
        r = answer_row_object(c, &w->row);
    w->bookmarks = call_param_true(c, "allowWatchBookmarks");
    w->initial_bookmark = call_param_true(c, "sendInitialEvents") && w->bookmarks;
    present =
        call_param(c, "sendInitialEvents") ? call_param_true(c, "sendInitialEvents") : w->seen == 0;
    w->phase = present ? WATCH_PRESENT : WATCH_PAST;
    return r;
}

void verb_watch(struct api_call *c)
{
    struct watch_hub *h = c->server->watches;
    struct watch *w = xcalloc(1, sizeof(*w));

    w->call = c;
    w->hub = h;
    if (read_start(c, w) < 0) {
        free(w);
        answer_failure(c);
        return;
    }
    /* What was written this turn and is not on disk yet must not be seen: settle it first. */
    answer_commit(c->server);
    if (w->phase == WATCH_PRESENT || w->seen == 0)
        w->seen = store_committed(c->server->store);
    http_stream_begin(c->exchange, 200, "application/json", answer_headers(c));
    h->n++;
    join(h, w);
    http_exchange_on_close(c->exchange, client_left, w);
    w->timeout = loop_add_timer(c->server->loop, on_timeout, w);
    loop_timer_arm(w->timeout, timeout_ms(c));
    pump_init(&w->pump, c->exchange, watch_feed, w);
    pump_start(&w->pump);
}

/* A client that does not keep up is served from the log from now on. */
static void deliver(struct watch *w, const struct store_event *ev)
{
    if (w->phase != WATCH_LIVE || ev->row.rv <= w->seen)
        return;
    if (watch_send_change(w, ev) < 0) {
        watch_fail(w);
        return;
    }
    w->seen = ev->row.rv;
    if (http_stream_backlog(w->call->exchange) < BEHIND_BYTES)
        return;
    w->phase = WATCH_PAST;
    pump_start(&w->pump);
}

void watch_hub_event(struct watch_hub *h, const struct store_event *ev)
{
    struct list *head = map_get(&h->by_resource, str_of(ev->row.key.resource));

    if (!head)
        return;
    LIST_FOR_EACH (w, head, struct watch, link)
        deliver(w, ev);
}

void watch_hub_close_resource(struct watch_hub *h, const char *store_name)
{
    struct list *head = map_get(&h->by_resource, str_of(store_name));

    if (!head)
        return;
    LIST_FOR_EACH (w, head, struct watch, link)
        watch_end(w);
}

static void on_bookmark_timer(void *arg)
{
    struct watch_hub *h = arg;
    struct list *head;
    size_t at = 0;

    while (map_next(&h->by_resource, &at, NULL, &head))
        LIST_FOR_EACH (w, head, struct watch, link)
            if (w->bookmarks && w->phase == WATCH_LIVE)
                watch_send_bookmark(w, reached(w), false);
    loop_timer_arm(h->bookmark_timer, BOOKMARK_EVERY_MS);
}

struct watch_hub *watch_hub_new(struct apiserver *s)
{
    struct watch_hub *h = xcalloc(1, sizeof(*h));

    h->server = s;
    map_init(&h->by_resource, free);
    h->bookmark_timer = loop_add_timer(s->loop, on_bookmark_timer, h);
    loop_timer_arm(h->bookmark_timer, BOOKMARK_EVERY_MS);
    return h;
}

struct watch_hub *watch_hub_free(struct watch_hub *h)
{
    struct list *head;
    size_t at = 0;

    if (!h)
        return NULL;
    while (map_next(&h->by_resource, &at, NULL, &head))
        LIST_FOR_EACH (w, head, struct watch, link)
            watch_end(w);
    map_done(&h->by_resource);
    (void)loop_source_free(h->bookmark_timer);
    free(h);
    return NULL;
}

size_t watch_hub_count(const struct watch_hub *h)
{
    return h->n;
}
