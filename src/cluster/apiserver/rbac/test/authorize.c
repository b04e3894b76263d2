/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of decisions: roles, bindings and users, as the store tells of them. */
#include "src/json/test/json_text.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/rbac/authorize.h"

#define READ_PODS "{'rules':[{'verbs':['get','list'],'apiGroups':[''],'resources':['pods']}]}"
#define BINDING(kind, name, subject)                                                               \
    "{'roleRef':{'kind':'" kind "','name':'" name "'},'subjects':[" subject "]}"
#define USER(name) "{'kind':'User','name':'" name "'}"
#define GROUP(name) "{'kind':'Group','name':'" name "'}"

struct fixture {
    struct arena arena;
    struct rbac_index *index;
};

static int set_up(void **state)
{
    struct fixture *f = test_calloc(1, sizeof(*f));

    f->index = rbac_index_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rbac_index_free(f->index);
    arena_done(&f->arena);
    test_free(f);
    return 0;
}

static void put(struct fixture *f, const char *resource, const char *ns, const char *name,
                const char *text)
{
    rbac_index_put(f->index, resource, ns, name, str_of(swap_quotes(&f->arena, text, '\'', '"')));
}

static struct api_user user(const char *name, const char *const *groups)
{
    return (struct api_user){.name = name, .groups = groups};
}

static bool may(struct fixture *f, const char *name, const char *const *groups, const char *verb,
                const char *ns)
{
    struct api_user u = user(name, groups);
    struct rbac_request q = {verb, "", "pods", "", ns, "", ""};

    return rbac_allows(f->index, &u, &q);
}

static void nobody_may_anything_without_a_role(void **state)
{
    assert_false(may(*state, "joe", NULL, "list", "a"));
    assert_false(may(*state, "", NULL, "list", ""));
}

static void masters_may_everything_without_a_role(void **state)
{
    static const char *const groups[] = {"system:masters", NULL};

    assert_true(may(*state, "joe", groups, "list", "a"));
}

static void a_role_binding_gives_rights_in_its_namespace_alone(void **state)
{
    struct fixture *f = *state;

    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    put(f, RBAC_ROLE_BINDINGS, "a", "b", BINDING("ClusterRole", "r", USER("joe")));
    assert_true(may(f, "joe", NULL, "list", "a"));
    assert_false(may(f, "joe", NULL, "delete", "a"));
    assert_false(may(f, "joe", NULL, "list", "b"));
    assert_false(may(f, "joe", NULL, "list", ""));
    assert_false(may(f, "jim", NULL, "list", "a"));
}

static void a_role_of_another_namespace_is_not_found(void **state)
{
    struct fixture *f = *state;

    put(f, RBAC_ROLES, "b", "r", READ_PODS);
    put(f, RBAC_ROLE_BINDINGS, "a", "b", BINDING("Role", "r", USER("joe")));
    assert_false(may(f, "joe", NULL, "list", "a"));
    put(f, RBAC_ROLES, "a", "r", READ_PODS);
    assert_true(may(f, "joe", NULL, "list", "a"));
}

static void a_cluster_binding_gives_rights_everywhere(void **state)
{
    static const char *const groups[] = {"x", "staff", NULL};
    struct fixture *f = *state;

    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    put(f, RBAC_CLUSTER_ROLE_BINDINGS, "", "b", BINDING("ClusterRole", "r", GROUP("staff")));
    assert_true(may(f, "joe", groups, "list", ""));
    assert_true(may(f, "joe", groups, "list", "a"));
    assert_false(may(f, "staff", NULL, "list", "a"));
}

static void a_service_account_is_the_user_of_its_long_name(void **state)
{
    struct fixture *f = *state;

    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    put(f, RBAC_ROLE_BINDINGS, "a", "b",
        BINDING("ClusterRole", "r", "{'kind':'ServiceAccount','name':'x','namespace':'n'}"));
    assert_true(may(f, "system:serviceaccount:n:x", NULL, "list", "a"));
    assert_false(may(f, "system:serviceaccount:a:x", NULL, "list", "a"));
}

