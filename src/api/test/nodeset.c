/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the kind NodeSet: decoding, its name in Slurm, what is refused, its status. */
#include "src/api/test/objects.h"

#include "src/api/nodeset.h"
#include "src/api/test/lookup_over.h"
#include "src/slurm/profile.h"

static struct nodeset nodeset_of(struct arena *a, const char *name, const char *spec)
{
    const char *with_ref = arena_printf(a, "  controllerRef: {name: main}\n%s", spec);
    struct nodeset ns;
    struct err e = {0};

    if (nodeset_decode(a, ours_of(a, "NodeSet", name, with_ref), &ns, &e) < 0)
        fail_msg("%s", e.text);
    return ns;
}

static void what_is_left_out_has_its_default(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct nodeset ns = nodeset_of(&a, "compute", "");

    (void)state;
    assert_int_equal(ns.spec.replicas, 1);
    assert_int_equal(ns.spec.scaling_mode, NODESET_STATEFULSET);
    assert_int_equal(ns.spec.update_strategy.type, NODESET_ROLLING_UPDATE);
    assert_string_equal(ns.spec.update_strategy.max_unavailable.str, "25%");
    assert_int_equal(ns.spec.claim_policy.when_deleted, NODESET_RETAIN);
    assert_int_equal(ns.spec.claim_policy.when_scaled, NODESET_RETAIN);
    assert_int_equal(ns.spec.prune_records, NODESET_PRUNE_NEVER);
    assert_true(ns.spec.disruption_protection);
    assert_false(nodeset_has_partition(&ns));
    assert_string_equal(nodeset_partition_config(&ns), "");
}

