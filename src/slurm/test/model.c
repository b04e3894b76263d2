/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the model: what lines mean together. */
#include "src/slurm/test/make.h"

#include "src/slurm/validate.h"

#define R2205 RELEASE(22, 5, 8)
#define R2405 RELEASE(24, 5, 0)
#define R2511 RELEASE(25, 11, 0)

static void the_last_setting_wins_unless_the_key_repeats(void **state)
{
    static const struct {
        uint32_t release;
        const char *text;
        const char *key;
        const char *value; /* NULL: not set and without default */
        size_t settings;
    } cases[] = {
        {R2205, "TmpFS=/a\nTMPFS=/b", "TmpFS", "/b", 1},
        {R2205, "", "TmpFS", "/tmp", 0},
        {R2205, "", "MailDomain", NULL, 0},
        {R2205, "SlurmctldHost=a\nSlurmctldHost=b", "SlurmctldHost", "a", 2},
        {R2205, "Prolog=a\nProlog=b", "Prolog", "b", 1},
        {R2405, "Prolog=a\nProlog=b", "Prolog", "a", 2},
        {R2205, "CryptoType=crypto/munge", "CredType", "crypto/munge", 1},
        {R2205, "SbcastParameters=x\nBcastParameters=y", "BcastParameters", "y", 1},
        {R2205, "Nonsense=1\nnonsense=2", "NONSENSE", "2", 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(made_done) struct made m = make(CONF_SLURM, cases[i].text, cases[i].release);
        const char *value = model_setting(m.model, cases[i].key);

        assert_int_equal(m.model->n_settings, cases[i].settings);
        if (cases[i].value)
            assert_string_equal(value, cases[i].value);
        else
            assert_null(value);
    }
}

static void nodes_inherit_from_the_default_lines_above(void **state)
{
    AUTO(made_done)
    struct made m = make(CONF_SLURM,
                         "NodeName=a\n"
                         "NodeName=DEFAULT CPUs=2 Feature=x\n"
                         "NodeName=b Weight=3\n"
                         "NodeName=default CPUs=4\n"
                         "NodeName=c Features=y\n",
                         R2205);
    const struct model_object *o = m.model->objects;

    (void)state;
    assert_int_equal(m.model->n_objects, 3);
    assert_null(model_get(&o[0], "CPUs"));
    assert_string_equal(model_get(&o[1], "CPUs"), "2");
    assert_string_equal(model_get(&o[1], "Features"), "x");
    assert_string_equal(model_get(&o[1], "Weight"), "3");
    assert_string_equal(model_get(&o[2], "cpus"), "4");
    assert_string_equal(model_get(&o[2], "Features"), "y");
    assert_null(model_get(&o[2], "Weight"));
}

static void inherited_values_remember_their_line(void **state)
{
    AUTO(made_done)
    struct made m =
        make(CONF_SLURM, "PartitionName=DEFAULT State=DOWN\n\nPartitionName=p Hidden=YES", R2205);
    const struct model_object *o = &m.model->objects[0];

    (void)state;
    assert_int_equal(o->line->line, 3);
    assert_int_equal(o->n, 2);
    assert_string_equal(o->values[0].name, "Hidden");
    assert_int_equal(o->values[0].line->line, 3);
    assert_string_equal(o->values[1].name, "State");
    assert_int_equal(o->values[1].line->line, 1);
}

static void a_key_twice_in_a_line_counts_once(void **state)
{
    AUTO(made_done)
    struct made m = make(CONF_SLURM, "PartitionName=p State=UP Odd=1 state=DOWN odd=2", R2205);
    const struct model_object *o = &m.model->objects[0];

    (void)state;
    assert_int_equal(o->n, 2);
    assert_string_equal(model_get(o, "State"), "DOWN");
    assert_string_equal(model_get(o, "Odd"), "2");
}

static void objects_are_found_by_section_and_name(void **state)
{
    AUTO(made_done)
    struct made m = make(
        CONF_SLURM, "NodeSet=x Feature=f\nPartitionName=x Nodes=x\nPartitionName=x Nodes=y", R2205);

    (void)state;
    assert_string_equal(model_get(model_find(m.model, CONF_NODESET, "x"), "Feature"), "f");
    assert_string_equal(model_get(model_find(m.model, CONF_PARTITION, "x"), "Nodes"), "y");
    assert_null(model_find(m.model, CONF_PARTITION, "X"));
    assert_null(model_find(m.model, CONF_NODE, "x"));
}

static void names_of_nodes_and_node_sets_are_gathered(void **state)
{
    AUTO(made_done)
    struct made m = make(CONF_SLURM,
                         "NodeName=DEFAULT CPUs=1\nNodeName=n[1-3],m\n"
                         "NodeName=n[4-5]\nNodeName=bad[\nNodeSet=s1 Feature=x\n"
                         "NodeSet=s2 Nodes=n1",
                         R2205);
    AUTO(hostset_free) struct host_set *nodes = model_nodes(m.model);
    AUTO(hostset_free) struct host_set *sets = model_nodesets(m.model);
    AUTO(buf_done) struct buf out = {0};

    (void)state;
    hostset_print(nodes, &out);
    assert_string_equal(buf_str(&out), "m,n[1-5]");
    buf_clear(&out);
    hostset_print(sets, &out);
    assert_string_equal(buf_str(&out), "s[1-2]");
}

/* The file of a cluster of dynamic nodes, as the builder writes it for a current release. */
static const char current[] =
    "#\n"
    "### GENERAL ###\n"
    "ClusterName=slurm_demo\n"
    "SlurmUser=slurm\n"
    "SlurmctldHost=demo-controller-0(demo-controller-0.demo-internal.ns)\n"
    "SlurmctldPort=6817\n"
    "SlurmctldAddr=demo-controller.ns\n"
    "StateSaveLocation=/var/spool/slurmctld/slurm_demo\n"
    "SlurmdUser=root\n"
    "SlurmdPort=6818\n"
    "SlurmdSpoolDir=/var/spool/slurmd\n"
    "MaxNodeCount=1024\n"
    "### LOGGING ###\n"
    "SlurmctldLogFile=/var/log/slurm/slurmctld.log\n"
    "SlurmSchedLogFile=/var/log/slurm/slurmctld.log\n"
    "SlurmdLogFile=/var/log/slurm/slurmd.log\n"
    "### PLUGINS & PARAMETERS ###\n"
    "AuthType=auth/slurm\n"
    "CredType=cred/slurm\n"
    "AuthAltTypes=auth/jwt\n"
    "AuthAltParameters=jwt_key=/etc/slurm/jwt.key\n"
    "AuthInfo=use_client_ids\n"
    "SlurmctldParameters=enable_configless,reconfig_on_restart\n"
    "MetricsType=metrics/openmetrics\n"
    "### ACCOUNTING ###\n"
    "AccountingStorageType=accounting_storage/none\n"
    "PrologSlurmctld=/etc/slurm/00.sh\n"
    "PrologSlurmctld=/etc/slurm/90.sh\n"
    "### COMPUTE & PARTITION ###\n"
    "NodeSet=compute Feature=compute\n"
    "PartitionName=compute Nodes=compute Default=YES MaxTime=24:00:00\n"
    "NodeSet=gpu Feature=gpu\n"
    "PartitionName=gpu Nodes=gpu \n"
    "### EXTRA CONFIG ###\n"
    "PartitionName=all Nodes=ALL Default=NO\n"
    "PartitionName=highprio Nodes=compute,gpu MaxTime=1-0 Priority=100\n";

static void the_builders_file_is_without_fault(void **state)
{
    AUTO(made_done) struct made m = make(CONF_SLURM, current, R2511);
    struct validate_context ctx = {.release = R2511};
    const struct model_object *high = model_find(m.model, CONF_PARTITION, "highprio");
    AUTO(partition_done) struct partition p;
    struct err e = {0};

    (void)state;
    validate_conf(m.conf, &ctx, &m.faults);
    assert_int_equal(m.faults.n, 0);
    partition_init(&p);
    assert_int_equal(model_partition(m.model, high, &p, &e), 0);
    assert_int_equal(p.priority_tier, 100);
    assert_int_equal(p.max_time, 1440);
    assert_string_equal(p.nodes, "compute,gpu");
}

static void an_older_release_says_what_it_lacks(void **state)
{
    AUTO(made_done) struct made m = make(CONF_SLURM, current, R2205);
    struct validate_context ctx = {.release = R2205};
    AUTO(buf_done) struct buf out = {0};

    (void)state;
    validate_conf(m.conf, &ctx, &m.faults);
    faults_print(&m.faults, &out);
    assert_string_equal(
        buf_str(&out),
        "slurm.conf:18: error: AuthType: 'auth/slurm' needs Slurm 23.11 or later\n"
        "slurm.conf:19: error: CredType: 'cred/slurm' needs Slurm 23.11 or later\n"
        "slurm.conf:24: error: MetricsType needs Slurm 25.11; this cluster runs 22.05\n"
        "slurm.conf:28: warning: PrologSlurmctld was set before to another value; this one "
        "counts\n"
        "slurm.conf:12: error: MaxNodeCount needs SelectType=select/cons_tres, and here it is "
        "select/linear\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_setting_wins_unless_the_key_repeats),
        cmocka_unit_test(nodes_inherit_from_the_default_lines_above),
        cmocka_unit_test(inherited_values_remember_their_line),
        cmocka_unit_test(a_key_twice_in_a_line_counts_once),
        cmocka_unit_test(objects_are_found_by_section_and_name),
        cmocka_unit_test(names_of_nodes_and_node_sets_are_gathered),
        cmocka_unit_test(the_builders_file_is_without_fault),
        cmocka_unit_test(an_older_release_says_what_it_lacks),
    };

    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
