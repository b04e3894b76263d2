/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A model of the API server: objects, their versions, what watches bring of them. */
#include <errno.h>

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/build/labels.h"
#include "src/json/patch_merge.h"
#include "tests/sim/sim.h"

static void rev_drop(struct rev *r)
{
    if (!r || --r->refs > 0)
        return;
    arena_done(&r->arena);
    free(r);
}

static struct rev *rev_share(struct rev *r)
{
    if (r)
        r->refs++;
    return r;
}

struct rev *revs_find(const struct shelf_of_revs *s, const char *kind, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (streq(s->items[i]->name, name) && streq(s->items[i]->kind, kind))
            return s->items[i];
    return NULL;
}

void revs_put(struct shelf_of_revs *s, const char *kind, const char *name, struct rev *rev)
{
    size_t i = 0;

    (void)rev_share(rev);
    while (i < s->n && !(streq(s->items[i]->name, name) && streq(s->items[i]->kind, kind)))
        i++;
    if (i < s->n)
        rev_drop(s->items[i]);
    if (rev && i == s->n) {
        array_reserve(&s->items, &s->cap, s->n + 1, sizeof(struct rev *));
        s->n++;
    }
    if (rev)
        s->items[i] = rev;
    else if (i < s->n)
        s->items[i] = s->items[--s->n];
}

void revs_done(struct shelf_of_revs *s)
{
    for (size_t i = 0; i < s->n; i++)
        rev_drop(s->items[i]);
    free(s->items);
    *s = (struct shelf_of_revs){0};
}

/* What all operators have seen is forgotten. */
static void trim(struct sim *s)
{
    struct api *api = &s->api;
    uint64_t seen = api->log_base + api->n_log;
    size_t n;

    for (size_t i = 0; i < SIM_OPERATORS; i++)
        if (s->operators[i].alive)
            seen = MIN(seen, s->operators[i].cursor);
    n = (size_t)(seen - api->log_base);
    if (n < 1024)
        return;
    for (size_t i = 0; i < n; i++)
        rev_drop(api->log[i].rev);
    memmove(api->log, api->log + n, (api->n_log - n) * sizeof(*api->log));
    api->n_log -= n;
    api->log_base = seen;
}

static void note(struct sim *s, const char *kind, const char *name, struct rev *rev)
{
    struct api *api = &s->api;
    struct change *c;

    trim(s);
    array_reserve(&api->log, &api->cap_log, api->n_log + 1, sizeof(*api->log));
    c = &api->log[api->n_log++];
    *c = (struct change){.rev = rev_share(rev)};
    (void)snprintf(c->kind, sizeof(c->kind), "%s", kind);
    (void)snprintf(c->name, sizeof(c->name), "%s", name);
}

void api_store(struct sim *s, struct jsn *object, const char *kind, const char *name)
{
    struct rev *r = xcalloc(1, sizeof(*r));

    r->refs = 1;
    r->v = jsn_clone(&r->arena, object);
    r->kind = arena_strdup(&r->arena, kind);
    r->name = arena_strdup(&r->arena, name);
    jsn_set_path(&r->arena, r->v, "metadata.resourceVersion",
                 jsn_stringf(&r->arena, "%llu", (unsigned long long)++s->api.versions));
    if (streq(kind, "Pod"))
        plan_pod_decode(&r->arena, r->v, &r->pod);
    revs_put(&s->api.objects, kind, name, r);
    note(s, kind, name, r);
    rev_drop(r);
}

void api_remove(struct sim *s, const char *kind, const char *name)
{
    char copy[64];

    (void)snprintf(copy, sizeof(copy), "%s", name);
    revs_put(&s->api.objects, kind, copy, NULL);
    note(s, kind, copy, NULL);
}

struct jsn *api_edit(struct sim *s, struct arena *a, const char *kind, const char *name)
{
    struct rev *r = revs_find(&s->api.objects, kind, name);

    return r ? jsn_clone(a, r->v) : NULL;
}

void api_init(struct sim *s)
{
    s->api.log_base = 0;
}

void api_done(struct sim *s)
{
    for (size_t i = 0; i < s->api.n_log; i++)
        rev_drop(s->api.log[i].rev);
    free(s->api.log);
    revs_done(&s->api.objects);
}

static void set_now(struct sim *s, struct arena *a, struct jsn *object, const char *path)
{
    char text[CLOCK_RFC3339_LEN];

    clock_rfc3339(sim_now_us(s), text);
    jsn_set_path(a, object, path, jsn_string(a, text));
}

static int create(struct sim *s, struct sim_call *c)
{
    AUTO(arena_done) struct arena a = {0};
    const char *name = jsn_get_str(c->body, "metadata.name");
    struct jsn *object = jsn_clone(&a, c->body);

    if (revs_find(&s->api.objects, c->object_kind, name))
        return 409;
    jsn_set_path(&a, object, "metadata.uid", jsn_stringf(&a, "uid-%u", ++s->api.uids));
    set_now(s, &a, object, "metadata.creationTimestamp");
    if (streq(c->object_kind, "Pod"))
        jsn_set_path(&a, object, "status.phase", jsn_string(&a, "Pending"));
    api_store(s, object, c->object_kind, name);
    if (streq(c->object_kind, "Pod"))
        kubelet_appeared(s, revs_find(&s->api.objects, "Pod", name));
    return 201;
}

