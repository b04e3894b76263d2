/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the Partition's plan: conditions, live values, drift, and its end. */
#include "src/base/test/unit.h"

#include "src/build/controller_config.h"
#include "src/plan/finalizer.h"
#include "src/plan/partition.h"
#include "src/plan/test/world.h"

#define LAB                                                                                        \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':'lab',"       \
    "'namespace':'slurm','uid':'U','generation':1},'spec':{%s}}"
#define SET(name)                                                                                  \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'NodeSet','metadata':{'name':'" name          \
    "','namespace':'slurm','uid':'N-" name                                                         \
    "','generation':1},'spec':{'controllerRef':{'name':'lab'}}}"
#define PART(name, spec)                                                                           \
    "{'apiVersion':'slurmkeeper.dev/v1alpha1','kind':'Partition','metadata':{'name':'" name        \
    "','namespace':'slurm','uid':'P-" name "','generation':1,'finalizers':['" PARTITION_FINALIZER  \
    "']},'spec':{'controllerRef':{'name':'lab'}," spec "}}"

struct fixture {
    struct arena arena;
    struct test_world world;
    struct build_env env;
    const struct slurm_state *slurm;
    int64_t changed_us;
    bool needed_cluster;
};

static void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void put(struct fixture *f, const char *text)
{
    test_put(&f->world, json_of(&f->arena, text));
}

static void fixture_init(struct fixture *f, const char *controller, const char *partition)
{
    *f = (struct fixture){.env.release = RELEASE(22, 5, 8)};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    if (controller)
        put(f, arena_printf(&f->arena, LAB, controller));
    put(f, SET("compute"));
    put(f, partition);
}

static void read_cluster(struct fixture *f, struct build_cluster *c)
{
    struct arena *a = &f->arena;
    struct controller *controller = arena_calloc(a, 1, sizeof(*controller));
    const struct nodeset **sets = arena_calloc(a, 8, sizeof(*sets));
    const struct api_partition **parts = arena_calloc(a, 8, sizeof(*parts));
    struct err e = {0};

    c->env = &f->env;
    c->nodesets = sets;
    c->partitions = parts;
    JSN_FOR_ITEMS (o, f->world.objects) {
        struct nodeset *ns = arena_calloc(a, 1, sizeof(*ns));
        struct api_partition *part = arena_calloc(a, 1, sizeof(*part));
        const char *kind = jsn_get_str(o, "kind");

        if (streq(kind, "Controller") && controller_decode(a, o, controller, &e) == 0)
            c->controller = controller;
        if (streq(kind, "NodeSet") && nodeset_decode(a, o, ns, &e) == 0)
            sets[c->n_nodesets++] = ns;
        if (streq(kind, "Partition") && api_partition_decode(a, o, part, &e) == 0 &&
            !part->meta.deleted_us)
            parts[c->n_partitions++] = part;
    }
}

/* What the Controller's plan does. */
static void write_config(struct fixture *f)
{
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    struct build_cluster c = {.lookup = &lookup};
    struct api_problems p = {.arena = &f->arena};
    struct build_config config;

    read_cluster(f, &c);
    if (build_config(&f->arena, &c, &config, &p) < 0)
        return;
    test_drop(&f->world, "ConfigMap", "lab-config");
    test_put(&f->world, build_config_map(&f->arena, &c, &config));
}

/* The line of that name in the ConfigMap; NULL: there is none. */
static const char *written(struct fixture *f, const char *name)
{
    const struct jsn *map = test_find(&f->world, "ConfigMap", "lab-config");
    struct str rest = str_of(jsn_text(jsn_member(jsn_key(map, "data"), STR("slurm.conf"))));
    const char *head = arena_printf(&f->arena, "PartitionName=%s ", name);
    struct str line;

    while (str_split(&rest, '\n', &line))
        if (str_starts(line, head))
            return arena_str(&f->arena, line);
    return NULL;
}

static struct actions plan(struct fixture *f, const char *name)
{
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct api_partition *part = arena_calloc(a, 1, sizeof(*part));
    struct api_lookup *lookup = arena_calloc(a, 1, sizeof(*lookup));
    struct build_cluster c = {.lookup = lookup};
    struct plan_partition in = {.object = test_find(&f->world, "Partition", name),
                                .part = part,
                                .lookup = lookup,
                                .slurm = f->slurm,
                                .changed_us = f->changed_us,
                                .now_us = 1000000000};
    struct err e = {0};

