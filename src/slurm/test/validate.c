/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of validation: what Slurm refuses or dies of is found, with its place. */
#include "src/slurm/test/make.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/slurm/validate.h"

#define R2205 RELEASE(22, 5, 8)
#define R2302 RELEASE(23, 2, 8)
#define R2311 RELEASE(23, 11, 11)
#define R2411 RELEASE(24, 11, 7)
#define R2511 RELEASE(25, 11, 7)

/* A file that is right, to which the cases add lines: they start at line 5. */
#define GOOD                                                                                       \
    "ClusterName=c\n"                                                                              \
    "SlurmctldHost=h\n"                                                                            \
    "NodeName=n[1-9] CPUs=2\n"                                                                     \
    "PartitionName=all Nodes=ALL\n"

static void validate(enum conf_kind kind, const char *text, uint32_t release, const char *dynamic,
                     struct buf *out)
{
    AUTO(made_done) struct made m = make(kind, text, release);
    AUTO(hostset_free) struct host_set *nodes = NULL;
    struct validate_context ctx = {.release = release};
    struct err e = {0};

    if (dynamic) {
        assert_int_equal(hostset_parse(str_of(dynamic), &nodes, &e), 0);
        ctx.dynamic_nodes = nodes;
    }
    validate_conf(m.conf, &ctx, &m.faults);
    faults_print(&m.faults, out);
}

struct good_case {
    uint32_t release;
    const char *more; /* lines after GOOD */
    const char *faults;
};

static void check_cases(const struct good_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(free) char *text = xasprintf("%s%s", GOOD, cases[i].more);
        AUTO(buf_done) struct buf out = {0};

        validate(CONF_SLURM, text, cases[i].release, NULL, &out);
        assert_string_equal(buf_str(&out), cases[i].faults);
    }
}