/* A strategic patch of status.conditions: by type, some of them to be deleted. */
static void patch_conditions(struct arena *a, struct jsn *object, const struct jsn *patch)
{
    struct jsn *status = jsn_ensure_object(a, object, "status");

    if (!jsn_is(jsn_key(status, "conditions"), JSN_ARRAY))
        jsn_set(a, status, "conditions", jsn_array(a));
    JSN_FOR_ITEMS (c, jsn_get(patch, "status.conditions")) {
        struct jsn *list = jsn_key(status, "conditions");

        for (size_t i = jsn_len(list); i-- > 0;)
            if (streq(jsn_get_str(jsn_item(list, i), "type"), jsn_get_str(c, "type")))
                jsn_remove_at(list, i);
        if (!jsn_get_str(c, "$patch"))
            jsn_append(a, list, jsn_clone(a, c));
    }
}

static bool is_expected(const struct jsn *wanted, const struct rev *r, const char *path,
                        const char *member)
{
    const char *want = jsn_get_str(wanted, path);

    return !want || streq(want, jsn_get_str(r->v, member));
}

static int patch(struct sim *s, struct sim_call *c)
{
    AUTO(arena_done) struct arena a = {0};
    struct rev *r = revs_find(&s->api.objects, c->object_kind, c->name);
    struct jsn *object;

    if (!r)
        return 404;
    if (!is_expected(c->body, r, "metadata.resourceVersion", "metadata.resourceVersion") ||
        !is_expected(c->body, r, "metadata.uid", "metadata.uid"))
        return 409;
    object = jsn_clone(&a, r->v);
    if (c->verb == KUBE_PATCH_STRATEGIC)
        patch_conditions(&a, object, c->body);
    else
        object = patch_merge(&a, object, c->body);
    if (!jsn_equal(object, r->v))
        api_store(s, object, c->object_kind, c->name);
    api_collect(s);
    return 200;
}

/* Is a deletion of ours right at this moment? */
static void judge_deletion(struct sim *s, const struct rev *r)
{
    int number = slurm_node_number(r->name);
    const struct sim_node *n = &s->slurm.nodes[number];
    const struct sim_pod *p = &s->pods[number];
    bool serves = n->exists && !n->down && !n->drained && !n->silent;

    if (p->life == POD_OVER || p->life == POD_NEW || n->risk_until_ms > s->now_ms)
        return;
    if (slurm_jobs_on(s, (unsigned)number) > 0)
        sim_fail(s, "pod %s is deleted while jobs run on it", r->name);
    else if (p->life == POD_REGISTERED_UP && serves)
        sim_fail(s, "pod %s is deleted while its node takes jobs", r->name);
}

void api_delete_pod(struct sim *s, const char *name, bool ours)
{
    AUTO(arena_done) struct arena a = {0};
    struct rev *r = revs_find(&s->api.objects, "Pod", name);
    struct sim_pod *p = &s->pods[slurm_node_number(name)];
    struct jsn *object;

    if (!r || p->deleting)
        return;
    if (ours)
        judge_deletion(s, r);
    p->deleting = true;
    p->ours = ours;
    object = jsn_clone(&a, r->v);
    set_now(s, &a, object, "metadata.deletionTimestamp");
    api_store(s, object, "Pod", name);
}

static int delete(struct sim *s, struct sim_call *c)
{
    struct rev *r = revs_find(&s->api.objects, c->object_kind, c->name);

    if (!r)
        return 404;
    if (!is_expected(c->body, r, "preconditions.uid", "metadata.uid") ||
        !is_expected(c->body, r, "preconditions.resourceVersion", "metadata.resourceVersion"))
        return 409;
    if (streq(c->object_kind, "Pod"))
        api_delete_pod(s, c->name, true);
    else
        api_remove(s, c->object_kind, c->name);
    return 200;
}

void api_collect(struct sim *s)
{
    struct rev *set = revs_find(&s->api.objects, "NodeSet", SIM_SET);

    if (set && jsn_get_str(set->v, "metadata.deletionTimestamp") &&
        jsn_len(jsn_get(set->v, "metadata.finalizers")) == 0)
        api_remove(s, "NodeSet", SIM_SET);
}

/* The garbage collector takes owners that are gone from their pods, which have another one. */
void api_step(struct sim *s)
{
    const struct rev *set = revs_find(&s->api.objects, "NodeSet", SIM_SET);

    for (unsigned i = 0; i < SIM_NODES; i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *name = slurm_node_name(i);
        struct rev *r = revs_find(&s->api.objects, "Pod", name);
        struct jsn *v;

        if (!r || !r->pod.owner_uid ||
            (set && streq(jsn_get_str(set->v, "metadata.uid"), r->pod.owner_uid)))
            continue;
        v = jsn_clone(&a, r->v);
        (void)jsn_del_path(v, "metadata.ownerReferences");
        sim_tell(s, "api: pod %s has lost its owner", name);
        api_store(s, v, "Pod", name);
    }
}

int api_execute(struct sim *s, struct sim_call *c)
{
    if (c->verb == KUBE_CREATE)
        return c->dry ? 201 : create(s, c);
    if (c->verb == KUBE_DELETE)
        return delete (s, c);
    if (c->verb == KUBE_PATCH_MERGE || c->verb == KUBE_PATCH_STRATEGIC)
        return patch(s, c);
    abort(); /* the executor does nothing else */
}
