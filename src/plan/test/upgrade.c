/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of another Slurm that is declared: the Controller's part in it. */
#include "src/plan/test/controller.h"

#include "src/build/labels.h"

static void declare(struct fixture *f, const char *release)
{
    struct jsn *meta =
        jsn_ensure_object(&f->arena, test_find(&f->world, "Controller", "lab"), "metadata");

    jsn_set_member(&f->arena, jsn_ensure_object(&f->arena, meta, "annotations"),
                   STR(API_RELEASE_ANNOTATION), jsn_string(&f->arena, release));
}

static const char *template_release(struct fixture *f)
{
    const struct jsn *set = test_find(&f->world, "StatefulSet", "lab-controller");

    return jsn_text(jsn_member(jsn_get(set, "spec.template.metadata.annotations"),
                               STR(API_RELEASE_ANNOTATION)));
}

static void carry_out_plan(struct fixture *f)
{
    struct actions list = plan(f);

    test_carry_out(&f->world, &list);
}

struct slurm {
    struct slurm_node nodes[3];
    struct slurm_state state;
};

/* slurmctld and its nodes, "" has none; what it was handed last is what it is to have. */
static void runs(struct fixture *f, struct slurm *s, const char *slurmctld,
                 const char *const *slurmd)
{
    static const char *const names[] = {"gpu-0", "gpu-1", "gpu-2"};

    *s = (struct slurm){.state = {.nodes = s->nodes, .n = 3, .release = slurmctld}};
    for (size_t i = 0; i < 3; i++)
        s->nodes[i] = (struct slurm_node){.name = names[i],
                                          .state = NODE_FLAG_DYNAMIC |
                                                   (slurmd[i] ? NODE_BASE_IDLE : NODE_BASE_DOWN),
                                          .jobs_known = true,
                                          .release = !slurmd[i]     ? "22.05.8"
                                                     : slurmd[i][0] ? slurmd[i]
                                                                    : NULL};
    f->slurm = &s->state;
    for (int i = 0; i < 3; i++) {
        struct actions list = plan(f);

        for (size_t k = 0; k < list.n; k++)
            if (list.items[k].verb == ACTION_PUSH)
                s->state.applied = (struct slurm_applied){
                    .hash = jsn_get_str(list.items[k].body, "declared"), .result = "applied"};
        test_carry_out(&f->world, &list);
    }
}

static const char *const all_old[] = {"24.11.5", "24.11.5", "24.11.5"};

static void slurmctld_goes_first_and_nodes_are_told_of(void **state)
{
    static const struct {
        const char *slurmctld;
        const char *slurmd[3]; /* NULL: down, and of no consequence */
        const char *status;
        const char *reason;
        const char *text;
    } rows[] = {
        {"24.11.5",
         {"24.11.5", "24.11.5", "24.11.5"},
         "False",
         "UpgradingSlurmctld",
         "slurmctld runs Slurm 24.11.5 and is started again as 26.05.5; jobs run on, nodes follow "
         "after it"},
        {"26.05.5",
         {"24.11.5", "26.05.5", "24.11.5"},
         "False",
         "UpgradingNodes",
         "slurmctld runs Slurm 26.05.5, and 1 of 3 nodes do; the others follow within the bounds "
         "of their NodeSets, as no job can run on them: gpu-0, gpu-2"},
        {"26.05.5",
         {"26.05.5", "", "26.05.5"}, /* it has not registered with the new slurmctld yet */
         "False",
         "UpgradingNodes",
         "slurmctld runs Slurm 26.05.5, and 2 of 3 nodes do; the others follow within the bounds "
         "of their NodeSets, as no job can run on them: gpu-1"},
        {"26.05.5",
         {"26.05.5", NULL, "26.05.5"},
         "True",
         "Current",
         "slurmctld and all 2 nodes that are up run Slurm 26.05.5"},
    };
    AUTO(fixture_done) struct fixture f;
    struct slurm s = {0};

    (void)state;
    run_lab(&f);
    declare(&f, "26.05.5");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        runs(&f, &s, rows[i].slurmctld, rows[i].slurmd);
        assert_string_equal(message_of(&f, "SlurmRelease", "message"), rows[i].text);
        assert_string_equal(message_of(&f, "SlurmRelease", "status"), rows[i].status);
        assert_string_equal(message_of(&f, "SlurmRelease", "reason"), rows[i].reason);
        assert_string_equal(template_release(&f), "26.05.5");
    }
    /* it is being started again: nobody tells what runs */
    f.slurm = NULL;
    carry_out_plan(&f);
    assert_string_equal(message_of(&f, "SlurmRelease", "status"), "Unknown");
}

