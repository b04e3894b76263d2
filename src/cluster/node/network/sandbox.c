/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sandboxes.
 *
 * Making one: the pause process unshares and tells its number; an interface is put into its network
 * namespace; it is told to go on, configures the inside and says "ready".  sandbox.json then tells
 * a later node process where to find it.  From then on a pidfd tells of its end.
 *
 * States: UNSHARING -> CONFIGURING -> READY; a failure or the process's end leads out of each.
 */
#include "src/cluster/node/network/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/cluster/node/network/callback.h"
#include "src/cluster/node/network/redirect.h"
#include "src/cluster/node/record.h"
#include "src/cluster/node/runtime/sysctls.h"

#define START_TIMEOUT_MS 20000
#define MAX_ARGS 128 /* of the pod, its sysctls, and the files of control groups, two each */

enum sandbox_state { SANDBOX_UNSHARING, SANDBOX_CONFIGURING, SANDBOX_READY };

struct sandbox {
    struct node *node;
    char *uid;
    char *dir;
    bool host_network;
    enum sandbox_state state;
    pid_t pid;
    uint64_t start_time;
    char ip[IPAM_TEXT];
    int talk_fd;
    struct buf line;
    struct loop_source *talk;
    pid_t child_pid; /* what we started, until it is reaped; the one that stays may be its child */
    struct loop_source *child;
    struct loop_source *timer;
    int watch_fd;
    struct loop_source *watch;
    char *rules; /* of its own network (callback.h); or NULL */
    struct job *callback;
    struct sandbox_events events;
};

static char *record_path(const char *dir)
{
    return xasprintf("%s/sandbox.json", dir);
}

static void close_talk(struct sandbox *s)
{
    s->talk = loop_source_free(s->talk);
    if (s->talk_fd >= 0)
        (void)close(TAKE_FD(s->talk_fd));
    buf_done(&s->line);
}

struct sandbox *sandbox_free(struct sandbox *s)
{
    if (!s)
        return NULL;
    close_talk(s);
    (void)job_cancel(s->callback);
    (void)loop_source_free(s->child);
    (void)loop_source_free(s->timer);
    (void)loop_source_free(s->watch);
    if (s->watch_fd >= 0)
        (void)close(s->watch_fd);
    free(s->uid);
    free(s->dir);
    free(s->rules);
    free(s);
    return NULL;
}

struct sandbox *sandbox_end(struct sandbox *s)
{
    AUTO(free) char *record = NULL;

    if (!s)
        return NULL;
    record = record_path(s->dir);
    if (s->pid > 0 && process_start_time(s->pid) == s->start_time)
        (void)kill(s->pid, SIGKILL);
    if (s->child_pid > 0) {
        (void)kill(s->child_pid, SIGKILL);
        (void)waitpid(s->child_pid, NULL, 0);
        s->child_pid = 0;
    }
    if (!s->host_network)
        bridge_unplug(&s->node->bridge, s->uid);
    (void)unlink(record);
    return sandbox_free(s);
}

static void fail(struct sandbox *s, const struct err *e)
{
    struct sandbox_events events = s->events;

    (void)sandbox_end(s);
    events.failed(events.arg, e);
}

static void on_lost(void *arg, int fd, uint32_t events)
{
    struct sandbox *s = arg;
    struct sandbox_events tell = s->events;

    (void)fd;
    (void)events;
    s->pid = 0;
    (void)sandbox_end(s);
    tell.lost(tell.arg);
}

static int watch(struct sandbox *s)
{
    s->watch_fd = process_watch(s->pid, s->start_time);
    if (s->watch_fd < 0)
        return -ESRCH;
    s->watch = loop_add_fd(s->node->loop, s->watch_fd, EPOLLIN, on_lost, s);
    return 0;
}

static int write_record(const struct sandbox *s, struct err *e)
{
    AUTO(free) char *path = record_path(s->dir);
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "{\"pid\":%d,\"start\":\"%llu\",\"boot\":\"%s\",\"ip\":\"%s\"}\n", (int)s->pid,
               (unsigned long long)s->start_time, process_boot_id(), s->ip);
    return record_write(path, buf_view(&b), 0644, e);
}

static int plug(struct sandbox *s, struct err *e)
{
    uint32_t address;

    if (ipam_parse_address(str_of(s->ip), &address) < 0)
        return err_set(e, -EINVAL, ERR_PERMANENT, "'%s' is not an address", s->ip);
    return bridge_plug(&s->node->bridge, s->uid, address, s->pid, e);
}

