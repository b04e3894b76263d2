/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the Controller's plan: objects, their order, what is told of them, and its end. */
#include "src/plan/test/controller.h"

static void objects_are_made_in_order_and_then_left_alone(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    test_put(&f.world, json_of(&f.arena, SET("compute", "")));
    expect_plan(
        &f, "create Service lab-controller-internal;create Service lab-controller;"
            "create ConfigMap lab-config;create Secret lab-auth-slurm;"
            "create Secret lab-auth-jwt;create Secret lab-agent;create Service slurm-workers-lab;"
            "create PodDisruptionBudget slurm-workers-pdb-lab;status Controller lab;");
    /* The StatefulSet waits until the keys can be seen. */
    expect_plan(&f, "create Secret lab-keys;create StatefulSet lab-controller;"
                    "status Controller lab;");
    expect_plan(&f, "");
}

static void slurmctlds_pod_is_not_ended_for_one_that_was_not_tried(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;

    (void)state;
    fixture_init(&f, "");
    for (int i = 0; i < 3; i++) {
        list = plan(&f);
        test_carry_out(&f.world, &list);
    }
    jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"),
                 "spec.template.spec.serviceAccountName", jsn_string(&f.arena, "none"));
    list = plan(&f);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].verb == ACTION_PATCH && streq(list.items[i].kind->kind, "StatefulSet"))
            assert_true(list.items[i].guarded);
    expect_plan(&f, "try lab-controller-0;patch StatefulSet lab-controller;");
    expect_plan(&f, "");
}

static void what_workers_share_belongs_to_all_nodesets(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "'inplaceReconfigure':true");
    test_put(&f.world, json_of(&f.arena, SET("b", "")));
    for (int i = 0; i < 3; i++) {
        struct actions list = plan(&f);

        test_carry_out(&f.world, &list);
    }
    test_put(&f.world, json_of(&f.arena, SET("a", "")));
    expect_plan(&f, "patch ConfigMap lab-config;patch Service slurm-workers-lab;"
                    "patch PodDisruptionBudget slurm-workers-pdb-lab;");
    assert_int_equal(jsn_len(jsn_get(test_find(&f.world, "Service", "slurm-workers-lab"),
                                     "metadata.ownerReferences")),
                     2);
    expect_plan(&f, "");
    test_drop(&f.world, "NodeSet", "b");
    expect_plan(&f, "patch ConfigMap lab-config;patch Service slurm-workers-lab;"
                    "patch PodDisruptionBudget slurm-workers-pdb-lab;");
}

static void stages_follow_the_steps(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;
    unsigned stage = 0;

    (void)state;
    fixture_init(&f, "");
    list = plan(&f);
    for (size_t i = 0; i < list.n; i++) {
        assert_true(list.items[i].stage >= stage);
        stage = list.items[i].stage;
    }
    assert_string_equal(list.items[0].step, "Internal Service");
    assert_string_equal(list.items[list.n - 1].step, "Status");
}

static void keys_that_are_there_are_kept(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    test_put(&f.world, json_of(&f.arena, "{'kind':'Secret','metadata':{'name':'lab-auth-slurm',"
                                         "'namespace':'slurm'},'data':{'slurm.key':'YQ=='}}"));
    expect_plan(&f,
                "create Service lab-controller-internal;create Service lab-controller;"
                "create ConfigMap lab-config;create Secret lab-auth-jwt;create Secret lab-agent;"
                "status Controller lab;");
    assert_string_equal(
        jsn_text(jsn_member(jsn_get(test_find(&f.world, "Secret", "lab-auth-slurm"), "data"),
                            STR("slurm.key"))),
        "YQ==");
}

static void readiness_follows_the_stateful_set(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct jsn *c;

    (void)state;
    fixture_init(&f, "");
    expect_plan(&f, FIRST);
    expect_plan(&f, "create Secret lab-keys;create StatefulSet lab-controller;"
                    "status Controller lab;");
    c = test_condition(test_find(&f.world, "Controller", "lab"), "Ready");
    assert_string_equal(jsn_get_str(c, "reason"), "SlurmctldNotReady");
    jsn_set_path(&f.arena, test_find(&f.world, "StatefulSet", "lab-controller"),
                 "status.readyReplicas", jsn_int(&f.arena, 1));
    expect_plan(&f, "status Controller lab;");
    c = test_condition(test_find(&f.world, "Controller", "lab"), "Ready");
    assert_string_equal(jsn_get_str(c, "status"), "True");
}

