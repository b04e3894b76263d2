/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The replica sets of a deployment.
 *
 * A replica set belongs to a template if its own is the same but for the label pod-template-hash.
 * The newest revision is the highest number; a template that comes back (an undo) gets a new number
 * on its old set.  Sets are named after the hash of their template; where two different templates
 * share one, the deployment counts a collision and hashes again.
 */
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/deployment.h"
#include "src/cluster/workloads/pod.h"

#define RESOURCE "replicasets.apps"
#define HASH "pod-template-hash"
#define REVISION "deployment.kubernetes.io/revision"
#define DESIRED "deployment.kubernetes.io/desired-replicas"
#define MAXIMUM "deployment.kubernetes.io/max-replicas"
#define COLLISIONS_MAX 64

static void annotate(struct arena *a, struct jsn *object, const char *key, int64_t n)
{
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");

    jsn_set(a, jsn_ensure_object(a, meta, "annotations"), key,
            jsn_stringf(a, "%lld", (long long)n));
}

static bool same_template(struct arena *a, const struct jsn *set, const struct jsn *template)
{
    struct jsn *have = jsn_clone(a, jsn_get(set, "spec.template"));

    (void)jsn_del(jsn_get(have, "metadata.labels"), HASH);
    return jsn_equal(have, template);
}

static int by_age(const void *pa, const void *pb)
{
    const struct rollout_set *a = pa;
    const struct rollout_set *b = pb;
    const char *ta = jsn_get_str(a->object, "metadata.creationTimestamp");
    const char *tb = jsn_get_str(b->object, "metadata.creationTimestamp");
    int r = strcmp(ta ? ta : "", tb ? tb : "");

    return r ? r : strcmp(object_name(a->object), object_name(b->object));
}

static void set_label(struct arena *a, struct jsn *object, const char *hash)
{
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");

    jsn_set_str(a, jsn_ensure_object(a, meta, "labels"), HASH, hash);
}

/* The deployment's own annotations go along, for `kubectl rollout history`. */
static void copy_annotations(struct arena *a, struct jsn *set, const struct jsn *deployment)
{
    static const char *const own[] = {"kubectl.kubernetes.io/last-applied-configuration", REVISION,
                                      DESIRED, MAXIMUM};
    const struct jsn *have = jsn_get(deployment, "metadata.annotations");
    struct jsn *kept = have ? jsn_clone(a, have) : jsn_object(a);
    struct jsn *meta = jsn_ensure_object(a, set, "metadata");
    struct jsn *target = jsn_ensure_object(a, meta, "annotations");

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        (void)jsn_del(kept, own[i]);
    JSN_FOR_MEMBERS (m, kept)
        jsn_set_member(a, target, m->key, m->value);
}

static struct jsn *make(struct arena *a, const struct owner *o, const char *hash)
{
    const struct jsn *d = o->object;
    struct jsn *template = jsn_clone(a, jsn_get(d, "spec.template"));
    struct jsn *set = jsn_object(a);
    struct jsn *selector = jsn_clone(a, jsn_get(d, "spec.selector"));

    set_label(a, template, hash);
    jsn_set_str(a, jsn_ensure_object(a, selector, "matchLabels"), HASH, hash);
    jsn_set_path(a, set, "metadata.name", jsn_stringf(a, "%s-%s", object_name(d), hash));
    jsn_set_path(a, set, "metadata.namespace", jsn_string(a, object_namespace(d)));
    jsn_set_path(a, set, "metadata.labels", jsn_clone(a, jsn_get(template, "metadata.labels")));
    owned_set(a, set, o);
    jsn_set_path(a, set, "spec.replicas", jsn_int(a, 0));
    if (jsn_get_int(d, "spec.minReadySeconds", 0) > 0)
        jsn_set_path(a, set, "spec.minReadySeconds", jsn_get(d, "spec.minReadySeconds"));
    jsn_set_path(a, set, "spec.selector", selector);
    jsn_set_path(a, set, "spec.template", template);
    return set;
}

static bool name_taken(const struct jsn *sets, const char *name)
{
    JSN_FOR_ITEMS (s, sets)
        if (streq(object_name(s), name))
            return true;
    return false;
}

static void make_new(struct rollout_state *x, const struct owner *o, int64_t *collisions)
{
    struct arena *a = x->p->arena;
    struct jsn *set = NULL;

    for (int i = 0; i < COLLISIONS_MAX; i++) {
        const struct jsn *template = jsn_get(x->v->deployment, "spec.template");

        set = make(a, o, template_hash(a, template, *collisions));
        if (!name_taken(x->v->replicasets, object_name(set)))
            break;
        (*collisions)++;
    }
    x->new = arena_calloc(a, 1, sizeof(*x->new));
    *x->new = (struct rollout_set){.object = set, .fresh = true};
}

