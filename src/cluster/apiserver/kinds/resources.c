/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of resource names and amounts, and the class of service that follows from them.
 *
 * The text of a quantity has been checked when the object was decoded; what remains is its sign,
 * that counts are whole, and that requests stay within limits.  Resources outside of kubernetes.io
 * (devices) and huge pages cannot be overcommitted: there the request must equal the limit.
 */
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/json/quantity.h"

static struct quantity amount_of(const struct jsn *v)
{
    struct quantity q = {0};
    const char *text = jsn_text(v);

    if (jsn_is(v, JSN_INT))
        return (struct quantity){.nano = (__int128)v->i * 1000000000};
    if (!text || quantity_parse(str_of(text), &q, NULL) < 0)
        return (struct quantity){0};
    return q;
}

static bool is_huge_pages(const char *name)
{
    return starts_with(name, "hugepages-");
}

static bool is_native(const char *name)
{
    return !strchr(name, '/') || strstr(name, "kubernetes.io/");
}

static bool may_overcommit(const char *name)
{
    return is_native(name) && !is_huge_pages(name);
}

static const char *const amounts[] = {
    "cpu",          "memory",           "ephemeral-storage",
    "requests.cpu", "requests.memory",  "requests.ephemeral-storage",
    "limits.cpu",   "limits.memory",    "limits.ephemeral-storage",
    "storage",      "requests.storage", NULL,
};
static const char *const counts[] = {
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
    NULL,
};

static bool is_among(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (streq(name, *names))
            return true;
    return false;
}

static bool is_standard(const char *name)
{
    return is_among(amounts, name) || is_among(counts, name) || is_huge_pages(name) ||
           starts_with(name, "requests.hugepages-");
}

/* The name of an entry as the value of a sentence about it. */
static void name_invalid(struct causes *cs, const struct place *at, const char *why)
{
    cause_invalid(cs, place_text(cs, at), jsn_string(cs->arena, at->entry), "%s", why);
}

void resource_name_check(struct causes *cs, const struct place *at)
{
    struct name_faults f = names_check(FORM_QUALIFIED, str_of(at->entry));

    for (size_t i = 0; i < f.n; i++)
        name_invalid(cs, at, f.text[i]);
    if (f.n == 0 && !strchr(at->entry, '/') && !is_standard(at->entry))
        name_invalid(cs, at, "must be a standard resource type or fully qualified");
}

static void container_name_check(struct causes *cs, const struct place *at)
{
    const char *name = at->entry;

    resource_name_check(cs, at);
    if (!strchr(name, '/')) {
        if (!streq(name, "cpu") && !streq(name, "memory") && !streq(name, "ephemeral-storage") &&
            !is_huge_pages(name))
            name_invalid(cs, at, "must be a standard resource for containers");
    } else if (!is_native(name) && starts_with(name, "requests.")) {
        name_invalid(cs, at, "doesn't follow extended resource name standard");
    }
}

static bool is_counted(const char *name)
{
    return is_among(counts, name) || !is_native(name);
}

void resource_quantity_check(struct causes *cs, const struct place *at)
{
    struct quantity q = amount_of(at->value);

    if (q.nano < 0)
        place_invalid(cs, at, "must be greater than or equal to 0");
    if (at->entry && is_counted(at->entry) && q.nano % 1000000000 != 0)
        place_invalid(cs, at, "must be an integer");
}

static void check_against_limit(struct causes *cs, const struct place *requests,
                                const struct place *limits, const struct place *request)
{
    const struct jsn *limit = jsn_member(limits->value, str_of(request->entry));
    struct quantity want = amount_of(request->value);
    struct quantity most = amount_of(limit);
    int cmp = quantity_cmp(&want, &most);

    if (!limit) {
        if (!may_overcommit(request->entry))
            place_required(cs, limits, "Limit must be set for non overcommitable resources");
        return;
    }
    if (cmp != 0 && !may_overcommit(request->entry))
        cause_invalid(cs, place_text(cs, requests), request->value, "must be equal to %s limit",
                      request->entry);
    else if (cmp > 0)
        cause_invalid(cs, place_text(cs, requests), request->value,
                      "must be less than or equal to %s limit of %s", request->entry,
                      jsn_text(limit) ? jsn_text(limit) : gotext_value(cs->arena, limit));
}

static void note(const char *name, bool *compute, bool *huge)
{
    *compute |= streq(name, "cpu") || streq(name, "memory");
    *huge |= is_huge_pages(name);
}

void container_resources_check(struct causes *cs, const struct place *resources)
{
    struct place limits = place_key(resources, "limits");
    struct place requests = place_key(resources, "requests");
    bool compute = false;
    bool huge = false;

    JSN_FOR_MEMBERS (m, limits.value) {
        struct place at = place_entry(&limits, m);

        container_name_check(cs, &at);
        resource_quantity_check(cs, &at);
        note(at.entry, &compute, &huge);
    }
    JSN_FOR_MEMBERS (m, requests.value) {
        struct place at = place_entry(&requests, m);

        container_name_check(cs, &at);
        resource_quantity_check(cs, &at);
        check_against_limit(cs, &requests, &limits, &at);
        note(at.entry, &compute, &huge);
    }
    if (huge && !compute)
        place_forbidden(cs, resources, "HugePages require cpu or memory");
}

/* Sums over all containers for the class of service. */
struct totals {
    struct quantity requests[2]; /* cpu, memory */
    struct quantity limits[2];
    bool any;
    bool all_limited;
};

static void add_container(struct totals *t, const struct jsn *container)
{
    static const char *const names[] = {"cpu", "memory"};
    const struct jsn *requests = jsn_get(container, "resources.requests");
    const struct jsn *limits = jsn_get(container, "resources.limits");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct quantity request = amount_of(jsn_key(requests, names[i]));
        struct quantity limit = amount_of(jsn_key(limits, names[i]));

        t->requests[i].nano += request.nano;
        t->limits[i].nano += limit.nano;
        t->any |= request.nano > 0 || limit.nano > 0;
        t->all_limited &= limit.nano > 0;
    }
}

const char *podspec_qos(const struct jsn *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct totals t = {.all_limited = true};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        JSN_FOR_ITEMS (c, jsn_key(spec, lists[i])) {
            add_container(&t, c);
        }
    if (!t.any)
        return "BestEffort";
    for (size_t i = 0; i < ARRAY_LEN(t.requests); i++)
        t.all_limited &= quantity_cmp(&t.requests[i], &t.limits[i]) == 0;
    return t.all_limited ? "Guaranteed" : "Burstable";
}
