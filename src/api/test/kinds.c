/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests of the table of kinds: every row, every column.
 *
 * A member that was forgotten in a row would be zero without a word.  So each is asked for here,
 * and the assertion on the size makes whoever adds a member come here, too.
 */
#include "src/api/test/objects.h"

#include <ctype.h>

#include "src/api/condition.h"
#include "src/api/kinds.h"

/* enum, 9 pointers, two flags, 1 pointer. */
_Static_assert(sizeof(struct api_kind) == 12 * sizeof(void *),
               "struct api_kind has a new member: test it below, then set this size");

static bool has_row(const struct jsn_field *fields, const char *path)
{
    for (const struct jsn_field *f = fields; f->kind != JSN_NOTHING; f++)
        if (starts_with(f->path, path))
            return true;
    return false;
}

static void check_columns(const struct api_kind *k)
{
    size_t n = 0;

    for (const struct api_column *c = k->columns; c->name; c++, n++) {
        assert_true(streq(c->type, "integer") || streq(c->type, "string") ||
                    streq(c->type, "date"));
        assert_true(c->path[0] == '.');
        assert_true(ends_with(c->doc, "."));
    }
    if (n == 0)
        fail_msg("%s has no columns", k->kind);
}

static void every_row_of_the_table_is_complete(void **state)
{
    size_t n = 0;

    (void)state;
    API_FOR_KINDS (k) {
        AUTO(arena_done) struct arena a = {0};

        assert_int_equal(k->id, n++);
        assert_true(api_group_is_ours(k->group));
        assert_string_equal(k->version, api_group_version(k->group));
        assert_true(isupper((unsigned char)k->kind[0]));
        assert_string_equal(k->plural, arena_printf(&a, "%ss", k->singular));
        assert_int_equal(strcasecmp(k->kind, k->singular), 0);
        assert_true(islower((unsigned char)k->singular[0]));
        assert_non_null(k->short_names);
        assert_true(ends_with(k->doc, "."));
        assert_true(has_row(k->fields, "metadata"));
        assert_true(has_row(k->fields, "spec"));
        assert_true(has_row(k->fields, "status"));
        check_columns(k);
        assert_non_null(k->slurm_name);
    }
    assert_int_equal(n, API_N_KINDS);
}

/* `kubectl wait --for=condition=Ready` works with every kind. */
static void every_kind_has_conditions(void **state)
{
    (void)state;
    API_FOR_KINDS (k) {
        AUTO(arena_done) struct arena a = {0};
        const struct jsn *schema = fields_kind_schema(&a, k->fields, k->doc);

        if (!jsn_get(schema, "properties.status.properties.conditions"))
            fail_msg("%s has no status.conditions", k->kind);
        if (k->scale)
            assert_non_null(jsn_get(schema, "properties.status.properties.selector"));
    }
}

static void kinds_are_found_by_name_and_plural(void **state)
{
    (void)state;
    API_FOR_KINDS (k) {
        assert_ptr_equal(api_kind_find(k->kind), k);
        assert_ptr_equal(api_kind_find(k->plural), k);
    }
    assert_null(api_kind_find("Pod"));
    assert_null(api_kind_find(NULL));
}

/* Names, plurals and short names share one space on the command line. */
static void no_two_kinds_have_a_name_in_common(void **state)
{
    (void)state;
    API_FOR_KINDS (k)
        API_FOR_KINDS (other)
            for (const char *const *s = k->short_names; *s; s++) {
                assert_string_not_equal(*s, other->plural);
                assert_string_not_equal(*s, other->singular);
                for (const char *const *o = other->short_names; *o; o++)
                    assert_true(s == o || !streq(*s, *o));
            }
}

static void names_of_kinds_read_as_a_list(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_true(starts_with(api_kind_names(&a), "Accounting, Controller"));
    assert_non_null(strstr(api_kind_names(&a), " or "));
}

static void an_object_is_called_in_slurm_as_its_kind_says(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_string_equal(
        api_kind_nodeset.slurm_name(&a, yaml_of(&a, "{metadata: {name: gpu}, spec: {controllerRef: "
                                                    "{name: slurm}}}")),
        "gpu");
    assert_string_equal(
        api_kind_partition.slurm_name(&a, yaml_of(&a, "{metadata: {name: x}, spec: {partitionName: "
                                                      "long, controllerRef: {name: slurm}}}")),
        "long");
    assert_null(api_kind_controller.slurm_name(&a, yaml_of(&a, "{metadata: {name: slurm}}")));
    assert_null(api_kind_nodeset.slurm_name(&a, yaml_of(&a, "{spec: {replicas: many}}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table_is_complete),
        cmocka_unit_test(every_kind_has_conditions),
        cmocka_unit_test(kinds_are_found_by_name_and_plural),
        cmocka_unit_test(no_two_kinds_have_a_name_in_common),
        cmocka_unit_test(names_of_kinds_read_as_a_list),
        cmocka_unit_test(an_object_is_called_in_slurm_as_its_kind_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
