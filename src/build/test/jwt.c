/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of Slurm's tokens: what is signed is read, and nothing else. */
#include "src/base/test/unit.h"

#include "src/build/jwt.h"

#define KEY STR("a key of some bytes\n")

/* Made by another implementation (Python's hmac) of the same header and claims. */
#define KNOWN                                                                                      \
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."                                                        \
    "eyJleHAiOjE5MDAsImlhdCI6MTAwMCwiaXNzIjoic2x1cm1rZWVwZXIiLCJqdGkiOiJpZCIsIm5iZiI6MTAwMCwic3"   \
    "VuIjoiYWxpY2UifQ."                                                                            \
    "pyR-aiWL4dKSigoncDQjVMsmOtBuY6c_BpxC2hQTbX0"

static void a_token_is_what_others_would_make(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    const struct jwt t = {.user = "alice", .id = "id", .issued_s = 1000, .expires_s = 1900};

    (void)state;
    assert_string_equal(jwt_sign(&a, KEY, &t), KNOWN);
}

static void only_what_the_key_has_signed_is_read(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char text[sizeof(KNOWN)];
    struct jwt t;
    struct err e = {0};

    (void)state;
    assert_int_equal(jwt_read(&a, KEY, str_of(KNOWN), &t, &e), 0);
    assert_string_equal(t.user, "alice");
    assert_string_equal(t.id, "id");
    assert_int_equal(t.issued_s, 1000);
    assert_int_equal(t.expires_s, 1900);
    assert_int_equal(jwt_read(&a, STR("a key of some bytes"), str_of(KNOWN), &t, &e), -EACCES);
    for (size_t i = 0; i < strlen(KNOWN); i++) {
        memcpy(text, KNOWN, sizeof(text));
        text[i] ^= 1;
        assert_true(jwt_read(&a, KEY, str_of(text), &t, &e) < 0);
        assert_true(jwt_read(&a, KEY, (struct str){KNOWN, i}, &t, &e) < 0);
    }
}

static void what_is_no_token_is_told_so(void **state)
{
    static const char *const rows[] = {"", ".", "..", "a.b", "a.b.c.d", "a.b.c"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(arena_done) struct arena a = {0};
        struct jwt t;
        struct err e = {0};

        assert_true(jwt_read(&a, KEY, str_of(rows[i]), &t, &e) < 0);
        assert_true(e.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_what_others_would_make),
        cmocka_unit_test(only_what_the_key_has_signed_is_read),
        cmocka_unit_test(what_is_no_token_is_told_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
