/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child process on the loop.
 *
 * The program is started by fork and exec with one end of a socket pair as its standard input;
 * there frames go both ways.  Its standard error is a pipe whose last few lines are kept: libslurm
 * tells nobody but standard error why it ends a process.
 *
 * Life: started -> (ended by itself | abandoned, dismissed) -> reaped and freed.  The end of the
 * socket alone means nothing yet: the child is killed, and its owner hears of it when it has been
 * reaped, so that the sentence has its exit status and its last words.  Whoever does not want to
 * wait abandons it.
 *
 * PR_SET_PDEATHSIG has the kernel kill the child when the thread that started it ends; the loop's
 * thread is the main thread.
 */
#include "src/agent/child.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "src/agent/frame.h"
#include "src/base/alloc.h"

#define SAID_MAX_BYTES 2048
#define DISMISS_MS 2000
#define EXIT_NOT_STARTED 127

struct agent_child {
    struct list link; /* of the family */
    struct loop *loop;
    const struct child_events *events; /* NULL once abandoned */
    void *arg;
    pid_t pid;
    int fd;
    int said_fd;
    int r; /* why it was killed; 0 as long as it was not */
    struct loop_source *io;
    struct loop_source *listen;
    struct loop_source *reap;
    struct loop_source *patience; /* of a dismissed one */
    struct buf in;
    struct buf out;
    struct buf said;
};

static void child_free(struct agent_child *c)
{
    list_remove(&c->link);
    loop_source_free(c->io);
    loop_source_free(c->listen);
    loop_source_free(c->reap);
    loop_source_free(c->patience);
    if (c->fd >= 0)
        (void)close(c->fd);
    if (c->said_fd >= 0)
        (void)close(c->said_fd);
    buf_done(&c->in);
    buf_done(&c->out);
    buf_done(&c->said);
    free(c);
}

static void socket_close(struct agent_child *c)
{
    c->io = loop_source_free(c->io);
    if (c->fd >= 0)
        (void)close(TAKE_FD(c->fd));
}

static void child_kill(struct agent_child *c, int r)
{
    if (c->r == 0)
        c->r = r;
    socket_close(c);
    (void)kill(c->pid, SIGKILL);
}

/* Keep the end of what was said; nothing blocks, a child of the child may hold the pipe open. */
static void said_read(struct agent_child *c)
{
    char chunk[1024];
    ssize_t n;

    if (c->said_fd < 0)
        return;
    while ((n = read(c->said_fd, chunk, sizeof(chunk))) > 0) {
        if (c->said.n + (size_t)n > SAID_MAX_BYTES)
            buf_eat(&c->said, MIN(c->said.n, c->said.n + (size_t)n - SAID_MAX_BYTES));
        buf_add(&c->said, chunk, (size_t)n);
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        c->listen = loop_source_free(c->listen);
        (void)close(TAKE_FD(c->said_fd));
    }
}

static void said_ready(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    said_read(arg);
}

const char *child_said(struct agent_child *c, size_t max_bytes)
{
    const char *text;
    const char *blank;

    said_read(c);
    for (size_t i = 0; i < c->said.n; i++)
        if ((unsigned char)c->said.p[i] < ' ' || c->said.p[i] == 0x7f)
            c->said.p[i] = ' ';
    while (c->said.n > 0 && c->said.p[c->said.n - 1] == ' ')
        c->said.p[--c->said.n] = 0;
    text = buf_str(&c->said);
    if (c->said.n <= max_bytes)
        return text;
    /* the reason stands at the end; begin with a whole word */
    text += c->said.n - max_bytes;
    blank = strchr(text, ' ');
    return blank ? blank + 1 : text;
}

void child_forget_said(struct agent_child *c)
{
    said_read(c);
    buf_clear(&c->said);
}

static void describe_end(struct agent_child *c, int status, struct err *e)
{
    const char *said = child_said(c, 300);
    const char *colon = said[0] ? ": " : "";

    if (c->r == -EBADMSG)
        (void)err_set(e, -EBADMSG, ERR_RETRY, "the libslurm process answered nonsense%s%s", colon,
                      said);
    else if (WIFSIGNALED(status))
        (void)err_set(e, -EPIPE, ERR_RETRY, "the libslurm process was ended by signal %d%s%s",
                      WTERMSIG(status), colon, said);
    else if (WEXITSTATUS(status) == EXIT_NOT_STARTED)
        (void)err_set(e, -ENOEXEC, ERR_RETRY, "the libslurm process did not start%s%s", colon,
                      said);
    else
        (void)err_set(e, -EPIPE, ERR_RETRY, "the libslurm process ended with exit status %d%s%s",
                      WEXITSTATUS(status), colon, said);
}

static void child_reaped(void *arg, pid_t pid, int status)
{
    struct agent_child *c = arg;
    const struct child_events *events = c->events;
    void *owner = c->arg;
    struct err e = {0};

    (void)pid;
    describe_end(c, status, &e);
    child_free(c);
    if (events)
        events->on_end(owner, e.num, &e);
}

