/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of secrets. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/secret.h"

static void an_empty_secret_is_an_empty_text(void **state)
{
    AUTO(secret_done) struct secret s = {0};

    (void)state;
    assert_true(secret_empty(&s));
    assert_string_equal(secret_expose(&s), "");
    secret_done(&s);
    secret_wipe(NULL);
}

static void setting_replaces_the_text(void **state)
{
    AUTO(secret_done) struct secret s = {0};

    (void)state;
    secret_set(&s, STR("first"));
    assert_string_equal(secret_expose(&s), "first");
    secret_set(&s, STR("second"));
    assert_string_equal(secret_expose(&s), "second");
    secret_set(&s, str_of(secret_expose(&s)));
    assert_string_equal(secret_expose(&s), "second");
    secret_done(&s);
    assert_true(secret_empty(&s));
}

static void equality_is_of_the_text(void **state)
{
    AUTO(secret_done) struct secret a = {0};
    AUTO(secret_done) struct secret b = {0};

    (void)state;
    assert_true(secret_equal(&a, &b));
    secret_set(&a, STR("one"));
    assert_false(secret_equal(&a, &b));
    secret_set(&b, STR("two"));
    assert_false(secret_equal(&a, &b));
    secret_set(&b, STR("one"));
    assert_true(secret_equal(&a, &b));
    secret_wipe(xstrdup("gone"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_secret_is_an_empty_text),
        cmocka_unit_test(setting_replaces_the_text),
        cmocka_unit_test(equality_is_of_the_text),
    };

    return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
