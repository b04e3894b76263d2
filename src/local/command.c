/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run a program and wait for what it prints, bounded in time and size.
 *
 * There is no shell in between.  A program that takes too long is killed; of one that fails the
 * last line of its complaints becomes the error's text.
 */
#include "src/local/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/loop/loop.h"

#define MAX_OUTPUT ((size_t)16 << 20)

struct pipes {
    int out;
    int err;
};

static NORETURN void become(const char *const *argv, const char *const *env, int out, int err)
{
    int null = open("/dev/null", O_RDONLY);

    loop_signals_reset();
    (void)setpgid(0, 0);
    (void)dup2(null, 0);
    (void)dup2(out, 1);
    (void)dup2(err, 2);
    for (; env && *env; env++)
        (void)putenv((char *)(uintptr_t)*env);
    (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Read what is there; false at the end. */
static bool drain(int fd, struct buf *b)
{
    char piece[8192];
    ssize_t n = read(fd, piece, sizeof(piece));

    if (n > 0)
        buf_add(b, piece, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Both until they end; -ETIMEDOUT. */
static int collect(struct pipes *p, int64_t until_ms, struct buf *out, struct buf *err)
{
    bool open_out = true;
    bool open_err = true;

    while (open_out || open_err) {
        struct pollfd fds[2] = {{open_out ? p->out : -1, POLLIN, 0},
                                {open_err ? p->err : -1, POLLIN, 0}};
        int64_t left = until_ms - clock_mono_ms();

        if (left <= 0 || out->overflow || err->overflow)
            return -ETIMEDOUT;
        if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
            return -errno;
        if (fds[0].revents)
            open_out = drain(p->out, out);
        if (fds[1].revents)
            open_err = drain(p->err, err);
    }
    return 0;
}

static struct str last_line(const struct buf *b)
{
    struct str s = str_trim(buf_view(b));

    for (size_t i = s.n; i > 0; i--)
        if (s.p[i - 1] == '\n')
            return (struct str){s.p + i, s.n - i};
    return s;
}

static int judge(const char *name, int status, const struct buf *complaints, struct err *e)
{
    struct str why = last_line(complaints);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && why.n == 0)
        return err_set(e, -ENOENT, ERR_PERMANENT, "%s is not installed", name);
    if (why.n)
        return err_set(e, -EREMOTEIO, ERR_RETRY, "%s: " STR_FMT, name, STR_ARG(why));
    return err_set(e, -EREMOTEIO, ERR_RETRY, "%s failed (status %d)", name,
                   WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int run(const char *const *argv, const char *const *env, int64_t timeout_ms,
               const int fds[4], struct buf *out, struct err *e)
{
    AUTO(buf_done) struct buf complaints = {.max = MAX_OUTPUT};
    struct pipes p = {fds[0], fds[2]};
    int status = 0;
    int r;
    pid_t pid = fork();
    int why = errno;

    if (pid == 0)
        become(argv, env, fds[1], fds[3]);
    (void)close(fds[1]);
    (void)close(fds[3]);
    if (pid < 0)
        return err_errno(e, why, "%s: no new process", argv[0]);
    r = collect(&p, clock_mono_ms() + timeout_ms, out, &complaints);
    if (r < 0)
        (void)kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (r < 0)
        return err_set(e, r, ERR_RETRY, "%s did not end within %lld s", argv[0],
                       (long long)timeout_ms / 1000);
    return judge(argv[0], status, &complaints, e);
}

int command_output(const char *const *argv, const char *const *env, int64_t timeout_ms,
                   char **ret_output, struct err *e)
{
    AUTO(buf_done) struct buf out = {.max = MAX_OUTPUT};
    int fds[4];
    int r;

    *ret_output = NULL;
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_errno(e, errno, "pipe");
    if (pipe2(fds + 2, O_CLOEXEC) < 0) {
        (void)close(fds[0]);
        (void)close(fds[1]);
        return err_errno(e, errno, "pipe");
    }
    r = run(argv, env, timeout_ms, fds, &out, e);
    (void)close(fds[0]);
    (void)close(fds[2]);
    if (r == 0)
        *ret_output = buf_take(&out);
    return r;
}
