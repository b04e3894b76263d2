/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What objects count for in resource quotas.
 *
 * Every object counts as one of its kind ("count/jobs.batch"), some under a shorter name, too
 * ("pods").  Pods that have not ended also use what their containers request and may have at most,
 * Services node ports and load balancers, claims storage.  Init containers run before the others:
 * of them and of the sum of the others the larger counts.
 */
#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/cluster/apiserver/quota.h"

static struct quantity of(int64_t n)
{
    return (struct quantity){.nano = (__int128)n * 1000000000};
}

const struct quantity *quota_use_find(const struct quota_use *u, const char *name)
{
    for (size_t i = 0; i < u->n; i++)
        if (streq(u->items[i].name, name))
            return &u->items[i].q;
    return NULL;
}

static struct quantity *find(struct quota_use *u, const char *name)
{
    for (size_t i = 0; i < u->n; i++)
        if (streq(u->items[i].name, name))
            return &u->items[i].q;
    arena_reserve(u->a, &u->items, &u->cap, u->n + 1, sizeof(*u->items));
    u->items[u->n] = (struct quota_amount){.name = arena_strdup(u->a, name)};
    return &u->items[u->n++].q;
}

static void add(struct quota_use *u, const char *name, struct quantity q)
{
    struct quantity *sum = find(u, name);

    if (sum->nano == 0)
        sum->format = q.format;
    sum->nano += q.nano;
}

static bool read_quantity(const struct jsn *v, struct quantity *ret)
{
    if (jsn_is(v, JSN_INT)) {
        *ret = of(v->i);
        return true;
    }
    return jsn_text(v) && quantity_parse(str_of(jsn_text(v)), ret, NULL) == 0;
}

/* Sums by the resource's own name: "cpu". */
static void add_list(struct quota_use *to, const struct jsn *list)
{
    JSN_FOR_MEMBERS (m, list) {
        struct quantity q;

        if (read_quantity(m->value, &q))
            add(to, m->key.p, q);
    }
}

static void add_all(struct quota_use *to, const struct quota_use *from)
{
    for (size_t i = 0; i < from->n; i++)
        add(to, from->items[i].name, from->items[i].q);
}

static void raise_to(struct quota_use *to, const struct quota_use *least)
{
    for (size_t i = 0; i < least->n; i++) {
        struct quantity *q = find(to, least->items[i].name);

        if (quantity_cmp(&least->items[i].q, q) > 0)
            *q = least->items[i].q;
    }
}

/* What a pod has of "requests" or "limits", by the resource's own name. */
static void pod_amounts(const struct jsn *spec, const char *which, struct quota_use *ret)
{
    struct quota_use stay = {.a = ret->a};
    struct quota_use most = {.a = ret->a};

    JSN_FOR_ITEMS (c, jsn_key(spec, "initContainers")) {
        struct quota_use now = {.a = ret->a};

        add_all(&now, &stay);
        add_list(&now, jsn_key(jsn_key(c, "resources"), which));
        raise_to(&most, &now);
        if (streq(jsn_get_str(c, "restartPolicy"), "Always"))
            stay = now;
    }
    add_all(ret, &stay);
    JSN_FOR_ITEMS (c, jsn_key(spec, "containers"))
        add_list(ret, jsn_key(jsn_key(c, "resources"), which));
    raise_to(ret, &most);
    JSN_FOR_MEMBERS (m, jsn_key(jsn_key(spec, "resources"), which)) {
        struct quantity q;

        if (read_quantity(m->value, &q))
            *find(ret, m->key.p) = q; /* said for the pod as a whole */
    }
    add_list(ret, jsn_key(spec, "overhead"));
}

static bool has_short_name(const char *resource)
{
    return streq(resource, "cpu") || streq(resource, "memory") ||
           streq(resource, "ephemeral-storage") || starts_with(resource, "hugepages-");
}

static void use_pod(struct quota_use *u, const struct jsn *pod)
{
    static const char *const lists[] = {"requests", "limits"};
    const char *phase = jsn_get_str(pod, "status.phase");

    if (streq(phase, "Succeeded") || streq(phase, "Failed"))
        return;
    add(u, "pods", of(1));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct quota_use amounts = {.a = u->a};

        pod_amounts(jsn_key(pod, "spec"), lists[i], &amounts);
        for (size_t k = 0; k < amounts.n; k++) {
            const struct quota_amount *x = &amounts.items[k];

            add(u, arena_printf(u->a, "%s.%s", lists[i], x->name), x->q);
            if (i == 0 && has_short_name(x->name))
                add(u, x->name, x->q);
        }
    }
}

static void use_service(struct quota_use *u, const struct jsn *service)
{
    const char *type = jsn_get_str(service, "spec.type");
    bool balanced = streq(type, "LoadBalancer");
    bool given = jsn_get_bool(service, "spec.allocateLoadBalancerNodePorts", true);
    int64_t ports = 0;

    JSN_FOR_ITEMS (port, jsn_get(service, "spec.ports"))
        ports += given || jsn_get_int(port, "nodePort", 0) != 0;
    if (balanced)
        add(u, "services.loadbalancers", of(1));
    if (balanced || streq(type, "NodePort"))
        add(u, "services.nodeports", of(ports));
}

