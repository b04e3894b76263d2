/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "src/agent/worker/partition_map.h"
#include "src/agent/worker/release.h"

static struct arena arena;

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

/* {"key":"value"} into a fresh message. */
static int write_one(const char *key, const char *value, update_part_msg_t *m, struct err *e)
{
    struct jsn *set = jsn_object(&arena);

    jsn_set_str(&arena, set, key, value);
    slurm_init_part_desc_msg(m);
    return partmap_write(&arena, set, NULL, m, e);
}

static int write_text(const char *json, const partition_info_t *live, update_part_msg_t *m,
                      struct err *e)
{
    struct jsn *set = NULL;

    assert_int_equal(jsn_parse(&arena, str_of(json), NULL, &set, NULL), 0);
    slurm_init_part_desc_msg(m);
    return partmap_write(&arena, set, live, m, e);
}

/* A message in which no update has set anything: all that it holds is "leave it". */
static void assert_untouched_but(const update_part_msg_t *m, size_t at, size_t size)
{
    update_part_msg_t fresh;

    slurm_init_part_desc_msg(&fresh);
    assert_memory_equal(m, &fresh, at);
    assert_memory_equal((const char *)m + at + size, (const char *)&fresh + at + size,
                        sizeof(fresh) - at - size);
}

static void numbers_reach_their_field_in_its_unit_and_width(void **state)
{
#define AT(member) offsetof(update_part_msg_t, member), sizeof(((update_part_msg_t *)0)->member)
    static const struct {
        const char *key;
        const char *value;
        size_t at;
        size_t size;
        uint64_t expected;
    } cases[] = {
        {"MaxTime", "24:00:00", AT(max_time), 1440},
        {"MaxTime", "1-0", AT(max_time), 1440},
        {"maxtime", "90", AT(max_time), 90},
        {"MaxTime", "90:30", AT(max_time), 91},
        {"MaxTime", "UNLIMITED", AT(max_time), INFINITE},
        {"MaxTime", "INFINITE", AT(max_time), INFINITE},
        {"MaxTime", "", AT(max_time), INFINITE},
        {"DefaultTime", "10", AT(default_time), 10},
        {"GraceTime", "30", AT(grace_time), 30},
        {"GraceTime", "", AT(grace_time), 0},
        {"OverTimeLimit", "5", AT(over_time_limit), 5},
        {"OverTimeLimit", "UNLIMITED", AT(over_time_limit), INFINITE16},
        {"MaxNodes", "4", AT(max_nodes), 4},
        {"MaxNodes", "", AT(max_nodes), INFINITE},
        {"MinNodes", "2", AT(min_nodes), 2},
        {"MinNodes", "", AT(min_nodes), 0},
        {"MaxCPUsPerNode", "16", AT(max_cpus_per_node), 16},
        {"PriorityTier", "65533", AT(priority_tier), 65533},
        {"PriorityJobFactor", "7", AT(priority_job_factor), 7},
        {"PriorityJobFactor", "", AT(priority_job_factor), 1},
        {"OverSubscribe", "NO", AT(max_share), 1},
        {"OverSubscribe", "EXCLUSIVE", AT(max_share), 0},
        {"OverSubscribe", "YES", AT(max_share), 4},
        {"OverSubscribe", "YES:6", AT(max_share), 6},
        {"OverSubscribe", "FORCE", AT(max_share), 4 | SHARED_FORCE},
        {"OverSubscribe", "FORCE:2", AT(max_share), 2 | SHARED_FORCE},
        {"Shared", "YES:3", AT(max_share), 3},
        {"PreemptMode", "OFF", AT(preempt_mode), PREEMPT_MODE_OFF},
        {"PreemptMode", "requeue", AT(preempt_mode), PREEMPT_MODE_REQUEUE},
        {"PreemptMode", "CANCEL", AT(preempt_mode), PREEMPT_MODE_CANCEL},
        {"PreemptMode", "SUSPEND", AT(preempt_mode), PREEMPT_MODE_SUSPEND},
        {"State", "UP", AT(state_up), PARTITION_UP},
        {"State", "down", AT(state_up), PARTITION_DOWN},
        {"State", "DRAIN", AT(state_up), PARTITION_DRAIN},
        {"State", "INACTIVE", AT(state_up), PARTITION_INACTIVE},
        {"State", "", AT(state_up), PARTITION_UP},
        {"CpuBind", "cores", AT(cpu_bind), CPU_BIND_TO_CORES},
        {"CpuBind", "none", AT(cpu_bind), CPU_BIND_NONE},
        {"CpuBind", "", AT(cpu_bind), CPU_BIND_OFF},
        {"DefMemPerCPU", "512", AT(def_mem_per_cpu), 512 | MEM_PER_CPU},
        {"DefMemPerNode", "4K", AT(def_mem_per_cpu), 4096},
        {"DefMemPerNode", "", AT(def_mem_per_cpu), 0},
        {"MaxMemPerCPU", "1000", AT(max_mem_per_cpu), 1000 | MEM_PER_CPU},
        {"MaxMemPerNode", "2000", AT(max_mem_per_cpu), 2000},
        {"MaxMemPerNode", "UNLIMITED", AT(max_mem_per_cpu), 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        update_part_msg_t m;
        struct err e = {0};
        uint64_t have = 0;

        if (write_one(cases[i].key, cases[i].value, &m, &e) < 0)
            fail_msg("%s=%s: %s", cases[i].key, cases[i].value, e.text);
        memcpy(&have, (const char *)&m + cases[i].at, cases[i].size);
        if (have != cases[i].expected)
            fail_msg("%s=%s: %llu", cases[i].key, cases[i].value, (unsigned long long)have);
        assert_untouched_but(&m, cases[i].at, cases[i].size);
    }
}

static void flags_are_set_and_cleared_by_bits_of_their_own(void **state)
{
    static const struct {
        const char *key;
        uint32_t set;
        uint32_t clear;
    } cases[] = {
        {"Default", PART_FLAG_DEFAULT, PART_FLAG_DEFAULT_CLR},
        {"Hidden", PART_FLAG_HIDDEN, PART_FLAG_HIDDEN_CLR},
        {"DisableRootJobs", PART_FLAG_NO_ROOT, PART_FLAG_NO_ROOT_CLR},
        {"RootOnly", PART_FLAG_ROOT_ONLY, PART_FLAG_ROOT_ONLY_CLR},
        {"ReqResv", PART_FLAG_REQ_RESV, PART_FLAG_REQ_RESV_CLR},
        {"LLN", PART_FLAG_LLN, PART_FLAG_LLN_CLR},
        {"ExclusiveUser", PART_FLAG_EXCLUSIVE_USER, PART_FLAG_EXC_USER_CLR},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        update_part_msg_t m;

        uint32_t set = cases[i].set;

        /* from 26.05 on one of the two ways to be exclusive is taken back with the other */
        if (set == PART_FLAG_EXCLUSIVE_USER && release_built_for() >= SERIES(26, 5))
            set |= RELEASE_PART_EXC_TOPO_CLR;
        assert_int_equal(write_one(cases[i].key, "YES", &m, NULL), 0);
        assert_int_equal(m.flags, set);
        assert_int_equal(write_one(cases[i].key, "no", &m, NULL), 0);
        assert_int_equal(m.flags, cases[i].clear);
        assert_int_equal(write_one(cases[i].key, "", &m, NULL), 0);
        assert_int_equal(m.flags, cases[i].clear);
    }
}

static void texts_go_as_they_are_and_names_in_lower_case(void **state)
{
    static const struct {
        const char *key;
        const char *value;
        size_t at;
        const char *expected;
    } cases[] = {
        {"Nodes", "c[1-3],blue", offsetof(update_part_msg_t, nodes), "c[1-3],blue"},
        {"Nodes", "", offsetof(update_part_msg_t, nodes), ""},
        {"AllowGroups", "Staff,wheel", offsetof(update_part_msg_t, allow_groups), "Staff,wheel"},
        {"AllowGroups", "ALL", offsetof(update_part_msg_t, allow_groups), "ALL"},
        {"AllowAccounts", "Phys,CHEM", offsetof(update_part_msg_t, allow_accounts), "phys,chem"},
        {"AllowAccounts", "ALL", offsetof(update_part_msg_t, allow_accounts), "ALL"},
        {"AllowQos", "High", offsetof(update_part_msg_t, allow_qos), "high"},
        {"DenyAccounts", "Bad", offsetof(update_part_msg_t, deny_accounts), "bad"},
        {"DenyQos", "", offsetof(update_part_msg_t, deny_qos), ""},
        {"AllocNodes", "login[1-2]", offsetof(update_part_msg_t, allow_alloc_nodes), "login[1-2]"},
        {"Alternate", "spare", offsetof(update_part_msg_t, alternate), "spare"},
        {"QOS", "Part", offsetof(update_part_msg_t, qos_char), "Part"},
        {"TRESBillingWeights", "CPU=1.0,Mem=0.25G",
         offsetof(update_part_msg_t, billing_weights_str), "CPU=1.0,Mem=0.25G"},
        {"DefCPUPerGPU", "2", offsetof(update_part_msg_t, job_defaults_str), "DefCpuPerGPU=2"},
        {"DefMemPerGPU", "100", offsetof(update_part_msg_t, job_defaults_str), "DefMemPerGPU=100"},
        {"DefMemPerGPU", "", offsetof(update_part_msg_t, job_defaults_str), ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        update_part_msg_t m;
        char *have;

        if (streq(cases[i].key, "QOS") && release_part_qos_kills())
            continue; /* not by a call */
        assert_int_equal(write_one(cases[i].key, cases[i].value, &m, NULL), 0);
        memcpy(&have, (const char *)&m + cases[i].at, sizeof(have));
        assert_non_null(have);
        assert_string_equal(have, cases[i].expected);
        assert_untouched_but(&m, cases[i].at, sizeof(have));
    }
}

static void bad_keys_and_values_are_named(void **state)
{
    static const struct {
        const char *key;
        const char *value;
        const char *text;
    } cases[] = {
        {"Bogus", "1", "Bogus: no partition has such a key"},
        {"PartitionName", "x", "PartitionName: no partition has such a key"},
        {"MaxTime", "soon", "MaxTime: 'soon' "},
        {"State", "sideways", "State: 'sideways' "},
        {"PriorityTier", "70000", "PriorityTier: '70000' "},
        {"OverSubscribe", "MAYBE", "OverSubscribe: 'MAYBE' "},
        {"Hidden", "perhaps", "Hidden: 'perhaps' "},
        {"CpuBind", "elsewhere", "CpuBind: 'elsewhere' is not none, socket"},
        {"Nodes", "c[1-", "Nodes: 'c[1-' "},
        {"DefaultTime", "", "DefaultTime: slurmctld cannot take it back while it runs"},
        {"PreemptMode", "", "PreemptMode: slurmctld cannot take it back while it runs"},
        {"OverTimeLimit", "", "OverTimeLimit: slurmctld cannot take it back while it runs"},
        {"SuspendTime", "300", "SuspendTime: slurmctld does not take it while it runs"},
        {"ResumeTimeout", "300", "ResumeTimeout: slurmctld does not take it while it runs"},
        {"SelectTypeParameters", "CR_Core", "SelectTypeParameters: slurmctld does not take it"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        update_part_msg_t m;
        struct err e = {0};

        assert_int_equal(write_one(cases[i].key, cases[i].value, &m, &e), -EINVAL);
        if (!starts_with(e.text, cases[i].text))
            fail_msg("'%s' does not start with '%s'", e.text, cases[i].text);
    }
}

static void keys_of_later_releases_are_refused(void **state)
{
    static const struct {
        const char *key;
        const char *value;
        uint32_t since;
    } cases[] = {
        {"MaxCPUsPerSocket", "4", SERIES(23, 2)}, {"PowerDownOnIdle", "YES", SERIES(23, 2)},
        {"ExclusiveTopo", "YES", SERIES(24, 5)},  {"Topology", "t1", SERIES(25, 5)},
        {"Exclusive", "NODE", SERIES(26, 5)},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        update_part_msg_t m;
        struct err e = {0};
        int r = write_one(cases[i].key, cases[i].value, &m, &e);

        if (release_built_for() >= cases[i].since) {
            assert_int_equal(r, 0);
        } else {
            assert_int_equal(r, -EINVAL);
            assert_non_null(strstr(e.text, "does not have it"));
        }
    }
}

static void a_value_that_is_no_text_is_refused(void **state)
{
    update_part_msg_t m;
    struct err e = {0};

    (void)state;
    assert_int_equal(write_text("{\"MaxNodes\":4}", NULL, &m, &e), -EINVAL);
    assert_string_equal(e.text, "MaxNodes: the value is no text");
}

static void priority_sets_both_of_its_heirs(void **state)
{
    update_part_msg_t m;

    (void)state;
    assert_int_equal(write_one("Priority", "9", &m, NULL), 0);
    assert_int_equal(m.priority_tier, 9);
    assert_int_equal(m.priority_job_factor, 9);
}

static void of_two_memories_the_one_per_node_counts(void **state)
{
    update_part_msg_t m;

    (void)state;
    assert_int_equal(
        write_text("{\"DefMemPerNode\":\"100\",\"DefMemPerCPU\":\"50\"}", NULL, &m, NULL), 0);
    assert_int_equal(m.def_mem_per_cpu, 100);
    assert_int_equal(write_text("{\"DefMemPerNode\":\"\",\"DefMemPerCPU\":\"50\"}", NULL, &m, NULL),
                     0);
    assert_true(m.def_mem_per_cpu == (50 | MEM_PER_CPU));
    assert_int_equal(m.max_mem_per_cpu, NO_VAL64);
}

static void gpu_defaults_keep_their_other_half(void **state)
{
    job_defaults_t cpu = {JOB_DEF_CPU_PER_GPU, 3};
    job_defaults_t mem = {JOB_DEF_MEM_PER_GPU, 900};
    partition_info_t live = {.job_defaults_list = slurm_list_create(NULL)};
    struct jsn *set = NULL;
    update_part_msg_t m;

    (void)state;
    (void)slurm_list_append(live.job_defaults_list, &cpu);
    (void)slurm_list_append(live.job_defaults_list, &mem);
    assert_int_equal(write_text("{\"DefCPUPerGPU\":\"5\"}", &live, &m, NULL), 0);
    assert_string_equal(m.job_defaults_str, "DefCpuPerGPU=5,DefMemPerGPU=900");
    assert_int_equal(write_text("{\"DefMemPerGPU\":\"\"}", &live, &m, NULL), 0);
    assert_string_equal(m.job_defaults_str, "DefCpuPerGPU=3");
    slurm_list_destroy(live.job_defaults_list);
    assert_int_equal(jsn_parse(&arena, STR("{\"DefMemPerGPU\":\"\"}"), NULL, &set, NULL), 0);
    assert_true(partmap_needs_live(set));
    jsn_set_str(&arena, set, "defcpupergpu", "1");
    assert_false(partmap_needs_live(set));
}

/* Write, take the message for what slurmctld would tell, read: every value comes back. */
static void what_is_written_reads_back_in_normal_form(void **state)
{
    static const char *const values[][3] = {
        {"MaxTime", "24:00:00", "1-00:00:00"},
        {"DefaultTime", "30", "00:30:00"},
        {"MaxTime", "UNLIMITED", "UNLIMITED"},
        {"State", "drain", "DRAIN"},
        {"OverSubscribe", "force", "FORCE:4"},
        {"PreemptMode", "requeue", "REQUEUE"},
        {"PriorityTier", "7", "7"},
        {"MaxMemPerCPU", "100", "100"},
        {"DefMemPerNode", "1K", "1024"},
        {"Hidden", "yes", "YES"},
        {"CpuBind", "threads", "thread"},
        {"AllowGroups", "a,b", "a,b"},
        {"AllowGroups", "all", "ALL"},
        {"Alternate", "none", "NONE"},
        {"OverTimeLimit", "10", "10"},
        {"GraceTime", "15", "15"},
        {"Nodes", "c[1-2]", "c[1-2]"},
        {"TRESBillingWeights", "CPU=1", "CPU=1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        update_part_msg_t m;
        const char *back;

        assert_int_equal(write_one(values[i][0], values[i][1], &m, NULL), 0);
        back = jsn_get_str(partmap_config(&arena, &m), values[i][0]);
        if (!streq(back, values[i][2]))
            fail_msg("%s=%s reads back as %s", values[i][0], values[i][1], back ? back : "nothing");
    }
}

static void a_config_prints_into_a_line_of_the_same_meaning(void **state)
{
    AUTO(partition_done) struct partition live = {0};
    AUTO(partition_done) struct partition again = {0};
    AUTO(part_changes_done) struct part_changes changes = {0};
    struct conf_pair pairs[PARTITION_MAX_CHANGES];
    update_part_msg_t m;
    size_t n = 0;

    (void)state;
    assert_int_equal(write_text("{\"Nodes\":\"c[1-9]\",\"State\":\"DOWN\",\"MaxTime\":\"2-0\","
                                "\"Default\":\"YES\",\"DefMemPerCPU\":\"10\",\"MinNodes\":\"0\","
                                "\"MaxNodes\":\"3\",\"OverSubscribe\":\"NO\",\"Priority\":\"4\","
                                "\"GraceTime\":\"1\",\"MaxCPUsPerNode\":\"2\"}",
                                NULL, &m, NULL),
                     0);
    (void)release_part_set_max_cpus_per_socket(&m, INFINITE); /* slurmctld always tells one */
    partmap_read(&m, &live);
    JSN_FOR_MEMBERS (member, partmap_config(&arena, &m))
        pairs[n++] = (struct conf_pair){member->key.p, jsn_text(member->value), '='};
    partition_init(&again);
    assert_int_equal(partition_load(&again, pairs, n, NULL), 0);
    partition_diff(&live, &again, &changes);
    if (changes.n > 0)
        fail_msg("%s: '%s' became '%s'", changes.list[0].key->name, changes.list[0].from,
                 changes.list[0].to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_reach_their_field_in_its_unit_and_width),
        cmocka_unit_test(flags_are_set_and_cleared_by_bits_of_their_own),
        cmocka_unit_test(texts_go_as_they_are_and_names_in_lower_case),
        cmocka_unit_test(bad_keys_and_values_are_named),
        cmocka_unit_test(keys_of_later_releases_are_refused),
        cmocka_unit_test(a_value_that_is_no_text_is_refused),
        cmocka_unit_test(priority_sets_both_of_its_heirs),
        cmocka_unit_test(of_two_memories_the_one_per_node_counts),
        cmocka_unit_test(gpu_defaults_keep_their_other_half),
        cmocka_unit_test(what_is_written_reads_back_in_normal_form),
        cmocka_unit_test(a_config_prints_into_a_line_of_the_same_meaning),
    };

    return cmocka_run_group_tests(tests, NULL, teardown);
}
