/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST pods/NAME/eviction.
 *
 * The body is an Eviction of policy/v1 or v1beta1 with the DeleteOptions to use.  If the disruption
 * budgets agree, the budget's status and the deletion are written in the same turn, so they become
 * durable together or not at all.
 */
#include "src/cluster/apiserver/eviction_call.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/eviction.h"
#include "src/cluster/apiserver/kinds/lookup.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/write.h"

static const char *text_at(const struct jsn *object, const char *path)
{
    const char *s = jsn_get_str(object, path);

    return s ? s : "";
}

static int read_options(struct api_call *c, const struct jsn *eviction, struct delete_options *o)
{
    const struct jsn *sent = jsn_key(eviction, "deleteOptions");
    const char *name = text_at(eviction, "metadata.name");

    if (name[0] != '\0' && !streq(name, c->name))
        return status_bad_request(c, "name in URL does not match name in Eviction object");
    *o = (struct delete_options){
        .grace_s = jsn_get_int(sent, "gracePeriodSeconds", -1),
        .uid = jsn_get_str(sent, "preconditions.uid"),
        .version = jsn_get_str(sent, "preconditions.resourceVersion"),
    };
    JSN_FOR_ITEMS (item, jsn_key(sent, "dryRun"))
        c->dry_run |= streq(jsn_text(item), "All");
    return 0;
}

struct gathering {
    struct arena *arena;
    struct jsn *list;
};

static bool gather(void *arg, struct jsn *object)
{
    struct gathering *g = arg;

    jsn_append(g->arena, g->list, object);
    return true;
}

static int gather_all(struct api_call *c, const char *resource, const struct jsn **ret_list)
{
    struct gathering g = {.arena = &c->arena, .list = jsn_array(&c->arena)};
    int r = lookup_each_object(c, resource, c->ns, gather, &g);

    *ret_list = g.list;
    return r;
}

/* spec.replicas of the workloads that the server itself knows. */
static int64_t wanted_replicas(void *arg, const struct jsn *owner)
{
    static const struct {
        const char *kind, *resource;
    } known[] = {
        {"ReplicaSet", "replicasets.apps"},
        {"StatefulSet", "statefulsets.apps"},
        {"ReplicationController", "replicationcontrollers"},
    };
    struct api_call *c = arg;
    struct jsn *object = NULL;

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!streq(text_at(owner, "kind"), known[i].kind))
            continue;
        if (lookup_get(c, known[i].resource, c->ns, text_at(owner, "name"), &object) < 0 ||
            !streq(text_at(object, "metadata.uid"), text_at(owner, "uid")))
            return -1;
        return jsn_get_int(object, "spec.replicas", 1);
    }
    return -1;
}

static int store_budget(struct api_call *c, struct jsn *budget)
{
    AUTO(call_done_inner) struct api_call inner;
    const struct resource *res =
        registry_find(c->server->registry, STR("policy"), STR("v1"), STR("poddisruptionbudgets"));

    call_init_inner(&inner, c->server, res);
    inner.ns = c->ns;
    if (object_put(&inner, budget) == 0)
        return 0;
    c->failure = jsn_clone(&c->arena, inner.failure);
    return -1;
}

static int evict(struct api_call *c, const struct delete_options *o)
{
    struct eviction_view view = {.replicas = wanted_replicas, .arg = c};
    struct jsn *budget = NULL;
    struct jsn *answer = NULL;
    struct jsn *pod = NULL;
    int r = object_load(c, c->ns, c->name, &pod);

    if (r < 0 || (r = gather_all(c, "poddisruptionbudgets.policy", &view.budgets)) < 0)
        return r;
    if (jsn_len(view.budgets) > 0 && (r = gather_all(c, "pods", &view.pods)) < 0)
        return r;
    r = eviction_decide(c, pod, &view, clock_wall_us(), &budget);
    if (r == 0 && budget && !c->dry_run)
        r = store_budget(c, budget);
    return r < 0 ? r : write_delete(c, pod, o, &answer);
}

void eviction_serve(struct api_call *c)
{
    struct delete_options o;
    struct jsn *eviction;
    int r = options_read_write(c, "CreateOptions", false);

    if (r == 0)
        r = body_read_subresource(c, &eviction);
    if (r == 0)
        r = read_options(c, eviction, &o);
    c->sub = NULL;
    if (r == 0)
        r = evict(c, &o);
    if (r < 0)
        answer_failure(c);
    else
        answer_json(c, 201, status_success(&c->arena, 201));
}