static void use_claim(struct quota_use *u, const struct jsn *claim)
{
    const char *class = jsn_get_str(claim, "spec.storageClassName");
    const char *prefix =
        class && class[0] ? arena_printf(u->a, "%s.storageclass.storage.k8s.io/", class) : NULL;
    struct quantity q = {0};

    if (prefix)
        add(u, arena_printf(u->a, "%spersistentvolumeclaims", prefix), of(1));
    if (!read_quantity(jsn_get(claim, "spec.resources.requests.storage"), &q))
        return;
    add(u, "requests.storage", q);
    if (prefix)
        add(u, arena_printf(u->a, "%srequests.storage", prefix), q);
}

void quota_use_add(struct quota_use *u, const char *resource, const struct jsn *object)
{
    static const char *const short_names[] = {
        "services", "persistentvolumeclaims", "configmaps",
        "secrets",  "replicationcontrollers", "resourcequotas"};

    add(u, arena_printf(u->a, "count/%s", resource), of(1));
    for (size_t i = 0; i < ARRAY_LEN(short_names); i++)
        if (streq(resource, short_names[i]))
            add(u, resource, of(1));
    if (streq(resource, "pods"))
        use_pod(u, object);
    else if (streq(resource, "services"))
        use_service(u, object);
    else if (streq(resource, "persistentvolumeclaims"))
        use_claim(u, object);
}

const char *quota_resource(struct arena *a, const char *name)
{
    static const char *const kinds[] = {"configmaps", "secrets", "replicationcontrollers",
                                        "resourcequotas"};

    if (starts_with(name, "count/"))
        return arena_strdup(a, name + strlen("count/"));
    if (starts_with(name, "services"))
        return "services";
    if (ends_with(name, "persistentvolumeclaims") || ends_with(name, "requests.storage"))
        return "persistentvolumeclaims";
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (streq(name, kinds[i]))
            return kinds[i];
    return "pods";
}

static bool is_in(const struct jsn *list, const char *text)
{
    JSN_FOR_ITEMS (item, list)
        if (streq(jsn_text(item), text))
            return true;
    return false;
}

static bool crosses_namespaces(const struct jsn *terms)
{
    JSN_FOR_ITEMS (term, terms) {
        const struct jsn *t = jsn_key(term, "podAffinityTerm");

        t = t ? t : term;
        if (jsn_len(jsn_key(t, "namespaces")) || jsn_key(t, "namespaceSelector"))
            return true;
    }
    return false;
}

static bool has_cross_affinity(const struct jsn *spec)
{
    static const char *const paths[] = {
        "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution",
        "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (crosses_namespaces(jsn_get(spec, paths[i])))
            return true;
    return false;
}

/* A pod in one scope, as an operator asks for it; only the class of a pod has values. */
static bool in_scope(const struct jsn *pod, const char *scope, const char *op,
                     const struct jsn *values)
{
    const struct jsn *spec = jsn_key(pod, "spec");
    const char *class = jsn_get_str(spec, "priorityClassName");
    bool best = streq(podspec_qos(spec), "BestEffort");
    bool ends = jsn_is(jsn_key(spec, "activeDeadlineSeconds"), JSN_INT);

    if (streq(scope, "BestEffort"))
        return best;
    if (streq(scope, "NotBestEffort"))
        return !best;
    if (streq(scope, "Terminating"))
        return ends;
    if (streq(scope, "NotTerminating"))
        return !ends;
    if (streq(scope, "CrossNamespacePodAffinity"))
        return has_cross_affinity(spec);
    class = class ? class : "";
    if (streq(op, "In"))
        return is_in(values, class);
    if (streq(op, "NotIn"))
        return !is_in(values, class);
    return streq(op, "DoesNotExist") ? !class[0] : class[0] != '\0';
}

bool quota_covers(const struct jsn *quota, const char *resource, const struct jsn *object)
{
    if (!streq(resource, "pods"))
        return true;
    JSN_FOR_ITEMS (scope, jsn_get(quota, "spec.scopes"))
        if (!in_scope(object, jsn_text(scope), "Exists", NULL))
            return false;
    JSN_FOR_ITEMS (x, jsn_get(quota, "spec.scopeSelector.matchExpressions"))
        if (!in_scope(object, jsn_get_str(x, "scopeName"), jsn_get_str(x, "operator"),
                      jsn_key(x, "values")))
            return false;
    return true;
}

struct jsn *quota_status(struct arena *a, const struct jsn *quota, const struct quota_use *used)
{
    const struct jsn *hard = jsn_get(quota, "spec.hard");
    struct jsn *status = jsn_object(a);
    struct jsn *amounts = jsn_object(a);

    JSN_FOR_MEMBERS (m, hard) {
        const struct quantity *q = quota_use_find(used, m->key.p);
        char text[QUANTITY_LEN] = "0";

        if (q)
            quantity_print(q, text);
        jsn_set_member(a, amounts, m->key, jsn_string(a, text));
    }
    if (jsn_len(hard)) {
        jsn_set(a, status, "hard", jsn_clone(a, hard));
        jsn_set(a, status, "used", amounts);
    }
    return status;
}
