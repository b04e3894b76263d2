/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run: starts a container and stays with it to its end.
 *
 *   run --runtime PROGRAM --root DIR --id ID --dir BUNDLE --log FILE [--log-bytes N] [--log-files
 * N]
 *       [--tty] [--stdin] [--stdin-once] [--open-limits] [--filter] [--oom FILE] [--procs FILE]...
 *
 * The runtime (runc) makes the container and goes; as a subreaper the shim becomes the parent of
 * the container's first process and so learns how it ended, whoever else has died meanwhile.  In
 * between it copies output to the log and to who is attached, and input from them.  When the
 * container has ended: its status is written, what it left running is killed, the runtime forgets
 * it, and the shim goes.  Standard input is a socket whose other end the node watches: it sees the
 * end of that connection.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/shim/run.h"

#define DRAIN_MS 2000
#define MAX_FDS 48

static void parse(struct run *r, int argc, char **argv)
{
    static const struct {
        const char *name;
        size_t offset;
    } texts[] = {
        {"--runtime", offsetof(struct run, runtime)}, {"--root", offsetof(struct run, root)},
        {"--id", offsetof(struct run, id)},           {"--dir", offsetof(struct run, dir)},
        {"--log", offsetof(struct run, log.path)},    {"--oom", offsetof(struct run, oom_file)},
    };
    const char *v;
    int64_t n;

    for (int i = 0; i < argc; i++) {
        bool known = false;

        for (size_t k = 0; !known && k < ARRAY_LEN(texts); k++) {
            v = shim_option(argc, argv, &i, texts[k].name);
            if (v)
                memcpy((char *)r + texts[k].offset, &v, sizeof(v));
            known = v != NULL;
        }
        if (known)
            continue;
        if (streq(argv[i], "--tty"))
            r->tty = true;
        else if (streq(argv[i], "--stdin"))
            r->stdin_open = true;
        else if (streq(argv[i], "--stdin-once"))
            r->stdin_once = true;
        else if (streq(argv[i], "--open-limits"))
            r->open_limits = true;
        else if (streq(argv[i], "--filter"))
            r->filtered = true;
        else if ((v = shim_option(argc, argv, &i, "--log-bytes")) && !str_to_i64(str_of(v), &n))
            r->log.max_bytes = n;
        else if ((v = shim_option(argc, argv, &i, "--log-files")) && !str_to_i64(str_of(v), &n))
            r->log.max_files = (unsigned int)MAX(1, n);
        else if ((v = shim_option(argc, argv, &i, "--procs")) && r->n_procs < MAX_PROCS)
            r->procs[r->n_procs++] = v;
        else
            shim_die(0, "run: bad option '%s'", argv[i]);
    }
    if (!r->runtime || !r->root || !r->id || !r->dir || !r->log.path)
        shim_die(0, "run: --runtime, --root, --id, --dir and --log are needed");
}

static void on_input(void *arg, struct str data, bool end)
{
    struct run *r = arg;

    if (r->input_fd < 0)
        return;
    if (data.n && r->input.n < MAX_INPUT)
        buf_addstr(&r->input, data);
    if (end && r->stdin_once)
        r->input_ends = true;
}

static void on_resize(void *arg, unsigned int width, unsigned int height)
{
    struct run *r = arg;
    struct winsize ws = {.ws_col = (unsigned short)width, .ws_row = (unsigned short)height};

    if (r->tty && r->input_fd >= 0)
        (void)ioctl(r->input_fd, TIOCSWINSZ, &ws);
}

/* Copy what a stream has to the log and to who is attached; closes it at its end. */
static void copy_output(struct run *r, int *fd, int stream)
{
    char data[16384];
    ssize_t n = read(*fd, data, sizeof(data));

    if (n > 0) {
        struct str s = {data, (size_t)n};

        shim_log_write(&r->log, stream, s, clock_wall_us());
        shim_peers_output(r->peers, stream, s);
        return;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (r->tty && fd == &r->output_fd && r->input_fd == *fd)
        r->input_fd = -1;
    (void)close(TAKE_FD(*fd));
}

static void feed_input(struct run *r)
{
    if (r->input_fd >= 0 && r->input.n > 0) {
        ssize_t n = write(r->input_fd, r->input.p, r->input.n);

        if (n > 0)
            buf_eat(&r->input, (size_t)n);
        else if (n < 0 && errno != EAGAIN && errno != EINTR)
            buf_clear(&r->input);
    }
    if (r->input_fd >= 0 && r->input_ends && r->input.n == 0 && !r->tty)
        (void)close(TAKE_FD(r->input_fd));
}

/* Reap whoever has ended; the container's own end is what we are here for. */
static void reap(struct run *r)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != r->status.pid)
            continue;
        r->status.exited = true;
        r->status.wait_status = status;
        r->status.finished_us = clock_wall_us();
    }
}

static size_t add_stream(struct pollfd *fds, size_t n, int fd, short events)
{
    if (fd >= 0)
        fds[n++] = (struct pollfd){.fd = fd, .events = events};
    return n;
}

