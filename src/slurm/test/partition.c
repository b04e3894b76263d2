/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of partitions as typed fields, with DEFAULT lines, differences and drift. */
#include "src/slurm/test/make.h"

#include "src/base/alloc.h"

#define R2205 RELEASE(22, 5, 8)

/* Load the last partition of a text. */
static void load_for(const char *text, uint32_t release, struct partition *p)
{
    AUTO(made_done) struct made m = make(CONF_SLURM, text, release);
    struct err e = {0};

    partition_init(p);
    assert_int_equal(m.faults.fatal, 0);
    assert_true(m.model->n_objects > 0);
    assert_int_equal(model_partition(m.model, &m.model->objects[m.model->n_objects - 1], p, &e), 0);
}

static void load(const char *text, struct partition *p)
{
    load_for(text, R2205, p);
}

static void a_part_of_the_topology_is_whole_nodes_from_26_05_on(void **state)
{
    static const char line[] = "PartitionName=p ExclusiveTopo=YES OverSubscribe=YES:2";
    AUTO(partition_done) struct partition before;
    AUTO(partition_done) struct partition after;

    (void)state;
    load_for(line, SERIES(25, 11), &before);
    load_for(line, SERIES(26, 5), &after);
    assert_int_equal(before.oversubscribe, 2);
    assert_int_equal(after.oversubscribe, 0);
    assert_true(before.exclusive_topo == 1 && after.exclusive_topo == 1);
}

static void a_line_prints_what_it_means(void **state)
{
    static const struct {
        const char *text;
        const char *printed;
    } cases[] = {
        {"PartitionName=p", "PartitionName=p"},
        {"PartitionName=p Nodes=n[1-2]", "PartitionName=p Nodes=n[1-2]"},
        {"PartitionName=compute Nodes=compute Default=YES MaxTime=24:00:00",
         "PartitionName=compute Nodes=compute Default=YES MaxTime=1-00:00:00"},
        {"PartitionName=p State=up Hidden=no MaxTime=INFINITE Shared=NO AllowGroups=ALL",
         "PartitionName=p"},
        {"PartitionName=p Priority=7 PriorityTier=3",
         "PartitionName=p PriorityJobFactor=7 PriorityTier=7"},
        {"PartitionName=p Shared=FORCE", "PartitionName=p OverSubscribe=FORCE:4"},
        {"PartitionName=p Shared=FORCE OverSubscribe=EXCLUSIVE",
         "PartitionName=p OverSubscribe=EXCLUSIVE"},
        {"PartitionName=p DefMemPerCPU=1K DefMemPerNode=2048",
         "PartitionName=p DefMemPerNode=2048"},
        {"PartitionName=p MaxMemPerCPU=0", "PartitionName=p"},
        {"PartitionName=p DefaultTime=60 MaxTime=30", "PartitionName=p MaxTime=00:30:00"},
        {"PartitionName=p DefaultTime=60 MaxTime=90",
         "PartitionName=p DefaultTime=01:00:00 MaxTime=01:30:00"},
        {"PartitionName=p State=DRAIN QOS=high AllowAccounts=a,b OverTimeLimit=UNLIMITED",
         "PartitionName=p AllowAccounts=a,b OverTimeLimit=UNLIMITED QOS=high State=DRAIN"},
        {"PartitionName=p Exclusive=TOPO",
         "PartitionName=p ExclusiveTopo=YES OverSubscribe=EXCLUSIVE"},
        {"PartitionName=p OverSubscribe=EXCLUSIVE Exclusive=NO", "PartitionName=p"},
        {"PartitionName=p Exclusive=USER", "PartitionName=p ExclusiveUser=YES"},
        {"DisableRootJobs=YES\nPartitionName=p", "PartitionName=p DisableRootJobs=YES"},
        {"DisableRootJobs=YES\nPartitionName=p DisableRootJobs=NO",
         "PartitionName=p DisableRootJobs=NO"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(partition_done) struct partition p;
        AUTO(buf_done) struct buf out = {0};

        load(cases[i].text, &p);
        if (p.disable_root_jobs == 0 && !strstr(cases[i].printed, "DisableRootJobs"))
            p.disable_root_jobs = VALUE_UNSET;
        partition_print(&p, &out);
        assert_string_equal(buf_str(&out), cases[i].printed);
    }
}

static void default_lines_pass_on_what_slurm_passes_on(void **state)
{
    AUTO(partition_done) struct partition p;

    (void)state;
    load("PartitionName=DEFAULT MaxTime=60 State=DOWN ExclusiveUser=YES Nodes=n1\n"
         "PartitionName=before\n"
         "PartitionName=default MaxTime=120 SuspendTime=9\n"
         "PartitionName=p State=UP",
         &p);
    assert_int_equal(p.max_time, 120);
    assert_int_equal(p.state, PART_UP);
    assert_string_equal(p.nodes, "n1");
    assert_int_equal(p.exclusive_user, 0);         /* is not inherited */
    assert_int_equal(p.suspend_time, VALUE_UNSET); /* nor is this */
    assert_string_equal(p.name, "p");
}

static void a_default_line_counts_from_where_it_stands(void **state)
{
    AUTO(made_done)
    struct made m = make(
        CONF_SLURM, "PartitionName=a\nPartitionName=DEFAULT State=DOWN\nPartitionName=b", R2205);
    AUTO(partition_done) struct partition a;
    AUTO(partition_done) struct partition b;
    struct err e = {0};

    (void)state;
    partition_init(&a);
    partition_init(&b);
    assert_int_equal(m.model->n_objects, 2);
    assert_int_equal(model_partition(m.model, &m.model->objects[0], &a, &e), 0);
    assert_int_equal(model_partition(m.model, &m.model->objects[1], &b, &e), 0);
    assert_int_equal(a.state, PART_UP);
    assert_int_equal(b.state, PART_DOWN);
}

static void a_bad_value_is_refused_by_name(void **state)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"PartitionName=p State=ASLEEP",
         "partition 'p': State: 'ASLEEP' is not UP, DOWN, DRAIN or INACTIVE"},
        {"PartitionName=p Priority=x", "partition 'p': Priority: 'x' is not a number from 0 to "
                                       "65535, INFINITE or UNLIMITED"},
        {"PartitionName=p Shared=x", "partition 'p': Shared: 'x' is not NO, EXCLUSIVE, YES, YES:n "
                                     "(n from 2), FORCE or FORCE:n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(made_done) struct made m = make(CONF_SLURM, cases[i].text, R2205);
        AUTO(partition_done) struct partition p;
        struct err e = {0};

        partition_init(&p);
        assert_int_equal(model_partition(m.model, &m.model->objects[0], &p, &e), -EINVAL);
        assert_string_equal(e.text, cases[i].error);
    }
}

