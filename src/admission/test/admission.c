/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of admission: which checks run, and when none does. */
#include "src/api/test/objects.h"

#include "src/admission/kinds.h"
#include "src/api/controller.h"
#include "src/api/test/lookup_over.h"
#include "src/json/test/json_text.h"
#include "src/slurm/profile.h"

static const char *admitted(struct arena *a, const struct jsn *object, const struct jsn *old,
                            const struct api_lookup *l, uint32_t release)
{
    struct api_problems p = {.arena = a};
    struct admission_request in = {object, old, l, release};

    admission_check(&in, &p);
    return lines_of(a, &p);
}

static void seeds_are_admitted_as_they_stand(void **state)
{
    static const char *const cases[] = {
        "apiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\n"
        "metadata:\n  name: compute\n  namespace: slurm\n"
        "spec:\n  controllerRef:\n    name: slinky\n    namespace: slurm\n  replicas: 3\n"
        "  slurmd:\n    image: ghcr.io/slinkyproject/slurmd:25.05-rockylinux9\n"
        "  partition:\n    enabled: true\n",
        "apiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nmetadata:\n  name: compute\n"
        "spec:\n  controllerRef:\n    name: slurm\n  replicas: 8\n  partition:\n"
        "    enabled: true\n    config: \"Default=YES MaxTime=7-00:00:00 State=UP\"\n",
        "apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\nmetadata:\n  name: slurm\n"
        "spec:\n  extraConf: |\n    # over several NodeSets\n"
        "    PartitionName=all Nodes=ALL Default=NO\n\n"
        "    PartitionName=highprio Nodes=compute,gpu MaxTime=1-00:00:00 Priority=100\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(admitted(&a, yaml_of(&a, cases[i]), NULL, NULL, RELEASE(22, 5, 8)), "");
    }
}

static void what_was_accepted_never_blocks_its_own_end(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *bad = ours_of(&a, "NodeSet", "all", "  {controllerRef: {name: m}}");
    struct jsn *same = jsn_clone(&a, bad);
    struct jsn *going = jsn_clone(&a, bad);
    struct jsn *other = ours_of(&a, "NodeSet", "all", "  {controllerRef: {name: m}, replicas: 2}");

    (void)state;
    assert_string_not_equal(admitted(&a, bad, NULL, NULL, 0), "");
    assert_string_equal(admitted(&a, same, bad, NULL, 0), "");
    assert_string_not_equal(admitted(&a, other, bad, NULL, 0), "");
    jsn_set_path(&a, going, "metadata.deletionTimestamp", jsn_string(&a, "2026-01-09T10:00:00Z"));
    assert_string_equal(admitted(&a, going, NULL, NULL, 0), "");
}

static void objects_of_others_are_none_of_our_business(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_string_equal(
        admitted(&a, yaml_of(&a, "{apiVersion: v1, kind: NodeSet, spec: 5}"), NULL, NULL, 0), "");
    assert_string_equal(admitted(&a,
                                 yaml_of(&a, "{apiVersion: slinky.slurm.net/v1beta1, kind: Else}"),
                                 NULL, NULL, 0),
                        "");
}

static void what_cannot_be_decoded_is_one_problem(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_string_equal(admitted(&a, ours_of(&a, "NodeSet", "x", "  {replicas: 2}"), NULL, NULL, 0),
                        "spec.controllerRef: is required\n");
    assert_string_equal(
        admitted(&a, ours_of(&a, "Controller", "x", "  {ha: {backups: 0}}"), NULL, NULL, 0),
        "spec.ha.backups: 0 is below 1\n");
}

