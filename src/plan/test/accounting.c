/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the plan for an Accounting: what is made, when it waits, what it says. */
#include "src/base/test/unit.h"

#include "src/build/live_keys.h"
#include "src/plan/accounting.h"
#include "src/plan/test/world.h"

#define ACCT                                                                                       \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Accounting','metadata':{'name':'acct',"      \
    "'namespace':'slurm','uid':'U','generation':1},'spec':{%s}}"
#define LAB                                                                                        \
    "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':'lab',"       \
    "'namespace':'slurm','uid':'L'},'spec':{'accountingRef':{'name':'acct'}%s}}"
#define LIVE(stage)                                                                                \
    "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'lab-keys','namespace':'slurm',"        \
    "'annotations':{'" ANNOTATION_KEY_STAGE "':'" stage "'}},'data':{'jwt.key':'YQ=='}}"
#define PASSWORD(text)                                                                             \
    "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'pw','namespace':'slurm'},"             \
    "'data':{'k':'" text "'}}"
#define STORAGE                                                                                    \
    "'storageConfig':{'host':'sql','username':'u','passwordKeyRef':{'name':'pw','key':'k'}}"

struct fixture {
    struct arena arena;
    struct test_world world;
    struct build_env env;
    const char *log;
    const char *database_log;
    struct plan_pod slurmdbd;
    struct plan_pod database;
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

static void fixture_init(struct fixture *f, const char *spec)
{
    *f = (struct fixture){.env = {.release = RELEASE(22, 5, 8)}};
    f->world = (struct test_world){&f->arena, jsn_array(&f->arena), 0};
    put(f, arena_printf(&f->arena, ACCT, spec));
}

static struct actions plan(struct fixture *f)
{
    static const unsigned char random[ACCOUNTING_PASSWORD_RANDOM];
    struct arena *a = &f->arena;
    struct actions list = {.arena = a};
    struct api_lookup lookup = api_lookup_over(f->world.objects);
    struct accounting *acct = arena_calloc(a, 1, sizeof(*acct));
    struct controller *ctl = arena_calloc(a, 1, sizeof(*ctl));
    const struct jsn *lab = test_find(&f->world, "Controller", "lab");
    struct build_cluster cluster = {.env = &f->env, .lookup = &lookup};
    struct plan_accounting in = {.object = test_find(&f->world, "Accounting", "acct"),
                                 .acct = acct,
                                 .cluster = &cluster,
                                 .slurmdbd = f->slurmdbd.name ? &f->slurmdbd : NULL,
                                 .database = f->database.name ? &f->database : NULL,
                                 .slurmdbd_log = f->log,
                                 .database_log = f->database_log,
                                 .random = random,
                                 .now_us = 1000000000};
    struct err e = {0};

    assert_int_equal(accounting_decode(a, in.object, acct, &e), 0);
    if (lab && controller_decode(a, lab, ctl, &e) == 0)
        cluster.controller = ctl;
    plan_accounting(&in, &list);
    return list;
}

static void expect(struct fixture *f, const char *summary)
{
    AUTO(buf_done) struct buf b = {0};
    struct actions list = plan(f);

    test_summary(&list, &b);
    assert_string_equal(buf_str(&b), summary);
    test_carry_out(&f->world, &list);
}

static const char *ready(struct fixture *f, const char *member)
{
    return jsn_get_str(test_condition(test_find(&f->world, "Accounting", "acct"), "Ready"), member);
}

static const char *conf(struct fixture *f)
{
    return build_secret_bytes(&f->arena, test_find(&f->world, "Secret", "acct-accounting"),
                              ACCOUNTING_CONF)
        .p;
}

static const char *stage_given(struct fixture *f)
{
    const struct jsn *notes = jsn_get(test_find(&f->world, "StatefulSet", "acct-accounting"),
                                      "spec.template.metadata.annotations");

    return jsn_text(jsn_member(notes, STR(ANNOTATION_KEY_STAGE)));
}

static void a_database_of_its_own_is_made_first(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, "");
    put(&f, "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':'lab',"
            "'namespace':'slurm','uid':'L'},'spec':{'accountingRef':{'name':'acct'}}}");
    put(&f, LIVE("0-rest"));
    expect(&f, "create Service acct-accounting;create Secret acct-database;create Service "
               "acct-database;create StatefulSet acct-database;status Accounting acct;");
    assert_string_equal(ready(&f, "reason"), "PasswordAwaited");
    expect(&f, "create Secret acct-accounting;create StatefulSet acct-accounting;status Accounting "
               "acct;");
    assert_string_equal(ready(&f, "reason"), "DatabaseNotReady");
    assert_non_null(strstr(conf(&f), "\nDbdHost=acct-accounting-0\n"));
    assert_non_null(strstr(conf(&f), "\nAuthType=auth/munge\n"));
    assert_non_null(strstr(conf(&f), "\nStorageHost=acct-database\nStoragePort=3306\n"
                                     "StorageUser=slurm\nStorageLoc=slurm_acct_db\nStoragePass=A"));
    expect(&f, "");
    f.database = (struct plan_pod){.name = "acct-database-0", .ready = true};
    f.slurmdbd = (struct plan_pod){.name = "acct-accounting-0", .ready = true};
    expect(&f, "status Accounting acct;");
    assert_string_equal(ready(&f, "status"), "True");
}

