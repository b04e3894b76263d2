/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A NodeSet, its pods and what Slurm has of them, for the tests of its plan. */
#pragma once

#include "src/base/test/unit.h"

#include "src/build/labels.h"
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
    const char *extra_conf;   /* of the Controller */
    const char *drift_policy; /* likewise */
    const char *release;      /* likewise, by its annotation */
    bool external;            /* it is */
    struct api_conditions controller_says;
    const char *twin;
    const char *gone; /* a machine that is not there any more */
    const struct slurm_state *slurm;
    struct slurm_node nodes[POD_MAX]; /* what Slurm has, if use_slurm was called */
    struct slurm_state state;
    int64_t later_us; /* that have passed */
};

static inline UNUSED void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static inline UNUSED void fixture_init(struct fixture *f, const char *spec)
{
    *f = (struct fixture){0};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    test_put(&f->world, json_of(&f->arena, arena_printf(&f->arena, SET, spec)));
}

static inline UNUSED struct jsn *the_set(struct fixture *f)
{
    return test_find(&f->world, "NodeSet", "gpu");
}

static inline UNUSED struct actions plan(struct fixture *f)
{
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct nodeset *ns = arena_calloc(a, 1, sizeof(*ns));
    struct controller *c = arena_calloc(a, 1, sizeof(*c));
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    struct build_cluster cluster = {.env = &f->env, .lookup = &lookup};
    const struct plan_pod *pods[POD_MAX * 40];
    const struct plan_pod *orphans[POD_MAX * 40];
    const struct jsn *revisions[POD_MAX];
    struct plan_nodeset in = {.object = the_set(f),
                              .ns = ns,
                              .cluster = &cluster,
                              .pods = pods,
                              .orphans = orphans,
                              .revisions = revisions,
                              .slurm = f->slurm,
                              .twin = f->twin,
                              .gone = &f->gone,
                              .n_gone = f->gone != NULL,
                              .now_us = 1000000000 + f->later_us};
    struct err e = {0};

    assert_int_equal(nodeset_decode(a, in.object, ns, &e), 0);
    assert_int_equal(controller_decode(a, json_of(a, LAB), c, &e), 0);
    c->spec.extra_conf = f->extra_conf;
    c->spec.external = f->external;
    c->meta.annotations.items = arena_calloc(a, 2, sizeof(*c->meta.annotations.items));
    if (f->drift_policy)
        c->meta.annotations.items[c->meta.annotations.n++] =
            (struct jsn_pair){ANNOTATION_DRIFT_POLICY, f->drift_policy};
    if (f->release)
        c->meta.annotations.items[c->meta.annotations.n++] =
            (struct jsn_pair){API_RELEASE_ANNOTATION, f->release};
    c->status.conditions = f->controller_says;
    cluster.controller = f->no_controller ? NULL : c;
    JSN_FOR_ITEMS (o, f->world.objects) {
        struct plan_pod *p = arena_calloc(a, 1, sizeof(*p));

        if (streq(jsn_get_str(o, "kind"), "ControllerRevision"))
            revisions[in.n_revisions++] = o;
        if (!streq(jsn_get_str(o, "kind"), "Pod"))
            continue;
        plan_pod_decode(a, o, p);
        if (p->owner_uid)
            pods[in.n_pods++] = p;
        else
            orphans[in.n_orphans++] = p;
    }
    plan_nodeset(&in, &list);
    return list;
}

static inline UNUSED void use_slurm(struct fixture *f, const struct slurm_node *nodes, size_t n)
{
    assert_true(n <= POD_MAX);
    memcpy(f->nodes, nodes, n * sizeof(*nodes));
    f->state = (struct slurm_state){.nodes = f->nodes, .n = n};
    f->slurm = &f->state;
}

/* What Slurm makes of the calls for nodes. */
static inline UNUSED void carry_out_calls(struct fixture *f, const struct actions *list)
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
        if (streq(what, "update"))
            continue; /* what it shows is for the test to say */
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

static inline UNUSED void carry_out(struct fixture *f, const struct actions *list)
{
    test_carry_out(&f->world, list);
    carry_out_calls(f, list);
}

static inline UNUSED void expect_plan(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct actions list = plan(f);

    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    carry_out(f, &list);
}

/* A plan may wish to look again later. */
static inline UNUSED bool is_at_rest(const struct actions *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].verb != ACTION_REQUEUE)
            return false;
    return true;
}

/* Plan and carry out until nothing is left to do. */
static inline UNUSED void converge(struct fixture *f)
{
    for (int i = 0; i < 10; i++) {
        struct actions list = plan(f);

        if (is_at_rest(&list))
            return;
        carry_out(f, &list);
    }
    fail_msg("the plan does not come to rest");
}

static inline UNUSED void set_replicas(struct fixture *f, int n)
{
    jsn_set_path(&f->arena, the_set(f), "spec.replicas", jsn_int(&f->arena, n));
}

/* As a node would report it. */
static inline UNUSED void run_pod(struct fixture *f, const char *name)
{
    struct jsn *pod = test_find(&f->world, "Pod", name);

    jsn_set_path(&f->arena, pod, "spec.nodeName", jsn_string(&f->arena, "k"));
    jsn_set(&f->arena, pod, "status",
            json_of(&f->arena, "{'phase':'Running','conditions':[{'type':'Ready','status':"
                               "'True','lastTransitionTime':'1970-01-01T00:00:01Z'}]}"));
}

static inline UNUSED void pods_of(struct fixture *f, struct buf *out)
{
    JSN_FOR_ITEMS (o, f->world.objects)
        if (streq(jsn_get_str(o, "kind"), "Pod"))
            buf_printf(out, "%s ", jsn_get_str(o, "metadata.name"));
}

static inline UNUSED void expect_pods(struct fixture *f, const char *names)
{
    AUTO(buf_done) struct buf b = {0};

    pods_of(f, &b);
    assert_string_equal(buf_str(&b), names);
}

static inline UNUSED const char *reason_of(struct fixture *f, const char *type)
{
    return jsn_get_str(test_condition(the_set(f), type), "reason");
}

/* A NodeSet with that many running pods. */
static inline UNUSED void run_set(struct fixture *f, int n, const char *more)
{
    AUTO(arena_done) struct arena scratch = {0};

    fixture_init(f, arena_printf(&scratch, ",'replicas':%d%s", n, more));
    converge(f);
    for (int i = 0; i < n; i++)
        run_pod(f, arena_printf(&f->arena, "gpu-%d", i));
}
