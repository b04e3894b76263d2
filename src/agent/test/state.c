/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what the state is made of: tables, jobs, activity; and of options. */
#include "src/base/test/unit.h"

#include "src/agent/activity.h"
#include "src/agent/jobs.h"
#include "src/agent/options.h"
#include "src/agent/rehearse.h"
#include "src/agent/table.h"
#include "src/base/alloc.h"

static void fill(struct table *t, const char *const *rows, uint64_t version, bool *ret_changed)
{
    bool changed = false;

    table_begin(t);
    for (; *rows; rows += 2)
        changed |= table_put(t, str_of(rows[0]), str_of(rows[1]), version);
    changed |= table_end(t, version);
    *ret_changed = changed;
}

static void check(const struct table *t, uint64_t since, const char *rows, const char *gone)
{
    AUTO(buf_done) struct buf out = {0};

    table_print(t, "r", since, &out);
    assert_string_equal(buf_str(&out), rows);
    buf_clear(&out);
    table_print_gone(t, "g", since, &out);
    assert_string_equal(buf_str(&out), gone);
}

static void a_table_tells_what_has_changed_since(void **state)
{
    struct table t;
    bool changed;

    (void)state;
    table_init(&t);
    fill(&t, (const char *const[]){"a", "1", NULL}, 2, &changed);
    assert_true(changed);
    check(&t, 0, "\"r\":[1]", "\"g\":[]");
    check(&t, 2, "\"r\":[]", "\"g\":[]");
    fill(&t, (const char *const[]){"a", "1", NULL}, 3, &changed);
    assert_false(changed);
    fill(&t, (const char *const[]){"a", "2", NULL}, 3, &changed);
    assert_true(changed);
    check(&t, 2, "\"r\":[2]", "\"g\":[]");
    fill(&t, (const char *const[]){"b", "3", NULL}, 4, &changed);
    assert_true(changed);
    check(&t, 3, "\"r\":[3]", "\"g\":[\"a\"]");
    check(&t, 4, "\"r\":[]", "\"g\":[]");
    /* it comes back: not gone any more */
    fill(&t, (const char *const[]){"b", "3", "a", "2", NULL}, 5, &changed);
    check(&t, 4, "\"r\":[2]", "\"g\":[]");
    table_done(&t);
}

static void too_many_removals_are_forgotten(void **state)
{
    struct table t;
    bool changed;

    (void)state;
    table_init(&t);
    for (uint64_t v = 1; v < TABLE_TOMBSTONES + 10; v++) {
        AUTO(free) char *name = xasprintf("n%llu", (unsigned long long)v);

        fill(&t, (const char *const[]){name, "x", NULL}, v, &changed);
    }
    assert_false(table_has_since(&t, 5));
    assert_true(table_has_since(&t, TABLE_TOMBSTONES));
    table_done(&t);
}

static void jobs_are_summed_by_node_and_partition(void **state)
{
    static const char text[] =
        "[{\"id\":1,\"state\":\"RUNNING\",\"partition\":\"a\",\"nodes\":\"n[1-2]\",\"endTime\":50},"
        "{\"id\":2,\"state\":\"PENDING\",\"partition\":\"a,b\"},"
        "{\"id\":3,\"state\":\"COMPLETING\",\"partition\":\"b\",\"nodes\":\"n2\",\"endTime\":40},"
        "{\"id\":4,\"state\":\"COMPLETED\",\"partition\":\"a\",\"nodes\":\"n3\"},"
        "{\"id\":5,\"state\":\"SUSPENDED\",\"partition\":\"c\",\"nodes\":\"n2\",\"endTime\":90}]";
    AUTO(arena_done) struct arena a = {0};
    AUTO(jobs_done) struct jobs j;
    struct jsn *items = NULL;
    struct err e = {0};

    (void)state;
    jobs_init(&j);
    assert_int_equal(jsn_parse(&a, str_of(text), NULL, &items, &e), 0);
    jobs_take(&j, items);
    assert_int_equal(j.running, 3);
    assert_int_equal(j.pending, 1);
    assert_int_equal(jobs_of_node(&j, "n1")->n, 1);
    assert_int_equal(jobs_of_node(&j, "n2")->n, 3);
    assert_int_equal(jobs_of_node(&j, "n2")->busy_until, 90);
    assert_null(jobs_of_node(&j, "n3"));
    assert_int_equal(jobs_of_partition(&j, "a")->n, 2);
    /* the second partition of a pending job counts it, but is not held by it */
    assert_int_equal(jobs_of_partition(&j, "b")->pending, 1);
    assert_int_equal(jobs_of_partition(&j, "b")->n, 1);
    assert_null(jobs_of_partition(&j, "d"));
    jobs_take(&j, NULL);
    assert_int_equal(j.running + j.pending, 0);
}

