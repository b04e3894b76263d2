/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmkeeper-supervise COMMAND...: a service manager for one daemon.
 *
 * The command is started with NOTIFY_SOCKET set.  Its processes become children of this one when
 * their parents end, so that the end of whichever is the daemon is seen here, with its status.
 * Signals go on to the present process; one that asks for the end goes on to every process that
 * takes over after that, too.
 *
 * Turns of the loop: signals first, then what was said on the socket, then what follows.  So the
 * end of a process that has named another is not taken for the end of the daemon.
 */
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/supervise/notify.h"
#include "src/supervise/succession.h"

#define EXIT_NOT_STARTED 127

struct supervisor {
    struct notify notify;
    struct succession daemon;
    int signals;
    int end_signal;      /* the daemon was asked to end by it; 0: it was not */
    struct stat program; /* a reconfigure may start a newer one */
};

static const int passed_on[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

static int fail(const char *what)
{
    (void)fprintf(stderr, "slurmkeeper-supervise: %s: %s\n", what, strerror(errno));
    return EXIT_NOT_STARTED;
}

static void signal_set(sigset_t *set)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        (void)sigaddset(set, passed_on[i]);
}

/* What execvp would run: the leftovers of a daemon are known by its program. */
static void program_find(struct supervisor *s, const char *name)
{
    const char *path = getenv("PATH");
    struct str rest = str_of(path ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
    struct str dir;

    if (strchr(name, '/')) {
        (void)!stat(name, &s->program);
        return;
    }
    while (str_split(&rest, ':', &dir)) {
        AUTO(free) char *file = xasprintf(STR_FMT "/%s", STR_ARG(dir), name);

        if (access(file, X_OK) == 0 && stat(file, &s->program) == 0)
            return;
    }
}

static NORETURN void become(char **argv, const sigset_t *blocked)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* a supervisor that is killed leaves nobody */
    (void)sigprocmask(SIG_UNBLOCK, blocked, NULL);
    (void)execvp(argv[0], argv);
    _exit(fail(argv[0]));
}

static int start(struct supervisor *s, char **argv, const sigset_t *blocked)
{
    pid_t pid;

    if (setenv("NOTIFY_SOCKET", s->notify.path, 1) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        become(argv, blocked);
    s->daemon.main = pid;
    return pid < 0 ? -1 : 0;
}

/* "pid (comm) state ppid ...": comm may hold anything but ends with the last ')'. */
static pid_t parent_of(pid_t pid)
{
    AUTO(free) char *path = xasprintf("/proc/%d/stat", (int)pid);
    AUTO(free) char *text = NULL;
    const char *at;
    struct str rest;
    struct str word;
    int64_t parent = 0;
    size_t n;

    if (file_read(path, 4096, &text, &n, NULL) < 0)
        return 0;
    at = strrchr(text, ')');
    rest = str_of(at ? at + 2 : "");
    (void)str_split(&rest, ' ', &word);
    (void)str_split(&rest, ' ', &word);
    return str_to_i64(word, &parent) < 0 ? 0 : (pid_t)parent;
}

static bool program_of(pid_t pid, struct stat *ret)
{
    AUTO(free) char *path = xasprintf("/proc/%d/exe", (int)pid);

    return stat(path, ret) == 0;
}

static void hear(struct supervisor *s)
{
    struct stat program;
    pid_t pid;

    while ((pid = notify_read(&s->notify)) > 0) {
        bool alive = parent_of(pid) == getpid();

        /* only children of ours may be named; one that has ended is known from its end */
        if (pid == s->daemon.main || (!alive && !succession_knows(&s->daemon, pid)))
            continue;
        succession_take(&s->daemon, pid, alive);
        if (program_of(pid, &program))
            s->program = program;
        if (s->end_signal && !s->daemon.ended)
            (void)kill(pid, s->end_signal);
    }
}

static void reap(struct supervisor *s)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        succession_end(&s->daemon, pid, status);
}

static void pass_on(struct supervisor *s, int signo)
{
    if (signo == SIGTERM || signo == SIGINT || signo == SIGQUIT)
        s->end_signal = signo;
    if (!s->daemon.ended)
        (void)kill(s->daemon.main, signo);
}

static void signals_take(struct supervisor *s)
{
    struct signalfd_siginfo info;

    while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            reap(s);
        else
            pass_on(s, (int)info.ssi_signo);
    }
}

static void run(struct supervisor *s)
{
    while (!s->daemon.ended) {
        struct pollfd fds[] = {{s->signals, POLLIN, 0}, {s->notify.fd, POLLIN, 0}};

        (void)poll(fds, ARRAY_LEN(fds), -1);
        signals_take(s);
        hear(s);
    }
}

/* Does a child of ours run the daemon's program?  A successor that nobody named, a helper. */
static bool is_left(const struct supervisor *s, pid_t pid)
{
    struct stat program;

    return program_of(pid, &program) && program.st_dev == s->program.st_dev &&
           program.st_ino == s->program.st_ino && parent_of(pid) == getpid();
}

static bool left_kill_once(const struct supervisor *s)
{
    DIR *d = opendir("/proc");
    const struct dirent *entry;
    bool any = false;
    int64_t pid;

    while (d && (entry = readdir(d)))
        if (str_to_i64(str_of(entry->d_name), &pid) == 0 && is_left(s, (pid_t)pid)) {
            (void)kill((pid_t)pid, SIGKILL);
            (void)waitpid((pid_t)pid, NULL, 0);
            any = true;
        }
    if (d)
        (void)closedir(d);
    return any;
}

/* One that becomes a child of ours while they are looked through is found the next time. */
static void left_kill(const struct supervisor *s)
{
    for (unsigned clean = 0; clean < 2;)
        clean = left_kill_once(s) ? 0 : clean + 1;
}

int main(int argc, char **argv)
{
    struct supervisor s = {.notify.fd = -1};
    struct err e = {0};
    sigset_t set;

    if (argc < 2) {
        (void)fputs("usage: slurmkeeper-supervise COMMAND...\n", stderr);
        return 2;
    }
    signal_set(&set);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return fail("cannot look after processes");
    s.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s.signals < 0)
        return fail("cannot look after processes");
    if (notify_open(&s.notify, &e) < 0) {
        (void)fprintf(stderr, "slurmkeeper-supervise: %s\n", e.text);
        notify_done(&s.notify);
        return EXIT_NOT_STARTED;
    }
    program_find(&s, argv[1]);
    if (start(&s, argv + 1, &set) < 0)
        return fail("no new process");
    run(&s);
    left_kill(&s);
    notify_done(&s.notify);
    return succession_status(&s.daemon);
}
