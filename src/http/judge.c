/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Credentials first.
 *
 * They are in the head of a request, so its sender is known before a byte of its body is kept.  The
 * body of a stranger may have a few KiB, all that came over the connection together; whatever is
 * larger is answered with 401 at once.  Its "Expect: 100-continue" then gets no 100.
 */
#include "src/http/internal.h"

static bool has_body(const struct http_head *h)
{
    return h->chunked || (h->has_length && h->length > 0);
}

bool judge_head(struct conn *c)
{
    const struct http_server_options *o = &c->server->options;
    struct http_verdict v = {0};

    if (!o->head || (c->known && !has_body(&c->exchange->head)))
        return true;
    o->head(o->arg, c->exchange, &v);
    if (v.refuse) {
        conn_refuse(c, v.refuse, v.why);
        return false;
    }
    if (v.known)
        return room_know(c, v.identity);
    room_forget(c);
    return true;
}

size_t judge_max_body(const struct conn *c)
{
    const struct http_limits *l = &c->server->limits;
    size_t most = MIN(l->max_stranger_body_bytes, l->max_body_bytes);

    if (c->known)
        return l->max_body_bytes;
    return most - MIN(most, c->stranger_bytes);
}