/* The new set carries the highest revision, and what the deployment says of itself. */
static void number_new(struct rollout_state *x)
{
    struct arena *a = x->p->arena;
    struct jsn *before = x->new->object;
    int64_t newest = 0;

    for (size_t i = 0; i < x->n_old; i++)
        newest = MAX(newest, deployment_revision(x->old[i].object));
    x->new->object = jsn_clone(a, before);
    copy_annotations(a, x->new->object, x->v->deployment);
    if (deployment_revision(x->new->object) <= newest)
        annotate(a, x->new->object, REVISION, newest + 1);
    x->new->changed = !jsn_equal(before, x->new->object);
}

void deployment_sets_find(struct rollout_state *x, const struct owner *o, const struct jsn *owned,
                          int64_t *collisions)
{
    struct arena *a = x->p->arena;
    const struct jsn *template = jsn_get(x->v->deployment, "spec.template");
    struct rollout_set *all = arena_calloc(a, jsn_len(owned) + 1, sizeof(*all));
    size_t n = 0;

    JSN_FOR_ITEMS (s, owned)
        all[n++] = (struct rollout_set){.object = s,
                                        .replicas = jsn_get_int(s, "spec.replicas", 0),
                                        .available = jsn_get_int(s, "status.availableReplicas", 0)};
    qsort(all, n, sizeof(*all), by_age);
    x->old = arena_calloc(a, n + 1, sizeof(*x->old));
    for (size_t i = 0; i < n; i++) {
        if (!x->new && same_template(a, all[i].object, template))
            x->new = &all[i];
        else
            x->old[x->n_old++] = all[i];
    }
    if (!x->new && !jsn_get_bool(x->v->deployment, "spec.paused", false))
        make_new(x, o, collisions);
    if (x->new)
        number_new(x);
}

void deployment_scale(struct rollout_set *s, int64_t replicas)
{
    if (s->replicas == replicas)
        return;
    s->replicas = replicas;
    s->changed = true;
}

static void store_one(struct rollout_state *x, struct rollout_set *s)
{
    struct arena *a = x->p->arena;
    struct jsn *before = s->object;

    s->object = jsn_clone(a, before);
    jsn_set_path(a, s->object, "spec.replicas", jsn_int(a, s->replicas));
    if (s == x->new || s->replicas > 0) {
        annotate(a, s->object, DESIRED, x->wanted);
        annotate(a, s->object, MAXIMUM, x->wanted + x->surge);
    }
    if (s->fresh)
        plan_add(x->p, ACTION_CREATE, RESOURCE, s->object);
    else if (s->changed || !jsn_equal(before, s->object))
        plan_add(x->p, ACTION_UPDATE, RESOURCE, s->object);
}

/* Old sets without pods, the lowest revisions first, as many as there are too many. */
static void trim(struct rollout_state *x)
{
    int64_t limit = jsn_get_int(x->v->deployment, "spec.revisionHistoryLimit", 10);
    struct jsn *idle = jsn_array(x->p->arena);

    for (size_t i = 0; i < x->n_old; i++)
        if (x->old[i].replicas == 0 && !object_deleting(x->old[i].object) &&
            jsn_get_int(x->old[i].object, "status.replicas", 0) == 0 &&
            jsn_get_int(x->old[i].object, "status.observedGeneration", 0) >=
                jsn_get_int(x->old[i].object, "metadata.generation", 0))
            jsn_append(x->p->arena, idle, x->old[i].object);
    for (int64_t spare = (int64_t)jsn_len(idle) - MAX(limit, 0); spare > 0; spare--) {
        size_t oldest = 0;

        for (size_t i = 1; i < jsn_len(idle); i++)
            if (deployment_revision(jsn_item(idle, i)) <
                deployment_revision(jsn_item(idle, oldest)))
                oldest = i;
        plan_add(x->p, ACTION_DELETE, RESOURCE, jsn_item(idle, oldest));
        jsn_remove_at(idle, oldest);
    }
}

void deployment_sets_store(struct rollout_state *x)
{
    for (size_t i = 0; i < x->n_old; i++)
        store_one(x, &x->old[i]);
    if (x->new)
        store_one(x, x->new);
    trim(x);
}
