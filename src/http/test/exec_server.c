/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server with just enough of the Kubernetes API for kubectl's exec, cp and port-forward.
 *
 * There is one pod, "p"; its commands run here, on this machine, as whoever runs this program; its
 * ports are those of loopback.  For kubectl.sh, which holds real kubectls against it.  With an
 * argument, listens with TLS.  Prints its port, then serves until it is ended.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pty.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/http/channels.h"
#include "src/http/forward.h"
#include "src/http/test/pki.h"
#include "src/http/url.h"

#define FULL_BYTES (256 << 10)

static struct loop *loop;

/* One command. */
struct job {
    struct channels *ch; /* NULL once the client is gone, or told the end */
    char **argv;
    bool tty, in;
    pid_t pid;
    int status;
    bool ended;
    int in_fd, fds[3]; /* fds[1], fds[2]: output */
    bool in_end;
    struct buf in_buf;
    struct loop_source *in_source, *sources[3], *child;
};

static void job_free(void *arg)
{
    struct job *j = arg;

    for (char **a = j->argv; *a; a++)
        free(*a);
    free(j->argv);
    buf_done(&j->in_buf);
    free(j);
}

static void close_out(struct job *j, int i)
{
    j->sources[i] = loop_source_free(j->sources[i]);
    if (j->fds[i] >= 0)
        (void)close(TAKE_FD(j->fds[i]));
}

static void close_in(struct job *j)
{
    j->in_source = loop_source_free(j->in_source);
    if (j->in_fd >= 0)
        (void)close(TAKE_FD(j->in_fd));
}

static void maybe_done(struct job *j)
{
    if (!j->ended || j->fds[1] >= 0 || j->fds[2] >= 0)
        return;
    close_in(j);
    j->child = loop_source_free(j->child);
    if (j->ch)
        channels_exit(TAKE(j->ch),
                      WIFEXITED(j->status) ? WEXITSTATUS(j->status) : 128 + WTERMSIG(j->status));
    loop_defer_free(loop, job_free, j);
}

static void out_ready(struct job *j, int i)
{
    static char piece[65536];
    ssize_t n = read(j->fds[i], piece, sizeof(piece));

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        close_out(j, i);
        maybe_done(j);
        return;
    }
    if (!j->ch)
        return;
    channels_write(j->ch, (enum channel)i, (struct str){piece, (size_t)n});
    if (channels_backlog(j->ch) > FULL_BYTES) {
        for (int k = 1; k <= 2; k++)
            if (j->sources[k])
                loop_fd_set_events(j->sources[k], 0);
    }
}

static void stdout_ready(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    out_ready(arg, 1);
}

static void stderr_ready(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    out_ready(arg, 2);
}

static void on_drain(void *arg)
{
    struct job *j = arg;

    for (int k = 1; k <= 2; k++)
        if (j->sources[k])
            loop_fd_set_events(j->sources[k], EPOLLIN);
}

static void feed_in(struct job *j)
{
    while (j->in_buf.n > 0 && j->in_fd >= 0) {
        ssize_t n = write(j->in_fd, j->in_buf.p, j->in_buf.n);

        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            close_in(j);
            buf_clear(&j->in_buf);
            break;
        }
        buf_eat(&j->in_buf, (size_t)n);
    }
    if (j->in_fd >= 0 && j->in_source)
        loop_fd_set_events(j->in_source, j->in_buf.n ? EPOLLOUT : 0);
    if (j->ch)
        channels_pause(j->ch, j->in_buf.n > FULL_BYTES);
    if (j->in_end && j->in_buf.n == 0 && !j->tty)
        close_in(j);
}

static void in_ready(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    feed_in(arg);
}

static void on_stdin(void *arg, struct str data)
{
    struct job *j = arg;

    if (j->in_fd < 0)
        return;
    buf_addstr(&j->in_buf, data);
    feed_in(j);
}

static void on_stdin_end(void *arg)
{
    struct job *j = arg;

    j->in_end = true;
    feed_in(j);
}

static void on_resize(void *arg, unsigned int width, unsigned int height)
{
    struct winsize w = {.ws_col = (unsigned short)width, .ws_row = (unsigned short)height};
    struct job *j = arg;

    if (j->fds[1] >= 0)
        (void)ioctl(j->fds[1], TIOCSWINSZ, &w);
}

static void on_close(void *arg)
{
    struct job *j = arg;

    j->ch = NULL;
    if (j->pid > 0)
        (void)kill(j->pid, SIGHUP);
    else
        loop_defer_free(loop, job_free, j);
    on_drain(j);
    close_in(j);
}

static void child_ended(void *arg, pid_t pid, int status)
{
    struct job *j = arg;

    (void)pid;
    j->ended = true;
    j->status = status;
    maybe_done(j);
}

