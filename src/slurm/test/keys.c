/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the key tables: order, releases, classes. */
#include "src/base/test/unit.h"

#include <strings.h>

#include "src/slurm/keys.h"

#define R2205 RELEASE(22, 5, 8)
#define R2302 RELEASE(23, 2, 8)
#define R2311 RELEASE(23, 11, 11)
#define R2405 RELEASE(24, 5, 8)
#define R2411 RELEASE(24, 11, 7)
#define R2505 RELEASE(25, 5, 8)
#define R2511 RELEASE(25, 11, 7)
#define R2605 RELEASE(26, 5, 3)

/* Every table is sorted and consistent: look-up and classing depend on it. */
static void tables_are_sorted_and_sound(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < CONF_N_KINDS; kind++)
        for (unsigned section = 0; section < CONF_N_SECTIONS; section++) {
            size_t n;
            const struct conf_key *keys =
                keys_of((enum conf_kind)kind, (enum conf_section)section, &n);

            for (size_t i = 0; i < n; i++) {
                const struct conf_key *k = &keys[i];
                struct err e = {0};

                if (i > 0 && strcasecmp(keys[i - 1].name, k->name) >= 0)
                    fail_msg("%s stands before %s", keys[i - 1].name, k->name);
                assert_ptr_equal(
                    keys_find((enum conf_kind)kind, (enum conf_section)section, str_of(k->name)),
                    k);
                if (k->dflt && !streq(k->dflt, "ALL") && !streq(k->dflt, "NONE") &&
                    value_check(k->type, R2511, str_of(k->dflt), &e) < 0)
                    fail_msg("%s: default %s %s", k->name, k->dflt, e.text);
                if (k->same_as)
                    assert_non_null(keys_find((enum conf_kind)kind, (enum conf_section)section,
                                              str_of(k->same_as)));
                assert_true(k->gone == 0 || k->gone > k->since);
            }
        }
}

static void keys_are_found_and_belong_to_releases(void **state)
{
    const struct conf_key *k;

    (void)state;
    k = keys_find(CONF_SLURM, CONF_GLOBAL, STR("slurmctldPORT"));
    assert_non_null(k);
    assert_string_equal(k->name, "SlurmctldPort");
    assert_int_equal(keys_class(k, R2205), CHANGE_RESTART);
    assert_int_equal(keys_class(k, R2511), CHANGE_RESTART);
    k = keys_find(CONF_SLURM, CONF_GLOBAL, STR("MaxNodeCount"));
    assert_int_equal(keys_class(k, R2205), CHANGE_RESTART);
    assert_int_equal(keys_class(k, R2311), CHANGE_RECONFIGURE);
    k = keys_find(CONF_SLURM, CONF_GLOBAL, STR("MetricsType"));
    assert_false(keys_in_release(k, R2205));
    assert_true(keys_in_release(k, R2511));
    k = keys_find(CONF_SLURM, CONF_PARTITION, STR("maxtime"));
    assert_int_equal(keys_class(k, R2205), CHANGE_RPC);
    assert_null(keys_find(CONF_SLURM, CONF_GLOBAL, STR("Slurmctld")));
    assert_null(keys_find(CONF_SLURM, CONF_GLOBAL, STR("SlurmctldPorts")));
    assert_null(keys_find(CONF_CGROUP, CONF_PARTITION, STR("Nodes")));
    assert_string_equal(change_class_name(CHANGE_RPC), "rpc");
}

