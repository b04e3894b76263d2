/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The workload controllers.
 *
 * A committed change is turned into the workloads that it may matter to: the object itself, its
 * controller, and for pods the services and budgets that choose them; a pod or replica set without
 * a controller may be adopted, so all that could adopt it look; the quotas of its namespace count
 * again.  Each is a key "resource/namespace/
 * name" in a work set; a look reads what there is, makes a plan and carries it out, all in one
 * turn.  Nothing is remembered between looks but how often one has failed, so the process may die
 * anywhere; at the start everything is looked at once.
 *
 * Services, budgets and quotas wait a moment before they look: many pods change at once, and one
 * look serves them all.  Where a look takes long, so does the moment: looks at a service with
 * thousands of pods leave most of the time to others.
 */
#include "src/cluster/workloads/workloads.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/chooser.h"
#include "src/cluster/workloads/execute.h"
#include "src/cluster/workloads/look.h"
#include "src/cluster/workloads/owned.h"

#define BATCH 16
#define GATHER_MS 20
/* Of a service or budget whose looks take long: how many times as long it waits for the next. */
#define GATHER_TIMES 4
#define GATHER_MAX_MS 500
#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 60000

struct workloads {
    struct apiserver *server;
    struct workset work;
    struct choosers *choosers;
    struct map failures; /* of keys: how long to wait after the next one, as a number */
    struct map costs;    /* of keys: how many ms the last look took, if that is many */
};

/* A delay becomes longer where looks take long. */
static void enqueue(struct workloads *w, const char *resource, const char *ns, const char *name,
                    int64_t delay_ms)
{
    AUTO(free) char *key = xasprintf("%s/%s/%s", resource, ns, name);
    int64_t cost_ms = (int64_t)(uintptr_t)map_get(&w->costs, str_of(key));

    if (delay_ms)
        delay_ms = MAX(delay_ms, MIN(cost_ms * GATHER_TIMES, GATHER_MAX_MS));
    if (delay_ms)
        workset_add_later(&w->work, key, delay_ms);
    else
        workset_add(&w->work, key);
}

struct row_visit {
    struct workloads *w;
    int64_t delay_ms;
};

static bool enqueue_row(void *arg, const struct store_row *row)
{
    struct row_visit *v = arg;

    if (choosers_take(row->key.resource))
        choosers_put(v->w->choosers, row);
    enqueue(v->w, row->key.resource, row->key.ns, row->key.name, v->delay_ms);
    return true;
}

static int enqueue_all(struct workloads *w, const char *resource, const char *ns, int64_t delay_ms,
                       struct err *e)
{
    struct row_visit v = {w, delay_ms};

    return inside_each(w->server, resource, ns, enqueue_row, &v, e);
}

static void enqueue_some(struct workloads *w, const char *resource, const char *ns,
                         int64_t delay_ms)
{
    struct err e = {0};

    if (enqueue_all(w, resource, ns, delay_ms, &e) < 0)
        log_warn("%s of namespace '%s' could not be looked at: %s", resource, ns, e.text);
}

static const struct controller *find(const char *resource, const char *kind)
{
    for (const struct controller *c = controllers; c->resource; c++)
        if (streq(c->resource, resource) || streq(c->kind, kind))
            return c;
    return NULL;
}

static struct jsn *parse(struct arena *a, struct str data)
{
    struct jsn *object = NULL;

    return data.n > 0 && jsn_parse(a, data, NULL, &object, NULL) == 0 ? object : NULL;
}

/* The controller of an object, in a state that it has or had.  False: nobody controls it. */
static bool enqueue_owner(struct workloads *w, const struct jsn *object, const char *ns)
{
    const struct jsn *ref = owned_controller(object);
    const struct controller *c =
        ref && jsn_get_str(ref, "kind") ? find("", jsn_get_str(ref, "kind")) : NULL;

    if (c && jsn_get_str(ref, "name"))
        enqueue(w, c->resource, ns, jsn_get_str(ref, "name"), 0);
    return !object || ref;
}

static void enqueue_chooser(void *arg, const struct store_key *k)
{
    enqueue(arg, k->resource, k->ns, k->name, GATHER_MS);
}

static void on_pod(struct workloads *w, const struct store_event *ev)
{
    static const char *const adopters[] = {"statefulsets.apps", "replicasets.apps", "jobs.batch"};
    AUTO(arena_done) struct arena a = {0};
    const struct jsn *before = parse(&a, ev->prev);
    const struct jsn *now = parse(&a, ev->row.data);
    const char *ns = ev->row.key.ns;
    bool owned = enqueue_owner(w, now, ns);

    (void)enqueue_owner(w, before, ns);
    for (size_t i = 0; !owned && i < ARRAY_LEN(adopters); i++)
        enqueue_some(w, adopters[i], ns, 0);
    choosers_each(w->choosers, ns, before, now, enqueue_chooser, w);
    if (ev->change == STORE_DELETED) /* a Recreate waits for the last old pod */
        enqueue_some(w, "deployments.apps", ns, GATHER_MS);
}

static void on_dependent(struct workloads *w, const struct store_event *ev, const char *adopters)
{
    AUTO(arena_done) struct arena a = {0};

    if (!enqueue_owner(w, parse(&a, ev->row.data), ev->row.key.ns))
        enqueue_some(w, adopters, ev->row.key.ns, 0);
    (void)enqueue_owner(w, parse(&a, ev->prev), ev->row.key.ns);
}

static void follow_chooser(struct workloads *w, const struct store_event *ev)
{
    if (ev->change == STORE_DELETED)
        choosers_drop(w->choosers, &ev->row.key);
    else
        choosers_put(w->choosers, &ev->row);
}

