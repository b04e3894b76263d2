/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the NodeSet's plan: pods by ordinal, what may go, what is said. */
#include "src/base/test/unit.h"

#include "src/plan/finalizer.h"
#include "src/plan/nodeset.h"
#include "src/plan/test/world.h"

#define SET                                                                                        \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'NodeSet','metadata':{'name':'gpu',"          \
    "'namespace':'slurm','uid':'U','generation':1,'finalizers':['" FINALIZER_NODESET "']},"        \
    "'spec':{'controllerRef':{'name':'lab'}%s}}"
#define LAB                                                                                        \
    "{'kind':'Controller','metadata':{'name':'lab','namespace':'slurm','uid':'C'},'spec':{}}"

#define POD_MAX 8

struct fixture {
    struct arena arena;
    struct test_world world;
    struct build_env env;
    bool no_controller;
    const char *twin;
    const struct slurm_state *slurm;
    struct slurm_node nodes[POD_MAX]; /* what Slurm has, if use_slurm was called */
    struct slurm_state state;
};

static void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void fixture_init(struct fixture *f, const char *spec)
{
    *f = (struct fixture){0};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    test_put(&f->world, test_parse(&f->arena, arena_printf(&f->arena, SET, spec)));
}

static struct jsn *the_set(struct fixture *f)
{
    return test_find(&f->world, "NodeSet", "gpu");
}

static struct actions plan(struct fixture *f)
{
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct nodeset *ns = arena_calloc(a, 1, sizeof(*ns));
    struct controller *c = arena_calloc(a, 1, sizeof(*c));
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    struct build_cluster cluster = {.env = &f->env, .lookup = &lookup};
    const struct plan_pod *pods[POD_MAX * 40];
    const struct jsn *revisions[POD_MAX];
    struct plan_nodeset in = {.object = the_set(f),
                              .ns = ns,
                              .cluster = &cluster,
                              .pods = pods,
                              .revisions = revisions,
                              .slurm = f->slurm,
                              .twin = f->twin,
                              .now_us = 1000000000};
    struct err e = {0};

    assert_int_equal(nodeset_decode(a, in.object, ns, &e), 0);
    assert_int_equal(controller_decode(a, test_parse(a, LAB), c, &e), 0);
    cluster.controller = f->no_controller ? NULL : c;
    JSN_FOR_ITEMS (o, f->world.objects) {
        struct plan_pod *p = arena_calloc(a, 1, sizeof(*p));

        if (streq(jsn_get_str(o, "kind"), "ControllerRevision"))
            revisions[in.n_revisions++] = o;
        if (!streq(jsn_get_str(o, "kind"), "Pod"))
            continue;
        plan_pod_decode(a, o, p);
        pods[in.n_pods++] = p;
    }
    plan_nodeset(&in, &list);
    return list;
}

static void use_slurm(struct fixture *f, const struct slurm_node *nodes, size_t n)
{
    assert_true(n <= POD_MAX);
    memcpy(f->nodes, nodes, n * sizeof(*nodes));
    f->state = (struct slurm_state){.nodes = f->nodes, .n = n};
    f->slurm = &f->state;
}

/* What Slurm makes of the calls for nodes. */
static void carry_out_calls(struct fixture *f, const struct actions *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct action *a = &list->items[i];
        const char *what = jsn_get_str(a->body, "action");
        size_t at = 0;

        if (a->verb != ACTION_NODE || f->slurm != &f->state)
            continue;
        while (!streq(f->nodes[at].name, a->node))
            at++;
        if (streq(what, "delete")) {
            memmove(&f->nodes[at], &f->nodes[at + 1], (--f->state.n - at) * sizeof(f->nodes[0]));
            continue;
        }
        if (streq(what, "drain")) {
            f->nodes[at].state |= NODE_FLAG_DRAIN;
            f->nodes[at].reason = jsn_get_str(a->body, "reason");
            continue;
        }
        assert_true(starts_with(f->nodes[at].reason, jsn_get_str(a->body, "onlyIfReason")));
        f->nodes[at].state &= ~(uint32_t)NODE_FLAG_DRAIN;
        if (streq(what, "resume"))
            f->nodes[at].state = NODE_BASE_IDLE;
        f->nodes[at].reason = NULL;
    }
}

static void carry_out(struct fixture *f, const struct actions *list)
{
    test_carry_out(&f->world, list);
    carry_out_calls(f, list);
}

