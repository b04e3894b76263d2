/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Roles and bindings of rbac.authorization.k8s.io.
 *
 * Their form is checked here; what they give is decided in rbac/.  Nobody writes rights that they
 * do not have (rbac/escalation.h).  What a binding refers to never changes: a new binding must be
 * made, so that nobody gets more rights by an edit of one field.
 */
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/labelselector.h"
#include "src/cluster/apiserver/rbac/escalation.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

static void require_some(struct causes *cs, const struct place *rule, const char *key,
                         const char *why)
{
    struct place at = place_key(rule, key);

    if (jsn_len(at.value) == 0)
        place_required(cs, &at, why);
}

static void check_rule(struct causes *cs, const struct place *rule, bool namespaced)
{
    struct place urls = place_key(rule, "nonResourceURLs");
    const char *shown = gotext_value(cs->arena, urls.value);

    require_some(cs, rule, "verbs", "verbs must contain at least one value");
    if (jsn_len(urls.value) == 0) {
        require_some(cs, rule, "apiGroups", "resource rules must supply at least one api group");
        require_some(cs, rule, "resources", "resource rules must supply at least one resource");
        return;
    }
    if (namespaced)
        place_invalid_text(cs, &urls, shown, "namespaced rules cannot apply to non-resource URLs");
    if (jsn_len(jsn_key(rule->value, "apiGroups")) > 0 ||
        jsn_len(jsn_key(rule->value, "resources")) > 0 ||
        jsn_len(jsn_key(rule->value, "resourceNames")) > 0)
        place_invalid_text(cs, &urls, shown,
                           "rules cannot apply to both regular resources and non-resource URLs");
}

static void check_rules(struct causes *cs, const struct jsn *role, bool namespaced)
{
    struct place root = place_root(role);
    struct place rules = place_key(&root, "rules");

    PLACE_FOR_ITEMS (rule, &rules)
        check_rule(cs, &rule, namespaced);
}

static void role_validate(struct causes *cs, const struct jsn *role)
{
    check_rules(cs, role, true);
}

static void clusterrole_validate(struct causes *cs, const struct jsn *role)
{
    struct place root = place_root(role);
    struct place aggregation = place_key(&root, "aggregationRule");
    struct place selectors = place_key(&aggregation, "clusterRoleSelectors");

    check_rules(cs, role, false);
    if (!place_given(&aggregation))
        return;
    if (jsn_len(selectors.value) == 0)
        place_required(cs, &selectors,
                       "at least one clusterRoleSelector required if aggregationRule is non-nil");
    PLACE_FOR_ITEMS (selector, &selectors)
        labelselector_check(cs, &selector);
}

static void binding_defaults(struct arena *a, struct jsn *binding)
{
    JSN_FOR_ITEMS (subject, jsn_key(binding, "subjects")) {
        const char *kind = kind_text(subject, "kind");

        if (!jsn_key(subject, "apiGroup") && (streq(kind, "User") || streq(kind, "Group")))
            jsn_set_str(a, subject, "apiGroup", RBAC_GROUP);
    }
}

static void check_group(struct causes *cs, const struct place *group, const char *only)
{
    const char *const supported[] = {only, NULL};

    if (!streq(place_str(group), only))
        place_unsupported(cs, group, supported);
}

static void check_subject(struct causes *cs, const struct place *subject, bool namespaced)
{
    static const char *const kinds[] = {"ServiceAccount", "User", "Group", NULL};
    struct place name = place_key(subject, "name");
    struct place kind = place_key(subject, "kind");
    struct place group = place_key(subject, "apiGroup");
    struct place ns = place_key(subject, "namespace");

    if (check_filled(cs, &name, NULL) && streq(place_str(&kind), "ServiceAccount"))
        check_form(cs, &name, FORM_DNS_SUBDOMAIN);
    if (streq(place_str(&kind), "ServiceAccount")) {
        check_group(cs, &group, "");
        if (!namespaced)
            (void)check_filled(cs, &ns, NULL);
    } else if (streq(place_str(&kind), "User") || streq(place_str(&kind), "Group")) {
        check_group(cs, &group, RBAC_GROUP);
    } else {
        place_unsupported(cs, &kind, kinds);
    }
}

