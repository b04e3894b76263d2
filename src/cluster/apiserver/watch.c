/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watches.
 *
 * A watch starts at a version: absent or "0" shows every present object as ADDED first; a number
 * shows what changed behind it, from the store's log.  From then on the hub hands each committed
 * change to the watches of its resource, in order.  The catching up and the joining happen in one
 * turn, between two commits, so that nothing is missed or shown twice.
 *
 * With a selector a change is seen through it: an object that begins to match is ADDED, one that
 * ceases to match is DELETED.  A client that does not read is cut off when its backlog is full; it
 * comes back with its last version.  Bookmarks tell quiet watches how far they are.
 */
#include "src/cluster/apiserver/watch.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/encode.h"
#include "src/base/map.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/select.h"
#include "src/cluster/apiserver/status.h"

#define BOOKMARK_EVERY_MS 60000
#define BACKLOG_MAX_BYTES ((size_t)32 << 20)
#define TIMEOUT_LEAST_S 1800

struct watch {
    struct list link;
    struct watch_hub *hub;
    struct api_call *call;
    struct selection sel;
    struct answer_wish wish;
    enum row_object row;
    bool bookmarks;
    bool columns_sent;
    struct loop_source *timeout;
};

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
    call_free(w->call);
    free(w);
}

static void client_left(void *arg)
{
    watch_free(arg);
}

static void watch_end(struct watch *w)
{
    http_exchange_on_close(w->call->exchange, NULL, NULL);
    http_stream_end(w->call->exchange);
    watch_free(w);
}

/* The object of an event in the form the client wished. */
static struct jsn *event_object(struct watch *w, struct jsn *object)
{
    struct api_call *c = w->call;
    struct jsn *shown = object_present(c, object);
    struct jsn *version = jsn_get(shown, "metadata.resourceVersion");
    struct jsn *table;

    if (w->wish.form == FORM_METADATA)
        return answer_metadata_of(&c->arena, shown, w->wish.table_version);
    if (w->wish.form == FORM_OBJECT)
        return shown;
    table = answer_table(c, &w->wish, !w->columns_sent);
    w->columns_sent = true;
    if (version)
        jsn_set(&c->arena, jsn_key(table, "metadata"), "resourceVersion", version);
    jsn_append(&c->arena, jsn_key(table, "rows"), answer_table_row(c, &w->wish, shown, w->row));
    return table;
}

static void send_line(struct watch *w, const char *type, const struct jsn *object)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "{\"type\":\"%s\",\"object\":", type);
    jsn_print(&b, object);
    buf_adds(&b, "}\n");
    http_stream_write(w->call->exchange, buf_view(&b));
}

/* Plain objects need no tree: the stored bytes go out as they are. */
static void send_row(struct watch *w, const char *type, const struct store_row *row)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "{\"type\":\"%s\",\"object\":", type);
    if (object_present_row(w->call, row, true, &b) < 0)
        return;
    buf_adds(&b, "}\n");
    http_stream_write(w->call->exchange, buf_view(&b));
}

static void send_event(struct watch *w, const char *type, const struct store_row *row,
                       struct jsn *object)
{
    if (w->wish.form == FORM_OBJECT)
        send_row(w, type, row);
    else
        send_line(w, type, event_object(w, object));
}

static struct jsn *bookmark_object(struct watch *w, int64_t version, bool initial_end)
{
    struct api_call *c = w->call;
    struct arena *a = &c->arena;
    struct jsn *o = jsn_object(a);

    jsn_set_path(a, o, "metadata.resourceVersion", jsn_stringf(a, "%lld", (long long)version));
    if (!c->res->custom)
        jsn_set_path(a, o, "metadata.creationTimestamp", jsn_null(a));
    if (initial_end) {
        struct jsn *notes = jsn_object(a);

        jsn_set_str(a, notes, "k8s.io/initial-events-end", "true");
        jsn_set_path(a, o, "metadata.annotations", notes);
    }
    return o;
}

