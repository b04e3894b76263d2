/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the Controller's plan: what is made, in which order, and what stays. */
#include "src/base/test/unit.h"

#include "src/plan/controller.h"
#include "src/plan/finalizer.h"
#include "src/plan/test/world.h"

#define LAB                                                                                        \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':'lab',"       \
    "'namespace':'slurm','uid':'U','generation':1,'finalizers':['" FINALIZER_CONTROLLER "']},"     \
    "'spec':{%s}}"
#define SET(name, more)                                                                            \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'NodeSet','metadata':{'name':'" name          \
    "','namespace':'slurm','uid':'N-" name                                                         \
    "','generation':1},'spec':{'controllerRef':{'name':'lab'}" more "}}"

struct fixture {
    struct arena arena;
    struct test_world world;
    struct build_env env;
    bool serves_monitors;
    const struct plan_pod *pods[2];
    size_t n_pods;
    const struct slurm_state *slurm;
    const char *trouble;
};

static void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void fixture_init(struct fixture *f, const char *spec)
{
    *f = (struct fixture){0};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    test_put(&f->world, json_of(&f->arena, arena_printf(&f->arena, LAB, spec)));
}

static struct actions plan(struct fixture *f)
{
    static unsigned char random[SECRET_KEY_BYTES];
    static const struct build_agent_keys agent = {"cert", "key", "token"};
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct controller *c = arena_calloc(a, 1, sizeof(*c));
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    const struct nodeset *sets[8];
    struct build_cluster cluster = {.env = &f->env, .nodesets = sets, .lookup = &lookup};
    struct plan_controller in = {.object = test_find(&f->world, "Controller", "lab"),
                                 .cluster = &cluster,
                                 .pods = f->pods,
                                 .n_pods = f->n_pods,
                                 .serves_monitors = f->serves_monitors,
                                 .slurm = f->slurm,
                                 .agent_trouble = f->trouble,
                                 .fresh = {random, random, &agent},
                                 .now_us = 1000000000};
    struct err e = {0};

    if (controller_decode(a, in.object, c, &e) == 0)
        cluster.controller = c;
    JSN_FOR_ITEMS (o, f->world.objects) {
        struct nodeset *ns = arena_calloc(a, 1, sizeof(*ns));

        if (streq(jsn_get_str(o, "kind"), "NodeSet") && nodeset_decode(a, o, ns, &e) == 0)
            sets[cluster.n_nodesets++] = ns;
    }
    plan_controller(&in, &list);
    return list;
}

static void expect_plan(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct actions list = plan(f);

    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    test_carry_out(&f->world, &list);
}

#define FIRST                                                                                      \
    "create Service lab-controller-internal;create Service lab-controller;"                        \
    "create ConfigMap lab-config;create Secret lab-auth-slurm;create Secret lab-auth-jwt;create "  \
    "Secret lab-agent;"                                                                            \
    "status Controller lab;"

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
    expect_plan(&f, "create StatefulSet lab-controller;");
    expect_plan(&f, "");
}

static void what_workers_share_belongs_to_all_nodesets(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "'inplaceReconfigure':true");
    test_put(&f.world, json_of(&f.arena, SET("b", "")));
    for (int i = 0; i < 2; i++) {
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

static void a_new_nodeset_changes_the_configuration(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const char *conf;

    (void)state;
    fixture_init(&f, "'inplaceReconfigure':true");
    (void)plan(&f);
    for (int i = 0; i < 2; i++) {
        struct actions list = plan(&f);

        test_carry_out(&f.world, &list);
    }
    test_put(&f.world, json_of(&f.arena, SET("gpu", ",'partition':{'config':'MaxTime=60'}")));
    expect_plan(&f, "patch ConfigMap lab-config;create Service slurm-workers-lab;"
                    "create PodDisruptionBudget slurm-workers-pdb-lab;");
    conf = jsn_text(jsn_member(jsn_get(test_find(&f.world, "ConfigMap", "lab-config"), "data"),
                               STR("slurm.conf")));
    assert_non_null(strstr(conf, "\nPartitionName=gpu Nodes=gpu MaxTime=60\n"));
    expect_plan(&f, "");
}

static void a_bad_configuration_changes_nothing_that_runs(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;
    const struct jsn *c;

    (void)state;
    fixture_init(&f, "");
    expect_plan(&f, FIRST);
    expect_plan(&f, "create StatefulSet lab-controller;");
    jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"), "spec.extraConf",
                 jsn_string(&f.arena, "PartitionName=all Nodes=nosuchnode"));
    list = plan(&f);
    assert_non_null(test_event(&list, "ConfigInvalid"));
    test_carry_out(&f.world, &list);
    c = test_condition(test_find(&f.world, "Controller", "lab"), "ConfigApplied");
    assert_string_equal(jsn_get_str(c, "status"), "False");
    expect_plan(&f, "");
}

