/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeding a stream.
 *
 * One piece a turn, so that a long list holds up nobody; the next one when the client has taken
 * what waits for it, so that a slow client costs one piece of memory.  A piece that wrote little or
 * nothing (a selector that matches nothing) is followed by the next in the next turn.
 */
#include "src/cluster/apiserver/pump.h"

static void run(void *arg)
{
    struct pump *p = arg;

    if (!p->running || http_stream_backlog(p->exchange) >= PUMP_PIECE_BYTES)
        return;
    switch (p->fn(p->arg)) {
    case PUMP_MORE:
        if (http_stream_backlog(p->exchange) < PUMP_PIECE_BYTES)
            loop_timer_arm(p->timer, 0);
        break;
    case PUMP_WAIT:
        p->running = false;
        break;
    case PUMP_GONE:
        break;
    }
}

void pump_init(struct pump *p, struct http_exchange *x, pump_fn fn, void *arg)
{
    *p = (struct pump){.exchange = x, .fn = fn, .arg = arg};
    p->timer = loop_add_timer(http_exchange_loop(x), run, p);
    http_stream_on_drain(x, run, p);
}

void pump_done(struct pump *p)
{
    p->timer = loop_source_free(p->timer);
}

void pump_start(struct pump *p)
{
    p->running = true;
    run(p);
}