static void keys_and_values_are_checked(void **state)
{
    static const struct good_case cases[] = {
        {R2205, "", ""},
        {R2511, "", ""},
        {R2205, "Foo=1", "slurm.conf:5: error: unknown key Foo\n"},
        {R2205, "SlurmctldTimout=1",
         "slurm.conf:5: error: unknown key SlurmctldTimout; did you mean SlurmctldTimeout?\n"},
        {R2205, "PartitionName=p MaxTimes=1",
         "slurm.conf:5: error: unknown key MaxTimes; did you mean MaxTime?\n"},
        {R2205, "PartitionName=p SlurmctldPort=1",
         "slurm.conf:5: error: SlurmctldPort is a key of the cluster, not of a partition\n"},
        {R2205, "MetricsType=metrics/openmetrics",
         "slurm.conf:5: error: MetricsType needs Slurm 25.11; this cluster runs 22.05\n"},
        {R2511, "MetricsType=metrics/openmetrics", ""},
        {R2302, "SlurmctldPlugstack=x",
         "slurm.conf:5: error: SlurmctldPlugstack was removed from Slurm; it is an error since "
         "23.02\n"},
        {R2511, "PowerPlugin=x",
         "slurm.conf:5: warning: PowerPlugin does nothing since Slurm "
         "24.05\n"},
        {R2205, "PartitionName=p MaxTime=soon",
         "slurm.conf:5: error: MaxTime: 'soon' is not a time: minutes, minutes:seconds, "
         "hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds or "
         "UNLIMITED\n"},
        {R2205, "PartitionName=p State=ON",
         "slurm.conf:5: error: State: 'ON' is not UP, DOWN, DRAIN or INACTIVE\n"},
        {R2205, "PartitionName=p Default=PERHAPS",
         "slurm.conf:5: error: Default: 'PERHAPS' is neither YES nor NO\n"},
        {R2205, "AuthType=auth/slurm",
         "slurm.conf:5: error: AuthType: 'auth/slurm' needs Slurm 23.11 or later\n"},
        {R2311, "AuthType=auth/slurm\nCredType=cred/slurm", ""},
        {R2311, "SelectType=select/cons_res",
         "slurm.conf:5: error: SelectType: 'select/cons_res' is gone since Slurm 23.11\n"},
        {R2205, "AuthType=auth/mine",
         "slurm.conf:5: warning: AuthType: 'auth/mine' is not a plugin of Slurm's own; it must be "
         "installed\n"},
        {R2205, "DebugFlags=Gres,Gress",
         "slurm.conf:5: error: DebugFlags: 'Gres,Gress' has 'Gress', which is not "},
        {R2205, "PartitionName=p MaxCPUsPerSocket=2",
         "slurm.conf:5: error: MaxCPUsPerSocket needs Slurm 23.02; this cluster runs 22.05\n"},
        {R2205, "PartitionName=p State=UP State=DOWN",
         "slurm.conf:5: warning: State stands twice in the line, the last one counts\n"},
        {R2205, "PartitionName=p Nodes+=n1",
         "slurm.conf:5: warning: Nodes+= means Nodes= in a file\n"},
        {R2205, "PartitionName=p CpuBind=sideways",
         "slurm.conf:5: warning: CpuBind: 'sideways' is not none, socket, ldom, core, thread or "
         "off\n"},
        {R2205, "PartitionName=DEFAULT ExclusiveUser=YES",
         "slurm.conf:5: warning: ExclusiveUser of a DEFAULT line is not inherited\n"},
        {R2205, "NodeName=DEFAULT NodeAddr=x",
         "slurm.conf:5: error: NodeAddr cannot stand in a DEFAULT line\n"},
        {R2205, "NodeName=DEFAULT CPUs=many",
         "slurm.conf:5: error: CPUs: 'many' is not a number from 0 to 65535, INFINITE or "
         "UNLIMITED\n"},
        {R2205, "TaskPluginParam=foo",
         "slurm.conf:5: error: TaskPluginParam: 'foo' has 'foo', which is not "},
        {R2205, "TaskPluginParam=Cores,autobind=Threads", ""},
        {R2205, "SlurmdDebug=11", ""},
        {R2205, "MessageTimeout=10\nMessageTimeout=20",
         "slurm.conf:6: warning: MessageTimeout was set before to another value; this one "
         "counts\n"},
        {R2205, "MessageTimeout=10\nMessageTimeout=012", ""},
        {R2511, "Prolog=a\nProlog=b", ""},
        {R2205, "Prolog=a\nProlog=b",
         "slurm.conf:6: warning: Prolog was set before to another value; this one counts\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *text = xasprintf("%s%s", GOOD, cases[i].more);
        AUTO(buf_done) struct buf out = {0};

        validate(CONF_SLURM, text, cases[i].release, NULL, &out);
        /* lists of choices are long: the start is enough for those that end in a blank */
        if (ends_with(cases[i].faults, " "))
            assert_true(starts_with(buf_str(&out), cases[i].faults));
        else
            assert_string_equal(buf_str(&out), cases[i].faults);
    }
}

static void nodes_and_node_sets_are_checked(void **state)
{
    static const struct good_case cases[] = {
        {R2205, "NodeName=n[9-12]",
         "slurm.conf:5: error: node n9 is defined already, in slurm.conf line 3\n"},
        {R2205, "NodeName=m1,m1",
         "slurm.conf:5: error: node m1 is defined already, in slurm.conf line 5\n"},
        {R2205, "NodeName=all", "slurm.conf:5: error: a node cannot be called all\n"},
        {R2205, "NodeName=m[1-3] NodeAddr=10.0.0.[1-2]",
         "slurm.conf:5: error: NodeAddr has 2 elements for 3 nodes; it needs as many, or one\n"},
        {R2205, "NodeName=m[1-3] NodeAddr=10.0.0.1 Port=7001-7003", ""},
        {R2205, "NodeName=m[1-3] Port=7001-7004",
         "slurm.conf:5: error: Port has 4 elements for 3 nodes; it needs as many, or one\n"},
        {R2205, "NodeName=m1 Port=70000",
         "slurm.conf:5: error: Port: '70000' is not within 1 to 65535\n"},
        {R2205, "NodeName=m1 Port=x", "slurm.conf:5: error: Port: 'x' is not within 1 to 65535\n"},
        {R2205, "NodeName=m[1-",
         "slurm.conf:5: error: NodeName: 'm[1-' is not a host list: host list 'm[1-', column 2: "
         "the bracket is not closed\n"},
        {R2205, "NodeName=m1 State=SLEEPY",
         "slurm.conf:5: error: State: 'SLEEPY' is not UNKNOWN, DOWN, IDLE, ALLOCATED, ERROR, "
         "MIXED, FUTURE, CLOUD, DRAIN, FAIL or EXTERNAL\n"},
        {R2205, "NodeName=m1 State=CLOUD", ""},
        {R2205, "NodeSet=s Feature=f\nNodeSet=s Feature=g",
         "slurm.conf:6: warning: node set s stands twice; the first one counts\n"},
        {R2205, "NodeSet=n1 Feature=f",
         "slurm.conf:5: warning: NodeSet n1 has the name of a node\n"},
        {R2411, "NodeSet=n1 Feature=f", "slurm.conf:5: error: NodeSet n1 has the name of a node\n"},
        {R2205, "NodeSet=s",
         "slurm.conf:5: warning: node set s has neither Feature nor Nodes: it is empty\n"},
        {R2205, "NodeSet=s Nodes=ALL",
         "slurm.conf:5: warning: node set s: Nodes=ALL does not work in a node set of this "
         "release\n"},
        {R2205, "NodeSet=s Nodes=ALL\nPartitionName=p Nodes=s",
         "slurm.conf:5: warning: node set s: Nodes=ALL does not work in a node set of this "
         "release\n"
         "slurm.conf:6: error: partition p: there is no node or node set ALL in this "
         "configuration\n"},
        {R2311, "NodeSet=s Nodes=ALL\nPartitionName=p Nodes=s", ""},
        {R2311, "NodeSet=s Nodes=ALL", ""},
        {R2205, "DownNodes=n1 State=FOO",
         "slurm.conf:5: warning: State: 'FOO' is not UNKNOWN, DOWN, IDLE, ALLOCATED, ERROR, MIXED, "
         "FUTURE, CLOUD, DRAIN, FAIL or EXTERNAL\n"},
        {R2205, "PartitionName=p Nodes=n1 Alternate=away",
         "slurm.conf:5: warning: partition p: its Alternate away is not a partition of this "
         "configuration\n"},
        {R2205, "PartitionName=p Nodes=n1 Alternate=q\nPartitionName=q Nodes=n1 Alternate=NONE",
         ""},
        {R2205, "DownNodes=n[8-12]", "slurm.conf:5: warning: DownNodes: there is no node n10\n"},
        {R2205, "FrontendName=f",
         "slurm.conf:5: error: FrontendName needs a Slurm that was built for front ends\n"},
    };

    (void)state;
    check_cases(cases, ARRAY_LEN(cases));
}

static void partitions_are_checked(void **state)
{
    static const struct good_case cases[] = {
        {R2205, "PartitionName=p Nodes=n[1-3]", ""},
        {R2205, "PartitionName=p Nodes=n[8-12],zoo",
         "slurm.conf:5: error: partition p: there is no node or node set n[10-12],zoo in this "
         "configuration\n"},
        {R2205, "NodeSet=gpu Feature=gpu\nPartitionName=p Nodes=gpu,n1", ""},
        {R2205, "PartitionName=p Nodes=gpu\nNodeSet=gpu Feature=gpu", ""},
        {R2205, "NodeSet=a Nodes=n1,b\nNodeSet=b Nodes=n2\nPartitionName=p Nodes=a", ""},
        {R2205, "NodeSet=b Nodes=n2\nNodeSet=a Nodes=n1,b\nPartitionName=p Nodes=a",
         "slurm.conf:7: error: partition p: there is no node or node set b in this "
         "configuration\n"},
        {R2205, "NodeSet=a Nodes=zoo\nPartitionName=p Nodes=a",
         "slurm.conf:6: error: partition p: there is no node or node set zoo in this "
         "configuration\n"},
        {R2205, "NodeSet=a Nodes=zoo", ""},
        {R2205, "NodeSet=a Feature=x\nPartitionName=p Nodes=a,a",
         "slurm.conf:6: error: partition p names node set a twice\n"},
        {R2205, "PartitionName=p Nodes=all", ""},
        {R2205, "PartitionName=p", ""},
        {R2411, "PartitionName=p Nodes=feature{x}", ""},
        {R2205, "PartitionName=p Nodes=feature{x}",
         "slurm.conf:5: error: Nodes: 'feature{x}' has a function in braces, which needs Slurm "
         "24.11; this cluster runs 22.05\n"},
        {R2205, "PartitionName=all Nodes=n1",
         "slurm.conf:5: error: partition all stands twice, first in slurm.conf line 4\n"},
        {R2205, "PartitionName=a Default=YES\nPartitionName=b Default=YES",
         "slurm.conf:6: warning: partition b takes Default from partition a: only one can be the "
         "default\n"},
        {R2205, "PartitionName=p DefaultTime=2:00:00 MaxTime=60",
         "slurm.conf:5: warning: partition p: DefaultTime=2:00:00 is above MaxTime=60 and is "
         "ignored\n"},
        {R2205, "PartitionName=p TRESBillingWeights=CPU=1.0,Mem=0.25G", ""},
        {R2205, "PartitionName=p TRESBillingWeights=foo",
         "slurm.conf:5: error: TRESBillingWeights: 'foo' has 'foo', which is not a resource, '=' "
         "and a number\n"},
        {R2205, "PartitionName=p TRESBillingWeights=GRES/gpu=2",
         "slurm.conf:5: error: partition p: TRESBillingWeights names GRES/gpu, which is not in "
         "AccountingStorageTRES\n"},
        {R2205,
         "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageTRES=gres/gpu\n"
         "PartitionName=p TRESBillingWeights=GRES/gpu=2",
         ""},
        {R2205, "PartitionName=p AllowQos=a DenyQos=b",
         "slurm.conf:5: warning: partition p: DenyQos is ignored beside AllowQos\n"},
        {R2205, "PartitionName=p DefMemPerNode=1 DefMemPerCPU=2",
         "slurm.conf:5: warning: partition p: DefMemPerCPU is ignored beside DefMemPerNode\n"},
        {R2205, "PartitionName=p PreemptMode=GANG,SUSPEND",
         "slurm.conf:5: warning: partition p: GANG is for the cluster's PreemptMode, not for a "
         "partition's\n"},
    };

    (void)state;
    check_cases(cases, ARRAY_LEN(cases));
}

static void settings_must_fit_together(void **state)
{
    static const struct good_case cases[] = {
        {R2205, "SlurmctldHost=h(10.0.0.1)", "slurm.conf:5: error: SlurmctldHost h stands twice\n"},
        {R2205, "SlurmctldHost=i", ""},
        {R2205, "MaxNodeCount=10",
         "slurm.conf:5: error: MaxNodeCount needs SelectType=select/cons_tres, and here it is "
         "select/linear\n"},
        {R2205, "MaxNodeCount=10\nSelectType=select/cons_tres", ""},
        {R2311, "MaxNodeCount=10", ""},
        {R2205, "PreemptMode=SUSPEND\nPreemptType=preempt/qos",
         "slurm.conf:5: error: PreemptMode=SUSPEND needs GANG: write SUSPEND,GANG\n"},
        {R2205, "PreemptType=preempt/qos",
         "slurm.conf:5: error: PreemptType=preempt/qos needs a PreemptMode of CANCEL, REQUEUE or "
         "SUSPEND,GANG\n"},
        {R2205, "PreemptMode=CANCEL",
         "slurm.conf:5: error: PreemptMode=CANCEL needs a PreemptType of preempt/qos or "
         "preempt/partition_prio\n"},
        {R2205, "PreemptMode=CANCEL\nPreemptType=preempt/qos", ""},
        {R2205, "SelectTypeParameters=CR_Core,CR_Memory",
         "slurm.conf:5: error: SelectTypeParameters=CR_Core,CR_Memory has more than one unit of "
         "allocation\n"},
        {R2205, "SelectTypeParameters=CR_CPU,CR_ONE_TASK_PER_CORE",
         "slurm.conf:5: error: CR_ONE_TASK_PER_CORE does not go with CR_CPU; use CR_Core\n"},
        {R2205, "PrologFlags=NoHold,Contain",
         "slurm.conf:5: error: PrologFlags: NoHold does not go with Contain or X11\n"},
        {R2205, "JobContainerType=job_container/tmpfs",
         "slurm.conf:5: error: job_container/tmpfs needs PrologFlags=Contain\n"},
        {R2511, "SlurmctldParameters=enable_stepmgr",
         "slurm.conf:5: error: SlurmctldParameters=enable_stepmgr needs PrologFlags=Contain\n"},
        {R2511, "SlurmctldParameters=enable_stepmgr\nPrologFlags=Contain", ""},
        {R2205, "FirstJobId=0", "slurm.conf:5: error: FirstJobId cannot be 0\n"},
        {R2205, "FirstJobId=9\nMaxJobId=5", "slurm.conf:5: error: FirstJobId is above MaxJobId\n"},
        {R2205, "MaxJobCount=0", "slurm.conf:5: error: MaxJobCount=0 permits no job\n"},
        {R2205, "PriorityDecayHalfLife=0",
         "slurm.conf:5: error: PriorityDecayHalfLife=0 needs a PriorityUsageResetPeriod\n"},
        {R2205, "SlurmSchedLogLevel=1",
         "slurm.conf:5: error: SlurmSchedLogLevel needs a SlurmSchedLogFile\n"},
        {R2411, "SlurmSchedLogFile=sched.log",
         "slurm.conf:5: error: SlurmSchedLogFile: 'sched.log' is not a full path\n"},
        {R2205, "SlurmctldPidFile=\"\"",
         "slurm.conf:5: error: SlurmctldPidFile: '' is not a full path\n"},
        {R2411, "KeepAliveTime=30", ""},
        {R2411, "KeepAliveTime=0",
         "slurm.conf:5: error: KeepAliveTime=0 has slurmctld reset connections before its answer "
         "was read; remove the line for the system's own time\n"},
        {R2205, "MCSPlugin=mcs/group", "slurm.conf:5: error: mcs/group needs MCSParameters\n"},
        {R2205, "CommunicationParameters=DisableIPv4",
         "slurm.conf:5: error: CommunicationParameters: DisableIPv4 without EnableIPv6 leaves no "
         "network\n"},
        {R2205, "ReconfigFlags=KeepPartInfo",
         "slurm.conf:5: warning: with ReconfigFlags=KeepPartInfo changes of partitions in this "
         "file have no effect\n"},
        {R2205, "AccountingStorageTRES=CPU,gres/gpu",
         "slurm.conf:5: error: AccountingStorageTRES: gres/gpu needs "
         "AccountingStorageType=accounting_storage/slurmdbd\n"},
        {R2205, "AccountingStorageTRES=Water",
         "slurm.conf:5: error: AccountingStorageTRES: Water is no resource that Slurm knows\n"},
        {R2205, "AccountingStorageTRES=cpu,gres",
         "slurm.conf:5: error: AccountingStorageTRES: gres needs a name, as in gres/gpu\n"},
        {R2205, "Licenses=matlab:10,ansys", ""},
        {R2205, "Licenses=matlab:ten",
         "slurm.conf:5: error: Licenses: 'matlab:ten' is not a name, or a name, ':' and a "
         "number\n"},
        {R2205, "BcastExclude=/lib,usr/lib",
         "slurm.conf:5: error: BcastExclude: 'usr/lib' is not a full path\n"},
        {R2511, "SelectType=select/linear\nTopologyPlugin=topology/tree",
         "slurm.conf:6: error: topology/tree does not go with select/linear; use "
         "select/cons_tres\n"},
    };

    (void)state;
    check_cases(cases, ARRAY_LEN(cases));
}

static void what_a_file_must_have_is_missed(void **state)
{
    AUTO(buf_done) struct buf old = {0};
    AUTO(buf_done) struct buf new = {0};

    (void)state;
    validate(CONF_SLURM, "", R2205, NULL, &old);
    assert_string_equal(buf_str(&old),
                        "error: SlurmctldHost is not set: no controller is named\n"
                        "error: ClusterName is not set\n"
                        "error: no node is defined, and without MaxNodeCount none can join\n"
                        "error: no partition is defined, and slurmctld of this release does not "
                        "start without one\n");
    validate(CONF_SLURM, "ClusterName=c\nSlurmctldHost=h\nMaxNodeCount=9", R2311, NULL, &new);
    assert_string_equal(buf_str(&new), "");
}

static void a_dynamic_node_in_a_partition_is_warned_about(void **state)
{
    AUTO(buf_done) struct buf known = {0};
    AUTO(buf_done) struct buf unknown = {0};

    (void)state;
    validate(CONF_SLURM, GOOD "PartitionName=p Nodes=d[1-2]", R2205, "d[1-5]", &known);
    assert_string_equal(buf_str(&known),
                        "slurm.conf:5: warning: partition p: node d[1-2] is dynamic, and slurmctld "
                        "will not start without it; use a node set of a feature instead\n");
    validate(CONF_SLURM, GOOD "PartitionName=p Nodes=d[1-7]", R2205, "d[1-5]", &unknown);
    assert_string_equal(buf_str(&unknown), "slurm.conf:5: error: partition p: there is no node or "
                                           "node set d[6-7] in this configuration\n");
}

static void a_lone_localhost_stands_for_every_node(void **state)
{
    AUTO(buf_done) struct buf out = {0};

    (void)state;
    validate(CONF_SLURM,
             "ClusterName=c\nSlurmctldHost=h\nNodeName=localhost\nPartitionName=p Nodes=any", R2205,
             NULL, &out);
    assert_string_equal(buf_str(&out), "");
}

static bool only_mine(void *arg, const char *plugin)
{
    (void)arg;
    return streq(plugin, "auth/mine") || streq(plugin, "job_submit/mine");
}

static void a_foreign_plugin_must_be_installed(void **state)
{
    static const struct {
        const char *more;
        size_t fatal;
    } cases[] = {
        {"AuthType=auth/mine", 0},
        {"AuthType=auth/yours", 1},
        {"JobSubmitPlugins=lua,mine", 0},
        {"JobSubmitPlugins=mine,job_submit/yours", 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *text = xasprintf("%s%s", GOOD, cases[i].more);
        AUTO(made_done) struct made m = make(CONF_SLURM, text, R2205);
        struct validate_context ctx = {.release = R2205, .plugin_installed = only_mine};

        validate_conf(m.conf, &ctx, &m.faults);
        assert_int_equal(m.faults.fatal, cases[i].fatal);
        assert_int_equal(m.faults.warnings, 0);
    }
}

static void faults_name_the_setting_that_they_are_about(void **state)
{
    static const struct {
        const char *more;
        const char *key;
    } rows[] = {
        {"PartitionName=p Nodes=n1 MaxTime=soon\n", "MaxTime"},
        {"PartitionName=p Nodes=n1 maxtme=1\n", "maxtme"},
        {"PartitionName=p Nodes=nowhere\n", "Nodes"},
        {"PartitionName=all Nodes=n1\n", "PartitionName"},
        {"PreemptMode=SUSPEND\n", "PreemptMode"},
        {"FirstJobId=9\nMaxJobId=3\n", "FirstJobId"},
        {"NodeName=n1\n", "NodeName"},
        {"Include more.conf\n", "Include"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(free) char *text = xasprintf("%s%s", GOOD, rows[i].more);
        AUTO(made_done) struct made m = make(CONF_SLURM, text, R2205);
        struct validate_context ctx = {.release = R2205};

        validate_conf(m.conf, &ctx, &m.faults);
        assert_true(m.faults.n > 0);
        assert_non_null(m.faults.list[0].key);
        assert_string_equal(m.faults.list[0].key, rows[i].key);
    }
}

static void other_files_are_checked_too(void **state)
{
    static const struct {
        enum conf_kind kind;
        uint32_t release;
        const char *text;
        const char *faults;
    } cases[] = {
        {CONF_CGROUP, R2205, "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes", ""},
        {CONF_CGROUP, R2205, "CgroupPlugin=disabled",
         "slurm.conf:1: error: CgroupPlugin: 'disabled' needs Slurm 24.05 or later\n"},
        {CONF_CGROUP, R2205, "ConstrainCore=yes",
         "slurm.conf:1: error: unknown key ConstrainCore; did you mean ConstrainCores?\n"},
        {CONF_GRES, R2205, "Name=gpu Type=a100 File=/dev/nvidia[0-3]", ""},
        {CONF_GRES, R2205, "Name=gpu Number=1", "slurm.conf:1: error: unknown key Number\n"},
        {CONF_TOPOLOGY, R2205, "SwitchName=s Nodes=n[1-", "slurm.conf:1: error: Nodes: 'n[1-' "},
        {CONF_TOPOLOGY, R2205, "BlockName=b Nodes=n1",
         "slurm.conf:1: error: BlockName needs Slurm 23.11; this cluster runs 22.05\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf out = {0};

        validate(cases[i].kind, cases[i].text, cases[i].release, NULL, &out);
        if (ends_with(cases[i].faults, " "))
            assert_true(starts_with(buf_str(&out), cases[i].faults));
        else
            assert_string_equal(buf_str(&out), cases[i].faults);
    }
}

static void the_settings_of_one_partition_can_be_checked_alone(void **state)
{
    static const struct {
        uint32_t release;
        const char *config;
        const char *error; /* NULL: fine */
    } cases[] = {
        {R2205, "", NULL},
        {R2205, "Default=YES MaxTime=24:00:00", NULL},
        {R2205, "Default=YES MaxTime=7-00:00:00 State=UP", NULL},
        {R2205, "MaxTime=1-00:00:00 Priority=100", NULL},
        {R2205, "MaxNode=3", "spec.partition.config: unknown key MaxNode; did you mean MaxNodes?"},
        {R2205, "Foo=3", "spec.partition.config: unknown key Foo"},
        {R2205, "State", "spec.partition.config: cannot read 'State'"},
        {R2205, "Nodes=n1", "spec.partition.config: Nodes is set already"},
        {R2205, "PartitionName=y", "spec.partition.config: PartitionName is set already"},
        {R2205, "State=UP\nSlurmctldPort=1",
         "spec.partition.config: the settings of a partition must stand in one line"},
        {R2205, "Topology=t",
         "spec.partition.config: Topology needs Slurm 25.05; this cluster runs 22.05"},
        {R2511, "Topology=t", NULL},
        {R2205, "MaxNodes=-3",
         "spec.partition.config: MaxNodes: '-3' is not a number from 0 to "
         "4294967295, INFINITE or UNLIMITED"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err e = {0};
        int r = validate_partition_config("spec.partition.config", str_of(cases[i].config),
                                          cases[i].release, &e);

        assert_int_equal(r, cases[i].error ? -EINVAL : 0);
        assert_string_equal(e.text, cases[i].error ? cases[i].error : "");
    }
}

static void a_large_file_is_checked_in_milliseconds(void **state)
{
    AUTO(buf_done) struct buf text = {0};
    AUTO(buf_done) struct buf out = {0};
    int64_t start;

    (void)state;
    buf_adds(&text, GOOD);
    for (int i = 0; i < 1000; i++)
        buf_printf(&text,
                   "NodeSet=s%d Feature=s%d\nPartitionName=s%d Nodes=s%d,n[1-9] MaxTime=1-0\n", i,
                   i, i, i);
    start = clock_mono_ms();
    validate(CONF_SLURM, buf_str(&text), R2205, NULL, &out);
    assert_string_equal(buf_str(&out), "");
    /* about 15 ms plain; sanitizers and a loaded machine take their share */
    assert_true(clock_mono_ms() - start < 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values_are_checked),
        cmocka_unit_test(nodes_and_node_sets_are_checked),
        cmocka_unit_test(partitions_are_checked),
        cmocka_unit_test(settings_must_fit_together),
        cmocka_unit_test(what_a_file_must_have_is_missed),
        cmocka_unit_test(a_dynamic_node_in_a_partition_is_warned_about),
        cmocka_unit_test(a_lone_localhost_stands_for_every_node),
        cmocka_unit_test(a_foreign_plugin_must_be_installed),
        cmocka_unit_test(faults_name_the_setting_that_they_are_about),
        cmocka_unit_test(other_files_are_checked_too),
        cmocka_unit_test(the_settings_of_one_partition_can_be_checked_alone),
        cmocka_unit_test(a_large_file_is_checked_in_milliseconds),
    };

    return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