static void readiness_follows_the_stateful_set(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct jsn *c;

    (void)state;
    fixture_init(&f, "");
    expect_plan(&f, FIRST);
    expect_plan(&f, "create StatefulSet lab-controller;");
    c = test_condition(test_find(&f.world, "Controller", "lab"), "Ready");
    assert_string_equal(jsn_get_str(c, "reason"), "SlurmctldNotReady");
    jsn_set_path(&f.arena, test_find(&f.world, "StatefulSet", "lab-controller"),
                 "status.readyReplicas", jsn_int(&f.arena, 1));
    expect_plan(&f, "status Controller lab;");
    c = test_condition(test_find(&f.world, "Controller", "lab"), "Ready");
    assert_string_equal(jsn_get_str(c, "status"), "True");
}

static void a_missing_secret_is_named(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;
    const struct action *event;

    (void)state;
    fixture_init(&f, "'slurmKeyRef':{'name':'mine','key':'k'}");
    list = plan(&f);
    event = test_event(&list, "SecretNotFound");
    assert_string_equal(event ? event->text : "",
                        "Secret mine is not there; create it, or remove the reference "
                        "to have one made");
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
    expect_plan(&f, "create StatefulSet lab-controller;");
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
        expect_plan(&f, "create StatefulSet lab-controller;");
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
    for (int i = 0; i < 2; i++) {
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

/* The Controller with one NodeSet, at rest. */
static void run_lab(struct fixture *f)
{
    fixture_init(f, "");
    test_put(&f->world, json_of(&f->arena, SET("gpu", ",'partition':{'enabled':true,"
                                                      "'config':'MaxTime=60'}")));
    for (int i = 0; i < 3; i++) {
        struct actions list = plan(f);

        test_carry_out(&f->world, &list);
    }
}

static const char *message_of(struct fixture *f, const char *type, const char *member)
{
    const char *text =
        jsn_get_str(test_condition(test_find(&f->world, "Controller", "lab"), type), member);

    return text ? text : "";
}

/* What is pushed now; NULL: nothing. */
static const struct jsn *pushed(const struct actions *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].verb == ACTION_PUSH)
            return list->items[i].body;
    return NULL;
}

static void a_configuration_is_pushed_until_it_is_answered(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct slurm_state slurm = {0};
    struct actions list;
    const char *hash;

    (void)state;
    run_lab(&f);
    list = plan(&f);
    assert_null(pushed(&list)); /* nobody is there to take it */
    f.slurm = &slurm;
    list = plan(&f);
    assert_int_equal(list.items[0].verb, ACTION_PUSH); /* before all else */
    hash = jsn_get_str(pushed(&list), "declared");
    assert_string_equal(jsn_get_str(pushed(&list), "driftPolicy"), "Report");
    test_carry_out(&f.world, &list);
    assert_string_equal(message_of(&f, "ConfigApplied", "reason"), "Applying");
    slurm.applied = (struct slurm_applied){.hash = hash, .result = "applied"};
    list = plan(&f);
    assert_null(pushed(&list));
    test_carry_out(&f.world, &list);
    assert_string_equal(message_of(&f, "ConfigApplied", "status"), "True");
    expect_plan(&f, "");
    /* Another policy is another push. */
    jsn_set_member(&f.arena,
                   jsn_ensure_object(&f.arena,
                                     jsn_key(test_find(&f.world, "Controller", "lab"), "metadata"),
                                     "annotations"),
                   STR("slurmkeeper.dev/drift-policy"), jsn_string(&f.arena, "Revert"));
    list = plan(&f);
    assert_string_equal(jsn_get_str(pushed(&list), "driftPolicy"), "Revert");
}