static void a_pod_that_is_not_ready_is_asked_why(void **state)
{
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, STORAGE);
    put(&f, "{'apiVersion':'slinky.slurm.net/v1beta1','kind':'Controller','metadata':{'name':'lab',"
            "'namespace':'slurm','uid':'L'},'spec':{'accountingRef':{'name':'acct'}}}");
    put(&f, LIVE("0-rest"));
    expect(&f, "create Service acct-accounting;status Accounting acct;");
    assert_string_equal(ready(&f, "reason"), "SecretNotFound");
    put(&f, PASSWORD("YSNiXGM="));
    f.slurmdbd = (struct plan_pod){.name = "acct-accounting-0", .phase = POD_RUNNING};
    assert_true(plan_accounting_reads_log(&f.slurmdbd));
    f.log = "slurmdbd: error: mysql_real_connect failed: 1045 Access denied for user 'u'\n";
    expect(&f, "create Secret acct-accounting;create StatefulSet acct-accounting;status Accounting "
               "acct;");
    assert_non_null(strstr(conf(&f), "\nStoragePass=a\\#b\\\\c\n"));
    assert_string_equal(ready(&f, "reason"), "DatabaseRefusesLogin");
    assert_non_null(strstr(ready(&f, "message"), "Access denied for user 'u'"));
    /* what changes meanwhile waits */
    f.log = "slurmdbd: accounting_storage/as_mysql: pre-converting usage table for c\n";
    test_drop(&f.world, "Secret", "pw");
    put(&f, PASSWORD("YQ=="));
    expect(&f, "patch Secret acct-accounting;status Accounting acct;");
    assert_string_equal(ready(&f, "reason"), "SchemaUpgrade");
    f.slurmdbd.ready = true;
    expect(&f, "patch StatefulSet acct-accounting;status Accounting acct;");
    assert_string_equal(ready(&f, "reason"), "SlurmdbdReady");
}

static void a_password_that_no_file_can_hold_changes_nothing(void **state)
{
    static const struct {
        const char *password;
        const char *reason;
        const char *part;
    } cases[] = {
        {"YQ==", "SlurmdbdNotReady", ""},
        {"YQo=", "SlurmdbdNotReady", ""}, /* "a\n" */
        {"", "PasswordRefused", "the password in Secret pw, key k, is empty"},
        {"YQpi", "PasswordRefused", "line break"}, /* "a\nb" */
        {"ImE=", "PasswordRefused", "quote"},      /* "\"a" */
        {"YSBi", "SlurmdbdNotReady", ""},          /* "a b" */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f, STORAGE);
        put(&f, arena_printf(&f.arena, LAB, ""));
        put(&f, LIVE("0-rest"));
        put(&f, arena_printf(&f.arena, PASSWORD("%s"), cases[i].password));
        test_carry_out(&f.world, &(struct actions[]){plan(&f)}[0]);
        assert_string_equal(ready(&f, "reason"), cases[i].reason);
        assert_non_null(strstr(ready(&f, "message"), cases[i].part));
        assert_true(!conf(&f) == streq(cases[i].reason, "PasswordRefused"));
    }
}

static void keys_are_those_of_its_controller(void **state)
{
    static const struct {
        const char *spec;
        const char *controller; /* NULL: none */
        const char *reason;
    } cases[] = {
        {STORAGE, "", "SlurmdbdNotReady"},
        {STORAGE ",'slurmKeyRef':{'name':'lab-auth-slurm','key':'slurm.key'}", "",
         "SlurmdbdNotReady"},
        {STORAGE ",'slurmKeyRef':{'name':'other','key':'slurm.key'}", "", "KeyMismatch"},
        {STORAGE ",'jwtKeyRef':{'name':'lab-auth-jwt','key':'jwt.key'}", "", "SlurmdbdNotReady"},
        {STORAGE ",'jwtHs256KeyRef':{'name':'other','key':'jwt.key'}", "", "KeyMismatch"},
        {STORAGE, NULL, "NoController"},
        {STORAGE ",'slurmKeyRef':{'name':'other','key':'slurm.key'}", NULL, "SecretNotFound"},
        {STORAGE ",'slurmKeyRef':{'name':'pw','key':'k'}", NULL, "SlurmdbdNotReady"},
        {STORAGE ",'slurmKeyRef':{'name':'pw','key':'k'}",
         ",'external':true,'externalConfig':{'host':'h','port':1}", "SlurmdbdNotReady"},
        {"'external':true,'externalConfig':{'host':'h','port':1}", NULL, "External"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(fixture_done) struct fixture f;

        fixture_init(&f, cases[i].spec);
        if (cases[i].controller)
            put(&f, arena_printf(&f.arena, LAB, cases[i].controller));
        put(&f, LIVE("0-rest"));
        put(&f, PASSWORD("YQ=="));
        test_carry_out(&f.world, &(struct actions[]){plan(&f)}[0]);
        assert_string_equal(ready(&f, "reason"), cases[i].reason);
    }
}

static void each_stage_of_a_key_makes_the_pod_anew(void **state)
{
    static const struct {
        const char *live;
        const char *given;
    } stages[] = {
        {LIVE("0-rest"), "0-rest"},   {LIVE("1-accept"), "1-accept"}, {LIVE("1-sign"), "1-sign"},
        {LIVE("1-settle"), "1-sign"}, {LIVE("1-rest"), "1-sign"}, /* munge follows by itself */
    };
    AUTO(fixture_done) struct fixture f;

    (void)state;
    fixture_init(&f, STORAGE);
    put(&f, arena_printf(&f.arena, LAB, ""));
    put(&f, PASSWORD("YQ=="));
    for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
        if (i)
            test_drop(&f.world, "Secret", "lab-keys");
        put(&f, stages[i].live);
        test_carry_out(&f.world, &(struct actions[]){plan(&f)}[0]);
        assert_string_equal(stage_given(&f), stages[i].given);
    }
}