static void differences_name_key_and_values(void **state)
{
    AUTO(partition_done) struct partition a;
    AUTO(partition_done) struct partition b;
    AUTO(part_changes_done) struct part_changes c = {0};

    (void)state;
    load("PartitionName=p Nodes=n[1-3] MaxTime=1440 AllowAccounts=B,a DefaultTime=10", &a);
    load("PartitionName=p Nodes=n3,n[1-2] MaxTime=1-0 AllowAccounts=a,b State=DRAIN Default=YES",
         &b);
    partition_diff(&a, &b, &c);
    assert_int_equal(c.n, 3);
    assert_string_equal(c.list[0].key->name, "Default");
    assert_string_equal(c.list[0].from, "NO");
    assert_string_equal(c.list[0].to, "YES");
    assert_string_equal(c.list[1].key->name, "DefaultTime");
    assert_string_equal(c.list[1].from, "00:10:00");
    assert_string_equal(c.list[1].to, "");
    assert_string_equal(c.list[2].key->name, "State");
    assert_string_equal(c.list[2].to, "DRAIN");
}

static void a_copy_is_equal_and_its_own(void **state)
{
    AUTO(partition_done) struct partition a;
    AUTO(partition_done) struct partition b;
    AUTO(part_changes_done) struct part_changes c = {0};

    (void)state;
    load("PartitionName=p Nodes=n1 QOS=q TRESBillingWeights=\"CPU=1.0,Mem=0.25G\"", &a);
    partition_copy(&a, &b);
    partition_diff(&a, &b, &c);
    assert_int_equal(c.n, 0);
    assert_ptr_not_equal(a.qos, b.qos);
}

