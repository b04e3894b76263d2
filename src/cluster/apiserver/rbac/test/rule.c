/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of rules: what they allow, what they cover, how they are shown. */
#include "src/json/test/json_text.h"

#include "src/cluster/apiserver/rbac/rule.h"

#define CORE "'apiGroups':['']"

static void a_rule_allows_what_it_names_and_nothing_else(void **state)
{
    static const struct {
        const char *rule, *verb, *group, *resource, *sub, *name;
        bool want;
    } cases[] = {
        {"{'verbs':['get']," CORE ",'resources':['pods']}", "get", "", "pods", "", "a", true},
        {"{'verbs':['get']," CORE ",'resources':['pods']}", "list", "", "pods", "", "", false},
        {"{'verbs':['get']," CORE ",'resources':['pods']}", "get", "apps", "pods", "", "", false},
        {"{'verbs':['get']," CORE ",'resources':['pods']}", "get", "", "pods", "log", "", false},
        {"{'verbs':['get']," CORE ",'resources':['pods']}", "get", "", "podsx", "", "", false},
        {"{'verbs':['get']," CORE ",'resources':['pods/log']}", "get", "", "pods", "log", "", true},
        {"{'verbs':['get']," CORE ",'resources':['pods/log']}", "get", "", "pods", "", "", false},
        {"{'verbs':['*'],'apiGroups':['*'],'resources':['*/scale']}", "update", "apps",
         "deployments", "scale", "x", true},
        {"{'verbs':['*'],'apiGroups':['*'],'resources':['*/scale']}", "update", "apps",
         "deployments", "status", "x", false},
        {"{'verbs':['*'],'apiGroups':['*'],'resources':['*/scale']}", "update", "apps", "scale", "",
         "x", false},
        {"{'verbs':['*'],'apiGroups':['*'],'resources':['*']}", "x", "y", "z", "w", "v", true},
        {"{'verbs':['get']," CORE ",'resources':['pods'],'resourceNames':['a']}", "get", "", "pods",
         "", "a", true},
        {"{'verbs':['get']," CORE ",'resources':['pods'],'resourceNames':['a']}", "get", "", "pods",
         "", "b", false},
        {"{'verbs':['list']," CORE ",'resources':['pods'],'resourceNames':['a']}", "list", "",
         "pods", "", "", false},
        {"{'verbs':['get'],'nonResourceURLs':['*']}", "get", "", "pods", "", "", false},
        {"{}", "get", "", "pods", "", "", false},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsn *list = jsn_array(&a);
        struct rbac_request q = {
            cases[i].verb, cases[i].group, cases[i].resource, cases[i].sub, "", cases[i].name, ""};
        struct rbac_rules rules;

        jsn_append(&a, list, json_of(&a, cases[i].rule));
        rbac_rules_read(&a, list, &rules);
        if (rbac_rule_allows(&rules.items[0], &q) != cases[i].want)
            fail_msg("%s: %s %s/%s", cases[i].rule, cases[i].verb, cases[i].resource, cases[i].sub);
    }
}

static void paths_end_with_a_star_or_are_exact(void **state)
{
    static const struct {
        const char *urls, *path;
        bool want;
    } cases[] = {
        {"['/healthz']", "/healthz", true}, {"['/healthz']", "/healthz/", false},
        {"['/api/*']", "/api/v1", true},    {"['/api/*']", "/apis", false},
        {"['*']", "/metrics", true},        {"['/api*']", "/apis", true},
        {"[]", "/metrics", false},          {"['']", "/", false},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rbac_request q = {"get", "", NULL, "", "", "", cases[i].path};
        struct rbac_rules rules;

        rbac_rules_read(&a,
                        json_of(&a, arena_printf(&a, "[{'verbs':['get'],'nonResourceURLs':%s}]",
                                                 cases[i].urls)),
                        &rules);
        if (rbac_rule_allows(&rules.items[0], &q) != cases[i].want)
            fail_msg("%s: %s", cases[i].urls, cases[i].path);
    }
}

static void what_is_not_held_is_named(void **state)
{
    static const struct {
        const char *held, *wanted, *missing;
    } cases[] = {
        {"[]", "[]", ""},
        {"[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]",
         "[{'verbs':['get','list'],'apiGroups':['','apps'],'resources':['pods','pods/log']}]", ""},
        {"[{'verbs':['get']," CORE ",'resources':['pods']}]",
         "[{'verbs':['get','list','watch']," CORE ",'resources':['pods']}]",
         "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"watch\"]}"},
        {"[{'verbs':['get']," CORE ",'resources':['pods']},{'verbs':['list']," CORE
         ",'resources':['pods']}]",
         "[{'verbs':['get','list']," CORE ",'resources':['pods']}]", ""},
        {"[{'verbs':['get']," CORE ",'resources':['pods'],'resourceNames':['a']}]",
         "[{'verbs':['get']," CORE ",'resources':['pods']}]",
         "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}"},
        {"[{'verbs':['get']," CORE ",'resources':['pods']}]",
         "[{'verbs':['get']," CORE ",'resources':['pods'],'resourceNames':['a']}]", ""},
        {"[{'verbs':['update'],'apiGroups':['*'],'resources':['*/scale']}]",
         "[{'verbs':['update'],'apiGroups':['apps'],'resources':['deployments/scale']}]", ""},
        {"[{'verbs':['get']," CORE ",'resources':['pods']}]",
         "[{'verbs':['*']," CORE ",'resources':['pods']}]",
         "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"*\"]}"},
        {"[{'verbs':['get'],'nonResourceURLs':['/api/*']}]",
         "[{'verbs':['get'],'nonResourceURLs':['/api/v1','/metrics']}]",
         "{NonResourceURLs:[\"/metrics\"], Verbs:[\"get\"]}"},
        {"[]", "[{'verbs':['get']," CORE ",'resources':['secrets'],'resourceNames':['a','b']}]",
         "{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"a\"], Verbs:[\"get\"]}\n"
         "{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}"},
    };
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rbac_rules held, wanted, missing = {0};
        int r;

        rbac_rules_read(&a, json_of(&a, cases[i].held), &held);
        rbac_rules_read(&a, json_of(&a, cases[i].wanted), &wanted);
        r = rbac_rules_cover(&a, &held, &wanted, &missing);
        assert_int_equal(r, cases[i].missing[0] == '\0');
        assert_string_equal(rbac_rules_text(&a, &missing), cases[i].missing);
    }
}

/* Four lists of a few hundred words name more rights than can be counted one by one. */
static void a_short_text_of_many_rights_is_not_worked_through(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct rbac_rules wanted, held = {0}, missing;

    (void)state;
    buf_adds(&b, "['x'");
    for (int i = 0; i < 300; i++)
        buf_printf(&b, ",'w%d'", i);
    buf_addc(&b, ']');
    rbac_rules_read(&a,
                    json_of(&a, arena_printf(&a,
                                             "[{'verbs':%s,'apiGroups':%s,'resources':%s,"
                                             "'resourceNames':%s}]",
                                             buf_str(&b), buf_str(&b), buf_str(&b), buf_str(&b))),
                    &wanted);
    assert_int_equal(rbac_rules_cover(&a, &held, &wanted, &missing), -E2BIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_allows_what_it_names_and_nothing_else),
        cmocka_unit_test(paths_end_with_a_star_or_are_exact),
        cmocka_unit_test(what_is_not_held_is_named),
        cmocka_unit_test(a_short_text_of_many_rights_is_not_worked_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