/* What came, went and stopped to matter with each release. */
static void each_release_brings_and_takes_keys(void **state)
{
    static const struct {
        enum conf_section section;
        const char *key;
        uint32_t last_without; /* newest release that refuses it; 0: none of ours */
        uint32_t first_with;
        uint32_t gone; /* 0: still there */
    } cases[] = {
        {CONF_GLOBAL, "MaxBatchRequeue", R2205, R2302, 0},
        {CONF_GLOBAL, "PreemptParameters", R2205, R2302, 0},
        {CONF_GLOBAL, "SuspendExcStates", R2205, R2302, 0},
        {CONF_GLOBAL, "SlurmctldPlugstack", 0, R2205, R2302},
        {CONF_GLOBAL, "HashPlugin", R2311, R2405, 0},
        {CONF_GLOBAL, "TLSType", R2311, R2405, 0},
        {CONF_GLOBAL, "CertmgrType", R2405, R2411, 0},
        {CONF_GLOBAL, "DataParserParameters", R2405, R2411, 0},
        {CONF_GLOBAL, "CertgenType", R2411, R2505, 0},
        {CONF_GLOBAL, "PrologTimeout", R2411, R2505, 0},
        {CONF_GLOBAL, "MetricsType", R2505, R2511, 0},
        {CONF_GLOBAL, "NamespaceType", R2505, R2511, 0},
        {CONF_GLOBAL, "HealthCheckTimeout", R2511, R2605, 0},
        {CONF_PARTITION, "MaxCPUsPerSocket", R2205, R2302, 0},
        {CONF_PARTITION, "PowerDownOnIdle", R2205, R2302, 0},
        {CONF_PARTITION, "ExclusiveTopo", R2311, R2405, 0},
        {CONF_PARTITION, "Topology", R2411, R2505, 0},
        {CONF_PARTITION, "Exclusive", R2511, R2605, 0},
        {CONF_NODE, "RestrictedCoresPerGPU", R2311, R2405, 0},
        {CONF_NODE, "GresConf", R2505, R2511, 0},
        {CONF_NODE, "SuspendTime", R2511, R2605, 0},
        {CONF_FRONTEND, "FrontendName", 0, R2205, R2505},
        {CONF_POWER, "PowerAction", R2511, R2605, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct conf_key *k = keys_find(CONF_SLURM, cases[i].section, str_of(cases[i].key));

        assert_non_null(k);
        assert_true(keys_in_release(k, cases[i].first_with));
        if (cases[i].last_without)
            assert_false(keys_in_release(k, cases[i].last_without));
        if (cases[i].gone)
            assert_false(keys_in_release(k, cases[i].gone));
        else
            assert_true(keys_in_release(k, R2605));
    }
}

static void ignored_keys_cost_nothing(void **state)
{
    static const struct {
        const char *key;
        uint32_t counts;
        uint32_t ignored;
    } cases[] = {
        {"ExtSensorsType", R2302, R2311}, {"JobCredentialPrivateKey", R2302, R2311},
        {"CoreSpecPlugin", R2311, R2405}, {"PowerPlugin", R2311, R2405},
        {"GetEnvTimeout", R2411, R2505},  {"AccountingStorageUser", R2505, R2511},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct conf_key *k = keys_find(CONF_SLURM, CONF_GLOBAL, str_of(cases[i].key));

        assert_true(keys_class(k, cases[i].counts) > CHANGE_NONE);
        assert_int_equal(keys_class(k, cases[i].ignored), CHANGE_NONE);
    }
}

static void classes_follow_how_a_release_reconfigures(void **state)
{
    static const struct {
        enum conf_section section;
        const char *key;
        enum change_class old; /* 22.05, 23.02 */
        enum change_class new; /* from 23.11 on */
    } cases[] = {
        {CONF_GLOBAL, "AuthType", CHANGE_RESTART, CHANGE_RESTART},
        {CONF_GLOBAL, "SlurmdPort", CHANGE_RESTART, CHANGE_RESTART},
        {CONF_GLOBAL, "StateSaveLocation", CHANGE_RESTART, CHANGE_RESTART},
        {CONF_GLOBAL, "SelectType", CHANGE_RESTART, CHANGE_RESTART},
        {CONF_GLOBAL, "SelectTypeParameters", CHANGE_RESTART, CHANGE_RECONFIGURE},
        {CONF_GLOBAL, "MaxJobCount", CHANGE_RESTART, CHANGE_RECONFIGURE},
        {CONF_GLOBAL, "SchedulerType", CHANGE_RESTART, CHANGE_RECONFIGURE},
        {CONF_GLOBAL, "GresTypes", CHANGE_RESTART, CHANGE_RECONFIGURE},
        {CONF_GLOBAL, "SchedulerParameters", CHANGE_RECONFIGURE, CHANGE_RECONFIGURE},
        {CONF_GLOBAL, "Licenses", CHANGE_RECONFIGURE, CHANGE_RECONFIGURE},
        {CONF_GLOBAL, "Prolog", CHANGE_RECONFIGURE, CHANGE_RECONFIGURE},
        {CONF_PARTITION, "State", CHANGE_RPC, CHANGE_RPC},
        {CONF_PARTITION, "TRESBillingWeights", CHANGE_RPC, CHANGE_RPC},
        {CONF_PARTITION, "SuspendTime", CHANGE_RECONFIGURE, CHANGE_RECONFIGURE},
        {CONF_NODE, "NodeName", CHANGE_RESTART, CHANGE_RECONFIGURE},
        {CONF_NODE, "CPUs", CHANGE_RESTART, CHANGE_RECONFIGURE},
        {CONF_NODE, "Weight", CHANGE_RPC, CHANGE_RPC},
        {CONF_NODESET, "Feature", CHANGE_RECONFIGURE, CHANGE_RECONFIGURE},
    };
    static const uint32_t old[] = {R2205, R2302};
    static const uint32_t new[] = {R2311, R2405, R2411, R2505, R2511, R2605};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct conf_key *k = keys_find(CONF_SLURM, cases[i].section, str_of(cases[i].key));

        assert_non_null(k);
        for (size_t r = 0; r < ARRAY_LEN(old); r++)
            assert_int_equal(keys_class(k, old[r]), cases[i].old);
        for (size_t r = 0; r < ARRAY_LEN(new); r++)
            assert_int_equal(keys_class(k, new[r]), cases[i].new);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sorted_and_sound),
        cmocka_unit_test(keys_are_found_and_belong_to_releases),
        cmocka_unit_test(each_release_brings_and_takes_keys),
        cmocka_unit_test(ignored_keys_cost_nothing),
        cmocka_unit_test(classes_follow_how_a_release_reconfigures),
    };

    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
