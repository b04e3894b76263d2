/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the Controller's plan: its configuration, the push to the agent, and what became of
 * it. */
#include "src/plan/test/controller.h"

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
    expect_plan(&f, "create Secret lab-keys;create StatefulSet lab-controller;"
                    "status Controller lab;");
    jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"), "spec.extraConf",
                 jsn_string(&f.arena, "PartitionName=all Nodes=nosuchnode"));
    list = plan(&f);
    assert_non_null(test_event(&list, "ConfigInvalid"));
    test_carry_out(&f.world, &list);
    c = test_condition(test_find(&f.world, "Controller", "lab"), "ConfigApplied");
    assert_string_equal(jsn_get_str(c, "status"), "False");
    expect_plan(&f, "");
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

/* The moment of the next look, after that many microseconds; -1: there is none. */
static int64_t looks_again(const struct actions *list)
{
    int64_t first = -1;

    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].verb == ACTION_REQUEUE && (first < 0 || list->items[i].at_us < first))
            first = list->items[i].at_us;
    return first < 0 ? -1 : first - TEST_NOW_US;
}

static bool writes(const struct actions *list, const char *kind)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].kind && streq(list->items[i].kind->kind, kind))
            return true;
    return false;
}

/* One plan that pushes, and one that writes what became of it. */
static void an_edit_is_pushed_first_and_written_when_it_is_answered(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct slurm_state slurm = {0};
    struct actions list;

    (void)state;
    run_lab(&f);
    f.slurm = &slurm;
    list = plan(&f);
    slurm.applied =
        (struct slurm_applied){.hash = jsn_get_str(pushed(&list), "declared"), .result = "applied"};
    for (int i = 0; i < 2; i++) {
        list = plan(&f);
        test_carry_out(&f.world, &list);
    }
    test_drop(&f.world, "NodeSet", "gpu");
    test_put(&f.world, json_of(&f.arena, SET("gpu", ",'partition':{'enabled':true}")));
    list = plan(&f);
    assert_non_null(pushed(&list));
    assert_false(writes(&list, "ConfigMap"));
    assert_true(writes(&list, "Controller")); /* that it is on its way is told at once */
    assert_int_equal(looks_again(&list), 2000000);
    /* no answer: later it is written all the same */
    slurm.pushing_us = TEST_NOW_US - 2000000;
    list = plan(&f);
    assert_true(writes(&list, "ConfigMap"));
    /* nor does it wait for a slurmctld that is not there */
    slurm.pushing_us = 0;
    slurm.down = true;
    list = plan(&f);
    assert_true(writes(&list, "ConfigMap"));
    slurm.down = false;
    slurm.applied.hash = jsn_get_str(pushed(&list), "declared");
    list = plan(&f);
    assert_null(pushed(&list));
    assert_true(writes(&list, "ConfigMap"));
    assert_int_equal(looks_again(&list), -1);
}

