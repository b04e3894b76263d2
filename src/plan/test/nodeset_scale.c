/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: pods by ordinal, what may go when there are too many, what
 * comes first. */
#include "src/plan/test/nodeset.h"

static void pods_are_made_by_ordinal_and_then_left_alone(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':2,'ordinalPadding':3");
    converge(&f);
    expect_pods(&f, "gpu-000 gpu-001 ");
    expect_plan(&f, "");
    assert_int_equal(jsn_get_int(the_set(&f), "status.replicas", -1), 2);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 2);
    assert_string_equal(reason_of(&f, "Ready"), "PodsNotReady");
}

static void the_lowest_free_ordinals_are_filled(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':3");
    converge(&f);
    test_drop(&f.world, "Pod", "gpu-1");
    set_replicas(&f, 4);
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-2 gpu-1 gpu-3 ");
}

static void a_pod_that_is_ending_keeps_its_place(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':2");
    converge(&f);
    jsn_set_path(&f.arena, test_find(&f.world, "Pod", "gpu-0"), "metadata.deletionTimestamp",
                 jsn_string(&f.arena, "2026-01-01T00:00:00Z"));
    expect_plan(&f, "");
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    expect_pods(&f, "gpu-1 gpu-0 ");
}

static void many_pods_are_made_in_portions(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;
    size_t created = 0;

    (void)state;
    fixture_init(&f, ",'replicas':300");
    list = plan(&f);
    for (size_t i = 0; i < list.n; i++)
        created += list.items[i].verb == ACTION_CREATE && streq(list.items[i].kind->kind, "Pod");
    assert_int_equal(created, PLAN_PODS_AT_ONCE);
    test_carry_out(&f.world, &list);
    converge(&f); /* no machine has taken them: more would only wait, too */
    assert_null(test_find(&f.world, "Pod", "gpu-250"));
    for (int i = 0; i < PLAN_PODS_AT_ONCE; i++)
        jsn_set_path(&f.arena, test_find(&f.world, "Pod", arena_printf(&f.arena, "gpu-%d", i)),
                     "spec.nodeName", jsn_string(&f.arena, "here"));
    converge(&f);
    assert_non_null(test_find(&f.world, "Pod", "gpu-299"));
    assert_null(test_find(&f.world, "Pod", "gpu-300"));
}

static void no_more_pods_than_max_node_count_allows(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct jsn *other;

    (void)state;
    fixture_init(&f, ",'replicas':4");
    f.extra_conf = "MaxNodeCount=9\nmaxnodecount=5";
    other = jsn_clone(&f.arena, the_set(&f));
    jsn_set_path(&f.arena, other, "metadata.name", jsn_string(&f.arena, "cpu"));
    jsn_set_path(&f.arena, other, "spec.replicas", jsn_int(&f.arena, 3));
    test_put(&f.world, other);
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(reason_of(&f, "Ready"), "TooManyNodes");
}

static void without_slurm_only_what_never_ran_goes(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':3");
    converge(&f);
    run_pod(&f, "gpu-1");
    run_pod(&f, "gpu-2");
    set_replicas(&f, 1);
    converge(&f);
    expect_pods(&f, "gpu-1 gpu-2 ");
    assert_string_equal(reason_of(&f, "ScaledDown"), "SlurmStateUnknown");
    set_replicas(&f, 2);
    converge(&f);
    assert_null(reason_of(&f, "ScaledDown"));
}

static void pods_that_ended_are_replaced(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_set_path(&f.arena, test_find(&f.world, "Pod", "gpu-0"), "status.phase",
                 jsn_string(&f.arena, "Failed"));
    {
        struct actions list = plan(&f);
        size_t deletes = 0;

        for (size_t i = 0; i < list.n; i++)
            deletes += list.items[i].verb == ACTION_DELETE;
        assert_int_equal(deletes, 1);
        test_carry_out(&f.world, &list);
    }
    converge(&f);
    expect_pods(&f, "gpu-0 ");
}