static void what_is_changed_or_deleted_counts_at_once(void **state)
{
    struct fixture *f = *state;

    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    put(f, RBAC_CLUSTER_ROLE_BINDINGS, "", "b", BINDING("ClusterRole", "r", USER("joe")));
    put(f, RBAC_CLUSTER_ROLE_BINDINGS, "", "b", BINDING("ClusterRole", "r", USER("jim")));
    assert_false(may(f, "joe", NULL, "list", ""));
    assert_true(may(f, "jim", NULL, "list", ""));
    put(f, RBAC_CLUSTER_ROLES, "", "r", "{'rules':null}");
    assert_false(may(f, "jim", NULL, "list", ""));
    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    rbac_index_drop(f->index, RBAC_CLUSTER_ROLE_BINDINGS, "", "b");
    assert_false(may(f, "jim", NULL, "list", ""));
    rbac_index_drop(f->index, RBAC_CLUSTER_ROLE_BINDINGS, "", "b");
}

static void a_name_with_a_slash_is_not_another_subject(void **state)
{
    struct fixture *f = *state;

    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    put(f, RBAC_ROLE_BINDINGS, "a", "b", BINDING("ClusterRole", "r", USER("joe")));
    assert_false(may(f, "/u:joe", NULL, "list", "a"));
    assert_false(may(f, "joe", NULL, "list", "a/u:joe"));
}

static void reasons_name_binding_role_and_subject(void **state)
{
    struct fixture *f = *state;
    struct api_user joe = user("joe", NULL);
    struct rbac_request q = {"list", "", "pods", "", "a", "", ""};
    const char *why;

    put(f, RBAC_ROLE_BINDINGS, "a", "b", BINDING("ClusterRole", "r", USER("joe")));
    assert_false(rbac_explain(f->index, &f->arena, &joe, &q, &why));
    assert_string_equal(why, "RBAC: clusterrole.rbac.authorization.k8s.io \"r\" not found");
    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    assert_true(rbac_explain(f->index, &f->arena, &joe, &q, &why));
    assert_string_equal(
        why, "RBAC: allowed by RoleBinding \"b/a\" of ClusterRole \"r\" to User \"joe\"");
}

/* Ten thousand bindings of others cost a decision nothing; the limit is loose on purpose. */
static void a_decision_does_not_look_at_bindings_of_others(void **state)
{
    static const char *const groups[] = {"system:authenticated", "x", "y", NULL};
    struct fixture *f = *state;
    int64_t start;

    put(f, RBAC_CLUSTER_ROLES, "", "r", READ_PODS);
    for (int i = 0; i < 10000; i++) {
        const char *name = arena_printf(&f->arena, "u%d", i);

        put(f, RBAC_ROLE_BINDINGS, "a", name,
            arena_printf(&f->arena,
                         "{'roleRef':{'kind':'ClusterRole','name':'r'},'subjects':[{'kind':'User',"
                         "'name':'%s'}]}",
                         name));
    }
    start = clock_mono_ms();
    for (int i = 0; i < 10000; i++)
        assert_false(may(f, "joe", groups, "list", "a"));
    assert_in_range(clock_mono_ms() - start, 0, 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nobody_may_anything_without_a_role),
        TEST(masters_may_everything_without_a_role),
        TEST(a_role_binding_gives_rights_in_its_namespace_alone),
        TEST(a_role_of_another_namespace_is_not_found),
        TEST(a_cluster_binding_gives_rights_everywhere),
        TEST(a_service_account_is_the_user_of_its_long_name),
        TEST(what_is_changed_or_deleted_counts_at_once),
        TEST(a_name_with_a_slash_is_not_another_subject),
        TEST(reasons_name_binding_role_and_subject),
        TEST(a_decision_does_not_look_at_bindings_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