    *lookup = api_lookup_over(f->world.objects);
    if (api_partition_decode(a, in.object, part, &e) < 0)
        fail_msg("%s", e.text);
    in.written = written(f, api_partition_slurm_name(part));
    read_cluster(f, &c);
    in.controller = c.controller;
    f->needed_cluster = plan_partition_needs_cluster(a, &in);
    if (f->needed_cluster)
        in.cluster = &c;
    plan_partition(&in, &list);
    return list;
}

static void step(struct fixture *f, const char *name)
{
    struct actions list = plan(f, name);

    test_carry_out(&f->world, &list);
}

static void expect(struct fixture *f, const char *name, const char *type, const char *status,
                   const char *reason, const char *message)
{
    const struct jsn *c = test_condition(test_find(&f->world, "Partition", name), type);

    assert_string_equal(jsn_get_str(c, "status"), status);
    assert_string_equal(jsn_get_str(c, "reason"), reason);
    assert_string_equal(jsn_get_str(c, "message"), message);
}

static struct jsn_pair up_pairs[] = {{"State", "UP"}, {"MaxTime", "1:00:00"}, {"LLN", "NO"}};
static struct jsn_pair drain_pairs[] = {{"State", "DRAIN"}, {"MaxTime", "1:00:00"}};
static const struct slurm_partition up[] = {
    {"debug", {up_pairs, 3}, "compute-[0-2]", 3, 2, 1},
};
static const struct slurm_partition drained[] = {
    {"debug", {drain_pairs, 2}, "compute-[0-2]", 3, 0, 1},
};
static const struct slurm_drift by_hand[] = {{"debug", "State", "UP", "DRAIN"}};
static const uint32_t jobs[] = {12, 13};
static const struct slurm_waiting waiting[] = {{"debug", jobs, 2}};
static const struct slurm_state live_up = {
    .partitions_known = true, .partitions = up, .n_partitions = 1};
static const struct slurm_state live_none = {.partitions_known = true};
static const struct slurm_state live_refused = {.partitions_known = true,
                                                .applied = {"h", "refused", "it does not like it"}};
static const struct slurm_state live_drifted = {.partitions_known = true,
                                                .partitions = drained,
                                                .n_partitions = 1,
                                                .drift = by_hand,
                                                .n_drift = 1};
static const struct slurm_state live_late = {
    .partitions_known = true, .partitions = drained, .n_partitions = 1};
static const struct slurm_state live_waiting = {.partitions_known = true,
                                                .partitions = drained,
                                                .n_partitions = 1,
                                                .waiting = waiting,
                                                .n_waiting = 1};

#define DEBUG PART("debug", "'nodeSetRefs':[{'name':'compute'}],'maxTime':60")

static void a_partition_becomes_ready_step_by_step(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct jsn *o;
    struct actions list;

    (void)state;
    fixture_init(&f, "", DEBUG);
    step(&f, "debug");
    assert_true(f.needed_cluster);
    expect(&f, "debug", "Ready", "False", "Writing", "the configuration is being written");
    list = plan(&f, "debug");
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].verb, ACTION_REQUEUE);
    write_config(&f);
    step(&f, "debug");
    assert_false(f.needed_cluster);
    expect(&f, "debug", "Ready", "Unknown", "Written",
           "it is in the configuration; slurmctld's state is not known");
    expect(&f, "debug", "Drifted", "Unknown", "SlurmUnknown", "slurmctld's state is not known");
    f.slurm = &live_none;
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Applying", "slurmctld does not have the partition yet");
    f.slurm = &live_up;
    step(&f, "debug");
    assert_false(f.needed_cluster);
    expect(&f, "debug", "Ready", "True", "Applied", "slurmctld has it as declared");
    expect(&f, "debug", "Drifted", "False", "AsDeclared",
           "nobody changed the partition in slurmctld");
    o = test_find(&f.world, "Partition", "debug");
    assert_string_equal(jsn_get_str(o, "status.state"), "UP");
    assert_string_equal(jsn_get_str(o, "status.nodes"), "compute-[0-2]");
    assert_string_equal(jsn_get_str(o, "status.line"),
                        "PartitionName=debug Nodes=compute State=UP MaxTime=60");
    assert_string_equal(jsn_get_str(o, "status.live.LLN"), "NO");
    assert_int_equal(jsn_get_int(o, "status.totalNodes", -1), 3);
    assert_int_equal(jsn_get_int(o, "status.pendingJobs", -1), 2);
    assert_int_equal(jsn_get_int(o, "status.runningJobs", -1), 1);
    assert_int_equal(jsn_get_int(o, "status.observedGeneration", -1), 1);
    list = plan(&f, "debug");
    assert_int_equal(list.n, 0);
}

