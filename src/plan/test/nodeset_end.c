/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: deletion, by force and with orphans. */
#include "src/plan/test/nodeset.h"

static void delete_set(struct fixture *f)
{
    jsn_set_path(&f->arena, the_set(f), "metadata.deletionTimestamp",
                 jsn_string(&f->arena, "2026-01-01T00:00:00Z"));
}

static void the_finalizer_comes_before_all_else(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    jsn_set_path(&f.arena, the_set(&f), "metadata.finalizers",
                 json_of(&f.arena, "['other.example/f']"));
    expect_plan(&f, "patch NodeSet gpu;");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 2);
    converge(&f);
    expect_pods(&f, "gpu-0 ");
}

static void a_deleted_set_lets_go_what_is_free_and_then_itself(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE | NODE_FLAG_DRAIN, "", true, 0},
        {"gpu-1", NODE_BASE_ALLOCATED | NODE_FLAG_DRAIN, "", true, 1},
    };
    static const struct slurm_state slurm = {nodes, ARRAY_LEN(nodes)};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':3");
    converge(&f);
    run_pod(&f, "gpu-0");
    run_pod(&f, "gpu-1");
    delete_set(&f);
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(reason_of(&f, "Ready"), "Deleting");
    f.slurm = &slurm;
    converge(&f);
    expect_pods(&f, "gpu-1 ");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 1);
    test_drop(&f.world, "Pod", "gpu-1");
    expect_plan(&f, "patch NodeSet gpu;");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 0);
    expect_plan(&f, "");
}

static void a_deleted_set_says_what_it_waits_for(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const char *text;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    delete_set(&f);
    f.no_controller = true;
    converge(&f);
    expect_pods(&f, "gpu-0 ");
    text = jsn_get_str(test_condition(the_set(&f), "Ready"), "message");
    assert_non_null(strstr(text, "its Controller is gone"));
    assert_non_null(strstr(text, FORCE_DELETE "=true"));
}

static void force_deletes_at_once(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':2");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_set_member(&f.arena,
                   jsn_ensure_object(&f.arena, jsn_key(the_set(&f), "metadata"), "annotations"),
                   STR(FORCE_DELETE), jsn_string(&f.arena, "true"));
    converge(&f); /* nothing, unless it is being deleted */
    expect_pods(&f, "gpu-0 gpu-1 ");
    delete_set(&f);
    expect_plan(&f, "delete Pod gpu-0;delete Pod gpu-1;status NodeSet gpu;patch NodeSet gpu;");
    expect_pods(&f, "");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 0);
}

/* Its pods are gone, and slurmctld does not know yet, or cannot be asked. */
static void records_go_before_the_set(void **state)
{
    static const struct slurm_node_params params = {
        .features = "gpu", .cpus = 1, .threads = 1, .weight = 1};
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE | NODE_FLAG_DYNAMIC, NULL, true, 0, .params = &params}};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    run_set(&f, 1, "");
    use_slurm(&f, nodes, 1);
    converge(&f);
    test_drop(&f.world, "Pod", "gpu-0");
    delete_set(&f);
    jsn_set_path(&f.arena, the_set(&f), "metadata.deletionTimestamp",
                 jsn_string(&f.arena, "1970-01-01T00:16:00Z"));
    f.state.down = true;
    converge(&f);
    assert_non_null(strstr(jsn_get_str(test_condition(the_set(&f), "Ready"), "message"),
                           "when slurmctld answers"));
    f.state.down = false;
    converge(&f);
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 1);
    assert_non_null(strstr(jsn_get_str(test_condition(the_set(&f), "Ready"), "message"),
                           "the record of node gpu-0 is deleted when"));
    f.nodes[0].state |= NODE_FLAG_NO_RESPOND;
    converge(&f);
    assert_int_equal(f.state.n, 0);
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 0);
}

static void orphans_stay(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    jsn_append(&f.arena, jsn_get(the_set(&f), "metadata.finalizers"),
               jsn_string(&f.arena, "orphan"));
    delete_set(&f);
    expect_plan(&f, "patch NodeSet gpu;");
    expect_pods(&f, "gpu-0 ");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 1);
}

static void a_foreground_deletion_is_noted(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_append(&f.arena, jsn_get(the_set(&f), "metadata.finalizers"),
               jsn_string(&f.arena, "foregroundDeletion"));
    delete_set(&f);
    converge(&f);
    assert_string_equal(
        jsn_text(jsn_member(jsn_get(the_set(&f), "metadata.annotations"), STR(DELETE_CASCADE))),
        "foreground");
    expect_pods(&f, "gpu-0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_finalizer_comes_before_all_else),
        cmocka_unit_test(a_deleted_set_lets_go_what_is_free_and_then_itself),
        cmocka_unit_test(a_deleted_set_says_what_it_waits_for),
        cmocka_unit_test(force_deletes_at_once),
        cmocka_unit_test(records_go_before_the_set),
        cmocka_unit_test(orphans_stay),
        cmocka_unit_test(a_foreground_deletion_is_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
