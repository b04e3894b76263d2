/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the RestApi's plan: what is made, what is said. */
#include "src/base/test/unit.h"

#include "src/plan/restapi.h"
#include "src/plan/test/world.h"

#define OBJECT                                                                                     \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'RestApi','metadata':{'name':'r',"            \
    "'namespace':'slurm','uid':'U','generation':1},'spec':{'controllerRef':{'name':'m'}%s}}"

struct fixture {
    struct arena arena;
    struct test_world world;
    struct build_env env;
    bool no_controller;
};

static void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void fixture_init(struct fixture *f, const char *more)
{
    *f = (struct fixture){0};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    test_put(&f->world, json_of(&f->arena, arena_printf(&f->arena, OBJECT, more)));
}

static void expect_plan(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct controller *c = arena_calloc(a, 1, sizeof(*c));
    struct restapi *r = arena_calloc(a, 1, sizeof(*r));
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    struct build_cluster cluster = {.env = &f->env, .lookup = &lookup};
    struct plan_restapi in = {.object = test_find(&f->world, "RestApi", "r"),
                              .r = r,
                              .cluster = &cluster,
                              .now_us = 1000000000};
    struct err e = {0};

    c->meta = (struct api_meta){.name = "m", .namespace = "slurm"};
    cluster.controller = f->no_controller ? NULL : c;
    assert_int_equal(restapi_decode(a, in.object, r, &e), 0);
    plan_restapi(&in, &list);
    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    test_carry_out(&f->world, &list);
}

static const char *reason(struct fixture *f)
{
    return jsn_get_str(test_condition(test_find(&f->world, "RestApi", "r"), "Ready"), "reason");
}

static void it_is_made_and_then_left_alone(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    expect_plan(&f, "create Service r-restapi;create Deployment r-restapi;status RestApi r;");
    assert_string_equal(reason(&f), "PodsNotReady");
    expect_plan(&f, "");
    jsn_set(&f.arena, test_find(&f.world, "Deployment", "r-restapi"), "status",
            json_of(&f.arena, "{'observedGeneration':1,'replicas':1,'readyReplicas':1,"
                              "'availableReplicas':1,'updatedReplicas':1}"));
    expect_plan(&f, "status RestApi r;");
    assert_string_equal(reason(&f), "SlurmrestdReady");
    jsn_set_path(&f.arena, test_find(&f.world, "Deployment", "r-restapi"), "spec.replicas",
                 jsn_int(&f.arena, 7));
    expect_plan(&f, "patch Deployment r-restapi;");
}

static void without_its_controller_it_waits(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    f.no_controller = true;
    expect_plan(&f, "create Service r-restapi;status RestApi r;");
    assert_string_equal(reason(&f), "ControllerNotFound");
    f.no_controller = false;
    expect_plan(&f, "create Deployment r-restapi;status RestApi r;");
}

static void what_cannot_be_laid_over_is_said(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'slurmrestd':{'env':[{'value':'no name'}]}");
    expect_plan(&f, "create Service r-restapi;status RestApi r;");
    assert_string_equal(reason(&f), "Invalid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_made_and_then_left_alone),
        cmocka_unit_test(without_its_controller_it_waits),
        cmocka_unit_test(what_cannot_be_laid_over_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
