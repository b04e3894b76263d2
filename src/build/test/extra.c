/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of extraConf: it is refused when it is written as it is when the file is made. */
#include "src/build/test/clusters.h"

#include "src/api/test/lookup_over.h"
#include "src/build/config_extra.h"
#include "src/build/controller_config.h"
#include "src/slurm/profile.h"

static const char *told(struct arena *a, const char *spec, uint32_t release, bool whole)
{
    struct controller c;
    struct build_env env = {.release = release};
    struct jsn *others = yamls_of(
        a, "{kind: ConfigMap, metadata: {name: more, namespace: slurm}, data: {more.conf: "
           "'ReturnToService=9\n'}}\n---\n{kind: ConfigMap, metadata: {name: good, namespace: "
           "slurm}, data: {good.conf: 'ReturnToService=2\n'}}\n");
    struct api_lookup lookup = api_lookup_over(others);
    struct build_cluster cluster = {.env = &env, .controller = &c, .lookup = &lookup};
    struct api_problems p = {.arena = a};
    struct build_config config;
    struct err e = {0};

    if (controller_decode(a, ours_of(a, "Controller", "c", spec), &c, &e) < 0)
        fail_msg("%s", e.text);
    if (whole)
        assert_true(build_config(a, &cluster, &config, &p) == 0 || p.errors > 0);
    else
        build_check_extra(a, &cluster, release == 0, &p);
    for (size_t i = 0; i < p.n; i++)
        p.items[i].object = NULL;
    return lines_of(a, &p);
}

static void extra_conf_is_held_against_the_release(void **state)
{
    static const struct {
        uint32_t release;
        const char *extra;
        const char *lines;
    } cases[] = {
        {0, "A=1\\nInclude other.conf\\nnonsense\\n",
         "spec.extraConf: line 2: Include 'other.conf': no ConfigMap of configFileRefs has a key "
         "'other.conf'\n"
         "spec.extraConf: line 3: cannot read 'nonsense'\n"},
        {0, "ReturnToService=2\\nstatesavelocation=/elsewhere\\n",
         "spec.extraConf: line 2: StateSaveLocation is the pod's volume and cannot be set; remove "
         "the line\n"},
        {0, "SlurmUser=slurm\\nslurmctldport=6817\\nSlurmdPort=6819\\nClusterName=other\\n",
         "spec.extraConf: line 3: SlurmdPort is the pods' port and cannot be set; remove the "
         "line\n"
         "spec.extraConf: line 4: ClusterName comes from spec.clusterName and cannot be set; "
         "remove "
         "the line\n"},
        {0, "SlurmctldHost=elsewhere\\nAuthType=auth/none",
         "spec.extraConf: line 1: SlurmctldHost is the pod's name and cannot be set; remove the "
         "line\n"
         "spec.extraConf: line 2: AuthType is auth/slurm or auth/munge and cannot be set to "
         "auth/none; remove the line\n"},
        {SERIES(24, 11), "AuthType=auth/munge", ""},
        {SERIES(24, 11), "authtype=auth/slurm", ""},
        {RELEASE(22, 5, 8), "AuthType=auth/slurm",
         "spec.extraConf: line 1: AuthType: 'auth/slurm' needs Slurm 23.11 or later\n"},
        {RELEASE(22, 5, 8), "DownNodes=nowhere State=DOWN",
         "warning: spec.extraConf: line 1: DownNodes: there is no node nowhere\n"},
        {SERIES(25, 5), "ReturnToService=2\\nPartitionName=x Nodes=later MaxTime=1", ""},
        {SERIES(25, 5), "# fine\\nReturnToServce=2",
         "spec.extraConf: line 2: unknown key ReturnToServce; did you mean ReturnToService?\n"},
        {RELEASE(22, 5, 8), "MetricsType=metrics/openmetrics",
         "spec.extraConf: line 1: MetricsType needs Slurm 25.11; this cluster runs 22.05\n"},
        {RELEASE(22, 5, 8), "PartitionName=x Nodes=later State=AWAY",
         "spec.extraConf: line 1: partition x: State: 'AWAY' is not UP, DOWN, DRAIN or "
         "INACTIVE\n"},
        {RELEASE(22, 5, 8), "PartitionName=DEFAULT MaxTime=1\\nPartitionName=x Nodes=ALL", ""},
        {RELEASE(22, 5, 8), "SelectType=select/linear\\nMaxNodeCount=5",
         "spec.extraConf: line 2: MaxNodeCount needs SelectType=select/cons_tres, and here it is "
         "select/linear\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(told(&a, arena_printf(&a, "  {extraConf: \"%s\"}", cases[i].extra),
                                 cases[i].release, false),
                            cases[i].lines);
    }
}

/* What the API takes, `render` takes, and the other way round, in the same words. */
static void one_checker_answers_for_both(void **state)
{
    static const char *const specs[] = {
        "  {extraConf: \"SlurmSchedLogLevel=1\"}",
        "  {extraConf: \"Include none.conf\"}",
        "  {extraConf: \"Include more.conf\", configFileRefs: [{name: more}]}",
        "  {extraConf: \"ReturnToService=2\\nInclude good.conf\", configFileRefs: [{name: good}]}",
        "  {extraConf: \"SchedulerType=sched/none\"}",
        "  {extraConf: \"SelectType=select/linear\"}",
        "  {extraConf: \"MaxJobCount=1\\nMaxJobCount=2\"}",
        "  {extraConf: \"Prolog=/etc/slurm/none.sh\"}",
        "  {extraConf: \"SlurmctldParameters=idle_on_node_suspend\"}",
        "  {extraConf: \"Foo=1\"}",
        "  {extraConf: \"SlurmctldLogFile=relative.log\"}",
        "  {extraConf: \"StateSaveLocation=/x\"}",
    };
    static const uint32_t releases[] = {RELEASE(22, 5, 8), SERIES(24, 11), SERIES(26, 5)};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        for (size_t k = 0; k < ARRAY_LEN(releases); k++) {
            AUTO(arena_done) struct arena a = {0};

            assert_string_equal(told(&a, specs[i], releases[k], false),
                                told(&a, specs[i], releases[k], true));
        }
}

static void an_include_is_looked_for_where_the_file_will_find_it(void **state)
{
    AUTO(arena_done) struct arena a = {0};

    (void)state;
    assert_string_equal(told(&a, "  {extraConf: SlurmSchedLogLevel=1}", RELEASE(22, 5, 8), false),
                        "");
    assert_non_null(strstr(told(&a, "  {extraConf: Include none.conf}", RELEASE(22, 5, 8), false),
                           "no ConfigMap of configFileRefs has a key 'none.conf'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extra_conf_is_held_against_the_release),
        cmocka_unit_test(one_checker_answers_for_both),
        cmocka_unit_test(an_include_is_looked_for_where_the_file_will_find_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
