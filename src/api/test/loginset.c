/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the kind LoginSet: defaults, what is refused and warned of, what may not change. */
#include "src/api/test/objects.h"

#include "src/api/loginset.h"
#include "src/api/test/lookup_over.h"

#define LEAST "  controllerRef: {name: main}\n  sssdConfRef: {name: sssd, key: sssd.conf}\n"

static struct loginset loginset_of(struct arena *a, const char *spec)
{
    struct loginset l;
    struct err e = {0};

    if (loginset_decode(a, ours_of(a, "LoginSet", "login", spec), &l, &e) < 0)
        fail_msg("%s", e.text);
    return l;
}

static void what_is_left_out_has_a_default(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct loginset l = loginset_of(&a, LEAST);

    (void)state;
    assert_int_equal(l.spec.replicas, 1);
    assert_null(l.spec.initconf);
    assert_null(l.spec.root_keys);
    assert_int_equal(loginset_grace_s(&l), 300);
}

static void what_is_needed_is_asked_for(void **state)
{
    static const struct {
        const char *spec;
        const char *error;
    } cases[] = {
        {"  sssdConfRef: {name: s, key: k}", "spec.controllerRef: is required"},
        {"  controllerRef: {name: c}", "spec.sssdConfRef: is required"},
        {LEAST "  replicas: -1", "spec.replicas: -1 is below 0"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct loginset l;
        struct err e = {0};

        assert_true(loginset_decode(&a, ours_of(&a, "LoginSet", "l", cases[i].spec), &l, &e) < 0);
        assert_string_equal(e.text, cases[i].error);
    }
}

static void bad_logins_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *spec;
        const char *lines;
    } cases[] = {
        {LEAST, ""},
        {"  controllerRef: {}\n  sssdConfRef: {key: k}",
         "spec.controllerRef.name: must name an object of this namespace\n"
         "spec.sssdConfRef.name: must name an object of this namespace\n"},
        {"  controllerRef: {name: main, namespace: x}\n  sssdConfRef: {name: s, key: 'a/b'}",
         "spec.controllerRef.namespace: the Controller must be in the LoginSet's own namespace, "
         "slurm\nspec.sssdConfRef.key: a key"},
        {LEAST "  strategy: {type: Sometimes}",
         "spec.strategy.type: must be RollingUpdate or Recreate\n"},
        {LEAST "  strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}",
         "spec.strategy.rollingUpdate: may not be there where type is Recreate\n"},
        {LEAST "  strategy: {rollingUpdate: {maxSurge: 1}}", ""},
        {LEAST "  service: {spec: {externalIPs: [10.0.0.1]}}",
         "warning: spec.service.spec.externalIPs: is ignored"},
        {LEAST "  rootSshAuthorizedKeys: |\n    # who\n\n    ssh-ed25519 AAAA me\n"
               "    from=\"10.0.0.1\" ecdsa-sha2-nistp256 BBBB\n",
         ""},
        {LEAST "  rootSshAuthorizedKeys: AAAAC3Nz",
         "warning: spec.rootSshAuthorizedKeys: line 1 is no public key: sshd passes over it\n"},
        {LEAST "  rootSshAuthorizedKeys: |\n    -----BEGIN OPENSSH PRIVATE KEY-----\n",
         "spec.rootSshAuthorizedKeys: line 1 begins a private key; only public ones belong here\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct loginset l = loginset_of(&a, cases[i].spec);
        const char *lines;

        loginset_check(&l, &p);
        lines = lines_of(&a, &p);
        if (strncmp(lines, cases[i].lines, strlen(cases[i].lines)) != 0 ||
            !cases[i].lines[0] != !lines[0])
            fail_msg("%s\n%s", cases[i].spec, lines);
    }
}

static void the_cluster_of_a_login_stays(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_problems p = {.arena = &a};
    struct loginset old = loginset_of(&a, LEAST);
    struct loginset more = loginset_of(&a, LEAST "  replicas: 3");
    struct loginset other =
        loginset_of(&a, "  controllerRef: {name: x}\n  sssdConfRef: {name: t, key: sssd.conf}");

    (void)state;
    loginset_check_update(&more, &old, &p);
    assert_int_equal(p.n, 0);
    loginset_check_update(&other, &old, &p);
    assert_int_equal(p.errors, 1);
    assert_string_equal(p.items[0].field, "spec.controllerRef");
}

static void what_is_not_there_yet_is_warned_of(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct api_lookup none = api_lookup_over(jsn_array(&a));
    struct api_problems p = {.arena = &a};
    struct loginset l = loginset_of(&a, LEAST);

    (void)state;
    loginset_check_refs(&l, &none, &p);
    assert_string_equal(
        lines_of(&a, &p),
        "warning: spec.controllerRef.name: there is no Controller main in namespace slurm yet\n"
        "warning: spec.sssdConfRef.name: there is no Secret sssd in namespace slurm yet\n");
}

static void the_wait_for_sessions_is_an_annotation(void **state)
{
    static const struct {
        const char *said;
        int64_t seconds;
        size_t warnings;
    } cases[] = {{"0", 0, 0}, {"86400", 86400, 0}, {"-1", 300, 1}, {"soon", 300, 1}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct api_problems p = {.arena = &a};
        struct jsn_pair pair = {LOGIN_GRACE_ANNOTATION, cases[i].said};
        struct loginset l = loginset_of(&a, LEAST);

        l.meta.annotations = (struct jsn_map){&pair, 1};
        loginset_check_annotations(&l, &p);
        assert_int_equal(loginset_grace_s(&l), cases[i].seconds);
        assert_int_equal(p.n, cases[i].warnings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(what_is_needed_is_asked_for),
        cmocka_unit_test(bad_logins_are_refused_with_a_reason),
        cmocka_unit_test(the_cluster_of_a_login_stays),
        cmocka_unit_test(what_is_not_there_yet_is_warned_of),
        cmocka_unit_test(the_wait_for_sessions_is_an_annotation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
