/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: is the partition live as this generation declares it? */
#include "src/plan/test/nodeset.h"

#define LINE "PartitionName=gpu Nodes=gpu MaxTime=60"
#define OLDER "A=1\nPartitionName=gpu Nodes=gpu MaxTime=60 PriorityTier=5\n"
#define SPEC ",'replicas':0,'partition':{'config':'MaxTime=60'}"

static struct jsn_pair hour[] = {{"MaxTime", "1:00:00"}, {"PriorityTier", "5"}};
static struct jsn_pair day[] = {{"MaxTime", "1-00:00:00"}, {"PriorityTier", "5"}};
static const struct slurm_partition with_hour[] = {{"gpu", {hour, 2}, "", 0, 0, 0}};
static const struct slurm_partition with_day[] = {{"gpu", {day, 2}, "", 0, 0, 0}};
static const struct slurm_drift drift[] = {{"gpu", "State", "UP", "DRAIN"}};
static const struct slurm_drift others[] = {{"cpu", "State", "UP", "DRAIN"}};
static const struct slurm_fault own[] = {{"slurm.conf", 2, LINE " QOS=x", "QOS x is not known"}};
static const struct slurm_fault strange[] = {{"slurm.conf", 1, "A=1", "A is not known"}};
static const struct slurm_refusal no_qos[] = {{"gpu", "Invalid qos specification"}};
static const struct slurm_refusal other_qos[] = {{"cpu", "Invalid qos specification"}};

#define KNOWN .partitions_known = true
#define LIVE(list) .partitions = list, .n_partitions = 1

static void expect(struct fixture *f, const char *status, const char *reason, const char *says)
{
    const struct jsn *c = test_condition(the_set(f), "PartitionApplied");
    const char *message = jsn_get_str(c, "message");

    assert_string_equal(jsn_get_str(c, "status"), status);
    assert_string_equal(jsn_get_str(c, "reason"), reason);
    if (!message || !strstr(message, says))
        fail_msg("'%s' does not say '%s'", message, says);
    assert_int_equal(jsn_get_int(c, "observedGeneration", -1),
                     jsn_get_int(the_set(f), "metadata.generation", -2));
}

static void step(struct fixture *f)
{
    struct actions list = plan(f);

    carry_out(f, &list);
}

static void edit(struct fixture *f, const char *config)
{
    int64_t now = jsn_get_int(the_set(f), "metadata.generation", 0);

    jsn_set_path(&f->arena, the_set(f), "spec.partition.config", jsn_string(&f->arena, config));
    jsn_set_path(&f->arena, the_set(f), "metadata.generation", jsn_int(&f->arena, now + 1));
}

static void what_is_known_of_slurmctld_is_told(void **state)
{
    static const struct {
        struct slurm_state slurm;
        const char *status;
        const char *reason;
        const char *says;
    } rows[] = {
        /* slurmctld does not answer, or has not been looked at */
        {{.held = LINE}, "Unknown", "SlurmUnknown", "not known"},
        {{.down = true, .held = LINE}, "Unknown", "SlurmUnknown", "not known"},
        /* the agent has said that it is there, whatever the state shows yet */
        {{KNOWN, .held = "A=1\n" LINE "\n"}, "True", "Applied", "as declared"},
        {{KNOWN, LIVE(with_day), .held = LINE "\n"}, "True", "Applied", "as declared"},
        {{KNOWN, LIVE(with_hour), .held = LINE}, "True", "Applied", "as declared"},
        {{KNOWN, .held = LINE, .drift = others, .n_drift = 1}, "True", "Applied", "as declared"},
        /* another configuration was refused or waits, after this one was taken */
        {{KNOWN, .held = LINE, .tried = OLDER, .applied.result = "refused"}, "True", "Applied", ""},
        {{KNOWN, .held = LINE, .drift = drift, .n_drift = 1},
         "False",
         "ChangedInSlurm",
         "State is DRAIN, declared UP"},
        /* on its way */
        {{KNOWN, LIVE(with_day), .held = OLDER},
         "False",
         "Applying",
         "MaxTime is 1-00:00:00 in slurmctld and becomes"},
        {{KNOWN, .held = OLDER}, "False", "Applying", "does not have the partition yet"},
        {{KNOWN, .held = "#" LINE "\n" LINE "0\n"}, "False", "Applying", "not have"},
        /* a setting that was taken out shows by no other value */
        {{KNOWN, LIVE(with_hour), .held = OLDER}, "False", "Applying", "on its way"},
        /* nobody has compared configurations yet: what shows is no proof */
        {{KNOWN, LIVE(with_hour)}, "False", "Applying", "on its way"},
        /* an outcome of what was declared before says nothing */
        {{KNOWN, .held = OLDER, .tried = OLDER, .applied.result = "refused"},
         "False",
         "Applying",
         "not have"},
        {{KNOWN, .held = OLDER, .tried = LINE, .applied = {.result = "refused", .reason = "no"}},
         "False",
         "Refused",
         "because of another part of the configuration: no; see"},
        {{KNOWN, .held = OLDER, .tried = LINE,
          .applied = {.result = "refused", .faults = strange, .n_faults = 1}},
         "False",
         "Refused",
         "A is not known; see the condition ConfigApplied of Controller lab"},
        {{KNOWN, .tried = LINE, .applied = {.result = "refused", .faults = own, .n_faults = 1}},
         "False",
         "Refused",
         "slurmctld goes on with what it has: QOS x is not known"},
        {{KNOWN, .tried = LINE, .applied = {.result = "pending", .reason = "in a moment"}},
         "False",
         "Pending",
         "in a moment"},
        /* slurmctld refuses this one, and has the rest; or another one, or an older line */
        {{KNOWN, .held = LINE, .applied = {.result = "pending", .refused = no_qos, .n_refused = 1}},
         "False",
         "Refused",
         "slurmctld refuses it and goes on with what it has: Invalid qos"},
        {{KNOWN, .held = LINE,
          .applied = {.result = "pending", .refused = other_qos, .n_refused = 1}},
         "True",
         "Applied",
         ""},
        {{KNOWN, .held = OLDER,
          .applied = {.result = "pending", .refused = no_qos, .n_refused = 1}},
         "False",
         "Applying",
         ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f, SPEC);
        f.slurm = &rows[i].slurm;
        step(&f);
        expect(&f, rows[i].status, rows[i].reason, rows[i].says);
    }
}