static void a_given_partition_is_enabled_unless_it_says_otherwise(void **state)
{
    static const struct {
        const char *spec;
        bool enabled;
        const char *config;
    } cases[] = {
        {"", false, ""},
        {"  partition: {}", true, ""},
        {"  partition: {config: 'Default=YES'}", true, "Default=YES"},
        {"  partition: {enabled: true, config: ''}", true, ""},
        {"  partition: {enabled: false, config: 'Default=YES'}", false, "Default=YES"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct nodeset ns = nodeset_of(&a, "compute", cases[i].spec);

        assert_int_equal(nodeset_has_partition(&ns), cases[i].enabled);
        assert_string_equal(nodeset_partition_config(&ns), cases[i].config);
    }
}

static void the_hostname_names_it_in_slurm(void **state)
{
    static const char *const cases[][2] = {
        {"", "compute"},         {"gpu", "gpu"},     {"gpu-", "gpu"},    {"-gpu--", "gpu"},
        {"big-mem-", "big-mem"}, {"---", "compute"}, {"' '", "compute"}, {"'gpu- x'", "gpu"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct nodeset ns = nodeset_of(
            &a, "compute", arena_printf(&a, "  template: {spec: {hostname: %s}}", cases[i][0]));

        assert_string_equal(nodeset_slurm_name(&a, &ns), cases[i][1]);
    }
}

static void bad_nodesets_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *name;
        const char *spec;
        const char *lines;
    } cases[] = {
        {"ok", "", ""},
        {"a.b", "", "metadata.name: a name may hold only a-z, 0-9 and '-'\n"},
        {"a23456789012345678901234567890123456789012345678901234567890", "  replicas: 101",
         "metadata.name: is too long: with '-' and a number of 3 digits after it the pods' names "
         "have more than 63 characters\n"},
        {"all", "",
         "metadata.name: Slurm takes the word for all nodes of the cluster; choose another name\n"},
        {"default", "", ""},
        {"default", "  partition: {}",
         "metadata.name: the name of a partition is taken by Slurm for the defaults of all other "
         "partitions; choose another name\n"},
        {"x", "  template: {spec: {hostname: all-}}",
         "spec.template.spec.hostname: Slurm takes the word for all nodes of the cluster; choose "
         "another name\n"},
        {"x", "  template: {spec: {hostname: gpu-}}", ""},
        {"x", "  template: {spec: {hostname: Gpu}}",
         "spec.template.spec.hostname: the nodes' names begin with it, so it may hold only a-z, "
         "0-9 "
         "and '-' ('-' at the end is fine)\n"},
        {"x", "  template: {spec: {hostname: a.b}}",
         "spec.template.spec.hostname: the nodes' names begin with it, so it may hold only a-z, "
         "0-9 "
         "and '-' ('-' at the end is fine)\n"},
        {"x", "  updateStrategy: {rollingUpdate: {maxUnavailable: 0}}",
         "spec.updateStrategy.rollingUpdate.maxUnavailable: must be at least 1, or no update would "
         "ever go on\n"},
        {"x", "  updateStrategy: {rollingUpdate: {maxUnavailable: '0%'}}",
         "spec.updateStrategy.rollingUpdate.maxUnavailable: must be more than 0%, or no update "
         "would ever go on\n"},
        {"x", "  updateStrategy: {rollingUpdate: {maxUnavailable: 'half'}}",
         "spec.updateStrategy.rollingUpdate.maxUnavailable: must be a number or a share from 1% to "
         "100%\n"},
        {"x", "  updateStrategy: {type: ScheduledUpdate}",
         "spec.updateStrategy.scheduledUpdate.startTime: must say when the update may begin, since "
         "type is ScheduledUpdate\n"},
        {"x",
         "  updateStrategy: {type: ScheduledUpdate, scheduledUpdate: {startTime: "
         "'2026-01-09T10:00:00Z', duration: 30s}}",
         "spec.updateStrategy.scheduledUpdate.duration: must be at least 1m: Slurm reserves nodes "
         "by the minute\n"},
        {"x", "  ssh: {enabled: true}",
         "spec.ssh.sssdConfRef.name: must name the Secret with sssd.conf, since ssh is enabled\n"},
        {"x", "  ssh: {enabled: true, sssdConfRef: {name: sssd, key: sssd.conf}}", ""},
        {"x", "  ssh: {sssdConfRef: {name: sssd, key: k}, extraSshdConfig: X}",
         "warning: spec.ssh.extraSshdConfig: is not used, since ssh.enabled is false\n"},
        {"x", "  scalingMode: DaemonSet",
         "warning: spec.scalingMode: DaemonSet is not there yet: no pods are made or changed "
         "before "
         "it is StatefulSet\n"},
        {"x",
         "  updateStrategy: {type: OnDelete, scheduledUpdate: {startTime: "
         "'2026-01-01T00:00:00Z'}}",
         "warning: spec.updateStrategy.scheduledUpdate: is not used, since type is not "
         "ScheduledUpdate\n"},
        {"x", "  extraConf: Gres=gpu:4 Features=a,b", ""},
        {"x", "  extraConf: \"Gres=gpu:4\\nWeight=10\"", ""},
        {"x", "  extraConf: Gres", "spec.extraConf: 'Gres' is not of the form Key=Value\n"},
        {"x", "  extraConf: Grse=gpu:4", "spec.extraConf: unknown key Grse\n"},
        {"x", "  extraConf: Weight=heavy",
         "spec.extraConf: Weight: 'heavy' is not a number from 0 to 4294967295, INFINITE or "
         "UNLIMITED\n"},
        {"x", "  extraConf: Port=7000", "spec.extraConf: Port is set by the operator\n"},
        {"x", "  extraConf: Topology=default:s1", ""}, /* from 25.05 on, and no release is named */
        {"x", "  partition: {config: 'MaxTime=soon'}",
         "spec.partition.config: partition x: MaxTime: 'soon' is not a time: minutes, "
         "minutes:seconds, "
         "hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds or "
         "UNLIMITED\n"},
        {"x", "  partition: {config: 'Nodes=a'}",
         "spec.partition.config: partition x: Nodes is set already\n"},
        {"x", "  partition: {config: \"Default=YES\\nX=1\"}",
         "spec.partition.config: partition x: the settings of a partition must stand in one "
         "line\n"},
        {"x",
         "  volumeClaimTemplates: [{metadata: {name: a}, spec: {}}, {metadata: {name: a}}, {}]",
         "spec.volumeClaimTemplates[1].metadata.name: stands twice\n"
         "spec.volumeClaimTemplates[1].spec: must say what to claim\n"
         "spec.volumeClaimTemplates[2].metadata.name: must name the volume\n"
         "spec.volumeClaimTemplates[2].spec: must say what to claim\n"},
        {"x", "  scalingMode: DaemonSet\n  pinToNode: true",
         "warning: spec.scalingMode: DaemonSet is not there yet: no pods are made or changed "
         "before "
         "it is StatefulSet\n"
         "warning: spec.pinToNode: is not used, since scalingMode is DaemonSet\n"},
        {"x", "  pruneSlurmNodeRecords: NodeNotFound",
         "warning: spec.pruneSlurmNodeRecords: changes nothing: records of nodes whose pods are "
         "gone for good are deleted in any case\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct nodeset ns = nodeset_of(&a, cases[i].name, cases[i].spec);

        nodeset_check(&ns, 0, &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

static void settings_are_held_against_the_release(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    struct nodeset ns = nodeset_of(&a, "x",
                                   "  extraConf: Topology=default:s1\n"
                                   "  partition: {config: 'Topology=default'}");

    (void)state;
    nodeset_check(&ns, SERIES(25, 5), &p);
    assert_string_equal(lines_of(&a, &p), "");
    nodeset_check(&ns, RELEASE(22, 5, 8), &p);
    assert_string_equal(lines_of(&a, &p),
                        "spec.extraConf: Topology needs Slurm 25.05; this cluster runs 22.05\n"
                        "spec.partition.config: partition x: Topology needs Slurm 25.05; this "
                        "cluster runs 22.05\n");
}

static void the_controller_must_be_near(void **state)
{
    static const char *const cases[][2] = {
        {"  controllerRef: {name: main, namespace: slurm}", ""},
        {"  controllerRef: {name: main, namespace: ''}", ""},
        {"  controllerRef: {name: main, namespace: other}",
         "spec.controllerRef.namespace: the Controller must be in the NodeSet's own namespace, "
         "slurm\n"},
        {"  controllerRef: {}", "spec.controllerRef.name: must name an object of this namespace\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct nodeset ns;

        assert_int_equal(nodeset_decode(&a, ours_of(&a, "NodeSet", "x", cases[i][0]), &ns, NULL),
                         0);
        nodeset_check(&ns, 0, &p);
        assert_string_equal(lines_of(&a, &p), cases[i][1]);
    }
}

static void some_fields_cannot_change(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    struct nodeset old =
        nodeset_of(&a, "x", "  volumeClaimTemplates: [{metadata: {name: a}, spec: {x: 1}}]");
    struct nodeset same = nodeset_of(
        &a, "x", "  replicas: 5\n  volumeClaimTemplates: [{spec: {x: 1}, metadata: {name: a}}]");
    struct nodeset moved = nodeset_of(&a, "x", "");

    (void)state;
    nodeset_check_update(&same, &old, &p);
    assert_int_equal(p.n, 0);
    moved.spec.controller_ref.name = "other";
    nodeset_check_update(&moved, &old, &p);
    assert_string_equal(
        lines_of(&a, &p),
        "spec.controllerRef: cannot be changed: nodes do not move between clusters; make another "
        "NodeSet\n"
        "spec.volumeClaimTemplates: cannot be changed: claims that exist stay as they are; make "
        "another NodeSet\n");
}

static void one_name_in_slurm_belongs_to_one_nodeset(void **state)
{
    static const char others[] =
        "kind: NodeSet\nmetadata: {name: gpu, namespace: slurm}\n"
        "spec: {controllerRef: {name: main}}\n---\n"
        "kind: NodeSet\nmetadata: {name: b, namespace: slurm}\n"
        "spec: {controllerRef: {name: main}, template: {spec: {hostname: fast-}}}\n---\n"
        "kind: NodeSet\nmetadata: {name: elsewhere, namespace: slurm}\n"
        "spec: {controllerRef: {name: second}}\n---\n"
        "kind: NodeSet\nmetadata: {name: far, namespace: other}\n"
        "spec: {controllerRef: {name: main}}\n---\n"
        "kind: NodeSet\nmetadata: {name: going, namespace: slurm, deletionTimestamp: "
        "'2026-01-09T10:00:00Z'}\nspec: {controllerRef: {name: main}}\n---\n"
        "kind: Controller\nmetadata: {name: main, namespace: slurm}\n";
    static const struct {
        const char *name;
        const char *spec;
        const char *lines;
    } cases[] = {
        {"gpu", "", ""},
        {"far", "", ""},
        {"elsewhere", "", ""},
        {"going", "", ""},
        {"fast", "",
         "metadata.name: NodeSet b of the same cluster has the name fast in Slurm already; choose "
         "another name or hostname\n"},
        {"x", "  template: {spec: {hostname: gpu}}",
         "spec.template.spec.hostname: NodeSet gpu of the same cluster has the name gpu in Slurm "
         "already; choose another name or hostname\n"},
        {"x", "  ssh: {enabled: true, sssdConfRef: {name: sssd, key: k}}",
         "warning: spec.ssh.sssdConfRef.name: there is no Secret sssd in namespace slurm yet\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct nodeset ns = nodeset_of(&a, cases[i].name, cases[i].spec);
        struct api_lookup l = api_lookup_over(yamls_of(&a, others));

        nodeset_check_refs(&ns, &l, &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

static void shares_are_rounded_up(void **state)
{
    static const struct {
        const char *value;
        int32_t of;
        int32_t expect;
    } cases[] = {
        {"25%", 10, 3},   {"25%", 0, 1}, {"100%", 7, 7},
        {"1%", 1000, 10}, {"3", 10, 3},  {"'x'", 9, 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct nodeset ns =
            nodeset_of(&a, "x",
                       arena_printf(&a, "  updateStrategy: {rollingUpdate: {maxUnavailable: %s}}",
                                    cases[i].value));

        assert_int_equal(nodeset_max_unavailable(&ns, cases[i].of), cases[i].expect);
    }
}

static void the_status_is_written_in_full(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct nodeset_status s = {
        .replicas = 3, .hash = "abc", .selector = "x=y", .observed_generation = 2};

    (void)state;
    jsn_print(&b, nodeset_status_encode(&a, &s));
    assert_string_equal(buf_str(&b),
                        "{\"replicas\":3,\"updatedReplicas\":0,\"readyReplicas\":0,"
                        "\"availableReplicas\":0,\"unavailableReplicas\":0,\"desired\":0,"
                        "\"slurmIdle\":0,\"slurmAllocated\":0,\"slurmDown\":0,\"slurmDrain\":0,"
                        "\"observedGeneration\":2,\"nodeSetHash\":\"abc\",\"selector\":\"x=y\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_out_has_its_default),
        cmocka_unit_test(a_given_partition_is_enabled_unless_it_says_otherwise),
        cmocka_unit_test(the_hostname_names_it_in_slurm),
        cmocka_unit_test(bad_nodesets_are_refused_with_a_reason),
        cmocka_unit_test(settings_are_held_against_the_release),
        cmocka_unit_test(the_controller_must_be_near),
        cmocka_unit_test(some_fields_cannot_change),
        cmocka_unit_test(one_name_in_slurm_belongs_to_one_nodeset),
        cmocka_unit_test(shares_are_rounded_up),
        cmocka_unit_test(the_status_is_written_in_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