static void without_an_agent_nothing_is_pushed(void **state)
{
    static const char *const specs[] = {"", "'inplaceReconfigure':false",
                                        "'external':true,'externalConfig':{'host':'h','port':1}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        AUTO(fixture_done) struct fixture f;
        struct slurm_state slurm = {0};
        struct actions list;

        fixture_init(&f, specs[i]);
        f.env.no_agent = i == 0;
        f.slurm = &slurm;
        list = plan(&f);
        assert_null(pushed(&list));
        test_carry_out(&f.world, &list);
        assert_string_equal(message_of(&f, "ConfigApplied", "reason"), "Written");
    }
}

static void the_fate_of_a_configuration_is_told(void **state)
{
    static const struct slurm_fault faults[] = {
        {"slurm.conf", 0, NULL, "QOS x is not known"}, /* the line is filled in */
        {"gres.conf", 3, NULL, "no such device"},
    };
    static const struct {
        const char *result; /* NULL: nothing is known */
        const char *reason;
        size_t n_faults; /* the first ones */
        size_t skip;
        const char *trouble;
        const char *status;
        const char *message; /* a part of it */
        bool down;
    } rows[] = {
        {"applied", NULL, 0, 0, NULL, "True", "slurmctld has the configuration"},
        {"unchanged", NULL, 0, 0, NULL, "True", "slurmctld has the configuration"},
        {"pending", "slurmctld is down", 0, 0, NULL, "False", "slurmctld is down"},
        {"refused", "validate: bad", 0, 0, NULL, "False", "validate: bad"},
        {"refused", "validate: bad", 1, 0, NULL, "False",
         "NodeSet slurm/gpu: spec.partition.config: QOS x is not known"},
        {"refused", "validate: bad", 1, 1, NULL, "False", "gres.conf line 3: no such device"},
        {"applied", NULL, 0, 0, NULL, "Unknown", "slurmctld does not answer", true},
        {"refused", "no such plugin", 0, 0, NULL, "False", "slurmctld does not run: no such plugin",
         true},
        {NULL, NULL, 0, 0, "connection refused", "Unknown", "connection refused"},
        {NULL, NULL, 0, 0, NULL, "Unknown", "does not run yet"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;
        struct slurm_fault fault = faults[rows[i].skip];
        struct slurm_state slurm = {0};
        struct actions list;
        struct str rest;
        struct str line;

        run_lab(&f);
        f.slurm = &slurm;
        list = plan(&f);
        slurm.applied = (struct slurm_applied){
            .hash = jsn_get_str(pushed(&list), "declared"),
            .result = rows[i].result,
            .reason = rows[i].reason,
            .faults = &fault,
            .n_faults = rows[i].n_faults,
        };
        rest = jsn_member(jsn_key(pushed(&list), "files"), STR("slurm.conf"))->s;
        for (unsigned n = 1; fault.line == 0 && str_split(&rest, '\n', &line); n++)
            if (str_starts(line, "PartitionName=gpu"))
                fault.line = n;
        f.trouble = rows[i].trouble;
        slurm.down = rows[i].down;
        f.slurm = rows[i].result ? &slurm : NULL;
        list = plan(&f);
        test_carry_out(&f.world, &list);
        assert_string_equal(message_of(&f, "ConfigApplied", "status"), rows[i].status);
        if (!strstr(message_of(&f, "ConfigApplied", "message"), rows[i].message))
            fail_msg("row %zu: %s", i, message_of(&f, "ConfigApplied", "message"));
        f.slurm = rows[i].result ? &slurm : NULL;
        expect_plan(&f, "");
    }
}

static void slurmctld_is_not_ended_for_files_that_it_may_refuse(void **state)
{
    static const struct {
        bool known;
        bool down;
        const char *result; /* of the new files; NULL: none yet */
        bool ended;
    } rows[] = {
        {true, false, NULL, false},     {true, false, "refused", false},
        {true, false, "applied", true}, {true, false, "pending", true},
        {true, true, NULL, false}, /* the agent may be restarting it */
        {true, true, "pending", true},  {true, true, "refused", true}, /* nothing is to be lost */
        {false, false, NULL, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;
        AUTO(buf_done) struct buf b = {0};
        struct slurm_state slurm = {.down = rows[i].down};
        struct actions list;

        run_lab(&f);
        test_put(&f.world, json_of(&f.arena, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                             "'name':'topo','namespace':'slurm'},'data':{"
                                             "'topology.conf':'SwitchName=s Nodes=n'}}"));
        jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"), "spec.configFileRefs",
                     json_of(&f.arena, "[{'name':'topo'}]"));
        f.slurm = &slurm;
        list = plan(&f);
        if (rows[i].result)
            slurm.applied = (struct slurm_applied){.hash = jsn_get_str(pushed(&list), "declared"),
                                                   .result = rows[i].result};
        f.slurm = rows[i].known ? &slurm : NULL;
        list = plan(&f);
        test_summary(&list, &b);
        if (!strstr(buf_str(&b), "patch StatefulSet lab-controller;") == rows[i].ended)
            fail_msg("row %zu: %s", i, buf_str(&b));
    }
}

static void slurm_itself_is_the_better_witness(void **state)
{
    static const struct slurm_drift drift[] = {{"gpu", "State", "UP", "DRAIN"},
                                               {"gpu", "MaxTime", "60", NULL}};
    AUTO(fixture_done) struct fixture f;
    struct slurm_state slurm = {.drift = drift, .n_drift = 2};
    struct actions list;

    (void)state;
    run_lab(&f);
    f.slurm = &slurm;
    list = plan(&f);
    assert_non_null(test_event(&list, "ChangedInSlurm"));
    test_carry_out(&f.world, &list);
    assert_string_equal(message_of(&f, "Ready", "status"), "True");
    assert_string_equal(message_of(&f, "Drifted", "message"),
                        "partition gpu: State is DRAIN, declared UP; partition gpu: MaxTime is not "
                        "set, declared 60");
    slurm = (struct slurm_state){.down = true};
    list = plan(&f);
    test_carry_out(&f.world, &list);
    assert_string_equal(message_of(&f, "Ready", "reason"), "SlurmctldDown");
    assert_string_equal(message_of(&f, "Drifted", "status"), "True"); /* as last seen */
    slurm = (struct slurm_state){0};
    list = plan(&f);
    test_carry_out(&f.world, &list);
    assert_string_equal(message_of(&f, "Drifted", "status"), "");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_made_in_order_and_then_left_alone),
        cmocka_unit_test(what_workers_share_belongs_to_all_nodesets),
        cmocka_unit_test(stages_follow_the_steps),
        cmocka_unit_test(keys_that_are_there_are_kept),
        cmocka_unit_test(a_new_nodeset_changes_the_configuration),
        cmocka_unit_test(a_bad_configuration_changes_nothing_that_runs),
        cmocka_unit_test(readiness_follows_the_stateful_set),
        cmocka_unit_test(a_missing_secret_is_named),
        cmocka_unit_test(external_controllers_get_their_configuration_alone),
        cmocka_unit_test(monitors_come_and_go_where_they_are_served),
        cmocka_unit_test(the_service_leads_to_the_first_that_is_ready),
        cmocka_unit_test(what_is_being_deleted_goes_behind_its_nodesets),
        cmocka_unit_test(a_forced_deletion_does_not_wait),
        cmocka_unit_test(a_configuration_is_pushed_until_it_is_answered),
        cmocka_unit_test(without_an_agent_nothing_is_pushed),
        cmocka_unit_test(the_fate_of_a_configuration_is_told),
        cmocka_unit_test(slurmctld_is_not_ended_for_files_that_it_may_refuse),
        cmocka_unit_test(slurm_itself_is_the_better_witness),
        cmocka_unit_test(jobs_elsewhere_hold_a_controller),
        cmocka_unit_test(an_undecodable_object_gets_a_condition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
