/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the planner: tables of (what runs, what is declared, what is live) -> steps. */
#include "src/base/test/unit.h"

#include "src/agent/candidate.h"
#include "src/agent/keep.h"
#include "src/agent/plan.h"
#include "src/base/alloc.h"

#define HEAD "ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-9] State=CLOUD\nNodeSet=set Feature=f\n"
#define ALL HEAD "PartitionName=all Nodes=ALL Default=YES\n"
#define RELEASE_OLD RELEASE(22, 5, 8)
#define RELEASE_NEW RELEASE(24, 11, 0)

static struct candidate *candidate_make(const char *conf, uint32_t release)
{
    AUTO(fileset_done) struct fileset files = {0};
    AUTO(faults_done) struct faults faults = {0};
    struct candidate *c = NULL;
    struct err e = {0};

    assert_int_equal(fileset_put(&files, "slurm.conf", str_of(conf), 0644, &e), 0);
    assert_int_equal(candidate_new(&files, "/etc/slurm", release, &faults, &c, &e), 0);
    assert_int_equal(faults.fatal, 0);
    return c;
}

/* One word a step, and what it sets: "update debug State=DRAIN". */
static void plan_text(const struct apply_plan *p, struct buf *out)
{
    static const char *const names[STEP_N] = {"rehearse", "write",       "create",
                                              "update",   "reconfigure", "restart",
                                              "delete",   "settle",      "read"};

    for (size_t i = 0; i < p->n; i++) {
        const struct apply_step *s = &p->steps[i];

        buf_printf(out, "%s%s", i > 0 ? "; " : "", names[s->kind]);
        if (s->partition)
            buf_printf(out, " %s", s->partition);
        for (size_t k = 0; k < s->n; k++)
            buf_printf(out, " %s=%s", s->pairs[k].key, s->pairs[k].value);
    }
}

/* Partitions of a configuration as slurmctld would tell them. */
static void live_of(const char *conf, uint32_t release, struct live *ret)
{
    AUTO(candidate_free) struct candidate *c = candidate_make(conf, release);
    AUTO(arena_done) struct arena a = {0};
    const struct model *m = candidate_model(c);
    struct jsn *items = jsn_array(&a);
    struct err e = {0};
    size_t n;
    const struct conf_key *keys = keys_of(CONF_SLURM, CONF_PARTITION, &n);

    for (size_t i = 0; i < m->n_objects; i++) {
        AUTO(partition_done) struct partition p = {0};
        struct jsn *item = jsn_object(&a);
        struct jsn *config = jsn_object(&a);

        if (m->objects[i].section != CONF_PARTITION)
            continue;
        partition_init(&p);
        assert_int_equal(model_partition(m, &m->objects[i], &p, &e), 0);
        for (size_t k = 0; k < n; k++) {
            AUTO(buf_done) struct buf value = {0};

            partition_value(&p, &keys[k], &value);
            if (value.n > 0)
                jsn_set_str(&a, config, keys[k].name, buf_str(&value));
        }
        if (streq(p.nodes, "ALL"))
            jsn_set_str(&a, config, "Nodes", "n[1-9]");
        jsn_set_str(&a, item, "name", m->objects[i].name);
        jsn_set(&a, item, "config", config);
        jsn_append(&a, items, item);
    }
    assert_int_equal(live_decode(items, ret, &e), 0);
}

struct plan_case {
    const char *from;
    const char *to;
    const char *live; /* NULL: as `from` */
    const char *steps;
    uint32_t release;
    bool down;
    bool reassert;
    bool delete_first;
    bool tell_nodes;
    bool recount;
    const char *leaving;
};

static void plan_check(const struct plan_case *c)
{
    uint32_t release = c->release ? c->release : RELEASE_OLD;
    AUTO(candidate_free) struct candidate *from = candidate_make(c->from, release);
    AUTO(candidate_free) struct candidate *to = candidate_make(c->to, release);
    AUTO(compare_done) struct comparison compared = {0};
    AUTO(live_done) struct live live = {0};
    AUTO(plan_done) struct apply_plan plan = {0};
    AUTO(buf_done) struct buf text = {0};
    struct apply_input in = {.release = release,
                             .to = candidate_model(to),
                             .diff = &compared.slurm,
                             .rehearse = true,
                             .reassert = c->reassert,
                             .delete_first = c->delete_first,
                             .tell_nodes = c->tell_nodes,
                             .recount = c->recount,
                             .leaving = &c->leaving,
                             .n_leaving = c->leaving ? 1 : 0,
                             .files_differ = !fileset_same(&from->files, &to->files)};
    struct err e = {0};

    assert_int_equal(compare_candidates(from, to, &compared, &e), 0);
    in.class = compared.class;
    live_of(c->live ? c->live : c->from, release, &live);
    in.live = c->down ? NULL : &live;
    assert_int_equal(apply_plan(&in, &plan, &e), 0);
    plan_text(&plan, &text);
    assert_string_equal(buf_str(&text), c->steps);
}

