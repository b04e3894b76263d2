/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operator's role in the embedded server against what the operator says that it does.
 *
 * The two stand in layers that do not know each other: rbac/bootstrap_roles.c and
 * operator/rights.c.  A right that the role lacks is an operator that stands still; one that it has
 * without need is one too many.
 */
#include "src/json/test/json_text.h"

#include "src/cluster/apiserver/rbac/bootstrap.h"
#include "src/cluster/apiserver/rbac/rule.h"
#include "src/operator/rights.h"

/* A webhook is for Kubernetes, and only OpenShift asks for the right to owners' finalizers. */
static bool is_for_others(const struct right *r)
{
    return ends_with(r->resource, "/finalizers") || r->name ||
           streq(r->group, "admissionregistration.k8s.io");
}

static struct rbac_rules listed(struct arena *a)
{
    const struct right *list;
    size_t n = rights_list(a, &list);
    struct rbac_rules rules = {0};

    for (size_t i = 0; i < n; i++) {
        const char **one = arena_calloc(a, 6, sizeof(*one));
        struct rbac_rule r = {.groups = one, .resources = one + 2, .names = one + 5};
        struct rbac_rules single = {&r, 1, 0};
        size_t verbs = 0;

        if (is_for_others(&list[i]))
            continue;
        while (list[i].verbs[verbs])
            verbs++;
        one[0] = list[i].group;
        one[2] = list[i].resource;
        r.urls = r.names;
        r.verbs = arena_calloc(a, verbs + 1, sizeof(*r.verbs));
        memcpy(r.verbs, list[i].verbs, verbs * sizeof(*r.verbs));
        rbac_rules_add(a, &rules, &single);
    }
    return rules;
}

static struct rbac_rules given(struct arena *a)
{
    struct rbac_rules rules;

    rbac_rules_read(a, rbac_bootstrap_rules(a, "system:slurmkeeper:operator"), &rules);
    return rules;
}

static void the_operator_may_do_what_it_does(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct rbac_rules held = given(&a), wanted = listed(&a), missing = {0};

    (void)state;
    assert_true(wanted.n > 10);
    if (rbac_rules_cover(&a, &held, &wanted, &missing) != 1)
        fail_msg("bootstrap_roles.c lacks\n%s", rbac_rules_text(&a, &missing));
}

static void the_operator_may_do_nothing_else(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct rbac_rules held = listed(&a), wanted = given(&a), missing = {0};

    (void)state;
    if (rbac_rules_cover(&a, &held, &wanted, &missing) != 1)
        fail_msg("bootstrap_roles.c gives too much\n%s", rbac_rules_text(&a, &missing));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_operator_may_do_what_it_does),
        cmocka_unit_test(the_operator_may_do_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