static void accepted_connections_are_found_in_the_kernels_text(void **state)
{
    static const struct {
        const char *text;
        bool found;
        uint64_t n;
    } cases[] = {
        {"Ip: a b\nIp: 1 2\nTcp: RtoMin ActiveOpens PassiveOpens X\nTcp: 200 17 4711 9\nUdp: x\n",
         true, 4711},
        {"Tcp: PassiveOpens\nTcp: 5", true, 5},
        {"Tcp: A B\nTcp: 1 2\n", false, 0},
        {"Tcp: A PassiveOpens\nTcp: 1\n", false, 0},
        {"Tcp: PassiveOpens\nTcp: x\n", false, 0},
        {"", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t n = 0;

        assert_int_equal(activity_parse(cases[i].text, &n), cases[i].found);
        assert_int_equal(n, cases[i].n);
    }
}

static void options_have_the_pods_defaults(void **state)
{
    char program[] = "slurmkeeper-agent";
    char seed[] = "seed";
    char live[] = "--live=/x";
    char socket_option[] = "--socket";
    char path[] = "/run/s";
    char bad[] = "--what";
    struct agent_options o;
    struct err e = {0};

    (void)state;
    assert_int_equal(options_parse(1, (char *[]){program}, &o, &e), 0);
    assert_int_equal(o.mode, AGENT_RUN);
    assert_string_equal(o.live, "/etc/slurm");
    assert_string_equal(o.mount, "/mnt/slurm");
    assert_string_equal(o.listen, "0.0.0.0:6821");
    assert_string_equal(o.marker, "/run/slurmctld/restart");
    assert_null(o.socket);
    assert_int_equal(options_parse(5, (char *[]){program, seed, live, socket_option, path}, &o, &e),
                     0);
    assert_int_equal(o.mode, AGENT_SEED);
    assert_string_equal(o.live, "/x");
    assert_string_equal(o.socket, "/run/s");
    assert_int_equal(options_parse(2, (char *[]){program, bad}, &o, &e), -EINVAL);
    assert_string_equal(e.text, "there is no option '--what'; --help lists all");
    assert_int_equal(options_parse(2, (char *[]){program, socket_option}, &o, &e), -EINVAL);
    assert_string_equal(e.text, "--socket needs PATH after it");
}

static void a_rehearsal_meets_nobody(void **state)
{
    static const char conf[] = "ClusterName=c\nSlurmctldHost=real(10.0.0.1)\nSlurmctldPort=6817\n"
                               "StateSaveLocation=/var/spool/slurmctld\nSuspendProgram=/bin/off\n"
                               "AccountingStorageType=accounting_storage/slurmdbd\n"
                               "PrologSlurmctld=/bin/prolog\nTreeWidth=20\n"
                               "NodeName=n[1-2] Port=7000 CPUs=4 State=UNKNOWN\n"
                               "NodeName=f1 State=FUTURE\nDownNodes=n2 State=DOWN Reason=disk\n"
                               "PartitionName=p Nodes=n1 QOS=of-the-database\n";
    AUTO(fileset_done) struct fileset files = {0};
    AUTO(faults_done) struct faults faults = {0};
    AUTO(candidate_free) struct candidate *c = NULL;
    AUTO(hostset_free) struct host_set *dynamic = NULL;
    AUTO(buf_done) struct buf out = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(fileset_put(&files, "slurm.conf", str_of(conf), 0644, &e), 0);
    assert_int_equal(candidate_new(&files, "/etc/slurm", RELEASE(22, 5, 8), &faults, &c, &e), 0);
    assert_int_equal(hostset_parse(STR("n1,d[1-2]"), &dynamic, &e), 0);
    rehearse_conf(c, "/scratch", "me", 4711, dynamic, &out);
    assert_null(strstr(buf_str(&out), "10.0.0.1"));
    assert_null(strstr(buf_str(&out), "/var/spool"));
    assert_null(strstr(buf_str(&out), "slurmdbd"));
    assert_null(strstr(buf_str(&out), "prolog"));
    assert_null(strstr(buf_str(&out), "/bin/off"));
    assert_null(strstr(buf_str(&out), "Port=7000"));
    assert_null(strstr(buf_str(&out), "DownNodes"));
    assert_non_null(strstr(buf_str(&out), "SlurmctldHost=me(127.0.0.1)\nSlurmctldPort=4711\n"));
    assert_non_null(strstr(buf_str(&out), "SuspendProgram=/bin/true\n"));
    assert_non_null(strstr(buf_str(&out), "StateSaveLocation=/scratch/state\n"));
    assert_non_null(strstr(buf_str(&out), "NodeName=n[1-2] CPUs=4 State=CLOUD\n"
                                          "NodeName=f1 State=FUTURE\n"
                                          "PartitionName=p Nodes=n1\n"));
    assert_non_null(strstr(buf_str(&out), "NodeName=d[1-2] State=CLOUD\n"));
    assert_non_null(strstr(buf_str(&out), "TreeWidth=20\n"));
    assert_null(strstr(buf_str(&out), "AuthInfo"));
}

static void a_rehearsal_leaves_the_socket_for_commands_alone(void **state)
{
    static const struct {
        const char *conf;
        const char *line;
    } cases[] = {
        {"AuthType=auth/slurm\n", "AuthInfo=disable_sack\n"},
        {"AuthType=auth/slurm\nAuthInfo=use_client_ids\n",
         "AuthInfo=use_client_ids,disable_sack\n"},
        {"AuthType=auth/munge\nAuthInfo=socket=/run/m\n", "AuthInfo=socket=/run/m\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(fileset_done) struct fileset files = {0};
        AUTO(faults_done) struct faults faults = {0};
        AUTO(candidate_free) struct candidate *c = NULL;
        AUTO(buf_done) struct buf out = {0};
        struct err e = {0};
        const char *line;

        assert_int_equal(fileset_put(&files, "slurm.conf", str_of(cases[i].conf), 0644, &e), 0);
        assert_int_equal(candidate_new(&files, "/etc/slurm", RELEASE(24, 11, 5), &faults, &c, &e),
                         0);
        rehearse_conf(c, "/scratch", "me", 4711, NULL, &out);
        line = strstr(buf_str(&out), cases[i].line);
        assert_non_null(line);
        assert_null(strstr(line + 1, "AuthInfo"));
        assert_int_equal(line == buf_str(&out) || line[-1] == '\n', 1);
    }
}

static void the_words_of_a_rehearsal_are_those_that_tell_why(void **state)
{
    static const struct {
        const char *said;
        const char *why;
    } rows[] = {
        {"slurmctld: error: a\nslurmctld: error: b\nslurmctld: bye\n", "error: b"},
        {"slurmctld: error: a\nslurmctld: fatal: c\nslurmctld: error: d\n", "fatal: c"},
        {"[2026-11-19] fatal: c\n[2026-11-19] fatal: d", "fatal: d"},
        {"error: power_save program on not absolute pathname\n"
         "fatal: Unable to process configuration file\n",
         "error: power_save program on not absolute pathname"},
        {"fatal: c\nfatal: Unable to process configuration file\n", "fatal: c"},
        {"fatal: Unable to process configuration file\n",
         "fatal: Unable to process configuration file"},
        {"slurmctld: all is well\n", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_true(str_eqz(rehearse_why(str_of(rows[i].said)), rows[i].why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_words_of_a_rehearsal_are_those_that_tell_why),
        cmocka_unit_test(a_table_tells_what_has_changed_since),
        cmocka_unit_test(too_many_removals_are_forgotten),
        cmocka_unit_test(jobs_are_summed_by_node_and_partition),
        cmocka_unit_test(accepted_connections_are_found_in_the_kernels_text),
        cmocka_unit_test(options_have_the_pods_defaults),
        cmocka_unit_test(a_rehearsal_meets_nobody),
        cmocka_unit_test(a_rehearsal_leaves_the_socket_for_commands_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
