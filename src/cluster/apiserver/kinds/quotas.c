/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resource quotas and limit ranges.
 *
 * Here is their form; quotas are counted in ../quota.c, and nothing is limited by ranges.  For each
 * resource of a limit range must hold: min <= defaultRequest <= default <= max; what is left out of
 * the defaults follows from the others.
 */
#include "src/base/map.h"
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/podspec.h"
#include "src/json/quantity.h"

static bool counts_objects(const char *name)
{
    return starts_with(name, "count/") || strstr(name, ".storageclass.storage.k8s.io/");
}

/* Quotas know fewer names than containers and nodes. */
static void quota_name_check(struct causes *cs, const struct place *at)
{
    struct causes unknown = {.arena = cs->arena};

    resource_name_check(&unknown, at);
    resource_name_check(cs, at);
    if (!strchr(at->entry, '/') && (unknown.n > 0 || streq(at->entry, "storage")))
        cause_invalid(cs, place_text(cs, at), jsn_string(cs->arena, at->entry),
                      "must be a standard resource for quota");
}

static void check_hard(struct causes *cs, const struct place *list)
{
    JSN_FOR_MEMBERS (m, list->value) {
        struct place at = place_entry(list, m);

        if (!counts_objects(at.entry))
            quota_name_check(cs, &at);
        resource_quantity_check(cs, &at);
    }
}

static void quota_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const scopes[] = {"BestEffort",
                                         "CrossNamespacePodAffinity",
                                         "NotBestEffort",
                                         "NotTerminating",
                                         "PriorityClass",
                                         "Terminating",
                                         NULL};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place status = place_key(&root, "status");
    struct place hard = place_key(&spec, "hard");
    struct place shown = place_key(&status, "hard");
    struct place used = place_key(&status, "used");
    struct place list = place_key(&spec, "scopes");

    check_hard(cs, &hard);
    check_hard(cs, &shown);
    check_hard(cs, &used);
    JSN_FOR_ITEMS (scope, list.value) {
        bool known = false;

        for (size_t i = 0; scopes[i]; i++)
            known |= streq(jsn_text(scope), scopes[i]);
        if (!known)
            place_invalid_text(cs, &list, gotext_value(cs->arena, list.value), "unsupported scope");
    }
}

static void quota_validate_update(struct causes *cs, const struct jsn *object,
                                  const struct jsn *old)
{
    const struct jsn *scopes = jsn_get(object, "spec.scopes");

    if (!check_same(scopes, jsn_get(old, "spec.scopes")))
        cause_invalid_text(cs, "spec.scopes", gotext_value(cs->arena, scopes),
                           "field is immutable");
}

static void copy_missing(struct arena *a, struct jsn *to, const struct jsn *from)
{
    JSN_FOR_MEMBERS (m, from) {
        if (!jsn_member(to, m->key))
            jsn_set_member(a, to, m->key, jsn_clone(a, m->value));
    }
}

/* A default limit follows the maximum; a default request the default limit, then the minimum. */
static void range_defaults(struct arena *a, struct jsn *object)
{
    JSN_FOR_ITEMS (item, jsn_get(object, "spec.limits")) {
        struct jsn *limit;
        struct jsn *request;

        if (!streq(jsn_get_str(item, "type"), "Container"))
            continue;
        limit = jsn_ensure_object(a, item, "default");
        request = jsn_ensure_object(a, item, "defaultRequest");
        copy_missing(a, limit, jsn_key(item, "max"));
        copy_missing(a, request, limit);
        copy_missing(a, request, jsn_key(item, "min"));
        if (jsn_len(limit) == 0)
            (void)jsn_del(item, "default");
        if (jsn_len(request) == 0)
            (void)jsn_del(item, "defaultRequest");
    }
}

/* Both given and the first larger than the second? */
static bool above(const struct jsn *a, const struct jsn *b)
{
    struct quantity x, y;

    if (!jsn_text(a) || !jsn_text(b) || quantity_parse(str_of(jsn_text(a)), &x, NULL) < 0 ||
        quantity_parse(str_of(jsn_text(b)), &y, NULL) < 0)
        return false;
    return quantity_cmp(&x, &y) > 0;
}

/* For each resource: min <= defaultRequest <= default <= max. */
static void check_order(struct causes *cs, const struct place *item)
{
    static const struct {
        const char *low, *high, *blamed, *low_name, *high_name;
    } pairs[] = {
        {"min", "max", "min", "min", "max"},
        {"min", "defaultRequest", "defaultRequest", "min", "default request"},
        {"defaultRequest", "max", "defaultRequest", "default request", "max"},
        {"defaultRequest", "default", "defaultRequest", "default request", "default limit"},
        {"min", "default", "default", "min", "default"},
        {"default", "max", "default", "default", "max"},
    };

    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        const struct jsn *low = jsn_key(item->value, pairs[i].low);
        const struct jsn *high = jsn_key(item->value, pairs[i].high);
        struct place blamed = place_key(item, pairs[i].blamed);

        JSN_FOR_MEMBERS (m, low) {
            const struct jsn *other = jsn_member(high, m->key);
            struct place at = place_entry(&blamed, m);

            if (above(m->value, other))
                cause_invalid(cs, place_text(cs, &at), jsn_member(blamed.value, m->key),
                              "%s value %s is greater than %s value %s", pairs[i].low_name,
                              jsn_text(m->value), pairs[i].high_name, jsn_text(other));
        }
    }
}

static void range_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const lists[] = {"max", "min", "default", "defaultRequest"};
    AUTO(map_done) struct map types = {0};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place limits = place_key(&spec, "limits");
    static char here[1];

    PLACE_FOR_ITEMS (item, &limits) {
        struct place type = place_key(&item, "type");

        if (check_filled(cs, &type, NULL) && !map_put(&types, str_of(place_str(&type)), here))
            place_duplicate(cs, &type);
        for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
            struct place list = place_key(&item, lists[i]);

            if (i >= 2 && jsn_len(list.value) > 0 && streq(place_str(&type), "Pod"))
                place_forbidden(cs, &list, "may not be specified when `type` is 'Pod'");
            JSN_FOR_MEMBERS (m, list.value) {
                struct place at = place_entry(&list, m);

                resource_name_check(cs, &at);
                resource_quantity_check(cs, &at);
            }
        }
        check_order(cs, &item);
    }
}

const struct strategy strategy_resourcequotas = {
    .resource = "resourcequotas",
    .no_generation = true,
    .status_reset = true,
    .deletes_to_object = true,
    .validate = quota_validate,
    .validate_update = quota_validate_update,
};

const struct strategy strategy_limitranges = {
    .resource = "limitranges",
    .no_generation = true,
    .create_on_update = true,
    .set_defaults = range_defaults,
    .validate = range_validate,
};
