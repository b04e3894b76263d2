/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of Partitions in slurm.conf: their lines, and that a bad one concerns nobody else. */
#include "src/build/test/clusters.h"

#include "src/build/controller_config.h"

#define CONTROLLER(extra)                                                                          \
    "apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\n"                                     \
    "metadata: {name: main, namespace: slurm}\nspec:\n  extraConf: |\n    "                        \
    "ReturnToService=2\n" extra
#define NODESET(name)                                                                              \
    "---\napiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nmetadata: {name: " name             \
    ", namespace: slurm}\nspec:\n  controllerRef: {name: main}\n"
#define PARTITION_OF(meta, spec)                                                                   \
    "---\napiVersion: slurmkeeper.dev/v1alpha1\nkind: Partition\nmetadata: {" meta                 \
    ", namespace: slurm}\nspec:\n  controllerRef: {name: main}\n" spec
#define PARTITION(name, spec) PARTITION_OF("name: " name, spec)
#define OLD ", creationTimestamp: '2026-01-09T10:00:00Z'"
#define NEW ", creationTimestamp: '2026-02-09T10:00:00Z'"

static const char *conf_of(struct arena *a, uint32_t release, const char *yaml,
                           struct api_problems *p, int *ret)
{
    struct test_cluster t = {0};
    struct build_config config;

    cluster_of(a, &t, release, yaml);
    *ret = build_config(a, &t.cluster, &config, p);
    return build_config_file(&config, "slurm.conf");
}

/* All lines of partitions. */
static const char *partitions_in(struct arena *a, const char *text)
{
    AUTO(buf_done) struct buf b = {0};
    struct str rest = str_of(text);
    struct str line;

    while (str_split(&rest, '\n', &line))
        if (str_starts(line, "PartitionName="))
            buf_printf(&b, STR_FMT "\n", STR_ARG(line));
    return arena_strdup(a, buf_str(&b));
}

static void the_example_is_kept_to_the_letter(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(free) char *yaml = NULL;
    struct api_problems p = {.arena = &a};
    struct err e = {0};
    const char *text;
    size_t n;
    int r;

    (void)state;
    if (file_read(SOURCE_ROOT "/examples/partition.yaml", (size_t)1 << 20, &yaml, &n, &e) < 0)
        fail_msg("%s", e.text);
    text = conf_of(&a, RELEASE(22, 5, 8), yaml, &p, &r);
    assert_string_equal(lines_of(&a, &p), "");
    assert_int_equal(r, 0);
    assert_golden("partition-22.05.conf", text);
}