static void on_unshared(struct sandbox *s, struct str text)
{
    struct err e = {0};
    int64_t pid;
    int r = str_to_i64(text, &pid);

    if (r == 0) {
        s->pid = (pid_t)pid;
        s->start_time = process_start_time(s->pid);
    }
    if (r < 0 || !s->start_time)
        r = err_set(&e, -EPROTO, ERR_RETRY, "the pause process is gone already");
    if (r == 0 && !s->host_network)
        r = plug(s, &e);
    if (r == 0 && send(s->talk_fd, "go\n", 3, MSG_NOSIGNAL) != 3)
        r = err_errno(&e, errno, "cannot talk to the pause process");
    if (r < 0)
        fail(s, &e);
    else
        s->state = SANDBOX_CONFIGURING;
}

static void on_callback(void *arg, int status, struct str output)
{
    struct sandbox *s = arg;

    s->callback = NULL;
    if (status < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        log_warn("pod %s: slurmctld's messages do not reach srun on this machine: " STR_FMT, s->uid,
                 STR_ARG(str_trim(output)));
}

static void on_configured(struct sandbox *s)
{
    struct err e = {0};
    int r = write_record(s, &e);

    if (r == 0 && watch(s) < 0)
        r = err_set(&e, -ESRCH, ERR_RETRY, "the pause process is gone already");
    if (r < 0) {
        fail(s, &e);
        return;
    }
    s->state = SANDBOX_READY;
    close_talk(s);
    loop_timer_disarm(s->timer);
    if (s->rules)
        s->callback = callback_open(s->node->loop, s->pid, s->rules, on_callback, s);
    s->events.ready(s->events.arg);
}

static void on_line(struct sandbox *s, struct str line)
{
    struct err e = {0};

    if (str_starts(line, "unshared ") && s->state == SANDBOX_UNSHARING) {
        on_unshared(s, (struct str){line.p + 9, line.n - 9});
    } else if (str_eqz(line, "ready") && s->state == SANDBOX_CONFIGURING) {
        on_configured(s);
    } else {
        (void)err_set(&e, -EPROTO, ERR_RETRY, STR_FMT, STR_ARG(line));
        fail(s, &e);
    }
}

static void on_talk(void *arg, int fd, uint32_t events)
{
    struct sandbox *s = arg;
    struct err e = {0};
    char data[512];
    ssize_t n = read(fd, data, sizeof(data));
    size_t end;

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        (void)err_set(&e, -EPIPE, ERR_RETRY, "the pause process ended before it was ready");
        fail(s, &e);
        return;
    }
    buf_add(&s->line, data, (size_t)n);
    end = str_find(buf_view(&s->line), '\n');
    if (end < s->line.n) {
        AUTO(free) char *line = str_dup((struct str){s->line.p, end});

        buf_eat(&s->line, end + 1);
        on_line(s, str_of(line));
    }
}

static void on_timeout(void *arg)
{
    struct err e = {0};

    (void)err_set(&e, -ETIMEDOUT, ERR_RETRY, "the pause process was not ready in time");
    fail(arg, &e);
}

/* What we started has ended: with a process namespace of the pod that is as it should be. */
static void on_child(void *arg, pid_t pid, int status)
{
    struct sandbox *s = arg;

    (void)pid;
    (void)status;
    s->child_pid = 0;
    s->child = loop_source_free(s->child);
}

static void add_args(struct sandbox *s, const struct pod_spec *p, struct arena *a,
                     const char **argv)
{
    size_t n = 0;

    argv[n++] = s->node->shim;
    argv[n++] = "pause";
    if (!p->host_network) {
        argv[n++] = "--net";
        argv[n++] = "--hostname";
        argv[n++] = p->host_name;
        argv[n++] = "--ip";
        argv[n++] = s->ip;
        argv[n++] = "--gateway";
        argv[n++] = s->node->bridge.gateway;
    }
    if (!p->host_ipc)
        argv[n++] = "--ipc";
    if (p->share_pid && !p->host_pid)
        argv[n++] = "--pid";
    JSN_FOR_ITEMS (item, jsn_get(p->json, "spec.securityContext.sysctls")) {
        argv[n++] = "--sysctl";
        argv[n++] = arena_printf(a, "%s=%s", jsn_get_str(item, "name"), jsn_get_str(item, "value"));
    }
    for (const char *const *f = cgroup_shim_procs(s->node->cgroups); *f && n + 2 < MAX_ARGS; f++) {
        argv[n++] = "--procs";
        argv[n++] = *f;
    }
    argv[n] = NULL;
}

