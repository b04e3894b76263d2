/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kubectl exec: another command in a running container.
 *
 * The runtime's exec runs as our child.  Without a terminal its streams are pipes which the command
 * inherits; with one they are a terminal of ours, whose size the runtime passes on.  The client
 * learns the exit code when the command has ended and its output has been sent.  A client that goes
 * away takes its command with it.
 */
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utmp.h>

#include "src/base/alloc.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/serve/exec_process.h"
#include "src/cluster/node/serve/serve.h"
#include "src/http/channels.h"

#define MAX_BEHIND ((size_t)1 << 20)
#define LINGER_MS 200

struct exec {
    struct node *node;
    char *id;
    int process_fd;
    bool filtered;
    struct channels *channels;
    bool tty;
    bool in;
    pid_t pid;
    int fds[3]; /* stdin, stdout, stderr; a terminal is stdin and stdout in one */
    struct loop_source *sources[3];
    struct loop_source *child;
    struct loop_source *linger;
    struct buf input;
    bool input_ends;
    bool ended;
    int code;
};

static void close_stream(struct exec *s, int i)
{
    s->sources[i] = loop_source_free(s->sources[i]);
    if (s->fds[i] >= 0 && !(s->tty && i == 0))
        (void)close(s->fds[i]);
    s->fds[i] = -1;
    if (s->tty && i == 1)
        s->fds[0] = -1; /* it was the same */
}

static void exec_free(struct exec *s)
{
    for (int i = 0; i < 3; i++)
        close_stream(s, i);
    (void)loop_source_free(s->child);
    (void)loop_source_free(s->linger);
    if (s->process_fd >= 0)
        (void)close(s->process_fd);
    buf_done(&s->input);
    free(s->id);
    free(s);
}

static void finish(struct exec *s)
{
    if (s->channels)
        channels_exit(s->channels, s->code);
    exec_free(s);
}

static void finish_if_done(struct exec *s)
{
    if (s->ended && s->fds[1] < 0 && s->fds[2] < 0)
        finish(s);
}

static void feed(struct exec *s);

static void on_linger(void *arg)
{
    finish(arg);
}

static void on_output(void *arg, int fd, uint32_t events)
{
    struct exec *s = arg;
    int i = fd == s->fds[1] ? 1 : 2;
    char data[32768];
    ssize_t n;

    if (events & EPOLLOUT)
        feed(s);
    n = read(fd, data, sizeof(data));
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close_stream(s, i);
        finish_if_done(s);
        return;
    }
    if (s->ended)
        loop_timer_arm(s->linger, LINGER_MS);
    channels_write(s->channels, i == 1 ? CHANNEL_STDOUT : CHANNEL_STDERR,
                   (struct str){data, (size_t)n});
    if (channels_backlog(s->channels) > MAX_BEHIND)
        for (int k = 1; k < 3; k++)
            if (s->sources[k])
                loop_fd_set_events(s->sources[k], 0);
}

static void on_drain(void *arg)
{
    struct exec *s = arg;

    for (int k = 1; k < 3; k++)
        if (s->sources[k])
            loop_fd_set_events(s->sources[k], EPOLLIN);
}