static void expect_plan(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct actions list = plan(f);

    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    carry_out(f, &list);
}

/* Plan and carry out until nothing is left to do. */
static void converge(struct fixture *f)
{
    for (int i = 0; i < 10; i++) {
        struct actions list = plan(f);

        if (list.n == 0)
            return;
        carry_out(f, &list);
    }
    fail_msg("the plan does not come to rest");
}

static void set_replicas(struct fixture *f, int n)
{
    jsn_set_path(&f->arena, the_set(f), "spec.replicas", jsn_int(&f->arena, n));
}

/* As a node would report it. */
static void run_pod(struct fixture *f, const char *name)
{
    struct jsn *pod = test_find(&f->world, "Pod", name);

    jsn_set_path(&f->arena, pod, "spec.nodeName", jsn_string(&f->arena, "k"));
    jsn_set(&f->arena, pod, "status",
            test_parse(&f->arena, "{'phase':'Running','conditions':[{'type':'Ready','status':"
                                  "'True','lastTransitionTime':'1970-01-01T00:00:01Z'}]}"));
}

static void pods_of(struct fixture *f, struct buf *out)
{
    JSN_FOR_ITEMS (o, f->world.objects)
        if (streq(jsn_get_str(o, "kind"), "Pod"))
            buf_printf(out, "%s ", jsn_get_str(o, "metadata.name"));
}

static void expect_pods(struct fixture *f, const char *names)
{
    AUTO(buf_done) struct buf b = {0};

    pods_of(f, &b);
    assert_string_equal(buf_str(&b), names);
}

static const char *reason_of(struct fixture *f, const char *type)
{
    return jsn_get_str(test_condition(the_set(f), type), "reason");
}

static void pods_are_made_by_ordinal_and_then_left_alone(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':2,'ordinalPadding':3");
    converge(&f);
    expect_pods(&f, "gpu-000 gpu-001 ");
    expect_plan(&f, "");
    assert_int_equal(jsn_get_int(the_set(&f), "status.replicas", -1), 2);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 2);
    assert_string_equal(reason_of(&f, "Ready"), "PodsNotReady");
}

static void the_lowest_free_ordinals_are_filled(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':3");
    converge(&f);
    test_drop(&f.world, "Pod", "gpu-1");
    set_replicas(&f, 4);
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-2 gpu-1 gpu-3 ");
}

static void a_pod_that_is_ending_keeps_its_place(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':2");
    converge(&f);
    jsn_set_path(&f.arena, test_find(&f.world, "Pod", "gpu-0"), "metadata.deletionTimestamp",
                 jsn_string(&f.arena, "2026-01-01T00:00:00Z"));
    expect_plan(&f, "");
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    expect_pods(&f, "gpu-1 gpu-0 ");
}

static void many_pods_are_made_in_portions(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;
    size_t created = 0;

    (void)state;
    fixture_init(&f, ",'replicas':300");
    list = plan(&f);
    for (size_t i = 0; i < list.n; i++)
        created += list.items[i].verb == ACTION_CREATE && streq(list.items[i].kind->kind, "Pod");
    assert_int_equal(created, PLAN_PODS_AT_ONCE);
    test_carry_out(&f.world, &list);
    converge(&f);
    assert_non_null(test_find(&f.world, "Pod", "gpu-299"));
    assert_null(test_find(&f.world, "Pod", "gpu-300"));
}

static void without_slurm_only_what_never_ran_goes(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':3");
    converge(&f);
    run_pod(&f, "gpu-1");
    run_pod(&f, "gpu-2");
    set_replicas(&f, 1);
    converge(&f);
    expect_pods(&f, "gpu-1 gpu-2 ");
    assert_string_equal(reason_of(&f, "ScaledDown"), "SlurmStateUnknown");
    set_replicas(&f, 2);
    converge(&f);
    assert_null(reason_of(&f, "ScaledDown"));
}

/* A NodeSet with that many running pods. */
static void run_set(struct fixture *f, int n, const char *more)
{
    AUTO(arena_done) struct arena scratch = {0};

    fixture_init(f, arena_printf(&scratch, ",'replicas':%d%s", n, more));
    converge(f);
    for (int i = 0; i < n; i++)
        run_pod(f, arena_printf(&f->arena, "gpu-%d", i));
}

