/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: STATE/node.sock, with logs, exec, attach and port-forward of a pod.
 *
 * There is one pod, default/p: its container "c" runs, "down" has ended and waits, "new" was never
 * started.  What is outside of the node process is played here, by functions that the linker sends
 * calls to: the runtime's exec, the shim that an attach talks to, the sockets inside the pod.
 *
 * Beside frames of clients (frames.h) the steps act on the other ends of what was opened, the n-th
 * newest: O n writes what has gathered into it, I n reads from it, Q closes them all; X n ends the
 * newest process with status n; L appends what has gathered to the log, V rotates it, E n sets the
 * phase of the container "c".
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <pty.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/serve/exec_process.h"
#include "src/cluster/node/serve/pod_socket.h"
#include "src/cluster/node/serve/serve.h"
#include "tests/fuzz/frames.h"

#define PROCESS 0x3ffffff /* no real process has this number */
#define ENDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int __wrap_pipe2(int fds[2], int flags);
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t n);
pid_t __wrap_fork(void);
int __wrap_openpty(int *master, int *slave, char *name, const struct termios *t,
                   const struct winsize *w);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
struct loop_source *__wrap_loop_add_child(struct loop *l, pid_t pid, loop_child_fn fn, void *arg);
void __wrap_exec_process_kill(pid_t pid);
int __wrap_container_connect(const char *dir, const char *hello);
int __wrap_pod_socket(pid_t pid);
bool __wrap_sandbox_is_ready(const struct sandbox *s);
pid_t __wrap_sandbox_pid(const struct sandbox *s);
const struct kube_object *__wrap_kube_cache_get(const struct kube_cache *c, const char *ns,
                                                const char *name);

/* The other ends of what the node has opened: pipes, terminals, sockets. */
static struct {
    int fds[ENDS];
    size_t n;
    loop_child_fn fn; /* of the newest process */
    void *arg;
    struct loop_source *child;
    struct loop *loop;
} outside;

static void keep_end(int fd)
{
    if (outside.n < ENDS && fd >= 0)
        outside.fds[outside.n++] = fd;
    else if (fd >= 0)
        (void)close(fd);
}

static void close_ends(void)
{
    while (outside.n > 0)
        (void)close(outside.fds[--outside.n]);
}

/* A pair of sockets does for a pipe: both ends can be kept, and closed to be noticed. */
int __wrap_pipe2(int fds[2], int flags)
{
    (void)flags;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return -1;
    keep_end(fcntl(fds[0], F_DUPFD_CLOEXEC, 0));
    keep_end(fcntl(fds[1], F_DUPFD_CLOEXEC, 0));
    return 0;
}

pid_t __wrap_fork(void)
{
    return PROCESS;
}

int __wrap_openpty(int *master, int *slave, char *name, const struct termios *t,
                   const struct winsize *w)
{
    int pair[2];

    (void)name;
    (void)t;
    (void)w;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    *master = pair[0];
    *slave = pair[1];
    keep_end(fcntl(pair[1], F_DUPFD_CLOEXEC, 0));
    return 0;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    (void)options;
    if (status)
        *status = 0;
    return pid;
}

static void never(void *arg)
{
    (void)arg;
}

struct loop_source *__wrap_loop_add_child(struct loop *l, pid_t pid, loop_child_fn fn, void *arg)
{
    assert(pid == PROCESS);
    outside.fn = fn;
    outside.arg = arg;
    outside.child = loop_add_timer(l, never, NULL);
    return outside.child;
}

void __wrap_exec_process_kill(pid_t pid)
{
    assert(pid == PROCESS);
    outside.fn = NULL; /* whoever kills it asks no more */
}

int __wrap_container_connect(const char *dir, const char *hello)
{
    int pair[2];

    assert(dir && streq(hello, "attach\n"));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -1;
    keep_end(pair[1]);
    return pair[0];
}

