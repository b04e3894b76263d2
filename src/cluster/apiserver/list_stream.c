/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists that are too long to be answered whole.
 *
 * They are read from the store in pieces, each when the client has taken the one before it, all at
 * the version that the list began with.  So a list costs the memory of a piece, whatever its
 * length.
 *
 * 200 is out by then.  When something goes wrong in the middle (the disk; a client that stops
 * reading, or so slow that its version is compacted), the connection is cut: the client sees an
 * answer without its end, and never something that looks like a list.
 */
#include "src/base/log.h"
#include "src/cluster/apiserver/listing.h"
#include "src/cluster/apiserver/server.h"

#define STALL_MS 120000 /* a client that takes no piece for that long is given up */

static void stream_free(struct listing *l)
{
    struct api_call *c = l->call;

    pump_done(&l->pump);
    (void)loop_source_free(l->stall);
    listing_free(l);
    call_free(c);
}

static void client_left(void *arg)
{
    stream_free(arg);
}

static enum pump_result cut_off(struct listing *l, const char *why)
{
    struct api_call *c = l->call;

    log_warn("a list of %s for %s was cut off: %s", call_store_name(c), c->user.name, why);
    http_stream_abort(c->exchange);
    stream_free(l);
    return PUMP_GONE;
}

static void on_stall(void *arg)
{
    (void)cut_off(arg, "its client does not read");
}

static void send_piece(struct listing *l, struct str text)
{
    AUTO(buf_done) struct buf b = {0};

    if (l->call->pretty && !l->wish.yaml) {
        jsn_indent(&l->indent, &b, text);
        text = buf_view(&b);
    }
    http_stream_write(l->call->exchange, text);
}

static enum pump_result finish(struct listing *l)
{
    AUTO(buf_done) struct buf b = {0};
    struct http_exchange *x = l->call->exchange;

    listing_print_tail(l, &b, false);
    send_piece(l, buf_view(&b));
    http_stream_end(x);
    stream_free(l);
    return PUMP_GONE;
}

static enum pump_result feed(void *arg)
{
    struct listing *l = arg;

    if (listing_collect(l) < 0)
        return cut_off(l, jsn_get_str(l->call->failure, "message"));
    loop_timer_arm(l->stall, STALL_MS);
    send_piece(l, buf_view(&l->items));
    buf_clear(&l->items);
    return l->full ? PUMP_MORE : finish(l);
}

/* From the start again, at a version that is on disk and stays the same. */
static void rewind_to_start(struct listing *l)
{
    buf_done(&l->items);
    l->most = PUMP_PIECE_BYTES;
    l->n = 0;
    l->more = false;
    free(TAKE(l->after_ns));
    free(TAKE(l->after_name));
    if (l->page.at == 0)
        l->page.at = l->page.version = store_committed(l->call->server->store);
}

void listing_stream(struct listing *l)
{
    struct api_call *c = l->call;
    AUTO(buf_done) struct buf head = {0};

    /* What was written this turn and is not on disk yet must not be seen: settle it first. */
    answer_commit(c->server);
    listing_print_head(l, &head, false);
    rewind_to_start(l);
    http_stream_begin(c->exchange, 200, listing_type(l), answer_headers(c));
    send_piece(l, buf_view(&head));
    http_exchange_on_close(c->exchange, client_left, l);
    l->stall = loop_add_timer(c->server->loop, on_stall, l);
    pump_init(&l->pump, c->exchange, feed, l);
    pump_start(&l->pump);
}