static void nodes_are_drained_before_their_pods_go(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE | NODE_FLAG_DRAIN, "broken disk", true, 0},
        {"gpu-1", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-2", NODE_BASE_MIXED, NULL, true, 1, .busy_until_us = 5000000},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 3, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.slurmIdle", -1), 2);
    assert_int_equal(jsn_get_int(the_set(&f), "status.slurmAllocated", -1), 1);
    assert_int_equal(jsn_get_int(the_set(&f), "status.slurmDrain", -1), 1);
    set_replicas(&f, 0);
    expect_plan(&f, "drain gpu-1;drain gpu-2;delete Pod gpu-0;status NodeSet gpu;");
    assert_string_equal(f.nodes[1].reason,
                        "slurmkeeper: Pod (slurm/gpu-1) is pending termination for scale-in");
    converge(&f);
    expect_pods(&f, "gpu-2 ");
    assert_string_equal(reason_of(&f, "ScaledDown"), "WaitingForDrain");
    /* Its job ends. */
    f.nodes[2].state = NODE_BASE_IDLE | NODE_FLAG_DRAIN;
    f.nodes[2].jobs = 0;
    /* Its node stays drained: no job may start there while its pod ends. */
    expect_plan(&f, "patch Pod gpu-2;status Pod gpu-2;delete Pod gpu-2;status NodeSet gpu;");
    converge(&f);
    expect_pods(&f, "");
    fixture_done(&f);
}

static void what_may_stay_after_all_is_let_back(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_MIXED, NULL, true, 1},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1},
        {"gpu-2", NODE_BASE_MIXED | NODE_FLAG_DRAIN, "somebody else", true, 1},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 3, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    set_replicas(&f, 1);
    converge(&f);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN);
    assert_false(f.nodes[0].state & NODE_FLAG_DRAIN);
    set_replicas(&f, 3);
    converge(&f);
    assert_false(f.nodes[1].state & NODE_FLAG_DRAIN);
    assert_true(f.nodes[2].state & NODE_FLAG_DRAIN); /* not ours */
    assert_string_equal(f.nodes[2].reason, "somebody else");
    expect_pods(&f, "gpu-0 gpu-1 gpu-2 ");
    fixture_done(&f);
}

static void the_choice_follows_the_idle_but_not_the_busy(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_MIXED, NULL, true, 1, .busy_until_us = 9000000},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1, .busy_until_us = 5000000},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    set_replicas(&f, 1);
    converge(&f);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN);
    f.nodes[1].busy_until_us = 20000000; /* later than the other's now */
    converge(&f);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN);
    assert_false(f.nodes[0].state & NODE_FLAG_DRAIN);
    /* The other one's job ends: it can go at once. */
    f.nodes[0].state = NODE_BASE_IDLE;
    f.nodes[0].jobs = 0;
    converge(&f);
    expect_pods(&f, "gpu-1 ");
    assert_false(f.nodes[1].state & NODE_FLAG_DRAIN);
    fixture_done(&f);
}