static void drift_minds_how_slurm_tells_nodes(void **state)
{
    static const struct {
        const char *declared;
        const char *nodes;    /* live */
        const char *nodesets; /* live */
        const char *all;
        const char *to; /* NULL: no drift */
    } cases[] = {
        {"Nodes=n[1-3]", "n[1-3]", NULL, NULL, NULL},
        {"Nodes=n[1-3]", "n[1-2]", NULL, NULL, "n[1-2]"},
        {"Nodes=gpu", "gpu-[0-7]", "gpu", NULL, NULL},
        {"Nodes=gpu,n1", "gpu-[0-7],n1", "gpu", NULL, NULL},
        {"Nodes=gpu,n1", "gpu-[0-7]", "gpu", NULL, "gpu (gpu-[0-7])"},
        {"Nodes=gpu", "gpu-[0-7]", NULL, NULL, "gpu-[0-7]"},
        {"Nodes=gpu,cpu", "c1", "cpu", NULL, "cpu (c1)"},
        {"Nodes=gpu", NULL, "gpu", NULL, NULL},
        {"Nodes=ALL", "n[1-9]", NULL, "n[1-9]", NULL},
        {"Nodes=ALL", "n[1-8]", NULL, "n[1-9]", "n[1-8]"},
        {"Nodes=ALL", "n[1-8]", "ALL", NULL, NULL},
        {"Nodes=ALL", "c1", "cpu", NULL, "cpu (c1)"},
        {"Nodes=feature{x}", "n1", NULL, NULL, NULL},
        {"", NULL, NULL, NULL, NULL},
        {"", "n1", NULL, NULL, "n1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(partition_done) struct partition declared;
        AUTO(partition_done) struct partition live;
        AUTO(part_changes_done) struct part_changes c = {0};
        AUTO(hostset_free) struct host_set *all = NULL;
        AUTO(hostset_free) struct host_set *sets = NULL;
        AUTO(free) char *text = xasprintf("PartitionName=p %s", cases[i].declared);
        struct err e = {0};

        load(text, &declared);
        partition_copy(&declared, &live);
        free(live.nodes);
        live.nodes = xstrdup_null(cases[i].nodes);
        live.nodesets = xstrdup_null(cases[i].nodesets);
        assert_int_equal(hostset_parse(STR("gpu,cpu"), &sets, &e), 0);
        if (cases[i].all)
            assert_int_equal(hostset_parse(str_of(cases[i].all), &all, &e), 0);
        partition_drift(&declared, &live, all, sets, R2205, &c);
        assert_int_equal(c.n, cases[i].to ? 1 : 0);
        if (cases[i].to)
            assert_string_equal(c.list[0].to, cases[i].to);
    }
}

static void drift_looks_only_at_what_the_release_has(void **state)
{
    AUTO(partition_done) struct partition declared;
    AUTO(partition_done) struct partition live;
    AUTO(part_changes_done) struct part_changes c = {0};
    AUTO(hostset_free) struct host_set *none = NULL;
    struct err e = {0};

    (void)state;
    load("PartitionName=p MaxTime=60", &declared);
    partition_copy(&declared, &live);
    assert_int_equal(hostset_parse(STR(""), &none, &e), 0);
    live.max_cpus_per_socket = 4; /* 22.05 has no such field */
    live.max_time = 120;
    partition_drift(&declared, &live, NULL, none, R2205, &c);
    assert_int_equal(c.n, 1);
    assert_string_equal(c.list[0].key->name, "MaxTime");
    assert_string_equal(c.list[0].from, "01:00:00");
    assert_string_equal(c.list[0].to, "02:00:00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_prints_what_it_means),
        cmocka_unit_test(a_part_of_the_topology_is_whole_nodes_from_26_05_on),
        cmocka_unit_test(default_lines_pass_on_what_slurm_passes_on),
        cmocka_unit_test(a_default_line_counts_from_where_it_stands),
        cmocka_unit_test(a_bad_value_is_refused_by_name),
        cmocka_unit_test(differences_name_key_and_values),
        cmocka_unit_test(a_copy_is_equal_and_its_own),
        cmocka_unit_test(drift_minds_how_slurm_tells_nodes),
        cmocka_unit_test(drift_looks_only_at_what_the_release_has),
    };

    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
