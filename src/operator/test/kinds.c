/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of the operator's table of kinds, and of the rights that follow from the tables: every
 * row, every column.
 */
#include "src/base/test/unit.h"

#include "src/operator/kinds.h"
#include "src/operator/rights.h"
#include "src/plan/kind.h"

/* Each column is a pointer: a row can be walked. */
#define COLUMNS 9
_Static_assert(sizeof(struct operator_kind) == COLUMNS * sizeof(void *),
               "struct operator_kind has a new member: set COLUMNS");
#define DECODER (offsetof(struct operator_kind, decoder) / sizeof(void *))

static bool has_index(const struct operator_kind *k, const char *name)
{
    for (const struct kube_index *i = k->indexes; i->name; i++)
        if (streq(i->name, name))
            return true;
    return false;
}

static void every_row_has_every_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < API_N_KINDS; i++) {
        void *columns[COLUMNS];

        memcpy(columns, operator_kinds[i], sizeof(columns));
        for (size_t c = 0; c < COLUMNS; c++)
            if (!columns[c] && c != DECODER)
                fail_msg("%s: column %zu of struct operator_kind is not set", api_kinds[i]->kind,
                         c);
        assert_ptr_equal(operator_kinds[i]->api, api_kinds[i]);
        assert_ptr_equal(operator_kind_find(api_kinds[i]->kind), operator_kinds[i]);
    }
    assert_null(operator_kind_find("Pod"));
}

/* Routes look for objects in these indexes, and an index that is not there aborts. */
static void every_kind_is_found_by_what_it_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < API_N_KINDS; i++) {
        assert_true(has_index(operator_kinds[i], WORLD_BY_REFERENCE));
        assert_int_equal(has_index(operator_kinds[i], WORLD_BY_CONTROLLER), i != KIND_CONTROLLER);
        assert_int_equal(has_index(operator_kinds[i], WORLD_BY_SLURM_NAME),
                         api_kinds[i]->slurm_name != api_no_slurm_name);
    }
}

static void every_kind_of_ours_is_planned_with(void **state)
{
    (void)state;
    API_FOR_KINDS (k) {
        const struct plan_kind *p = plan_kind_find(k->kind);

        assert_string_equal(p->plural, k->plural);
        assert_string_equal(p->group, k->group);
        assert_string_equal(p->version, k->version);
        assert_int_equal(plan_kind_sight(p), k->needed ? SIGHT_NEEDED : SIGHT_AWAITED);
        assert_true(p->uses & PLAN_READ);
        assert_true(p->uses & PLAN_STATUS);
    }
}

static void what_is_watched_has_a_name_and_a_use(void **state)
{
    size_t n = 0;

    (void)state;
    for (const struct plan_kind *k = plan_kinds; k->kind; k++, n++) {
        assert_true(k->plural && k->group && k->version);
        assert_true(k->uses & PLAN_READ);
        if (k->fields)
            assert_true(k->uses & PLAN_PATCH);
        assert_ptr_equal(plan_kind_find(k->kind), k);
    }
    assert_int_equal(n, plan_n_kinds);
}

static bool lists(const struct right *r, const char *verb)
{
    for (const char *const *v = r->verbs; *v; v++)
        if (streq(*v, verb))
            return true;
    return false;
}

static bool may(const char *resource, const char *verb)
{
    AUTO(arena_done) struct arena a = {0};
    const struct right *list;
    size_t n = rights_list(&a, &list);
    bool found = false;

    for (size_t i = 0; i < n; i++)
        found = found || (streq(list[i].resource, resource) && lists(&list[i], verb));
    return found;
}

static void rights_follow_from_what_is_done(void **state)
{
    (void)state;
    for (const struct plan_kind *k = plan_kinds; k->kind; k++) {
        assert_int_equal(may(k->plural, "watch"), !!(k->uses & PLAN_READ));
        assert_int_equal(may(k->plural, "create"), !!(k->uses & PLAN_CREATE));
        assert_int_equal(may(k->plural, "patch"), !!(k->uses & PLAN_PATCH));
        assert_int_equal(may(k->plural, "delete"), !!(k->uses & PLAN_DELETE));
    }
    assert_true(may("nodesets/status", "patch"));
    assert_true(may("controllers/finalizers", "update"));
    assert_true(may("events", "create"));
}

/* What would let the operator be turned against the cluster. */
static void rights_are_few(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct right *list;
    size_t n = rights_list(&a, &list);

    (void)state;
    for (size_t i = 0; i < n; i++)
        for (const char *const *v = list[i].verbs; *v; v++) {
            assert_string_not_equal(*v, "*");
            assert_string_not_equal(*v, "deletecollection");
            assert_string_not_equal(*v, "escalate");
            assert_string_not_equal(*v, "bind");
            assert_string_not_equal(*v, "impersonate");
            assert_string_not_equal(list[i].resource, "*");
            assert_string_not_equal(list[i].resource, "pods/exec");
        }
    assert_false(may("secrets", "delete"));
}

static void the_lease_is_written_at_home_alone(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf everywhere = {0};
    AUTO(buf_done) struct buf home = {0};
    struct jsn *all = jsn_array(&a);
    struct jsn *own = jsn_array(&a);

    (void)state;
    rights_add_rules(&a, RIGHT_EVERYWHERE, all);
    rights_add_rules(&a, RIGHT_AT_HOME, own);
    jsn_print(&everywhere, all);
    jsn_print(&home, own);
    assert_null(strstr(buf_str(&everywhere), "leases"));
    assert_non_null(strstr(buf_str(&home), "\"resources\":[\"leases\"]"));
    assert_non_null(strstr(buf_str(&everywhere),
                           "{\"apiGroups\":[\"slinky.slurm.net\"],\"resources\":[\"controllers\"],"
                           "\"verbs\":[\"get\",\"list\",\"watch\",\"patch\"]}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_every_column),
        cmocka_unit_test(every_kind_is_found_by_what_it_names),
        cmocka_unit_test(every_kind_of_ours_is_planned_with),
        cmocka_unit_test(what_is_watched_has_a_name_and_a_use),
        cmocka_unit_test(rights_follow_from_what_is_done),
        cmocka_unit_test(rights_are_few),
        cmocka_unit_test(the_lease_is_written_at_home_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