static void a_step_that_slurm_does_not_make_changes_nothing(void **state)
{
    static const struct {
        const char *declared;
        const char *slurmctld;
        const char *slurmd[3];
        const char *text;
    } rows[] = {
        {"26.05.5",
         "22.05.8",
         {"22.05.8", "22.05.8", "22.05.8"},
         "slurmctld goes on as Slurm 22.05.8, and 26.05.5 that is declared changes nothing: Slurm "
         "22.05 cannot become 26.05 at once: 26.05 takes over from 24.11 or later; go by 23.11, "
         "then 25.05 first"},
        {"24.11",
         "26.05.5",
         {"26.05.5", "26.05.5", "26.05.5"},
         "slurmctld goes on as Slurm 26.05.5, and 24.11 that is declared changes nothing: Slurm "
         "26.05 cannot become 24.11 again: no Slurm reads what a later one has written; stay with "
         "26.05 or later"},
        {"26.05.5",
         "25.05.2",
         {"25.05.2", "24.05.1", "25.05.2"},
         "slurmctld goes on as Slurm 25.05.2, and 26.05.5 that is declared changes nothing: "
         "slurmctld of Slurm 26.05 serves slurmd of 24.11 or later, and here 24.05 runs: bring "
         "slurmd to 24.11 first"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;
        struct slurm s = {0};
        struct actions list;

        run_lab(&f);
        declare(&f, rows[i].slurmctld);
        runs(&f, &s, rows[i].slurmctld, rows[i].slurmd);
        assert_string_equal(template_release(&f), rows[i].slurmctld);
        declare(&f, rows[i].declared);
        list = plan(&f);
        assert_non_null(test_event(&list, "StepNotAllowed"));
        runs(&f, &s, rows[i].slurmctld, rows[i].slurmd);
        assert_string_equal(message_of(&f, "SlurmRelease", "message"), rows[i].text);
        assert_string_equal(message_of(&f, "SlurmRelease", "reason"), "StepNotAllowed");
        assert_string_equal(template_release(&f), rows[i].slurmctld);
        if (streq(rows[i].slurmctld, "25.05.2"))
            continue; /* of old nodes nobody but slurmctld can tell */
        /* also when slurmctld is not there to say what it is */
        f.slurm = NULL;
        carry_out_plan(&f);
        assert_string_equal(template_release(&f), rows[i].slurmctld);
    }
}

/* The running slurmctld does not get what only the next one understands, and the next one is not
 * started on what it would refuse. */
static void the_configuration_fits_what_runs(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct slurm s = {0};

    (void)state;
    run_lab(&f);
    declare(&f, "22.05.8");
    runs(&f, &s, "22.05.8", (const char *const[]){"22.05.8", "22.05.8", "22.05.8"});
    jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"), "spec.extraConf",
                 jsn_string(&f.arena, "SlurmctldPlugstack=x"));
    declare(&f, "23.11");
    runs(&f, &s, "22.05.8", (const char *const[]){"22.05.8", "22.05.8", "22.05.8"});
    assert_string_equal(message_of(&f, "SlurmRelease", "reason"), "ConfigNotReady");
}

/* Images decide where pods run what is in them, and only there. */
static void images_tell_where_they_are_run(void **state)
{
    static const struct {
        bool host;
        const char *reason;
    } rows[] = {{false, "StepNotAllowed"}, {true, ""}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;
        struct slurm s = {0};

        run_lab(&f);
        f.env.host_slurm = rows[i].host;
        jsn_set_path(&f.arena, test_find(&f.world, "Controller", "lab"), "spec.slurmctld.image",
                     jsn_string(&f.arena, "ghcr.io/slinkyproject/slurmctld:23.11-ubuntu24.04"));
        runs(&f, &s, "24.11.5", all_old);
        assert_string_equal(message_of(&f, "SlurmRelease", "reason"), rows[i].reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurmctld_goes_first_and_nodes_are_told_of),
        cmocka_unit_test(a_step_that_slurm_does_not_make_changes_nothing),
        cmocka_unit_test(the_configuration_fits_what_runs),
        cmocka_unit_test(images_tell_where_they_are_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
