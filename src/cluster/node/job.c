/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children that work for the loop: programs whose output matters, and functions that may take long
 * (removing a tree of files, say).
 *
 * A function runs in a fork of this process; its error comes back through the pipe as it is in
 * memory, since both ends are the same program.  A job ends when its process has ended and its pipe
 * is at its end; a process that leaves its output to a daemon is not waited for longer than a
 * moment.
 */
#include "src/cluster/node/job.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"
#include "src/base/file.h"
#include "src/cluster/node/network/redirect.h"

#define MAX_OUTPUT ((size_t)64 << 10)
#define LINGER_MS 200
#define STILLBORN_MS 100       /* nobody tries again at once while the machine is short */
#define NOT_STARTED (127 << 8) /* as waitpid would give it */

struct job {
    struct loop *loop;
    pid_t pid;
    int fd; /* its output */
    struct loop_source *reader;
    struct loop_source *child;
    struct loop_source *timer;
    struct buf output;
    size_t max_output;
    int status;
    bool ended;
    bool timed_out;
    void (*kill_family)(pid_t pid);
    job_program_fn program_done;
    job_work_done_fn work_done;
    void *arg;
};

static void job_free(struct job *j)
{
    (void)loop_source_free(j->reader);
    (void)loop_source_free(j->child);
    (void)loop_source_free(j->timer);
    if (j->fd >= 0)
        (void)close(j->fd);
    buf_done(&j->output);
    free(j);
}

static void tell_work(struct job *j)
{
    struct err e = {0};

    if (j->output.n == sizeof(e))
        memcpy(&e, j->output.p, sizeof(e));
    else
        (void)err_set(&e, -ECHILD, ERR_RETRY, "a helper process ended before it was done");
    j->work_done(j->arg, e.num, e.num < 0 ? &e : NULL);
}

static void finish(struct job *j)
{
    if (j->work_done)
        tell_work(j);
    else
        j->program_done(j->arg, j->timed_out ? -1 : j->status, buf_view(&j->output));
    job_free(j);
}

static void on_output(void *arg, int fd, uint32_t events)
{
    struct job *j = arg;
    char data[4096];
    ssize_t n = read(fd, data, sizeof(data));

    (void)events;
    if (n > 0) {
        buf_add(&j->output, data, MIN((size_t)n, j->max_output - j->output.n));
        return;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    j->reader = loop_source_free(j->reader);
    if (j->ended)
        finish(j);
}

static void on_end(void *arg, pid_t pid, int status)
{
    struct job *j = arg;

    (void)pid;
    j->status = status;
    j->ended = true;
    if (j->reader)
        loop_timer_arm(j->timer, LINGER_MS);
    else
        finish(j);
}

static void kill_all(const struct job *j)
{
    if (j->kill_family)
        j->kill_family(j->pid);
    (void)kill(-j->pid, SIGKILL);
    (void)kill(j->pid, SIGKILL);
}

static void on_timer(void *arg)
{
    struct job *j = arg;

    if (j->ended) {
        finish(j);
        return;
    }
    j->timed_out = true;
    kill_all(j);
}

/* Standard input for a child: what is given, from memory. */
static int input_fd(struct str input)
{
    int pipe_fds[2];

    if (!input.n)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (input.n <= 60000 && pipe2(pipe_fds, O_CLOEXEC) == 0) {
        (void)!file_write_all(pipe_fds[1], input);
        (void)close(pipe_fds[1]);
        return pipe_fds[0];
    }
    return -1;
}

static struct job *job_new(struct loop *l, pid_t pid, int fd, int64_t timeout_ms)
{
    struct job *j = xcalloc(1, sizeof(*j));

    j->loop = l;
    j->pid = pid;
    j->fd = fd;
    j->max_output = MAX_OUTPUT;
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    j->reader = loop_add_fd(l, fd, EPOLLIN, on_output, j);
    j->child = loop_add_child(l, pid, on_end, j);
    j->timer = loop_add_timer(l, on_timer, j);
    if (timeout_ms > 0)
        loop_timer_arm(j->timer, timeout_ms);
    return j;
}

/*
 * The machine has no descriptor or no process left.  Many requests at once can bring that about, so
 * it is a failure of this job, told in a moment, and not the end of the node.
 */
static struct job *job_stillborn(struct loop *l, int errnum)
{
    struct job *j = xcalloc(1, sizeof(*j));

    j->loop = l;
    j->fd = -1;
    j->ended = true;
    j->status = NOT_STARTED;
    buf_printf(&j->output, "no new process: %s", strerror(errnum));
    j->timer = loop_add_timer(l, on_timer, j);
    loop_timer_arm(j->timer, STILLBORN_MS);
    return j;
}

/* A child and the pipe that it writes into; the parent gets the read end.  -errno on failure. */
static pid_t fork_with_pipe(int ret_out[2])
{
    pid_t pid;
    int why;

    if (pipe2(ret_out, O_CLOEXEC) < 0)
        return -errno;
    pid = fork();
    why = errno;
    if (pid == 0)
        return 0;
    (void)close(ret_out[1]);
    if (pid > 0)
        return pid;
    (void)close(ret_out[0]);
    return -why;
}

static struct job *program_job(struct job *j, const struct job_program *p)
{
    j->program_done = p->done;
    j->arg = p->arg;
    j->kill_family = p->kill_family;
    if (p->max_output)
        j->max_output = p->max_output;
    return j;
}

struct job *job_run(struct loop *l, const struct job_program *p)
{
    AUTO(close) int in = input_fd(p->input);
    int out[2];
    pid_t pid = fork_with_pipe(out);

    if (pid == 0) {
        loop_signals_reset();
        (void)setpgid(0, 0);
        redirect(in, 0);
        redirect(out[1], 1);
        redirect(out[1], 2);
        if (p->pass_fd > 0)
            redirect(p->pass_fd, 3);
        (void)umask(022);
        (void)execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
        _exit(127);
    }
    return program_job(pid < 0 ? job_stillborn(l, -pid) : job_new(l, pid, out[0], p->timeout_ms),
                       p);
}

struct job *job_fork(struct loop *l, job_work_fn work, void *work_arg, job_work_done_fn done,
                     void *arg)
{
    int out[2];
    struct job *j;
    pid_t pid = fork_with_pipe(out);

    if (pid == 0) {
        struct err e = {0};
        int r;

        loop_signals_reset();
        r = work(work_arg, &e);
        if (r < 0 && !e.num)
            (void)err_errno(&e, -r, "a helper process failed");
        if (r >= 0)
            e.num = 0;
        (void)!file_write_all(out[1], (struct str){(const char *)&e, sizeof(e)});
        _exit(0);
    }
    j = pid < 0 ? job_stillborn(l, -pid) : job_new(l, pid, out[0], 0);
    j->work_done = done;
    j->arg = arg;
    return j;
}

struct job *job_cancel(struct job *j)
{
    if (!j)
        return NULL;
    if (!j->ended) {
        kill_all(j);
        (void)waitpid(j->pid, NULL, 0);
    }
    job_free(j);
    return NULL;
}
