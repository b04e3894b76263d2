/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the admission of Partitions, and of NodeSets beside them: names that are taken. */
#include "src/api/test/objects.h"

#include "src/admission/admission.h"
#include "src/api/test/lookup_over.h"
#include "src/slurm/profile.h"

static struct jsn *make_others(struct arena *a)
{
    struct jsn *all = jsn_array(a);

    jsn_append(a, all,
               ours_of(a, "Controller", "main",
                       "  extraConf: |\n    PartitionName=DEFAULT MaxTime=60\n"
                       "    PartitionName=extra Nodes=ALL Default=YES\n"));
    jsn_append(a, all, ours_of(a, "Controller", "other", "  extraConf: PartitionName=far\n"));
    jsn_append(a, all,
               ours_of(a, "NodeSet", "compute",
                       "  controllerRef: {name: main}\n  partition: {config: Default=YES}"));
    jsn_append(a, all, ours_of(a, "NodeSet", "gpu", "  controllerRef: {name: main}"));
    jsn_append(a, all,
               ours_of(a, "NodeSet", "distant",
                       "  controllerRef: {name: other}\n  partition: {enabled: true}"));
    jsn_append(a, all,
               ours_of(a, "Partition", "long",
                       "  controllerRef: {name: main}\n  partitionName: week\n  all: true"));
    return all;
}

static const char *admitted(struct arena *a, const struct jsn *object, const struct jsn *old)
{
    struct api_lookup l = api_lookup_over(make_others(a));
    struct api_problems p = {.arena = a};
    struct admission_request in = {object, old, &l, RELEASE(22, 5, 8)};

    admission_check(&in, &p);
    return lines_of(a, &p);
}

static void a_name_belongs_to_one_partition_of_a_cluster(void **state)
{
    static const struct {
        const char *kind;
        const char *name;
        const char *spec;
        const char *lines;
    } cases[] = {
        {"Partition", "free", "  all: true", ""},
        {"Partition", "gpu", "  nodeSetRefs: [{name: gpu}]", ""},
        {"Partition", "far", "  all: true", ""},
        {"Partition", "distant", "  all: true", ""},
        {"Partition", "DEFAULT_", "  all: true", ""},
        {"Partition", "long", "  partitionName: week\n  all: true", ""},
        {"Partition", "extra", "  all: true",
         "metadata.name: Controller main (extraConf) of the same cluster has a partition extra "
         "already; choose another name\n"},
        {"Partition", "x", "  all: true\n  partitionName: compute",
         "spec.partitionName: NodeSet compute of the same cluster has a partition compute already; "
         "choose another name\n"},
        {"Partition", "week", "  all: true",
         "metadata.name: Partition long of the same cluster has a partition week already; choose "
         "another name\n"},
        {"NodeSet", "week", "  partition: {}",
         "spec.partition: Partition long of the same cluster has a partition week already; disable "
         "this one or choose another name\n"},
        {"NodeSet", "week", "  replicas: 1", ""},
        {"NodeSet", "extra", "  partition: {}",
         "spec.partition: Controller main (extraConf) of the same cluster has a partition extra "
         "already; disable this one or choose another name\n"},
        {"Controller", "main", "  extraConf: PartitionName=week Nodes=ALL",
         "spec.extraConf: Partition long has a partition week already; remove the line or rename "
         "one of both\n"},
        {"Controller", "main", "  extraConf: PartitionName=compute Nodes=ALL",
         "spec.extraConf: NodeSet compute has a partition compute already; remove the line or "
         "rename one of both\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const char *ref =
            strcmp(cases[i].kind, "Controller") == 0 ? "" : "  controllerRef: {name: main}\n";
        struct jsn *object =
            ours_of(&a, cases[i].kind, cases[i].name, arena_printf(&a, "%s%s", ref, cases[i].spec));

        assert_string_equal(admitted(&a, object, NULL), cases[i].lines);
    }
}

static void what_is_missing_is_only_warned_about(void **state)
{
    static const struct {
        const char *spec;
        const char *lines;
    } cases[] = {
        {"  controllerRef: {name: main}\n  nodeSetRefs: [{name: gpu}, {name: nil}, {name: "
         "distant}]",
         "warning: spec.nodeSetRefs[1].name: there is no NodeSet nil in namespace slurm yet; the "
         "partition is without its nodes until then\n"
         "warning: spec.nodeSetRefs[2].name: NodeSet distant belongs to Controller other: its "
         "nodes "
         "cannot be in a partition of main\n"},
        {"  controllerRef: {name: nil}\n  all: true",
         "warning: spec.controllerRef.name: there is no Controller nil in namespace slurm yet\n"},
        {"  controllerRef: {name: main}\n  all: true\n  default: true",
         "warning: spec.default: partition extra (Controller main) is the default of the cluster "
         "and stays it until that is changed: there can be only one\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(admitted(&a, ours_of(&a, "Partition", "x", cases[i].spec), NULL),
                            cases[i].lines);
    }
}

static void a_partition_stays_in_its_cluster(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct jsn *old = ours_of(&a, "Partition", "x", "  {controllerRef: {name: main}, all: true}");
    struct jsn *now = ours_of(&a, "Partition", "x", "  {controllerRef: {name: other}, all: true}");

    (void)state;
    assert_string_equal(admitted(&a, now, old),
                        "spec.controllerRef: cannot be changed: jobs do not move between clusters; "
                        "make another Partition\n");
    assert_string_equal(admitted(&a, ours_of(&a, "Partition", "x", "  {all: true}"), NULL),
                        "spec.controllerRef: is required\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_belongs_to_one_partition_of_a_cluster),
        cmocka_unit_test(what_is_missing_is_only_warned_about),
        cmocka_unit_test(a_partition_stays_in_its_cluster),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
