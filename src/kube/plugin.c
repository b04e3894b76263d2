/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of a credential plugin.
 *
 * The program is started with posix_spawn in a process group of its own, with default signals; both
 * its outputs are pipes on the loop.  The run is over when the program has ended and its standard
 * output is closed; then the answer is read.  What it wrote to standard error goes into the error's
 * sentence, shortened: it is meant for people.  Too much output, or too much time, and the group is
 * killed.  A program that leaves a child behind with the pipe open is not waited for: half a second
 * after its end what has come is all there is.
 */
#include "src/kube/plugin.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/buf.h"

#define STDERR_MAX_BYTES ((size_t)4096)
#define STRAGGLER_MS 500

extern char **environ;

struct stream {
    struct kube_plugin_run *run;
    int fd;
    struct loop_source *source;
    struct buf text;
};

struct kube_plugin_run {
    struct loop *loop;
    const struct kube_plugin *plugin;
    kube_plugin_fn fn;
    void *arg;
    pid_t pid;
    int status;
    bool ended;
    struct stream out;
    struct stream err;
    struct loop_source *child;
    struct loop_source *timer;
    struct err failure; /* num is 0 while all is well */
};

static void stream_close(struct stream *s)
{
    s->source = loop_source_free(s->source);
    if (s->fd >= 0)
        (void)close(TAKE_FD(s->fd));
}

static void run_free(struct kube_plugin_run *r)
{
    stream_close(&r->out);
    stream_close(&r->err);
    (void)loop_source_free(r->child);
    (void)loop_source_free(r->timer);
    if (r->out.text.p)
        explicit_bzero(r->out.text.p, r->out.text.n);
    buf_done(&r->out.text);
    buf_done(&r->err.text);
    free(r);
}

static void kill_group(const struct kube_plugin_run *r)
{
    if (r->pid > 0 && !r->ended)
        (void)kill(-r->pid, SIGKILL);
}

void kube_plugin_cancel(struct kube_plugin_run *r)
{
    kill_group(r);
    if (r->pid > 0 && !r->ended)
        (void)waitpid(r->pid, NULL, 0); /* it is being killed: no wait to speak of */
    run_free(r);
}

/* What the program said on standard error, as the end of a sentence. */
static void add_stderr(struct kube_plugin_run *r, struct err *e)
{
    struct str said = str_trim(buf_view(&r->err.text));
    struct err whole = *e;

    if (said.n == 0)
        return;
    (void)err_set(e, whole.num, whole.class, "%s; it said: %.*s", whole.text,
                  (int)MIN(said.n, (size_t)200), said.p);
}

static int judge(struct kube_plugin_run *r, struct kube_plugin_answer *a, struct err *e)
{
    int n;

    if (r->failure.num) {
        *e = r->failure;
        return e->num;
    }
    if (WIFSIGNALED(r->status))
        n = err_set(e, -ECHILD, ERR_RETRY, "it was killed by signal %d", WTERMSIG(r->status));
    else if (WEXITSTATUS(r->status) != 0)
        n = err_set(e, -ECHILD, ERR_RETRY, "it failed with exit code %d", WEXITSTATUS(r->status));
    else
        n = kube_plugin_parse(buf_view(&r->out.text), r->plugin->api_version, a, e);
    if (n < 0)
        add_stderr(r, e);
    return n;
}

static void finish(struct kube_plugin_run *r)
{
    AUTO(kube_plugin_answer_done) struct kube_plugin_answer a = {0};
    struct err e = {0};
    kube_plugin_fn fn = r->fn;
    void *arg = r->arg;
    int n = judge(r, &a, &e);

    if (n < 0)
        (void)err_wrap(&e, n, "credential plugin '%s'", r->plugin->command);
    run_free(r);
    fn(arg, n < 0 ? NULL : &a, n < 0 ? &e : NULL);
}

static void fail(struct kube_plugin_run *r, int num, const char *why)
{
    if (!r->failure.num)
        (void)err_set(&r->failure, num, ERR_RETRY, "%s", why);
    kill_group(r);
}

static void end_of_stream(struct stream *s)
{
    struct kube_plugin_run *r = s->run;

    stream_close(s);
    if (r->ended && r->out.fd < 0)
        finish(r);
}

static void readable(void *arg, int fd, uint32_t events)
{
    struct stream *s = arg;
    char piece[16384];
    ssize_t n = read(fd, piece, sizeof(piece));

    (void)events;
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        end_of_stream(s);
        return;
    }
    buf_add(&s->text, piece, (size_t)n);
    explicit_bzero(piece, sizeof(piece));
    if (s->text.overflow && s == &s->run->out)
        fail(s->run, -EMSGSIZE, "it printed too much");
}

