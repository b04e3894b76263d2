/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scripted peer: its end of the socket pair does not block; sending and reading interleave with
 * turns of the loop, so that both ends live in one thread and a test is a script.
 */
#include "src/http/test/peer.h"

#include <poll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"

int rig_plug(struct rig *r)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    http_server_adopt(r->server, fds[0]);
    return fds[1];
}

static void plug(struct rig *r)
{
    r->peer = rig_plug(r);
    r->ended = false;
}

void rig_init(struct rig *r, http_handler_fn handler, void *arg, const struct http_limits *limits)
{
    struct http_server_options o = {.handler = handler, .arg = arg};

    if (limits)
        o.limits = *limits;
    rig_init_with(r, &o);
}

void rig_init_with(struct rig *r, const struct http_server_options *o)
{
    struct err e = {0};

    *r = (struct rig){.peer = -1};
    assert_int_equal(loop_new(&r->loop, &e), 0);
    assert_int_equal(http_server_new(r->loop, o, &r->server, &e), 0);
    plug(r);
}

void rig_hang_up(struct rig *r)
{
    if (r->peer >= 0)
        (void)close(TAKE_FD(r->peer));
}

void rig_reconnect(struct rig *r)
{
    rig_hang_up(r);
    buf_clear(&r->got);
    plug(r);
}

void rig_done(struct rig *r)
{
    rig_hang_up(r);
    r->server = http_server_free(r->server);
    r->loop = loop_free(r->loop);
    buf_done(&r->got);
}

static bool take(struct rig *r)
{
    bool any = false;

    while (r->peer >= 0 && !r->ended) {
        char piece[65536];
        ssize_t n = recv(r->peer, piece, sizeof(piece), 0);

        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            r->ended = true;
            break;
        }
        buf_add(&r->got, piece, (size_t)n);
        any = true;
    }
    return any;
}

void rig_settle(struct rig *r, int wait_ms)
{
    bool busy = true;

    while (busy) {
        busy = loop_turn(r->loop, wait_ms) == 1;
        busy |= take(r);
    }
}

void rig_send(struct rig *r, const char *text)
{
    rig_send_bytes(r, str_of(text));
}

void rig_send_bytes(struct rig *r, struct str bytes)
{
    while (bytes.n > 0) {
        ssize_t sent = send(r->peer, bytes.p, bytes.n, MSG_NOSIGNAL);

        if (sent > 0) {
            bytes.p += sent;
            bytes.n -= (size_t)sent;
        } else if (errno != EAGAIN) {
            return; /* the server has closed: the test sees it */
        }
        (void)loop_turn(r->loop, 0);
        (void)take(r);
    }
}

const char *rig_ask(struct rig *r, const char *text)
{
    buf_clear(&r->got);
    rig_send(r, text);
    rig_settle(r, 0);
    return buf_str(&r->got);
}

const char *answer_body(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");

    return end ? end + 4 : "";
}