static void nodes_are_let_back_only_where_that_is_ours_to_do(void **state)
{
    enum { READY = 1, CORDONED = 2 };
    static const struct {
        uint32_t state;
        const char *reason;
        int flags;
        const char *call;
    } rows[] = {
        {NODE_BASE_IDLE, NULL, READY, ""},
        {NODE_BASE_IDLE, NULL, READY | CORDONED, "drain gpu-0;"},
        {NODE_BASE_ALLOCATED, NULL, READY | CORDONED, "drain gpu-0;"},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "disk", READY, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "disk", READY | CORDONED, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurmkeeper: Pod (slurm/gpu-0) was cordoned", READY,
         "undrain gpu-0;"},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurmkeeper: Pod (slurm/gpu-0) was cordoned",
         READY | CORDONED, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurm-operator: Pod (slurm/gpu-0) was cordoned", 0,
         "undrain gpu-0;"},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN, "slurmkeeper: repair", READY, ""},
        {NODE_BASE_IDLE | NODE_FLAG_DRAIN | NODE_FLAG_UNDRAIN, "slurmkeeper: Pod x", READY, ""},
        {NODE_BASE_DOWN, "slurmkeeper: Pod is terminating", READY, "resume gpu-0;"},
        {NODE_BASE_DOWN | NODE_FLAG_DRAIN, "slurmkeeper: Pod is terminating", READY,
         "resume gpu-0;"},
        {NODE_BASE_DOWN, "slurm-operator: Pod is terminating", READY, "resume gpu-0;"},
        {NODE_BASE_DOWN, "slurmkeeper: Pod is terminating", 0, ""},
        {NODE_BASE_DOWN | NODE_FLAG_NO_RESPOND, "slurmkeeper: Pod is terminating", READY, ""},
        {NODE_BASE_DOWN, "Not responding", READY, ""},
        {NODE_BASE_DOWN, NULL, READY, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct slurm_node node = {"gpu-0", rows[i].state, rows[i].reason, true, 0};
        AUTO(buf_done) struct buf b = {0};
        struct fixture f = {0};
        struct jsn *pod;

        run_set(&f, 1, "");
        pod = test_find(&f.world, "Pod", "gpu-0");
        if (!(rows[i].flags & READY))
            jsn_set_path(&f.arena, pod, "status.conditions", jsn_array(&f.arena));
        if (rows[i].flags & CORDONED)
            jsn_set_member(&f.arena,
                           jsn_ensure_object(&f.arena, jsn_key(pod, "metadata"), "annotations"),
                           STR(POD_CORDON), jsn_string(&f.arena, "true"));
        use_slurm(&f, &node, 1);
        for (int round = 0; round < 2; round++) {
            struct actions list = plan(&f);

            for (size_t k = 0; k < list.n; k++)
                if (list.items[k].verb == ACTION_NODE)
                    buf_printf(&b, "%s %s;", jsn_get_str(list.items[k].body, "action"),
                               list.items[k].node);
            carry_out(&f, &list);
        }
        if (!streq(buf_str(&b), rows[i].call))
            fail_msg("row %zu: '%s' and not '%s'", i, buf_str(&b), rows[i].call);
        fixture_done(&f);
    }
}

static void records_of_nodes_go_with_their_pods(void **state)
{
    static const uint32_t gone = NODE_BASE_DOWN | NODE_FLAG_DYNAMIC | NODE_FLAG_NO_RESPOND;
    static const uint32_t drained = NODE_BASE_IDLE | NODE_FLAG_DRAIN | NODE_FLAG_DYNAMIC;
    static const char ours[] = "slurmkeeper: Pod is terminating";
    static const struct {
        struct slurm_node node;
        const char *call;
    } rows[] = {
        {{"gpu-1", gone, ours, true, 0}, "delete gpu-1;"},
        {{"gpu-1", gone, "slurm-operator: Pod is terminating", true, 0}, "delete gpu-1;"},
        {{"gpu-7", drained, "slurmkeeper: Pod (slurm/gpu-7) is pending", true, 0}, "delete gpu-7;"},
        {{"gpu-0", gone, ours, true, 0}, ""},   /* has a pod */
        {{"gpu-01", gone, ours, true, 0}, ""},  /* no name of ours */
        {{"other-1", gone, ours, true, 0}, ""}, /* of another NodeSet */
        {{"gpu-", gone, ours, true, 0}, ""},
        {{"gpu-1", gone, "disk", true, 0}, ""},
        {{"gpu-1", gone, NULL, true, 0}, ""},
        {{"gpu-1", gone, ours, true, 1}, ""},
        {{"gpu-1", gone, ours, false, 0}, ""},
        {{"gpu-1", drained | NODE_FLAG_COMPLETING, ours, true, 0}, ""},
        {{"gpu-1", gone | NODE_FLAG_RESERVED, ours, true, 0}, ""},
        {{"gpu-1", gone & ~(uint32_t)NODE_FLAG_DYNAMIC, ours, true, 0}, ""},
        {{"gpu-1", NODE_BASE_IDLE | NODE_FLAG_DYNAMIC, ours, true, 0}, ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(buf_done) struct buf b = {0};
        struct fixture f = {0};
        struct actions list;

        run_set(&f, 1, "");
        converge(&f);
        use_slurm(&f, &rows[i].node, 1);
        list = plan(&f);
        for (size_t k = 0; k < list.n; k++)
            if (list.items[k].verb == ACTION_NODE &&
                streq(jsn_get_str(list.items[k].body, "action"), "delete"))
                buf_printf(&b, "delete %s;", list.items[k].node);
        if (!streq(buf_str(&b), rows[i].call))
            fail_msg("row %zu: '%s' and not '%s'", i, buf_str(&b), rows[i].call);
        fixture_done(&f);
    }
}

static void a_record_is_kept_for_a_pod_that_is_made_anew(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE | NODE_FLAG_DYNAMIC, NULL, true, 0},
        {"gpu-1", NODE_BASE_DOWN | NODE_FLAG_DYNAMIC, "slurmkeeper: Pod is terminating", true, 0},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    test_drop(&f.world, "Pod", "gpu-1");
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_int_equal(f.state.n, 2);
    set_replicas(&f, 1);
    test_drop(&f.world, "Pod", "gpu-1");
    converge(&f);
    assert_int_equal(f.state.n, 1);
    fixture_done(&f);
}

