/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: exec, attach and port-forward sessions of clients, from the request to the end.
 *
 * Paths that begin with /exec open channels, with the streams that the query names; others open a
 * port-forward.  The command echoes its input.  Steps: O writes output, E writes errors, X ends
 * the oldest session (n is the exit code), F fails it, P pauses or goes on; for port-forward W
 * writes to the oldest connection, N ends it, K closes it, X closes the session.
 *
 * Frames of clients are made by the steps of frames.h.
 *
 * What must hold: nothing is told before a session is ready nor after it has ended; a connection is
 * told of once and ends once; when the peers have left no session is left.
 */
#include "src/base/alloc.h"
#include "src/base/list.h"
#include "src/http/channels.h"
#include "src/http/forward.h"
#include "src/http/url.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct http_server *server;
    struct list sessions;
    struct frames frames;
};

struct session {
    struct list link;
    struct channels *channels; /* of exec; else NULL */
    struct forward *forward;
    struct list wires;
    bool ready;
    bool in_ended;
};

/* One connection of a port-forward. */
struct wire {
    struct list link;
    struct forward_conn *conn;
    bool ended; /* the client's half */
    bool ours;  /* our half */
};

static char large[100000];

static void wire_free(struct wire *w)
{
    list_remove(&w->link);
    free(w);
}

static void session_free(struct session *s)
{
    LIST_FOR_EACH (w, &s->wires, struct wire, link)
        wire_free(w);
    list_remove(&s->link);
    free(s);
}

static void on_ready(void *arg)
{
    struct session *s = arg;

    assert(s->channels && !s->ready);
    s->ready = true;
    channels_write(s->channels, CHANNEL_STDOUT, STR("hello\n"));
}

static void on_stdin(void *arg, struct str data)
{
    struct session *s = arg;

    assert(s->ready && !s->in_ended && data.n > 0);
    if (data.n > 4 && memcmp(data.p, "exit", 4) == 0) {
        channels_exit(s->channels, (unsigned char)data.p[4]);
        session_free(s);
        return;
    }
    channels_write(s->channels, CHANNEL_STDOUT, data);
    channels_pause(s->channels, channels_backlog(s->channels) > 30000);
}

static void on_stdin_end(void *arg)
{
    struct session *s = arg;

    assert(s->ready && !s->in_ended);
    s->in_ended = true;
    channels_write(s->channels, CHANNEL_STDERR, STR("bye\n"));
}

static void on_resize(void *arg, unsigned int width, unsigned int height)
{
    struct session *s = arg;

    assert(s->ready && width > 0 && height > 0 && width < 65536 && height < 65536);
}

static void on_drain(void *arg)
{
    struct session *s = arg;

    assert(s->ready);
    channels_pause(s->channels, false);
}

static void on_close(void *arg)
{
    session_free(arg);
}

static void on_connect(void *arg, struct forward_conn *c, uint16_t port)
{
    struct session *s = arg;
    struct wire *w;

    assert(port > 0 && !forward_conn_arg(c));
    if (port == 1) {
        forward_conn_close(c, "refused");
        return;
    }
    w = xcalloc(1, sizeof(*w));
    w->conn = c;
    list_append(&s->wires, &w->link);
    forward_conn_set_arg(c, w);
    forward_conn_write(c, STR("hello\n"));
}

static void on_data(void *arg, struct forward_conn *c, struct str data)
{
    struct session *s = arg;
    struct wire *w = forward_conn_arg(c);

    assert(w && w->conn == c && !w->ended && data.n > 0);
    if (data.n > 4 && memcmp(data.p, "exit", 4) == 0) {
        wire_free(w);
        forward_conn_close(c, data.n > 5 ? "failed" : NULL);
        return;
    }
    if (!w->ours)
        forward_conn_write(c, data);
    forward_pause(s->forward, forward_backlog(s->forward) > 30000);
}

static void on_end(void *arg, struct forward_conn *c)
{
    struct wire *w = forward_conn_arg(c);

    (void)arg;
    assert(w && w->conn == c && !w->ended);
    w->ended = true;
}

static void on_gone(void *arg, struct forward_conn *c)
{
    struct wire *w = forward_conn_arg(c);

    (void)arg;
    assert(w && w->conn == c);
    wire_free(w);
}

static void on_forward_drain(void *arg)
{
    struct session *s = arg;

    forward_pause(s->forward, false);
}

