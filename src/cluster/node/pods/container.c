/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a container: start, watch, stop, end, again.
 *
 * A run lives in POD/containers/NAME/NUMBER.  Its shim makes the container, holds its streams and
 * writes status.json; we hold a socket to the shim and read that file when the shim says "started",
 * and when the connection ends.  Since the shim outlives us, a later node process connects again
 * and goes on as if nothing had been.
 *
 *   IDLE -> STARTING -> UP -> STOPPING -> DOWN -> STARTING ...
 *
 * A shim that vanishes without a word (somebody killed it) leaves a container nobody knows about:
 * that one is deleted, and counts as ended with 137.
 */
#include "src/cluster/node/pods/container.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/hash.h"
#include "src/base/log.h"
#include "src/cluster/node/pods/ending.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/runtime/bundle.h"
#include "src/cluster/node/runtime/layers.h"

#define RUNTIME_TIMEOUT_MS 30000

static void hang_up(struct container *c);

const struct ctr_spec *container_spec(const struct container *c)
{
    return &c->worker->spec->ctrs[c->index];
}

void container_init(struct container *c, struct worker *w, size_t index)
{
    *c = (struct container){.worker = w, .index = index, .attempt = -1, .watch_fd = -1};
}

static void stop_probing(struct container *c)
{
    for (size_t i = 0; i < ARRAY_LEN(c->probers); i++)
        c->probers[i] = prober_free(c->probers[i]);
}

void container_done(struct container *c)
{
    stop_probing(c);
    c->hook = handler_cancel(c->hook);
    c->cleanup = job_cancel(c->cleanup);
    hang_up(c);
    c->shim_child = loop_source_free(c->shim_child);
    c->kill_timer = loop_source_free(c->kill_timer);
    ending_done(&c->end);
    ending_done(&c->last);
    free(c->waiting_reason);
    free(c->waiting_message);
    free(c->dir);
}

static void hang_up(struct container *c)
{
    c->watch = loop_source_free(c->watch);
    if (c->watch_fd >= 0)
        (void)close(TAKE_FD(c->watch_fd));
}

static void set_waiting(struct container *c, const char *reason, const char *message)
{
    free(c->waiting_reason);
    free(c->waiting_message);
    c->waiting_reason = xstrdup_null(reason);
    c->waiting_message = xstrdup_null(message);
}

char *container_log_path(const struct container *c, int attempt)
{
    return xasprintf("%s/logs/%s/%d.log", c->worker->dir, container_spec(c)->name, attempt);
}

static char *run_dir(const struct container *c, int attempt)
{
    return xasprintf("%s/containers/%s/%d", c->worker->dir, container_spec(c)->name, attempt);
}

static void set_attempt(struct container *c, int attempt)
{
    AUTO(free) char *name = xasprintf("%s/%s/%d", c->worker->uid, container_spec(c)->name, attempt);

    c->attempt = attempt;
    free(c->dir);
    c->dir = run_dir(c, attempt);
    hash_sha256_hex(str_of(name), c->id);
}

/* Files of a run that nobody needs once it has ended. */
static int remove_root(void *arg, struct err *e)
{
    AUTO(free) char *root = xasprintf("%s/rootfs", (const char *)arg);
    int r = file_remove_tree(root, e);

    return r < 0 ? r : layers_remove(arg, e);
}

static void root_removed(void *arg, int r, const struct err *e)
{
    AUTO(free) char *dir = arg;

    if (r < 0)
        log_warn("left behind in '%s': %s", dir, e->text);
}

static void remove_old(struct container *c, int attempt)
{
    AUTO(free) char *dir = attempt >= 0 ? run_dir(c, attempt) : NULL;
    AUTO(free) char *log = attempt >= 0 ? container_log_path(c, attempt) : NULL;

    if (!dir)
        return;
    (void)!file_remove_tree(dir, NULL);
    (void)unlink(log);
    for (int i = 1; i < 10; i++) {
        AUTO(free) char *rotated = xasprintf("%s.%d", log, i);

        (void)unlink(rotated);
    }
}

/* Another run begins: the end of the one before is the past now. */
static void retire_end(struct container *c)
{
    if (!c->end.set)
        return;
    ending_done(&c->last);
    c->last = c->end;
    c->end = (struct ctr_end){0};
}

