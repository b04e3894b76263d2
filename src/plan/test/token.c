/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the Token's plan: when a token is made, when again, when not. */
#include "src/base/test/unit.h"

#include "src/base/encode.h"
#include "src/build/jwt.h"
#include "src/build/live_keys.h"
#include "src/plan/test/world.h"
#include "src/plan/token.h"

#define OBJECT                                                                                     \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Token','metadata':{'name':'t',"              \
    "'namespace':'slurm','uid':'U','generation':1},'spec':{'username':'alice','jwtKeyRef':"        \
    "{'name':'keys','key':'jwt.key'}%s}}"
#define KEY_A "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define KEY_B "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
#define START_S 1000000
#define LIFE_S 900

struct fixture {
    struct arena arena;
    struct test_world world;
    int64_t now_s;
};

static void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_DONE(struct fixture, fixture_done);

static void put_key(struct fixture *f, const char *base64)
{
    test_drop(&f->world, "Secret", "keys");
    test_put(&f->world, json_of(&f->arena, arena_printf(&f->arena,
                                                        "{'kind':'Secret','metadata':{'name':'keys'"
                                                        ",'namespace':'slurm'},'data':{'jwt.key':"
                                                        "'%s'}}",
                                                        base64)));
}

static void fixture_init(struct fixture *f, const char *more)
{
    *f = (struct fixture){.now_s = START_S};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    test_put(&f->world, json_of(&f->arena, arena_printf(&f->arena, OBJECT, more)));
    put_key(f, KEY_A);
}

/* What is done, and when the plan wants to be made again (0: it does not). */
static int64_t expect_plan(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct actions list = {.arena = &f->arena};
    struct api_token *t = arena_calloc(&f->arena, 1, sizeof(*t));
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    struct plan_token in = {.object = test_find(&f->world, "Token", "t"),
                            .t = t,
                            .lookup = &lookup,
                            .id = arena_printf(&f->arena, "id-%lld", (long long)f->now_s),
                            .now_us = f->now_s * 1000000};
    struct err e = {0};
    int64_t at_us = 0;

    assert_int_equal(api_token_decode(&f->arena, in.object, t, &e), 0);
    plan_token(&in, &list);
    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    for (size_t i = 0; i < list.n; i++)
        if (list.items[i].verb == ACTION_REQUEUE)
            at_us = list.items[i].at_us;
    test_carry_out(&f->world, &list);
    return at_us / 1000000;
}

static struct jwt stored(struct fixture *f, const char *key_base64)
{
    const struct jsn *secret = test_find(&f->world, "Secret", "t-jwt-alice");
    AUTO(buf_done) struct buf key = {0};
    struct jwt t = {0};
    struct err e = {0};

    assert_int_equal(decode_base64(&key, str_of(key_base64)), 0);
    if (jwt_read(&f->arena, buf_view(&key), build_secret_bytes(&f->arena, secret, "SLURM_JWT"), &t,
                 &e) < 0)
        fail_msg("%s", e.text);
    return t;
}

static const char *reason(struct fixture *f)
{
    return jsn_get_str(test_condition(test_find(&f->world, "Token", "t"), "Ready"), "reason");
}

static void a_token_is_made_and_renewed_in_time(void **state)
{
    AUTO(fixture_done) struct fixture f;
    int64_t due;

    (void)state;
    fixture_init(&f, "");
    due = expect_plan(&f, "create Secret t-jwt-alice;status Token t;");
    assert_int_equal(due, START_S + LIFE_S - LIFE_S / 5);
    assert_string_equal(stored(&f, KEY_A).user, "alice");
    assert_int_equal(stored(&f, KEY_A).expires_s, START_S + LIFE_S);
    assert_string_equal(jsn_get_str(jsn_item(jsn_get(test_find(&f.world, "Secret", "t-jwt-alice"),
                                                     "metadata.ownerReferences"),
                                             0),
                                    "kind"),
                        "Token");
    f.now_s = due - 1;
    assert_int_equal(expect_plan(&f, ""), due);
    f.now_s = due;
    assert_int_equal(expect_plan(&f, "patch Secret t-jwt-alice;status Token t;"),
                     due + LIFE_S - LIFE_S / 5);
    assert_int_equal(stored(&f, KEY_A).issued_s, due);
}

static void the_key_may_have_its_older_name(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct jsn *token;

    (void)state;
    fixture_init(&f, "");
    token = test_find(&f.world, "Token", "t");
    (void)jsn_del(jsn_get(token, "spec"), "jwtKeyRef");
    jsn_set_path(&f.arena, token, "spec.jwtHs256KeyRef",
                 json_of(&f.arena, "{'name':'keys','key':'jwt.key'}"));
    expect_plan(&f, "create Secret t-jwt-alice;status Token t;");
    assert_string_equal(stored(&f, KEY_A).user, "alice");
}

static void what_is_of_no_use_is_made_again(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    expect_plan(&f, "create Secret t-jwt-alice;status Token t;");
    put_key(&f, KEY_B);
    expect_plan(&f, "patch Secret t-jwt-alice;");
    assert_string_equal(stored(&f, KEY_B).user, "alice");
    f.now_s += 2LL * LIFE_S; /* nobody was there to renew it */
    expect_plan(&f, "patch Secret t-jwt-alice;status Token t;");
    jsn_set_path(&f.arena, test_find(&f.world, "Token", "t"), "spec.lifetime",
                 jsn_string(&f.arena, "1h"));
    expect_plan(&f, "patch Secret t-jwt-alice;status Token t;");
    assert_int_equal(stored(&f, KEY_B).expires_s, f.now_s + 3600);
    test_drop(&f.world, "Secret", "t-jwt-alice");
    f.now_s++;
    expect_plan(&f, "create Secret t-jwt-alice;status Token t;");
}

static void without_refresh_it_is_made_once(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, ",'refresh':false");
    assert_int_equal(expect_plan(&f, "create Secret t-jwt-alice;status Token t;"),
                     START_S + LIFE_S);
    assert_true(jsn_get_bool(test_find(&f.world, "Secret", "t-jwt-alice"), "immutable", false));
    f.now_s += LIFE_S;
    expect_plan(&f, "status Token t;");
    assert_string_equal(reason(&f), "NotRenewed");
}

static void what_hinders_is_said_and_nothing_of_others_is_written(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    test_drop(&f.world, "Secret", "keys");
    expect_plan(&f, "status Token t;");
    assert_string_equal(reason(&f), "KeyNotFound");
    put_key(&f, "");
    expect_plan(&f, "status Token t;");
    assert_string_equal(reason(&f), "KeyInvalid");
    put_key(&f, KEY_A);
    test_put(&f.world, json_of(&f.arena, "{'kind':'Secret','metadata':{'name':'t-jwt-alice',"
                                         "'namespace':'slurm'},'data':{'SLURM_JWT':'eA=='}}"));
    expect_plan(&f, "status Token t;");
    assert_string_equal(reason(&f), "SecretTaken");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_made_and_renewed_in_time),
        cmocka_unit_test(the_key_may_have_its_older_name),
        cmocka_unit_test(what_is_of_no_use_is_made_again),
        cmocka_unit_test(without_refresh_it_is_made_once),
        cmocka_unit_test(what_hinders_is_said_and_nothing_of_others_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
