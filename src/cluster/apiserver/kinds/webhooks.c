/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations of admission webhooks.
 *
 * They are kept and checked for their form, so that charts which bring some can be installed; the
 * embedded server does not call them: what they would check, the server's own admission does for
 * the kinds it knows.
 */
#include "src/base/map.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/labelselector.h"

static void check_name(struct causes *cs, const struct place *name)
{
    struct str rest = str_of(place_str(name));
    struct name_faults f = names_check(FORM_DNS_SUBDOMAIN, rest);
    struct str part;
    size_t n = 0;

    if (!check_filled(cs, name, NULL))
        return;
    while (str_split(&rest, '.', &part))
        n++;
    if (f.n > 0)
        place_invalid(cs, name, "%s", f.text[0]);
    else if (n < 3)
        place_invalid(cs, name,
                      "should be a domain with at least three segments separated by dots");
}

static void check_rules(struct causes *cs, const struct place *rules)
{
    static const char *const operations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL};
    static const char *const needed[] = {"operations", "apiGroups", "apiVersions", "resources"};

    PLACE_FOR_ITEMS (rule, rules) {
        struct place list = place_key(&rule, "operations");

        for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
            struct place at = place_key(&rule, needed[i]);

            if (jsn_len(at.value) == 0)
                place_required(cs, &at, NULL);
        }
        PLACE_FOR_ITEMS (operation, &list)
            check_enum(cs, &operation, operations);
    }
}

static void check_client(struct causes *cs, const struct place *client)
{
    struct place url = place_key(client, "url");
    struct place service = place_key(client, "service");
    struct place name = place_key(&service, "name");
    struct place ns = place_key(&service, "namespace");

    if (place_given(&url) == place_given(&service)) {
        place_required(cs, client, "exactly one of url or service is required");
        return;
    }
    if (place_given(&url) && !starts_with(place_str(&url), "https://"))
        place_invalid(cs, &url,
                      "'https' is the only allowed URL scheme; desired format: "
                      "https://host[/path]");
    if (place_given(&service)) {
        if (!place_filled(&name))
            place_required(cs, &name, "service name is required");
        if (!place_filled(&ns))
            place_required(cs, &ns, "service namespace is required");
    }
}

static void check_versions(struct causes *cs, const struct place *versions)
{
    bool known = false;

    if (jsn_len(versions->value) == 0)
        place_required(cs, versions, "must specify one of v1, v1beta1");
    PLACE_FOR_ITEMS (version, versions) {
        check_form(cs, &version, FORM_DNS1035_LABEL);
        known |= streq(place_str(&version), "v1") || streq(place_str(&version), "v1beta1");
    }
    if (jsn_len(versions->value) > 0 && !known)
        place_invalid(cs, versions, "must include at least one of v1, v1beta1");
}

static void check_hook(struct causes *cs, const struct place *hook)
{
    static const char *const failure[] = {"Fail", "Ignore", NULL};
    static const char *const match[] = {"Equivalent", "Exact", NULL};
    static const char *const effects[] = {"None", "NoneOnDryRun", NULL};
    static const char *const reinvocation[] = {"IfNeeded", "Never", NULL};
    struct place name = place_key(hook, "name");
    struct place rules = place_key(hook, "rules");
    struct place policy = place_key(hook, "failurePolicy");
    struct place match_policy = place_key(hook, "matchPolicy");
    struct place side_effects = place_key(hook, "sideEffects");
    struct place timeout = place_key(hook, "timeoutSeconds");
    struct place ns_selector = place_key(hook, "namespaceSelector");
    struct place selector = place_key(hook, "objectSelector");
    struct place again = place_key(hook, "reinvocationPolicy");
    struct place client = place_key(hook, "clientConfig");
    struct place versions = place_key(hook, "admissionReviewVersions");
    int64_t seconds = place_int(&timeout, 10);

    check_name(cs, &name);
    check_rules(cs, &rules);
    check_enum(cs, &policy, failure);
    check_enum(cs, &match_policy, match);
    if (check_filled(cs, &side_effects, "must specify one of None, NoneOnDryRun"))
        check_enum(cs, &side_effects, effects);
    if (seconds < 1 || seconds > 30)
        place_invalid(cs, &timeout, "the timeout value must be between 1 and 30 seconds");
    labelselector_check(cs, &ns_selector);
    labelselector_check(cs, &selector);
    check_enum(cs, &again, reinvocation);
    check_client(cs, &client);
    check_versions(cs, &versions);
}

static void validate(struct causes *cs, const struct jsn *object)
{
    AUTO(map_done) struct map names = {0};
    struct place root = place_root(object);
    struct place hooks = place_key(&root, "webhooks");
    static char here[1];

    PLACE_FOR_ITEMS (hook, &hooks) {
        struct place name = place_key(&hook, "name");

        check_hook(cs, &hook);
        if (place_filled(&name) && !map_put(&names, str_of(place_str(&name)), here))
            place_duplicate(cs, &name);
    }
}

const struct strategy strategy_mutatingwebhooks = {
    .resource = "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    .needs_version = true,
    .validate = validate,
};

const struct strategy strategy_validatingwebhooks = {
    .resource = "validatingwebhookconfigurations.admissionregistration.k8s.io",
    .needs_version = true,
    .validate = validate,
};