/* Nothing that slurmctld shows differs from the line; the agent alone knows that it lacks it. */
static void a_setting_that_was_taken_out_is_waited_for(void **state)
{
    struct slurm_state slurm = live_up;
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "", DEBUG);
    write_config(&f);
    f.slurm = &slurm;
    slurm.held = "PartitionName=debug Nodes=compute State=UP MaxTime=60 LLN=YES\n";
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Applying",
           "the configuration that has it is on its way to slurmctld");
    slurm.held = "PartitionName=debug Nodes=compute State=UP MaxTime=60\n";
    step(&f, "debug");
    expect(&f, "debug", "Ready", "True", "Applied", "slurmctld has it as declared");
}

/* A list of what slurmctld shows proves nothing of what it does not show. */
static void a_setting_that_does_not_show_needs_the_agents_word(void **state)
{
    static const char line[] =
        "PartitionName=debug Nodes=compute State=UP MaxTime=60 GraceTime=5\n";
    struct slurm_state slurm = live_up;
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "",
                 PART("debug", "'nodeSetRefs':[{'name':'compute'}],'maxTime':60,'graceTime':5"));
    write_config(&f);
    f.slurm = &slurm;
    slurm.applied = (struct slurm_applied){.hash = "h", .result = "refused", .reason = "no"};
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Applying",
           "slurmctld does not show GraceTime, and its agent has not told yet whether it has it: "
           "no");
    slurm.held = line;
    slurm.applied = (struct slurm_applied){.hash = "h", .result = "applied", .taken = true};
    step(&f, "debug");
    expect(&f, "debug", "Ready", "True", "Applied", "slurmctld has it as declared");
    slurm.held = NULL; /* an operator that has just started */
    step(&f, "debug");
    expect(&f, "debug", "Ready", "True", "Applied", "slurmctld has it as declared");
}

static void a_change_on_its_way_is_not_written_down(void **state)
{
    static const struct {
        const char *what;
        bool written;
        const struct slurm_state *slurm;
        bool told;
    } rows[] = {
        {"being written", false, NULL, false},
        {"being applied", true, &live_none, false},
        {"refused so far", true, &live_refused, false},
        {"applied", true, &live_up, true},
        {"not known", true, NULL, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;
        struct actions list;

        fixture_init(&f, "", DEBUG);
        f.changed_us = 1000000000 - 1000;
        f.slurm = rows[i].slurm;
        if (rows[i].written)
            write_config(&f);
        list = plan(&f, "debug");
        assert_false(f.needed_cluster);
        assert_int_equal(list.n, 1);
        if ((list.items[0].verb == ACTION_STATUS) != rows[i].told)
            fail_msg("%s", rows[i].what);
        /* it lasts */
        f.changed_us = 1000000000 - 300000;
        list = plan(&f, "debug");
        assert_int_equal(list.items[list.n - 1].verb, ACTION_STATUS);
    }
}

static void delete_partition(struct fixture *f)
{
    jsn_set_path(&f->arena, test_find(&f->world, "Partition", "debug"),
                 "metadata.deletionTimestamp", jsn_string(&f->arena, "2026-01-09T10:00:00Z"));
}

/* The ConfigMap follows, up to two seconds later where many changes come in a row. */
static void what_slurmctld_has_is_told_before_the_configmap_is_written(void **state)
{
    AUTO(map_done) struct map lines = {.free_value = free};
    struct slurm_state slurm = live_up;
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "", DEBUG);
    f.slurm = &slurm;
    slurm.held = "A=1\nPartitionName=debug Nodes=compute State=UP MaxTime=60\n";
    slurm_lines_read(&lines, slurm.held);
    slurm.held_lines = &lines;
    step(&f, "debug");
    assert_false(f.needed_cluster);
    expect(&f, "debug", "Ready", "True", "Applied", "slurmctld has it as declared");
    assert_string_equal(jsn_get_str(test_find(&f.world, "Partition", "debug"), "status.line"),
                        "PartitionName=debug Nodes=compute State=UP MaxTime=60");
}