static void feed(struct exec *s)
{
    while (s->fds[0] >= 0 && s->input.n > 0) {
        ssize_t n = write(s->fds[0], s->input.p, s->input.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            buf_clear(&s->input);
        else
            buf_eat(&s->input, (size_t)n);
    }
    channels_pause(s->channels, s->input.n > MAX_BEHIND);
    if (s->input_ends && s->input.n == 0 && !s->tty)
        close_stream(s, 0);
    if (s->sources[0])
        loop_fd_set_events(s->sources[0], s->input.n > 0 ? EPOLLOUT : 0);
    if (s->tty && s->sources[1])
        loop_fd_set_events(s->sources[1], s->input.n > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void on_input_room(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    feed(arg);
}

static void on_stdin(void *arg, struct str data)
{
    struct exec *s = arg;

    if (s->fds[0] < 0)
        return;
    buf_addstr(&s->input, data);
    feed(s);
}

static void on_stdin_end(void *arg)
{
    struct exec *s = arg;

    s->input_ends = true;
    feed(s);
}

static void on_resize(void *arg, unsigned int width, unsigned int height)
{
    struct exec *s = arg;
    struct winsize ws = {.ws_col = (unsigned short)width, .ws_row = (unsigned short)height};

    if (s->tty && s->fds[1] >= 0)
        (void)ioctl(s->fds[1], TIOCSWINSZ, &ws);
}

static void on_close(void *arg)
{
    struct exec *s = arg;

    s->channels = NULL;
    if (!s->ended && s->pid > 0) {
        exec_process_kill(s->pid);
        (void)waitpid(s->pid, NULL, 0);
    }
    exec_free(s);
}

static void on_child(void *arg, pid_t pid, int status)
{
    struct exec *s = arg;

    (void)pid;
    s->ended = true;
    s->code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (s->tty && s->fds[1] >= 0) {
        char data[32768];
        ssize_t n;

        while ((n = read(s->fds[1], data, sizeof(data))) > 0)
            channels_write(s->channels, CHANNEL_STDOUT, (struct str){data, (size_t)n});
        close_stream(s, 1);
    }
    loop_timer_arm(s->linger, LINGER_MS);
    finish_if_done(s);
}

static void exec_child(const struct exec *s, const int ends[3], int slave)
{
    const char *argv[] = {s->node->shim,
                          "filter",
                          s->node->runtime,
                          "--root",
                          s->node->runtime_root,
                          "exec",
                          "--process",
                          EXEC_PROCESS_PATH,
                          s->tty ? "--tty" : s->id,
                          s->tty ? s->id : NULL,
                          NULL};
    size_t first = s->filtered ? 0 : 2;

    loop_signals_reset();
    if (s->tty) {
        (void)login_tty(slave);
    } else {
        (void)setsid();
        for (int i = 0; i < 3; i++)
            redirect(ends[i], i);
    }
    redirect(s->process_fd, EXEC_PROCESS_FD);
    (void)umask(022); /* the command's, as a shell in the container has it */
    (void)execv(argv[first], (char *const *)(uintptr_t)(argv + first));
    _exit(127);
}

static int open_streams(struct exec *s, int ends[3], int *slave)
{
    int null;

    if (s->tty) {
        int master;

        if (openpty(&master, slave, NULL, NULL, NULL) < 0)
            return -errno;
        (void)fcntl(master, F_SETFD, FD_CLOEXEC);
        (void)fcntl(*slave, F_SETFD, FD_CLOEXEC);
        s->fds[0] = s->fds[1] = master;
        return 0;
    }
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3; i++) {
        int pipe_fds[2];

        if (i == 0 && !s->in) {
            ends[0] = null;
            continue;
        }
        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
            return -errno;
        s->fds[i] = pipe_fds[i == 0];
        ends[i] = pipe_fds[i != 0];
    }
    if (s->in)
        (void)close(null);
    return 0;
}

static void on_ready(void *arg)
{
    struct exec *s = arg;
    int ends[3] = {-1, -1, -1};
    int slave = -1;
    int r = open_streams(s, ends, &slave);

    if (r == 0)
        s->pid = fork();
    if (s->pid == 0 && r == 0)
        exec_child(s, ends, slave);
    for (int i = 0; i < 3; i++)
        if (ends[i] >= 0)
            (void)close(ends[i]);
    if (slave >= 0)
        (void)close(slave);
    if (r < 0 || s->pid < 0) {
        channels_fail(s->channels, "no more processes or descriptors on this machine");
        exec_free(s);
        return;
    }
    for (int i = 0; i < 3; i++)
        if (s->fds[i] >= 0)
            (void)fcntl(s->fds[i], F_SETFL, O_NONBLOCK);
    s->child = loop_add_child(s->node->loop, s->pid, on_child, s);
    for (int i = 1; i < 3; i++)
        if (s->fds[i] >= 0)
            s->sources[i] = loop_add_fd(s->node->loop, s->fds[i], EPOLLIN, on_output, s);
    if (s->fds[0] >= 0 && !s->tty)
        s->sources[0] = loop_add_fd(s->node->loop, s->fds[0], 0, on_input_room, s);
    feed(s);
}

static struct jsn *command_of(struct arena *a, const struct url_query *q)
{
    struct jsn *list = jsn_array(a);
    const char *word;

    for (size_t i = 0; (word = url_query_get_at(q, "command", i)); i++)
        jsn_append(a, list, jsn_string(a, word));
    return list;
}

void serve_exec(struct container *c, struct http_exchange *x, const struct url_query *q)
{
    AUTO(arena_done) struct arena a = {0};
    struct exec *s;
    struct err e = {0};
    int status = 500;
    struct channels_options o = {
        .in = url_query_bool(q, "stdin"),
        .out = url_query_bool(q, "stdout"),
        .err = url_query_bool(q, "stderr") && !url_query_bool(q, "tty"),
        .tty = url_query_bool(q, "tty"),
        .events = {on_ready, on_stdin, on_stdin_end, on_resize, on_drain, on_close},
    };

    if (c->phase != CTR_UP && c->phase != CTR_STOPPING) {
        serve_refuse(x, 400, "BadRequest", "container %s of pod %s does not run",
                     container_spec(c)->name, c->worker->spec->name);
        return;
    }
    s = xcalloc(1, sizeof(*s));
    *s = (struct exec){.node = c->worker->node,
                       .id = xstrdup(c->id),
                       .tty = o.tty,
                       .in = o.in,
                       .process_fd = -1,
                       .filtered = exec_process_is_filtered(c),
                       .fds = {-1, -1, -1}};
    s->linger = loop_add_timer(s->node->loop, on_linger, s);
    o.arg = s;
    if (exec_process_open(c, command_of(&a, q), o.tty, &s->process_fd, &e) < 0 ||
        channels_accept(x, &o, &s->channels, &status, &e) < 0) {
        serve_refuse(x, status, status == 500 ? "InternalError" : "BadRequest", "%s", e.text);
        exec_free(s);
    }
}
