/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's view of the cluster.
 *
 * The tables of kinds say which are watched (src/plan/kind.c) and how much of each is kept: pods as
 * small structs (there may be ten thousand), our own as their kind says (kinds.h), the rest as
 * text.  Kinds whose definition may be missing are waited for: needed ones with a word in the log
 * until they are there, others in silence.  Absence is only trusted once a cache is synced.
 *
 * A kind that servers have in one of two versions is looked for in both, by turns: the first answer
 * that is no "not found" settles it, until the server changes its mind (an upgrade).
 */
#include "src/operator/world.h"

#include "src/api/kinds.h"
#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/operator/kept_pods.h"
#include "src/operator/kinds.h"

/* Objects a page of the first lists: the tree of a page is what they cost at most. */
#define PAGE_LIMIT 100
/* A server that knew neither version of a kind is asked so often before the other one's turn. */
#define REFUSALS_MAX 4
/* Between questions for kinds that the server does not know. */
#define AWAITED_MS 5000
#define OPTIONAL_MS 30000

/* One kind in one namespace, or in all. */
struct view {
    struct world *world;
    const struct plan_kind *kind;
    enum plan_sight sight;
    char *namespace; /* NULL: all */
    struct kube_cache *cache;
    const char *version;
    struct loop_source *turn; /* to the other version; NULL: there is none */
    unsigned refusals;        /* in a row, of this version */
    bool turned;
    bool absent; /* the server does not know the kind */
    bool complained;
    char *told; /* why it cannot be watched, told last; NULL: it can */
};

struct world {
    struct kube_client *client;
    struct world_options options;
    struct view *views;
    size_t n;
    bool told;
};

static void on_added(void *arg, const struct kube_object *o)
{
    struct view *v = arg;

    v->world->options.changed(v->world->options.arg, v->kind->kind, NULL, o);
}

static void on_updated(void *arg, const struct kube_object *old, const struct kube_object *o)
{
    struct view *v = arg;

    v->world->options.changed(v->world->options.arg, v->kind->kind, old, o);
}

static void on_deleted(void *arg, const struct kube_object *o, bool is_final)
{
    struct view *v = arg;

    (void)is_final;
    v->world->options.changed(v->world->options.arg, v->kind->kind, o, NULL);
}

static void tell_synced(struct world *w)
{
    if (w->told || !world_synced(w, NULL))
        return;
    w->told = true;
    w->options.synced(w->options.arg);
}

static void on_synced(void *arg)
{
    struct view *v = arg;
    struct world *w = v->world;

    if (v->complained)
        log_info("%s: the server has them now", v->kind->kind);
    v->absent = v->complained = false;
    v->refusals = 0;
    free(TAKE(v->told));
    tell_synced(w);
}

static void view_start(struct view *v);

/* The server does not have the kind in this version: what was seen of it is no longer true. */
static void on_turn(void *arg)
{
    struct view *v = arg;
    const struct plan_kind *k = v->kind;

    v->version = v->version == k->version ? k->older : k->version;
    v->turned = true;
    v->refusals = 0;
    v->world->told = false;
    v->cache = kube_cache_free(v->cache);
    view_start(v);
}

static void on_trouble(void *arg, const struct kube_failure *f, int64_t retry_ms)
{
    struct view *v = arg;
    const struct plan_kind *k = v->kind;

    v->absent = f->code == 404;
    if (v->absent && v->turn && (!v->turned || ++v->refusals >= REFUSALS_MAX)) {
        loop_timer_arm(v->turn, 0);
        return;
    }
    if (v->absent && v->sight != SIGHT_NEEDED) {
        tell_synced(v->world);
        return;
    }
    if (v->absent && !v->complained)
        log_warn("the server does not know %s.%s yet: waiting for it%s", k->plural, k->group,
                 api_group_is_ours(k->group) ? "; apply deploy/crds" : "");
    else if (!v->absent && retry_ms >= 1000 && !(v->told && streq(v->told, f->err.text))) {
        log_warn("watching %s: trying again for as long as it takes: %s", k->plural, f->err.text);
        free(v->told);
        v->told = xstrdup(f->err.text);
    }
    v->complained = true;
}

