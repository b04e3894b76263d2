/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Claims of storage, on one machine.
 *
 * What a provisioner and a binder do elsewhere: a claim that waits gets a volume of its own
 * (pvc-UID, a directory of the state directory), is given its name, and both are said to be bound.
 * A claim that names an existing volume gets that one.  When a claim is gone, its volume and the
 * directory go, if the volume was made here and its policy is Delete.
 *
 * Each step is found from what the caches show and repeated until they show its effect, one call at
 * a time for each claim; so it does not matter when the process was stopped.
 */
#include "src/cluster/node/volumes/claims.h"

#include "src/base/alloc.h"
#include "src/base/file.h"
#include "src/base/groups.h"
#include "src/base/log.h"
#include "src/cluster/node/pods/worker.h"

#define RETRY_MS 3000
#define LABEL API_OWN_GROUP "/node"

struct claims {
    struct node *node;
    struct map busy; /* uid or volume name -> struct step, owned */
    struct loop_source *timer;
};

struct step {
    struct claims *claims;
    char *key;
    struct kube_call *call;
};

static void free_step(void *p)
{
    struct step *s = p;

    if (s->call)
        kube_call_cancel(s->call);
    free(s->key);
    free(s);
}

static void on_timer(void *arg)
{
    claims_changed(arg);
}

struct claims *claims_new(struct node *n)
{
    struct claims *c = xcalloc(1, sizeof(*c));

    c->node = n;
    map_init(&c->busy, free_step);
    c->timer = loop_add_timer(n->loop, on_timer, c);
    return c;
}

struct claims *claims_free(struct claims *c)
{
    if (!c)
        return NULL;
    map_done(&c->busy);
    (void)loop_source_free(c->timer);
    free(c);
    return NULL;
}

static void on_step(void *arg, const struct kube_answer *a, const struct kube_failure *f)
{
    struct step *s = arg;
    struct claims *c = s->claims;
    AUTO(free) char *key = xstrdup(s->key);

    (void)a;
    s->call = NULL;
    if (f && f->err.num != -EEXIST && f->err.num != -ENOENT)
        log_warn("storage claim %s: trying again: %s", s->key, f->err.text);
    (void)map_del(&c->busy, str_of(key));
    loop_timer_arm(c->timer, f ? RETRY_MS : 50);
}

static void take_step(struct claims *c, const char *key, struct kube_request *r)
{
    struct step *s;

    if (map_get(&c->busy, str_of(key)))
        return;
    s = xcalloc(1, sizeof(*s));
    s->claims = c;
    s->key = xstrdup(key);
    (void)map_put(&c->busy, str_of(key), s);
    r->fn = on_step;
    r->arg = s;
    s->call = kube_call_start(c->node->client, r);
}

static const char *volume_name(struct arena *a, const struct jsn *claim)
{
    const char *given = jsn_get_str(claim, "spec.volumeName");

    return given && given[0] ? given
                             : arena_printf(a, "pvc-%s", jsn_get_str(claim, "metadata.uid"));
}

static const char *own_directory(struct arena *a, const struct node *n, const char *volume)
{
    return arena_printf(a, "%s/claims/%s", n->dir, volume);
}

static struct jsn *make_volume(struct arena *a, const struct claims *c, const struct jsn *claim)
{
    const char *name = volume_name(a, claim);
    struct jsn *v = jsn_object(a);
    struct jsn *spec = jsn_ensure_object(a, v, "spec");
    struct jsn *ref = jsn_ensure_object(a, spec, "claimRef");
    struct jsn *labels = jsn_object(a);
    const char *class = jsn_get_str(claim, "spec.storageClassName");