static bool ready(const struct pollfd *fds, size_t n, int fd, short events)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i].fd == fd && fds[i].revents & (events | POLLHUP | POLLERR))
            return true;
    return false;
}

/* One wait and what came of it. */
static void turn(struct run *r, int timeout_ms)
{
    struct pollfd fds[MAX_FDS];
    bool full = shim_peers_full(r->peers);
    struct signalfd_siginfo info;
    size_t n = 0;
    size_t first_peer;

    n = add_stream(fds, n, r->signal_fd, POLLIN);
    if (!full)
        n = add_stream(fds, n, r->output_fd, POLLIN);
    if (!full)
        n = add_stream(fds, n, r->error_fd, POLLIN);
    if (r->input.n > 0)
        n = add_stream(fds, n, r->input_fd, POLLOUT);
    first_peer = n;
    n += shim_peers_poll(r->peers, fds + n, MAX_FDS - n);
    if (poll(fds, n, timeout_ms) <= 0)
        return;
    if (r->output_fd >= 0 && ready(fds, first_peer, r->output_fd, POLLIN))
        copy_output(r, &r->output_fd, 1);
    if (r->error_fd >= 0 && ready(fds, first_peer, r->error_fd, POLLIN))
        copy_output(r, &r->error_fd, 2);
    shim_peers_serve(r->peers, fds + first_peer, n - first_peer);
    feed_input(r);
    if (ready(fds, first_peer, r->signal_fd, POLLIN)) {
        (void)!read(r->signal_fd, &info, sizeof(info));
        reap(r);
    }
}

/* What is still in the pipes; processes that live on may hold them open for ever. */
static void drain(struct run *r)
{
    int64_t until = clock_mono_ms() + DRAIN_MS;

    while ((r->output_fd >= 0 || r->error_fd >= 0) && clock_mono_ms() < until)
        turn(r, 100);
}

/* "oom_kill 1", in memory.events or memory.oom_control. */
static bool was_out_of_memory(const struct run *r)
{
    AUTO(free) char *text = NULL;
    struct str rest, line;
    size_t n;

    if (!r->oom_file || file_read(r->oom_file, 4096, &text, &n, NULL) < 0)
        return false;
    rest = (struct str){text, n};
    while (str_split(&rest, '\n', &line))
        if (str_starts(line, "oom_kill ") && !str_eqz(line, "oom_kill 0"))
            return true;
    return false;
}

/* The kernel's own maximum: beyond it no hard limit is taken. */
static rlim_t most_files(void)
{
    AUTO(free) char *text = NULL;
    uint64_t most = 0;
    size_t n = 0;

    if (file_read("/proc/sys/fs/nr_open", 32, &text, &n, NULL) < 0 ||
        str_to_u64(str_trim((struct str){text, n}), &most) < 0)
        return 1 << 20;
    return most;
}

/*
 * Jobs get the limits of whoever submitted them.  To raise one above its hard limit takes a
 * capability that also opens the disk's reserve and more: so the container begins without hard
 * limits instead.  What a job uses is limited by its control groups.  Where we may not raise them
 * ourselves, they stay.
 */
static void open_limits(void)
{
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        struct rlimit limit;

        if (i == RLIMIT_NICE || i == RLIMIT_RTPRIO || getrlimit(i, &limit) < 0)
            continue;
        limit.rlim_max = i == RLIMIT_NOFILE ? most_files() : RLIM_INFINITY;
        (void)!setrlimit(i, &limit);
    }
}

static void block_signals(struct run *r)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    (void)sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int shim_run(int argc, char **argv)
{
    struct run r = {.log = {.max_bytes = 10 << 20, .max_files = 3, .fd = -1},
                    .input_fd = -1,
                    .output_fd = -1,
                    .error_fd = -1};

    parse(&r, argc, argv);
    shim_detach(r.procs, r.n_procs);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_NAME, "sk-shim");
    r.peers = shim_peers_new(r.dir, on_input, on_resize, &r);
    shim_peers_add_watcher(r.peers, fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    (void)dup2(STDERR_FILENO, STDIN_FILENO);
    shim_log_open(&r.log);
    if (r.open_limits)
        open_limits();
    if (run_create(&r) < 0) {
        shim_status_write(r.dir, &r.status);
        run_delete(&r);
        return 1;
    }
    block_signals(&r);
    shim_status_write(r.dir, &r.status);
    shim_peers_tell(r.peers, "started\n");
    reap(&r);
    while (!r.status.exited)
        turn(&r, -1);
    drain(&r);
    r.status.oom = was_out_of_memory(&r);
    shim_status_write(r.dir, &r.status);
    run_delete(&r);
    drain(&r);
    shim_log_close(&r.log, clock_wall_us());
    shim_peers_tell(r.peers, "exited\n");
    shim_peers_flush(r.peers);
    r.peers = shim_peers_free(r.peers);
    return 0;
}
