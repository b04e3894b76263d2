/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The node as a whole: put together, started, taken over, let go.
 *
 * At the start everything that is on disk is taken over first, with no API server needed: pods that
 * run are found and watched again.  Then the caches fill; once the pods are known, those on disk
 * that the API does not have are judged (strangers.c), and new ones begin (node_watch.c).
 */
#include "src/cluster/node/node.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/base/name_claim.h"
#include "src/base/process.h"
#include "src/cluster/node/machine.h"
#include "src/cluster/node/network/services.h"
#include "src/cluster/node/node_private.h"
#include "src/cluster/node/pods/binder.h"
#include "src/cluster/node/pods/strangers.h"
#include "src/cluster/node/pods/worker.h"
#include "src/cluster/node/runtime/capability.h"
#include "src/cluster/node/runtime/etc_follow.h"
#include "src/cluster/node/runtime/programs.h"
#include "src/cluster/node/serve/serve.h"
#include "src/cluster/node/volumes/claims.h"
#include "src/cluster/node/volumes/tokens.h"

void node_event(struct node *n, const struct pod_spec *p, const char *container,
                enum kube_event_type type, const char *reason, const char *fmt, ...)
{
    AUTO(free) char *text = NULL;
    AUTO(free) char *path = NULL;
    struct kube_reference about = {
        .api_version = "v1", .kind = "Pod", .namespace = p->ns, .name = p->name, .uid = p->uid};
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    if (container) {
        int i = pod_spec_find(p, container);

        path =
            xasprintf("spec.%s{%s}",
                      i >= 0 && (size_t)i < p->n_init ? "initContainers" : "containers", container);
        about.field_path = path;
    }
    kube_recorder_emit(n->recorder, &about, type, reason, "%s", text);
}

static void free_worker(void *w)
{
    (void)worker_free(w);
}

static void forget_now(void *arg)
{
    (void)worker_free(arg);
}

void node_forget(struct node *n, struct worker *w)
{
    (void)map_take(&n->workers, str_of(w->uid));
    w->dead = true;
    services_changed(n->services);
    loop_defer_free(n->loop, forget_now, w);
}

struct worker *node_find(const struct node *n, const char *ns, const char *name)
{
    const struct kube_object *o = kube_cache_get(n->pods, ns, name);
    struct worker *w = o ? map_get(&n->workers, str_of(o->uid)) : NULL;
    size_t at = 0;

    if (w)
        return w;
    while (map_next(&n->workers, &at, NULL, &w))
        if (streq(w->spec->ns, ns) && streq(w->spec->name, name))
            return w;
    return NULL;
}

void node_pod_changed(struct node *n, struct worker *w)
{
    (void)w;
    services_changed(n->services);
}

static void on_retry(void *arg)
{
    node_begin_pods(arg);
}

