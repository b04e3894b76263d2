/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room for connections: who takes how much, and who gives way.
 *
 * Every connection is in one of two crowds.  Strangers have shown no credentials and are counted by
 * peer (peer.h).  All others are counted by identity.  What limits them:
 *
 *   one peer's strangers      half of max_strangers    its own oldest connection goes
 *   all strangers             max_strangers            the oldest of the greediest peer goes
 *   what strangers make us    max_stranger_bytes       the oldest of the peer that holds most goes
 *     keep (heads, bodies, TLS)
 *   all connections           max_connections,         strangers first, as above; then the oldest
 *                             descriptors less some    idle one of the greediest identity
 *   one identity              3/4 of max_connections   its own oldest idle one goes, else 429
 *
 * A stranger's connection may go at any time but while a handler has its request.  Others go only
 * while nothing is asked or answered on them.  If nobody can give way, the new one is turned away.
 * Some descriptors are left for what else the process opens (files, children, tunnels).
 *
 * A flood would fill the log as well: there is one line in ten seconds, with the number of those
 * that it stands for.
 */
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/descriptors.h"
#include "src/base/log.h"
#include "src/http/internal.h"

#define SPARE_DESCRIPTORS 64
#define LOG_EVERY_MS 10000
/* What a connection costs before anything is asked: our structures, and OpenSSL's. */
#define PLAIN_BYTES 2048
#define TLS_BYTES 24576
#define HANDSHAKE_BYTES 73728 /* until it is done; measured, as the one above */
/* So many strangers have gone that their memory goes back to the system. */
#define TRIM_STRANGERS 32

static struct conn *conn_of(struct crowd_member *m)
{
    return CONTAINER_OF(m, struct conn, member);
}

static void tell(struct http_server *s, const char *account, size_t n, const char *why)
{
    int64_t now = clock_mono_ms();

    s->turned_away++;
    if (s->turned_away_ms && now - s->turned_away_ms < LOG_EVERY_MS)
        return;
    log_warn("%u connection%s turned away: %s has %zu and %s", s->turned_away,
             s->turned_away == 1 ? " was" : "s were", account, n, why);
    s->turned_away_ms = now;
    s->turned_away = 0;
}

static bool send_away(struct http_server *s, struct crowd_member *m, const char *why)
{
    if (!m)
        return false;
    tell(s, m->account->name, m->account->n, why);
    conn_end(conn_of(m));
    return true;
}

void room_leave(struct conn *c)
{
    struct http_server *s = c->server;

    if (room_is_stranger(c))
        s->strangers_gone++;
    crowd_leave(&c->member);
    if (s->strangers.n == 0 && s->strangers_gone >= TRIM_STRANGERS) {
        s->strangers_gone = 0;
        (void)malloc_trim(0);
    }
}

static bool is_stranger(const struct http_server *s, const struct peer *p)
{
    return s->options.head && (!p->trusted || s->options.distrust);
}

static bool room_among_strangers(struct http_server *s, const char *account)
{
    size_t share = MAX(s->limits.max_strangers / 2, 1U);

    while (crowd_count(&s->strangers, account) >= share)
        if (!send_away(s, crowd_pick_of(&s->strangers, account),
                       "has shown no credentials on any; that is the share of one peer"))
            return false;
    while (s->strangers.n >= s->limits.max_strangers)
        if (!send_away(s, crowd_pick(&s->strangers, CROWD_BY_COUNT),
                       "has shown no credentials on any; others wait"))
            return false;
    return true;
}

bool room_free_one(struct http_server *s)
{
    return send_away(s, crowd_pick(&s->strangers, CROWD_BY_COUNT),
                     "has shown no credentials on any; there is no room for more") ||
           send_away(s, crowd_pick(&s->known, CROWD_BY_COUNT),
                     "uses some of them for nothing; there is no room for more");
}

static bool is_scarce(size_t fd)
{
    size_t limit = descriptors_limit();

    return fd >= limit - MIN(limit / 4, (size_t)SPARE_DESCRIPTORS);
}

/*
 * Numbers of descriptors are given out from below: a high one says that few are left.  Connections
 * are kept off the highest ones, which are for everything else that this process opens.
 */
static bool keep_spare(struct http_server *s, int *fd)
{
    while (is_scarce((size_t)*fd)) {
        int low;

        if (!room_free_one(s))
            return false;
        low = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
        if (low < 0)
            return false;
        (void)close(*fd);
        *fd = low;
    }
    return true;
}

bool room_for(struct http_server *s, int *fd, const struct peer *p)
{
    bool fits = !is_stranger(s, p) || room_among_strangers(s, p->account);

    fits = fits && keep_spare(s, fd);
    while (fits && s->n_conns >= s->limits.max_connections)
        fits = room_free_one(s);
    if (!fits)
        tell(s, p->account,
             crowd_count(&s->strangers, p->account) + crowd_count(&s->known, p->account),
             "all connections are in use");
    return fits;
}

void room_enter(struct conn *c)
{
    struct http_server *s = c->server;

    c->known = !s->options.head;
    crowd_join(is_stranger(s, &c->peer) ? &s->strangers : &s->known, &c->member, c->peer.account);
}

void room_update(struct conn *c)
{
    bool stranger = room_is_stranger(c);

    if (c->state == CONN_ANSWER || c->state == CONN_RAW || c->state == CONN_DEAD)
        crowd_set_idle(&c->member, false);
    else
        crowd_set_idle(&c->member,
                       stranger || (c->state == CONN_IDLE && conn_backlog(c) == 0 && c->in.n == 0));
}

bool room_know(struct conn *c, const char *identity)
{
    struct http_server *s = c->server;
    size_t share = MAX(s->limits.max_connections / 4 * 3, 1U);

    c->known = true;
    if (c->member.account->crowd == &s->known && streq(c->member.account->name, identity))
        return true;
    if (crowd_count(&s->known, identity) >= share &&
        !send_away(s, crowd_pick_of(&s->known, identity),
                   "may have no more; that is the share of one identity")) {
        tell(s, identity, crowd_count(&s->known, identity), "may have no more");
        conn_refuse(c, 429, "there are too many connections of this user");
        return false;
    }
    crowd_join(&s->known, &c->member, identity);
    room_update(c);
    return true;
}

void room_forget(struct conn *c)
{
    struct http_server *s = c->server;

    if (!c->known)
        return;
    c->known = false;
    crowd_join(is_stranger(s, &c->peer) ? &s->strangers : &s->known, &c->member, c->peer.account);
    room_update(c);
}

static size_t held_bytes(const struct conn *c)
{
    size_t n = !c->transport.ssl         ? PLAIN_BYTES
               : c->transport.handshaken ? TLS_BYTES
                                         : HANDSHAKE_BYTES;

    return n + c->in.cap + (c->exchange ? c->exchange->body.cap : 0);
}

void room_charge(struct conn *c)
{
    struct http_server *s = c->server;

    if (!room_is_stranger(c))
        return;
    crowd_set_bytes(&c->member, held_bytes(c));
    while (s->strangers.bytes > s->limits.max_stranger_bytes)
        if (!send_away(s, crowd_pick(&s->strangers, CROWD_BY_BYTES),
                       "keeps the most memory without having shown credentials"))
            return;
}