static void a_slurmctld_that_is_down_changes_nothing(void **state)
{
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    f.state = (struct slurm_state){.down = true};
    f.slurm = &f.state;
    converge(&f);
    set_replicas(&f, 0);
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(reason_of(&f, "ScaledDown"), "SlurmStateUnknown");
    fixture_done(&f);
}

static void outdated_pods_are_drained_within_the_bounds(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-1", NODE_BASE_MIXED, NULL, true, 1},
        {"gpu-2", NODE_BASE_IDLE, NULL, true, 0},
        {"gpu-3", NODE_BASE_IDLE, NULL, true, 0},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 4, ",'updateStrategy':{'rollingUpdate':{'maxUnavailable':1}}");
    use_slurm(&f, nodes, ARRAY_LEN(nodes));
    converge(&f);
    jsn_set_path(&f.arena, the_set(&f), "spec.extraConf", jsn_string(&f.arena, "Weight=5"));
    for (int round = 0; round < 8; round++) {
        size_t drained = 0;

        for (size_t i = 0; i < 4; i++)
            drained += (f.nodes[i].state & NODE_FLAG_DRAIN) != 0;
        assert_true(drained <= 1);
        converge(&f);
        for (int i = 0; i < 4; i++)
            run_pod(&f, arena_printf(&f.arena, "gpu-%d", i));
        converge(&f); /* what is new is let back */
    }
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 3);
    assert_true(f.nodes[1].state & NODE_FLAG_DRAIN); /* has a job */
    f.nodes[1].state = NODE_BASE_IDLE | NODE_FLAG_DRAIN;
    f.nodes[1].jobs = 0;
    converge(&f);
    run_pod(&f, "gpu-1");
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 4);
    assert_false(f.nodes[1].state & NODE_FLAG_DRAIN);
    fixture_done(&f);
}

static const char *pod_condition(struct fixture *f, const char *pod, const char *type)
{
    const struct jsn *c = test_condition(test_find(&f->world, "Pod", pod), type);

    return c ? jsn_get_str(c, "message") : NULL;
}

static void pods_show_the_state_of_their_nodes(void **state)
{
    static const struct slurm_node nodes[] = {{"gpu-0", NODE_BASE_IDLE, NULL, true, 0}};
    struct fixture f = {0};

    (void)state;
    run_set(&f, 2, "");
    use_slurm(&f, nodes, 1);
    converge(&f);
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateIdle"), "");
    assert_null(pod_condition(&f, "gpu-1", "SlurmNodeStateIdle"));
    assert_non_null(test_condition(test_find(&f.world, "Pod", "gpu-0"), "Ready"));
    f.nodes[0].state = NODE_BASE_MIXED | NODE_FLAG_DRAIN | NODE_FLAG_COMPLETING;
    f.nodes[0].reason = "disk";
    converge(&f);
    assert_null(pod_condition(&f, "gpu-0", "SlurmNodeStateIdle"));
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateMixed"), "disk");
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateDrain"), "disk");
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateCompleting"), "disk");
    assert_non_null(test_condition(test_find(&f.world, "Pod", "gpu-0"), "Ready"));
    /* Not knowing is no reason to take anything back. */
    f.slurm = NULL;
    converge(&f);
    assert_string_equal(pod_condition(&f, "gpu-0", "SlurmNodeStateDrain"), "disk");
    use_slurm(&f, nodes, 0);
    converge(&f);
    assert_null(pod_condition(&f, "gpu-0", "SlurmNodeStateDrain"));
    fixture_done(&f);
}