int __wrap_pod_socket(pid_t pid)
{
    (void)pid;
    return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Nothing is connected to for real: some ports refuse, behind the others is one of our ends. */
int __wrap_connect(int fd, const struct sockaddr *to, socklen_t n)
{
    struct sockaddr_in a;
    int pair[2];

    assert(to->sa_family == AF_INET && n == sizeof(a));
    memcpy(&a, to, sizeof(a));
    if (ntohs(a.sin_port) % 8 == 1 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
        errno = ECONNREFUSED;
        return -1;
    }
    (void)dup3(pair[0], fd, O_CLOEXEC);
    (void)close(pair[0]);
    keep_end(pair[1]);
    return 0;
}

bool __wrap_sandbox_is_ready(const struct sandbox *s)
{
    (void)s;
    return true;
}

pid_t __wrap_sandbox_pid(const struct sandbox *s)
{
    (void)s;
    return PROCESS;
}

const struct kube_object *__wrap_kube_cache_get(const struct kube_cache *c, const char *ns,
                                                const char *name)
{
    (void)c;
    (void)ns;
    (void)name;
    return NULL;
}

struct world {
    struct node node;
    struct worker worker;
    struct container ctrs[3];
    struct frames frames;
};

static const char pod_text[] =
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"default\",\"uid\":\"u\"},\"spec\":{"
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"stdin\":true,\"tty\":true},"
    "{\"name\":\"down\",\"image\":\"i\"},{\"name\":\"new\",\"image\":\"i\"}]}}";

static const char log_text[] = "2026-01-09T10:00:00.000000001Z stdout F hello\n"
                               "2026-01-09T10:00:01.000000001Z stderr P half\n"
                               "2026-01-09T10:00:02.000000001Z stdout F whole\n";

static char dir[] = "/dev/shm/fuzz-node-XXXXXX";

static void forget_dir(void)
{
    (void)!file_remove_tree(dir, NULL);
}

static void write_at(const char *name, const char *text)
{
    AUTO(free) char *path = xasprintf("%s/%s", dir, name);

    if (file_write(path, str_of(text), 0600, NULL) < 0)
        abort();
}

static void prepare_dir(void)
{
    static const char *const dirs[] = {"logs/c", "logs/down", "run"};
    static bool made;

    for (size_t i = 0; !made && i < ARRAY_LEN(dirs); i++) {
        AUTO(free) char *path = NULL;

        if (i == 0 && (!mkdtemp(dir) || atexit(forget_dir) != 0))
            abort();
        path = xasprintf("%s/%s", dir, dirs[i]);
        if (file_make_dirs(path, 0700, NULL) < 0)
            abort();
    }
    made = true;
    write_at("logs/c/0.log", log_text);
    write_at("logs/down/1.log", log_text);
    write_at("run/config.json", "{\"process\":{\"args\":[\"a\"],\"cwd\":\"/\"}}");
}

static void set_container(struct world *w, size_t i, enum ctr_phase phase, int attempt)
{
    struct container *c = &w->ctrs[i];

    *c = (struct container){.worker = &w->worker, .index = i, .phase = phase, .attempt = attempt};
    c->dir = xasprintf("%s/run", dir);
    (void)snprintf(c->id, sizeof(c->id), "id%zu", i);
    c->waiting_reason = phase == CTR_DOWN ? xstrdup("CrashLoopBackOff") : NULL;
}

static void make_pod(struct world *w)
{
    struct jsn *v = NULL;

    w->worker = (struct worker){.node = &w->node, .uid = xstrdup("u"), .dir = dir};
    if (jsn_parse(&w->worker.arena, str_of(pod_text), NULL, &v, NULL) < 0 ||
        pod_spec_decode(&w->worker.arena, v, &w->worker.spec, NULL) < 0)
        abort();
    w->worker.ctrs = w->ctrs;
    w->worker.n = ARRAY_LEN(w->ctrs);
    set_container(w, 0, CTR_UP, 0);
    set_container(w, 1, CTR_DOWN, 1);
    set_container(w, 2, CTR_IDLE, -1);
    map_init(&w->node.workers, NULL);
    (void)map_put(&w->node.workers, STR("u"), &w->worker);
}

static void unmake_pod(struct world *w)
{
    for (size_t i = 0; i < ARRAY_LEN(w->ctrs); i++) {
        free(w->ctrs[i].dir);
        free(w->ctrs[i].waiting_reason);
    }
    map_done(&w->node.workers);
    arena_done(&w->worker.arena);
    free(w->worker.uid);
}

static void end_process(int status)
{
    loop_child_fn fn = outside.fn;

    outside.fn = NULL;
    if (fn)
        fn(outside.arg, PROCESS, status);
}

static void append_log(struct str text)
{
    AUTO(free) char *path = xasprintf("%s/logs/c/0.log", dir);
    AUTO(close) int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

    if (fd >= 0)
        (void)!write(fd, text.p, text.n);
}

static void rotate_log(void)
{
    AUTO(free) char *from = xasprintf("%s/logs/c/0.log", dir);
    AUTO(free) char *to = xasprintf("%s/logs/c/0.log.1", dir);

    (void)rename(from, to);
}

static void play(struct peers *p, char step, unsigned char n)
{
    int end = outside.n ? outside.fds[outside.n - 1 - n % outside.n] : -1;
    char data[4096];

    if (step == 'O' && end >= 0)
        (void)!send(end, buf_str(&p->gathered), p->gathered.n, MSG_DONTWAIT | MSG_NOSIGNAL);
    else if (step == 'I' && end >= 0)
        (void)!recv(end, data, sizeof(data), MSG_DONTWAIT);
    else if (step == 'Q')
        close_ends();
    else if (step == 'X')
        end_process(n << 8);
    else if (step == 'L')
        append_log(buf_view(&p->gathered));
    else if (step == 'V')
        rotate_log();
    if (step == 'O' || step == 'L')
        buf_clear(&p->gathered);
}

static void take_step(void *arg, struct peers *p, char step, unsigned char n)
{
    struct world *w = arg;

    if (frames_step(&w->frames, p, step, n))
        return;
    if (step != 'O' && step != 'L')
        peers_send(p);
    if (step == 'E')
        w->ctrs[0].phase = (enum ctr_phase)(n % (CTR_DOWN + 1));
    else
        play(p, step, n);
    peers_turn(p, 8);
}

static void adopt(void *arg, int fd)
{
    struct world *w = arg;

    http_server_adopt(w->node.server, fd);
}

static void forget_frames(void *arg, size_t i)
{
    struct world *w = arg;

    frames_closed(&w->frames, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(loop_free) struct loop *loop = NULL;
    struct world w = {0};
    struct peers_target t = {
        .connect = adopt, .closed = forget_frames, .step = take_step, .arg = &w};
    char name[] = "n", runtime[] = "/bin/false";

    script_clock_reset();
    prepare_dir();
    if (loop_new(&loop, NULL) < 0)
        abort();
    w.node = (struct node){
        .loop = loop, .state_dir = dir, .name = name, .runtime = runtime, .runtime_root = dir};
    make_pod(&w);
    if (serve_open(&w.node, NULL) < 0)
        abort();
    peers_run(loop, &t, data, size);
    w.node.server = http_server_free(w.node.server);
    close_ends();
    outside.fn = NULL;
    unmake_pod(&w);
    return 0;
}