    jsn_set_str(a, v, "apiVersion", "v1");
    jsn_set_str(a, v, "kind", "PersistentVolume");
    jsn_set_path(a, v, "metadata.name", jsn_string(a, name));
    jsn_set_str(a, labels, LABEL, c->node->name);
    jsn_set_path(a, v, "metadata.labels", labels);
    jsn_set(a, spec, "capacity", jsn_clone(a, jsn_get(claim, "spec.resources.requests")));
    jsn_set(a, spec, "accessModes", jsn_clone(a, jsn_get(claim, "spec.accessModes")));
    jsn_set_str(a, spec, "persistentVolumeReclaimPolicy", "Delete");
    jsn_set_str(a, spec, "storageClassName", class ? class : "");
    jsn_set_path(a, spec, "hostPath.path", jsn_string(a, own_directory(a, c->node, name)));
    jsn_set_path(a, spec, "hostPath.type", jsn_string(a, "DirectoryOrCreate"));
    jsn_set_str(a, ref, "apiVersion", "v1");
    jsn_set_str(a, ref, "kind", "PersistentVolumeClaim");
    jsn_set_str(a, ref, "namespace", jsn_get_str(claim, "metadata.namespace"));
    jsn_set_str(a, ref, "name", jsn_get_str(claim, "metadata.name"));
    jsn_set_str(a, ref, "uid", jsn_get_str(claim, "metadata.uid"));
    return v;
}

static void create_volume(struct claims *c, struct arena *a, const struct jsn *claim)
{
    struct kube_request r = {.verb = KUBE_CREATE,
                             .resource = {"", "v1", "persistentvolumes"},
                             .body = make_volume(a, c, claim)};

    take_step(c, jsn_get_str(claim, "metadata.uid"), &r);
}

static void patch(struct claims *c, const char *key, const char *plural, const char *ns,
                  const char *name, const char *sub, const struct jsn *body)
{
    struct kube_request r = {.verb = KUBE_PATCH_MERGE,
                             .resource = {"", "v1", plural},
                             .namespace = ns,
                             .name = name,
                             .subresource = sub,
                             .body = body};

    take_step(c, key, &r);
}

static void name_volume(struct claims *c, struct arena *a, const struct jsn *claim)
{
    struct jsn *body = jsn_object(a);
    struct jsn *notes = jsn_object(a);

    jsn_set_str(a, notes, "pv.kubernetes.io/bind-completed", "yes");
    jsn_set_path(a, body, "metadata.annotations", notes);
    jsn_set_path(a, body, "spec.volumeName", jsn_string(a, volume_name(a, claim)));
    patch(c, jsn_get_str(claim, "metadata.uid"), "persistentvolumeclaims",
          jsn_get_str(claim, "metadata.namespace"), jsn_get_str(claim, "metadata.name"), NULL,
          body);
}

static void say_bound(struct claims *c, struct arena *a, const struct jsn *claim,
                      const struct jsn *volume)
{
    struct jsn *body = jsn_object(a);
    struct jsn *status = jsn_ensure_object(a, body, "status");

    jsn_set_str(a, status, "phase", "Bound");
    jsn_set(a, status, "capacity", jsn_clone(a, jsn_get(volume, "spec.capacity")));
    jsn_set(a, status, "accessModes", jsn_clone(a, jsn_get(volume, "spec.accessModes")));
    patch(c, jsn_get_str(claim, "metadata.uid"), "persistentvolumeclaims",
          jsn_get_str(claim, "metadata.namespace"), jsn_get_str(claim, "metadata.name"), "status",
          body);
}

static void say_volume(struct claims *c, struct arena *a, const struct jsn *volume)
{
    struct jsn *body = jsn_object(a);
    const char *name = jsn_get_str(volume, "metadata.name");

    jsn_set_path(a, body, "status.phase", jsn_string(a, "Bound"));
    patch(c, name, "persistentvolumes", NULL, name, "status", body);
}

static const struct jsn *find_volume(const struct claims *c, struct arena *a, const char *name)
{
    const struct kube_object *o = kube_cache_get(c->node->volumes_cache, "", name);
    struct jsn *v = NULL;

    if (!o || kube_object_parse(o, a, &v, NULL) < 0)
        return NULL;
    return v;
}

static void serve_claim(struct claims *c, const struct kube_object *o)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *volume;
    const char *named;
    struct jsn *claim;

    if (kube_object_parse(o, &a, &claim, NULL) < 0 || jsn_get(claim, "metadata.deletionTimestamp"))
        return;
    named = jsn_get_str(claim, "spec.volumeName");
    volume = find_volume(c, &a, volume_name(&a, claim));
    if (!volume && (!named || !named[0]))
        create_volume(c, &a, claim);
    else if (volume && (!named || !named[0]))
        name_volume(c, &a, claim);
    else if (volume && !streq(jsn_get_str(claim, "status.phase"), "Bound"))
        say_bound(c, &a, claim, volume);
    else if (volume && !streq(jsn_get_str(volume, "status.phase"), "Bound"))
        say_volume(c, &a, volume);
}