static int spawn(struct sandbox *s, const struct pod_spec *p, struct err *e)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *log = xasprintf("%s/pause.log", s->dir);
    const char *argv[MAX_ARGS + 1];
    int fds[2];
    pid_t pid;

    add_args(s, p, &a, argv);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return err_errno(e, errno, "cannot make a socket pair");
    pid = fork();
    if (pid == 0) {
        loop_signals_reset();
        redirect(fds[1], 0);
        redirect(fds[1], 1);
        redirect(open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640), 2);
        (void)execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    (void)close(fds[1]);
    s->talk_fd = fds[0];
    if (pid < 0)
        return err_errno(e, errno, "cannot start a process");
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    s->child_pid = pid;
    s->child = loop_add_child(s->node->loop, pid, on_child, s);
    s->talk = loop_add_fd(s->node->loop, fds[0], EPOLLIN, on_talk, s);
    return 0;
}

static struct sandbox *make(struct node *n, const struct pod_spec *p, const char *dir,
                            const struct sandbox_events *events)
{
    struct sandbox *s = xcalloc(1, sizeof(*s));
    AUTO(buf_done) struct buf rules = {0};

    if (callback_wanted(p)) {
        callback_print(&rules, p, n->bridge.gateway);
        s->rules = xstrdup(buf_str(&rules));
    }
    s->node = n;
    s->uid = xstrdup(p->uid);
    s->dir = xstrdup(dir);
    s->host_network = p->host_network;
    s->talk_fd = -1;
    s->watch_fd = -1;
    s->events = *events;
    s->timer = loop_add_timer(n->loop, on_timeout, s);
    return s;
}

static void fail_later(void *arg)
{
    struct sandbox *s = arg;
    struct err e = {0};

    (void)err_set(&e, -EAGAIN, ERR_RETRY, "%s", buf_str(&s->line));
    fail(s, &e);
}

struct sandbox *sandbox_new(struct node *n, const struct pod_spec *p, const char *dir,
                            const struct sandbox_events *events)
{
    struct sandbox *s = make(n, p, dir, events);
    struct err e = {0};
    uint32_t address;
    int r = sysctls_check(p, &e);

    if (r == 0 && p->host_network) {
        (void)snprintf(s->ip, sizeof(s->ip), "%s", n->host_ip);
    } else if (r == 0) {
        AUTO(free) char *name = xasprintf("%s/%s", p->ns, p->name);

        r = ipam_take(&n->bridge.ipam, p->uid, name, &address, &e);
        if (r == 0)
            ipam_print(address, s->ip);
    }
    if (r == 0)
        r = spawn(s, p, &e);
    if (r < 0) {
        buf_adds(&s->line, e.text);
        s->timer = loop_source_free(s->timer);
        s->timer = loop_add_timer(n->loop, fail_later, s);
        loop_timer_arm(s->timer, 0);
    } else {
        loop_timer_arm(s->timer, START_TIMEOUT_MS);
    }
    return s;
}

static int read_record(const char *dir, pid_t *ret_pid, uint64_t *ret_start, char ip[IPAM_TEXT])
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *path = record_path(dir);
    AUTO(free) char *text = NULL;
    struct jsn *v = NULL;
    const char *start, *address;
    size_t n = 0;
    int r = file_read(path, 4096, &text, &n, NULL);

    if (r == 0)
        r = jsn_parse(&a, (struct str){text, n}, NULL, &v, NULL);
    if (r < 0)
        return r;
    start = jsn_get_str(v, "start");
    address = jsn_get_str(v, "ip");
    if (!streq(jsn_get_str(v, "boot"), process_boot_id()) || !start || !address ||
        str_to_u64(str_of(start), ret_start) < 0)
        return -ESRCH;
    *ret_pid = (pid_t)jsn_get_int(v, "pid", 0);
    (void)snprintf(ip, IPAM_TEXT, "%s", address);
    return 0;
}

struct sandbox *sandbox_adopt(struct node *n, const struct pod_spec *p, const char *dir,
                              const struct sandbox_events *events)
{
    struct sandbox *s = make(n, p, dir, events);
    uint32_t address;

    if (read_record(dir, &s->pid, &s->start_time, s->ip) < 0 || watch(s) < 0) {
        s->pid = 0;
        return sandbox_end(s);
    }
    if (!p->host_network && (ipam_parse_address(str_of(s->ip), &address) < 0 ||
                             ipam_restore(&n->bridge.ipam, p->uid, address) < 0))
        return sandbox_end(s);
    s->state = SANDBOX_READY;
    return s;
}

bool sandbox_is_ready(const struct sandbox *s)
{
    return s && s->state == SANDBOX_READY;
}
pid_t sandbox_pid(const struct sandbox *s)
{
    return s->pid;
}
const char *sandbox_ip(const struct sandbox *s)
{
    return s->ip;
}

void sandbox_end_at(const char *dir)
{
    AUTO(free) char *record = record_path(dir);
    char ip[IPAM_TEXT];
    uint64_t start;
    pid_t pid;

    if (read_record(dir, &pid, &start, ip) == 0 && process_start_time(pid) == start)
        (void)kill(pid, SIGKILL);
    (void)unlink(record);
}