static void frames_deliver(struct agent_child *c)
{
    struct str body;
    int r;

    while (c->events && (r = frame_peek(&c->in, &body)) != 0) {
        if (r < 0) {
            child_kill(c, -EBADMSG);
            return;
        }
        c->events->on_frame(c->arg, body);
        frame_drop(&c->in);
    }
}

static void socket_read(struct agent_child *c)
{
    for (;;) {
        size_t want = frame_want(&c->in);
        char *room = buf_room(&c->in, want);
        ssize_t n;

        if (!room) {
            child_kill(c, -EBADMSG);
            return;
        }
        n = read(c->fd, room, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            child_kill(c, -EPIPE);
            return;
        }
        buf_grew(&c->in, (size_t)n);
        if ((size_t)n < want)
            return;
    }
}

static void socket_write(struct agent_child *c)
{
    while (c->fd >= 0 && c->out.n > 0) {
        ssize_t n = send(c->fd, c->out.p, c->out.n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN) {
            child_kill(c, -EPIPE);
            return;
        }
        if (n < 0)
            break;
        buf_eat(&c->out, (size_t)n);
    }
    if (c->io)
        loop_fd_set_events(c->io, c->out.n > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void socket_ready(void *arg, int fd, uint32_t events)
{
    struct agent_child *c = arg;

    (void)fd;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        socket_read(c);
        frames_deliver(c);
    }
    if (c->fd >= 0 && (events & EPOLLOUT))
        socket_write(c);
}

void child_send(struct agent_child *c, struct str body)
{
    frame_add(&c->out, body);
    if (c->out.overflow)
        child_kill(c, -EBADMSG);
    socket_write(c);
}

void child_abandon(struct agent_child *c)
{
    c->events = NULL;
    child_kill(c, -ECANCELED);
}

static void patience_over(void *arg)
{
    child_kill(arg, -ECANCELED);
}

void child_dismiss(struct agent_child *c)
{
    c->events = NULL;
    socket_close(c);
    c->patience = loop_add_timer(c->loop, patience_over, c);
    loop_timer_arm(c->patience, DISMISS_MS);
}

void child_family_end(struct list *family)
{
    LIST_FOR_EACH (c, family, struct agent_child, link) {
        c->events = NULL;
        child_kill(c, -ECANCELED);
        c->reap = loop_source_free(c->reap);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        child_free(c);
    }
}

/* In the new process, before exec: async-signal-safe calls only. */
static NORETURN void child_become(char *const argv[], char *const envp[], int fd, int said,
                                  pid_t parent)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    loop_signals_reset();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
        _exit(EXIT_NOT_STARTED);
    if (null < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(said, STDERR_FILENO) < 0 || close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        _exit(EXIT_NOT_STARTED);
    execve(argv[0], argv, envp);
    dprintf(STDERR_FILENO, "'%s' cannot be started: %s", argv[0], strerror(errno));
    _exit(EXIT_NOT_STARTED);
}

static int child_fork(struct agent_child *c, char *const argv[], char *const envp[], struct err *e)
{
    int pair[2];
    int pipes[2];
    pid_t parent = getpid();

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_errno(e, errno, "no socket for a libslurm process");
    c->fd = pair[0];
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        (void)close(pair[1]);
        return err_errno(e, errno, "no pipe for a libslurm process");
    }
    c->said_fd = pipes[0];
    (void)fcntl(c->fd, F_SETFL, O_NONBLOCK);
    (void)fcntl(c->said_fd, F_SETFL, O_NONBLOCK);
    c->pid = fork();
    if (c->pid == 0)
        child_become(argv, envp, pair[1], pipes[1], parent);
    (void)close(pair[1]);
    (void)close(pipes[1]);
    return c->pid < 0 ? err_errno(e, errno, "no new process for libslurm") : 0;
}

int child_start(struct loop *l, struct list *family, char *const argv[], char *const envp[],
                const struct child_events *events, void *arg, struct agent_child **ret_child,
                struct err *e)
{
    struct agent_child *c = xcalloc(1, sizeof(*c));
    int r;

    *c = (struct agent_child){.loop = l, .events = events, .arg = arg, .fd = -1, .said_fd = -1};
    buf_init(&c->in, FRAME_MAX_BYTES + ((size_t)2 << 20));
    r = child_fork(c, argv, envp, e);
    if (r < 0) {
        child_free(c);
        return r;
    }
    list_append(family, &c->link);
    c->io = loop_add_fd(l, c->fd, EPOLLIN, socket_ready, c);
    c->listen = loop_add_fd(l, c->said_fd, EPOLLIN, said_ready, c);
    c->reap = loop_add_child(l, c->pid, child_reaped, c);
    *ret_child = c;
    return 0;
}
