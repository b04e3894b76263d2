/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubectl attach: the streams of the container's own process.
 *
 * The container's shim holds them; we pass frames between its socket and the client.  The session
 * ends when the container does, with its exit code, or when the client goes; the container does not
 * notice the latter.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "src/base/alloc.h"
#include "src/cluster/node/pods/ending.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/serve/serve.h"
#include "src/http/channels.h"

#define MAX_BEHIND ((size_t)1 << 20)
#define MAX_FRAME ((size_t)1 << 20)

struct attach {
    struct loop *loop;
    char *dir;
    struct channels *channels;
    int fd;
    struct loop_source *source;
    struct buf in;
    struct buf out;
    bool behind;
};

static void attach_free(struct attach *s)
{
    (void)loop_source_free(s->source);
    if (s->fd >= 0)
        (void)close(s->fd);
    buf_done(&s->in);
    buf_done(&s->out);
    free(s->dir);
    free(s);
}

static void set_events(struct attach *s)
{
    uint32_t events = s->behind ? 0 : EPOLLIN;

    if (s->out.n > 0)
        events |= EPOLLOUT;
    loop_fd_set_events(s->source, events);
}

static void flush(struct attach *s)
{
    (void)!buf_send(&s->out, s->fd); /* the end of its shim is read, not written */
    channels_pause(s->channels, s->out.n > MAX_BEHIND);
    set_events(s);
}

static void send_frame(struct attach *s, char kind, struct str data)
{
    unsigned char head[5] = {(unsigned char)kind, (unsigned char)(data.n >> 24),
                             (unsigned char)(data.n >> 16), (unsigned char)(data.n >> 8),
                             (unsigned char)data.n};

    buf_add(&s->out, head, sizeof(head));
    buf_addstr(&s->out, data);
    flush(s);
}

static void on_ready(void *arg)
{
    (void)arg;
}
static void on_stdin(void *arg, struct str data)
{
    while (data.n > 0) {
        size_t n = MIN(data.n, MAX_FRAME / 2);

        send_frame(arg, 'i', (struct str){data.p, n});
        data = (struct str){data.p + n, data.n - n};
    }
}
static void on_stdin_end(void *arg)
{
    send_frame(arg, 'x', (struct str){"", 0});
}

static void on_resize(void *arg, unsigned int width, unsigned int height)
{
    char size[4] = {(char)(width >> 8), (char)width, (char)(height >> 8), (char)height};

    send_frame(arg, 'r', (struct str){size, sizeof(size)});
}

static void on_drain(void *arg)
{
    struct attach *s = arg;

    s->behind = false;
    set_events(s);
}

static void on_close(void *arg)
{
    attach_free(arg);
}

/* False if what comes is no frame of a shim's. */
static bool pass_frames(struct attach *s)
{
    while (s->in.n >= 5) {
        const unsigned char *u = (const unsigned char *)s->in.p;
        size_t n = (size_t)u[1] << 24 | (size_t)u[2] << 16 | (size_t)u[3] << 8 | u[4];

        if (n > MAX_FRAME)
            return false;
        if (s->in.n < 5 + n)
            return true;
        channels_write(s->channels, u[0] == 'e' ? CHANNEL_STDERR : CHANNEL_STDOUT,
                       (struct str){s->in.p + 5, n});
        buf_eat(&s->in, 5 + n);
    }
    return true;
}

/* The shim has gone: the container has ended. */
static void on_end(struct attach *s)
{
    struct ctr_spec none = {0};
    struct ctr_end end = {0};

    ending_read(&end, s->dir, "", &none, "");
    channels_exit(s->channels, end.exit_code);
    ending_done(&end);
    attach_free(s);
}

static void on_socket(void *arg, int fd, uint32_t events)
{
    struct attach *s = arg;
    char data[32768];
    ssize_t n;

    if (events & EPOLLOUT)
        flush(s);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    n = recv(fd, data, sizeof(data), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_add(&s->in, data, (size_t)n);
    if (n <= 0 || !pass_frames(s)) {
        on_end(s);
        return;
    }
    if (channels_backlog(s->channels) > MAX_BEHIND) {
        s->behind = true;
        set_events(s);
    }
}

void serve_attach(struct container *c, struct http_exchange *x, const struct url_query *q)
{
    const struct ctr_spec *spec = container_spec(c);
    struct attach *s;
    struct err e = {0};
    int status = 500;
    struct channels_options o = {
        .in = url_query_bool(q, "stdin") && spec->stdin_open,
        .out = url_query_bool(q, "stdout"),
        .err = url_query_bool(q, "stderr") && !spec->tty,
        .tty = url_query_bool(q, "tty") && spec->tty,
        .events = {on_ready, on_stdin, on_stdin_end, on_resize, on_drain, on_close},
    };
    int fd = c->phase == CTR_UP ? container_connect(c->dir, "attach\n") : -1;

    if (fd < 0) {
        serve_refuse(x, 400, "BadRequest", "container %s of pod %s does not run", spec->name,
                     c->worker->spec->name);
        return;
    }
    if (url_query_bool(q, "stdin"))
        o.in = true;
    s = xcalloc(1, sizeof(*s));
    *s = (struct attach){.loop = c->worker->node->loop, .dir = xstrdup(c->dir), .fd = fd};
    o.arg = s;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    s->source = loop_add_fd(s->loop, fd, 0, on_socket, s);
    if (channels_accept(x, &o, &s->channels, &status, &e) < 0) {
        serve_refuse(x, status, "BadRequest", "%s", e.text);
        attach_free(s);
        return;
    }
    set_events(s);
}
