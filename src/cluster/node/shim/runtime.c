/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runtime's part: make the container with its streams, start it, delete it.
 *
 * Streams are pipes; a terminal is made by the runtime, which hands its master side over through
 * console.sock.  What the runtime has to say when it fails stands in runtime.log (JSON lines); the
 * last message of level error is what people read.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/shim/run.h"

#define CREATE_TIMEOUT_MS 60000

static void fail(struct run *r, const char *what, int errnum)
{
    (void)snprintf(r->status.error, sizeof(r->status.error), "%s: %s", what, strerror(errnum));
}

/* The last message in runtime.log, as the error. */
static void fail_as_logged(struct run *r, const char *what)
{
    static const char key[] = "\"msg\":\"";
    AUTO(free) char *text = NULL;
    AUTO(buf_done) struct buf b = {0};
    const char *at = NULL;
    size_t n = 0;

    if (file_read("runtime.log", 1 << 20, &text, &n, NULL) == 0)
        for (const char *p = text; (p = strstr(p, key)); p++)
            at = p + sizeof(key) - 1;
    for (; at && *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            at++;
        buf_addc(&b, *at);
    }
    (void)snprintf(r->status.error, sizeof(r->status.error), "%s: %.400s", what,
                   b.n ? buf_str(&b) : "it did not say why");
}

/* Run the runtime with these streams; returns its exit status, -1 if it did not end in time. */
static int run_runtime(struct run *r, const char *const *args, int in, int out, int err)
{
    const char *argv[24] = {r->runtime,    "--root",       r->root, "--log",
                            "runtime.log", "--log-format", "json"};
    int64_t until = clock_mono_ms() + CREATE_TIMEOUT_MS;
    size_t n = 7;
    int status;
    pid_t pid;

    for (; *args && n + 1 < ARRAY_LEN(argv); args++)
        argv[n++] = *args;
    pid = fork();
    if (pid == 0) {
        sigset_t none;

        (void)umask(022); /* what the runtime makes in the root is for all users of the pod */
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)signal(SIGHUP, SIG_DFL);
        (void)signal(SIGINT, SIG_DFL);
        redirect(in, 0);
        redirect(out, 1);
        redirect(err, 2);
        if (r->filtered)
            shim_filter();
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    while (pid > 0 && clock_mono_ms() < until) {
        pid_t got = waitpid(pid, &status, WNOHANG);

        if (got == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        (void)poll(NULL, 0, 2);
    }
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, &status, 0);
    }
    return -1;
}

static int read_pid(pid_t *ret)
{
    AUTO(free) char *text = NULL;
    int64_t v;
    size_t n;
    int r = file_read("pid", 32, &text, &n, NULL);

    if (r == 0)
        r = str_to_i64(str_trim((struct str){text, n}), &v);
    if (r == 0)
        *ret = (pid_t)v;
    return r;
}

static int listen_console(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "console.sock"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)unlink(un.sun_path);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&un, sizeof(un)) == 0 && listen(fd, 1) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* The descriptor that the runtime sends. */
static int take_console(int listener)
{
    AUTO(close) int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char name[256];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = {name, sizeof(name)};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *c;
    int master = -1;

    if (fd < 0 || recvmsg(fd, &m, MSG_CMSG_CLOEXEC) < 0)
        return -1;
    c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(&master, CMSG_DATA(c), sizeof(master));
    return master;
}

static void unblock(int fd)
{
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int create_with_terminal(struct run *r, int null)
{
    const char *const args[] = {
        "create", "--bundle", ".", "--console-socket", "console.sock", "--pid-file",
        "pid",    r->id,      NULL};
    AUTO(close) int listener = listen_console();
    int code;

    if (listener < 0) {
        fail(r, "cannot make a socket for the terminal", errno);
        return -1;
    }
    code = run_runtime(r, args, null, null, null);
    if (code != 0)
        return code;
    r->output_fd = take_console(listener);
    if (r->output_fd < 0) {
        fail(r, "the runtime handed no terminal over", EPROTO);
        return -1;
    }
    unblock(r->output_fd);
    r->input_fd = r->stdin_open ? r->output_fd : -1;
    return 0;
}

static int create_with_pipes(struct run *r, int null)
{
    const char *const args[] = {"create", "--bundle", ".", "--pid-file", "pid", r->id, NULL};
    int in[2] = {-1, -1}, out[2], err[2];
    int code;

    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0 ||
        (r->stdin_open && pipe2(in, O_CLOEXEC) < 0)) {
        fail(r, "cannot make pipes", errno);
        return -1;
    }
    code = run_runtime(r, args, r->stdin_open ? in[0] : null, out[1], err[1]);
    (void)close(out[1]);
    (void)close(err[1]);
    if (in[0] >= 0)
        (void)close(in[0]);
    r->output_fd = out[0];
    r->error_fd = err[0];
    r->input_fd = in[1];
    unblock(r->output_fd);
    unblock(r->error_fd);
    if (r->input_fd >= 0)
        unblock(r->input_fd);
    return code;
}

int run_create(struct run *r)
{
    const char *const start[] = {"start", r->id, NULL};
    AUTO(close) int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int code = r->tty ? create_with_terminal(r, null) : create_with_pipes(r, null);

    if (code == 0 && read_pid(&r->status.pid) < 0) {
        fail(r, "the runtime left no process id", EPROTO);
        return -EPROTO;
    }
    if (code != 0 && !r->status.error[0])
        fail_as_logged(r, "cannot make the container");
    if (code != 0)
        return -ECHILD;
    r->status.started_us = clock_wall_us();
    if (run_runtime(r, start, null, null, null) != 0) {
        fail_as_logged(r, "cannot start the container");
        return -ECHILD;
    }
    return 0;
}

void run_delete(struct run *r)
{
    const char *const args[] = {"delete", "--force", r->id, NULL};
    AUTO(close) int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)run_runtime(r, args, null, null, null);
}
