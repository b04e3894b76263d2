/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubectl port-forward: connections of the client to ports of the pod.
 *
 * A port of the pod may be bound to its loopback address alone, so a connection is made from inside
 * its network namespace (pod_socket.c).  What cannot be written waits and holds the reader up, for
 * all connections of the session: they share one stream.  A client that sends no more may go
 * on reading; when the pod ends the connection it is over, since kubectl waits for just that.
 */
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/serve/pod_socket.h"
#include "src/cluster/node/serve/serve.h"
#include "src/http/forward.h"

#define MAX_BEHIND ((size_t)1 << 20)
#define MAX_PORTS 64

struct session {
    struct node *node;
    char *uid;
    struct forward *forward;
    struct tunnel *tunnels;
};

/* One connection. */
struct tunnel {
    struct session *session;
    struct tunnel *next;
    struct forward_conn *conn; /* NULL: the client gave it up */
    int fd;
    uint16_t port;
    bool connected;
    bool in_ended;  /* the client sends no more */
    struct buf out; /* to the pod */
    struct loop_source *source;
};

static void set_events(struct tunnel *t)
{
    uint32_t events = 0;

    if (!t->source)
        return;
    if (t->connected && forward_backlog(t->session->forward) < MAX_BEHIND)
        events |= EPOLLIN;
    if (!t->connected || t->out.n > 0)
        events |= EPOLLOUT;
    loop_fd_set_events(t->source, events);
}

static void tunnel_free(struct tunnel *t)
{
    struct tunnel **at = &t->session->tunnels;

    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    (void)loop_source_free(t->source);
    if (t->fd >= 0)
        (void)close(t->fd);
    buf_done(&t->out);
    free(t);
}

/* The client is held up while any of its connections is behind, not only the last one looked at. */
static void hold_up(struct session *s)
{
    bool behind = false;

    for (const struct tunnel *t = s->tunnels; t; t = t->next)
        behind |= t->out.n > MAX_BEHIND;
    forward_pause(s->forward, behind);
}

/* NULL: all is well. */
static void tunnel_close(struct tunnel *t, const char *problem)
{
    struct forward_conn *c = t->conn;
    struct session *s = t->session;

    tunnel_free(t);
    if (c)
        forward_conn_close(c, problem);
    hold_up(s); /* the others may go on, if it was this one that was behind */
}

static void flush(struct tunnel *t)
{
    if (t->connected && buf_send(&t->out, t->fd) < 0)
        buf_clear(&t->out);
    if (t->connected && t->in_ended && t->out.n == 0)
        (void)shutdown(t->fd, SHUT_WR);
    hold_up(t->session);
    set_events(t);
}

static void on_connected(struct tunnel *t)
{
    AUTO(free) char *why = NULL;
    socklen_t n = sizeof(int);
    int error = 0;

    (void)getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &n);
    if (error) {
        why =
            xasprintf("failed to connect to port %u inside the pod: %s", t->port, strerror(error));
        tunnel_close(t, why);
        return;
    }
    t->connected = true;
    flush(t);
}

static void on_socket(void *arg, int fd, uint32_t events)
{
    struct tunnel *t = arg;
    char data[32768];
    ssize_t n;

    if (!t->connected) {
        on_connected(t);
        return;
    }
    if (events & EPOLLOUT)
        flush(t);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    n = recv(fd, data, sizeof(data), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        forward_conn_write(t->conn, (struct str){data, (size_t)n});
        set_events(t);
        return;
    }
    forward_conn_end(t->conn);
    tunnel_close(t, NULL);
}

static void on_connect(void *arg, struct forward_conn *c, uint16_t port)
{
    struct session *s = arg;
    struct worker *w = map_get(&s->node->workers, str_of(s->uid));
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct tunnel *t;
    int fd = w && sandbox_is_ready(w->sandbox) ? pod_socket(sandbox_pid(w->sandbox)) : -1;

    if (fd < 0) {
        forward_conn_close(c, "the pod does not run");
        return;
    }
    t = xcalloc(1, sizeof(*t));
    *t = (struct tunnel){.session = s, .next = s->tunnels, .conn = c, .fd = fd, .port = port};
    s->tunnels = t;
    forward_conn_set_arg(c, t);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS) {
        AUTO(free)
        char *why =
            xasprintf("failed to connect to port %u inside the pod: %s", port, strerror(errno));

        tunnel_close(t, why);
        return;
    }
    t->source = loop_add_fd(s->node->loop, fd, EPOLLOUT, on_socket, t);
}

static void on_data(void *arg, struct forward_conn *c, struct str data)
{
    struct tunnel *t = forward_conn_arg(c);

    (void)arg;
    if (!t)
        return;
    buf_addstr(&t->out, data);
    flush(t);
}

static void on_end(void *arg, struct forward_conn *c)
{
    struct tunnel *t = forward_conn_arg(c);

    (void)arg;
    if (!t)
        return;
    t->in_ended = true;
    flush(t);
}

static void on_gone(void *arg, struct forward_conn *c)
{
    struct tunnel *t = forward_conn_arg(c);

    if (t)
        tunnel_free(t);
    hold_up(arg);
}

static void on_drain(void *arg)
{
    struct session *s = arg;

    for (struct tunnel *t = s->tunnels; t; t = t->next)
        set_events(t);
}

static void on_close(void *arg)
{
    struct session *s = arg;

    for (struct tunnel *t = s->tunnels, *next; t; t = next) {
        next = t->next;
        tunnel_free(t);
    }
    free(s->uid);
    free(s);
}

/* "ports=80&ports=443", or "port=80,443". */
static size_t ports_of(const struct url_query *q, uint16_t ports[MAX_PORTS])
{
    static const char *const keys[] = {"ports", "port"};
    size_t n = 0;

    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        const char *text;

        for (size_t i = 0; (text = url_query_get_at(q, keys[k], i)); i++) {
            struct str rest = str_of(text), one;
            uint32_t port;

            while (str_split(&rest, ',', &one))
                if (n < MAX_PORTS && str_to_u32(one, &port) == 0 && port > 0 && port < 65536)
                    ports[n++] = (uint16_t)port;
        }
    }
    return n;
}

void serve_port_forward(struct worker *w, struct http_exchange *x, const struct url_query *q)
{
    struct session *s;
    uint16_t ports[MAX_PORTS];
    struct err e = {0};
    int status = 400;
    struct forward_options o = {
        .ports = ports,
        .n_ports = ports_of(q, ports),
        .events = {on_connect, on_data, on_end, on_gone, on_drain, on_close},
    };

    if (!sandbox_is_ready(w->sandbox)) {
        serve_refuse(x, 400, "BadRequest", "pod %s does not run", w->spec->name);
        return;
    }
    s = xcalloc(1, sizeof(*s));
    s->node = w->node;
    s->uid = xstrdup(w->uid);
    o.arg = s;
    if (forward_accept(x, &o, &s->forward, &status, &e) < 0) {
        serve_refuse(x, status, "BadRequest", "%s", e.text);
        free(s->uid);
        free(s);
    }
}