static void view_start(struct view *v)
{
    const struct plan_kind *k = v->kind;
    const struct operator_kind *own = operator_kind_find(k->kind);
    bool pods = streq(k->kind, "Pod");
    struct kube_cache_options o = {
        .reflector.scope = {.resource = {k->group, v->version, k->plural},
                            .namespace = v->namespace,
                            .label_selector = k->selector},
        .reflector.page_limit = PAGE_LIMIT,
        .reflector.backoff_max_ms = api_group_is_ours(k->group) ? 1000 : 10000,
        .reflector.absent_ms = v->sight == SIGHT_NEEDED    ? 0
                               : v->sight == SIGHT_AWAITED ? AWAITED_MS
                                                           : OPTIONAL_MS,
        .decoder = own                      ? own->decoder
                   : pods                   ? &kept_pods_decoder
                   : streq(k->kind, "Node") ? &kept_machines_decoder
                                            : NULL,
        .keep_text = own != NULL,
        .by_owner = k->by_owner,
        .indexes = own    ? own->indexes
                   : pods ? kept_pods_indexes
                          : NULL,
        .trouble = on_trouble,
        .trouble_arg = v,
    };
    struct kube_handler h = {on_added, on_updated, on_deleted, on_synced, v};

    v->cache = kube_cache_new(v->world->client, &o);
    kube_cache_add_handler(v->cache, &h);
}

/* The view that holds a namespace's objects of the kind; ns NULL: any. */
static const struct view *find_view(const struct world *w, const char *kind, const char *ns)
{
    for (size_t i = 0; i < w->n; i++)
        if (streq(w->views[i].kind->kind, kind) &&
            (!ns || !w->views[i].namespace || streq(w->views[i].namespace, ns)))
            return &w->views[i];
    return NULL;
}

static void add_views(struct world *w, const char *ns)
{
    for (const struct plan_kind *k = plan_kinds; k->kind; k++) {
        struct view *v = &w->views[w->n];

        if (k->cluster && ns && find_view(w, k->kind, NULL))
            continue; /* there is one already */
        w->n++;

        *v = (struct view){.world = w,
                           .kind = k,
                           .sight = plan_kind_sight(k),
                           .namespace = k->cluster ? NULL : xstrdup_null(ns),
                           .version = k->version};
        if (k->older)
            v->turn = loop_add_timer(kube_client_loop(w->client), on_turn, v);
    }
}

struct world *world_new(struct kube_client *c, const struct world_options *o)
{
    struct world *w = xcalloc(1, sizeof(*w));
    size_t n = 0;

    w->client = c;
    w->options = *o;
    while (o->namespaces && o->namespaces[n])
        n++;
    w->views = xcalloc(MAX(n, (size_t)1) * plan_n_kinds, sizeof(*w->views));
    if (n == 0)
        add_views(w, NULL);
    for (size_t i = 0; i < n; i++)
        add_views(w, o->namespaces[i]);
    for (size_t i = 0; i < w->n; i++)
        view_start(&w->views[i]);
    return w;
}

struct world *world_free(struct world *w)
{
    if (!w)
        return NULL;
    for (size_t i = 0; i < w->n; i++) {
        (void)kube_cache_free(w->views[i].cache);
        (void)loop_source_free(w->views[i].turn);
        free(w->views[i].namespace);
        free(w->views[i].told);
    }
    free(w->views);
    free(w);
    return NULL;
}

bool world_synced(const struct world *w, const char **ret_missing)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct view *v = &w->views[i];

        if (v->sight == SIGHT_OPTIONAL || (v->cache && kube_cache_synced(v->cache)) ||
            (v->sight == SIGHT_AWAITED && v->absent))
            continue;
        if (ret_missing)
            *ret_missing = v->kind->kind;
        return false;
    }
    return true;
}

static bool is_known(const struct view *v)
{
    return v && kube_cache_synced(v->cache) && !v->absent;
}

bool world_serves(const struct world *w, const char *kind)
{
    return is_known(find_view(w, kind, NULL));
}

const char *world_version(const struct world *w, const struct plan_kind *kind)
{
    const struct view *v = find_view(w, kind->kind, NULL);

    return v ? v->version : kind->version;
}

const struct kube_object *world_get(const struct world *w, const char *kind, const char *ns,
                                    const char *name)
{
    const struct view *v = find_view(w, kind, ns);

    return is_known(v) && name ? kube_cache_get(v->cache, ns, name) : NULL;
}