static void while_others_are_under_way_there_is_more_patience(void **state)
{
    static const struct {
        int64_t age_ms;
        bool pushing;
        bool told;
        int64_t again_ms; /* of its age; 0: not by itself */
    } rows[] = {
        {100, false, false, 250}, {100, true, false, 250},   {300, false, true, 0},
        {300, true, false, 2000}, {1999, true, false, 2000}, {2000, true, true, 0},
    };

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        bool deleted = i >= ARRAY_LEN(rows);
        size_t k = i % ARRAY_LEN(rows);
        struct slurm_state slurm = live_up;
        AUTO(fixture_done) struct fixture f;
        struct actions list;

        fixture_init(&f, "", DEBUG);
        if (deleted) {
            write_config(&f); /* it stands there still */
            delete_partition(&f);
        }
        f.slurm = &slurm;
        slurm.pushing_us = rows[k].pushing ? 1 : 0;
        f.changed_us = 1000000000 - rows[k].age_ms * 1000;
        list = plan(&f, "debug");
        assert_int_equal(f.needed_cluster, rows[k].told && !deleted);
        if ((list.items[list.n - 1].verb == ACTION_STATUS) != rows[k].told)
            fail_msg("row %zu, deleted %d", k, deleted);
        if (rows[k].again_ms)
            assert_int_equal(list.items[list.n - 1].at_us, f.changed_us + rows[k].again_ms * 1000);
    }
}

static void what_slurmctld_says_against_it_is_shown(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "", DEBUG);
    write_config(&f);
    f.slurm = &live_refused;
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Applying",
           "slurmctld does not have the partition yet: it does not like it");
    f.slurm = &live_late;
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Applying", "State is DRAIN in slurmctld and becomes UP");
}

static void a_refusal_of_this_partition_is_told_here(void **state)
{
    static const struct slurm_refusal refused[] = {{"debug", "Invalid qos specification"}};
    struct slurm_state slurm = live_up;
    AUTO(fixture_done) struct fixture f;
    struct actions list;

    (void)state;
    fixture_init(&f, "", DEBUG);
    write_config(&f);
    f.slurm = &slurm;
    slurm.held = "PartitionName=debug Nodes=compute State=UP MaxTime=60\n";
    slurm.applied = (struct slurm_applied){
        .hash = "h", .result = "pending", .taken = true, .refused = refused, .n_refused = 1};
    list = plan(&f, "debug");
    assert_non_null(test_event(&list, "Refused"));
    test_carry_out(&f.world, &list);
    expect(&f, "debug", "Ready", "False", "Refused",
           "slurmctld refuses it and goes on with what it has of it: Invalid qos specification");
    slurm.n_partitions = 0;
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Refused",
           "slurmctld refuses it: Invalid qos specification");
    slurm = live_up;
    step(&f, "debug");
    expect(&f, "debug", "Ready", "True", "Applied", "slurmctld has it as declared");
}

static void a_refusal_of_another_partition_is_not_told_here(void **state)
{
    static const struct slurm_refusal refused[] = {{"other", "Invalid qos specification"}};
    struct slurm_state slurm = live_none;
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "", DEBUG);
    write_config(&f);
    f.slurm = &slurm;
    slurm.held = "PartitionName=debug Nodes=compute State=UP MaxTime=60\n";
    slurm.applied = (struct slurm_applied){.hash = "h",
                                           .result = "pending",
                                           .reason = "partition 'other' is refused",
                                           .taken = true,
                                           .refused = refused,
                                           .n_refused = 1};
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Applying", "slurmctld does not have the partition yet");
}

