/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the configuration files: texts to the letter, and what is refused. */
#include "src/build/test/clusters.h"

#include "src/build/controller_config.h"

#define CONTROLLER                                                                                 \
    "apiVersion: slinky.slurm.net/v1beta1\nkind: Controller\n"                                     \
    "metadata: {name: main, namespace: slurm}\nspec:\n"
#define NODESET(name)                                                                              \
    "---\napiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nmetadata: {name: " name             \
    ", namespace: slurm}\nspec:\n  controllerRef: {name: main}\n"
#define FILES(name, data)                                                                          \
    "---\nkind: ConfigMap\nmetadata: {name: " name ", namespace: slurm}\ndata:\n" data

static const char everything[] = CONTROLLER
    "  clusterName: hpc\n  accountingRef: {name: acct}\n  jwksKeyRef: {name: jwks, key: jwks}\n"
    "  ha: {enabled: true, backups: 1}\n  metrics: {enabled: true}\n"
    "  extraConf: |\n    # ours\n    ReturnToService=2\n"
    "    SlurmctldParameters=cloud_dns,enable_configless\n"
    "    AuthAltParameters=jwt_key=/Other,userclaimfield=Sub\n"
    "    PartitionName=all Nodes=ALL Default=NO\n"
    "  configFileRefs: [{name: files}]\n"
    "  prologScriptRefs: [{name: before}]\n  epilogScriptRefs: [{name: after}]\n"
    "  prologSlurmctldScriptRefs: [{name: ctld}]\n"
    "  persistence: {existingClaim: shared}\n" NODESET(
        "gpu") "  replicas: 2000\n  template: {spec: {hostname: g-}}\n"
               "  partition: {enabled: true}\n" NODESET(
                   "compute") "  partition: {enabled: true, config: 'Default=YES "
                              "MaxTime=24:00:00'}\n" NODESET(
                                  "spare") "  partition: {enabled: "
                                           "false, config: "
                                           "'MaxTime=1'}\n" FILES("file"
                                                                  "s",
                                                                  "  "
                                                                  "gres."
                                                                  "conf:"
                                                                  " Auto"
                                                                  "Detec"
                                                                  "t="
                                                                  "off"
                                                                  "\n")
                                               FILES("before", "  10-a.sh: x\n  "
                                                               "20-b.sh: x\n")
                                                   FILES("after", "  z.sh: x\n")
                                                       FILES("ctld", "  p.sh: "
                                                                     "x\n") "---"
                                                                            "\nk"
                                                                            "ind"
                                                                            ": "
                                                                            "Acc"
                                                                            "oun"
                                                                            "tin"
                                                                            "g\n"
                                                                            "met"
                                                                            "ada"
                                                                            "ta:"
                                                                            " {"
                                                                            "nam"
                                                                            "e: "
                                                                            "acc"
                                                                            "t, "
                                                                            "nam"
                                                                            "esp"
                                                                            "ace"
                                                                            ": "
                                                                            "slu"
                                                                            "rm}"
                                                                            "\ns"
                                                                            "pec"
                                                                            ": "
                                                                            "{se"
                                                                            "rvi"
                                                                            "ce:"
                                                                            " {"
                                                                            "por"
                                                                            "t: "
                                                                            "781"
                                                                            "9}}"
                                                                            "\n";

static const char *conf_of(struct arena *a, uint32_t release, enum build_cgroup cgroup,
                           const char *yaml, const char *file, struct api_problems *p, int *ret)
{
    struct test_cluster t = {.env.cgroup = cgroup};
    struct build_config config;

    cluster_of(a, &t, release, yaml);
    *ret = build_config(a, &t.cluster, &config, p);
    return build_config_file(&config, file);
}

