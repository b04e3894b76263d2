/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each controller reads before it plans.
 *
 * All reads are of one namespace and one moment.  Rows that cannot matter are passed over as text,
 * before they are parsed: for a set, those that name another controller; for a service or a budget,
 * those without one of the selector's labels.  A namespace with thousands of pods stays cheap to
 * look at.
 */
#include "src/cluster/workloads/look.h"

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/backing.h"
#include "src/cluster/workloads/budget.h"
#include "src/cluster/workloads/deployment.h"
#include "src/cluster/workloads/job.h"
#include "src/cluster/workloads/quota.h"
#include "src/cluster/workloads/replicaset.h"
#include "src/cluster/workloads/statefulset.h"

struct gathering {
    struct arena *arena;
    const char *uid;     /* only what this owner controls, or nobody; NULL: all */
    const char **labels; /* texts that must occur; NULL: none */
    struct jsn *list;
    struct err *e;
    int result;
};

static bool mentions(struct str text, const char *word)
{
    return memmem(text.p, text.n, word, strlen(word)) != NULL;
}

static bool matters(const struct gathering *g, struct str data)
{
    if (g->uid && mentions(data, "\"controller\":true") && !mentions(data, g->uid))
        return false;
    for (size_t i = 0; g->labels && g->labels[i]; i++)
        if (!mentions(data, g->labels[i]))
            return false;
    return true;
}

static bool gather_row(void *arg, const struct store_row *row)
{
    struct gathering *g = arg;
    struct jsn *object;

    if (!matters(g, row->data))
        return true;
    if (jsn_parse(g->arena, row->data, NULL, &object, g->e) < 0)
        g->result = err_wrap(g->e, -EBADMSG, "the stored %s '%s' is corrupt", row->key.resource,
                             row->key.name);
    else
        jsn_append(g->arena, g->list, object);
    return g->result == 0;
}

static int gather(struct look *l, const char *resource, const char *uid, const char **labels,
                  const struct jsn **ret_list, struct err *e)
{
    struct gathering g = {l->arena, uid, labels, jsn_array(l->arena), e, 0};
    int r = inside_each(l->server, resource, l->ns, gather_row, &g, e);

    *ret_list = g.list;
    return r < 0 ? r : g.result;
}

static int look_statefulset(struct look *l, struct err *e)
{
    struct statefulset_view v = {.set = l->object};
    const char *uid = object_uid(l->object);
    int r = gather(l, "pods", uid, NULL, &v.pods, e);

    if (r == 0)
        r = gather(l, "controllerrevisions.apps", uid, NULL, &v.revisions, e);
    if (r == 0 && jsn_len(jsn_get(l->object, "spec.volumeClaimTemplates")) > 0)
        r = gather(l, "persistentvolumeclaims", NULL, NULL, &v.claims, e);
    if (r == 0)
        statefulset_plan(&l->plan, &v);
    return r;
}

static int look_replicaset(struct look *l, struct err *e)
{
    const struct jsn *pods = NULL;
    int r = gather(l, "pods", object_uid(l->object), NULL, &pods, e);

    if (r == 0)
        replicaset_plan(&l->plan, l->object, pods);
    return r;
}

static int look_deployment(struct look *l, struct err *e)
{
    struct deployment_view v = {.deployment = l->object};
    int r = gather(l, "replicasets.apps", object_uid(l->object), NULL, &v.replicasets, e);

    if (r == 0 && streq(jsn_get_str(l->object, "spec.strategy.type"), "Recreate"))
        r = gather(l, "pods", NULL, NULL, &v.pods, e);
    if (r == 0)
        deployment_plan(&l->plan, &v);
    return r;
}

static int look_job(struct look *l, struct err *e)
{
    const struct jsn *pods = NULL;
    int r = gather(l, "pods", object_uid(l->object), NULL, &pods, e);

    if (r == 0)
        job_plan(&l->plan, l->object, pods);
    return r;
}

/* "key":"value" for each label of a selector, as they stand in stored objects. */
static const char **label_texts(struct arena *a, const struct jsn *selector)
{
    const char **texts = arena_calloc(a, jsn_len(selector) + 1, sizeof(*texts));
    size_t n = 0;

    JSN_FOR_MEMBERS (m, selector)
        texts[n++] = arena_printf(a, "\"" STR_FMT "\":\"%s\"", STR_ARG(m->key),
                                  jsn_text(m->value) ? jsn_text(m->value) : "");
    return texts;
}