void world_pretend(const struct world *w, const char *kind, struct jsn *object)
{
    const struct view *v = find_view(w, kind, jsn_get_str(object, "metadata.namespace"));

    if (is_known(v))
        kube_cache_pretend(v->cache, object);
}

struct kube_slice world_find(const struct world *w, const char *kind, const char *ns,
                             const char *index, const char *value)
{
    const struct view *v = find_view(w, kind, ns);
    AUTO(free) char *key = xasprintf("%s/%s", ns, value);

    return v ? kube_cache_by_index(v->cache, index, key) : (struct kube_slice){0};
}

void world_visit(const struct world *w, const char *kind, const char *index, const char *key,
                 world_visit_fn fn, void *arg)
{
    for (size_t i = 0; i < w->n; i++) {
        struct kube_slice s = {0};

        if (streq(w->views[i].kind->kind, kind))
            s = kube_cache_by_index(w->views[i].cache, index, key);
        for (size_t k = 0; k < s.n; k++)
            fn(arg, s.items[k]);
    }
}

struct kube_slice world_owned(const struct world *w, const char *kind, const char *ns,
                              const char *uid)
{
    const struct view *v = find_view(w, kind, ns);

    return v && uid ? kube_cache_by_owner(v->cache, uid) : (struct kube_slice){0};
}

const struct kube_object *world_next(const struct world *w, const char *kind, const char *ns,
                                     size_t *at)
{
    const struct view *v = find_view(w, kind, ns);
    const struct kube_object *o;

    while (v && (o = kube_cache_next(v->cache, at)))
        if (streq(o->namespace, ns))
            return o;
    return NULL;
}

size_t world_count(const struct world *w, const char *kind)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        if (streq(w->views[i].kind->kind, kind))
            n += kube_cache_count(w->views[i].cache);
    return n;
}

size_t world_bytes(const struct world *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        n += kube_cache_bytes(w->views[i].cache);
    return n;
}

static int lookup_get(void *ctx, const char *kind, const char *ns, const char *name,
                      const struct jsn **ret_object)
{
    const struct world_view *view = ctx;
    const struct view *v = find_view(view->world, kind, ns);
    const struct kube_object *o;
    struct jsn *value = NULL;
    struct err e = {0};

    if (!is_known(v))
        return -EAGAIN;
    o = kube_cache_get(v->cache, ns, name);
    if (o && kube_object_parse(o, view->arena, &value, &e) < 0)
        return e.num;
    *ret_object = value;
    return 0;
}

static int lookup_each(void *ctx, const char *kind, const char *ns, api_visit_fn visit, void *arg)
{
    const struct world_view *view = ctx;
    const struct view *v = find_view(view->world, kind, ns);
    const struct kube_object *o;
    size_t at = 0;

    if (!is_known(v))
        return -EAGAIN;
    while ((o = kube_cache_next(v->cache, &at))) {
        struct jsn *value = NULL;
        struct err e = {0};

        if (!streq(o->namespace, ns) || kube_object_parse(o, view->arena, &value, &e) < 0)
            continue;
        if (!visit(arg, value))
            break;
    }
    return 0;
}

static int lookup_each_named(void *ctx, const char *kind, const char *ns, const char *name,
                             api_visit_fn visit, void *arg)
{
    const struct world_view *view = ctx;
    const struct api_kind *own = api_kind_find(kind);
    struct kube_slice s;

    if (!own || own->slurm_name == api_no_slurm_name)
        return lookup_each(ctx, kind, ns, visit, arg);
    if (!is_known(find_view(view->world, kind, ns)))
        return -EAGAIN;
    s = world_find(view->world, kind, ns, WORLD_BY_SLURM_NAME, name);
    for (size_t i = 0; i < s.n; i++) {
        struct jsn *value = NULL;
        struct err e = {0};

        if (kube_object_parse(s.items[i], view->arena, &value, &e) == 0 && !visit(arg, value))
            break;
    }
    return 0;
}

struct api_lookup world_lookup(struct world_view *view)
{
    return (struct api_lookup){
        .get = lookup_get, .each = lookup_each, .ctx = view, .each_named = lookup_each_named};
}