static int remove_dir(void *arg, struct err *e)
{
    return file_remove_tree(arg, e);
}

static void on_removed(void *arg, int r, const struct err *e)
{
    AUTO(free) char *path = arg;

    if (r < 0)
        log_warn("'%s' of a deleted claim is not removed: %s", path, e->text);
}

/* Nobody uses it any more: so nothing holds it. */
static void release_volume(struct claims *c, struct arena *a, const struct jsn *volume)
{
    struct jsn *body = jsn_object(a);
    struct jsn *left = jsn_array(a);
    const char *name = jsn_get_str(volume, "metadata.name");
    bool held = false;

    JSN_FOR_ITEMS (f, jsn_get(volume, "metadata.finalizers")) {
        if (streq(jsn_text(f), "kubernetes.io/pv-protection"))
            held = true;
        else
            jsn_append(a, left, f);
    }
    jsn_set_path(a, body, "metadata.finalizers", left);
    if (held)
        patch(c, name, "persistentvolumes", NULL, name, NULL, body);
}

/* A volume that we made for a claim that is gone. */
static void serve_volume(struct claims *c, const struct kube_object *o)
{
    AUTO(arena_done) struct arena a = {0};
    struct kube_request r = {
        .verb = KUBE_DELETE, .resource = {"", "v1", "persistentvolumes"}, .name = o->name};
    const struct kube_object *claim;
    const char *ns, *name;
    struct jsn *v;
    char *dir;

    if (kube_object_parse(o, &a, &v, NULL) < 0 ||
        !streq(jsn_text(jsn_key(jsn_get(v, "metadata.labels"), LABEL)), c->node->name) ||
        !streq(jsn_get_str(v, "spec.persistentVolumeReclaimPolicy"), "Delete"))
        return;
    ns = jsn_get_str(v, "spec.claimRef.namespace");
    name = jsn_get_str(v, "spec.claimRef.name");
    claim = ns && name ? kube_cache_get(c->node->claims_cache, ns, name) : NULL;
    if (!ns || !name || (claim && streq(claim->uid, jsn_get_str(v, "spec.claimRef.uid"))))
        return;
    if (jsn_get(v, "metadata.deletionTimestamp")) {
        release_volume(c, &a, v);
        return;
    }
    dir = xstrdup(own_directory(&a, c->node, o->name));
    (void)job_fork(c->node->loop, remove_dir, dir, on_removed, dir);
    take_step(c, o->name, &r);
}

void claims_changed(struct claims *c)
{
    const struct kube_object *o;
    size_t at = 0;

    if (!kube_cache_synced(c->node->claims_cache) || !kube_cache_synced(c->node->volumes_cache))
        return;
    while ((o = kube_cache_next(c->node->claims_cache, &at)))
        serve_claim(c, o);
    at = 0;
    while ((o = kube_cache_next(c->node->volumes_cache, &at)))
        serve_volume(c, o);
}

const char *claims_directory(struct claims *c, struct arena *a, const char *ns, const char *name,
                             struct err *e)
{
    const struct kube_object *o = kube_cache_get(c->node->claims_cache, ns, name);
    const struct jsn *volume = NULL;
    struct jsn *claim = NULL;
    const char *path;

    if (!o) {
        (void)err_set(e, -ENOENT, ERR_RETRY, "persistentvolumeclaim \"%s\" not found", name);
        return NULL;
    }
    if (kube_object_parse(o, a, &claim, e) < 0)
        return NULL;
    if (streq(jsn_get_str(claim, "status.phase"), "Bound"))
        volume = find_volume(c, a, volume_name(a, claim));
    path = jsn_get_str(volume, "spec.hostPath.path");
    if (!path)
        path = jsn_get_str(volume, "spec.local.path");
    if (!path)
        (void)err_set(e, -ENOENT, ERR_RETRY, "persistentvolumeclaim \"%s\" is not bound", name);
    return path;
}
