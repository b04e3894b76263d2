/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of `slurmkeeper plan`: files compared by meaning, and the plan as people and programs
 * read it. */
#include "src/json/test/json_text.h"

#include "src/cli/plan.h"
#include "src/slurm/profile.h"

#define R2205 RELEASE(22, 5, 8)

static const char *diff(struct arena *a, const char *from, const char *to)
{
    struct plan_cluster c = {.release = R2205};
    AUTO(buf_done) struct buf b = {0};

    plan_diff_files(a, json_of(a, from), json_of(a, to), &c);
    for (size_t i = 0; i < c.n; i++)
        buf_printf(&b, "%s%s %s", i ? "; " : "", change_class_name(c.changes[i].class),
                   c.changes[i].text);
    return arena_strdup(a, buf_str(&b));
}

static void files_are_compared_by_meaning(void **state)
{
    static const char *const cases[][3] = {
        {"{'slurm.conf':'PartitionName=a State=UP'}", "{'slurm.conf':'PartitionName=a State=UP'}",
         ""},
        {"{'slurm.conf':'PartitionName=a  State=UP\\n# x'}",
         "{'slurm.conf':'partitionname=a state=up'}", ""},
        {"{'slurm.conf':'PartitionName=a State=UP'}",
         "{'slurm.conf':'PartitionName=a State=DRAIN'}", "rpc partition a: State: UP -> DRAIN"},
        {"{'slurm.conf':'SlurmdPort=1'}", "{'slurm.conf':'SlurmdPort=2'}",
         "restart SlurmdPort: 1 -> 2"},
        /* without a model the text counts */
        {"{}", "{'prolog.sh':'x'}", "reconfigure prolog.sh: added"},
        {"{'prolog.sh':'x'}", "{'prolog.sh':'y'}", "reconfigure prolog.sh: changed"},
        {"{'prolog.sh':'x'}", "{}", "reconfigure prolog.sh: removed"},
        {"{'slurm.key':'x'}", "{'slurm.key':'y'}", "restart slurm.key: changed"},
        {"{'cgroup.conf':'ConstrainCores=no'}", "{'cgroup.conf':'ConstrainCores=yes'}",
         "reconfigure cgroup.conf: ConstrainCores: no -> yes"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(diff(&a, cases[i][0], cases[i][1]), cases[i][2]);
    }
}

static struct plan_cluster cluster(void)
{
    return (struct plan_cluster){.ns = "slurm", .name = "lab", .release = R2205, .source = "agent"};
}

static const char *printed(struct arena *a, const struct plan_cluster *c, size_t n, bool colour)
{
    AUTO(buf_done) struct buf b = {0};

    plan_print_text(c, n, colour, &b);
    return arena_strdup(a, buf_str(&b));
}

static void a_plan_reads_as_sentences(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan_cluster c = cluster();

    (void)state;
    assert_string_equal(printed(&a, &c, 1, false), "cluster slurm/lab (Slurm 22.05.8)\n"
                                                   "  no change\n");
    plan_change_add(&a, &c, CHANGE_RPC, "partition debug: State: UP -> DRAIN", NULL);
    assert_string_equal(printed(&a, &c, 1, false),
                        "cluster slurm/lab (Slurm 22.05.8)\n"
                        "  rpc          partition debug: State: UP -> DRAIN\n"
                        "  1 change; by calls to slurmctld, in milliseconds\n");
    plan_change_add(&a, &c, CHANGE_RESTART, "SelectType: x -> y", "its plugin is loaded once");
    c.warnings = json_of(&a, "['QOS is not checked']");
    assert_string_equal(printed(&a, &c, 1, false),
                        "cluster slurm/lab (Slurm 22.05.8)\n"
                        "  rpc          partition debug: State: UP -> DRAIN\n"
                        "  restart      SelectType: x -> y (its plugin is loaded once)\n"
                        "  warning: QOS is not checked\n"
                        "  2 changes; slurmctld is restarted, jobs go on\n");
}

/* Nothing is to be done, and slurmctld has something else. */
static void drift_is_listed(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan_cluster c = cluster();
    struct plan_world w = {.a = &a};
    struct render_doc now[2] = {
        {json_of(&a,
                 "{'kind':'Controller','metadata':{'name':'lab','namespace':'slurm',"
                 "'annotations':{'slurmkeeper.dev/drift-policy':'Revert'}},'spec':{},"
                 "'status':{'conditions':[{'type':'Drifted','status':'True','message':'old'}]}}"),
         ""},
        {json_of(&a, "{'kind':'NodeSet','metadata':{'name':'gpu','namespace':'slurm'},'spec':"
                     "{'controllerRef':{'name':'lab'}},'status':{'conditions':[{'type':"
                     "'NodesApplied','status':'False','reason':'NotRegistered','message':'gone: "
                     "gpu-1'}]}}"),
         ""}};
    const struct jsn *state_now =
        json_of(&a, "{'drift':[{'partition':'p','field':'State','declared':'UP','live':'DRAIN'},"
                    "{'partition':'q','field':'PartitionName','declared':'q','live':''},"
                    "{'partition':'r','field':'PartitionName','declared':'','live':'r'}]}");

    (void)state;
    w.now = now;
    w.n_now = 2;
    c.warnings = jsn_array(&a);
    plan_drift(&w, state_now, &c);
    assert_string_equal(printed(&a, &c, 1, false),
                        "cluster slurm/lab (Slurm 22.05.8)\n"
                        "  drift        partition p: State is DRAIN, declared UP\n"
                        "  drift        partition q is declared and not there\n"
                        "  drift        partition r is there and not declared\n"
                        "  drift        NodeSet gpu: gone: gpu-1\n"
                        "  drift is what slurmctld has otherwise than declared; it is put back as "
                        "soon as Slurm allows (policy Revert)\n"
                        "  no change of what is declared\n");
    plan_drift(&w, NULL, &c); /* no agent: the conditions */
    assert_string_equal(jsn_text(jsn_item(c.drift, 0)), "old");
}

static void the_end_of_a_plan_tells_what_comes_of_it(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan_cluster c[2] = {cluster(), cluster()};

    (void)state;
    c[0].refused = "slurm.conf:3: Nodes: n9 is not known";
    c[1].is_new = true;
    c[1].guessed = true;
    c[1].note = "the cluster has no agent";
    assert_string_equal(
        printed(&a, c, 2, false),
        "cluster slurm/lab (Slurm 22.05.8)\n"
        "  refused: slurm.conf:3: Nodes: n9 is not known\n"
        "\ncluster slurm/lab (as for Slurm 22.05)\n"
        "  compared with the files that were written last: the cluster has no agent\n"
        "  the cluster is new: it is started with this configuration\n");
    assert_non_null(strstr(printed(&a, c, 1, true), "\033[31mrefused\033[0m"));
}

static void programs_get_the_same_as_json(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct plan_cluster c = cluster();
    struct jsn *v;

    (void)state;
    c.warnings = jsn_array(&a);
    plan_change_add(&a, &c, CHANGE_RECONFIGURE, "NodeName=n1 added", "it is new");
    plan_print_json(&a, &c, 1, &b);
    assert_int_equal(jsn_parse(&a, buf_view(&b), NULL, &v, NULL), 0);
    assert_string_equal(text_of(&a, v),
                        "{'clusters':[{'namespace':'slurm','name':'lab','release':'22.05.8',"
                        "'source':'agent','new':false,'class':'reconfigure','changes':[{'class':"
                        "'reconfigure','change':'NodeName=n1 added','why':'it is new'}],"
                        "'warnings':[],'drift':[]}]}");
}

#define GPU                                                                                        \
    "{'kind':'NodeSet','metadata':{'name':'gpu','namespace':'slurm'},'spec':{'controllerRef':"     \
    "{'name':'lab'}%s}%s}"

static void nodes_are_compared(void **state)
{
    static const struct {
        const char *was;
        const char *is;
        const char *status;
        const char *changes;
    } cases[] = {
        {"", "", "", ""},
        {",'replicas':1", ",'replicas':2,'extraConf':'Weight=1'", "", ""},
        {",'extraConf':'Features=a100'", ",'extraConf':'Feature=h100 Weight=2'", "",
         "NodeSet gpu: Features: a100,gpu -> gpu,h100; NodeSet gpu: Weight: 1 -> 2; "},
        {"", ",'extraConf':'Gres=gpu:2'", "",
         "NodeSet gpu: nodes: not set -> Gres=gpu:2 (pods are replaced, each when no job can run "
         "on it); "},
        {"", ",'slurmd':{'image':'x'}", "",
         "NodeSet gpu: another template (pods are replaced, each when no job can run on it); "},
        {"", "",
         ",'status':{'conditions':[{'type':'NodesApplied','status':'False','reason':"
         "'WaitingForIdle','message':'jobs run','lastTransitionTime':'2026-01-01T00:00:00Z'}]}",
         "NodeSet gpu: jobs run; "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};
        struct render_doc now = {json_of(&a, arena_printf(&a, GPU, cases[i].was, cases[i].status)),
                                 "now"};
        struct render_doc then = {json_of(&a, arena_printf(&a, GPU, cases[i].is, cases[i].status)),
                                  "then"};
        struct plan_world w = {.a = &a, .now = &now, .n_now = 1, .then = &then, .n_then = 1};
        struct plan_cluster c = {
            .ns = "slurm", .name = "lab", .release = R2205, .warnings = jsn_array(&a)};

        plan_nodes(&w, &c);
        for (size_t k = 0; k < c.n; k++)
            buf_printf(&b, "%s%s%s%s; ", c.changes[k].text, c.changes[k].why ? " (" : "",
                       c.changes[k].why ? c.changes[k].why : "", c.changes[k].why ? ")" : "");
        assert_string_equal(buf_str(&b), cases[i].changes);
    }
}

#define LAB(more) "{'kind':'Controller','metadata':{'namespace':'slurm','name':'lab'" more "}"
#define SAYS(release) LAB(",'annotations':{'slurmkeeper.dev/slurm-version':'" release "'}") "}"
#define IMAGE(release) LAB("") ",'spec':{'slurmctld':{'image':'x/slurmctld:" release "'}}}"
#define ONE_SET                                                                                    \
    "{'kind':'NodeSet','metadata':{'namespace':'slurm','name':'gpu'},'spec':{'controllerRef':"     \
    "{'name':'lab'}}}"

/* The order before it is gone; a step that Slurm does not make is refused with the way. */
static void another_slurm_is_a_procedure(void **state)
{
    static const struct {
        const char *now;
        const char *then;
        uint32_t runs;
        const char *text;    /* of the changes */
        const char *refused; /* or NULL */
    } rows[] = {
        {SAYS("24.11.5"), SAYS("24.11.5"), RELEASE(24, 11, 5), "", NULL},
        {SAYS("24.11"), SAYS("24.11"), RELEASE(24, 11, 5), "", NULL},
        {SAYS("24.11.5"), SAYS("26.05.5"), RELEASE(24, 11, 5),
         "restart slurmctld: Slurm 24.11.5 -> 26.05.5, before its nodes; rpc NodeSet gpu: Slurm "
         "26.05.5, when slurmctld is it; ",
         NULL},
        {SAYS("24.11.5"), SAYS("24.11.7"), RELEASE(24, 11, 5),
         "restart slurmctld: Slurm 24.11.5 -> 24.11.7, before its nodes; rpc NodeSet gpu: Slurm "
         "24.11.7, when slurmctld is it; ",
         NULL},
        {SAYS("22.05.8"), SAYS("26.05.5"), RELEASE(22, 5, 8), "",
         "Slurm 22.05 cannot become 26.05 at once: 26.05 takes over from 24.11 or later; go by "
         "23.11, then 25.05 first"},
        {IMAGE("24.11.5"), IMAGE("25.05"), RELEASE(24, 11, 5),
         "restart slurmctld: Slurm 24.11.5 -> 25.05, before its nodes; rpc NodeSet gpu: Slurm "
         "25.05, when slurmctld is it; ",
         NULL},
        /* a tag that is wrong about what runs now decides nothing */
        {IMAGE("25.11"), IMAGE("26.05"), RELEASE(22, 5, 8), "", NULL},
        {SAYS("26.05.5"), SAYS("26.05.5"), 0, "", NULL}, /* nobody tells what runs */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        AUTO(buf_done) struct buf b = {0};
        struct render_doc now[] = {{json_of(&a, rows[i].now), ""}};
        struct render_doc then[] = {{json_of(&a, rows[i].then), ""}, {json_of(&a, ONE_SET), ""}};
        struct plan_world w = {.a = &a, .now = now, .n_now = 1, .then = then, .n_then = 2};
        struct plan_cluster c = {.ns = "slurm", .name = "lab"};

        plan_upgrade(&w, &c, rows[i].runs);
        for (size_t k = 0; k < c.n; k++)
            buf_printf(&b, "%s %s; ", change_class_name(c.changes[k].class), c.changes[k].text);
        assert_string_equal(buf_str(&b), rows[i].text);
        assert_string_equal(c.refused ? c.refused : "", rows[i].refused ? rows[i].refused : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_compared),
        cmocka_unit_test(files_are_compared_by_meaning),
        cmocka_unit_test(a_plan_reads_as_sentences),
        cmocka_unit_test(drift_is_listed),
        cmocka_unit_test(the_end_of_a_plan_tells_what_comes_of_it),
        cmocka_unit_test(another_slurm_is_a_procedure),
        cmocka_unit_test(programs_get_the_same_as_json),
    };

    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