static void plans_are_the_least_that_does_it(void **state)
{
    static const struct plan_case cases[] = {
        {ALL, ALL, .steps = ""},
        {ALL, "# a comment\n" ALL, .steps = "write"},
        {ALL "PartitionName=d Nodes=n1 State=UP\n", ALL "PartitionName=d Nodes=n1 State=DRAIN\n",
         .steps = "write; update d State=DRAIN; read"},
        {ALL "PartitionName=d Nodes=n1 MaxTime=60\n", ALL "PartitionName=d Nodes=n[1-2]\n",
         .steps = "write; update d MaxTime=UNLIMITED Nodes=n[1-2]; read"},
        {ALL, ALL "PartitionName=d Nodes=set MaxTime=5 Hidden=YES\n",
         .steps = "write; create d DisableRootJobs=NO Hidden=YES MaxTime=00:05:00 MinNodes=0 "
                  "Nodes=set; read"},
        /* an inherited value is the partition's own for a call */
        {ALL,
         HEAD "PartitionName=DEFAULT PriorityTier=4\nPartitionName=all Nodes=ALL Default=YES\n",
         .steps = "write; update all PriorityTier=4; read"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void a_function_is_told_when_its_text_changes(void **state)
{
    static const char left[] = ALL "PartitionName=d Nodes=switch{left}\n";
    static const char hosts[] = ALL "PartitionName=d Nodes=n[1-2]\n";
    static const struct plan_case cases[] = {
        {hosts, left, .steps = "write; update d Nodes=switch{left}; read"},
        {left, ALL "PartitionName=d Nodes=switch{right}\n", .live = hosts,
         .steps = "write; update d Nodes=switch{right}; read"},
        {left, ALL "PartitionName=d Nodes=switch{left} MaxTime=5\n", .live = hosts,
         .steps = "write; update d MaxTime=00:05:00; read"},
        {left, ALL "PartitionName=d Nodes=n3\n", .live = hosts,
         .steps = "write; update d Nodes=n3; read"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan_case c = cases[i];

        c.release = RELEASE_NEW;
        plan_check(&c);
    }
}

static void what_is_live_counts_and_not_what_was_declared(void **state)
{
    static const struct plan_case cases[] = {
        /* it is there already: a plan that was interrupted goes on */
        {ALL, ALL "PartitionName=d Nodes=n1\n", .live = ALL "PartitionName=d Nodes=n1\n",
         .steps = "write"},
        {ALL, ALL "PartitionName=d Nodes=n1 MaxTime=5\n", .live = ALL "PartitionName=d Nodes=n1\n",
         .steps = "write; update d MaxTime=00:05:00; read"},
        /* somebody deleted it */
        {ALL "PartitionName=d Nodes=n1\n", ALL "PartitionName=d Nodes=n1 MaxTime=5\n", .live = ALL,
         .steps = "write; create d DisableRootJobs=NO MaxTime=00:05:00 MinNodes=0 Nodes=n1; read"},
        /* what somebody changed goes with the change, and only in the partition that changes */
        {ALL "PartitionName=d Nodes=n1\nPartitionName=e Nodes=n2\n",
         ALL "PartitionName=d Nodes=n1 MaxTime=5\nPartitionName=e Nodes=n2\n",
         .live = ALL "PartitionName=d Nodes=n1 State=DOWN\nPartitionName=e Nodes=n2 State=DOWN\n",
         .steps = "write; update d MaxTime=00:05:00 State=UP; read"},
        {ALL "PartitionName=d Nodes=n1\n", ALL "PartitionName=d Nodes=n1\n",
         .live = ALL "PartitionName=d Nodes=n1 State=DOWN\n", .reassert = true,
         .steps = "update d State=UP; read"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void heavier_changes_need_no_calls_of_their_own(void **state)
{
    static const struct plan_case cases[] = {
        {ALL, ALL "SchedulerParameters=bf_interval=40\nPartitionName=d Nodes=n1\n",
         .steps = "rehearse; write; reconfigure; read"},
        /* this release refuses bad files by itself, but does not say why */
        {ALL, ALL "SchedulerParameters=bf_interval=40\n", .release = RELEASE_NEW,
         .steps = "rehearse; write; reconfigure; read"},
        {ALL, ALL "MaxNodeCount=20\n", .steps = "rehearse; write; restart; read"},
        {ALL, ALL "SlurmctldPort=7000\n", .release = RELEASE_NEW,
         .steps = "rehearse; write; restart; read"},
        {ALL, ALL "NodeSet=new Feature=new\nPartitionName=d Nodes=new\n",
         .steps = "rehearse; write; reconfigure; read"},
        /* a key that no call can take back */
        {ALL "PartitionName=d Nodes=n1 DefaultTime=5\n", ALL "PartitionName=d Nodes=n1\n",
         .steps = "rehearse; write; reconfigure; read"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void nodes_that_have_their_files_from_slurmctld_are_told(void **state)
{
    static const struct plan_case cases[] = {
        /* a start hands nothing on, the reconfigure after it does */
        {ALL, ALL "MaxNodeCount=20\n", .tell_nodes = true,
         .steps = "rehearse; write; restart; reconfigure; read"},
        /* a reconfigure is one already */
        {ALL, ALL "SchedulerParameters=bf_interval=40\n", .tell_nodes = true,
         .steps = "rehearse; write; reconfigure; read"},
        /* calls change nothing that nodes know */
        {ALL "PartitionName=d Nodes=n1\n", ALL "PartitionName=d Nodes=n1 MaxTime=5\n",
         .tell_nodes = true, .steps = "write; update d MaxTime=00:05:00; read"},
        {ALL, "# a comment\n" ALL, .tell_nodes = true, .steps = "write"},
        {ALL, ALL "MaxNodeCount=20\n", .tell_nodes = true, .down = true,
         .steps = "rehearse; write"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void a_start_counts_the_jobs_right_behind_a_reconfigure(void **state)
{
    static const struct plan_case cases[] = {
        {ALL, ALL "SchedulerParameters=bf_interval=40\n", .tell_nodes = true, .recount = true,
         .steps = "rehearse; write; reconfigure; restart; read"},
        {ALL, ALL "MaxNodeCount=20\n", .tell_nodes = true, .recount = true,
         .steps = "rehearse; write; restart; reconfigure; restart; read"},
        /* partitions leave when all of that is over */
        {ALL "PartitionName=d Nodes=n1\n",
         ALL "PartitionName=d Nodes=n1\nSchedulerParameters=bf_interval=40\n", .leaving = "d",
         .tell_nodes = true, .recount = true,
         .steps = "rehearse; write; reconfigure; restart; delete d; settle; read"},
        {ALL, ALL "SchedulerParameters=bf_interval=40\n", .tell_nodes = true, .recount = true,
         .down = true, .steps = "rehearse; write"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void without_slurmctld_only_files_are_written(void **state)
{
    static const struct plan_case cases[] = {
        {ALL, ALL "PartitionName=d Nodes=n1\n", .down = true, .steps = "write"},
        {ALL, ALL "MaxNodeCount=20\n", .down = true, .steps = "rehearse; write"},
        /* it will start from them, whatever the release */
        {ALL, ALL "SchedulerParameters=bf_interval=40\n", .down = true, .release = RELEASE_NEW,
         .steps = "rehearse; write"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void the_new_default_comes_first_and_is_one_call(void **state)
{
    static const struct plan_case cases[] = {
        {HEAD "PartitionName=a Nodes=n1 Default=YES\nPartitionName=b Nodes=n2\n",
         HEAD "PartitionName=a Nodes=n1\nPartitionName=b Nodes=n2 Default=YES\n",
         .steps = "write; update b Default=YES; read"},
        {HEAD "PartitionName=a Nodes=n1 Default=YES\nPartitionName=b Nodes=n2\n",
         HEAD "PartitionName=a Nodes=n1 MaxTime=5\nPartitionName=b Nodes=n2 Default=YES\n",
         .steps = "write; update b Default=YES; update a Default=NO MaxTime=00:05:00; read"},
        {HEAD "PartitionName=a Nodes=n1 Default=YES\n", HEAD "PartitionName=a Nodes=n1\n",
         .steps = "write; update a Default=NO; read"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void partitions_that_leave_are_deleted_last(void **state)
{
    static const struct plan_case cases[] = {
        /* they still stand in the new files; nothing else changes: files are written once */
        {ALL "PartitionName=d Nodes=n1\n", "# kept\n" ALL "PartitionName=d Nodes=n1\n",
         .leaving = "d", .steps = "delete d; settle; read"},
        {ALL "PartitionName=d Nodes=n1\n",
         ALL "PartitionName=d Nodes=n1\nPartitionName=e Nodes=n2\n", .leaving = "d",
         .steps = "write; create e DisableRootJobs=NO MinNodes=0 Nodes=n2; delete d; settle; read"},
        {ALL "PartitionName=d Nodes=n1\n", ALL "PartitionName=d Nodes=n1\nMaxNodeCount=20\n",
         .leaving = "d", .steps = "rehearse; write; restart; delete d; settle; read"},
        /* its default flag is not worth a call */
        {HEAD "PartitionName=d Nodes=n1 Default=YES\n",
         HEAD "PartitionName=d Nodes=n1\nPartitionName=e Nodes=n2 Default=YES\n", .leaving = "d",
         .steps = "write; create e Default=YES DisableRootJobs=NO MinNodes=0 Nodes=n2; delete d; "
                  "settle; read"},
        /* gone already: only the files are to be settled */
        {ALL "PartitionName=d Nodes=n1\n", "# kept\n" ALL "PartitionName=d Nodes=n1\n", .live = ALL,
         .leaving = "d", .steps = "settle; read"},
        /* gone, but a reconfigure brings it back */
        {ALL "PartitionName=d Nodes=n1\n",
         ALL "PartitionName=d Nodes=n1\nSchedulerParameters=bf_interval=40\n", .live = ALL,
         .leaving = "d", .steps = "rehearse; write; reconfigure; delete d; settle; read"},
        /* its nodes go with it: first or not at all */
        {ALL "PartitionName=d Nodes=n1\n", ALL "MaxNodeCount=20\n", .leaving = "d",
         .delete_first = true, .steps = "rehearse; delete d; write; restart; read"},
        {ALL "PartitionName=d Nodes=n1\n", ALL "PartitionName=d Nodes=n1\nMaxNodeCount=20\n",
         .leaving = "d", .down = true, .steps = "rehearse; write"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        plan_check(&cases[i]);
}

static void steps_say_what_they_do(void **state)
{
    AUTO(candidate_free)
    struct candidate *from = candidate_make(ALL "PartitionName=d Nodes=n1 State=UP\n", RELEASE_OLD);
    AUTO(candidate_free)
    struct candidate *to =
        candidate_make(ALL "PartitionName=d Nodes=n1 State=DRAIN MaxTime=60\n", RELEASE_OLD);
    AUTO(compare_done) struct comparison compared = {0};
    AUTO(live_done) struct live live = {0};
    AUTO(plan_done) struct apply_plan plan = {0};
    struct apply_input in = {.release = RELEASE_OLD, .to = candidate_model(to), .live = &live};
    struct err e = {0};

    (void)state;
    assert_int_equal(compare_candidates(from, to, &compared, &e), 0);
    live_of(ALL "PartitionName=d Nodes=n1 State=UP\n", RELEASE_OLD, &live);
    in.diff = &compared.slurm;
    in.class = compared.class;
    assert_int_equal(apply_plan(&in, &plan, &e), 0);
    assert_string_equal(plan.steps[0].what,
                        "partition d: MaxTime=UNLIMITED -> 01:00:00, State=UP -> DRAIN");
    assert_string_equal(step_name(plan.steps[0].kind), "rpc");
    assert_int_equal(plan_class(&plan), CHANGE_RPC);
}

static void kept_lines_carry_what_was_inherited(void **state)
{
    AUTO(candidate_free)
    struct candidate *from =
        candidate_make(HEAD "NodeSet=gone Feature=g\nPartitionName=DEFAULT MaxTime=5\n"
                            "PartitionName=old Nodes=gone,set,n1 Default=YES\n",
                       RELEASE_OLD);
    AUTO(candidate_free) struct candidate *declared = candidate_make(ALL, RELEASE_OLD);
    const struct model *m = candidate_model(from);
    AUTO(buf_done) struct buf out = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(keep_declared(m, model_find(m, CONF_PARTITION, "old"),
                                   candidate_model(declared), true, &out, &e),
                     0);
    assert_string_equal(buf_str(&out),
                        "NodeSet=gone Feature=g\n"
                        "PartitionName=old Nodes=gone,set,n1 DisableRootJobs=NO MaxTime=00:05:00 "
                        "State=DRAIN\n");
}

static void a_live_partition_is_kept_by_its_node_sets(void **state)
{
    AUTO(partition_done) struct partition p = {0};
    AUTO(buf_done) struct buf out = {0};

    (void)state;
    partition_init(&p);
    p.name = xstrdup("hand");
    p.nodes = xstrdup("n[1-9]");
    p.nodesets = xstrdup("set");
    keep_live(&p, false, &out);
    assert_string_equal(buf_str(&out), "PartitionName=hand Nodes=set\n");
}

static void files_without_a_model_count_by_their_bytes(void **state)
{
    AUTO(candidate_free) struct candidate *from = candidate_make(ALL, RELEASE_OLD);
    AUTO(candidate_free) struct candidate *to = candidate_make(ALL, RELEASE_OLD);
    AUTO(compare_done) struct comparison compared = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(fileset_put(&from->files, "a.sh", STR("x"), 0755, &e), 0);
    assert_int_equal(fileset_put(&to->files, "a.sh", STR("x"), 0644, &e), 0);
    assert_int_equal(fileset_put(&to->files, "b.sh", STR("x"), 0644, &e), 0);
    assert_int_equal(fileset_put(&from->files, "c.sh", STR("x"), 0644, &e), 0);
    assert_int_equal(compare_candidates(from, to, &compared, &e), 0);
    assert_int_equal(compared.n, 3);
    assert_string_equal(compared.list[0].text, "a.sh: changed");
    assert_string_equal(compared.list[1].text, "b.sh: added");
    assert_string_equal(compared.list[2].text, "c.sh: removed");
    assert_int_equal(compared.class, CHANGE_RECONFIGURE);
}

static void includes_are_looked_up_among_the_files(void **state)
{
    static const struct {
        const char *line;
        bool fine;
    } cases[] = {
        {"Include parts.conf\n", true},
        {"Include /etc/slurm/parts.conf\n", true},
        {"Include other.conf\n", false},
        {"Include /etc/slurm/other.conf\n", false},
        {"Include /nonexistent/parts.conf\n", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(fileset_done) struct fileset files = {0};
        AUTO(faults_done) struct faults faults = {0};
        AUTO(candidate_free) struct candidate *c = NULL;
        AUTO(free) char *conf = xasprintf("%s%s", HEAD, cases[i].line);
        struct err e = {0};

        assert_int_equal(fileset_put(&files, "slurm.conf", str_of(conf), 0644, &e), 0);
        assert_int_equal(
            fileset_put(&files, "parts.conf", STR("PartitionName=p Nodes=n1\n"), 0644, &e), 0);
        assert_int_equal(candidate_new(&files, "/etc/slurm", RELEASE_OLD, &faults, &c, &e), 0);
        assert_int_equal(faults.fatal == 0, cases[i].fine);
        assert_int_equal(model_find(candidate_model(c), CONF_PARTITION, "p") != NULL,
                         cases[i].fine);
    }
}

static void without_a_slurm_conf_there_is_nothing(void **state)
{
    AUTO(fileset_done) struct fileset files = {0};
    AUTO(faults_done) struct faults faults = {0};
    AUTO(candidate_free) struct candidate *c = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(candidate_new(&files, "/etc/slurm", RELEASE_OLD, &faults, &c, &e), -EINVAL);
    assert_string_equal(e.text, "there is no slurm.conf among the files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_the_least_that_does_it),
        cmocka_unit_test(a_function_is_told_when_its_text_changes),
        cmocka_unit_test(what_is_live_counts_and_not_what_was_declared),
        cmocka_unit_test(heavier_changes_need_no_calls_of_their_own),
        cmocka_unit_test(nodes_that_have_their_files_from_slurmctld_are_told),
        cmocka_unit_test(a_start_counts_the_jobs_right_behind_a_reconfigure),
        cmocka_unit_test(without_slurmctld_only_files_are_written),
        cmocka_unit_test(the_new_default_comes_first_and_is_one_call),
        cmocka_unit_test(partitions_that_leave_are_deleted_last),
        cmocka_unit_test(steps_say_what_they_do),
        cmocka_unit_test(kept_lines_carry_what_was_inherited),
        cmocka_unit_test(a_live_partition_is_kept_by_its_node_sets),
        cmocka_unit_test(files_without_a_model_count_by_their_bytes),
        cmocka_unit_test(includes_are_looked_up_among_the_files),
        cmocka_unit_test(without_a_slurm_conf_there_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
