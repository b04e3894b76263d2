/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the kind Accounting: where slurmdbd is, what is refused, what may not change. */
#include "src/api/test/objects.h"

#include "src/api/accounting.h"

static struct accounting accounting_of(struct arena *a, const char *name, const char *spec)
{
    struct accounting acct;
    struct err e = {0};

    if (accounting_decode(a, ours_of(a, "Accounting", name, spec), &acct, &e) < 0)
        fail_msg("%s", e.text);
    return acct;
}

#define EXTERNAL "  external: true\n  externalConfig: {host: db.example.org, port: 7000}"
#define STORE(more)                                                                                \
    "  storageConfig: {host: sql, passwordKeyRef: {name: pw, key: password}" more "}"

static void slurmdbd_is_where_it_is_said_to_be(void **state)
{
    static const struct {
        const char *spec;
        const char *host;
        int32_t port;
    } cases[] = {
        {"  {}", "acct-accounting", 6819},
        {"  service: {port: 7001}", "acct-accounting", 7001},
        {EXTERNAL, "db.example.org", 7000},
        {"  externalConfig: {host: db.example.org, port: 7000}", "acct-accounting", 6819},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct accounting acct = accounting_of(&a, "acct", cases[i].spec);

        assert_string_equal(accounting_host(&a, &acct), cases[i].host);
        assert_int_equal(accounting_port(&acct), cases[i].port);
        assert_false(accounting_answers(&acct));
    }
}

static void a_database_has_slurms_own_defaults(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct accounting acct = accounting_of(&a, "acct", STORE(""));

    (void)state;
    assert_int_equal(acct.spec.storage->port, 3306);
    assert_string_equal(acct.spec.storage->database, "slurm_acct_db");
    assert_string_equal(acct.spec.storage->password_key_ref->key, "password");
    acct = accounting_of(&a, "acct", "  {}");
    assert_null(acct.spec.storage);
}

static void the_last_line_of_extra_conf_counts(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct accounting acct = accounting_of(
        &a, "acct", "  extraConf: |\n    # AuthInfo=no\n    authinfo = a\n    AuthInfo=b,c # d\n");

    (void)state;
    assert_string_equal(accounting_extra(&a, &acct, "AuthInfo"), "b,c");
    assert_null(accounting_extra(&a, &acct, "PrivateData"));
}

static void bad_accountings_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *name;
        const char *spec;
        const char *lines;
    } cases[] = {
        {"acct", "  {}", ""},
        {"acct", STORE(", username: slurm"), ""},
        {"acct", EXTERNAL, ""},
        {"acct", "  extraConf: |\n    # a word\n    PurgeJobAfter=12months\n\n    AuthInfo=ttl=5\n",
         ""},
        {"acct", "  external: true",
         "spec.externalConfig: must say where slurmdbd is, since external is true\n"},
        {"acct", "  external: true\n  externalConfig: {host: '', port: 1}",
         "spec.externalConfig.host: must be the host name or address of slurmdbd\n"},
        {"acct", "  storageConfig: {host: '', username: u, passwordKeyRef: {name: p, key: k}}",
         "spec.storageConfig.host: must be the host name or address of the database; leave "
         "storageConfig out to have a database made\n"},
        {"acct", STORE(", username: 'a b'"),
         "spec.storageConfig.username: may have no blanks, quotes, '#' or '\\': slurmdbd.conf "
         "cannot hold them\n"},
        {"acct", "  extraConf: |\n    StoragePass=x\n    Nonsense=1\n    words\n",
         "spec.extraConf: line 1: StoragePass comes from spec.storageConfig.passwordKeyRef and "
         "cannot be set; remove the line\n"
         "spec.extraConf: line 2: slurmdbd has no setting Nonsense\n"
         "spec.extraConf: line 3: is not of the form Key=Value\n"},
        {"acct", "  slurmKeyRef: {key: slurm.key}",
         "spec.slurmKeyRef.name: must name an object of this namespace\n"},
        {"1acct", "  {}",
         "metadata.name: a name must begin with a letter, since Services are named after it\n"},
        {"a23456789012345678901234567890123456789012", "  {}",
         "metadata.name: may have 41 characters, so that the names of what is made from it fit\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct accounting acct = accounting_of(&a, cases[i].name, cases[i].spec);

        accounting_check(&acct, &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

static void the_key_of_tokens_stays_and_the_others_may_change(void **state)
{
    static const struct {
        const char *old;
        const char *now;
        const char *lines;
    } cases[] = {
        {"  jwtKeyRef: {name: j, key: k}", "  jwtHs256KeyRef: {name: j, key: k}", ""},
        {"  {}", "  jwtKeyRef: {name: j, key: k}", ""},
        {"  slurmKeyRef: {name: s, key: k}", "  slurmKeyRef: {name: t, key: k}", ""},
        {STORE(""), STORE(", port: 3307"), ""},
        {"  jwtKeyRef: {name: j, key: k}", "  jwtKeyRef: {name: i, key: k}",
         "spec.jwtKeyRef: cannot be changed: tokens in use are signed with it; change the Secret's "
         "content instead\n"},
        {"  jwtKeyRef: {name: j, key: k}", "  {}",
         "spec.jwtKeyRef: cannot be changed: tokens in use are signed with it; change the Secret's "
         "content instead\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct accounting old = accounting_of(&a, "acct", cases[i].old);
        struct accounting now = accounting_of(&a, "acct", cases[i].now);

        accounting_check_update(&now, &old, &p);
        assert_string_equal(lines_of(&a, &p), cases[i].lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurmdbd_is_where_it_is_said_to_be),
        cmocka_unit_test(a_database_has_slurms_own_defaults),
        cmocka_unit_test(the_last_line_of_extra_conf_counts),
        cmocka_unit_test(bad_accountings_are_refused_with_a_reason),
        cmocka_unit_test(the_key_of_tokens_stays_and_the_others_may_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