/* Decide when the next run may begin, and say what is the matter. */
static void back_off(struct container *c)
{
    struct worker *w = c->worker;
    const struct ctr_spec *s = container_spec(c);
    int64_t ran_ms = (c->end.finished_us - c->end.started_us) / 1000;
    int64_t delay;

    if (c->end.started_us && ran_ms > LIFECYCLE_FORGET_MS)
        c->failures = 0;
    delay = lifecycle_backoff_ms(++c->failures);
    c->retry_ms = loop_now_ms(w->node->loop) + delay;
    set_waiting(c, NULL, NULL);
    if (streq(c->end.reason, "StartError"))
        node_event(w->node, w->spec, s->name, KUBE_EVENT_WARNING, "Failed", "Error: %s",
                   c->end.message);
    if (delay > 0 && !w->spec->deleting && lifecycle_restarts(w->spec, s, c->end.exit_code)) {
        AUTO(free)
        char *text =
            xasprintf("back-off %llds restarting failed container=%s pod=%s_%s(%s)",
                      (long long)(delay / 1000), s->name, w->spec->name, w->spec->ns, w->uid);

        set_waiting(c, "CrashLoopBackOff", text);
        node_event(w->node, w->spec, s->name, KUBE_EVENT_WARNING, "BackOff",
                   "Back-off restarting failed container %s in pod %s_%s(%s)", s->name,
                   w->spec->name, w->spec->ns, w->uid);
    }
}

/* The end of a run, from whatever is known. */
static void conclude(struct container *c)
{
    struct worker *w = c->worker;
    AUTO(free) char *log = container_log_path(c, c->attempt);

    hang_up(c);
    stop_probing(c);
    c->hook = handler_cancel(c->hook);
    c->kill_timer = loop_source_free(c->kill_timer);
    ending_read(&c->end, c->dir, log, container_spec(c), c->id);
    c->phase = CTR_DOWN;
    c->process = (struct process_id){0};
    c->started = c->ready = c->condemned = c->told = false;
    back_off(c);
    (void)job_fork(w->node->loop, remove_root, c->dir, root_removed, xstrdup(c->dir));
    worker_wake(w);
}

/* Its shim lives, so a number that a shim of an earlier release left alone is still right. */
static bool has_started(struct container *c)
{
    if (ending_started(c->dir, &c->process, &c->started_us) < 0)
        return false;
    if (c->process.start == 0)
        c->process = process_identify(c->process.pid);
    return true;
}

/* Is it up already?  An error or an end stand in the file as well and are seen by conclude. */
static void on_started(struct container *c)
{
    struct worker *w = c->worker;
    const struct ctr_spec *s = container_spec(c);

    if (!has_started(c) || c->phase != CTR_STARTING)
        return;
    c->phase = CTR_UP;
    set_waiting(c, NULL, NULL);
    node_event(w->node, w->spec, s->name, KUBE_EVENT_NORMAL, "Started", "Started container %s",
               s->name);
    container_care_begin(c);
    worker_wake(w);
}

/* Gone without an end: delete what may be left of it, then conclude. */
static void on_deleted(void *arg, int status, struct str output)
{
    struct container *c = arg;

    (void)status;
    (void)output;
    c->cleanup = NULL;
    conclude(c);
}

static void delete_lost(struct container *c)
{
    struct node *n = c->worker->node;
    const char *const argv[] = {n->runtime, "--root", n->runtime_root, "delete", "--force",
                                c->id,      NULL};
    struct job_program p = {
        .argv = argv, .timeout_ms = RUNTIME_TIMEOUT_MS, .done = on_deleted, .arg = c};

    hang_up(c);
    c->cleanup = job_run(n->loop, &p);
}

static void on_shim_gone(struct container *c)
{
    if (ending_is_known(c->dir)) {
        conclude(c);
    } else {
        log_warn("container %s of pod %s/%s: its shim is gone; deleting what is left of it",
                 container_spec(c)->name, c->worker->spec->ns, c->worker->spec->name);
        delete_lost(c);
    }
}

static void on_watch(void *arg, int fd, uint32_t events)
{
    struct container *c = arg;
    char data[256];
    ssize_t n = read(fd, data, sizeof(data));

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        on_started(c);
    else
        on_shim_gone(c);
}

static void watch(struct container *c, int fd)
{
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    c->watch_fd = fd;
    c->watch = loop_add_fd(c->worker->node->loop, fd, EPOLLIN, on_watch, c);
}

static int make_log_dir(const struct container *c, struct err *e)
{
    AUTO(free) char *dir = xasprintf("%s/logs/%s", c->worker->dir, container_spec(c)->name);

    return file_make_dirs(dir, 0750, e);
}