static void refusals_and_drift_reach_their_nodeset(void **state)
{
    static const struct slurm_fault faults[] = {
        {"slurm.conf", 7, "NodeSet=gpu2 Feature=gpu2", "not mine"},
        {"slurm.conf", 9, "PartitionName=gpu Nodes=gpu QOS=x", "QOS x is not known"},
    };
    static const struct slurm_drift drift[] = {
        {"other", "State", "UP", "DOWN"},
        {"gpu", "State", "UP", "DRAIN"},
    };
    struct fixture f = {0};

    (void)state;
    run_set(&f, 0, ",'partition':{'enabled':true,'config':'MaxTime=60'}");
    f.state = (struct slurm_state){
        .drift = drift,
        .n_drift = 2,
        .applied = {.hash = "h", .result = "refused", .faults = faults, .n_faults = 2}};
    f.slurm = &f.state;
    converge(&f);
    assert_non_null(strstr(jsn_get_str(test_condition(the_set(&f), "ConfigApplied"), "message"),
                           "QOS x is not"));
    assert_string_equal(jsn_get_str(test_condition(the_set(&f), "Drifted"), "message"),
                        "partition gpu: State is DRAIN, declared UP");
    f.state = (struct slurm_state){0};
    converge(&f);
    assert_null(test_condition(the_set(&f), "ConfigApplied"));
    assert_null(test_condition(the_set(&f), "Drifted"));
    fixture_done(&f);
}

static void busy_pods_are_protected(void **state)
{
    static const struct slurm_node busy[] = {{"gpu-0", NODE_BASE_ALLOCATED, "", true, 1}};
    static const struct slurm_node idle[] = {{"gpu-0", NODE_BASE_IDLE, "", true, 0}};
    static const struct slurm_state at_work = {busy, 1};
    static const struct slurm_state at_rest = {idle, 1};
    AUTO(fixture_done) struct fixture f;
    const struct jsn *labels;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    f.slurm = &at_work;
    converge(&f);
    labels = jsn_get(test_find(&f.world, "Pod", "gpu-0"), "metadata.labels");
    assert_string_equal(jsn_text(jsn_member(labels, STR(POD_PROTECT_LABEL))), "true");
    f.slurm = NULL;
    expect_plan(&f, "status NodeSet gpu;");
    f.slurm = &at_rest;
    converge(&f);
    labels = jsn_get(test_find(&f.world, "Pod", "gpu-0"), "metadata.labels");
    assert_null(jsn_member(labels, STR(POD_PROTECT_LABEL)));
}

static void pods_that_ended_are_replaced(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_set_path(&f.arena, test_find(&f.world, "Pod", "gpu-0"), "status.phase",
                 jsn_string(&f.arena, "Failed"));
    {
        struct actions list = plan(&f);
        size_t deletes = 0;

        for (size_t i = 0; i < list.n; i++)
            deletes += list.items[i].verb == ACTION_DELETE;
        assert_int_equal(deletes, 1);
        test_carry_out(&f.world, &list);
    }
    converge(&f);
    expect_pods(&f, "gpu-0 ");
}

static void a_new_template_replaces_only_what_is_free(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const char *hash;

    (void)state;
    fixture_init(&f, ",'replicas':2");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_set_path(&f.arena, the_set(&f), "spec.extraConf", jsn_string(&f.arena, "Weight=5"));
    converge(&f);
    hash = jsn_get_str(the_set(&f), "status.nodeSetHash");
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 1);
    assert_string_equal(reason_of(&f, "Updated"), "WaitingForIdle");
    assert_string_not_equal(
        jsn_text(jsn_member(jsn_get(test_find(&f.world, "Pod", "gpu-0"), "metadata.labels"),
                            STR(POD_HASH_LABEL))),
        hash);
    /* Both revisions are in use. */
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    assert_int_equal(jsn_get_int(the_set(&f), "status.updatedReplicas", -1), 2);
    assert_null(reason_of(&f, "Updated"));
}

static void unused_revisions_are_forgotten(void **state)
{
    AUTO(fixture_done) struct fixture f;
    size_t n = 0;

    (void)state;
    fixture_init(&f, ",'replicas':0,'revisionHistoryLimit':1");
    converge(&f);
    for (int i = 1; i < 5; i++) {
        jsn_set_path(&f.arena, the_set(&f), "spec.extraConf",
                     jsn_stringf(&f.arena, "Weight=%d", i));
        converge(&f);
    }
    JSN_FOR_ITEMS (o, f.world.objects)
        n += streq(jsn_get_str(o, "kind"), "ControllerRevision");
    assert_int_equal(n, 2);
}

