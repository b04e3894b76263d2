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

#include "src/build/render_kinds.h"
#include "src/json/fields.h"

static const char *namespace_of(const struct jsn *object)
{
    const char *ns = jsn_get_str(object, "metadata.namespace");

    return ns && ns[0] ? ns : "default";
}

const char *render_key(struct arena *a, const char *kind, const char *ns, const char *name)
{
    return arena_printf(a, "%s/%s/%s", kind, ns, name);
}

const char *render_describe(const struct renderer *r, const struct jsn *object, const char *place)
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
    const char *key = render_key(r->a, jsn_get_str(object, "kind"), namespace_of(object),
                                 jsn_get_str(object, "metadata.name"));
    struct written *w = map_get(&r->objects, str_of(key));

    if (w) {
        r->p->object = render_describe(r, object, place);
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

static void refuse_version(struct renderer *r, const struct jsn *object, const char *place,
                           const char *served)
{
    r->p->object = render_describe(r, object, place);
    api_problem_add(r->p, API_INVALID, "apiVersion", "%s is not served; write %s",
                    jsn_get_str(object, "apiVersion"), served);
}

/* A slip of the pen: no kind of our groups, those included that say nothing about slurm.conf. */
static void warn_kind(struct renderer *r, const struct jsn *object, const char *place)
{
    static const char *const others[] = {"HostSet", "RepairPolicy"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (streq(jsn_get_str(object, "kind"), others[i]))
            return;
    r->p->object = render_describe(r, object, place);
    api_problem_add(r->p, API_WARNING, "kind", "%s has no kind %s; it is left out",
                    jsn_get_str(object, "apiVersion"), jsn_get_str(object, "kind"));
}

static void sort_out(struct renderer *r, const struct written *w)
{
    const struct api_kind *kind = api_kind_of(w->object);
    const char *version = jsn_get_str(w->object, "apiVersion");
    struct str rest = str_of(version);
    struct str group = {0};
    const char *served = NULL;

    if (str_split(&rest, '/', &group))
        served = api_group_version(arena_str(r->a, group));
    if (kind)
        render_kinds[kind->id]->take(r, w->object, w->place);
    else if (served && !str_eqz(rest, served))
        refuse_version(r, w->object, w->place,
                       arena_printf(r->a, STR_FMT "/%s", STR_ARG(group), served));
    else if (served)
        warn_kind(r, w->object, w->place);
}

static int find_object(void *ctx, const char *kind, const char *ns, const char *name,
                       const struct jsn **ret_object)
{
    const struct renderer *r = ctx;

    const struct written *w = map_get(&r->objects, str_of(render_key(r->a, kind, ns, name)));

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
    for (size_t i = 0; i < API_N_KINDS; i++)
        render_kinds[i]->settle(&r, env);
    *ret = (struct render_result){arena_calloc(a, r.n + 1, sizeof(*ret->clusters)), r.n};
    for (size_t i = 0; i < r.n; i++)
        build_site(&r, env, r.order[i], &ret->clusters[i]);
    p->object = NULL;
    map_done(&r.objects);
    map_done(&r.sites);
}
