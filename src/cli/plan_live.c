/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What clusters are made from: the objects of the API server, with manifests laid over them.
 *
 * A manifest takes the place of the object's spec (or of a ConfigMap's data), and its labels and
 * annotations are laid over those that are there; identity, age and status stay.  Kinds that the
 * server does not know have no objects.
 *
 * The operator builds for a Slurm release and a kind of control groups that it may have been told
 * on its command line.  Both show in the files that it wrote: of all known releases the newest is
 * taken for which the objects of now give the file of now.
 */
#include "src/api/kinds.h"
#include "src/base/map.h"
#include "src/build/labels.h"
#include "src/cli/plan.h"
#include "src/json/patch_merge.h"
#include "src/plan/kind.h"

static const char *key_of(const struct plan_world *w, const struct jsn *o)
{
    return arena_printf(w->a, "%s/%s/%s", jsn_get_str(o, "kind"),
                        jsn_get_str(o, "metadata.namespace"), jsn_get_str(o, "metadata.name"));
}

static int read_kind(struct plan_world *w, const char *kind, const char *ns, struct jsn *all,
                     struct err *e)
{
    const struct plan_kind *k = plan_kind_find(kind);
    struct kube_resource resource = {k->group, k->version, k->plural};
    struct jsn *items = NULL;
    int r = ask_list(w->ask, w->a, &resource, ns, &items, e);

    if (r == -ENOENT && plan_kind_sight(k) != SIGHT_NEEDED)
        return 0;
    if (r < 0)
        return err_wrap(e, r, "reading %s", k->plural);
    JSN_FOR_ITEMS (item, items) {
        struct jsn *o = jsn_object(w->a);

        if (streq(kind, "Partition") && jsn_get_str(item, "metadata.deletionTimestamp"))
            continue;
        jsn_set_str(w->a, o, "apiVersion",
                    k->group[0] ? arena_printf(w->a, "%s/%s", k->group, k->version) : k->version);
        jsn_set_str(w->a, o, "kind", k->kind);
        JSN_FOR_MEMBERS (m, item)
            jsn_set_member(w->a, o, m->key, m->value);
        jsn_append(w->a, all, o);
    }
    return 0;
}

/* The object as it would be. */
static struct jsn *lay_over(const struct plan_world *w, const struct jsn *live,
                            const struct jsn *manifest)
{
    struct jsn *o = jsn_clone(w->a, manifest);
    struct jsn *meta = live ? jsn_clone(w->a, jsn_key(live, "metadata")) : jsn_object(w->a);

    jsn_set(w->a, o, "metadata", patch_merge(w->a, meta, jsn_key(manifest, "metadata")));
    if (jsn_key(live, "status"))
        jsn_set(w->a, o, "status", jsn_clone(w->a, jsn_key(live, "status")));
    return o;
}

/* A manifest in the namespace that it would be applied to. */
static struct jsn *placed(const struct plan_world *w, const struct jsn *object)
{
    struct jsn *o = jsn_clone(w->a, object);

    if (!jsn_get_str(o, "metadata.namespace"))
        jsn_set_path(w->a, o, "metadata.namespace", jsn_string(w->a, w->namespace));
    return o;
}

struct overlay {
    struct plan_world *w;
    struct map at; /* key to the index in `then`, plus one */
    size_t cap;
};

static void add_doc(struct overlay *v, struct jsn *o, const char *place)
{
    struct plan_world *w = v->w;

    arena_reserve(w->a, &w->then, &v->cap, w->n_then + 1, sizeof(*w->then));
    w->then[w->n_then++] = (struct render_doc){o, place};
    map_put(&v->at, str_of(key_of(w, o)), (void *)(uintptr_t)w->n_then);
}

static void put(struct overlay *v, const struct jsn *object, const char *place, int depth)
{
    struct plan_world *w = v->w;
    struct jsn *o;
    size_t at;

    if (!jsn_is(object, JSN_OBJECT) || !jsn_get_str(object, "metadata.name")) {
        if (depth < 4 && jsn_is(jsn_key(object, "items"), JSN_ARRAY))
            JSN_FOR_ITEMS (item, jsn_key(object, "items"))
                put(v, item, place, depth + 1);
        else
            add_doc(v, jsn_clone(w->a, object), place); /* what is wrong is told by rendering it */
        return;
    }
    o = placed(w, object);
    jsn_set_bool(w->a, w->touched, jsn_get_str(o, "metadata.namespace"), true);
    at = (size_t)(uintptr_t)map_get(&v->at, str_of(key_of(w, o)));
    if (at)
        w->then[at - 1] = (struct render_doc){lay_over(w, w->then[at - 1].object, o), place};
    else
        add_doc(v, o, place);
}

