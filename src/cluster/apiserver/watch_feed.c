/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Catching up: a watch that is behind reads from the store, a piece at a time.
 *
 * The store's log is the queue.  A watch that starts in the past, and one whose client reads too
 * slowly, remember a version and nothing else; the pump asks for the next piece when the client has
 * taken the one before.  So a watch costs the memory of a piece, however far behind it is, and
 * misses nothing.  If the past is compacted before it was read, the watch ends with 410, and its
 * client starts again with a list.
 *
 * A piece counts what was looked at, not what was sent: a selector that matches nothing must not
 * hold up the loop either.
 */
#include "src/base/alloc.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/watch_private.h"

#define ROW_BYTES 256 /* to look at a row costs something, however small it is */

/* What the store calls back with. */
struct piece {
    struct watch *watch;
    size_t bytes;
    bool full;
    int result;
};

static bool goes_on(struct piece *p, const struct store_row *row)
{
    p->bytes += ROW_BYTES + row->data.n;
    p->full = p->bytes > PUMP_PIECE_BYTES;
    return p->result == 0 && !p->full;
}

static bool on_present(void *arg, const struct store_row *row)
{
    struct piece *p = arg;
    struct watch *w = p->watch;

    p->result = watch_send_present(w, row);
    if (goes_on(p, row))
        return true;
    free(w->after_ns);
    free(w->after_name);
    w->after_ns = xstrdup(row->key.ns);
    w->after_name = xstrdup(row->key.name);
    return false;
}

static bool on_change(void *arg, const struct store_event *ev)
{
    struct piece *p = arg;

    p->result = watch_send_change(p->watch, ev);
    p->watch->seen = ev->row.rv;
    return goes_on(p, &ev->row);
}

static int feed_present(struct piece *p, struct err *e)
{
    struct watch *w = p->watch;
    struct store_list q = {.resource = call_store_name(w->call),
                           .ns = w->sel.ns,
                           .at_version = w->seen,
                           .after_ns = w->after_ns,
                           .after_name = w->after_name};
    int r = store_each(w->call->server->store, &q, on_present, p, e);

    if (r < 0 || p->result < 0 || p->full)
        return r;
    w->phase = WATCH_PAST;
    if (w->initial_bookmark)
        watch_send_bookmark(w, w->seen, true);
    return 0;
}

static int feed_past(struct piece *p, struct err *e)
{
    struct watch *w = p->watch;
    struct store *store = w->call->server->store;
    int r = store_changes(store, call_store_name(w->call), w->seen, on_change, p, e);

    if (r < 0 || p->result < 0 || p->full)
        return r;
    w->phase = WATCH_LIVE;
    w->seen = store_committed(store);
    return 0;
}

static int store_failed(struct watch *w, int r, const struct err *e)
{
    struct api_call *c = w->call;

    if (r != -ESTALE)
        return status_internal(c, e);
    return status_fail(c, 410, "Expired", "too old resource version: %lld (%lld)",
                       (long long)w->seen, (long long)store_compacted(c->server->store));
}

enum pump_result watch_feed(void *arg)
{
    struct watch *w = arg;
    struct piece p = {.watch = w};
    struct arena_mark mark = arena_mark(&w->call->arena);
    struct err e = {0};
    int r = w->phase == WATCH_PRESENT ? feed_present(&p, &e) : feed_past(&p, &e);

    if (r < 0)
        p.result = store_failed(w, r, &e);
    if (p.result < 0) {
        watch_fail(w);
        return PUMP_GONE;
    }
    arena_rewind(&w->call->arena, mark);
    return w->phase == WATCH_LIVE ? PUMP_WAIT : PUMP_MORE;
}