static void NORETURN run(struct job *j, int in, int out, int err)
{
    loop_signals_reset();
    if (!j->tty) {
        (void)dup2(in, 0);
        (void)dup2(out, 1);
        (void)dup2(err, 2);
    }
    (void)execvp(j->argv[0], j->argv);
    (void)fprintf(stderr, "%s: %s\n", j->argv[0], strerror(errno));
    _exit(127);
}

static void start_tty(struct job *j)
{
    struct winsize w = {.ws_col = 80, .ws_row = 24};
    int fd = -1;

    j->pid = forkpty(&fd, NULL, NULL, &w);
    if (j->pid == 0)
        run(j, 0, 1, 2);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    j->fds[1] = fd;
    j->in_fd = dup(fd);
}

static void start_pipes(struct job *j)
{
    int p[3][2];

    for (int i = 0; i < 3; i++)
        if (pipe2(p[i], O_CLOEXEC) < 0)
            abort();
    j->pid = fork();
    if (j->pid == 0)
        run(j, p[0][0], p[1][1], p[2][1]);
    (void)close(p[0][0]);
    (void)close(p[1][1]);
    (void)close(p[2][1]);
    j->in_fd = p[0][1];
    j->fds[1] = p[1][0];
    j->fds[2] = p[2][0];
    (void)fcntl(j->in_fd, F_SETFL, O_NONBLOCK);
    (void)fcntl(j->fds[1], F_SETFL, O_NONBLOCK);
    (void)fcntl(j->fds[2], F_SETFL, O_NONBLOCK);
}

static void on_ready(void *arg)
{
    struct job *j = arg;

    if (j->tty)
        start_tty(j);
    else
        start_pipes(j);
    if (!j->in)
        close_in(j);
    else
        j->in_source = loop_add_fd(loop, j->in_fd, 0, in_ready, j);
    j->sources[1] = loop_add_fd(loop, j->fds[1], EPOLLIN, stdout_ready, j);
    if (j->fds[2] >= 0)
        j->sources[2] = loop_add_fd(loop, j->fds[2], EPOLLIN, stderr_ready, j);
    j->child = loop_add_child(loop, j->pid, child_ended, j);
}

static void refuse(struct http_exchange *x, int status, const char *text)
{
    http_reply(x, status, "text/plain", NULL, str_of(text));
}

static void serve_exec(struct http_exchange *x, const struct url_query *q)
{
    struct job *j = xcalloc(1, sizeof(*j));
    struct channels_options o = {
        .in = url_query_bool(q, "stdin"),
        .out = url_query_bool(q, "stdout"),
        .err = url_query_bool(q, "stderr"),
        .tty = url_query_bool(q, "tty"),
        .events = {on_ready, on_stdin, on_stdin_end, on_resize, on_drain, on_close},
        .arg = j};
    struct err e = {0};
    int status;
    size_t n = 0;

    j->in_fd = j->fds[0] = j->fds[1] = j->fds[2] = -1;
    j->tty = o.tty;
    j->in = o.in;
    j->argv = xcalloc(q->n + 1, sizeof(char *));
    for (const char *a; (a = url_query_get_at(q, "command", n)); n++)
        j->argv[n] = xstrdup(a);
    if (channels_accept(x, &o, &j->ch, &status, &e) < 0) {
        refuse(x, status, e.text);
        job_free(j);
    }
}

/* One forwarded connection. */
struct wire {
    struct forward_conn *c;
    struct forward **session;
    int fd;
    struct loop_source *source;
    struct buf out; /* to the port */
    bool connected, end;
};

static void wire_free(struct wire *w)
{
    w->source = loop_source_free(w->source);
    if (w->fd >= 0)
        (void)close(TAKE_FD(w->fd));
    buf_done(&w->out);
    loop_defer_free(loop, free, w);
}

static void wire_fail(struct wire *w, const char *what)
{
    forward_conn_close(w->c, what);
    wire_free(w);
}

static void wire_ready(void *arg, int fd, uint32_t events)
{
    static char piece[65536];
    struct wire *w = arg;
    int problem = 0;
    socklen_t len = sizeof(problem);

    if (!w->connected) {
        (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &len);
        if (problem) {
            wire_fail(w, "connection refused by the pod");
            return;
        }
        w->connected = true;
    }
    if (w->out.n > 0) {
        ssize_t n = send(fd, w->out.p, w->out.n, MSG_NOSIGNAL);

        if (n > 0)
            buf_eat(&w->out, (size_t)n);
    }
    if (w->out.n == 0 && w->end)
        (void)shutdown(fd, SHUT_WR);
    forward_pause(*w->session, w->out.n > FULL_BYTES);
    loop_fd_set_events(w->source, EPOLLIN | (w->out.n ? EPOLLOUT : 0));
    if (events & (EPOLLIN | EPOLLHUP)) {
        ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);

        if (n > 0)
            forward_conn_write(w->c, (struct str){piece, (size_t)n});
        else if (n == 0 || errno != EAGAIN)
            wire_fail(w, NULL);
    }
}