static void a_stage_is_had_when_no_older_pod_runs(void **state)
{
    static const struct {
        const char *status;
        bool has;
    } cases[] = {
        {"{'observedGeneration':2,'replicas':1,'updatedReplicas':1}", true},
        {"{'observedGeneration':2,'replicas':0,'updatedReplicas':0}", true},
        {"{'observedGeneration':2,'replicas':1,'updatedReplicas':0}", false},
        {"{'observedGeneration':1,'replicas':1,'updatedReplicas':1}", false},
    };

    (void)state;
    assert_true(plan_accounting_has_stage(NULL, "1-accept"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct jsn *set =
            json_of(&a, arena_printf(&a,
                                     "{'metadata':{'generation':2},'spec':{'template':{'metadata':"
                                     "{'annotations':{'" ANNOTATION_KEY_STAGE
                                     "':'1-accept'}}}},'status':%s}",
                                     cases[i].status));

        assert_true(plan_accounting_has_stage(set, "1-accept") == cases[i].has);
        assert_false(plan_accounting_has_stage(set, "1-sign"));
    }
}

static void slurmdbd_counts_as_the_next_release_when_it_serves(void **state)
{
    static const struct {
        const char *release;
        const char *status;
        uint32_t runs;
    } cases[] = {
        {"26.05.5", "'updatedReplicas':1,'readyReplicas':1", RELEASE(26, 5, 5)},
        {"26.05.5", "'updatedReplicas':1", RELEASE(24, 11, 5)},
        {"26.05.5", "'readyReplicas':1", RELEASE(24, 11, 5)},
        {"24.11.5", "'updatedReplicas':1,'readyReplicas':1", RELEASE(24, 11, 5)},
    };

    (void)state;
    assert_int_equal(plan_accounting_runs(NULL, RELEASE(26, 5, 5), RELEASE(24, 11, 5)), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        const struct jsn *set = json_of(
            &a, arena_printf(&a,
                             "{'metadata':{'generation':1},'spec':{'template':{'metadata':"
                             "{'annotations':{'" API_RELEASE_ANNOTATION "':'%s'}}}},'status':"
                             "{'observedGeneration':1,'replicas':1,%s}}",
                             cases[i].release, cases[i].status));

        assert_int_equal(plan_accounting_runs(set, RELEASE(26, 5, 5), RELEASE(24, 11, 5)),
                         cases[i].runs);
    }
}

static void another_database_lets_ours_rest(void **state)
{
    AUTO(fixture_done) struct fixture f;
    struct jsn *set;

    (void)state;
    fixture_init(&f, STORAGE);
    put(&f, arena_printf(&f.arena, LAB, ""));
    put(&f, LIVE("0-rest"));
    put(&f, PASSWORD("YQ=="));
    put(&f, "{'apiVersion':'apps/v1','kind':'StatefulSet','metadata':{'name':'acct-database',"
            "'namespace':'slurm','ownerReferences':[{'kind':'Accounting','uid':'U',"
            "'controller':true}]},'spec':{'replicas':1}}");
    test_carry_out(&f.world, &(struct actions[]){plan(&f)}[0]);
    set = test_find(&f.world, "StatefulSet", "acct-database");
    assert_int_equal(jsn_get_int(set, "spec.replicas", -1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_of_its_own_is_made_first),
        cmocka_unit_test(a_pod_that_is_not_ready_is_asked_why),
        cmocka_unit_test(a_password_that_no_file_can_hold_changes_nothing),
        cmocka_unit_test(keys_are_those_of_its_controller),
        cmocka_unit_test(each_stage_of_a_key_makes_the_pod_anew),
        cmocka_unit_test(a_stage_is_had_when_no_older_pod_runs),
        cmocka_unit_test(slurmdbd_counts_as_the_next_release_when_it_serves),
        cmocka_unit_test(another_database_lets_ours_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
