/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Controller and what is made from it, for the tests of its plan. */
#pragma once

#include "src/base/test/unit.h"

#include "src/plan/controller.h"
#include "src/plan/finalizer.h"
#include "src/plan/test/world.h"

#define LAB                                                                                        \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':'lab',"       \
    "'namespace':'slurm','uid':'U','generation':1,'finalizers':['" FINALIZER_CONTROLLER "']},"     \
    "'spec':{%s}}"
#define SET(name, more)                                                                            \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'NodeSet','metadata':{'name':'" name          \
    "','namespace':'slurm','uid':'N-" name                                                         \
    "','generation':1},'spec':{'controllerRef':{'name':'lab'}" more "}}"

#define TEST_NOW_US 1000000000

struct fixture {
    struct arena arena;
    struct test_world world;
    struct build_env env;
    bool serves_monitors;
    const struct plan_pod *pods[2];
    size_t n_pods;
    const struct slurm_state *slurm;
    const char *trouble;
    unsigned n_loginsets;
    int64_t later_us;                     /* than TEST_NOW_US */
    const struct build_agent_keys *agent; /* instead of the first ones */
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
    test_put(&f->world, json_of(&f->arena, arena_printf(&f->arena, LAB, spec)));
}

static inline UNUSED struct actions plan(struct fixture *f)
{
    static unsigned char random[SECRET_KEY_BYTES];
    static const struct build_agent_keys agent = {"cert", "key", "token"};
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct controller *c = arena_calloc(a, 1, sizeof(*c));
    struct accounting *acct = arena_calloc(a, 1, sizeof(*acct));
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    const struct nodeset *sets[8];
    struct build_cluster cluster = {
        .env = &f->env, .nodesets = sets, .n_loginsets = f->n_loginsets, .lookup = &lookup};
    struct plan_controller in = {.object = test_find(&f->world, "Controller", "lab"),
                                 .cluster = &cluster,
                                 .pods = f->pods,
                                 .n_pods = f->n_pods,
                                 .serves_monitors = f->serves_monitors,
                                 .slurm = f->slurm,
                                 .agent_trouble = f->trouble,
                                 .fresh = {random, random, f->agent ? f->agent : &agent},
                                 .now_us = TEST_NOW_US + f->later_us};
    struct err e = {0};

    if (controller_decode(a, in.object, c, &e) == 0)
        cluster.controller = c;
    JSN_FOR_ITEMS (o, f->world.objects) {
        struct nodeset *ns = arena_calloc(a, 1, sizeof(*ns));

        if (streq(jsn_get_str(o, "kind"), "Accounting") && accounting_decode(a, o, acct, &e) == 0)
            cluster.accounting = acct;
        if (streq(jsn_get_str(o, "kind"), "NodeSet") && nodeset_decode(a, o, ns, &e) == 0)
            sets[cluster.n_nodesets++] = ns;
    }
    plan_controller(&in, &list);
    return list;
}

static inline UNUSED void expect_plan(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct actions list = plan(f);

    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    test_carry_out(&f->world, &list);
}

#define FIRST                                                                                      \
    "create Service lab-controller-internal;create Service lab-controller;"                        \
    "create ConfigMap lab-config;create Secret lab-auth-slurm;create Secret lab-auth-jwt;create "  \
    "Secret lab-agent;"                                                                            \
    "status Controller lab;"

/* The Controller with one NodeSet, at rest. */
static inline UNUSED void run_lab(struct fixture *f)
{
    fixture_init(f, "");
    test_put(&f->world, json_of(&f->arena, SET("gpu", ",'partition':{'enabled':true,"
                                                      "'config':'MaxTime=60'}")));
    for (int i = 0; i < 4; i++) {
        struct actions list = plan(f);

        test_carry_out(&f->world, &list);
    }
}

static const char *message_of(struct fixture *f, const char *type, const char *member)
{
    const char *text =
        jsn_get_str(test_condition(test_find(&f->world, "Controller", "lab"), type), member);

    return text ? text : "";
}