static void child_ended(void *arg, pid_t pid, int status)
{
    struct kube_plugin_run *r = arg;

    (void)pid;
    r->ended = true;
    r->status = status;
    if (r->out.fd < 0 || r->failure.num)
        finish(r);
    else
        loop_timer_arm(r->timer, STRAGGLER_MS);
}

static void too_late(void *arg)
{
    struct kube_plugin_run *r = arg;

    if (r->ended)
        finish(r);
    else
        fail(r, -ETIMEDOUT, "it did not end in time");
}

/* Our environment, then the plugin's, then the info; the later of two equal names is taken. */
static char **environment(const struct kube_plugin *p, char *info)
{
    char **all = NULL;
    size_t cap = 0;
    size_t n = 0;

    for (char **v = environ; *v; v++) {
        array_reserve(&all, &cap, n + 1, sizeof(*all));
        all[n++] = *v;
    }
    for (char **v = p->env; v && *v; v++) {
        size_t name = str_find(str_of(*v), '=') + 1;
        size_t at = 0;

        while (at < n && strncmp(all[at], *v, name) != 0)
            at++;
        array_reserve(&all, &cap, n + 1, sizeof(*all));
        all[at] = *v;
        n = MAX(n, at + 1);
    }
    array_reserve(&all, &cap, n + 2, sizeof(*all));
    all[n] = info;
    all[n + 1] = NULL;
    return all;
}

static char **arguments(const struct kube_plugin *p)
{
    size_t n = 0;
    char **argv;

    while (p->args && p->args[n])
        n++;
    argv = xcalloc(n + 2, sizeof(*argv));
    argv[0] = p->command;
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = p->args[i];
    return argv;
}

static int spawn_with(const struct kube_plugin *p, char *info, int out, int err, pid_t *ret_pid)
{
    AUTO(free) char **env = environment(p, info);
    AUTO(free) char **argv = arguments(p);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t set;
    int r;

    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, out, 1);
    (void)posix_spawn_file_actions_adddup2(&files, err, 2);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    (void)sigfillset(&set);
    (void)posix_spawnattr_setsigdefault(&attr, &set);
    (void)sigemptyset(&set);
    (void)posix_spawnattr_setsigmask(&attr, &set);
    r = posix_spawnp(ret_pid, p->command, &files, &attr, argv, env);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attr);
    return -r;
}

static void stream_open(struct kube_plugin_run *r, struct stream *s, size_t max, int *ret_write_end)
{
    int ends[2] = {-1, -1};

    s->run = r;
    s->fd = -1;
    buf_init(&s->text, max);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return;
    (void)fcntl(ends[1], F_SETFL, 0); /* the program's end blocks, as programs expect */
    s->fd = ends[0];
    s->source = loop_add_fd(r->loop, ends[0], EPOLLIN, readable, s);
    *ret_write_end = ends[1];
}

static int start(struct kube_plugin_run *r, const char *info, struct err *e)
{
    AUTO(free) char *variable = xasprintf("KUBERNETES_EXEC_INFO=%s", info);
    const char *hint = r->plugin->install_hint;
    AUTO(close) int out = -1;
    AUTO(close) int err = -1;
    int n;

    stream_open(r, &r->out, KUBE_PLUGIN_MAX_BYTES, &out);
    stream_open(r, &r->err, STDERR_MAX_BYTES, &err);
    if (out < 0 || err < 0)
        return err_set(e, -EMFILE, ERR_RETRY, "cannot be started: no pipe is to be had");
    n = spawn_with(r->plugin, variable, out, err, &r->pid);
    if (n == -ENOENT && hint)
        return err_set(e, n, ERR_PERMANENT, "is not installed: %.200s", hint);
    if (n < 0)
        return err_set(e, n, ERR_RETRY, "cannot be started: %s", strerror(-n));
    return 0;
}

static void finish_unstarted(void *arg)
{
    finish(arg);
}

struct kube_plugin_run *kube_plugin_run(struct loop *l, const struct kube_plugin *p,
                                        const char *info, kube_plugin_fn fn, void *arg)
{
    struct kube_plugin_run *r = xcalloc(1, sizeof(*r));

    *r = (struct kube_plugin_run){.loop = l, .plugin = p, .fn = fn, .arg = arg};
    if (start(r, info, &r->failure) < 0) {
        r->pid = 0;
        r->timer = loop_add_timer(l, finish_unstarted, r);
        loop_timer_arm(r->timer, 0);
        return r;
    }
    r->timer = loop_add_timer(l, too_late, r);
    loop_timer_arm(r->timer, KUBE_PLUGIN_TIMEOUT_MS);
    r->child = loop_add_child(l, r->pid, child_ended, r);
    return r;
}
