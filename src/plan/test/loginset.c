/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of a LoginSet's plan: objects, their order, what stops which of them, what is told. */
#include "src/base/test/unit.h"

#include "src/plan/loginset.h"
#include "src/plan/test/world.h"

#define LAB                                                                                        \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':'lab',"       \
    "'namespace':'slurm','uid':'U'},'spec':{}}"
#define LOGIN                                                                                      \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'LoginSet','metadata':{'name':'login',"       \
    "'namespace':'slurm','uid':'L','generation':3},'spec':{'controllerRef':{'name':'lab'},"        \
    "'replicas':2,'sssdConfRef':{'name':'sssd','key':'sssd.conf'}}}"
#define SSSD                                                                                       \
    "{'kind':'Secret','metadata':{'name':'sssd','namespace':'slurm'},'data':{'sssd.conf':'eA=='}}"

struct fixture {
    struct arena arena;
    struct test_world world;
    struct build_env env;
    bool keys; /* they are made */
    const struct plan_pod *pods[3];
    size_t n_pods;
};

static void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void put(struct fixture *f, const char *text)
{
    test_put(&f->world, json_of(&f->arena, text));
}

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.keys = true, .env = {.release = RELEASE(22, 5, 8)}};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    put(f, LAB);
    put(f, LOGIN);
    put(f, SSSD);
}

static struct actions plan(struct fixture *f)
{
    static const struct build_host_keys keys = {{"a", "b", "c", "d", "e", "f"}};
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct loginset *l = arena_calloc(a, 1, sizeof(*l));
    struct controller *c = arena_calloc(a, 1, sizeof(*c));
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    const struct jsn *lab = test_find(&f->world, "Controller", "lab");
    struct build_cluster cluster = {.env = &f->env, .lookup = &lookup};
    struct plan_loginset in = {.object = test_find(&f->world, "LoginSet", "login"),
                               .l = l,
                               .cluster = &cluster,
                               .pods = f->pods,
                               .n_pods = f->n_pods,
                               .now_us = 1000000000};
    struct err e = {0};

    if (lab && controller_decode(a, lab, c, &e) == 0)
        cluster.controller = c;
    assert_int_equal(loginset_decode(a, in.object, l, &e), 0);
    if (plan_loginset_needs_keys(a, &in) && f->keys)
        in.fresh = &keys;
    plan_loginset(&in, &list);
    return list;
}

static void expect_plan(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct actions list = plan(f);

    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    test_carry_out(&f->world, &list);
}

static const char *said(struct fixture *f, const char *type, const char *member)
{
    const char *text =
        jsn_get_str(test_condition(test_find(&f->world, "LoginSet", "login"), type), member);

    return text ? text : "";
}

/* As the Deployment's controller would say it. */
static void set_counts(struct fixture *f, int pods, int updated, int ready)
{
    struct jsn *app = test_find(&f->world, "Deployment", "login");

    jsn_set(&f->arena, app, "status",
            json_of(&f->arena,
                    arena_printf(&f->arena,
                                 "{'replicas':%d,'updatedReplicas':%d,'readyReplicas':%d,"
                                 "'conditions':[{'type':'Available','status':'True','reason':'M',"
                                 "'message':'m'},{'type':'Odd','status':'True'}]}",
                                 pods, updated, ready)));
}

static void objects_are_made_in_order_and_then_left_alone(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    f.keys = false;
    expect_plan(&f,
                "create ConfigMap login-ssh-config;create Service login;status LoginSet login;");
    assert_string_equal(said(&f, "Ready", "reason"), "MakingHostKeys");
    f.keys = true;
    expect_plan(&f, "create Secret login-ssh-host-keys;");
    expect_plan(&f, "create Deployment login;status LoginSet login;");
    assert_string_equal(said(&f, "Ready", "reason"), "PodsNotReady");
    expect_plan(&f, "status LoginSet login;"); /* the Deployment is seen */
    expect_plan(&f, "");
    set_counts(&f, 2, 2, 2);
    expect_plan(&f, "status LoginSet login;");
    assert_string_equal(said(&f, "Ready", "reason"), "LoginsReady");
    assert_string_equal(said(&f, "Updated", "status"), "True");
    assert_string_equal(said(&f, "Available", "message"), "m");
    assert_string_equal(said(&f, "Odd", "status"), "");
    expect_plan(&f, "");
}

static void host_keys_that_are_there_stay(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    put(&f, "{'kind':'Secret','metadata':{'name':'login-ssh-host-keys','namespace':'slurm'},"
            "'data':{}}");
    expect_plan(&f, "create ConfigMap login-ssh-config;create Service login;create Deployment "
                    "login;status LoginSet login;");
}

static void what_is_missing_leaves_pods_as_they_are(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    for (int i = 0; i < 4; i++) {
        struct actions list = plan(&f);

        test_carry_out(&f.world, &list);
    }
    set_counts(&f, 2, 2, 2);
    test_drop(&f.world, "Secret", "sssd");
    expect_plan(&f, "status LoginSet login;");
    assert_string_equal(said(&f, "Ready", "reason"), "SecretNotFound");
    assert_non_null(strstr(said(&f, "Ready", "message"), "Pods that run stay as they are"));
    test_drop(&f.world, "Controller", "lab");
    expect_plan(&f, "status LoginSet login;");
    assert_string_equal(said(&f, "Ready", "reason"), "ControllerNotFound");
    put(&f, LAB);
    put(&f, "{'kind':'Secret','metadata':{'name':'sssd','namespace':'slurm'},"
            "'data':{'sssd.conf':'eHk='}}");
    expect_plan(&f, "patch Deployment login;status LoginSet login;");
}

static void what_keeps_a_pod_from_starting_is_told(void **state)
{
    static const struct plan_pod bad = {.name = "login-x", .trouble = "container login: no sshd"};
    static const struct plan_pod leaving = {.name = "login-y", .deleting = true, .trouble = "y"};
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f);
    f.pods[0] = &leaving;
    f.pods[1] = &bad;
    f.n_pods = 2;
    for (int i = 0; i < 4; i++) {
        struct actions list = plan(&f);

        test_carry_out(&f.world, &list);
    }
    assert_string_equal(said(&f, "Ready", "message"), "pod login-x: container login: no sshd");
    set_counts(&f, 3, 1, 2); /* those of before go on */
    expect_plan(&f, "status LoginSet login;");
    assert_string_equal(said(&f, "Ready", "status"), "True");
    assert_string_equal(said(&f, "Updated", "reason"), "PodsInTrouble");
    f.n_pods = 1;
    set_counts(&f, 2, 2, 2);
    expect_plan(&f, "status LoginSet login;");
    assert_non_null(strstr(said(&f, "Updated", "message"), "wait for the sessions"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_made_in_order_and_then_left_alone),
        cmocka_unit_test(host_keys_that_are_there_stay),
        cmocka_unit_test(what_is_missing_leaves_pods_as_they_are),
        cmocka_unit_test(what_keeps_a_pod_from_starting_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
