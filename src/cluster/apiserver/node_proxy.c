/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way from kubectl to the node process: logs, exec, attach, port-forward.
 *
 * The request has been checked; its head is written anew, with the path that the node knows and the
 * headers that matter to it, and from then on bytes are carried both ways as they come.  So
 * sessions (SPDY or WebSocket) and streams (logs -f) are the node's business alone, and the
 * connection ends with them.  Who sends faster than the other side reads is held up.
 */
#include "src/cluster/apiserver/node_proxy.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/base/encode.h"
#include "src/base/list.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/status.h"

#define MAX_WAITING ((size_t)1 << 20)

struct node_proxy {
    struct loop *loop;
    char *dir;
    char *name; /* of the socket in it */
    struct list relays;
};

struct relay {
    struct node_proxy *proxy;
    struct list link;
    int fd; /* to the node */
    struct loop_source *source;
    struct buf out; /* for the node */
    struct http_raw *client;
};

struct node_proxy *node_proxy_new(struct loop *l, const char *socket)
{
    struct node_proxy *p = xcalloc(1, sizeof(*p));
    const char *slash = strrchr(socket, '/');

    p->loop = l;
    p->dir = slash ? str_dup((struct str){socket, (size_t)(slash - socket)}) : xstrdup(".");
    p->name = xstrdup(slash ? slash + 1 : socket);
    list_init(&p->relays);
    return p;
}

static void relay_free(struct relay *r)
{
    (void)loop_source_free(r->source);
    if (r->fd >= 0)
        (void)close(r->fd);
    list_remove(&r->link);
    buf_done(&r->out);
    free(r);
}

struct node_proxy *node_proxy_free(struct node_proxy *p)
{
    if (!p)
        return NULL;
    LIST_FOR_EACH (r, &p->relays, struct relay, link)
        relay_free(r);
    free(p->dir);
    free(p->name);
    free(p);
    return NULL;
}

/* Paths of sockets are short and state directories may not be: go by a descriptor of theirs. */
static int connect_node(const struct node_proxy *p)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    AUTO(close) int dir = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (dir < 0 || fd < 0)
        return -errno;
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "/proc/self/fd/%d/%.64s", dir, p->name);
    if (connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0)
        return -errno;
    return TAKE_FD(fd);
}

static void set_events(struct relay *r)
{
    uint32_t events = http_raw_backlog(r->client) < MAX_WAITING ? EPOLLIN : 0;

    loop_fd_set_events(r->source, r->out.n > 0 ? events | EPOLLOUT : events);
    http_raw_pause(r->client, r->out.n > MAX_WAITING);
}

static void flush(struct relay *r)
{
    while (r->out.n > 0) {
        ssize_t n = send(r->fd, r->out.p, r->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n <= 0)
            break;
        buf_eat(&r->out, (size_t)n);
    }
    set_events(r);
}

static void on_client_data(void *arg, struct str data)
{
    struct relay *r = arg;

    buf_addstr(&r->out, data);
    flush(r);
}

static void on_client_gone(void *arg)
{
    relay_free(arg);
}

static void on_client_drain(void *arg)
{
    set_events(arg);
}

static void on_node(void *arg, int fd, uint32_t events)
{
    struct relay *r = arg;
    char data[32768];
    ssize_t n;

    if (events & EPOLLOUT)
        flush(r);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    n = recv(fd, data, sizeof(data), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        http_raw_close(r->client);
        relay_free(r);
        return;
    }
    http_raw_write(r->client, (struct str){data, (size_t)n});
    set_events(r);
}

static void add_header(struct buf *b, const struct http_exchange *x, const char *name)
{
    const char *value;

    for (size_t i = 0; (value = http_request_header_at(x, name, i)); i++)
        buf_printf(b, "%s: %s\r\n", name, value);
}

static void add_segment(struct buf *b, const char *text)
{
    buf_addc(b, '/');
    encode_url(b, str_of(text));
}

/* The request as the node gets it. */
static void write_head(struct buf *b, const struct api_call *c, const char *what)
{
    static const char *const passed[] = {"Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version",
                                         "Sec-WebSocket-Protocol", "X-Stream-Protocol-Version"};
    const struct http_request *q = http_exchange_request(c->exchange);
    const char *container = call_param(c, "container");

    buf_printf(b, "%s /%s", q->method, what);
    add_segment(b, c->ns);
    add_segment(b, c->name);
    if (container && container[0])
        add_segment(b, container);
    buf_printf(b, "%s%s HTTP/1.1\r\nHost: node\r\n", q->query[0] ? "?" : "", q->query);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++)
        add_header(b, c->exchange, passed[i]);
    buf_printf(b, "Connection: %s\r\n",
               http_request_header(c->exchange, "Upgrade") ? "Upgrade" : "close");
    if (streq(q->method, "POST"))
        buf_adds(b, "Content-Length: 0\r\n");
    buf_adds(b, "\r\n");
}

static void pass_on(struct node_proxy *p, struct api_call *c, const char *what)
{
    int fd = connect_node(p);
    struct relay *r;

    if (fd < 0) {
        (void)status_fail(c, 503, "ServiceUnavailable",
                          "pod %s: the node process does not answer (%s): is 'slurmkeeper node' "
                          "running?",
                          c->name, strerror(-fd));
        answer_failure(c);
        return;
    }
    r = xcalloc(1, sizeof(*r));
    r->proxy = p;
    r->fd = fd;
    write_head(&r->out, c, what);
    list_append(&p->relays, &r->link);
    r->source = loop_add_fd(p->loop, fd, 0, on_node, r);
    r->client = http_hijack(c->exchange, on_client_data, on_client_gone, r);
    http_raw_on_drain(r->client, on_client_drain, r);
    c->exchange = NULL;
    call_free(c);
    flush(r);
}

static void on_logs(void *arg, struct api_call *c, const struct jsn *pod)
{
    (void)pod;
    pass_on(arg, c, "logs");
}

static void on_exec(void *arg, struct api_call *c, const struct jsn *pod)
{
    (void)pod;
    pass_on(arg, c, streq(c->sub->name, "attach") ? "attach" : "exec");
}

static void on_port_forward(void *arg, struct api_call *c, const struct jsn *pod)
{
    (void)pod;
    pass_on(arg, c, "portforward");
}

struct apiserver_hooks node_proxy_hooks(struct node_proxy *p)
{
    return (struct apiserver_hooks){on_logs, on_exec, on_port_forward, p};
}