static void send_bookmark(struct watch *w, int64_t version, bool initial_end)
{
    struct api_call *c = w->call;
    struct arena_mark mark = arena_mark(&c->arena);
    struct jsn *o = bookmark_object(w, version, initial_end);

    if (w->wish.form == FORM_TABLE) {
        struct jsn *table = answer_table(c, &w->wish, !w->columns_sent);
        struct jsn *row = jsn_object(&c->arena);

        w->columns_sent = true;
        jsn_set(&c->arena, jsn_key(table, "metadata"), "resourceVersion",
                jsn_get(o, "metadata.resourceVersion"));
        jsn_set(&c->arena, row, "cells", jsn_array(&c->arena));
        jsn_set(&c->arena, row, "object", answer_metadata_of(&c->arena, o, w->wish.table_version));
        jsn_append(&c->arena, jsn_key(table, "rows"), row);
        o = table;
    } else if (w->wish.form == FORM_METADATA) {
        o = answer_metadata_of(&c->arena, o, w->wish.table_version);
    } else {
        struct jsn *full = jsn_object(&c->arena);

        jsn_set_str(&c->arena, full, "kind", c->res->kind);
        jsn_set_str(&c->arena, full, "apiVersion", object_api_version(&c->arena, c->res));
        jsn_set(&c->arena, full, "metadata", jsn_key(o, "metadata"));
        o = full;
    }
    send_line(w, "BOOKMARK", o);
    arena_rewind(&c->arena, mark);
}

/* Parse and match; a text that is empty matches nothing. */
static bool matches(struct watch *w, const struct store_row *row, struct str text,
                    struct jsn **ret_object)
{
    struct store_row r = *row;

    r.data = text;
    return text.n > 0 && object_of_row(w->call, &r, ret_object) == 0 &&
           selection_match(&w->sel, *ret_object);
}

/* It no longer matches: what the watcher knew of it goes, with the version of the change. */
static void send_departed(struct watch *w, const struct store_event *ev, struct jsn *before)
{
    jsn_set_path(&w->call->arena, before, "metadata.resourceVersion",
                 jsn_stringf(&w->call->arena, "%lld", (long long)ev->row.rv));
    send_line(w, "DELETED", event_object(w, before));
}

static void deliver_selected(struct watch *w, const struct store_event *ev)
{
    struct jsn *object = NULL;
    struct jsn *before = NULL;
    bool was = matches(w, &ev->row, ev->prev, &before);
    bool is = matches(w, &ev->row, ev->row.data, &object) && ev->change != STORE_DELETED;

    if (is)
        send_event(w, was ? "MODIFIED" : "ADDED", &ev->row, object);
    else if (was && ev->change == STORE_DELETED)
        send_event(w, "DELETED", &ev->row, object);
    else if (was)
        send_departed(w, ev, before);
}

static void deliver(struct watch *w, const struct store_event *ev)
{
    static const char *const types[] = {"ADDED", "MODIFIED", "DELETED"};
    struct arena_mark mark = arena_mark(&w->call->arena);
    struct jsn *object = NULL;

    if (w->sel.ns && !streq(w->sel.ns, ev->row.key.ns))
        return;
    if (!selection_trivial(&w->sel))
        deliver_selected(w, ev);
    else if (w->wish.form == FORM_OBJECT || object_of_row(w->call, &ev->row, &object) == 0)
        send_event(w, types[ev->change], &ev->row, object);
    arena_rewind(&w->call->arena, mark);
}

static void deliver_past(void *arg, const struct store_event *ev)
{
    deliver(arg, ev);
}

