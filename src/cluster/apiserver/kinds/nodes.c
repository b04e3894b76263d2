/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes.
 *
 * A node brings its status along when it registers.  Later only labels, taints, capacity and
 * whether it takes pods may change; address range and provider are set once.
 */
#include "src/base/map.h"
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/podspec.h"

/* podCIDR is the first of podCIDRs. */
static void default_ranges(struct arena *a, struct jsn *spec)
{
    const char *range = kind_text(spec, "podCIDR");
    const char *first = jsn_text(jsn_item(jsn_key(spec, "podCIDRs"), 0));
    struct jsn *list;

    if (range[0] == '\0' && first) {
        jsn_set_str(a, spec, "podCIDR", first);
    } else if (range[0] != '\0' && !first) {
        list = jsn_array(a);
        jsn_append(a, list, jsn_string(a, range));
        jsn_set(a, spec, "podCIDRs", list);
    }
}

static void set_defaults(struct arena *a, struct jsn *node)
{
    struct jsn *status = jsn_key(node, "status");
    const struct jsn *capacity = jsn_key(status, "capacity");

    if (capacity && !jsn_key(status, "allocatable"))
        jsn_set(a, status, "allocatable", jsn_clone(a, capacity));
    if (jsn_is(jsn_key(node, "spec"), JSN_OBJECT))
        default_ranges(a, jsn_key(node, "spec"));
}

static void check_taints(struct causes *cs, const struct jsn *node)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    AUTO(map_done) struct map seen = {0};
    struct place root = place_root(node);
    struct place meta = place_key(&root, "metadata");
    struct place taints = place_key(&meta, "taints"); /* where Kubernetes says they are */
    static char here[1];

    taints.value = jsn_get(node, "spec.taints");
    PLACE_FOR_ITEMS (t, &taints) {
        struct place key = place_key(&t, "key");
        struct place value = place_key(&t, "value");
        struct place effect = place_key(&t, "effect");
        char *pair = arena_printf(cs->arena, "%s:%s", place_str(&effect), place_str(&key));

        check_form_always(cs, &key, FORM_QUALIFIED);
        check_form(cs, &value, FORM_LABEL_VALUE);
        check_enum_required(cs, &effect, effects);
        if (!map_put(&seen, str_of(pair), here))
            cause_add(cs, "FieldValueDuplicate", place_text(cs, &t),
                      "Duplicate value: \"%s\": taints must be unique by key and effect pair",
                      pair);
    }
}

static void check_amounts(struct causes *cs, const struct jsn *node, const char *key)
{
    struct place root = place_root(node);
    struct place status = place_key(&root, "status");
    struct place list = place_key(&status, key);

    JSN_FOR_MEMBERS (m, list.value) {
        struct place at = place_entry(&list, m);

        resource_quantity_check(cs, &at);
    }
}

static void validate(struct causes *cs, const struct jsn *node)
{
    struct place root = place_root(node);
    struct place spec = place_key(&root, "spec");
    struct place cidrs = place_key(&spec, "podCIDRs");

    check_taints(cs, node);
    check_amounts(cs, node, "capacity");
    check_amounts(cs, node, "allocatable");
    PLACE_FOR_ITEMS (cidr, &cidrs) {
        if (!check_is_cidr(place_str(&cidr)))
            place_invalid(cs, &cidr,
                          "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    }
}

/* Set once, then never changed. */
static void check_once(struct causes *cs, const struct place *spec, const struct jsn *old,
                       const char *key, const char *why)
{
    struct place at = place_key(spec, key);
    const struct jsn *was = jsn_key(old, key);

    if (!check_same(was, NULL) && !check_same(at.value, was))
        place_forbidden(cs, &at, "%s", why);
}

static void validate_update(struct causes *cs, const struct jsn *node, const struct jsn *old)
{
    static const char *const free[] = {"podCIDR",       "podCIDRs", "providerID",
                                       "unschedulable", "taints",   "configSource"};
    const struct jsn *old_spec = jsn_key(old, "spec");
    struct place root = place_root(node);
    struct place spec = place_key(&root, "spec");
    struct jsn *rest = jsn_object(cs->arena);

    check_once(cs, &spec, old_spec, "podCIDRs",
               "node updates may not change podCIDR except from \"\" to valid");
    check_once(cs, &spec, old_spec, "providerID",
               "node updates may not change providerID except from \"\" to valid");
    if (jsn_is(spec.value, JSN_OBJECT))
        rest = jsn_clone(cs->arena, spec.value);
    for (size_t i = 0; i < ARRAY_LEN(free); i++)
        kind_keep(cs->arena, rest, old_spec, free[i]);
    if (!check_same(rest, old_spec))
        cause_forbidden(cs, "[]", "node updates may only change labels, taints, or capacity");
}

const struct strategy strategy_nodes = {
    .resource = "nodes",
    .no_generation = true,
    .status_reset = true,
    .status_on_create = true,
    .set_defaults = set_defaults,
    .validate = validate,
    .validate_update = validate_update,
};
