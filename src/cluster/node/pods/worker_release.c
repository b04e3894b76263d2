/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens after a pod's last container.
 *
 * First the machine gets back what the pod had of it; then, once its last status is written, the
 * API may forget the object; then its directory goes.  Each step may be asked for again.
 */
#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/cluster/node/pods/worker_private.h"

static void on_removed(void *arg, int r, const struct err *e)
{
    struct worker *w = arg;

    w->removal = NULL;
    if (r < 0)
        log_warn("pod %s: its directory is not removed: %s", w->uid, e->text);
    node_forget(w->node, w);
}

static int remove_dir(void *arg, struct err *e)
{
    return file_remove_tree(arg, e);
}

/* Nothing of the pod is left in the API: nor shall there be on the machine. */
static void vanish(struct worker *w)
{
    if (w->removal || w->dead)
        return;
    w->removal = job_fork(w->node->loop, remove_dir, w->dir, on_removed, w);
}

static void on_deleted(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct worker *w = arg;

    (void)a;
    w->deletion = NULL;
    if (!f || f->err.num == -ENOENT || f->err.num == -ESTALE || f->err.num == -EEXIST) {
        w->object_gone = true;
        worker_wake(w);
        return;
    }
    log_warn("pod %s/%s: not deleted, trying again: %s", w->spec->ns, w->spec->name, f->err.text);
    w->deletion_sent = false;
    worker_wake_at(w, loop_now_ms(w->node->loop) + 2000);
}

/* Everything has ended: the API may forget the pod. */
static void delete_object(struct worker *w)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *body = jsn_object(&a);
    struct kube_request r = {.verb = KUBE_DELETE,
                             .resource = {"", "v1", "pods"},
                             .namespace = w->spec->ns,
                             .name = w->spec->name,
                             .body = body,
                             .fn = on_deleted,
                             .arg = w};

    if (w->deletion_sent)
        return;
    jsn_set_str(&a, body, "kind", "DeleteOptions");
    jsn_set_str(&a, body, "apiVersion", "v1");
    jsn_set_int(&a, body, "gracePeriodSeconds", 0);
    jsn_set_path(&a, body, "preconditions.uid", jsn_string(&a, w->uid));
    w->deletion_sent = true;
    w->deletion = kube_call_start(w->node->client, &r);
}

void worker_release(struct worker *w)
{
    AUTO(free) char *group = NULL;

    if (!w->released) {
        group = xasprintf("%s/pod%s", cgroup_root(w->node->cgroups), w->uid);
        w->sandbox = sandbox_end(w->sandbox);
        volumes_unmount(w->dir);
        cgroup_remove(w->node->cgroups, group);
        ipam_release(&w->node->bridge.ipam, w->uid);
        w->volumes = false;
        w->released = true;
        w->retry_ms = 0;
    }
    if (w->object_gone)
        vanish(w);
    else if (w->spec->deleting && status_writer_settled(w->writer))
        delete_object(w);
    else if (w->spec->deleting)
        worker_wake_at(w, loop_now_ms(w->node->loop) + 50);
}