static void on_slice(struct workloads *w, const struct store_event *ev)
{
    AUTO(arena_done) struct arena a = {0};

    (void)enqueue_owner(w, parse(&a, ev->row.data), ev->row.key.ns);
}

/* What quotas count: that there is an object; of some kinds, also what is in it. */
static bool may_change_use(const struct store_event *ev)
{
    const char *resource = ev->row.key.resource;

    if (!ev->row.key.ns[0] || streq(resource, "leases.coordination.k8s.io") ||
        streq(resource, "resourcequotas"))
        return false;
    return ev->change != STORE_MODIFIED || streq(resource, "pods") || streq(resource, "services") ||
           streq(resource, "persistentvolumeclaims");
}

static void on_change(void *arg, const struct store_event *ev)
{
    struct workloads *w = arg;
    const struct store_key *k = &ev->row.key;
    const struct controller *c = find(k->resource, "");

    if (c && (ev->change != STORE_DELETED || c->gone_too))
        enqueue(w, k->resource, k->ns, k->name, 0);
    if (choosers_take(k->resource))
        follow_chooser(w, ev);
    if (streq(k->resource, "pods"))
        on_pod(w, ev);
    else if (streq(k->resource, "replicasets.apps"))
        on_dependent(w, ev, "deployments.apps");
    else if (streq(k->resource, "controllerrevisions.apps"))
        on_dependent(w, ev, "statefulsets.apps");
    else if (streq(k->resource, "endpointslices.discovery.k8s.io"))
        on_slice(w, ev);
    else if (ev->change == STORE_DELETED && streq(k->resource, "endpoints"))
        enqueue(w, "services", k->ns, k->name, 0);
    else if (ev->change == STORE_DELETED && streq(k->resource, "persistentvolumeclaims"))
        enqueue_some(w, "statefulsets.apps", k->ns, 0);
    if (streq(k->resource, "replicasets.apps") || streq(k->resource, "statefulsets.apps"))
        enqueue_some(w, "poddisruptionbudgets.policy", k->ns, GATHER_MS);
    if (may_change_use(ev))
        enqueue_some(w, "resourcequotas", k->ns, GATHER_MS);
}

/* Twice as long with each failure in a row. */
static int64_t next_delay(struct workloads *w, const char *key)
{
    uintptr_t ms = (uintptr_t)map_get(&w->failures, str_of(key));

    ms = ms ? MIN(ms * 2, RETRY_MAX_MS) : RETRY_MIN_MS;
    (void)map_put(&w->failures, str_of(key), (void *)ms);
    return (int64_t)ms;
}

static void note_cost(struct workloads *w, const char *key, int64_t ms)
{
    if (ms * GATHER_TIMES > GATHER_MS)
        (void)map_put(&w->costs, str_of(key), (void *)(uintptr_t)ms);
    else
        (void)map_take(&w->costs, str_of(key));
}

/* In a namespace that is on its way out nothing is to be made. */
static bool namespace_ends(const struct look *l)
{
    const struct store_key k = {"namespaces", "", l->ns};
    struct jsn *object;

    return inside_get(l->server, l->arena, &k, &object, NULL) < 0 || object_deleting(object);
}

static int look_at(struct workloads *w, const struct controller *c, struct look *l)
{
    const struct store_key k = {c->resource, l->ns, l->name};
    struct err e = {0};
    int r = inside_get(w->server, l->arena, &k, &l->object, &e);

    if (r == -ENOENT && c->gone_too)
        r = 0;
    else if (r == -ENOENT || (r == 0 && namespace_ends(l)))
        return 0;
    if (r == 0)
        r = c->look(l, &e);
    if (r < 0) {
        log_warn("%s '%s/%s' could not be looked at: %s", c->kind, l->ns, l->name, e.text);
        return r;
    }
    return execute_plan(w->server, &l->plan, c->resource, l->object);
}

static void look(void *arg, const char *key)
{
    struct workloads *w = arg;
    AUTO(arena_done) struct arena a = {0};
    struct look l = {
        .server = w->server, .arena = &a, .plan = {.arena = &a, .now_us = clock_wall_us()}};
    struct str rest = str_of(key);
    struct str resource;
    struct str ns;
    const struct controller *c;
    int64_t start_ms = clock_mono_ms();

    (void)str_split(&rest, '/', &resource);
    (void)str_split(&rest, '/', &ns);
    c = find(arena_str(&a, resource), "");
    if (!c)
        return;
    l.ns = arena_str(&a, ns);
    l.name = arena_str(&a, rest);
    if (look_at(w, c, &l) < 0)
        workset_add_later(&w->work, key, next_delay(w, key));
    else
        (void)map_take(&w->failures, str_of(key));
    if (l.plan.again_ms)
        workset_add_later(&w->work, key, l.plan.again_ms);
    note_cost(w, key, clock_mono_ms() - start_ms);
}

int workloads_new(struct apiserver *s, struct workloads **ret_workloads, struct err *e)
{
    AUTO(workloads_free) struct workloads *w = xcalloc(1, sizeof(*w));

    w->server = s;
    w->choosers = choosers_new();
    workset_init(&w->work, inside_loop(s), BATCH, look, w);
    for (const struct controller *c = controllers; c->resource; c++) {
        int r = enqueue_all(w, c->resource, NULL, 0, e);

        if (r < 0)
            return r;
    }
    inside_observe(s, on_change, w);
    *ret_workloads = TAKE(w);
    return 0;
}

struct workloads *workloads_free(struct workloads *w)
{
    if (!w)
        return NULL;
    workset_done(&w->work);
    map_done(&w->failures);
    map_done(&w->costs);
    (void)choosers_free(w->choosers);
    free(w);
    return NULL;
}
