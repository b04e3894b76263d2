/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Manifests to configuration files.
 *
 * What the operator would do with these objects, if they were all there is: each object is checked
 * by itself, NodeSets are gathered by their Controller, and each Controller's files are built.
 * Objects are kept in a map by kind, namespace and name, so that a thousand of them cost no more
 * than they should; of two with one name the last counts, as it would for kubectl.
 */
#include "src/build/render.h"

#include "src/api/kinds.h"
#include "src/base/map.h"
#include "src/json/fields.h"

/* A Controller with what belongs to it. */
struct site {
    struct controller controller;
    const struct nodeset **nodesets;
    size_t n;
    size_t cap;
    const struct api_partition **partitions;
    size_t n_partitions;
    size_t cap_partitions;
    const char *place;
};

/* An object and where it was written. */
struct written {
    const struct jsn *object;
    const char *place;
};

struct renderer {
    struct arena *a;
    struct api_problems *p;
    struct map objects;       /* "Kind/namespace/name" to struct written */
    struct written **written; /* the same in order */
    size_t n_written;
    size_t cap_written;
    struct map sites; /* "namespace/name" to struct site */
    struct site **order;
    size_t n;
    size_t cap;
    struct nodeset **nodesets;
    size_t n_nodesets;
    size_t cap_nodesets;
    struct api_partition **partitions;
    size_t n_partitions;
    size_t cap_partitions;
};

static const char *namespace_of(const struct jsn *object)
{
    const char *ns = jsn_get_str(object, "metadata.namespace");

    return ns && ns[0] ? ns : "default";
}

static const char *key_of(struct arena *a, const char *kind, const char *ns, const char *name)
{
    return arena_printf(a, "%s/%s/%s", kind, ns, name);
}

/* "cluster.yaml, document 2: NodeSet slurm/gpu" */
static const char *describe(const struct renderer *r, const struct jsn *object, const char *place)
{
    return arena_printf(r->a, "%s: %s %s/%s", place, jsn_get_str(object, "kind"),
                        namespace_of(object), jsn_get_str(object, "metadata.name"));
}

/* True if the object can be told apart from others. */
static bool check_head(struct renderer *r, const struct jsn *object, const char *place)
{
    r->p->object = place;
    if (!jsn_is(object, JSN_OBJECT)) {
        api_problem_add(r->p, API_INVALID, "", "is not an object");
        return false;
    }
    for (const char *const *field =
             (const char *const[]){"apiVersion", "kind", "metadata.name", NULL};
         *field; field++) {
        const char *value = jsn_get_str(object, *field);

        if (!value || !value[0]) {
            api_problem_add(r->p, API_REQUIRED, *field, "%s",
                            value || !jsn_get(object, *field)
                                ? "must be there"
                                : "is not a string; put it in quotes");
            return false;
        }
    }
    return true;
}

static void keep(struct renderer *r, const struct jsn *object, const char *place)
{
    const char *key = key_of(r->a, jsn_get_str(object, "kind"), namespace_of(object),
                             jsn_get_str(object, "metadata.name"));
    struct written *w = map_get(&r->objects, str_of(key));

    if (w) {
        r->p->object = describe(r, object, place);
        api_problem_add(r->p, API_WARNING, "", "stands in %s, too; this one counts", w->place);
        *w = (struct written){object, place};
        return;
    }
    w = arena_calloc(r->a, 1, sizeof(*w));
    *w = (struct written){object, place};
    map_put(&r->objects, str_of(key), w);
    arena_reserve(r->a, &r->written, &r->cap_written, r->n_written + 1, sizeof(struct written *));
    r->written[r->n_written++] = w;
}

static void take(struct renderer *r, const struct jsn *object, const char *place, int depth)
{
    if (jsn_is(object, JSN_OBJECT) && depth < 4 && jsn_is(jsn_key(object, "items"), JSN_ARRAY) &&
        str_ends(str_of(jsn_get_str(object, "kind")), "List")) {
        JSN_FOR_ITEMS (item, jsn_key(object, "items"))
            take(r, item, place, depth + 1);
        return;
    }
    if (check_head(r, object, place))
        keep(r, object, place);
}

/* Decoded and found good; false: what is wrong has been told. */
static bool check_fields(struct renderer *r, const struct jsn *object, const char *place,
                         const struct jsn_field *fields, int decoded, const struct err *e)
{
    const char *unknown = fields_unknown(r->a, fields, object);

    if (decoded < 0 || unknown)
        r->p->object = describe(r, object, place);
    if (decoded < 0)
        api_problem_add(r->p, API_INVALID, "", "%s", e->text);
    if (unknown)
        api_problem_add(r->p, API_INVALID, unknown, "there is no such field");
    return decoded == 0 && !unknown;
}