static void claims_come_before_their_pods(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':1,'volumeClaimTemplates':[{'metadata':{'name':'scratch'},"
                     "'spec':{'accessModes':['ReadWriteOnce']}}]");
    expect_plan(&f, arena_printf(&f.arena,
                                 "create ControllerRevision %s;create PersistentVolumeClaim "
                                 "scratch-gpu-0;create Pod gpu-0;status NodeSet gpu;",
                                 jsn_get_str(plan(&f).items[0].body, "metadata.name")));
    /* The claim outlives its pod. */
    test_drop(&f.world, "Pod", "gpu-0");
    converge(&f);
    expect_pods(&f, "gpu-0 ");
}

static void hindrances_are_told_once_and_what_runs_goes_on(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const struct action *event;
    struct actions list;

    (void)state;
    fixture_init(&f, ",'replicas':1");
    converge(&f);
    f.no_controller = true;
    set_replicas(&f, 5);
    list = plan(&f);
    event = test_event(&list, "ControllerNotFound");
    assert_non_null(strstr(event ? event->text : "", "create it, or correct"));
    test_carry_out(&f.world, &list);
    expect_plan(&f, "");
    expect_pods(&f, "gpu-0 ");
    f.no_controller = false;
    f.twin = "older";
    list = plan(&f);
    assert_non_null(test_event(&list, "SlurmNameTaken"));
    test_carry_out(&f.world, &list);
    expect_pods(&f, "gpu-0 ");
    f.twin = NULL;
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 gpu-2 gpu-3 gpu-4 ");
}

static void a_bad_spec_is_told(void **state)
{
    static const struct {
        const char *spec;
        const char *reason;
    } rows[] = {
        {",'partition':{'config':'MaxTime=soon'}", "Invalid"},
        {",'extraConf':'Nonsense=1'", "Invalid"},
        {",'scalingMode':'DaemonSet'", "NotSupported"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f, rows[i].spec);
        expect_plan(&f, "status NodeSet gpu;");
        assert_string_equal(reason_of(&f, "Ready"), rows[i].reason);
    }
}

static void availability_is_waited_for(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct actions list;

    (void)state;
    fixture_init(&f, ",'replicas':1,'minReadySeconds':2000");
    converge(&f);
    run_pod(&f, "gpu-0"); /* ready at 1 s, it is 1000 s now */
    list = plan(&f);
    assert_int_equal(list.items[list.n - 1].verb, ACTION_REQUEUE);
    assert_int_equal(list.items[list.n - 1].at_us, 2001000000);
    test_carry_out(&f.world, &list);
    assert_int_equal(jsn_get_int(the_set(&f), "status.readyReplicas", -1), 1);
    assert_int_equal(jsn_get_int(the_set(&f), "status.availableReplicas", -1), 0);
}

static void delete_set(struct fixture *f)
{
    jsn_set_path(&f->arena, the_set(f), "metadata.deletionTimestamp",
                 jsn_string(&f->arena, "2026-01-01T00:00:00Z"));
}

static void the_finalizer_comes_before_all_else(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    jsn_set_path(&f.arena, the_set(&f), "metadata.finalizers",
                 test_parse(&f.arena, "['other.example/f']"));
    expect_plan(&f, "patch NodeSet gpu;");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 2);
    converge(&f);
    expect_pods(&f, "gpu-0 ");
}

static void a_deleted_set_lets_go_what_is_free_and_then_itself(void **state)
{
    static const struct slurm_node nodes[] = {
        {"gpu-0", NODE_BASE_IDLE | NODE_FLAG_DRAIN, "", true, 0},
        {"gpu-1", NODE_BASE_ALLOCATED | NODE_FLAG_DRAIN, "", true, 1},
    };
    static const struct slurm_state slurm = {nodes, ARRAY_LEN(nodes)};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':3");
    converge(&f);
    run_pod(&f, "gpu-0");
    run_pod(&f, "gpu-1");
    delete_set(&f);
    converge(&f);
    expect_pods(&f, "gpu-0 gpu-1 ");
    assert_string_equal(reason_of(&f, "Ready"), "Deleting");
    f.slurm = &slurm;
    converge(&f);
    expect_pods(&f, "gpu-1 ");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 1);
    test_drop(&f.world, "Pod", "gpu-1");
    expect_plan(&f, "patch NodeSet gpu;");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 0);
    expect_plan(&f, "");
}