static void without_an_agent_nothing_is_pushed(void **state)
{
    static const char *const specs[] = {"",
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

/* The lab has a NodeSet gpu with a partition; the Controller's own extraConf may have one, too. */
static void a_refused_partition_is_told_at_its_object(void **state)
{
    static const struct {
        const char *partition;
        bool waits; /* for the jobs of another one */
        const char *applied;
        const char *says;
        const char *accepted; /* the message of NodeSetsAccepted; "": there is no such condition */
    } rows[] = {
        {"gpu", false, "True", "slurmctld has the configuration",
         "NodeSet slurm/gpu: slurmctld refuses partition 'gpu' and took the rest: Invalid qos"},
        {"gpu", true, "False", "old is drained",
         "NodeSet slurm/gpu: slurmctld refuses partition 'gpu' and took the rest: Invalid qos"},
        {"own", false, "False",
         "spec.extraConf: slurmctld refuses partition 'own' and took the rest: Invalid qos", ""},
    };
    static const struct slurm_waiting waiting[] = {{"old", NULL, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct slurm_refusal refused = {rows[i].partition, "Invalid qos"};
        AUTO(fixture_done) struct fixture f;
        struct slurm_state slurm = {0};
        struct actions list;

        run_lab(&f);
        jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"), "spec.extraConf",
                     jsn_string(&f.arena, "NodeName=x1\nPartitionName=own Nodes=x1"));
        f.slurm = &slurm;
        list = plan(&f);
        slurm.applied = (struct slurm_applied){.hash = jsn_get_str(pushed(&list), "declared"),
                                               .result = "pending",
                                               .reason = "old is drained",
                                               .taken = true,
                                               .refused = &refused,
                                               .n_refused = 1};
        slurm.waiting = waiting;
        slurm.n_waiting = rows[i].waits ? 1 : 0;
        list = plan(&f);
        test_carry_out(&f.world, &list);
        assert_string_equal(message_of(&f, "ConfigApplied", "status"), rows[i].applied);
        if (!strstr(message_of(&f, "ConfigApplied", "message"), rows[i].says))
            fail_msg("row %zu: %s", i, message_of(&f, "ConfigApplied", "message"));
        assert_string_equal(message_of(&f, "NodeSetsAccepted", "message"), rows[i].accepted);
    }
}

static void the_fate_of_a_configuration_is_told(void **state)
{
    static const struct slurm_fault faults[] = {
        {"slurm.conf", 0, NULL, "QOS x is not known"}, /* the line is filled in */
        {"gres.conf", 3, NULL, "no such device"},
        {"gres.conf", 3, NULL, "no such device", "File"}, /* the message does not name it */
        {"gres.conf", 3, NULL, "file: no such device", "File"},
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
        {"refused", "validate: bad", 1, 2, NULL, "False", "gres.conf line 3: File: no such device"},
        {"refused", "validate: bad", 1, 3, NULL, "False", "gres.conf line 3: file: no such device"},
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
    assert_string_equal(message_of(&f, "Drifted", "status"), "Unknown");
    /* the pod may still count as ready, and the agent be silent: nobody says that it answers */
    jsn_set_path(&f.arena, test_find(&f.world, "StatefulSet", "lab-controller"),
                 "status.readyReplicas", jsn_int(&f.arena, 1));
    f.slurm = NULL;
    list = plan(&f);
    test_carry_out(&f.world, &list);
    assert_string_equal(message_of(&f, "Ready", "reason"), "SlurmctldDown");
    f.slurm = &slurm;
    slurm = (struct slurm_state){0};
    list = plan(&f);
    test_carry_out(&f.world, &list);
    assert_string_equal(message_of(&f, "Drifted", "status"), "");
}

#define ACCT(status)                                                                               \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Accounting','metadata':{'name':'acct',"      \
    "'namespace':'slurm','uid':'A'},'spec':{},'status':{'conditions':[{'type':'Ready','status':"   \
    "'" status "','reason':'x','message':'z','lastTransitionTime':'2026-11-19T00:00:00Z'}]}}"

static void slurm_conf_waits_for_the_first_answer_of_slurmdbd(void **state)
{
    static const struct {
        const char *accounting; /* NULL: as before */
        const char *reason;     /* of AccountingFound; NULL: there is no such condition */
        const char *type;
    } steps[] = {
        {"", "AccountingNotFound", "accounting_storage/none"},
        {ACCT("False"), "AccountingAwaited", "accounting_storage/none"},
        {ACCT("True"), NULL, "accounting_storage/slurmdbd"},
        {ACCT("False"), NULL, "accounting_storage/slurmdbd"},
        {"", "AccountingNotFound", "accounting_storage/slurmdbd"},
    };
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "'accountingRef':{'name':'acct'}");
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct actions list;
        const char *conf;

        test_drop(&f.world, "Accounting", "acct");
        if (steps[i].accounting[0])
            test_put(&f.world, json_of(&f.arena, steps[i].accounting));
        list = plan(&f);
        test_carry_out(&f.world, &list);
        conf = jsn_text(
            jsn_key(jsn_get(test_find(&f.world, "ConfigMap", "lab-config"), "data"), "slurm.conf"));
        assert_non_null(strstr(conf, steps[i].type));
        assert_string_equal(message_of(&f, "AccountingFound", "reason"),
                            steps[i].reason ? steps[i].reason : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_nodeset_changes_the_configuration),
        cmocka_unit_test(a_bad_configuration_changes_nothing_that_runs),
        cmocka_unit_test(a_configuration_is_pushed_until_it_is_answered),
        cmocka_unit_test(an_edit_is_pushed_first_and_written_when_it_is_answered),
        cmocka_unit_test(without_an_agent_nothing_is_pushed),
        cmocka_unit_test(the_fate_of_a_configuration_is_told),
        cmocka_unit_test(a_refused_partition_is_told_at_its_object),
        cmocka_unit_test(slurmctld_is_not_ended_for_files_that_it_may_refuse),
        cmocka_unit_test(slurm_itself_is_the_better_witness),
        cmocka_unit_test(slurm_conf_waits_for_the_first_answer_of_slurmdbd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