static void on_forward_close(void *arg)
{
    struct session *s = arg;

    assert(list_empty(&s->wires));
    session_free(s);
}

static int open_channels(struct session *s, struct http_exchange *x, const struct url_query *q,
                         int *ret_status, struct err *e)
{
    struct channels_options o = {
        .in = url_query_bool(q, "stdin"),
        .out = url_query_bool(q, "stdout"),
        .err = url_query_bool(q, "stderr") && !url_query_bool(q, "tty"),
        .tty = url_query_bool(q, "tty"),
        .events = {on_ready, on_stdin, on_stdin_end, on_resize, on_drain, on_close},
        .arg = s};

    return channels_accept(x, &o, &s->channels, ret_status, e);
}

static int open_forward(struct session *s, struct http_exchange *x, int *ret_status, struct err *e)
{
    static const uint16_t ports[] = {80, 1, 443};
    struct forward_options o = {
        .ports = ports,
        .n_ports = ARRAY_LEN(ports),
        .events = {on_connect, on_data, on_end, on_gone, on_forward_drain, on_forward_close},
        .arg = s};

    return forward_accept(x, &o, &s->forward, ret_status, e);
}

static void handle(void *arg, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    AUTO(url_query_done) struct url_query q = {0};
    struct session *s = xcalloc(1, sizeof(*s));
    struct world *w = arg;
    struct err e = {0};
    int status = 400;
    int result = url_query_parse(r->query, &q, &e);

    list_init(&s->wires);
    list_append(&w->sessions, &s->link);
    if (result == 0 && starts_with(r->path, "/exec"))
        result = open_channels(s, x, &q, &status, &e);
    else if (result == 0)
        result = open_forward(s, x, &status, &e);
    if (result < 0) {
        assert(status >= 400 && e.text[0]);
        http_reply(x, status, "text/plain", NULL, str_of(e.text));
        session_free(s);
    }
}

static void act_channels(struct session *s, char step, unsigned char n)
{
    if (step == 'O' || step == 'E') {
        channels_write(s->channels, step == 'O' ? CHANNEL_STDOUT : CHANNEL_STDERR,
                       (struct str){large, (size_t)n * 390});
    } else if (step == 'P') {
        channels_pause(s->channels, n % 2);
    } else if (step == 'X' || step == 'F') {
        if (step == 'X')
            channels_exit(s->channels, n);
        else
            channels_fail(s->channels, "it \"failed\"\n");
        session_free(s);
    }
}

static void act_forward(struct session *s, char step, unsigned char n)
{
    struct wire *w = list_empty(&s->wires) ? NULL : LIST_ENTRY(s->wires.next, struct wire, link);

    if (step == 'W' && w && !w->ours) {
        forward_conn_write(w->conn, (struct str){large, (size_t)n * 390});
    } else if (step == 'N' && w && !w->ours) {
        w->ours = true;
        forward_conn_end(w->conn);
    } else if (step == 'K' && w) {
        struct forward_conn *c = w->conn;

        wire_free(w);
        forward_conn_close(c, n % 2 ? "closed" : NULL);
    }
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    struct world *w = arg;

    if (frames_step(&w->frames, p, step, n))
        return;
    peers_send(p);
    if (!list_empty(&w->sessions)) {
        struct session *s = LIST_ENTRY(w->sessions.next, struct session, link);

        if (s->channels)
            act_channels(s, step, n);
        else
            act_forward(s, step, n);
    }
    peers_turn(p, 8);
}

static void adopt(void *arg, int fd)
{
    struct world *w = arg;

    http_server_adopt(w->server, fd);
}

static void forget_frames(void *arg, size_t i)
{
    struct world *w = arg;

    frames_closed(&w->frames, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(loop_free) struct loop *loop = NULL;
    struct world w = {0};
    struct http_server_options o = {.handler = handle, .arg = &w};
    struct peers_target t = {
        .connect = adopt, .closed = forget_frames, .step = take_step, .arg = &w};

    list_init(&w.sessions);
    script_clock_reset();
    if (loop_new(&loop, NULL) < 0 || http_server_new(loop, &o, &w.server, NULL) < 0)
        abort();
    peers_run(loop, &t, data, size);
    w.server = http_server_free(w.server);
    if (!list_empty(&w.sessions))
        abort();
    return 0;
}