static void claims_come_before_their_pods(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':1,'volumeClaimTemplates':[{'metadata':{'name':'scratch'},"
                     "'spec':{'accessModes':['ReadWriteOnce']}}]");
    expect_plan(&f, arena_printf(&f.arena,
                                 "create ControllerRevision %s;create PersistentVolumeClaim "
                                 "scratch-gpu-0;create Pod gpu-0;status NodeSet gpu;",
                                 jsn_get_str(plan(&f).items[0].body, "metadata.name")));
    /* The claim outlives its pod. */
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    expect_pods(&f, "gpu-0 ");
}

#define SCRATCH_RETAINED                                                                           \
    ",'volumeClaimTemplates':[{'metadata':{'name':'scratch'},'spec':{'accessModes':["              \
    "'ReadWriteOnce']}}]"

static size_t count_claims(struct fixture *f, bool owned)
{
    size_t n = 0;

    JSN_FOR_ITEMS (o, f->world.objects)
        n += streq(jsn_get_str(o, "kind"), "PersistentVolumeClaim") &&
             (!owned || jsn_len(jsn_get(o, "metadata.ownerReferences")) > 0);
    return n;
}

static void claims_go_with_pods_that_were_scaled_away_and_with_no_others(void **state)
{
    static const struct {
        const char *scaled, *deleted;
        size_t left, owned;
    } rows[] = {
        {"Retain", "Retain", 3, 0},
        {"Retain", "Delete", 3, 3},
        {"Delete", "Retain", 1, 0},
        {"Delete", "Delete", 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f, ",'replicas':3" SCRATCH_RETAINED);
        converge(&f);
        jsn_set_path(&f.arena, the_set(&f), "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
                     jsn_string(&f.arena, rows[i].scaled));
        jsn_set_path(&f.arena, the_set(&f), "spec.persistentVolumeClaimRetentionPolicy.whenDeleted",
                     jsn_string(&f.arena, rows[i].deleted));
        /* Made again: nothing goes. */
        test_drop(&f.world, "Pod", "gpu-1");
        converge(&f);
        assert_int_equal(count_claims(&f, false), 3);
        set_replicas(&f, 1);
        converge(&f);
        assert_int_equal(count_claims(&f, false), rows[i].left);
        assert_int_equal(count_claims(&f, true), rows[i].owned);
    }
}

static void a_pin_to_a_machine_that_is_gone_is_dropped(void **state)
{
    AUTO(fixture_done) struct fixture f;
    static const char affinity[] = "spec.affinity.nodeAffinity";

    (void)state;
    fixture_init(&f, ",'replicas':1,'pinToNode':true");
    converge(&f);
    run_pod(&f, "gpu-0");
    converge(&f);
    assert_string_equal(jsn_get_str(the_set(&f), "status.ordinalToNode.0"), "k");
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    assert_non_null(jsn_get(test_find(&f.world, "Pod", "gpu-0"), affinity));
    /* The machine goes while the pod waits for it. */
    f.gone = "k";
    converge(&f);
    assert_null(jsn_get(test_find(&f.world, "Pod", "gpu-0"), affinity));
    assert_null(jsn_get(the_set(&f), "status.ordinalToNode.0"));
}

/* They have the names that its own would have. */
static void pods_that_nobody_controls_are_adopted(void **state)
{
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    assert_true(jsn_del_path(test_find(&f.world, "Pod", "gpu-1"), "metadata.ownerReferences"));
    expect_plan(&f, "patch Pod gpu-1;");
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(
        jsn_get_str(
            jsn_item(jsn_get(test_find(&f.world, "Pod", "gpu-1"), "metadata.ownerReferences"), 0),
            "uid"),
        "U");
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_that_nobody_controls_are_adopted),
        cmocka_unit_test(pods_are_made_by_ordinal_and_then_left_alone),
        cmocka_unit_test(the_lowest_free_ordinals_are_filled),
        cmocka_unit_test(a_pod_that_is_ending_keeps_its_place),
        cmocka_unit_test(many_pods_are_made_in_portions),
        cmocka_unit_test(no_more_pods_than_max_node_count_allows),
        cmocka_unit_test(without_slurm_only_what_never_ran_goes),
        cmocka_unit_test(pods_that_ended_are_replaced),
        cmocka_unit_test(claims_come_before_their_pods),
        cmocka_unit_test(claims_go_with_pods_that_were_scaled_away_and_with_no_others),
        cmocka_unit_test(a_pin_to_a_machine_that_is_gone_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
