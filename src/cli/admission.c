/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our kinds in the embedded API server: what a webhook is on Kubernetes.
 *
 * admission_check decides; here its view of other objects is the server's own store, and its
 * answers become causes of a 422, a sentence a field, or Warning headers.  Changes of a status are
 * not looked at.
 *
 * Who has which name in Slurm is noted as changes are committed, so that a new object among
 * thousands need not be held against all of them.  Writes of this turn that wait for their commit
 * are looked at one by one.
 */
#include "src/cli/admission.h"

#include "src/admission/admission.h"
#include "src/cluster/apiserver/inside.h"
#include "src/plan/kind.h"

struct view {
    struct apiserver *server;
    struct arena *arena;
    const struct name_index *names;
};

/* What the store calls the objects of a kind; NULL: it is none that rules look at. */
static const char *resource_of(struct arena *a, const char *kind)
{
    if (streq(kind, "Node")) /* how many pods the machine takes; plans do not read it */
        return "nodes";
    for (const struct plan_kind *k = plan_kinds; k->kind; k++)
        if (streq(k->kind, kind))
            return k->group[0] ? arena_printf(a, "%s.%s", k->plural, k->group) : k->plural;
    return NULL;
}

static int view_get(void *ctx, const char *kind, const char *ns, const char *name,
                    const struct jsn **ret_object)
{
    const struct view *v = ctx;
    struct store_key key = {resource_of(v->arena, kind), ns, name};
    struct jsn *object;
    int r;

    *ret_object = NULL;
    if (!key.resource)
        return -ENOTSUP;
    r = inside_get(v->server, v->arena, &key, &object, NULL);
    if (r == -ENOENT)
        return 0;
    if (r == 0)
        *ret_object = object;
    return r;
}

struct visit {
    const struct view *view;
    api_visit_fn fn;
    void *arg;
};

static bool visit_row(void *arg, const struct store_row *row)
{
    const struct visit *v = arg;
    struct jsn *object;

    if (jsn_parse(v->view->arena, row->data, NULL, &object, NULL) < 0)
        return true;
    return v->fn(v->arg, object);
}

static int view_each(void *ctx, const char *kind, const char *ns, api_visit_fn fn, void *arg)
{
    const struct view *v = ctx;
    const char *resource = resource_of(v->arena, kind);
    struct visit visit = {v, fn, arg};

    return resource ? inside_each(v->server, resource, ns, visit_row, &visit, NULL) : -ENOTSUP;
}

/* One that has the name, as it stands now. */
struct named_visit {
    struct visit visit;
    const char *kind;
    const char *ns;
    bool ended;
};

static bool visit_named(void *arg, const char *name)
{
    struct named_visit *v = arg;
    const struct jsn *object = NULL;

    if (view_get((void *)(uintptr_t)v->visit.view, v->kind, v->ns, name, &object) == 0 && object)
        v->ended = !v->visit.fn(v->visit.arg, object);
    return !v->ended;
}

static bool visit_pending(void *arg, const struct store_row *row)
{
    struct named_visit *v = arg;

    if (!v->ended && streq(row->key.ns, v->ns))
        v->ended = !visit_named(v, row->key.name);
    return !v->ended;
}

static int view_each_named(void *ctx, const char *kind, const char *ns, const char *name,
                           api_visit_fn fn, void *arg)
{
    const struct view *v = ctx;
    struct named_visit visit = {{v, fn, arg}, kind, ns, false};

    name_index_each(v->names, kind, ns, name, visit_named, &visit);
    if (!visit.ended)
        inside_each_pending(v->server, resource_of(v->arena, kind), visit_pending, &visit);
    return 0;
}

static void answer(struct inside_write *w, const struct api_problems *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct api_problem *item = &p->items[i];
        struct admission_cause cause;

        if (item->reason == API_WARNING) {
            inside_warn(w, item->field, item->text);
            continue;
        }
        cause = admission_cause_of(w->arena, item);
        inside_refuse(w, cause.reason, item->field, cause.text);
    }
}

/* A copy that says what it is, as objects do outside of the store. */
static struct jsn *with_kind(const struct inside_write *w)
{
    struct arena *a = w->arena;
    struct jsn *copy = jsn_object(a);

    jsn_set_str(a, copy, "apiVersion", arena_printf(a, "%s/%s", w->group, w->version));
    jsn_set_str(a, copy, "kind", w->kind);
    JSN_FOR_MEMBERS (m, w->object)
        jsn_set_member(a, copy, m->key, m->value);
    return copy;
}

static void admit(void *arg, struct inside_write *w)
{
    const struct admission *a = arg;
    struct view view = {a->server, w->arena, &a->names};
    struct api_lookup lookup = {view_get, view_each, &view, view_each_named};
    struct api_problems p = {.arena = w->arena};
    struct admission_request in = {
        .old = w->old, .lookup = &lookup, .release = a->release, .host_slurm = a->host_slurm};

    bool is_key = !w->group[0] && streq(w->kind, "Secret");

    if (!(is_key || api_group_is_ours(w->group)) || streq(w->subresource, "status"))
        return;
    in.object = with_kind(w);
    if (is_key)
        admission_check_secret(&in, &p);
    else
        admission_check(&in, &p);
    answer(w, &p);
}

static bool has_names(const struct api_kind *k)
{
    return k->slurm_name != api_no_slurm_name;
}

/* The kind of a resource ("nodesets.slinky.slurm.net") that has names in Slurm, or NULL. */
static const char *named_kind(const char *resource)
{
    API_FOR_KINDS (k) {
        size_t n = strlen(k->plural);

        if (has_names(k) && starts_with(resource, k->plural) && resource[n] == '.' &&
            streq(resource + n + 1, k->group))
            return k->kind;
    }
    return NULL;
}

static bool note_row(void *arg, const struct store_row *row)
{
    AUTO(arena_done) struct arena a = {0};
    struct admission *admission = arg;
    struct jsn *object = NULL;

    if (jsn_parse(&a, row->data, NULL, &object, NULL) == 0)
        name_index_put(&admission->names, named_kind(row->key.resource), row->key.ns, object);
    return true;
}

static void on_change(void *arg, const struct store_event *ev)
{
    struct admission *a = arg;
    const char *kind = named_kind(ev->row.key.resource);

    if (kind && ev->change == STORE_DELETED)
        name_index_drop(&a->names, kind, ev->row.key.ns, ev->row.key.name);
    else if (kind)
        (void)note_row(a, &ev->row);
}

int admission_install(struct admission *a, struct err *e)
{
    AUTO(arena_done) struct arena arena = {0};

    name_index_init(&a->names);
    API_FOR_KINDS (k) {
        const char *resource = resource_of(&arena, k->kind);
        int r = has_names(k) ? inside_each(a->server, resource, NULL, note_row, a, e) : 0;

        if (r < 0)
            return r;
    }
    inside_observe(a->server, on_change, a);
    inside_admit(a->server, admit, a);
    return 0;
}

void admission_done(struct admission *a)
{
    name_index_done(&a->names);
}