static void add_controller(struct renderer *r, const struct jsn *object, const char *place)
{
    struct site *s = arena_calloc(r->a, 1, sizeof(*s));
    struct err e = {0};
    int decoded = controller_decode(r->a, object, &s->controller, &e);

    r->p->object = describe(r, object, place);
    s->place = place;
    if (!check_fields(r, object, place, controller_fields, decoded, &e))
        return;
    controller_check(&s->controller, r->p);
    map_put(&r->sites, str_of(api_full_name(r->a, &s->controller.meta)), s);
    arena_reserve(r->a, &r->order, &r->cap, r->n + 1, sizeof(struct site *));
    r->order[r->n++] = s;
}

static void add_nodeset(struct renderer *r, const struct jsn *object, const char *place)
{
    struct nodeset *ns = arena_calloc(r->a, 1, sizeof(*ns));
    struct err e = {0};
    int decoded = nodeset_decode(r->a, object, ns, &e);

    if (!check_fields(r, object, place, nodeset_fields, decoded, &e))
        return;
    arena_reserve(r->a, &r->nodesets, &r->cap_nodesets, r->n_nodesets + 1,
                  sizeof(struct nodeset *));
    r->nodesets[r->n_nodesets++] = ns;
}

static void add_partition(struct renderer *r, const struct jsn *object, const char *place)
{
    struct api_partition *part = arena_calloc(r->a, 1, sizeof(*part));
    struct err e = {0};
    int decoded = api_partition_decode(r->a, object, part, &e);

    if (!check_fields(r, object, place, api_partition_fields, decoded, &e))
        return;
    arena_reserve(r->a, &r->partitions, &r->cap_partitions, r->n_partitions + 1,
                  sizeof(struct api_partition *));
    r->partitions[r->n_partitions++] = part;
}

static void refuse_version(struct renderer *r, const struct jsn *object, const char *place,
                           const char *served)
{
    r->p->object = describe(r, object, place);
    api_problem_add(r->p, API_INVALID, "apiVersion", "%s is not served; write %s",
                    jsn_get_str(object, "apiVersion"), served);
}

/* A slip of the pen: no kind of our groups, those included that say nothing about slurm.conf. */
static void warn_kind(struct renderer *r, const struct jsn *object, const char *place)
{
    static const char *const others[] = {"Accounting",   "HostSet", "LoginSet",
                                         "RepairPolicy", "RestApi", "Token"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (streq(jsn_get_str(object, "kind"), others[i]))
            return;
    r->p->object = describe(r, object, place);
    api_problem_add(r->p, API_WARNING, "kind", "%s has no kind %s; it is left out",
                    jsn_get_str(object, "apiVersion"), jsn_get_str(object, "kind"));
}

static void sort_out(struct renderer *r, const struct written *w)
{
    const struct jsn *object = w->object;
    const char *place = w->place;
    const struct api_kind *kind = api_kind_of(object);
    const char *version = jsn_get_str(object, "apiVersion");

    if (kind && streq(kind->kind, "Controller"))
        add_controller(r, object, place);
    else if (kind && streq(kind->kind, "NodeSet"))
        add_nodeset(r, object, place);
    else if (kind && streq(kind->kind, "Partition"))
        add_partition(r, object, place);
    else if (!kind && starts_with(version, API_GROUP "/") && !streq(version, API_GROUP_VERSION))
        refuse_version(r, object, place, API_GROUP_VERSION);
    else if (!kind && starts_with(version, API_OWN_GROUP "/") &&
             !streq(version, API_OWN_GROUP "/" API_OWN_VERSION))
        refuse_version(r, object, place, API_OWN_GROUP "/" API_OWN_VERSION);
    else if (!kind &&
             (starts_with(version, API_GROUP "/") || starts_with(version, API_OWN_GROUP "/")))
        warn_kind(r, object, place);
}

static const char *place_of(const struct renderer *r, const char *kind, const struct api_meta *m)
{
    const struct written *w =
        map_get(&r->objects, str_of(key_of(r->a, kind, api_namespace(m), m->name)));

    return arena_printf(r->a, "%s: %s %s", w->place, kind, api_full_name(r->a, m));
}

/* The site of an object's Controller, and the release there; 0: there is none. */
static struct site *site_of(struct renderer *r, const struct build_env *env,
                            const struct api_meta *m, const char *controller, uint32_t *ret_release)
{
    const char *name = arena_printf(r->a, "%s/%s", api_namespace(m), controller);
    struct site *s = map_get(&r->sites, str_of(name));
    struct build_cluster c = {.env = env, .controller = s ? &s->controller : NULL};

    *ret_release = s ? build_release(&c) : 0;
    return s;
}

/* Name the object in what was found since; names are made only for what is wrong. */
static void name_problems(struct renderer *r, size_t before, const char *kind,
                          const struct api_meta *m)
{
    for (size_t i = before; i < r->p->n; i++)
        r->p->items[i].object = place_of(r, kind, m);
}

static void tell_missing(struct renderer *r, const char *kind, const struct api_meta *m,
                         const char *controller)
{
    r->p->object = place_of(r, kind, m);
    api_problem_add(r->p, API_NOT_FOUND, "spec.controllerRef.name",
                    "there is no Controller %s in namespace %s among the manifests", controller,
                    api_namespace(m));
}

/* Hand the NodeSet to its Controller, and check what depends on the release there. */
static void settle_nodeset(struct renderer *r, const struct build_env *env, struct nodeset *ns)
{
    uint32_t release;
    struct site *s = site_of(r, env, &ns->meta, ns->spec.controller_ref.name, &release);
    size_t before = r->p->n;

    nodeset_check(ns, release, r->p);
    name_problems(r, before, "NodeSet", &ns->meta);
    if (!s) {
        tell_missing(r, "NodeSet", &ns->meta, ns->spec.controller_ref.name);
        return;
    }
    arena_reserve(r->a, &s->nodesets, &s->cap, s->n + 1, sizeof(struct nodeset *));
    s->nodesets[s->n++] = ns;
}

static void settle_partition(struct renderer *r, const struct build_env *env,
                             struct api_partition *part)
{
    uint32_t release;
    struct site *s = site_of(r, env, &part->meta, part->spec.controller_ref.name, &release);
    size_t before = r->p->n;

    api_partition_check(part, release, r->p);
    name_problems(r, before, "Partition", &part->meta);
    if (!s) {
        tell_missing(r, "Partition", &part->meta, part->spec.controller_ref.name);
        return;
    }
    arena_reserve(r->a, &s->partitions, &s->cap_partitions, s->n_partitions + 1,
                  sizeof(struct api_partition *));
    s->partitions[s->n_partitions++] = part;
}

static int find_object(void *ctx, const char *kind, const char *ns, const char *name,
                       const struct jsn **ret_object)
{
    const struct renderer *r = ctx;

    const struct written *w = map_get(&r->objects, str_of(key_of(r->a, kind, ns, name)));

    *ret_object = w ? w->object : NULL;
    return 0;
}

static int visit_none(void *ctx, const char *kind, const char *ns, api_visit_fn visit, void *arg)
{
    (void)ctx;
    (void)kind;
    (void)ns;
    (void)visit;
    (void)arg;
    return -ENOTSUP;
}

/* Problems that the builder found name the object; put the document before it, drop repetitions. */
static void add_problems(struct renderer *r, const struct api_problems *found)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct api_problem *f = &found->items[i];
        const char *blank = f->object ? strchr(f->object, ' ') : NULL;
        const struct written *w = NULL;
        bool known = false;

        if (blank)
            w = map_get(&r->objects, str_of(arena_printf(r->a, "%.*s/%s", (int)(blank - f->object),
                                                         f->object, blank + 1)));
        r->p->object = w ? arena_printf(r->a, "%s: %s", w->place, f->object) : f->object;
        for (size_t k = 0; k < r->p->n; k++)
            known = known || (streq(r->p->items[k].object, r->p->object) &&
                              streq(r->p->items[k].field, f->field));
        if (!known)
            api_problem_value(r->p, f->reason, f->field, f->value, "%s", f->text);
    }
}

