/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the bodies of those who are known.
 *
 * All bodies that arrive or are worked on at a time have a ceiling together.  A body is reserved
 * whole before its first byte is read (its length, or the most that a chunked one may have), so
 * that no two halves wait for each other.  Where there is no room its connection is not read: the
 * peer waits, and nobody fails, unless it takes as long as a body may take.
 *
 * One identity may reserve half of all, so that whoever sends slowly holds up only itself.  A body
 * that is larger than that is let in if nothing else of that identity is there.
 */
#include "src/http/internal.h"

static bool fits(size_t held, size_t more, size_t most)
{
    return held == 0 || held + more <= most;
}

/* Does the identity's own share have room, and does the whole? */
static bool share_fits(const struct conn *c, size_t bytes)
{
    return fits(c->member.account->bytes, bytes, c->server->limits.max_bodies_bytes / 2);
}

static bool whole_fits(const struct conn *c, size_t bytes)
{
    return fits(c->server->known.bytes, bytes, c->server->limits.max_bodies_bytes);
}

static void take(struct conn *c, size_t bytes)
{
    c->body_bytes = bytes;
    crowd_set_bytes(&c->member, bytes);
}

/* Somebody came before who waits for the whole, and not for its own share. */
static bool others_wait(const struct http_server *s)
{
    LIST_FOR_EACH (c, &s->body_waits, struct conn, body_wait)
        if (share_fits(c, c->body_bytes))
            return true;
    return false;
}

bool bodies_reserve(struct conn *c, size_t bytes)
{
    if (!c->known)
        return true; /* a stranger: counted by room_charge */
    if (share_fits(c, bytes) && whole_fits(c, bytes) && !others_wait(c->server)) {
        take(c, bytes);
        return true;
    }
    c->body_bytes = bytes; /* wanted */
    list_append(&c->server->body_waits, &c->body_wait);
    return false;
}

/* Whoever came first goes first; but who waits for its own share does not hold up the others. */
static void wake(struct http_server *s)
{
    LIST_FOR_EACH (c, &s->body_waits, struct conn, body_wait) {
        if (!share_fits(c, c->body_bytes))
            continue;
        if (!whole_fits(c, c->body_bytes))
            return;
        list_remove(&c->body_wait);
        take(c, c->body_bytes);
        conn_begin_body(c);
        conn_look_again(c);
    }
}

void bodies_settle(struct conn *c, size_t bytes)
{
    if (c->body_bytes <= bytes)
        return;
    take(c, bytes);
    wake(c->server);
}

void bodies_release(struct conn *c)
{
    bool waited = bodies_wait(c);

    if (c->body_bytes == 0)
        return;
    list_remove(&c->body_wait);
    if (waited)
        c->body_bytes = 0;
    else
        take(c, 0);
    wake(c->server);
}