static void on_connect(void *arg, struct forward_conn *c, uint16_t port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct wire *w = xcalloc(1, sizeof(*w));

    w->c = c;
    w->session = arg;
    w->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    forward_conn_set_arg(c, w);
    if (connect(w->fd, (struct sockaddr *)&a, sizeof(a)) < 0 && errno != EINPROGRESS) {
        wire_fail(w, "connection refused by the pod");
        return;
    }
    w->source = loop_add_fd(loop, w->fd, EPOLLIN | EPOLLOUT, wire_ready, w);
}

static void on_wire_data(void *arg, struct forward_conn *c, struct str data)
{
    struct wire *w = forward_conn_arg(c);

    (void)arg;
    buf_addstr(&w->out, data);
    loop_fd_set_events(w->source, EPOLLIN | EPOLLOUT);
}

static void on_wire_end(void *arg, struct forward_conn *c)
{
    struct wire *w = forward_conn_arg(c);

    (void)arg;
    w->end = true;
    loop_fd_set_events(w->source, EPOLLIN | EPOLLOUT);
}

static void on_wire_gone(void *arg, struct forward_conn *c)
{
    (void)arg;
    wire_free(forward_conn_arg(c));
}

static void on_wires_drain(void *arg)
{
    (void)arg;
}

static void on_wires_close(void *arg)
{
    loop_defer_free(loop, free, arg);
}

static void serve_forward(struct http_exchange *x, const struct url_query *q)
{
    struct forward **session = xcalloc(1, sizeof(struct forward *));
    uint16_t port = 0;
    struct forward_options o = {.events = {on_connect, on_wire_data, on_wire_end, on_wire_gone,
                                           on_wires_drain, on_wires_close},
                                .arg = session};
    struct err e = {0};
    int64_t v = 0;
    int status;

    if (url_query_i64(q, "ports", 0, &v, &e) == 0 && v > 0 && v < 65536) {
        port = (uint16_t)v;
        o.ports = &port;
        o.n_ports = 1;
    }
    if (forward_accept(x, &o, session, &status, &e) < 0) {
        refuse(x, status, e.text);
        free(session);
    }
}

static const char pod[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"namespace\":"
    "\"default\",\"uid\":\"1\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\","
    "\"image\":\"i\"}]},\"status\":{\"phase\":\"Running\"}}";

static const struct {
    const char *path;
    const char *body;
} documents[] = {
    {"/api", "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}"},
    {"/apis", "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[]}"},
    {"/api/v1",
     "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":[{\"name\":\"pods\","
     "\"singularName\":\"pod\",\"namespaced\":true,\"kind\":\"Pod\",\"verbs\":[\"get\",\"list\"]},"
     "{\"name\":\"pods/exec\",\"namespaced\":true,\"kind\":\"PodExecOptions\",\"verbs\":["
     "\"create\",\"get\"]}]}"},
    {"/api/v1/namespaces/default/pods/p", pod},
};

static void serve(void *arg, struct http_exchange *x)
{
    const struct http_request *r = http_exchange_request(x);
    AUTO(url_query_done) struct url_query q = {0};
    struct err e = {0};

    (void)arg;
    if (url_query_parse(r->query, &q, &e) < 0) {
        refuse(x, 400, e.text);
    } else if (ends_with(r->path, "/pods/p/exec") || ends_with(r->path, "/pods/p/attach")) {
        serve_exec(x, &q);
    } else if (ends_with(r->path, "/pods/p/portforward")) {
        serve_forward(x, &q);
    } else {
        for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
            if (streq(r->path, documents[i].path)) {
                http_reply(x, 200, "application/json", NULL, str_of(documents[i].body));
                return;
            }
        }
        refuse(x, 404, "not found\n");
    }
}

static void stop(void *arg, int signo)
{
    (void)arg;
    (void)signo;
    loop_stop(loop, 0);
}

int main(int argc, char **argv)
{
    struct http_server_options o = {.handler = serve};
    AUTO(http_tls_free) struct http_tls *tls = NULL;
    struct http_server *server = NULL;
    struct loop_source *term;
    struct err e = {0};

    (void)argv;
    if (loop_new(&loop, &e) < 0)
        return 1;
    if (argc > 1) {
        pki_init(&pki);
        if (http_tls_new(pki.cert, pki.key, NULL, &tls, &e) < 0)
            return 1;
        o.tls = tls;
    }
    if (http_server_new(loop, &o, &server, &e) < 0 ||
        http_server_listen(server, "127.0.0.1:0", &e) < 0)
        return 1;
    term = loop_add_signal(loop, SIGTERM, stop, NULL);
    (void)printf("%d\n", http_server_port(server));
    (void)fflush(stdout);
    (void)loop_run(loop);
    server = http_server_free(server);
    (void)loop_source_free(term);
    loop = loop_free(loop);
    pki_done(&pki);
    return 0;
}