static void check_binding(struct causes *cs, const struct jsn *binding, const char *const *kinds,
                          bool namespaced)
{
    static const char *const groups[] = {RBAC_GROUP, NULL};
    struct place root = place_root(binding);
    struct place ref = place_key(&root, "roleRef");
    struct place group = place_key(&ref, "apiGroup");
    struct place kind = place_key(&ref, "kind");
    struct place name = place_key(&ref, "name");
    struct place subjects = place_key(&root, "subjects");

    check_enum(cs, &group, groups);
    if (place_filled(&kind))
        check_enum(cs, &kind, kinds);
    else
        place_unsupported(cs, &kind, kinds);
    check_form_required(cs, &name, FORM_PATH_SEGMENT);
    PLACE_FOR_ITEMS (subject, &subjects)
        check_subject(cs, &subject, namespaced);
}

static void rolebinding_validate(struct causes *cs, const struct jsn *binding)
{
    static const char *const kinds[] = {"Role", "ClusterRole", NULL};

    check_binding(cs, binding, kinds, true);
}

static void clusterrolebinding_validate(struct causes *cs, const struct jsn *binding)
{
    static const char *const kinds[] = {"ClusterRole", NULL};

    check_binding(cs, binding, kinds, false);
}

static void binding_validate_update(struct causes *cs, const struct jsn *binding,
                                    const struct jsn *old)
{
    const struct jsn *ref = jsn_key(binding, "roleRef");

    if (!check_same(ref, jsn_key(old, "roleRef")))
        cause_invalid_text(cs, "roleRef",
                           arena_printf(cs->arena,
                                        "{\"APIGroup\":\"%s\",\"Kind\":\"%s\",\"Name\":\"%s\"}",
                                        kind_text(ref, "apiGroup"), kind_text(ref, "kind"),
                                        kind_text(ref, "name")),
                           "cannot change roleRef");
}

static int role_create(struct api_call *c, struct jsn *role)
{
    return escalation_check_role(c, role, NULL);
}

static int role_update(struct api_call *c, struct jsn *role, const struct jsn *old)
{
    return escalation_check_role(c, role, old);
}

static int binding_create(struct api_call *c, struct jsn *binding)
{
    return escalation_check_binding(c, binding, NULL);
}

static int binding_update(struct api_call *c, struct jsn *binding, const struct jsn *old)
{
    return escalation_check_binding(c, binding, old);
}

const struct strategy strategy_roles = {
    .resource = "roles." RBAC_GROUP,
    .names = NAME_PATH_SEGMENT,
    .no_generation = true,
    .create_on_update = true,
    .prepare_create = role_create,
    .prepare_update = role_update,
    .validate = role_validate,
};

const struct strategy strategy_clusterroles = {
    .resource = "clusterroles." RBAC_GROUP,
    .names = NAME_PATH_SEGMENT,
    .no_generation = true,
    .create_on_update = true,
    .prepare_create = role_create,
    .prepare_update = role_update,
    .validate = clusterrole_validate,
};

const struct strategy strategy_rolebindings = {
    .resource = "rolebindings." RBAC_GROUP,
    .names = NAME_PATH_SEGMENT,
    .no_generation = true,
    .create_on_update = true,
    .set_defaults = binding_defaults,
    .prepare_create = binding_create,
    .prepare_update = binding_update,
    .validate = rolebinding_validate,
    .validate_update = binding_validate_update,
};

const struct strategy strategy_clusterrolebindings = {
    .resource = "clusterrolebindings." RBAC_GROUP,
    .names = NAME_PATH_SEGMENT,
    .no_generation = true,
    .create_on_update = true,
    .set_defaults = binding_defaults,
    .prepare_create = binding_create,
    .prepare_update = binding_update,
    .validate = clusterrolebinding_validate,
    .validate_update = binding_validate_update,
};
