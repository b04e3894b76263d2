/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what a running slurmctld is bound to. */
#include "src/base/test/unit.h"

#include "src/agent/bound.h"

#define CONF                                                                                       \
    "ClusterName=c\nSlurmctldHost=pod-0(svc)\nSlurmUser=slurm\nStateSaveLocation=/var/c\n"         \
    "AuthType=auth/munge\ninclude more.conf\nPartitionName=all Nodes=ALL\n"

static struct candidate *candidate_make(const char *conf, const char *more)
{
    AUTO(fileset_done) struct fileset files = {0};
    AUTO(faults_done) struct faults faults = {0};
    struct candidate *c = NULL;
    struct err e = {0};

    assert_int_equal(fileset_put(&files, "slurm.conf", str_of(conf), 0644, &e), 0);
    assert_int_equal(fileset_put(&files, "more.conf", str_of(more), 0644, &e), 0);
    assert_int_equal(candidate_new(&files, "/etc/slurm", RELEASE(22, 5, 8), &faults, &c, &e), 0);
    return c;
}

static void test_what_is_bound(void **state)
{
    static const struct {
        const char *conf;
        const char *more;
        const char *fault; /* NULL: none */
    } rows[] = {
        {CONF, "", NULL},
        {CONF, "ClusterName=c\nSlurmctldPort=6817\n", NULL},
        {CONF, "SlurmctldTimeout=60\nPartitionName=new Nodes=ALL\n", NULL},
        {CONF, "SlurmctldHost=pod-1\n", NULL},
        {CONF, "ClusterName=other\n",
         "more.conf:1: ClusterName is c and cannot be changed: slurmctld's state is of that "
         "cluster; remove the line"},
        {CONF, "# one\nstatesavelocation=/tmp\n",
         "more.conf:2: StateSaveLocation is /var/c and cannot be changed: slurmctld's state is "
         "there; remove the line"},
        {CONF, "SlurmctldPort=7000\n",
         "more.conf:1: SlurmctldPort is 6817 and cannot be changed: clients find slurmctld by it; "
         "remove the line"},
        {CONF, "AuthType=auth/none\n",
         "more.conf:1: AuthType is auth/munge and cannot be changed: the daemons talk by it; "
         "remove the line"},
        {CONF, "AuthInfo=ttl=60\n", NULL},
        {CONF, "AuthInfo=ttl=60,socket=/tmp/m\n",
         "more.conf:1: AuthInfo is not set and cannot be changed: slurmctld would accept no call "
         "any more; remove the line"},
        {"SlurmctldHost=pod-0(svc)\nSlurmUser=slurm\nStateSaveLocation=/var/c\n", "",
         "ClusterName is c and cannot become not set: slurmctld's state is of that cluster"},
        {"ClusterName=c\nSlurmctldHost=pod-1(pod-0)\nSlurmUser=slurm\nStateSaveLocation=/var/c\n",
         "", "no SlurmctldHost line names pod-0, where slurmctld runs"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(candidate_free) struct candidate *from = candidate_make(CONF, "");
        AUTO(candidate_free) struct candidate *to = candidate_make(rows[i].conf, rows[i].more);
        AUTO(faults_done) struct faults faults = {0};
        struct err e = {0};

        bound_check(from, to, "pod-0", &faults);
        assert_int_equal(faults_error(&faults, &e), rows[i].fault ? -EINVAL : 0);
        if (rows[i].fault)
            assert_string_equal(e.text, rows[i].fault);
    }
}

/* slurmctld runs elsewhere, under a name of its own: nothing can be said about it. */
static void test_a_host_that_is_not_named(void **state)
{
    AUTO(candidate_free) struct candidate *from = candidate_make(CONF, "");
    AUTO(candidate_free)
    struct candidate *to = candidate_make("ClusterName=c\nSlurmctldHost=elsewhere\n"
                                          "SlurmUser=slurm\nStateSaveLocation=/var/c\n",
                                          "");
    AUTO(faults_done) struct faults faults = {0};

    (void)state;
    bound_check(from, to, "my-desk", &faults);
    assert_int_equal(faults.n, 0);
}

static void test_localhost_is_every_machines_name(void **state)
{
    AUTO(candidate_free)
    struct candidate *from =
        candidate_make("ClusterName=c\nSlurmctldHost=localhost(127.0.0.1)\n", "");
    AUTO(candidate_free)
    struct candidate *to = candidate_make("ClusterName=c\nSlurmctldHost=elsewhere\n", "");
    AUTO(faults_done) struct faults faults = {0};
    struct err e = {0};

    (void)state;
    bound_check(from, to, "my-desk", &faults);
    assert_int_equal(faults_error(&faults, &e), -EINVAL);
    assert_string_equal(e.text, "no SlurmctldHost line names my-desk, where slurmctld runs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_bound),
        cmocka_unit_test(test_a_host_that_is_not_named),
        cmocka_unit_test(test_localhost_is_every_machines_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