static void what_hinders_the_nodeset_hinders_its_partition(void **state)
{
    static const struct slurm_state held = {KNOWN, .held = LINE};
    static const struct slurm_state bad = {KNOWN, .held = OLDER};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, SPEC);
    f.slurm = &held;
    f.twin = "older"; /* whose line may be the same */
    step(&f);
    expect(&f, "False", "SlurmNameTaken", "NodeSet older");
    f.twin = NULL;
    f.no_controller = true;
    step(&f);
    expect(&f, "False", "ControllerNotFound", "lab");
    f.no_controller = false;
    f.external = true;
    step(&f);
    expect(&f, "False", "External", "runs elsewhere");
    f.external = false;
    step(&f);
    expect(&f, "True", "Applied", "");
    edit(&f, "MaxTime=soon");
    f.slurm = &bad;
    step(&f);
    expect(&f, "False", "Invalid", "MaxTime");
}

static void one_edit_is_two_writes(void **state)
{
    static const struct slurm_state before = {KNOWN, LIVE(with_day), .held = OLDER};
    static const struct slurm_state after = {KNOWN, LIVE(with_day), .held = LINE};
    AUTO(fixture_done) struct fixture f;
    struct actions list;

    (void)state;
    fixture_init(&f, ",'replicas':0,'partition':{'config':'MaxTime=60 PriorityTier=5'}");
    f.slurm = &before;
    converge(&f);
    expect(&f, "True", "Applied", "");
    edit(&f, "MaxTime=60");
    list = plan(&f);
    assert_int_equal(list.n, 2); /* a look later, and the status */
    assert_int_equal(list.items[0].verb, ACTION_REQUEUE);
    assert_int_equal(list.items[1].verb, ACTION_STATUS);
    carry_out(&f, &list);
    expect(&f, "False", "Applying", "MaxTime");
    list = plan(&f);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].verb, ACTION_REQUEUE);
    f.slurm = &after;
    expect_plan(&f, "status NodeSet gpu;");
    expect(&f, "True", "Applied", "");
    expect_plan(&f, "");
}

static void an_edit_of_something_else_leaves_it_true(void **state)
{
    static const struct slurm_state held = {KNOWN, .held = LINE};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, SPEC);
    f.slurm = &held;
    converge(&f);
    edit(&f, "MaxTime=60");
    step(&f);
    expect(&f, "True", "Applied", "");
}

static void a_new_agent_process_takes_nothing_back_that_shows(void **state)
{
    static const struct slurm_state held = {KNOWN, .held = LINE};
    static const struct slurm_state shows = {KNOWN, LIVE(with_hour)};
    static const struct slurm_state differs = {KNOWN, LIVE(with_day)};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, SPEC);
    f.slurm = &held;
    converge(&f);
    f.slurm = &shows;
    converge(&f);
    expect(&f, "True", "Applied", "");
    f.slurm = &differs;
    step(&f);
    expect(&f, "False", "Applying", "MaxTime");
}

static void a_controller_that_has_to_be_mended_is_named(void **state)
{
    static const struct slurm_state older = {KNOWN, .held = OLDER};
    static struct api_condition invalid = {
        .type = "ConfigApplied", .status = "False", .reason = "ConfigInvalid"};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, SPEC);
    f.slurm = &older;
    f.controller_says = (struct api_conditions){&invalid, 1};
    step(&f);
    expect(&f, "False", "Applying", ""); /* it may be what this edit mends */
    jsn_set_path(&f.arena, jsn_item(jsn_get(the_set(&f), "status.conditions"), 1),
                 "lastTransitionTime", jsn_string(&f.arena, "1970-01-01T00:10:00Z"));
    step(&f);
    expect(&f, "False", "ConfigInvalid", "Controller lab is mended");
}

static void without_a_partition_nothing_is_said(void **state)
{
    static const struct slurm_state held = {KNOWN, .held = LINE};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, SPEC);
    f.slurm = &held;
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "spec.partition.enabled", jsn_bool(&f.arena, false));
    converge(&f);
    assert_null(test_condition(the_set(&f), "PartitionApplied"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_of_slurmctld_is_told),
        cmocka_unit_test(what_hinders_the_nodeset_hinders_its_partition),
        cmocka_unit_test(one_edit_is_two_writes),
        cmocka_unit_test(an_edit_of_something_else_leaves_it_true),
        cmocka_unit_test(a_new_agent_process_takes_nothing_back_that_shows),
        cmocka_unit_test(a_controller_that_has_to_be_mended_is_named),
        cmocka_unit_test(without_a_partition_nothing_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