static void texts_are_kept_to_the_letter(void **state)
{
    static const struct {
        const char *golden;
        uint32_t release;
        const char *yaml;
    } cases[] = {
        {"everything-26.05.conf", SERIES(26, 5), everything},
        {"empty-22.05.conf", RELEASE(22, 5, 8), CONTROLLER "  {}\n"},
        {"empty-25.11.conf", SERIES(25, 11), CONTROLLER "  {}\n"},
        {"external.conf", SERIES(25, 5),
         CONTROLLER "  {external: true, externalConfig: {host: ctl.example, port: 7777}, "
                    "accountingRef: {name: acct}, extraConf: 'X=1'}\n"
                    "---\nkind: Accounting\nmetadata: {name: acct, namespace: slurm}\n"
                    "spec: {external: true, externalConfig: {host: db.example, port: 6000}}\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *text =
            conf_of(&a, cases[i].release, BUILD_CGROUP_V2, cases[i].yaml, "slurm.conf", &p, &r);

        assert_string_equal(lines_of(&a, &p), "");
        assert_int_equal(r, 0);
        assert_golden(cases[i].golden, text);
    }
}

static void accounting_that_is_not_there_is_not_configured(void **state)
{
    static const char reference[] = CONTROLLER "  {accountingRef: {name: acct}}\n";
    static const char there[] = "---\nkind: Accounting\nmetadata: {name: acct, namespace: slurm}\n"
                                "spec: {external: true, externalConfig: {host: db, port: 6000}}\n";
    static const char written[] =
        "---\nkind: ConfigMap\nmetadata: {name: main-config, namespace: slurm}\ndata:\n"
        "  slurm.conf: \"AccountingStorageType=accounting_storage/slurmdbd\\n"
        "AccountingStorageHost=db\\nAccountingStoragePort=6000\\n\"\n";
    static const char coming[] =
        "---\nkind: Accounting\nmetadata: {name: acct, namespace: slurm, uid: u}\nspec: {}\n";
    static const char answering[] =
        "---\nkind: Accounting\nmetadata: {name: acct, namespace: slurm, uid: u}\nspec: {}\n"
        "status: {conditions: [{type: Ready, status: 'True', reason: x, message: z, "
        "lastTransitionTime: '2026-11-19T00:00:00Z'}]}\n";
    static const char answered[] =
        "---\nkind: ConfigMap\nmetadata: {name: main-config, namespace: slurm}\ndata:\n"
        "  slurm.conf: \"AccountingStorageType=accounting_storage/slurmdbd\\n"
        "AccountingStorageHost=acct-accounting\\nAccountingStoragePort=6819\\n\"\n";
    static const struct {
        const char *last;
        const char *now;
        const char *host;
    } cases[] = {
        {"", "", NULL},
        /* slurmctld would hang for a slurmdbd that it has never seen, and later go on without. */
        {"", coming, NULL},
        {"", answering, "\nAccountingStorageHost=acct-accounting\nAccountingStoragePort=6819\n"},
        {answered, coming, "\nAccountingStorageHost=acct-accounting\nAccountingStoragePort=6819\n"},
        /* another one than before: the one of before, until it answers */
        {written, coming, "\nAccountingStorageHost=db\nAccountingStoragePort=6000\n"},
        {"", there, "\nAccountingStorageHost=db\nAccountingStoragePort=6000\n"},
        /* It was there: nobody turns accounting off by deleting an object. */
        {written, "", "\nAccountingStorageHost=db\nAccountingStoragePort=6000\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *text =
            conf_of(&a, RELEASE(22, 5, 8), BUILD_CGROUP_V2,
                    arena_printf(&a, "%s%s%s", reference, cases[i].last, cases[i].now),
                    "slurm.conf", &p, &r);

        assert_int_equal(r, 0);
        assert_non_null(strstr(text, "\nJobAcctGatherType=jobacct_gather/linux\n"));
        if (cases[i].host)
            assert_non_null(strstr(text, cases[i].host));
        else
            assert_non_null(strstr(text, "\nAccountingStorageType=accounting_storage/none\n"));
    }
}

/* What a text has between two others. */
static const char *cut(struct arena *a, const char *text, const char *from, const char *to)
{
    const char *start = strstr(text, from);
    const char *end = start ? strstr(start, to) : NULL;

    if (!start)
        return "";
    return end ? arena_str(a, (struct str){start, (size_t)(end - start)}) : start;
}

static void nodesets_make_lines_as_documented(void **state)
{
    static const struct {
        const char *nodesets;
        const char *lines;
    } cases[] = {
        {"", ""},
        {NODESET("foo") "  partition: {enabled: true}\n",
         "### COMPUTE & PARTITION ###\nNodeSet=foo Feature=foo\nPartitionName=foo Nodes=foo \n"},
        {NODESET("foo") "  partition: {enabled: true, config: 'Default=YES'}\n",
         "### COMPUTE & PARTITION ###\nNodeSet=foo Feature=foo\n"
         "PartitionName=foo Nodes=foo Default=YES\n"},
        {NODESET("foo") "  partition: {enabled: true, config: 'MaxTime=24:00:00 Default=YES'}\n",
         "### COMPUTE & PARTITION ###\nNodeSet=foo Feature=foo\n"
         "PartitionName=foo Nodes=foo MaxTime=24:00:00 Default=YES\n"},
        {NODESET("foo") "  partition: {enabled: false, config: 'Default=YES'}\n",
         "### COMPUTE & PARTITION ###\nNodeSet=foo Feature=foo\n"},
        {NODESET("foo"), "### COMPUTE & PARTITION ###\nNodeSet=foo Feature=foo\n"},
        {NODESET("b") NODESET("a") "  partition: {}\n",
         "### COMPUTE & PARTITION ###\nNodeSet=a Feature=a\nPartitionName=a Nodes=a \n"
         "NodeSet=b Feature=b\n"},
        {NODESET("foo") "  template: {spec: {hostname: -bar-}}\n  partition: {}\n",
         "### COMPUTE & PARTITION ###\nNodeSet=bar Feature=bar\nPartitionName=bar Nodes=bar \n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *yaml = arena_printf(&a, CONTROLLER "  {}\n%s", cases[i].nodesets);
        const char *text = conf_of(&a, SERIES(25, 5), BUILD_CGROUP_V2, yaml, "slurm.conf", &p, &r);

        assert_string_equal(cut(&a, text, "### COMPUTE", "\n#\n"), cases[i].lines);
        assert_string_equal(lines_of(&a, &p), "");
        assert_int_equal(r, 0);
    }
}

static void scripts_follow_the_release(void **state)
{
    static const char one[] =
        CONTROLLER "  prologScriptRefs: [{name: s}]\n"
                   "  epilogScriptRefs: [{name: s}]\n"
                   "  epilogSlurmctldScriptRefs: [{name: s}]\n" FILES("s", "  go.sh: x\n");
    static const struct {
        uint32_t release;
        const char *lines;
    } cases[] = {
        {SERIES(24, 5), "### SLURMCTLD PROLOG & EPILOG ###\nEpilogSlurmctld=/etc/slurm/go.sh\n#\n"
                        "### PROLOG & EPILOG ###\nProlog=go.sh\nEpilog=go.sh\n"},
        {SERIES(23, 11), "### SLURMCTLD PROLOG & EPILOG ###\nEpilogSlurmctld=/etc/slurm/go.sh\n#\n"
                         "### PROLOG & EPILOG ###\nProlog=/etc/slurm.prolog.d/*\n"
                         "Epilog=/etc/slurm.epilog.d/*\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *text =
            conf_of(&a, cases[i].release, BUILD_CGROUP_V2, one, "slurm.conf", &p, &r);

        assert_int_equal(r, 0);
        assert_string_equal(cut(&a, text, "### SLURMCTLD PROLOG", "#\n### X"), cases[i].lines);
    }
}

static void cgroup_conf_follows_the_nodes(void **state)
{
    static const struct {
        enum build_cgroup cgroup;
        uint32_t release;
        const char *text;
        bool linuxproc;
    } cases[] = {
        {BUILD_CGROUP_V2, SERIES(22, 5), "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n", false},
        {BUILD_CGROUP_V1, SERIES(22, 5), "CgroupPlugin=cgroup/v1\n", false},
        {BUILD_CGROUP_HYBRID, SERIES(25, 5), "CgroupPlugin=cgroup/v1\n", false},
        {BUILD_CGROUP_AUTO, SERIES(22, 5), "CgroupPlugin=autodetect\nIgnoreSystemd=yes\n", false},
        {BUILD_CGROUP_NONE, SERIES(22, 5), "CgroupPlugin=cgroup/v1\n", true},
        {BUILD_CGROUP_NONE, SERIES(25, 5), "CgroupPlugin=disabled\n", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;
        const char *yaml = CONTROLLER "  {}\n";

        assert_string_equal(
            conf_of(&a, cases[i].release, cases[i].cgroup, yaml, "cgroup.conf", &p, &r),
            cases[i].text);
        assert_int_equal(r, 0);
        assert_int_equal(
            strstr(conf_of(&a, cases[i].release, cases[i].cgroup, yaml, "slurm.conf", &p, &r),
                   "ProctrackType=proctrack/linuxproc\n") != NULL,
            cases[i].linuxproc);
    }
}

static void the_users_cgroup_conf_takes_the_place_of_ours(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    int r;

    (void)state;
    assert_null(conf_of(&a, SERIES(25, 5), BUILD_CGROUP_V2,
                        CONTROLLER "  configFileRefs: [{name: f}]\n" FILES(
                            "f", "  cgroup.conf: ConstrainCores=yes\n"),
                        "cgroup.conf", &p, &r));
    assert_int_equal(r, 0);
}

static void what_slurm_would_refuse_is_told_of_its_author(void **state)
{
    static const struct {
        const char *yaml;
        int ret;
        const char *lines;
    } cases[] = {
        {CONTROLLER "  extraConf: |\n    # fine\n    ReturnToService=two\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 2: ReturnToService: 'two' is not 0, 1 or "
         "2\n"},
        {CONTROLLER "  extraConf: |\n    MaxNodeCount=5\n    KillWait=1\n    KillWait=2\n", 0,
         "warning: Controller slurm/main: spec.extraConf: line 3: KillWait was set before to "
         "another value; this one counts\n"},
        {CONTROLLER "  extraConf: |\n    # mine\n    SlurmUser=me\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 2: SlurmUser is the user of the pod and "
         "cannot be set; remove the line\n"},
        {CONTROLLER "  extraConf: 'Include more.conf'\n  configFileRefs: [{name: f}]\n" FILES(
             "f", "  more.conf: \"KillWait=3\\nStateSaveLocation=/tmp\"\n"),
         -EINVAL,
         "Controller slurm/main: spec.configFileRefs[0].name: more.conf line 2: StateSaveLocation "
         "is the pod's volume and cannot be set; remove the line\n"},
        {CONTROLLER "  extraConf: 'Include more.conf'\n  configFileRefs: [{name: f}]\n" FILES(
             "f", "  more.conf: AuthType=auth/munge\n"),
         -EINVAL,
         "Controller slurm/main: spec.configFileRefs[0].name: more.conf line 1: AuthType decides "
         "which keys pods have: say it in spec.extraConf itself\n"},
        {CONTROLLER "  extraConf: 'PrologSlurmctld=/etc/slurm/up.sh'\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 1: PrologSlurmctld=/etc/slurm/up.sh: no "
         "ConfigMap of configFileRefs or script refs has a key 'up.sh'\n"},
        {CONTROLLER "  extraConf: 'PrologSlurmctld=/etc/slurm/up.sh'\n  configFileRefs: [{name: f}]"
                    "\n" FILES("f", "  up.sh: 'true'\n"),
         0, ""},
        {CONTROLLER "  extraConf: 'PrologSlurmctld=/usr/local/bin/up'\n", 0, ""},
        {CONTROLLER "  extraConf: 'Prolog=/etc/slurm/up.sh'\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 1: Prolog=/etc/slurm/up.sh: nodes have no "
         "files there; name its ConfigMap in prologScriptRefs or epilogScriptRefs, or mount it "
         "elsewhere by the NodeSet\n"},
        {CONTROLLER "  extraConf: 'NoSuchKey=1'\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 1: unknown key NoSuchKey\n"},
        {CONTROLLER "  extraConf: 'PartitionName=x Nodes=gpu'\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 1: partition x: there is no node or node set "
         "gpu in this configuration\n"},
        {CONTROLLER
         "  extraConf: 'PartitionName=gpu Nodes=gpu'\n" NODESET("gpu") "  partition: {}\n",
         -EINVAL,
         "Controller slurm/main: spec.extraConf: line 1: partition gpu stands twice, first in "
         "slurm.conf line 32\n"},
        {CONTROLLER "  {}\n" NODESET("gpu") "  partition: {config: 'MaxTime=soon'}\n", -EINVAL,
         "NodeSet slurm/gpu: spec.partition.config: MaxTime: 'soon' is not a time: minutes, "
         "minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, "
         "days-hours:minutes:seconds or UNLIMITED\n"},
        {CONTROLLER "  {}\n" NODESET("gpu") "  partition: {config: \"A=1\\nB=2\"}\n", -EINVAL,
         "NodeSet slurm/gpu: spec.partition.config: must stand in one line\n"},
        {CONTROLLER "  configFileRefs: [{name: none}]\n", -EINVAL,
         "Controller slurm/main: spec.configFileRefs[0].name: there is no ConfigMap none in "
         "namespace slurm\n"},
        {CONTROLLER "  configFileRefs: [{name: f}]\n" FILES("f", "  gres.conf: 'Nam=gpu'\n"),
         -EINVAL,
         "Controller slurm/main: spec.configFileRefs[0].name: gres.conf line 1: unknown key Nam\n"},
        {CONTROLLER "  extraConf: 'Include more.conf'\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 1: Include 'more.conf': no ConfigMap of "
         "configFileRefs has a key 'more.conf'\n"},
        {CONTROLLER "  extraConf: 'Include more.conf'\n  configFileRefs: [{name: f}]\n" FILES(
             "f", "  more.conf: 'ReturnToService=2'\n"),
         0, ""},
        {CONTROLLER "  extraConf: 'Include more.conf'\n  configFileRefs: [{name: f}]\n" FILES(
             "f", "  more.conf: 'ReturnToService=x'\n"),
         -EINVAL,
         "Controller slurm/main: spec.configFileRefs[0].name: more.conf line 1: ReturnToService: "
         "'x' is not 0, 1 or 2\n"},
        {CONTROLLER "  extraConf: |\n    SlurmUser=slurm\n    SlurmctldHost=elsewhere\n", -EINVAL,
         "Controller slurm/main: spec.extraConf: line 2: SlurmctldHost is the pod's name and "
         "cannot be set; remove the line\n"},
        {CONTROLLER "  extraConf: 'Include more.conf'\n  configFileRefs: [{name: f}]\n" FILES(
             "f", "  more.conf: 'ClusterName=other'\n"),
         -EINVAL,
         "Controller slurm/main: spec.configFileRefs[0].name: more.conf line 1: ClusterName comes "
         "from spec.clusterName and cannot be set; remove the line\n"},
        {CONTROLLER "  extraConf: 'NodeSet=gpu Feature=x'\n" NODESET("gpu"), -EINVAL,
         "Controller slurm/main: spec.extraConf: line 1: node set gpu is that of NodeSet gpu; "
         "remove the line or choose another name\n"
         "warning: Controller slurm/main: spec.extraConf: line 1: node set gpu stands twice; the "
         "first one counts\n"},
        {CONTROLLER "  {}\n" NODESET("b") "  template: {spec: {hostname: a-}}\n" NODESET("a"), 0,
         "NodeSet slurm/b: spec.template.spec.hostname: NodeSet a of the same cluster has the name "
         "a in Slurm already; this one is left out until it has another\n"},
        {CONTROLLER "  accountingRef: {name: acct}\n", 0,
         "warning: Controller slurm/main: spec.accountingRef.name: there is no Accounting acct in "
         "namespace slurm; slurmctld runs without accounting until it is there\n"},
        {CONTROLLER "  {}\n" NODESET("a") "  partition: {config: 'Default=YES'}\n" NODESET(
             "b") "  partition: {config: 'Default=YES'}\n",
         0,
         "warning: NodeSet slurm/b: spec.partition.config: partition b takes Default from "
         "partition "
         "a: only one can be the default\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;

        (void)conf_of(&a, SERIES(25, 5), BUILD_CGROUP_V2, cases[i].yaml, "slurm.conf", &p, &r);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
        assert_int_equal(r, cases[i].ret);
    }
}

static void topology_yaml_needs_a_slurm_that_reads_it(void **state)
{
    static const struct {
        uint32_t release;
        int ret;
        const char *lines;
    } cases[] = {
        {RELEASE(24, 11, 5), -EINVAL,
         "Controller slurm/main: spec.configFileRefs[0].name: topology.yaml needs Slurm 25.05; "
         "this cluster runs 24.11; write topology.conf\n"},
        {SERIES(25, 5), 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        int r;

        (void)conf_of(&a, cases[i].release, BUILD_CGROUP_V2,
                      CONTROLLER
                      "  configFileRefs: [{name: f}]\n" FILES("f", "  topology.yaml: '[]'\n"),
                      "slurm.conf", &p, &r);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
        assert_int_equal(r, cases[i].ret);
    }
}

static void several_slurmctld_scripts_need_a_newer_slurm(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    int r;

    (void)state;
    (void)conf_of(&a, RELEASE(22, 5, 8), BUILD_CGROUP_V2,
                  CONTROLLER
                  "  prologSlurmctldScriptRefs: [{name: s}]\n" FILES("s", "  a.sh: x\n  b.sh: x\n"),
                  "slurm.conf", &p, &r);
    assert_int_equal(r, -EINVAL);
    assert_string_equal(
        lines_of(&a, &p),
        "Controller slurm/main: spec.prologSlurmctldScriptRefs: Slurm before 24.05 "
        "runs one PrologSlurmctld only, and here are 2 scripts; make one of them\n");
}

static void the_hash_covers_the_users_files(void **state)
{
    static const char *const cases[] = {
        CONTROLLER "  configFileRefs: [{name: f}]\n" FILES("f", "  gres.conf: 'AutoDetect=off'\n"),
        CONTROLLER "  configFileRefs: [{name: f}]\n" FILES("f", "  gres.conf: 'AutoDetect=nvml'\n"),
        CONTROLLER "  configFileRefs: [{name: f}]\n  extraConf: 'ReturnToService=1'\n" FILES(
            "f", "  gres.conf: 'AutoDetect=off'\n"),
    };
    AUTO(arena_done) struct arena a = {0};
    struct build_config config[ARRAY_LEN(cases)];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct test_cluster t = {0};
        struct api_problems p = {.arena = &a};

        cluster_of(&a, &t, SERIES(25, 5), cases[i]);
        assert_int_equal(build_config(&a, &t.cluster, &config[i], &p), 0);
    }
    assert_string_not_equal(config[0].hash, config[1].hash);
    assert_string_not_equal(config[0].hash, config[2].hash);
}

static void a_kind_of_authentication_needs_its_release(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    int r;

    (void)state;
    (void)conf_of(&a, SERIES(22, 5), BUILD_CGROUP_V2,
                  CONTROLLER "  extraConf: AuthType=auth/slurm\n", "slurm.conf", &p, &r);
    assert_string_equal(
        lines_of(&a, &p),
        "Controller slurm/main: spec.extraConf: line 1: AuthType: 'auth/slurm' needs "
        "Slurm 23.11 or later\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounting_that_is_not_there_is_not_configured),
        cmocka_unit_test(texts_are_kept_to_the_letter),
        cmocka_unit_test(nodesets_make_lines_as_documented),
        cmocka_unit_test(scripts_follow_the_release),
        cmocka_unit_test(cgroup_conf_follows_the_nodes),
        cmocka_unit_test(the_users_cgroup_conf_takes_the_place_of_ours),
        cmocka_unit_test(what_slurm_would_refuse_is_told_of_its_author),
        cmocka_unit_test(a_kind_of_authentication_needs_its_release),
        cmocka_unit_test(topology_yaml_needs_a_slurm_that_reads_it),
        cmocka_unit_test(several_slurmctld_scripts_need_a_newer_slurm),
        cmocka_unit_test(the_hash_covers_the_users_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