static void a_deleted_set_says_what_it_waits_for(void **state)
{
    AUTO(fixture_done) struct fixture f;
    const char *text;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    delete_set(&f);
    f.no_controller = true;
    converge(&f);
    expect_pods(&f, "gpu-0 ");
    text = jsn_get_str(test_condition(the_set(&f), "Ready"), "message");
    assert_non_null(strstr(text, "its Controller is gone"));
    assert_non_null(strstr(text, FORCE_DELETE "=true"));
}

static void force_deletes_at_once(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'replicas':2");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_set_member(&f.arena,
                   jsn_ensure_object(&f.arena, jsn_key(the_set(&f), "metadata"), "annotations"),
                   STR(FORCE_DELETE), jsn_string(&f.arena, "true"));
    converge(&f); /* nothing, unless it is being deleted */
    expect_pods(&f, "gpu-0 gpu-1 ");
    delete_set(&f);
    expect_plan(&f, "delete Pod gpu-0;delete Pod gpu-1;status NodeSet gpu;patch NodeSet gpu;");
    expect_pods(&f, "");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 0);
}

static void orphans_stay(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    jsn_append(&f.arena, jsn_get(the_set(&f), "metadata.finalizers"),
               jsn_string(&f.arena, "orphan"));
    delete_set(&f);
    expect_plan(&f, "patch NodeSet gpu;");
    expect_pods(&f, "gpu-0 ");
    assert_int_equal(jsn_len(jsn_get(the_set(&f), "metadata.finalizers")), 1);
}

static void a_foreground_deletion_is_noted(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    converge(&f);
    run_pod(&f, "gpu-0");
    jsn_append(&f.arena, jsn_get(the_set(&f), "metadata.finalizers"),
               jsn_string(&f.arena, "foregroundDeletion"));
    delete_set(&f);
    converge(&f);
    assert_string_equal(
        jsn_text(jsn_member(jsn_get(the_set(&f), "metadata.annotations"), STR(DELETE_CASCADE))),
        "foreground");
    expect_pods(&f, "gpu-0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pods_are_made_by_ordinal_and_then_left_alone),
        cmocka_unit_test(the_lowest_free_ordinals_are_filled),
        cmocka_unit_test(a_pod_that_is_ending_keeps_its_place),
        cmocka_unit_test(many_pods_are_made_in_portions),
        cmocka_unit_test(without_slurm_only_what_never_ran_goes),
        cmocka_unit_test(nodes_are_drained_before_their_pods_go),
        cmocka_unit_test(what_may_stay_after_all_is_let_back),
        cmocka_unit_test(the_choice_follows_the_idle_but_not_the_busy),
        cmocka_unit_test(nodes_are_let_back_only_where_that_is_ours_to_do),
        cmocka_unit_test(records_of_nodes_go_with_their_pods),
        cmocka_unit_test(a_record_is_kept_for_a_pod_that_is_made_anew),
        cmocka_unit_test(a_slurmctld_that_is_down_changes_nothing),
        cmocka_unit_test(outdated_pods_are_drained_within_the_bounds),
        cmocka_unit_test(pods_show_the_state_of_their_nodes),
        cmocka_unit_test(refusals_and_drift_reach_their_nodeset),
        cmocka_unit_test(busy_pods_are_protected),
        cmocka_unit_test(pods_that_ended_are_replaced),
        cmocka_unit_test(a_new_template_replaces_only_what_is_free),
        cmocka_unit_test(unused_revisions_are_forgotten),
        cmocka_unit_test(claims_come_before_their_pods),
        cmocka_unit_test(hindrances_are_told_once_and_what_runs_goes_on),
        cmocka_unit_test(a_bad_spec_is_told),
        cmocka_unit_test(availability_is_waited_for),
        cmocka_unit_test(the_finalizer_comes_before_all_else),
        cmocka_unit_test(a_deleted_set_lets_go_what_is_free_and_then_itself),
        cmocka_unit_test(a_deleted_set_says_what_it_waits_for),
        cmocka_unit_test(force_deletes_at_once),
        cmocka_unit_test(orphans_stay),
        cmocka_unit_test(a_foreground_deletion_is_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