static void partitions_make_lines_behind_nodesets(void **state)
{
    static const struct {
        const char *yaml;
        const char *lines;
        const char *told;
    } cases[] = {
        {CONTROLLER("") PARTITION("b", "  all: true\n") PARTITION("a", "  all: true\n"),
         "PartitionName=a Nodes=ALL State=UP\nPartitionName=b Nodes=ALL State=UP\n", ""},
        {CONTROLLER("    PartitionName=z Nodes=ALL\n")
             PARTITION("a", "  nodeSetRefs: [{name: w}, {name: x}]\n  maxTime: 60\n") NODESET("x")
                 NODESET("w") "  template: {spec: {hostname: host-}}\n  partition: {}\n",
         "PartitionName=host Nodes=host \nPartitionName=a Nodes=host,x State=UP MaxTime=60\n"
         "PartitionName=z Nodes=ALL\n",
         ""},
        {CONTROLLER("    NodeName=r[1-4] State=CLOUD\n")
             PARTITION("a", "  nodes: 'r[1-2]'\n  nodeSetRefs: [{name: x}]\n") NODESET("x"),
         "PartitionName=a Nodes=x,r[1-2] State=UP\n", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *text = conf_of(&a, RELEASE(22, 5, 8), cases[i].yaml, &p, &r);

        assert_string_equal(partitions_in(&a, text), cases[i].lines);
        assert_string_equal(lines_of(&a, &p), cases[i].told);
        assert_int_equal(r, 0);
    }
}

#define GOOD PARTITION("good", "  all: true\n")
#define GOOD_LINE "PartitionName=good Nodes=ALL State=UP\n"

static void a_bad_partition_concerns_nobody_else(void **state)
{
    static const struct {
        const char *yaml;
        const char *lines;
        const char *told;
    } cases[] = {
        /* a reference to nothing */
        {CONTROLLER("") PARTITION("a", "  nodeSetRefs: [{name: x}, {name: nil}]\n") NODESET("x")
             GOOD,
         "PartitionName=a Nodes=x State=UP\n" GOOD_LINE,
         "warning: Partition slurm/a: spec.nodeSetRefs[1].name: there is no NodeSet nil in this "
         "cluster; the partition is without its nodes\n"},
        {CONTROLLER("") PARTITION("a", "  nodeSetRefs: [{name: nil}]\n") GOOD,
         "PartitionName=a State=UP\n" GOOD_LINE,
         "warning: Partition slurm/a: spec.nodeSetRefs[0].name: there is no NodeSet nil in this "
         "cluster; the partition is without its nodes\n"},
        /* names that are taken */
        {CONTROLLER("    PartitionName=a Nodes=ALL\n") PARTITION("a", "  all: true\n") GOOD,
         GOOD_LINE "PartitionName=a Nodes=ALL\n",
         "Partition slurm/a: metadata.name: Controller main (extraConf) of the same cluster has a "
         "partition a already; this one is left out until it has another name\n"},
        {CONTROLLER("") NODESET("a") "  partition: {}\n" PARTITION("a", "  all: true\n") GOOD,
         "PartitionName=a Nodes=a \n" GOOD_LINE,
         "Partition slurm/a: metadata.name: NodeSet a of the same cluster has a partition a "
         "already; this one is left out until it has another name\n"},
        {CONTROLLER("") PARTITION_OF("name: a" NEW, "  all: true\n  partitionName: c\n")
             PARTITION_OF("name: b" OLD, "  all: true\n  partitionName: c\n  maxTime: 1\n") GOOD,
         "PartitionName=c Nodes=ALL State=UP MaxTime=1\n" GOOD_LINE,
         "Partition slurm/a: spec.partitionName: Partition b of the same cluster has a partition c "
         "already; this one is left out until it has another name\n"},
        /* what Slurm would refuse */
        {CONTROLLER("") PARTITION("a", "  all: true\n  oversubscribe: MAYBE\n") GOOD, GOOD_LINE,
         "Partition slurm/a: spec.oversubscribe: is not NO, EXCLUSIVE, YES, YES:n (n from 2), "
         "FORCE "
         "or FORCE:n\n"},
        {CONTROLLER("") PARTITION("a", "  nodes: r1\n") GOOD, GOOD_LINE,
         "Partition slurm/a: spec.nodes: partition a: there is no node or node set r1 in this "
         "configuration (nodes of NodeSets are named by nodeSetRefs)\n"},
        {CONTROLLER("") PARTITION("a", "  all: true\n  exclusiveTopo: true\n") GOOD, GOOD_LINE,
         "Partition slurm/a: spec.exclusiveTopo: ExclusiveTopo needs Slurm 24.05; this cluster "
         "runs 22.05\n"},
        {CONTROLLER("") PARTITION("a", "  all: true\n  tresBillingWeights: 'GRES/gpu=2'\n") GOOD,
         GOOD_LINE,
         "Partition slurm/a: spec: partition a: TRESBillingWeights names GRES/gpu, which is not in "
         "AccountingStorageTRES\n"},
        /* lines that would run into others */
        {CONTROLLER("") PARTITION("a", "  all: true\n  config: 'LLN=YES\\'\n") GOOD, GOOD_LINE,
         "Partition slurm/a: spec.config: partition a: a '\\' at the end would join the line with "
         "the "
         "next one\n"},
        {CONTROLLER("") PARTITION("a", "  all: true\n  config: \"LLN=YES\\nClusterName=evil\"\n")
             GOOD,
         GOOD_LINE,
         "Partition slurm/a: spec.config: partition a: the settings of a partition must stand in "
         "one line\n"},
        {CONTROLLER("") PARTITION("a", "  all: true\n  qos: \"x\\nClusterName=evil\"\n") GOOD,
         GOOD_LINE, "Partition slurm/a: spec.qos: must stand in one line, without '\\'\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *text = conf_of(&a, RELEASE(22, 5, 8), cases[i].yaml, &p, &r);

        assert_string_equal(lines_of(&a, &p), cases[i].told);
        assert_string_equal(partitions_in(&a, text), cases[i].lines);
        assert_int_equal(r, 0);
        assert_null(strstr(text, "evil"));
    }
}

static void a_line_that_was_good_stays_when_a_worse_one_comes(void **state)
{
    static const struct {
        const char *line;
        const char *lines;
    } cases[] = {
        {"PartitionName=a Nodes=ALL State=UP MaxTime=5",
         "PartitionName=a Nodes=ALL State=UP MaxTime=5\n" GOOD_LINE},
        {"PartitionName=a Nodes=gone State=UP", GOOD_LINE},
        {"PartitionName=other Nodes=ALL", GOOD_LINE},
        {"ClusterName=evil", GOOD_LINE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *yaml = arena_printf(
            &a,
            CONTROLLER("") PARTITION("a", "  all: true\n  maxNodes: few\nstatus: {line: '%s'}\n")
                GOOD,
            cases[i].line);
        const char *text = conf_of(&a, RELEASE(22, 5, 8), yaml, &p, &r);

        assert_string_equal(partitions_in(&a, text), cases[i].lines);
        assert_int_equal(r, 0);
        assert_int_equal(p.errors, 1);
    }
}

static void one_partition_is_the_default(void **state)
{
    static const struct {
        const char *yaml;
        const char *lines;
        const char *told;
    } cases[] = {
        {CONTROLLER("") PARTITION_OF("name: a" NEW, "  all: true\n  default: true\n")
             PARTITION_OF("name: b" OLD, "  all: true\n  default: true\n"),
         "PartitionName=a Nodes=ALL State=UP\nPartitionName=b Nodes=ALL State=UP Default=YES\n",
         "warning: Partition slurm/a: spec.default: partition b is the default of the cluster "
         "already, and there can be only one\n"},
        {CONTROLLER("") NODESET("m") "  partition: {config: Default=YES}\n" PARTITION(
             "a", "  all: true\n  config: Default=YES SelectTypeParameters=CR_Core\n"),
         "PartitionName=m Nodes=m Default=YES\n"
         "PartitionName=a Nodes=ALL State=UP SelectTypeParameters=CR_Core\n",
         "warning: Partition slurm/a: spec.default: partition m is the default of the cluster "
         "already, and there can be only one\n"},
        {CONTROLLER("    PartitionName=z Nodes=ALL Default=YES\n")
             PARTITION("a", "  all: true\n  default: true\n"),
         "PartitionName=a Nodes=ALL State=UP\nPartitionName=z Nodes=ALL Default=YES\n",
         "warning: Partition slurm/a: spec.default: partition z is the default of the cluster "
         "already, and there can be only one\n"},
        {CONTROLLER("") PARTITION("a", "  all: true\n  default: false\n")
             PARTITION("b", "  all: true\n  default: true\n"),
         "PartitionName=a Nodes=ALL State=UP Default=NO\n"
         "PartitionName=b Nodes=ALL State=UP Default=YES\n",
         ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *text = conf_of(&a, RELEASE(22, 5, 8), cases[i].yaml, &p, &r);

        assert_string_equal(partitions_in(&a, text), cases[i].lines);
        assert_string_equal(lines_of(&a, &p), cases[i].told);
        assert_int_equal(r, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_is_kept_to_the_letter),
        cmocka_unit_test(partitions_make_lines_behind_nodesets),
        cmocka_unit_test(a_bad_partition_concerns_nobody_else),
        cmocka_unit_test(a_line_that_was_good_stays_when_a_worse_one_comes),
        cmocka_unit_test(one_partition_is_the_default),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