/* Where a pod does not run, the condition says why, in the words of whoever keeps it. */
static void what_keeps_a_pod_is_in_the_condition(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct plan_pod pod = {.namespace = "slurm",
                           .name = "lab-controller-0",
                           .uid = "u",
                           .slurm_name = "lab-controller-0",
                           .of = KIND_CONTROLLER,
                           .active = true,
                           .trouble = "unbound immediate PersistentVolumeClaims"};
    const struct jsn *c;
    struct actions list;

    (void)state;
    fixture_init(&f, "");
    f.pods[0] = &pod;
    f.n_pods = 1;
    list = plan(&f);
    test_carry_out(&f.world, &list);
    c = test_condition(test_find(&f.world, "Controller", "lab"), "Ready");
    assert_string_equal(jsn_get_str(c, "message"),
                        "slurmctld does not answer yet; pod lab-controller-0: unbound immediate "
                        "PersistentVolumeClaims");
}

static void a_missing_secret_is_named(void **state)
{
    static const struct {
        const char *spec;
        bool told;
    } cases[] = {
        {"'slurmKeyRef':{'name':'mine','key':'k'}", true},
        {"'slurmKeyRef':{'name':'mine','key':'k','optional':true}", true},
        {"'jwtKeyRef':{'name':'mine','key':'k'}", true},
        {"'jwtKeyRef':{'name':'mine','key':'k','optional':true}", false},
        {"'jwtHs256KeyRef':{'name':'mine','key':'k'}", true},
        {"'jwtHs256KeyRef':{'name':'mine','key':'k','optional':true}", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(fixture_done) struct fixture f;
        struct actions list;
        const struct action *event;

        fixture_init(&f, cases[i].spec);
        list = plan(&f);
        event = test_event(&list, "SecretNotFound");
        assert_string_equal(event ? event->text : "",
                            cases[i].told
                                ? "Secret mine is not there; create it, or remove the reference "
                                  "to have one made"
                                : "");
    }
}

static void external_controllers_get_their_configuration_alone(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "'external':true,'externalConfig':{'host':'ctl','port':6817}");
    expect_plan(&f, "create ConfigMap lab-config;status Controller lab;");
    expect_plan(&f, "");
}

static void monitors_come_and_go_where_they_are_served(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "'metrics':{'enabled':true,'serviceMonitor':{'enabled':true}}");
    f.env.release = 0;
    expect_plan(&f, FIRST);
    expect_plan(&f, "create Secret lab-keys;create StatefulSet lab-controller;"
                    "status Controller lab;");
    f.serves_monitors = true;
    expect_plan(&f, "create ServiceMonitor lab-controller;");
    expect_plan(&f, "");
    jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"),
                 "spec.metrics.serviceMonitor.enabled", jsn_bool(&f.arena, false));
    expect_plan(&f, "delete ServiceMonitor lab-controller;");
}

