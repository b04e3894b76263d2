/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of munge's ring of keys. */
#include "src/base/test/unit.h"

#include "src/slurm/keyring.h"

#define KEY_A "0123456789abcdef0123456789abcdef"
#define KEY_B "fedcba9876543210fedcba9876543210"
#define TEXT_A "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define TEXT_B "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="

static void a_ring_is_read_as_it_was_written(void **state)
{
    static const char *const texts[] = {
        "stage 3-rest\nsign " TEXT_A "\n",
        "stage 4-accept\nsign " TEXT_A "\nalso " TEXT_B "\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(keyring_done) struct keyring r = {0};
        AUTO(buf_done) struct buf out = {0};
        struct err e = {0};

        assert_int_equal(keyring_parse(str_of(texts[i]), &r, &e), 0);
        assert_true(str_eqz(buf_view(&r.sign), KEY_A));
        assert_int_equal(r.also.n, i == 1 ? strlen(KEY_B) : 0);
        keyring_print(&r, &out);
        assert_string_equal(buf_str(&out), texts[i]);
    }
}

static void what_is_no_ring_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "stage 1-rest\n",
        "sign " TEXT_A "\n",
        "stage 1-rest\nsign c2hvcnQ=\n",
        "stage 1-rest\nsign ???\n",
        "stage 1-rest\nsign " TEXT_A "\nsign " TEXT_B "\n",
        "stage 1-rest\nsign " TEXT_A "\nalso\n",
        "stage 1-rest\nsign " TEXT_A "\nother x\n",
        "stage \nsign " TEXT_A "\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct keyring r = {0};
        struct err e = {0};

        assert_int_equal(keyring_parse(str_of(texts[i]), &r, &e), -EINVAL);
        assert_true(e.text[0] && r.sign.n == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_is_read_as_it_was_written),
        cmocka_unit_test(what_is_no_ring_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
