/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of routes. */
#include "src/base/test/unit.h"

#include "src/cluster/apiserver/route.h"

static void paths_name_what_kubernetes_says(void **state)
{
    static const struct {
        const char *path;
        enum route_kind kind;
        const char *group, *version, *ns, *resource, *name, *sub;
    } cases[] = {
        {"/", ROUTE_ROOT, "", "", "", "", "", ""},
        {"/api", ROUTE_API, "", "", "", "", "", ""},
        {"/api/v1", ROUTE_GV, "", "v1", "", "", "", ""},
        {"/apis/apps", ROUTE_GROUP, "apps", "", "", "", "", ""},
        {"/apis/apps/v1/", ROUTE_GV, "apps", "v1", "", "", "", ""},
        {"/api/v1/pods", ROUTE_RESOURCE, "", "v1", "", "pods", "", ""},
        {"/api/v1/namespaces", ROUTE_RESOURCE, "", "v1", "", "namespaces", "", ""},
        {"/api/v1/namespaces/a", ROUTE_RESOURCE, "", "v1", "", "namespaces", "a", ""},
        {"/api/v1/namespaces/a/status", ROUTE_RESOURCE, "", "v1", "", "namespaces", "a", "status"},
        {"/api/v1/namespaces/a/finalize", ROUTE_RESOURCE, "", "v1", "", "namespaces", "a",
         "finalize"},
        {"/api/v1/namespaces/a/pods", ROUTE_RESOURCE, "", "v1", "a", "pods", "", ""},
        {"/api/v1/namespaces/a/pods/x%2Fy/log", ROUTE_RESOURCE, "", "v1", "a", "pods", "x/y",
         "log"},
        {"/apis/apps/v1/namespaces/a/statefulsets/s/scale", ROUTE_RESOURCE, "apps", "v1", "a",
         "statefulsets", "s", "scale"},
        {"/livez", ROUTE_HEALTH, "", "", "", "", "livez", ""},
        {"/readyz/ping", ROUTE_HEALTH, "", "", "", "", "readyz", "ping"},
        {"/version", ROUTE_VERSION, "", "", "", "", "", ""},
        {"/openapi/v2", ROUTE_OPENAPI2, "", "", "", "", "", ""},
        {"/openapi/v3", ROUTE_OPENAPI3, "", "v3", "", "", "", ""},
        {"/openapi/v3/api/v1", ROUTE_OPENAPI3_GV, "", "v1", "", "", "", ""},
        {"/openapi/v3/apis/apps/v1", ROUTE_OPENAPI3_GV, "apps", "v1", "", "", "", ""},
        {"/nothing/here", ROUTE_NONE, "", "", "", "", "", ""},
        {"/api/v1/watch/pods", ROUTE_RESOURCE, "", "v1", "", "pods", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};
        struct route r;

        assert_int_equal(route_parse(&a, cases[i].path, &r, &e), 0);
        assert_int_equal(r.kind, cases[i].kind);
        assert_string_equal(r.group, cases[i].group);
        assert_string_equal(r.version, cases[i].version);
        assert_string_equal(r.ns, cases[i].ns);
        assert_string_equal(r.resource, cases[i].resource);
        assert_string_equal(r.name, cases[i].name);
        assert_string_equal(r.sub, cases[i].sub);
    }
}

static void broken_paths_are_refused(void **state)
{
    static const char *const cases[] = {
        "/api/v1/%zz",      "/api/v1/pods/%00",
        "/api/v1/pods/%ff", "/api/v1/../x",
        "/api/./v1",        "/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct err e = {0};
        struct route r;

        assert_int_equal(route_parse(&a, cases[i], &r, &e), -EINVAL);
        assert_true(e.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_name_what_kubernetes_says),
        cmocka_unit_test(broken_paths_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
