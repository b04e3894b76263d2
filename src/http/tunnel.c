/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tunnel from a client's connection to a server on this machine.
 *
 * The API server decides who may do what and knows where a pod runs; the process that runs pods
 * speaks exec and logs with the client itself.  The head of the request is written again: its own
 * target, no credentials, no framing but a length, and one request per connection.  From then on
 * bytes are passed on as they are.  Each side is read only while the other keeps up.
 */
#include "src/http/tunnel.h"

#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "src/base/alloc.h"
#include "src/http/internal.h"

#define FULL_BYTES (256 << 10)
#define PIECE_BYTES 65536
#define MAX_NAME 64 /* fits after "/proc/self/fd/N/" */

struct tunnel {
    struct loop *loop;
    struct http_raw *client;
    int fd;
    struct loop_source *source;
    struct buf out; /* to the server */
};

static void bury(void *arg)
{
    struct tunnel *t = arg;

    buf_done(&t->out);
    free(t);
}

static void end(struct tunnel *t)
{
    t->source = loop_source_free(t->source);
    (void)close(t->fd);
    if (t->client)
        http_raw_close(TAKE(t->client));
    loop_defer_free(t->loop, bury, t);
}

static void update(struct tunnel *t)
{
    uint32_t events = 0;

    if (http_raw_backlog(t->client) < FULL_BYTES)
        events |= EPOLLIN;
    if (t->out.n > 0)
        events |= EPOLLOUT;
    loop_fd_set_events(t->source, events);
    http_raw_pause(t->client, t->out.n > FULL_BYTES);
}

static int pass_back(struct tunnel *t)
{
    char piece[PIECE_BYTES];
    ssize_t n = recv(t->fd, piece, sizeof(piece), 0);

    if (n > 0) {
        http_raw_write(t->client, (struct str){piece, (size_t)n});
        return 0;
    }
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -ECONNRESET;
}

static void server_ready(void *arg, int fd, uint32_t events)
{
    struct tunnel *t = arg;

    (void)fd;
    if (events & EPOLLOUT)
        (void)!buf_send(&t->out, t->fd); /* a server that left may still have said something */
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && pass_back(t) < 0)
        end(t);
    else
        update(t);
}

static void client_data(void *arg, struct str data)
{
    struct tunnel *t = arg;

    buf_addstr(&t->out, data);
    if (buf_send(&t->out, t->fd) < 0)
        buf_clear(&t->out);
    update(t);
}

static void client_gone(void *arg)
{
    struct tunnel *t = arg;

    t->client = NULL;
    end(t);
}

static void client_drained(void *arg)
{
    update(arg);
}

static bool is_dropped(const char *name)
{
    static const char *const dropped[] = {"Authorization",     "Connection", "Content-Length",
                                          "Transfer-Encoding", "Expect",     "Keep-Alive"};

    for (size_t i = 0; i < ARRAY_LEN(dropped); i++) {
        if (strcasecmp(name, dropped[i]) == 0)
            return true;
    }
    return false;
}

static void write_head(struct buf *b, const struct http_exchange *x,
                       const struct http_tunnel_options *o)
{
    const struct http_head *h = &x->head;

    buf_printf(b, "%s %s HTTP/1.1\r\n", h->method, o->target);
    for (size_t i = 0; i < h->n_headers; i++) {
        if (!is_dropped(h->headers[i].name))
            buf_printf(b, "%s: %s\r\n", h->headers[i].name, h->headers[i].value);
    }
    if (o->headers)
        buf_adds(b, o->headers);
    if (x->request.body.n > 0)
        buf_printf(b, "Content-Length: %zu\r\n", x->request.body.n);
    buf_printf(b, "Connection: %s\r\n\r\n",
               http_head_lists(h, "connection", "upgrade") ? "Upgrade" : "close");
    buf_addstr(b, x->request.body);
}

/* Paths of sockets are short and state directories may not be: go by a descriptor of theirs. */
static int reach(const char *path, int *ret_fd, struct err *e)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    AUTO(free)
    char *in = slash ? str_dup((struct str){path, (size_t)(slash - path)}) : xstrdup(".");
    AUTO(close) int dir = open(*in ? in : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO(close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un addr = {.sun_family = AF_UNIX};

    if (strlen(name) > MAX_NAME)
        return err_bad(e, "the name of the socket '%s' is too long", path);
    if (dir >= 0)
        (void)snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%s", dir, name);
    if (dir < 0 || fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return err_set(e, -errno, ERR_RETRY, "cannot reach '%s': %s", path, strerror(errno));
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int http_tunnel(struct http_exchange *x, const struct http_tunnel_options *o, struct err *e)
{
    struct tunnel *t;
    int fd = -1;
    int r;

    r = reach(o->unix_path, &fd, e);
    if (r < 0)
        return r;
    t = xcalloc(1, sizeof(*t));
    t->loop = http_exchange_loop(x);
    t->fd = fd;
    write_head(&t->out, x, o);
    t->client = http_hijack(x, client_data, client_gone, t);
    http_raw_on_drain(t->client, client_drained, t);
    t->source = loop_add_fd(t->loop, fd, EPOLLIN | EPOLLOUT, server_ready, t);
    return 0;
}
