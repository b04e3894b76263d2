/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the kind Partition: its line of slurm.conf, what is refused, who has which name. */
#include "src/api/test/objects.h"

#include "src/api/partition.h"
#include "src/api/partition_conf.h"
#include "src/slurm/profile.h"

static struct api_partition partition_of(struct arena *a, const char *name, const char *spec)
{
    const char *with_ref = arena_printf(a, "  controllerRef: {name: main}\n%s", spec);
    struct api_partition part;
    struct err e = {0};

    if (api_partition_decode(a, ours_of(a, "Partition", name, with_ref), &part, &e) < 0)
        fail_msg("%s", e.text);
    return part;
}

static void an_object_gives_a_line_in_the_order_of_the_table(void **state)
{
    static const struct {
        const char *spec;
        const char *nodes;
        const char *line;
    } cases[] = {
        {"", "", "PartitionName=debug State=UP"},
        {"  all: true", "ALL", "PartitionName=debug Nodes=ALL State=UP"},
        {"  partitionName: Big_1", "a,b", "PartitionName=Big_1 Nodes=a,b State=UP"},
        {"  maxTime: 60\n  default: true\n  state: DRAIN", "a",
         "PartitionName=debug Nodes=a State=DRAIN Default=YES MaxTime=60"},
        {"  maxTime: 1-00:00:00\n  defaultTime: '30'\n  maxNodes: UNLIMITED\n  minNodes: 0", "a",
         "PartitionName=debug Nodes=a State=UP MaxTime=1-00:00:00 DefaultTime=30 "
         "MaxNodes=UNLIMITED MinNodes=0"},
        {"  allowGroups: [a, b]\n  denyQos: []\n  hidden: false\n  lln: true\n  qos: ''", "a",
         "PartitionName=debug Nodes=a State=UP AllowGroups=a,b Hidden=NO LLN=YES"},
        {"  oversubscribe: 'FORCE:2'\n  preemptMode: REQUEUE\n  defMemPerCPU: 1024\n"
         "  tresBillingWeights: 'CPU=1.0,Mem=0.25G'\n  config: ' SelectTypeParameters=CR_Core '",
         "a",
         "PartitionName=debug Nodes=a State=UP DefMemPerCPU=1024 OverSubscribe=FORCE:2 "
         "PreemptMode=REQUEUE TRESBillingWeights=CPU=1.0,Mem=0.25G SelectTypeParameters=CR_Core"},
        {"  suspendTime: INFINITE\n  resumeTimeout: 60\n  powerDownOnIdle: true\n  rootOnly: true",
         "a",
         "PartitionName=debug Nodes=a State=UP RootOnly=YES PowerDownOnIdle=YES "
         "SuspendTime=INFINITE ResumeTimeout=60"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_partition part = partition_of(&a, "debug", cases[i].spec);

        assert_string_equal(api_partition_line(&a, &part, cases[i].nodes, true), cases[i].line);
    }
}

static void bad_partitions_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *name;
        const char *spec;
        const char *lines;
    } cases[] = {
        {"debug", "  all: true", ""},
        {"debug", "  nodeSetRefs: [{name: a}, {name: b}]\n  nodes: 'r[1-4]n[01-16]'", ""},
        {"debug", "",
         "spec.nodeSetRefs: must name the NodeSets of the partition; or give nodes, or all: "
         "true\n"},
        {"debug", "  all: true\n  nodes: n1",
         "spec.all: is all nodes of the cluster: leave nodeSetRefs and nodes out, or all\n"},
        {"debug", "  nodeSetRefs: [{name: a}]\n  nodes: ALL",
         "spec.nodes: is all nodes of the cluster: leave nodeSetRefs out, or write all: true\n"},
        {"debug", "  nodeSetRefs: [{name: a}, {name: a}]",
         "spec.nodeSetRefs[1].name: stands twice\n"},
        {"debug", "  nodeSetRefs: [{}]",
         "spec.nodeSetRefs[0].name: must name an object of this namespace\n"},
        {"debug", "  nodes: 'n[1-'",
         "spec.nodes: is not a host list: host list 'n[1-', column 2: the bracket is not closed\n"},
        {"default", "  all: true",
         "metadata.name: the name of a partition is taken by Slurm for the defaults of all other "
         "partitions; choose another name\n"},
        {"debug", "  all: true\n  partitionName: 'a b'",
         "spec.partitionName: the name of a partition may hold only letters, digits, '-', '_' and "
         "'.'\n"},
        {"debug", "  all: true\n  oversubscribe: MAYBE",
         "spec.oversubscribe: is not NO, EXCLUSIVE, YES, YES:n (n from 2), FORCE or FORCE:n\n"},
        {"debug", "  all: true\n  priorityTier: 70000",
         "spec.priorityTier: is not a number from 0 to 65535, INFINITE or UNLIMITED\n"},
        {"debug", "  all: true\n  maxNodes: -1",
         "spec.maxNodes: is not a number from 0 to 4294967295, INFINITE or UNLIMITED\n"},
        {"debug", "  all: true\n  maxTime: 60\n  config: MaxTime=30 Hidden=YES",
         "spec.config: MaxTime is set by spec.maxTime already; leave it out of config\n"},
        {"debug", "  all: true\n  config: state=DOWN",
         "spec.config: state is set by spec.state already; leave it out of config\n"},
        {"debug", "  all: true\n  oversubscribe: 'NO'\n  config: Shared=YES",
         "spec.config: Shared is set by spec.oversubscribe already; leave it out of config\n"},
        {"debug", "  all: true\n  config: Nodes=a",
         "spec.config: partition debug: Nodes is set already\n"},
        {"debug", "  all: true\n  config: Colour=red",
         "spec.config: partition debug: unknown key Colour\n"},
        {"debug", "  all: true\n  maxTime: 60\n  defaultTime: 90",
         "warning: spec: partition debug: DefaultTime=90 is above MaxTime=60 and is ignored\n"},
        {"debug", "  all: true\n  allowQos: [a]\n  denyQos: [b]",
         "warning: spec: partition debug: DenyQos is ignored beside AllowQos\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct api_partition part = partition_of(&a, cases[i].name, cases[i].spec);

        api_partition_check(&part, 0, &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

static void settings_are_held_against_the_release(void **state)
{
    static const struct {
        const char *spec;
        uint32_t release;
        const char *lines;
    } cases[] = {
        {"  exclusiveTopo: true", RELEASE(22, 5, 8),
         "spec.exclusiveTopo: ExclusiveTopo needs Slurm 24.05; this cluster runs 22.05\n"},
        {"  exclusiveTopo: true", SERIES(24, 5), ""},
        {"  exclusiveTopo: true", 0, ""},
        {"  exclusive: NODE", SERIES(24, 11),
         "spec.exclusive: Exclusive needs Slurm 26.05; this cluster runs 24.11\n"},
        {"  exclusive: NODE", SERIES(26, 5), ""},
        {"  exclusive: TOPO", 0, ""},
        {"  exclusive: SOME", SERIES(26, 5), "spec.exclusive: is not NO, NODE, USER or TOPO"},
        {"  exclusive: USER\n  exclusiveUser: true", SERIES(26, 5),
         "spec.exclusive: says the same as spec.exclusiveUser in another way"},
        {"  exclusive: NODE\n  oversubscribe: EXCLUSIVE", SERIES(26, 5),
         "spec.exclusive: says the same as spec.oversubscribe in another way"},
        {"  topology: rack", SERIES(24, 11),
         "spec.topology: Topology needs Slurm 25.05; this cluster runs 24.11\n"},
        {"  nodes: +n1", SERIES(26, 5), "spec.nodes: adds to or takes from what is there"},
        {"  nodes: 'n1,-n2'", 0, "spec.nodes: adds to or takes from what is there"},
        {"  nodes: 'block{b1}'", SERIES(24, 5),
         "has a function in braces, which needs Slurm 24.11; this cluster runs 24.05\n"},
        {"  nodes: 'block{b1}'", SERIES(24, 11), ""},
        {"  maxCPUsPerSocket: 4", RELEASE_OLDEST,
         "spec.maxCPUsPerSocket: MaxCPUsPerSocket needs Slurm 23.02; this cluster runs 22.05\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        bool has_nodes = strstr(cases[i].spec, "nodes:") != NULL;
        struct api_partition part = partition_of(
            &a, "x", arena_printf(&a, "%s%s", has_nodes ? "" : "  all: true\n", cases[i].spec));

        api_partition_check(&part, cases[i].release, &p);
        if (cases[i].lines[0] ? !strstr(lines_of(&a, &p), cases[i].lines) : p.errors > 0)
            fail_msg("row %zu: %s", i, lines_of(&a, &p));
    }
}

static void config_is_read_as_slurm_reads_it(void **state)
{
    static const struct {
        const char *config;
        bool is_default;
    } cases[] = {
        {"", false},
        {"Default=YES", true},
        {"MaxTime=1 default=yes", true},
        {"Default=NO", false},
        {"Default=YES Default=NO", false},
        {"QOS=\"Default=YES\"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(partition_config_is_default(str_of(cases[i].config)), cases[i].is_default);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_gives_a_line_in_the_order_of_the_table),
        cmocka_unit_test(bad_partitions_are_refused_with_a_reason),
        cmocka_unit_test(settings_are_held_against_the_release),
        cmocka_unit_test(config_is_read_as_slurm_reads_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