static void the_service_leads_to_the_first_that_is_ready(void **state)
{
    static const struct {
        bool ready[2];
        bool active[2];
        const char *summary;
    } rows[] = {
        {{false, false}, {false, false}, "patch Pod lab-controller-0;"},
        {{false, true}, {true, false}, "patch Pod lab-controller-0;patch Pod lab-controller-1;"},
        {{true, true}, {true, false}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;
        AUTO(buf_done) struct buf b = {0};
        struct plan_pod pods[2];
        struct actions list;

        fixture_init(&f, "");
        expect_plan(&f, FIRST);
        expect_plan(&f, "create Secret lab-keys;create StatefulSet lab-controller;"
                        "status Controller lab;");
        for (int k = 0; k < 2; k++) {
            pods[k] = (struct plan_pod){.namespace = "slurm",
                                        .name = k ? "lab-controller-1" : "lab-controller-0",
                                        .ready = rows[i].ready[k],
                                        .active = rows[i].active[k]};
            f.pods[k] = &pods[k];
        }
        f.n_pods = 2;
        list = plan(&f);
        test_summary(&list, &b);
        assert_string_equal(buf_str(&b), rows[i].summary);
    }
}

static void delete_lab(struct fixture *f)
{
    jsn_set_path(&f->arena, test_find(&f->world, "Controller", "lab"), "metadata.deletionTimestamp",
                 jsn_string(&f->arena, "2026-01-01T00:00:00Z"));
}

static void what_is_being_deleted_goes_behind_its_nodesets(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct jsn *c;

    (void)state;
    fixture_init(&f, "");
    test_put(&f.world, json_of(&f.arena, SET("compute", "")));
    for (int i = 0; i < 3; i++) {
        struct actions list = plan(&f);

        test_carry_out(&f.world, &list);
    }
    delete_lab(&f);
    /* slurmctld is kept as it is: jobs need it. */
    test_drop(&f.world, "Service", "lab-controller");
    expect_plan(&f, "create Service lab-controller;status Controller lab;");
    c = test_condition(test_find(&f.world, "Controller", "lab"), "Deleting");
    assert_string_equal(jsn_get_str(c, "reason"), "WaitingForNodeSets");
    assert_non_null(strstr(jsn_get_str(c, "message"), "compute"));
    expect_plan(&f, "");
    test_drop(&f.world, "NodeSet", "compute");
    expect_plan(&f, "patch Controller lab;");
    assert_int_equal(
        jsn_len(jsn_get(test_find(&f.world, "Controller", "lab"), "metadata.finalizers")), 0);
    expect_plan(&f, "");
}

static void a_forced_deletion_does_not_wait(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct jsn *lab;

    (void)state;
    fixture_init(&f, "");
    test_put(&f.world, json_of(&f.arena, SET("compute", "")));
    delete_lab(&f);
    lab = test_find(&f.world, "Controller", "lab");
    jsn_set_member(&f.arena, jsn_ensure_object(&f.arena, jsn_key(lab, "metadata"), "annotations"),
                   STR(FORCE_DELETE), jsn_string(&f.arena, "true"));
    expect_plan(&f, "patch Controller lab;");
    assert_int_equal(jsn_len(jsn_get(lab, "metadata.finalizers")), 0);
}

static void an_undecodable_object_gets_a_condition(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct jsn *c;

    (void)state;
    fixture_init(&f, "'external':'perhaps'");
    expect_plan(&f, "status Controller lab;");
    c = test_condition(test_find(&f.world, "Controller", "lab"), "Ready");
    assert_string_equal(jsn_get_str(c, "reason"), "Invalid");
    expect_plan(&f, "");
}

static void jobs_elsewhere_hold_a_controller(void **state)
{
    static const struct slurm_node busy[] = {{"bare", NODE_BASE_MIXED, NULL, true, 2}};
    AUTO(fixture_done) struct fixture f;
    struct slurm_state slurm = {busy, 1};
    struct actions list;

    (void)state;
    run_lab(&f);
    test_drop(&f.world, "NodeSet", "gpu");
    f.slurm = &slurm;
    delete_lab(&f);
    list = plan(&f);
    test_carry_out(&f.world, &list);
    assert_non_null(strstr(message_of(&f, "Deleting", "message"), "other nodes"));
    slurm.n = 0;
    expect_plan(&f, "patch Controller lab;");
}

static void the_agents_certificate_is_renewed_in_our_secret_alone(void **state)
{
    static const struct build_agent_keys renewed = {
        .cert_pem = "new", .key_pem = "key", .token = "token", .previous_pem = "cert"};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    for (int i = 0; i < 4; i++) {
        struct actions list = plan(&f);

        test_carry_out(&f.world, &list);
    }
    expect_plan(&f, "");
    f.agent = &renewed;
    expect_plan(&f, "patch Secret lab-agent;");
    (void)jsn_del_path(test_find(&f.world, "Secret", "lab-agent"), "metadata.ownerReferences");
    expect_plan(&f, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_agents_certificate_is_renewed_in_our_secret_alone),
        cmocka_unit_test(objects_are_made_in_order_and_then_left_alone),
        cmocka_unit_test(slurmctlds_pod_is_not_ended_for_one_that_was_not_tried),
        cmocka_unit_test(what_workers_share_belongs_to_all_nodesets),
        cmocka_unit_test(stages_follow_the_steps),
        cmocka_unit_test(keys_that_are_there_are_kept),
        cmocka_unit_test(readiness_follows_the_stateful_set),
        cmocka_unit_test(what_keeps_a_pod_is_in_the_condition),
        cmocka_unit_test(a_missing_secret_is_named),
        cmocka_unit_test(external_controllers_get_their_configuration_alone),
        cmocka_unit_test(monitors_come_and_go_where_they_are_served),
        cmocka_unit_test(the_service_leads_to_the_first_that_is_ready),
        cmocka_unit_test(what_is_being_deleted_goes_behind_its_nodesets),
        cmocka_unit_test(a_forced_deletion_does_not_wait),
        cmocka_unit_test(jobs_elsewhere_hold_a_controller),
        cmocka_unit_test(an_undecodable_object_gets_a_condition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