static void drift_is_a_condition_and_one_event(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;
    const struct action *event;
    const struct jsn *o;

    (void)state;
    fixture_init(&f, "", DEBUG);
    write_config(&f);
    f.slurm = &live_up;
    step(&f, "debug");
    f.slurm = &live_drifted;
    list = plan(&f, "debug");
    event = test_event(&list, "Drifted");
    assert_non_null(event);
    if (!event)
        return;
    assert_true(event->warning);
    assert_string_equal(event->text, "State is DRAIN in slurmctld and declared as UP");
    test_carry_out(&f.world, &list);
    expect(&f, "debug", "Drifted", "True", "ChangedInSlurm", "State: declared UP, live DRAIN");
    expect(&f, "debug", "Ready", "True", "Applied", "slurmctld has it as declared");
    o = test_find(&f.world, "Partition", "debug");
    assert_string_equal(jsn_get_str(jsn_item(jsn_get(o, "status.drift"), 0), "live"), "DRAIN");
    list = plan(&f, "debug");
    assert_int_equal(list.n, 0);
    f.slurm = &live_up;
    list = plan(&f, "debug");
    assert_non_null(test_event(&list, "DriftEnded"));
    test_carry_out(&f.world, &list);
    expect(&f, "debug", "Drifted", "False", "AsDeclared",
           "nobody changed the partition in slurmctld");
    assert_null(jsn_get(test_find(&f.world, "Partition", "debug"), "status.drift"));
}

static void what_hinders_is_named(void **state)
{
    static const struct {
        const char *controller;
        const char *partition;
        const char *reason;
        const char *message;
    } cases[] = {
        {NULL, DEBUG, "ControllerNotFound",
         "there is no Controller lab in namespace slurm; create it, or correct "
         "spec.controllerRef.name"},
        {"'external':true,'externalConfig':{'host':'h','port':1}", DEBUG, "External",
         "slurmctld of Controller lab runs elsewhere, and its partitions are declared there"},
        {"", PART("debug", "'nodeSetRefs':[{'name':'compute'},{'name':'nil'}]"), "NodeSetNotFound",
         "there is no NodeSet nil in this cluster: the partition is without its nodes"},
        {"", PART("debug", "'nodes':'r1'"), "Invalid",
         "spec.nodes: partition debug: there is no node or node set r1 in this configuration "
         "(nodes "
         "of NodeSets are named by nodeSetRefs); the partition is left out"},
        {"'extraConf':'PartitionName=debug Nodes=ALL'", DEBUG, "Invalid",
         "metadata.name: Controller lab (extraConf) of the same cluster has a partition debug "
         "already; this one is left out until it has another name"},
        {"'extraConf':'NoSuchKey=1'", DEBUG, "ConfigInvalid",
         "the configuration is not written before Controller lab is mended; see its condition "
         "ConfigApplied"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(fixture_done) struct fixture f;
        struct actions list;

        fixture_init(&f, cases[i].controller, cases[i].partition);
        if (cases[i].controller)
            write_config(&f);
        step(&f, "debug");
        expect(&f, "debug", "Ready", "False", cases[i].reason, cases[i].message);
        list = plan(&f, "debug");
        assert_int_equal(list.n, 0);
    }
}

static void the_line_that_was_good_is_kept(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct jsn *o;

    (void)state;
    fixture_init(&f, "", DEBUG);
    write_config(&f);
    step(&f, "debug");
    o = test_find(&f.world, "Partition", "debug");
    jsn_set_path(&f.arena, o, "spec.preemptMode", jsn_string(&f.arena, "NEVER"));
    jsn_set_path(&f.arena, o, "metadata.generation", jsn_int(&f.arena, 2));
    write_config(&f);
    step(&f, "debug");
    assert_string_equal(jsn_get_str(o, "status.line"),
                        "PartitionName=debug Nodes=compute State=UP MaxTime=60");
    assert_non_null(strstr(jsn_get_str(test_condition(o, "Ready"), "message"),
                           "; what was declared before stays at work"));
    assert_int_equal(jsn_get_int(o, "status.observedGeneration", 0), 2);
}

static void only_one_is_the_default(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "", PART("a", "'all':true,'default':true"));
    put(&f, PART("b", "'all':true,'default':true"));
    write_config(&f);
    step(&f, "a");
    step(&f, "b");
    assert_null(test_condition(test_find(&f.world, "Partition", "a"), "Default"));
    expect(&f, "b", "Default", "False", "DefaultTaken",
           "another partition of the cluster is the default; there can be only one");
    assert_false(f.needed_cluster);
}

