/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pause: holds the namespaces that the containers of a pod share.
 *
 *   pause [--hostname H] [--net] [--ip A --gateway G] [--ipc] [--pid] [--sysctl K=V]...
 *         [--procs FILE]...
 *
 * Talks to the node over standard input and output, a line at a time: says "unshared PID" when the
 * namespaces are there; waits for "go", which comes when eth0 has been put into the network
 * namespace; configures that from inside, and says "ready", or "failed WHY".  From then on it only
 * exists, reaps what is orphaned in a shared process namespace, and ends on SIGTERM.
 *
 * Without --hostname the pod lives in the machine's own UTS namespace (hostNetwork).
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "src/base/file.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/shim/shim.h"

#define MAX_MANY 64

struct pause {
    const char *hostname;
    const char *ip;
    const char *gateway;
    const char *sysctls[MAX_MANY];
    size_t n_sysctls;
    const char *procs[MAX_MANY];
    size_t n_procs;
    int flags; /* of unshare */
};

static void add(const char **list, size_t *n, const char *value)
{
    if (*n == MAX_MANY)
        shim_die(0, "pause: too many options");
    list[(*n)++] = value;
}

static void parse(struct pause *p, int argc, char **argv)
{
    const char *v;

    for (int i = 0; i < argc; i++) {
        if (streq(argv[i], "--net"))
            p->flags |= CLONE_NEWNET;
        else if (streq(argv[i], "--ipc"))
            p->flags |= CLONE_NEWIPC;
        else if (streq(argv[i], "--pid"))
            p->flags |= CLONE_NEWPID;
        else if ((v = shim_option(argc, argv, &i, "--hostname")))
            p->hostname = v;
        else if ((v = shim_option(argc, argv, &i, "--ip")))
            p->ip = v;
        else if ((v = shim_option(argc, argv, &i, "--gateway")))
            p->gateway = v;
        else if ((v = shim_option(argc, argv, &i, "--sysctl")))
            add(p->sysctls, &p->n_sysctls, v);
        else if ((v = shim_option(argc, argv, &i, "--procs")))
            add(p->procs, &p->n_procs, v);
        else
            shim_die(0, "pause: unknown option '%s'", argv[i]);
    }
    if (p->hostname)
        p->flags |= CLONE_NEWUTS;
}

static void say(const char *text)
{
    if (file_write_all(STDOUT_FILENO, str_of(text)) < 0)
        exit(1);
}

static void say_failed(const struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "failed %s\n", e->text);
    say(buf_str(&b));
    exit(1);
}

/* "kernel.shm_rmid_forced=1", into /proc/sys. */
static int set_sysctl(const char *setting, struct err *e)
{
    AUTO(buf_done) struct buf path = {0};
    struct str rest = str_of(setting);
    struct str key = {0};
    AUTO(close) int fd = -1;

    (void)str_split(&rest, '=', &key);
    buf_printf(&path, "/proc/sys/" STR_FMT, STR_ARG(key));
    for (size_t i = sizeof("/proc/sys/") - 1; i < path.n; i++)
        if (path.p[i] == '.')
            path.p[i] = '/';
    fd = open(buf_str(&path), O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(e, errno, "sysctl " STR_FMT, STR_ARG(key));
    if (file_write_all(fd, rest) < 0)
        return err_errno(e, errno, "sysctl " STR_FMT " = " STR_FMT, STR_ARG(key), STR_ARG(rest));
    return 0;
}

static int configure(const struct pause *p, struct err *e)
{
    int r = 0;

    if (p->hostname && sethostname(p->hostname, strlen(p->hostname)) < 0)
        return err_errno(e, errno, "cannot set the host name '%s'", p->hostname);
    if (p->flags & CLONE_NEWNET)
        r = shim_net_up(p->ip, p->gateway, e);
    for (size_t i = 0; r == 0 && i < p->n_sysctls; i++)
        r = set_sysctl(p->sysctls[i], e);
    return r;
}

static void on_term(int signo)
{
    (void)signo;
    _exit(0);
}

static void hold(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2; fd++)
        redirect(null, fd);
    (void)signal(SIGTERM, on_term);
    for (;;) {
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
            (void)usleep(500000); /* SIGCHLD ends it early */
    }
}

static void on_child(int signo)
{
    (void)signo;
}

/* A shared process namespace begins with the next child: that one goes on as its process 1. */
static pid_t enter_pid_namespace(void)
{
    pid_t pid = fork();

    if (pid < 0)
        shim_die(errno, "pause: cannot start the first process of the pod");
    return pid;
}

static void wait_for_go(void)
{
    char line[8];
    ssize_t n = read(STDIN_FILENO, line, sizeof(line));

    if (n < 2 || memcmp(line, "go", 2) != 0)
        exit(1); /* the node went away meanwhile: so does the pod's beginning */
}

static void announce(pid_t pid)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "unshared %d\n", (int)pid);
    say(buf_str(&b));
}

int shim_pause(int argc, char **argv)
{
    struct pause p = {0};
    struct err e = {0};

    parse(&p, argc, argv);
    shim_detach(p.procs, p.n_procs);
    (void)signal(SIGCHLD, on_child);
    (void)prctl(PR_SET_NAME, "sk-pause");
    if (unshare(p.flags) < 0)
        shim_die(errno, "pause: cannot make the namespaces of the pod");
    if (p.flags & CLONE_NEWPID) {
        pid_t pid = enter_pid_namespace();

        if (pid > 0) {
            announce(pid);
            return 0;
        }
    } else {
        announce(getpid());
    }
    wait_for_go();
    if (configure(&p, &e) < 0)
        say_failed(&e);
    say("ready\n");
    hold();
    return 0;
}