/* The ConfigMaps beside a Controller, once for each namespace. */
static int read_config_maps(struct plan_world *w, const struct jsn *o, struct jsn *seen,
                            struct jsn *all, struct err *e)
{
    const char *ns = jsn_get_str(o, "metadata.namespace");

    if (!ns)
        ns = w->namespace;
    if (!streq(jsn_get_str(o, "kind"), "Controller") || jsn_member(seen, str_of(ns)))
        return 0;
    jsn_set_bool(w->a, seen, ns, true);
    return read_kind(w, "ConfigMap", ns, all, e);
}

static int read_all(struct plan_world *w, const struct render_doc *docs, size_t n_docs,
                    struct jsn *all, struct err *e)
{
    struct jsn *seen = jsn_object(w->a);
    size_t n;
    int r = 0;

    for (size_t i = 0; r == 0 && i < API_N_KINDS; i++)
        r = read_kind(w, api_kinds[i]->kind, w->only, all, e);
    if (r == 0)
        r = read_kind(w, "Accounting", w->only, all, e);
    n = jsn_len(all);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = read_config_maps(w, jsn_item(all, i), seen, all, e);
    for (size_t i = 0; r == 0 && i < n_docs; i++)
        r = read_config_maps(w, docs[i].object, seen, all, e);
    return r;
}

int plan_world_read(struct plan_world *w, const struct render_doc *docs, size_t n, struct err *e)
{
    struct jsn *all = jsn_array(w->a);
    struct overlay v = {.w = w};
    int r = read_all(w, docs, n, all, e);

    if (r < 0)
        return r;
    w->touched = jsn_object(w->a);
    w->now = arena_calloc(w->a, jsn_len(all) + 1, sizeof(*w->now));
    JSN_FOR_ITEMS (o, all) {
        w->now[w->n_now++] = (struct render_doc){o, "in the cluster"};
        add_doc(&v, o, "in the cluster");
    }
    for (size_t i = 0; i < n; i++)
        put(&v, docs[i].object, docs[i].place, 0);
    map_done(&v.at);
    return 0;
}

const struct jsn *plan_world_config(const struct plan_world *w, const char *ns, const char *name)
{
    const char *config = labels_config(w->a, name);

    for (size_t i = 0; i < w->n_now; i++) {
        const struct jsn *o = w->now[i].object;

        if (streq(jsn_get_str(o, "kind"), "ConfigMap") &&
            streq(jsn_get_str(o, "metadata.name"), config) &&
            streq(jsn_get_str(o, "metadata.namespace"), ns))
            return o;
    }
    return NULL;
}

static const char *file_of(const struct jsn *map, const char *name)
{
    return jsn_text(jsn_member(jsn_key(map, "data"), str_of(name)));
}

/* Do the objects of now give the file of now, in this environment? */
static bool fits(const struct plan_world *w, const char *full_name, const char *conf,
                 const struct build_env *env)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems ignored = {.arena = &a};
    struct render_result r;

    render_manifests(&a, env, w->now, w->n_now, &r, &ignored);
    for (size_t i = 0; i < r.n; i++)
        if (streq(r.clusters[i].name, full_name))
            return streq(build_config_file(&r.clusters[i].config, "slurm.conf"), conf);
    return false;
}

void plan_world_fit(const struct plan_world *w, const char *ns, const char *name,
                    struct build_env *env)
{
    const struct jsn *map = plan_world_config(w, ns, name);
    const char *conf = file_of(map, "slurm.conf");
    const char *cgroup = file_of(map, "cgroup.conf");
    const char *full_name = arena_printf(w->a, "%s/%s", ns, name);

    if (conf && strstr(conf, "\nProctrackType=proctrack/linuxproc\n"))
        env->cgroup = BUILD_CGROUP_NONE;
    else if (cgroup && strstr(cgroup, "=autodetect"))
        env->cgroup = BUILD_CGROUP_AUTO;
    else if (cgroup && !strstr(cgroup, "cgroup/v2"))
        env->cgroup = BUILD_CGROUP_V1;
    env->munge = conf && strstr(conf, "\nAuthType=auth/munge\n");
    if (env->release || !conf)
        return;
    for (const uint32_t *series = profile_series; *series; series++) {
        env->release = *series;
        if (fits(w, full_name, conf, env))
            return;
    }
    env->release = strstr(conf, "\nAuthType=auth/munge\n") ? RELEASE_OLDEST : 0;
}