static bool is_released(const struct fixture *f)
{
    return jsn_len(jsn_get(test_find(&f->world, "Partition", "debug"), "metadata.finalizers")) == 0;
}

static void a_deleted_partition_stays_until_its_jobs_have_ended(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "", DEBUG);
    write_config(&f);
    f.slurm = &live_up;
    step(&f, "debug");
    delete_partition(&f);
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Deleting",
           "the configuration is being written without it");
    write_config(&f);
    f.slurm = &live_waiting;
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Deleting",
           "slurmctld keeps it, drained, until these jobs have ended: 12, 13; cancel them to be "
           "done at once");
    f.slurm = &live_late;
    step(&f, "debug");
    expect(&f, "debug", "Ready", "False", "Deleting",
           "slurmctld keeps it, drained, until its 1 job has ended");
    assert_false(is_released(&f));
    f.slurm = &live_none;
    step(&f, "debug");
    assert_true(is_released(&f));
}

static void a_deleted_partition_has_nothing_to_wait_for(void **state)
{
    static const struct {
        const char *what;
        bool no_controller;
        const char *other;
        bool forced;
    } cases[] = {
        {"nothing is known of slurmctld", false, NULL, false},
        {"the Controller is gone", true, NULL, false},
        {"another object has the name", false,
         PART("other", "'partitionName':'debug','nodeSetRefs':[{'name':'compute'}],'maxTime':60"),
         false},
        {"somebody insists", false, NULL, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f, "", DEBUG);
        write_config(&f);
        f.slurm = &live_up;
        step(&f, "debug");
        delete_partition(&f);
        if (cases[i].other)
            put(&f, cases[i].other);
        if (cases[i].forced)
            jsn_set_path(&f.arena, test_find(&f.world, "Partition", "debug"),
                         "metadata.annotations", json_of(&f.arena, "{'" FORCE_DELETE "':'true'}"));
        write_config(&f);
        if (cases[i].no_controller)
            test_drop(&f.world, "Controller", "lab");
        f.slurm = cases[i].no_controller || cases[i].other || cases[i].forced ? &live_up : NULL;
        step(&f, "debug");
        if (!is_released(&f))
            fail_msg("%s", cases[i].what);
    }
}

static void a_new_partition_gets_its_finalizer(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct jsn *o;

    (void)state;
    fixture_init(&f, "", DEBUG);
    o = test_find(&f.world, "Partition", "debug");
    jsn_del(jsn_key(o, "metadata"), "finalizers");
    step(&f, "debug");
    assert_false(is_released(&f));
    jsn_del(jsn_key(o, "metadata"), "finalizers");
    delete_partition(&f);
    assert_int_equal(plan(&f, "debug").n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partition_becomes_ready_step_by_step),
        cmocka_unit_test(a_setting_that_was_taken_out_is_waited_for),
        cmocka_unit_test(a_setting_that_does_not_show_needs_the_agents_word),
        cmocka_unit_test(a_change_on_its_way_is_not_written_down),
        cmocka_unit_test(what_slurmctld_has_is_told_before_the_configmap_is_written),
        cmocka_unit_test(while_others_are_under_way_there_is_more_patience),
        cmocka_unit_test(what_slurmctld_says_against_it_is_shown),
        cmocka_unit_test(a_refusal_of_this_partition_is_told_here),
        cmocka_unit_test(a_refusal_of_another_partition_is_not_told_here),
        cmocka_unit_test(drift_is_a_condition_and_one_event),
        cmocka_unit_test(what_hinders_is_named),
        cmocka_unit_test(the_line_that_was_good_is_kept),
        cmocka_unit_test(only_one_is_the_default),
        cmocka_unit_test(a_deleted_partition_stays_until_its_jobs_have_ended),
        cmocka_unit_test(a_deleted_partition_has_nothing_to_wait_for),
        cmocka_unit_test(a_new_partition_gets_its_finalizer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