static void build_site(struct renderer *r, const struct build_env *env, struct site *s,
                       struct render_cluster *ret)
{
    const struct api_lookup lookup = {find_object, visit_none, r};
    struct api_problems found = {.arena = r->a};
    const struct api_ref *ref = s->controller.spec.accounting_ref;
    struct accounting acct;
    const struct jsn *object = NULL;
    struct build_cluster c = {.env = env,
                              .controller = &s->controller,
                              .nodesets = s->nodesets,
                              .n_nodesets = s->n,
                              .partitions = s->partitions,
                              .n_partitions = s->n_partitions,
                              .lookup = &lookup};

    if (ref &&
        find_object(r, "Accounting", api_namespace(&s->controller.meta), ref->name, &object) == 0 &&
        object && accounting_decode(r->a, object, &acct, NULL) == 0)
        c.accounting = &acct;
    ret->name = api_full_name(r->a, &s->controller.meta);
    ret->good = build_config(r->a, &c, &ret->config, &found) == 0;
    assert(ret->good || found.errors > 0); /* whatever is wrong has been told */
    ret->push = build_config_push(r->a, &c, &ret->config);
    add_problems(r, &found);
}

void render_manifests(struct arena *a, const struct build_env *env, const struct render_doc *docs,
                      size_t n, struct render_result *ret, struct api_problems *p)
{
    struct renderer r = {.a = a, .p = p};

    for (size_t i = 0; i < n; i++)
        take(&r, docs[i].object, docs[i].place, 0);
    for (size_t i = 0; i < r.n_written; i++)
        sort_out(&r, r.written[i]);
    for (size_t i = 0; i < r.n_nodesets; i++)
        settle_nodeset(&r, env, r.nodesets[i]);
    for (size_t i = 0; i < r.n_partitions; i++)
        settle_partition(&r, env, r.partitions[i]);
    *ret = (struct render_result){arena_calloc(a, r.n + 1, sizeof(*ret->clusters)), r.n};
    for (size_t i = 0; i < r.n; i++)
        build_site(&r, env, r.order[i], &ret->clusters[i]);
    p->object = NULL;
    map_done(&r.objects);
    map_done(&r.sites);
}