static void the_release_comes_from_the_controller_then_the_operator_then_the_image(void **state)
{
    static const char with_topology[] =
        "  controllerRef: {name: %s}\n  extraConf: Topology=default:s1\n%s";
    static const struct {
        const char *controller;
        const char *more;
        uint32_t release;
        bool fine;
    } cases[] = {
        {"old", "", SERIES(25, 5), false},
        {"new", "", RELEASE_OLDEST, true},
        {"plain", "", RELEASE_OLDEST, false},
        {"plain", "", 0, true},
        {"none", "  slurmd: {image: 'x/slurmd:24.05'}", 0, false},
        {"none", "  slurmd: {image: 'x/slurmd:latest'}", 0, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *all = jsn_array(&a);
        struct api_lookup l = api_lookup_over(all);
        AUTO(buf_done) struct buf spec = {0};
        const char *lines;

        jsn_append(&a, all, ours_of(&a, "Controller", "old", "  {slurmctld: {image: 'a:22.05'}}"));
        jsn_append(&a, all, ours_of(&a, "Controller", "new", "  {slurmctld: {image: 'a:25.11'}}"));
        jsn_append(&a, all, ours_of(&a, "Controller", "plain", "  {}"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        buf_printf(&spec, with_topology, cases[i].controller, cases[i].more);
#pragma GCC diagnostic pop
        lines =
            admitted(&a, ours_of(&a, "NodeSet", "x", buf_str(&spec)), NULL, &l, cases[i].release);
        assert_int_equal(strstr(lines, "Topology needs Slurm 25.05") == NULL, cases[i].fine);
    }
}

/* The release of the machine, or of the operator, counts where no image names one. */
static void a_controller_is_held_against_the_release_of_its_cluster(void **state)
{
    static const char metrics[] = "  {metrics: {enabled: true}}";
    static const char keys[] = "  {slurmKeyRef: {name: k, key: slurm.jwks}}";
    static const struct {
        const char *spec;
        uint32_t release;
        const char *lines;
    } cases[] = {
        {metrics, SERIES(24, 11), "slurmctld has metrics from Slurm 25.11 on"},
        {metrics, SERIES(25, 11), NULL},
        {metrics, 0, NULL},
        {keys, SERIES(23, 11), "a set of keys (.jwks) needs Slurm 24.05"},
        {keys, SERIES(24, 5), NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct jsn *object = ours_of(&a, "Controller", "x", cases[i].spec);
        const char *lines = admitted(&a, object, NULL, NULL, cases[i].release);

        if (cases[i].lines ? !strstr(lines, cases[i].lines) : lines[0] != '\0')
            fail_msg("row %zu: %s", i, lines);
    }
}

static void an_annotation_is_looked_at_though_the_spec_is_the_same(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *old = ours_of(&a, "Controller", "x", "  {}");
    struct jsn *now = ours_of(&a, "Controller", "x", "  {}");

    (void)state;
    jsn_set(&a, jsn_ensure_object(&a, jsn_key(now, "metadata"), "annotations"),
            API_DRIFT_ANNOTATION, jsn_string(&a, "Never"));
    assert_non_null(strstr(admitted(&a, now, old, NULL, 0), "\"Never\" is not Report or Revert"));
    assert_string_equal(admitted(&a, old, old, NULL, 0), "");
}

static void a_step_that_slurm_does_not_make_is_warned_about(void **state)
{
    static const struct {
        const char *was;
        const char *is;
        const char *says; /* "": nothing */
    } rows[] = {
        {"24.11.5", "26.05.5", ""},
        {"24.11.5", "24.11.7", ""},
        {"22.05.8", "26.05.5", "go by 23.11, then 25.05 first; as long as slurmctld runs that one, "
                               "nothing is changed"},
        {"26.05.5", "24.11.5", "Slurm 26.05 cannot become 24.11 again"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *old = ours_of(&a, "Controller", "x", "  {}");
        struct jsn *now = ours_of(&a, "Controller", "x", "  {}");

        jsn_set_member(&a, jsn_ensure_object(&a, jsn_key(old, "metadata"), "annotations"),
                       STR(API_RELEASE_ANNOTATION), jsn_string(&a, rows[i].was));
        jsn_set_member(&a, jsn_ensure_object(&a, jsn_key(now, "metadata"), "annotations"),
                       STR(API_RELEASE_ANNOTATION), jsn_string(&a, rows[i].is));
        if (rows[i].says[0])
            assert_non_null(strstr(admitted(&a, now, old, NULL, 0), rows[i].says));
        else
            assert_string_equal(admitted(&a, now, old, NULL, 0), "");
    }
}

static void a_change_that_restarts_slurmctld_is_warned_about(void **state)
{
    static const struct {
        const char *kind;
        const char *old;
        const char *now;
        const char *lines;
    } cases[] = {
        {"Controller", "  extraConf: SchedulerTimeSlice=30", "  extraConf: SchedulerTimeSlice=40",
         ""},
        {"Controller", "  {}", "  extraConf: PriorityType=priority/basic",
         "warning: spec.extraConf: slurmctld is restarted for this (jobs go on): PriorityType: "
         "(not set) -> priority/basic\n"},
        {"Controller", NULL, "  extraConf: PriorityType=priority/basic", ""},
        {"NodeSet", "  controllerRef: {name: m}\n  partition: {config: MaxTime=1}",
         "  controllerRef: {name: m}\n  partition: {config: MaxTime=2}", ""},
        {"NodeSet", "  controllerRef: {name: m}\n  partition: {}",
         "  controllerRef: {name: m}\n  partition: {config: SelectTypeParameters=CR_Core}",
         "warning: spec.partition.config: slurmctld is restarted for this (jobs go on): partition "
         "x: SelectTypeParameters: (not set) -> CR_Core\n"},
        {"Partition", "  controllerRef: {name: m}\n  all: true",
         "  controllerRef: {name: m}\n  all: true\n  config: SelectTypeParameters=CR_Core",
         "warning: spec: slurmctld is restarted for this (jobs go on): partition x: "
         "SelectTypeParameters: (not set) -> CR_Core\n"},
        {"Partition", "  controllerRef: {name: m}\n  all: true",
         "  controllerRef: {name: m}\n  all: true\n  state: DOWN", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *old = cases[i].old ? ours_of(&a, cases[i].kind, "x", cases[i].old) : NULL;
        struct jsn *now = ours_of(&a, cases[i].kind, "x", cases[i].now);

        assert_string_equal(admitted(&a, now, old, NULL, RELEASE(22, 5, 8)), cases[i].lines);
    }
}

static void every_kind_has_its_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < API_N_KINDS; i++) {
        assert_non_null(admission_kinds[i]->check);
        assert_non_null(admission_kinds[i]->check_metadata);
    }
}

static void an_object_without_a_name_is_refused(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    API_FOR_KINDS (k)
        assert_string_equal(
            admitted(&a,
                     yaml_of(&a, arena_printf(&a, "{apiVersion: %s/%s, kind: %s, spec: {}}",
                                              k->group, k->version, k->kind)),
                     NULL, NULL, 0),
            "metadata.name: name or generateName is required\n");
}

static void problems_are_told_as_the_api_tells_them(void **state)
{
    static const struct {
        struct api_problem problem;
        const char *reason;
        const char *text;
    } cases[] = {
        {{API_INVALID, NULL, "f", "3", "is odd"}, "FieldValueInvalid", "Invalid value: 3: is odd"},
        {{API_INVALID, NULL, "f", NULL, "is odd"}, "FieldValueInvalid", "Invalid value: is odd"},
        {{API_REQUIRED, NULL, "f", NULL, "no f"}, "FieldValueRequired", "Required value: no f"},
        {{API_FORBIDDEN, NULL, "f", "3", "not f"}, "FieldValueForbidden", "Forbidden: not f"},
        {{API_DUPLICATE, NULL, "f", NULL, "two"},
         "FieldValueDuplicate",
         "Duplicate value: \"\": two"},
        {{API_NOT_FOUND, NULL, "f", "\"x\"", "gone"},
         "FieldValueNotFound",
         "Not found: \"x\": gone"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct admission_cause cause = admission_cause_of(&a, &cases[i].problem);

        assert_string_equal(cause.reason, cases[i].reason);
        assert_string_equal(cause.text, cases[i].text);
    }
}

/* What is there already: a Controller with the given extraConf, two NodeSets, a machine. */
static struct jsn *count_world(struct arena *a, const char *extra_conf)
{
    struct jsn *world = jsn_array(a);

    jsn_append(a, world,
               ours_of(a, "Controller", "m", arena_printf(a, "  {extraConf: '%s'}", extra_conf)));
    jsn_append(a, world, ours_of(a, "NodeSet", "one", "  {controllerRef: {name: m}, replicas: 6}"));
    jsn_append(a, world, ours_of(a, "NodeSet", "x", "  {controllerRef: {name: m}, replicas: 2}"));
    jsn_append(a, world,
               ours_of(a, "NodeSet", "far", "  {controllerRef: {name: other}, replicas: 90}"));
    jsn_append(a, world,
               yaml_of(a, "{apiVersion: v1, kind: Node, metadata: {name: here}, status: "
                          "{allocatable: {pods: '500'}}}"));
    return world;
}

static void no_more_nodes_than_the_cluster_takes(void **state)
{
    static const struct {
        const char *extra_conf;
        int64_t before; /* 0: new */
        int64_t now;
        const char *lines;
    } cases[] = {
        {"MaxNodeCount=10", 0, 4, ""},
        {"MaxNodeCount=10", 2, 5,
         "spec.replicas: with the 6 nodes of other NodeSets the cluster would have 11 nodes, but "
         "MaxNodeCount is 10 in spec.extraConf of Controller m; raise it first, or ask for "
         "fewer\n"},
        {"MaxNodeCount=7", 3, 2, ""}, /* fewer than before is always fine */
        {"MaxNodeCount=7", 2, 2, ""},
        {"", 2, 500, ""},
        {"", 2, 501,
         "spec.replicas: the machine takes 500 pods (status.allocatable.pods); ask for "
         "fewer\n"},
        {"", 2, 65536,
         "spec.replicas: with the 6 nodes of other NodeSets the cluster would have 65542 nodes, "
         "but "
         "the operator sets MaxNodeCount to 65536 at most; set it yourself in spec.extraConf of "
         "the "
         "Controller, or ask for fewer\nspec.replicas: the machine takes 500 pods "
         "(status.allocatable.pods); ask for fewer\n"},
        {"", 2, 2147483647, "spec.replicas: 2147483647 is above 65536\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_lookup l = api_lookup_over(count_world(&a, cases[i].extra_conf));
        struct jsn *now = ours_of(&a, "NodeSet", "x", "  {controllerRef: {name: m}, slurmd: {}}");
        struct jsn *old = ours_of(&a, "NodeSet", "x", "  {controllerRef: {name: m}}");

        jsn_set_path(&a, now, "spec.replicas", jsn_int(&a, cases[i].now));
        jsn_set_path(&a, old, "spec.replicas", jsn_int(&a, cases[i].before));
        assert_string_equal(admitted(&a, now, cases[i].before ? old : NULL, &l, 0), cases[i].lines);
    }
}

static void no_nodeset_takes_the_name_of_another_as_a_feature(void **state)
{
    static const struct {
        const char *name;
        const char *before; /* extraConf; NULL: new */
        const char *now;
        const char *lines;
    } cases[] = {
        {"w", NULL, "Features=two,fast", ""},
        {"one", "", "Features=one", ""}, /* its own name */
        {"w", NULL, "feature=fast,one",
         "spec.extraConf: Features: one of them is the name of NodeSet one in Slurm, whose "
         "partitions these nodes would join; choose another, or use a Partition over both\n"},
        {"w", "Features=a", "Features=\"a,x\"",
         "spec.extraConf: Features: one of them is the name of NodeSet x in Slurm, whose "
         "partitions "
         "these nodes would join; choose another, or use a Partition over both\n"},
        {"w", "Features=one", "Features=one", ""}, /* was accepted before */
        {"w", NULL, "Features=far", ""},           /* of another cluster */
        {"slow", NULL, "",
         "metadata.name: nodes of NodeSet z have this name as a feature (spec.extraConf) and would "
         "join the partitions of this one; choose another name\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *world = count_world(&a, "");
        struct api_lookup l = api_lookup_over(world);
        struct jsn *now =
            ours_of(&a, "NodeSet", cases[i].name, "  {controllerRef: {name: m}, slurmd: {}}");
        struct jsn *old = ours_of(&a, "NodeSet", cases[i].name, "  {controllerRef: {name: m}}");

        jsn_append(&a, world,
                   ours_of(&a, "NodeSet", "z",
                           "  {controllerRef: {name: m}, extraConf: 'Gres=gpu:1 Feature=slow'}"));
        jsn_set_path(&a, now, "spec.extraConf", jsn_string(&a, cases[i].now));
        if (cases[i].before)
            jsn_set_path(&a, old, "spec.extraConf", jsn_string(&a, cases[i].before));
        assert_string_equal(admitted(&a, now, cases[i].before ? old : NULL, &l, 0), cases[i].lines);
    }
}

static void features_that_no_node_can_have_are_refused(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *now = ours_of(&a, "NodeSet", "x", "  {controllerRef: {name: m}}");

    (void)state;
    buf_adds(&b, "Features=x,f1,f1");
    for (int i = 2; i <= 127; i++)
        buf_printf(&b, ",f%d", i);
    jsn_set_path(&a, now, "spec.extraConf", jsn_string(&a, buf_str(&b)));
    assert_string_equal(admitted(&a, now, NULL, NULL, 0), "");
    buf_adds(&b, ",last");
    jsn_set_path(&a, now, "spec.extraConf", jsn_string(&a, buf_str(&b)));
    assert_string_equal(admitted(&a, now, NULL, NULL, 0),
                        "spec.extraConf: Features: there are too many: a node has at most 128, the "
                        "name of its NodeSet among them\n");
}

static void max_node_count_is_not_lowered_below_what_is_declared(void **state)
{
    static const struct {
        const char *before;
        const char *now;
        const char *lines;
    } cases[] = {
        {"MaxNodeCount=20", "MaxNodeCount=8", ""},
        {"MaxNodeCount=20", "MaxNodeCount=7",
         "spec.extraConf: MaxNodeCount=7 is too low: the NodeSets of this cluster declare 8 nodes "
         "(spec.replicas); scale them down first\n"},
        {"", "KillWait=3\nMaxNodeCount=1",
         "spec.extraConf: MaxNodeCount=1 is too low: the NodeSets of this cluster declare 8 nodes "
         "(spec.replicas); scale them down first\n"},
        {"MaxNodeCount=5", "MaxNodeCount=6", ""}, /* was too low before, and is less so now */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_lookup l = api_lookup_over(count_world(&a, ""));
        struct jsn *old = ours_of(&a, "Controller", "m", "  {}");
        struct jsn *now = ours_of(&a, "Controller", "m", "  {}");

        jsn_set_path(&a, old, "spec.extraConf", jsn_string(&a, cases[i].before));
        jsn_set_path(&a, now, "spec.extraConf", jsn_string(&a, cases[i].now));
        assert_string_equal(admitted(&a, now, old, &l, RELEASE(23, 11, 0)), cases[i].lines);
    }
}

/* "QUJD" stands for three bytes, KEY for 48. */
#define KEY "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"
static void keys_of_clusters_are_checked_where_they_are_written(void **state)
{
    static const struct {
        const char *name;
        const char *now;
        const char *old; /* NULL: it is new */
        const char *says;
    } cases[] = {
        {"main-auth-slurm", "{'data':{'slurm.key':''}}", NULL,
         "data[slurm.key]: the key of Controller main is empty"},
        {"main-auth-slurm", "{'data':{}}", "{'data':{'slurm.key':'" KEY "'}}",
         "data[slurm.key]: the key of Controller main is empty"},
        {"main-auth-slurm", "{'data':{'slurm.key':'QUJD'}}", NULL,
         "data[slurm.key]: the key of Controller main has 3 bytes"},
        {"main-auth-slurm", "{'stringData':{'slurm.key':'ABC'}}", NULL,
         "data[slurm.key]: the key of Controller main has 3 bytes"},
        {"main-auth-slurm", "{'data':{'slurm.key':'" KEY "'}}", NULL, ""},
        {"main-auth-jwt", "{'data':{'jwt.key':'QUJD'}}", NULL,
         "data[jwt.key]: the key for tokens of Controller main has 3 bytes"},
        /* as bad as it was before: a label is changed; a Secret of others */
        {"main-auth-slurm", "{'data':{'slurm.key':'QUJD'}}", "{'data':{'slurm.key':'QUJD'}}", ""},
        {"mine", "{'data':{'slurm.key':''}}", NULL, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jsn *all = json_of(
            &a, "[{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':"
                "'main','namespace':'slurm'},'spec':{}}]");
        struct api_lookup l = api_lookup_over(all);
        struct api_problems p = {.arena = &a};
        struct jsn *now = json_of(&a, cases[i].now);
        struct admission_request in = {now, cases[i].old ? json_of(&a, cases[i].old) : NULL, &l,
                                       RELEASE(22, 5, 8)};

        jsn_set_path(&a, now, "metadata.name", jsn_string(&a, cases[i].name));
        jsn_set_path(&a, now, "metadata.namespace", jsn_string(&a, "slurm"));
        admission_check_secret(&in, &p);
        assert_int_equal(p.errors, cases[i].says[0] ? 1 : 0);
        if (p.errors)
            assert_true(starts_with(lines_of(&a, &p), cases[i].says));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_clusters_are_checked_where_they_are_written),
        cmocka_unit_test(every_kind_has_its_rules),
        cmocka_unit_test(an_object_without_a_name_is_refused),
        cmocka_unit_test(problems_are_told_as_the_api_tells_them),
        cmocka_unit_test(seeds_are_admitted_as_they_stand),
        cmocka_unit_test(what_was_accepted_never_blocks_its_own_end),
        cmocka_unit_test(objects_of_others_are_none_of_our_business),
        cmocka_unit_test(what_cannot_be_decoded_is_one_problem),
        cmocka_unit_test(no_more_nodes_than_the_cluster_takes),
        cmocka_unit_test(no_nodeset_takes_the_name_of_another_as_a_feature),
        cmocka_unit_test(features_that_no_node_can_have_are_refused),
        cmocka_unit_test(max_node_count_is_not_lowered_below_what_is_declared),
        cmocka_unit_test(a_controller_is_held_against_the_release_of_its_cluster),
        cmocka_unit_test(an_annotation_is_looked_at_though_the_spec_is_the_same),
        cmocka_unit_test(a_step_that_slurm_does_not_make_is_warned_about),
        cmocka_unit_test(a_change_that_restarts_slurmctld_is_warned_about),
        cmocka_unit_test(the_release_comes_from_the_controller_then_the_operator_then_the_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
