/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of differences by meaning and of what they cost. */
#include "src/slurm/test/make.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/slurm/classify.h"

#define R2205 RELEASE(22, 5, 8)
#define R2302 RELEASE(23, 2, 8)
#define R2311 RELEASE(23, 11, 11)
#define R2505 RELEASE(25, 5, 8)

/* The differences of two texts, one a line: "class: text". */
static void diff_texts(enum conf_kind kind, uint32_t release, const char *from, const char *to,
                       struct buf *out)
{
    AUTO(made_done) struct made a = make(kind, from, release);
    AUTO(made_done) struct made b = make(kind, to, release);
    AUTO(diff_done) struct conf_diff d = {0};
    struct err e = {0};

    assert_int_equal(diff_models(a.model, b.model, &d, &e), 0);
    for (size_t i = 0; i < d.n; i++) {
        struct verdict v = classify_change(&d.list[i], kind, release);

        buf_printf(out, "%s: ", change_class_name(v.class));
        diff_print(&d.list[i], out);
        buf_addc(out, '\n');
    }
}

static void the_same_meaning_is_no_difference(void **state)
{
    static const struct {
        const char *a;
        const char *b;
    } cases[] = {
        {"", "# nothing\n"},
        {"TmpFS=/x\nMailDomain=y", "MailDomain=y\nTMPFS=/x"},
        {"MessageTimeout=20\nMessageTimeout=30", "MessageTimeout=30"},
        {"", "MessageTimeout=10"},
        {"SlurmctldPort=6817", ""},
        {"SlurmctldParameters=a,b", "SlurmctldParameters=b,a"},
        {"CryptoType=crypto/munge", "CryptoType=crypto/munge"},
        {"SlurmctldHost=a\nSlurmctldHost=b", "SlurmctldHost=a(a)\nSlurmctldHost=b"},
        {"ClusterName=Foo", "ClusterName=foo"},
        {"PartitionName=p MaxTime=24:00:00", "partitionname=p MAXTIME=1-00:00:00"},
        {"PartitionName=p MaxTime=1440", "PartitionName=DEFAULT MaxTime=1-0\nPartitionName=p"},
        {"PartitionName=p\nPartitionName=q", "PartitionName=q\nPartitionName=p State=UP"},
        {"PartitionName=p Nodes=n[1-3]", "PartitionName=p Nodes=n3,n1,n2"},
        {"PartitionName=p Nodes=\"n1 n2\"", "PartitionName=p Nodes=n1,n2"},
        {"NodeName=n[1-4] CPUs=2", "NodeName=n[1-2] CPUs=2\nNodeName=n[3-4] CPUs=2"},
        {"NodeName=n1 Procs=2", "NodeName=n1 CPUs=2"},
        {"NodeName=n1 CPUs=8 CoresPerSocket=4", "NodeName=n1 Sockets=2 CoresPerSocket=4"},
        {"NodeName=n1 Boards=2 SocketsPerBoard=1", "NodeName=n1 Boards=2 Sockets=2"},
        {"NodeName=DEFAULT CPUs=2 Feature=x,y\nNodeName=n1", "NodeName=n1 CPUs=2 Features=y,x"},
        {"NodeName=n[1-2] NodeAddr=10.0.0.[1-2]",
         "NodeName=n1 NodeAddr=10.0.0.1\nNodeName=n2 NodeAddr=10.0.0.2"},
        {"NodeName=n[1-2] Port=[7001-7002]", "NodeName=n[1-2] Port=7001-7002"},
        {"NodeName=n1 NodeAddr=n1", "NodeName=n1"},
        {"NodeSet=g Feature=g\nNodeSet=h Nodes=n[1-2]",
         "NodeSet=h Nodes=n2,n1\nNodeSet=g Feature=g"},
        {"DownNodes=n[1-2] State=DOWN", "DownNodes=n2,n1 State=DOWN"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf out = {0};

        diff_texts(CONF_SLURM, R2205, cases[i].a, cases[i].b, &out);
        diff_texts(CONF_SLURM, R2205, cases[i].b, cases[i].a, &out);
        assert_string_equal(buf_str(&out), "");
    }
}

static void each_difference_has_its_cost(void **state)
{
    static const struct {
        uint32_t release;
        const char *a;
        const char *b;
        const char *out;
    } cases[] = {
        {R2205, "PartitionName=p MaxTime=60", "PartitionName=p MaxTime=120",
         "rpc: partition p: MaxTime: 01:00:00 -> 02:00:00\n"},
        {R2205, "PartitionName=p", "PartitionName=p\nPartitionName=q Nodes=n1",
         "rpc: partition q: added\n"},
        {R2205, "PartitionName=p\nPartitionName=q", "PartitionName=p",
         "rpc: partition q: removed\n"},
        {R2205, "PartitionName=p", "PartitionName=p\nPartitionName=q SuspendTime=60",
         "reconfigure: partition q: added\n"},
        {R2205, "PartitionName=p", "PartitionName=p ResumeTimeout=60",
         "reconfigure: partition p: ResumeTimeout: (not set) -> 60\n"},
        {R2205, "PartitionName=p DefaultTime=5", "PartitionName=p",
         "reconfigure: partition p: DefaultTime: 00:05:00 -> (not set)\n"},
        {R2205, "PartitionName=p", "PartitionName=p DefaultTime=5",
         "rpc: partition p: DefaultTime: (not set) -> 00:05:00\n"},
        {R2205, "PartitionName=p PreemptMode=CANCEL", "PartitionName=p",
         "reconfigure: partition p: PreemptMode: CANCEL -> (not set)\n"},
        {R2205, "PartitionName=p SelectTypeParameters=CR_Core",
         "PartitionName=p SelectTypeParameters=CR_Socket",
         "restart: partition p: SelectTypeParameters: CR_Core -> CR_Socket\n"},
        {R2311, "PartitionName=p SelectTypeParameters=CR_Core",
         "PartitionName=p SelectTypeParameters=CR_Socket",
         "reconfigure: partition p: SelectTypeParameters: CR_Core -> CR_Socket\n"},
        {R2205, "PartitionName=p Nodes=n[1-4]", "PartitionName=p Nodes=n[1-5]",
         "rpc: partition p: Nodes: n[1-4] -> n[1-5]\n"},
        {R2205, "PartitionName=DEFAULT State=UP\nPartitionName=p\nPartitionName=q State=DOWN",
         "PartitionName=DEFAULT State=DRAIN\nPartitionName=p\nPartitionName=q State=DOWN",
         "rpc: partition p: State: UP -> DRAIN\n"},
        {R2205, "", "NodeSet=g Feature=g", "reconfigure: node set g: added\n"},
        {R2205, "NodeSet=g Feature=g", "NodeSet=g Feature=h",
         "reconfigure: node set g: Feature: g -> h\n"},
        {R2205, "NodeName=n[1-4]", "NodeName=n[1-6]", "restart: node n[5-6]: added\n"},
        {R2311, "NodeName=n[1-4]", "NodeName=n[1-6]", "reconfigure: node n[5-6]: added\n"},
        {R2205, "NodeName=n[1-4]", "NodeName=n[1-3]", "restart: node n4: removed\n"},
        {R2205, "NodeName=n[1-4] CPUs=2", "NodeName=n[1-2] CPUs=2\nNodeName=n[3-4] CPUs=4",
         "restart: node n[3-4]: Sockets: 2 -> 4\nrestart: node n[3-4]: CPUs: 2 -> 4\n"},
        {R2205, "NodeName=n[1-4] Weight=1", "NodeName=n[1-4] Weight=9",
         "rpc: node n[1-4]: Weight: 1 -> 9\n"},
        {R2205, "NodeName=n[1-2] NodeAddr=10.0.0.[1-2]", "NodeName=n[1-2] NodeAddr=10.0.0.[1,3]",
         "reconfigure: node n2: NodeAddr: 10.0.0.2 -> 10.0.0.3\n"},
        {R2205, "DownNodes=n1", "DownNodes=n2",
         "reconfigure: down node n2: added\nreconfigure: down node n1: removed\n"},
        {R2205, "SlurmctldPort=6817", "SlurmctldPort=7000",
         "restart: SlurmctldPort: 6817 -> 7000\n"},
        {R2205, "AuthType=auth/munge", "AuthType=auth/none",
         "restart: AuthType: auth/munge -> auth/none\n"},
        {R2311, "StateSaveLocation=/a", "StateSaveLocation=/b",
         "restart: StateSaveLocation: /a -> /b\n"},
        {R2205, "SlurmctldTimeout=1", "", "reconfigure: SlurmctldTimeout: 1 -> (not set)\n"},
        {R2205, "MaxNodeCount=10", "MaxNodeCount=20", "restart: MaxNodeCount: 10 -> 20\n"},
        {R2311, "MaxNodeCount=10", "MaxNodeCount=20", "reconfigure: MaxNodeCount: 10 -> 20\n"},
        {R2205, "SlurmctldParameters=a", "SlurmctldParameters=a,enable_configless",
         "restart: SlurmctldParameters: a -> a,enable_configless\n"},
        {R2205, "", "LaunchParameters=disable_send_gids",
         "restart: LaunchParameters: (not set) -> disable_send_gids\n"},
        {R2205, "LaunchParameters=a", "LaunchParameters=b",
         "reconfigure: LaunchParameters: a -> b\n"},
        {R2311, "", "LaunchParameters=disable_send_gids",
         "reconfigure: LaunchParameters: (not set) -> disable_send_gids\n"},
        {R2311, "SlurmctldParameters=a", "SlurmctldParameters=a,enable_configless",
         "reconfigure: SlurmctldParameters: a -> a,enable_configless\n"},
        {R2205, "SlurmctldParameters=a", "SlurmctldParameters=b",
         "reconfigure: SlurmctldParameters: a -> b\n"},
        {R2505, "", "CommunicationParameters=EnableIPv6",
         "restart: CommunicationParameters: (not set) -> EnableIPv6\n"},
        {R2505, "", "PowerPlugin=power/none", "none: PowerPlugin: (not set) -> power/none\n"},
        {R2205, "SlurmctldHost=a", "SlurmctldHost=a\nSlurmctldHost=b",
         "restart: SlurmctldHost: a -> a b\n"},
        {R2505, "Prolog=a", "Prolog=a\nProlog=b", "reconfigure: Prolog: a -> a b\n"},
        {R2205, "Prolog=b", "Prolog=a\nProlog=b", ""},
        {R2205, "JobCompPass=old", "JobCompPass=new", "restart: JobCompPass: changed\n"},
        {R2205, "Foo=1", "Foo=2", "reconfigure: Foo: 1 -> 2\n"},
        {R2302, "", "PartitionName=p PowerDownOnIdle=YES", "rpc: partition p: added\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf out = {0};

        diff_texts(CONF_SLURM, cases[i].release, cases[i].a, cases[i].b, &out);
        assert_string_equal(buf_str(&out), cases[i].out);
    }
}

static void other_files_differ_too(void **state)
{
    static const struct {
        enum conf_kind kind;
        uint32_t release;
        const char *a;
        const char *b;
        const char *out;
    } cases[] = {
        {CONF_CGROUP, R2205, "ConstrainCores=yes", "constraincores=TRUE", ""},
        {CONF_CGROUP, R2205, "", "ConstrainCores=no", ""},
        {CONF_CGROUP, R2205, "", "ConstrainCores=yes",
         "reconfigure: ConstrainCores: (not set) -> yes\n"},
        {CONF_CGROUP, R2205, "CgroupPlugin=cgroup/v1", "CgroupPlugin=cgroup/v2",
         "restart: CgroupPlugin: cgroup/v1 -> cgroup/v2\n"},
        {CONF_GRES, R2205, "Name=gpu File=/dev/n[0-1]", "Name=gpu Files=/dev/n1,/dev/n0", ""},
        {CONF_GRES, R2205, "Name=gpu File=/dev/n0\nName=gpu File=/dev/n1",
         "Name=gpu File=/dev/n1\nName=gpu File=/dev/n0", ""},
        {CONF_GRES, R2205, "Name=gpu Count=1", "Name=gpu Count=2",
         "restart: gres gpu: added\nrestart: gres gpu: removed\n"},
        {CONF_GRES, R2311, "NodeName=n1 Name=gpu", "NodeName=n2 Name=gpu",
         "reconfigure: gres n2: added\nreconfigure: gres n1: removed\n"},
        {CONF_TOPOLOGY, R2205, "SwitchName=s Nodes=n[1-2]", "SwitchName=s Nodes=n[1-3]",
         "reconfigure: topology unit s: Nodes: n[1-2] -> n[1-3]\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf out = {0};

        diff_texts(cases[i].kind, cases[i].release, cases[i].a, cases[i].b, &out);
        assert_string_equal(buf_str(&out), cases[i].out);
    }
}

static void the_whole_is_as_heavy_as_its_heaviest(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        enum change_class class;
    } cases[] = {
        {"PartitionName=p", "PartitionName=p", CHANGE_NONE},
        {"PartitionName=p", "PartitionName=p State=DOWN", CHANGE_RPC},
        {"PartitionName=p", "PartitionName=p State=DOWN\nNodeSet=x Feature=x", CHANGE_RECONFIGURE},
        {"PartitionName=p", "PartitionName=p State=DOWN\nSlurmdPort=1\nNodeSet=x Feature=x",
         CHANGE_RESTART},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(made_done) struct made a = make(CONF_SLURM, cases[i].a, R2205);
        AUTO(made_done) struct made b = make(CONF_SLURM, cases[i].b, R2205);
        AUTO(diff_done) struct conf_diff d = {0};
        enum change_class most = CHANGE_NONE;
        struct err e = {0};

        assert_int_equal(diff_models(a.model, b.model, &d, &e), 0);
        for (size_t k = 0; k < d.n; k++)
            most = MAX(most, classify_change(&d.list[k], CONF_SLURM, R2205).class);
        assert_int_equal(most, cases[i].class);
    }
}

static void a_verdict_tells_what_to_know(void **state)
{
    AUTO(made_done) struct made a = make(CONF_SLURM, "PartitionName=p", R2311);
    AUTO(made_done)
    struct made b = make(CONF_SLURM, "PartitionName=p QOS=q\nSelectType=select/linear", R2311);
    AUTO(diff_done) struct conf_diff d = {0};
    struct verdict v;
    struct err e = {0};

    (void)state;
    assert_int_equal(diff_models(a.model, b.model, &d, &e), 0);
    assert_int_equal(d.n, 2);
    v = classify_change(&d.list[0], CONF_SLURM, R2311);
    assert_int_equal(v.class, CHANGE_RESTART);
    assert_string_equal(v.why,
                        "running and pending jobs are lost, since each plugin saves state in "
                        "its own form");
    v = classify_change(&d.list[1], CONF_SLURM, R2311);
    assert_int_equal(v.class, CHANGE_RECONFIGURE);
    assert_string_equal(v.why, "slurmctld of this release crashes if the QOS does not exist");
}

static void files_without_a_model_have_a_class(void **state)
{
    (void)state;
    assert_int_equal(classify_file("/etc/slurm/prolog.sh", R2205).class, CHANGE_RECONFIGURE);
    assert_int_equal(classify_file("topology.yaml", R2505).class, CHANGE_RECONFIGURE);
    assert_int_equal(classify_file("/etc/slurm/slurm.key", R2505).class, CHANGE_RESTART);
    assert_int_equal(classify_file("gres.conf", R2205).class, CHANGE_RESTART);
    assert_int_equal(classify_file("gres.conf", R2505).class, CHANGE_RECONFIGURE);
}

static void a_partition_that_cannot_be_read_stops_the_comparison(void **state)
{
    AUTO(made_done) struct made a = make(CONF_SLURM, "PartitionName=p", R2205);
    AUTO(made_done) struct made b = make(CONF_SLURM, "PartitionName=p MaxTime=soon", R2205);
    struct conf_diff d = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(diff_models(a.model, b.model, &d, &e), -EINVAL);
    assert_int_equal(d.n, 0);
}

/* 10,000 nodes and 500 partitions, one partition edited: what the agent does on every push. */
static void a_large_file_is_compared_in_milliseconds(void **state)
{
    AUTO(buf_done) struct buf text = {0};
    AUTO(buf_done) struct buf edited = {0};
    AUTO(buf_done) struct buf out = {0};
    int64_t start;

    (void)state;
    for (int i = 0; i < 100; i++)
        buf_printf(&text, "NodeName=n[%d-%d] CPUs=4 RealMemory=1000 State=CLOUD\n", i * 100,
                   i * 100 + 99);
    for (int i = 0; i < 500; i++)
        buf_printf(&text, "PartitionName=p%d Nodes=n[%d-%d] MaxTime=1-0\n", i, i * 20, i * 20 + 19);
    buf_addstr(&edited, buf_view(&text));
    buf_adds(&edited, "PartitionName=extra Nodes=n1\n");
    start = clock_mono_ms();
    diff_texts(CONF_SLURM, R2205, buf_str(&text), buf_str(&edited), &out);
    assert_string_equal(buf_str(&out), "rpc: partition extra: added\n");
    /* about 20 ms plain; sanitizers and a loaded machine take their share */
    assert_true(clock_mono_ms() - start < 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_meaning_is_no_difference),
        cmocka_unit_test(each_difference_has_its_cost),
        cmocka_unit_test(other_files_differ_too),
        cmocka_unit_test(the_whole_is_as_heavy_as_its_heaviest),
        cmocka_unit_test(a_verdict_tells_what_to_know),
        cmocka_unit_test(files_without_a_model_have_a_class),
        cmocka_unit_test(a_partition_that_cannot_be_read_stops_the_comparison),
        cmocka_unit_test(a_large_file_is_compared_in_milliseconds),
    };

    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
