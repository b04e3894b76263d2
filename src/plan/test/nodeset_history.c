/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: pods that Slinky's operator has made, and their revision. */
#include "src/plan/test/nodeset.h"

#define FOREIGN "5c8b4d"

static const char *hash_of_pod(struct fixture *f, const char *name)
{
    return jsn_text(jsn_member(jsn_get(test_find(&f->world, "Pod", name), "metadata.labels"),
                               STR(POD_HASH_LABEL)));
}

/* Two pods of the other operator, its status, and nothing of ours; Slurm is not known. */
static void left_by_another(struct fixture *f, int64_t observed)
{
    run_set(f, 2, "");
    for (int i = 0; i < 2; i++)
        jsn_set_str(&f->arena,
                    jsn_get(test_find(&f->world, "Pod", arena_printf(&f->arena, "gpu-%d", i)),
                            "metadata.labels"),
                    POD_HASH_LABEL, FOREIGN);
    for (size_t i = jsn_len(f->world.objects); i-- > 0;)
        if (streq(jsn_get_str(jsn_item(f->world.objects, i), "kind"), "ControllerRevision"))
            jsn_remove_at(f->world.objects, i);
    jsn_set_path(&f->arena, the_set(f), "metadata.finalizers", jsn_array(&f->arena));
    jsn_set(&f->arena, the_set(f), "status", jsn_object(&f->arena));
    jsn_set_path(&f->arena, the_set(f), "status.nodeSetHash", jsn_string(&f->arena, FOREIGN));
    jsn_set_path(&f->arena, the_set(f), "status.observedGeneration", jsn_int(&f->arena, observed));
}

static size_t count_revisions(struct fixture *f)
{
    size_t n = 0;

    JSN_FOR_ITEMS (o, f->world.objects)
        n += streq(jsn_get_str(o, "kind"), "ControllerRevision");
    return n;
}

static void pods_of_another_operator_are_as_declared(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    left_by_another(&f, 1);
    expect_plan(&f, "create ControllerRevision gpu-" FOREIGN "-taken-over;");
    expect_plan(&f, "patch NodeSet gpu;");
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 2);
    assert_string_equal(jsn_get_str(the_set(&f), "status.nodeSetHash"), FOREIGN);
    set_replicas(&f, 3);
    converge(&f);
    assert_string_equal(hash_of_pod(&f, "gpu-0"), FOREIGN);
    assert_string_equal(hash_of_pod(&f, "gpu-2"), FOREIGN); /* it would keep those, too */
    assert_int_equal(count_revisions(&f), 1);
}

static void an_edit_that_it_had_not_seen_replaces_them(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    left_by_another(&f, 0);
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 0);
    assert_string_not_equal(jsn_get_str(the_set(&f), "status.nodeSetHash"), FOREIGN);
    expect_pods(&f, "gpu-0 gpu-1 "); /* what they run is not known */
}

static void an_edit_later_is_told_from_what_was_taken_over(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    left_by_another(&f, 1);
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "spec.extraConf", jsn_string(&f.arena, "RealMemory=5"));
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 0);
    assert_int_equal(count_revisions(&f), 2);
    jsn_set_path(&f.arena, the_set(&f), "spec",
                 json_of(&f.arena, "{'controllerRef':{'name':'lab'},"
                                   "'replicas':2}"));
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 2);
    assert_string_equal(jsn_get_str(the_set(&f), "status.nodeSetHash"), FOREIGN);
}

static void a_set_of_ours_is_not_taken_over(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_set(&f, 2, "");
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "metadata.finalizers", jsn_array(&f.arena));
    expect_plan(&f, "patch NodeSet gpu;"); /* somebody took the finalizer away */
    converge(&f);
    assert_int_equal(count_revisions(&f), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_of_another_operator_are_as_declared),
        cmocka_unit_test(an_edit_that_it_had_not_seen_replaces_them),
        cmocka_unit_test(an_edit_later_is_told_from_what_was_taken_over),
        cmocka_unit_test(a_set_of_ours_is_not_taken_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