static int lock(struct node *n, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/lock", n->dir);

    n->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (n->lock_fd < 0)
        return err_errno(e, errno, "cannot open '%s'", path);
    if (flock(n->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return err_set(e, -EBUSY, ERR_PERMANENT,
                       "another node process runs on '%s'; stop it first, or use another --state",
                       n->state_dir);
    return name_claim_take(NAME_CLAIM_DIR, n->cluster, n->state_dir, e);
}

/* State of the runtime that is from before the last boot tells of nothing. */
static int forget_last_boot(struct node *n, struct err *e)
{
    AUTO(free) char *path = xasprintf("%s/boot", n->dir);
    AUTO(free) char *last = NULL;
    bool changed;
    size_t k;
    int r = 0;

    if (file_read(path, 64, &last, &k, NULL) == 0 && !streq(last, process_boot_id()))
        r = file_remove_tree(n->runtime_root, e);
    if (r == 0)
        r = file_make_dirs(n->runtime_root, 0700, e);
    return r < 0 ? r : file_update(path, str_of(process_boot_id()), 0600, &changed, e);
}

/* Without such limits pods run, too: a machine that cannot set them is reported, not refused. */
static void hold_pods(const struct node *n)
{
    struct ctr_limits limits;
    struct err e = {0};

    limits_of_cluster(n->memory_bytes, n->tasks, &limits);
    if (!cgroup_limits(n->cgroups, "memory"))
        limits.memory_bytes = 0;
    if (!cgroup_limits(n->cgroups, "pids"))
        limits.tasks = 0;
    if (cgroup_fence(n->cgroups, cgroup_root(n->cgroups), &limits, &e) < 0)
        log_warn("pods are not held to a limit together, and may take all that the machine has: %s",
                 e.text);
}

static int open_machine(struct node *n, const struct node_options *o, struct err *e)
{
    AUTO(free) char *pods = xasprintf("%s/pods", n->dir);
    AUTO(free) char *group = xasprintf("/slurmkeeper-%s", n->cluster);
    int r = file_make_dirs(pods, 0700, e);

    if (r == 0)
        r = lock(n, e);
    if (r == 0)
        r = forget_last_boot(n, e);
    if (r == 0)
        r = machine_measure(n, e);
    if (r == 0)
        r = cgroup_tree_new(group, &n->cgroups, e);
    if (r == 0)
        hold_pods(n);
    if (r == 0)
        r = programs_find(n, e);
    if (r == 0)
        r = bridge_open(&n->bridge, n->cluster, n->dir, o->pod_cidr, e);
    if (r == 0)
        r = programs_rootfs(n, o, e);
    n->capabilities = capability_own();
    return r;
}

static int open_api(struct node *n, const struct node_options *o, struct err *e)
{
    AUTO(free) char *standard = xasprintf("%s/node.kubeconfig", n->state_dir);
    struct kube_wish wish = {.kubeconfig = o->kubeconfig ? o->kubeconfig : standard};
    struct kube_client_options options = {
        .per_second = 500, .burst = 1000, .field_manager = "slurmkeeper-node"};
    int r = kube_target_find(&wish, &n->target, e);

    if (r == 0)
        r = kube_client_new(n->loop, n->target, &options, &n->client, e);
    if (r == 0)
        r = http_client_new(n->loop, &n->http, e);
    if (r < 0)
        return r;
    n->recorder = kube_recorder_new(n->client, "slurmkeeper-node", n->name);
    n->source = node_object_source(n);
    n->binder = binder_new(n);
    n->claims = claims_new(n);
    n->tokens = tokens_new(n);
    n->strangers = strangers_new(n);
    return services_new(n, &n->services, e);
}

/* Pods of an earlier life. */
static void adopt_pods(struct node *n)
{
    AUTO(free) char *dir = xasprintf("%s/pods", n->dir);
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        struct err e = {0};
        struct worker *w;

        if (entry->d_name[0] == '.')
            continue;
        w = worker_adopt(n, entry->d_name, &e);
        if (w) {
            (void)map_put(&n->workers, str_of(w->uid), w);
        } else {
            AUTO(free) char *path = xasprintf("%s/%s", dir, entry->d_name);
            AUTO(free)
            char *group = xasprintf("%s/pod%s", cgroup_root(n->cgroups), entry->d_name);

            if (cgroup_busy(n->cgroups, group)) {
                log_error("pod %s runs, and cannot be taken over: %s", entry->d_name, e.text);
                continue; /* not knowing counts as busy */
            }
            log_warn("pod %s is not taken over, and its directory removed: %s", entry->d_name,
                     e.text);
            sandbox_end_at(path);
            volumes_unmount(path);
            (void)!file_remove_tree(path, NULL);
        }
    }
    if (d)
        (void)closedir(d);
    strangers_look_for_unrecorded(n->strangers);
    if (n->workers.n)
        log_info("took over %zu %s", n->workers.n, word_for(n->workers.n, "pod", "pods"));
}

static char *own_name(const char *given)
{
    char host[256] = "";

    if (given)
        return xstrdup(given);
    (void)gethostname(host, sizeof(host) - 1);
    for (char *c = host; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return xstrdup(host[0] ? host : "localhost");
}

int node_new(struct loop *l, const struct node_options *o, struct node **ret_node, struct err *e)
{
    AUTO(node_free) struct node *n = xcalloc(1, sizeof(*n));
    int r;

    n->loop = l;
    n->lock_fd = -1;
    n->state_dir = realpath(o->state_dir, NULL);
    if (!n->state_dir)
        return err_errno(e, errno, "state directory '%s'", o->state_dir);
    n->dir = xasprintf("%s/node", n->state_dir);
    n->runtime_root = xasprintf("%s/runtime", n->dir);
    n->cluster = xstrdup(o->cluster ? o->cluster : "default");
    n->name = own_name(o->node_name);
    map_init(&n->workers, free_worker);
    n->retry = loop_add_timer(l, on_retry, n);
    r = open_machine(n, o, e);
    if (r == 0)
        r = open_api(n, o, e);
    if (r == 0)
        r = serve_open(n, e);
    if (r < 0)
        return r;
    node_open_caches(n);
    adopt_pods(n);
    n->machine = machine_new(n);
    n->etc = etc_follow_new(l, n->rootfs);
    log_info("node %s: pods in %s on bridge %s, roots by %s, containers by %s", n->name,
             n->bridge.cidr, n->bridge.name, rootfs_kind(n->rootfs), n->runtime);
    *ret_node = TAKE(n);
    return 0;
}

struct node *node_free(struct node *n)
{
    if (!n)
        return NULL;
    n->closing = true;
    (void)http_server_free(n->server);
    (void)loop_source_free(n->retry);
    map_done(&n->workers);
    (void)strangers_free(n->strangers);
    (void)machine_free(n->machine);
    (void)binder_free(n->binder);
    (void)claims_free(n->claims);
    (void)tokens_free(n->tokens);
    n->tokens = NULL;
    (void)services_free(n->services);
    node_free_caches(n);
    (void)kube_recorder_free(n->recorder);
    (void)http_client_free(n->http);
    (void)kube_client_free(n->client);
    (void)kube_target_free(n->target);
    (void)etc_follow_free(n->etc);
    (void)rootfs_free(n->rootfs);
    (void)cgroup_tree_free(n->cgroups);
    bridge_done(&n->bridge);
    if (n->lock_fd >= 0)
        (void)close(n->lock_fd);
    free(n->state_dir);
    free(n->dir);
    free(n->cluster);
    free(n->name);
    free(n->host_ip);
    free(n->runtime);
    free(n->runtime_root);
    free(n->shim);
    free(n);
    return NULL;
}
