/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's caches, and plans that are carried out on them alone.
 *
 * Many plans make one thing first and go on when it is there (a Secret, then the StatefulSet that
 * mounts it).  So what a plan writes is laid into the caches as if the server had taken it, and the
 * next round sees it.  The loop does not turn meanwhile: nothing real comes in between, and nothing
 * goes out.
 */
#include "src/operator/preview.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/json/patch_merge.h"
#include "src/operator/snapshot.h"

#define PATIENCE_MS 60000

struct preview {
    const char *namespaces[2];
    struct loop *loop;
    struct kube_target *target;
    struct kube_client *client;
    struct world *world;
    struct loop_source *timer;
    struct build_env env;
    unsigned versions; /* of what was laid in */
    bool late;
};

static void ignore_change(void *arg, const char *kind, const struct kube_object *old,
                          const struct kube_object *now)
{
    (void)arg;
    (void)kind;
    (void)old;
    (void)now;
}

static void on_synced(void *arg)
{
    loop_stop(((struct preview *)arg)->loop, 0);
}

static void on_late(void *arg)
{
    struct preview *w = arg;

    w->late = true;
    loop_stop(w->loop, 0);
}

static int connect_to(struct preview *w, const char *kubeconfig, struct err *e)
{
    struct kube_wish wish = {.kubeconfig = kubeconfig};
    struct kube_client_options speed = {.per_second = -1};
    int r = kube_target_find(&wish, &w->target, e);

    if (r == 0)
        r = loop_new(&w->loop, e);
    if (r == 0)
        r = kube_client_new(w->loop, w->target, &speed, &w->client, e);
    return r;
}

int preview_new(const char *kubeconfig, const char *ns, struct preview **ret_preview, struct err *e)
{
    AUTO(preview_free) struct preview *w = xcalloc(1, sizeof(*w));
    struct world_options o = {
        .namespaces = w->namespaces, .changed = ignore_change, .synced = on_synced, .arg = w};
    const char *missing = "the cluster";
    int r = connect_to(w, kubeconfig, e);

    if (r < 0)
        return r;
    w->namespaces[0] = ns;
    w->env.cgroup = BUILD_CGROUP_AUTO;
    w->timer = loop_add_timer(w->loop, on_late, w);
    loop_timer_arm(w->timer, PATIENCE_MS);
    w->world = world_new(w->client, &o);
    while (!w->late && !world_synced(w->world, &missing))
        (void)loop_turn(w->loop, -1);
    if (w->late)
        return err_set(e, -ETIMEDOUT, ERR_RETRY,
                       "%s cannot be read: are the definitions there, and may you list them?",
                       missing);
    *ret_preview = TAKE(w);
    return 0;
}

struct preview *preview_free(struct preview *w)
{
    if (!w)
        return NULL;
    world_free(w->world);
    loop_source_free(w->timer);
    kube_client_free(w->client);
    loop_free(w->loop);
    kube_target_free(w->target);
    free(w);
    return NULL;
}

static const struct jsn *live(void *arg, const char *kind, const char *name)
{
    return snapshot_object(arg, kind, name);
}

/* What an object has from the server. */
static void sign(struct preview *w, struct arena *a, struct jsn *object)
{
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");

    w->versions++;
    if (!jsn_get_str(meta, "uid"))
        jsn_set(a, meta, "uid", jsn_stringf(a, "pretended-%u", w->versions));
    jsn_set(a, meta, "resourceVersion", jsn_stringf(a, "pretended-%u", w->versions));
}

/* A create or a patch of an object that is no pod.  Returns whether it was one. */
static bool carry_out(struct preview *w, struct reconcile *r, const struct action *action)
{
    const struct jsn *old = NULL;
    struct jsn *now;

    if ((action->verb != ACTION_CREATE && action->verb != ACTION_PATCH) ||
        streq(action->kind->kind, "Pod"))
        return false;
    if (action->verb == ACTION_PATCH)
        old = snapshot_object(r, action->kind->kind, action->name);
    if (action->verb == ACTION_PATCH && !old)
        return false;
    now = old ? patch_merge(&r->arena, old, action->body) : jsn_clone(&r->arena, action->body);
    sign(w, &r->arena, now);
    world_pretend(w->world, action->kind->kind, now);
    return true;
}

bool preview_step(struct preview *w, const char *kind, const char *ns, const char *name,
                  preview_fn fn, void *arg)
{
    AUTO(reconcile_done) struct reconcile r = {0};
    struct preview_plan s = {.live = live, .arg = &r};
    AUTO(arena_done) struct arena scratch = {0};
    bool wrote = false;

    reconcile_open(&r, arena_printf(&scratch, "%s/%s/%s", kind, ns, name));
    reconcile_plan(&r, w->world, &w->env, clock_wall_us());
    if (!r.object)
        return false;
    s.object = r.object;
    s.plan = &r.actions;
    s.pods = snapshot_pods(&r, jsn_get_str(r.object, "metadata.uid"), &s.n_pods);
    fn(arg, &s);
    for (size_t i = 0; i < r.actions.n; i++)
        wrote = carry_out(w, &r, &r.actions.items[i]) || wrote;
    return wrote;
}