static int look_budget(struct look *l, struct err *e)
{
    struct budget_view v = {.budget = l->object};
    const struct jsn *labels = jsn_get(l->object, "spec.selector.matchLabels");
    int r = gather(l, "pods", NULL, label_texts(l->arena, labels), &v.pods, e);

    if (r == 0)
        r = gather(l, "replicasets.apps", NULL, NULL, &v.replicasets, e);
    if (r == 0)
        r = gather(l, "statefulsets.apps", NULL, NULL, &v.statefulsets, e);
    if (r == 0)
        budget_plan(&l->plan, &v);
    return r;
}

struct counting {
    struct look *look;
    struct quota_use used;
    const char *resource;
    struct err *e;
    int result;
};

static bool count_row(void *arg, const struct store_row *row)
{
    struct counting *k = arg;
    struct jsn *object;

    if (jsn_parse(k->look->arena, row->data, NULL, &object, k->e) < 0)
        k->result = err_wrap(k->e, -EBADMSG, "the stored %s '%s' is corrupt", row->key.resource,
                             row->key.name);
    else if (quota_covers(k->look->object, k->resource, object))
        quota_use_add(&k->used, k->resource, object);
    return k->result == 0;
}

static bool was_counted(const struct jsn *list, const char *resource)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_text(item), resource))
            return true;
    return false;
}

/* All that the quota counts, one resource after the other. */
static int look_quota(struct look *l, struct err *e)
{
    struct counting k = {.look = l, .used = {.a = l->arena}, .e = e};
    struct jsn *done = jsn_array(l->arena);
    int r = 0;

    JSN_FOR_MEMBERS (m, jsn_get(l->object, "spec.hard")) {
        k.resource = quota_resource(l->arena, m->key.p);
        if (r < 0 || was_counted(done, k.resource))
            continue;
        jsn_append(l->arena, done, jsn_string(l->arena, k.resource));
        r = inside_each(l->server, k.resource, l->ns, count_row, &k, e);
        if (r == 0)
            r = k.result;
    }
    if (r == 0)
        quota_plan(&l->plan, l->object, &k.used);
    return r;
}

/* Those of the service of this look; -ENOENT: there are none. */
static int find_endpoints(struct look *l, struct jsn **ret_object, struct err *e)
{
    const struct store_key k = {"endpoints", l->ns, l->name};

    return inside_get(l->server, l->arena, &k, ret_object, e);
}

static int look_gone_service(struct look *l, struct err *e)
{
    struct jsn *old;
    int r = find_endpoints(l, &old, e);

    if (r == 0)
        plan_add(&l->plan, ACTION_DELETE, "endpoints", old);
    return r == -ENOENT ? 0 : r;
}

static int look_service(struct look *l, struct err *e)
{
    struct arena *a = l->arena;
    const char *named[] = {NULL, NULL};
    const struct jsn *pods = NULL;
    const struct jsn *slices = NULL;
    struct jsn *old = NULL;
    int r;

    if (!l->object)
        return look_gone_service(l, e);
    if (backing_is_foreign(l->object))
        return 0;
    named[0] = arena_printf(a, "\"kubernetes.io/service-name\":\"%s\"", l->name);
    r = gather(l, "pods", NULL, label_texts(a, jsn_get(l->object, "spec.selector")), &pods, e);
    if (r == 0)
        r = gather(l, "endpointslices.discovery.k8s.io", NULL, named, &slices, e);
    if (r == 0)
        r = find_endpoints(l, &old, e);
    if (r == -ENOENT)
        r = 0;
    if (r == 0) {
        endpoints_plan(&l->plan, l->object, pods, old);
        slices_plan(&l->plan, l->object, pods, slices);
    }
    return r;
}

const struct controller controllers[] = {
    {"statefulsets.apps", "StatefulSet", false, look_statefulset},
    {"replicasets.apps", "ReplicaSet", false, look_replicaset},
    {"deployments.apps", "Deployment", false, look_deployment},
    {"jobs.batch", "Job", false, look_job},
    {"poddisruptionbudgets.policy", "PodDisruptionBudget", false, look_budget},
    {"resourcequotas", "ResourceQuota", false, look_quota},
    {"services", "Service", true, look_service},
    {NULL},
};