static bool deliver_present(void *arg, const struct store_row *row)
{
    struct watch *w = arg;
    struct arena_mark mark = arena_mark(&w->call->arena);
    struct jsn *object = NULL;
    bool look = !selection_trivial(&w->sel) || w->wish.form != FORM_OBJECT;

    if (!look || (object_of_row(w->call, row, &object) == 0 && selection_match(&w->sel, object)))
        send_event(w, "ADDED", row, object);
    arena_rewind(&w->call->arena, mark);
    return true;
}

/* The stream has begun with 200: what goes wrong now is an ERROR event. */
static void send_error(struct watch *w, int code, const char *reason, const char *message)
{
    send_line(w, "ERROR", status_object(&w->call->arena, code, reason, message));
}

static bool catch_up(struct watch *w, int64_t behind, bool show_present)
{
    struct api_call *c = w->call;
    struct store *store = c->server->store;
    struct store_list q = {.resource = call_store_name(c), .ns = w->sel.ns};
    struct err e = {0};
    int r;

    if (show_present)
        r = store_each(store, &q, deliver_present, w, &e);
    else
        r = store_changes(store, q.resource, behind, deliver_past, w, &e);
    if (r == -ESTALE)
        send_error(w, 410, "Expired",
                   arena_printf(&c->arena, "too old resource version: %lld (%lld)",
                                (long long)behind, (long long)store_compacted(store)));
    else if (r < 0)
        send_error(w, 500, "InternalError", e.text);
    return r == 0;
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

static void on_timeout(void *arg)
{
    struct watch *w = arg;

    if (w->bookmarks)
        send_bookmark(w, store_version(w->hub->server->store), false);
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

struct start {
    int64_t behind;
    bool present; /* all present objects first */
    bool initial_bookmark;
};

static int read_start(struct api_call *c, struct watch *w, struct start *st)
{
    int r = answer_wish_read(c, &w->wish);

    if (r == 0)
        r = selection_read(c, &w->sel);
    if (r == 0)
        r = check_timeout(c);
    if (r == 0)
        r = options_check_list(c, true);
    if (r == 0)
        r = options_version(c, "resourceVersion", &st->behind);
    if (r == 0 && w->wish.form == FORM_TABLE)
        r = answer_row_object(c, &w->row);
    w->bookmarks = call_param_true(c, "allowWatchBookmarks");
    st->initial_bookmark = call_param_true(c, "sendInitialEvents") && w->bookmarks;
    st->present = call_param(c, "sendInitialEvents") ? call_param_true(c, "sendInitialEvents")
                                                     : st->behind == 0;
    if (!st->present && st->behind == 0)
        st->behind = store_version(c->server->store);
    return r;
}

void verb_watch(struct api_call *c)
{
    struct watch_hub *h = c->server->watches;
    struct watch *w = xcalloc(1, sizeof(*w));
    struct start st = {0};

    w->call = c;
    w->hub = h;
    if (read_start(c, w, &st) < 0) {
        free(w);
        answer_failure(c);
        return;
    }
    /* What was written this turn and is not on disk yet must not be seen: settle it first. */
    answer_commit(c->server);
    http_stream_begin(c->exchange, 200, "application/json", answer_headers(c));
    h->n++;
    join(h, w);
    http_exchange_on_close(c->exchange, client_left, w);
    w->timeout = loop_add_timer(c->server->loop, on_timeout, w);
    loop_timer_arm(w->timeout, timeout_ms(c));
    if (!catch_up(w, st.behind, st.present))
        watch_end(w);
    else if (st.initial_bookmark)
        send_bookmark(w, store_version(c->server->store), true);
}

void watch_hub_event(struct watch_hub *h, const struct store_event *ev)
{
    struct list *head = map_get(&h->by_resource, str_of(ev->row.key.resource));

    if (!head)
        return;
    LIST_FOR_EACH (w, head, struct watch, link) {
        deliver(w, ev);
        if (http_stream_backlog(w->call->exchange) > BACKLOG_MAX_BYTES)
            watch_end(w);
    }
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
            if (w->bookmarks)
                send_bookmark(w, store_version(h->server->store), false);
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