int container_start(struct container *c, struct err *e)
{
    struct worker *w = c->worker;
    const struct ctr_spec *s = container_spec(c);
    int before = c->attempt;
    int fd = -1;
    int r;

    set_attempt(c, before + 1);
    r = bundle_make(c, e);
    if (r == 0)
        r = make_log_dir(c, e);
    if (r == 0)
        r = container_spawn_shim(c, &fd, e);
    if (r < 0) {
        bool config = e->class == ERR_RETRY || e->num == -EINVAL;

        (void)!file_remove_tree(c->dir, NULL);
        set_attempt(c, before);
        set_waiting(c, config ? "CreateContainerConfigError" : "CreateContainerError", e->text);
        return r;
    }
    watch(c, fd);
    node_event(w->node, w->spec, s->name, KUBE_EVENT_NORMAL, "Created", "Created container %s",
               s->name);
    c->phase = CTR_STARTING;
    retire_end(c);
    c->started_us = 0;
    c->condemned_grace_s = -1;
    set_waiting(c, NULL, NULL);
    remove_old(c, c->attempt - 2);
    return 0;
}

/* The highest run that is on disk, or -1. */
static int last_attempt(const struct container *c)
{
    AUTO(free) char *dir = xasprintf("%s/containers/%s", c->worker->dir, container_spec(c)->name);
    DIR *d = opendir(dir);
    struct dirent *entry;
    int last = -1;

    while (d && (entry = readdir(d))) {
        int64_t n;

        if (str_to_i64(str_of(entry->d_name), &n) == 0 && n > last && n < INT32_MAX)
            last = (int)n;
    }
    if (d)
        (void)closedir(d);
    return last;
}

static void read_last(struct container *c, int attempt)
{
    AUTO(free) char *dir = run_dir(c, attempt);
    AUTO(free) char *log = container_log_path(c, attempt);
    AUTO(free) char *name = xasprintf("%s/%s/%d", c->worker->uid, container_spec(c)->name, attempt);
    char id[65];

    hash_sha256_hex(str_of(name), id);
    if (ending_is_known(dir))
        ending_read(&c->last, dir, log, container_spec(c), id);
}

/* What the API was told last about this very run: a restart of the node must not flap it. */
static void restore_readiness(struct container *c)
{
    static const char *const lists[] = {"containerStatuses", "initContainerStatuses"};
    AUTO(free) char *id = xasprintf(STATUS_ID_PREFIX "%s", c->id);

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        JSN_FOR_ITEMS (item, jsn_key(c->worker->api_status, lists[i])) {
            if (streq(jsn_get_str(item, "containerID"), id)) {
                c->ready = jsn_get_bool(item, "ready", false);
                c->started = jsn_get_bool(item, "started", false);
            }
        }
    }
}

void container_adopt(struct container *c)
{
    int attempt = last_attempt(c);
    int fd;

    if (attempt < 0)
        return;
    set_attempt(c, attempt);
    c->failures = (unsigned int)attempt;
    if (attempt > 0)
        read_last(c, attempt - 1);
    c->phase = CTR_STARTING;
    c->condemned_grace_s = -1;
    fd = container_connect(c->dir, "watch\n");
    if (fd < 0) {
        on_shim_gone(c);
        return;
    }
    watch(c, fd);
    if (has_started(c)) {
        c->phase = CTR_UP;
        restore_readiness(c);
        container_care_begin(c);
    }
}

void container_reset(struct container *c)
{
    if (c->phase != CTR_DOWN)
        return;
    c->phase = CTR_IDLE;
    c->retry_ms = 0;
    retire_end(c);
    set_waiting(c, NULL, NULL);
}

void container_view(const struct container *c, struct ctr_view *ret)
{
    *ret = (struct ctr_view){.phase = c->phase,
                             .exit_code = c->end.exit_code,
                             .retry_ms = c->retry_ms,
                             .started = c->started,
                             .condemned = c->condemned};
}

void container_info(const struct container *c, struct ctr_info *ret)
{
    *ret = (struct ctr_info){.phase = c->phase,
                             .restarts = c->attempt > 0 ? (unsigned int)c->attempt : 0,
                             .ready = c->ready,
                             .started = c->started,
                             .started_us = c->started_us,
                             .id = c->attempt >= 0 ? c->id : NULL,
                             .end = c->end,
                             .last = c->last,
                             .waiting_reason = c->waiting_reason,
                             .waiting_message = c->waiting_message};
}
