/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what the relay reads in munge's messages. */
#include "src/base/test/unit.h"

#include "src/munge/relay.h"

static void heads_are_checked(void **state)
{
    static const struct {
        unsigned char head[MUNGE_HEAD_BYTES];
        int result;
        unsigned type;
        size_t body;
    } cases[] = {
        {{0x00, 0x60, 0x6D, 0x4B, 4, 2, 0, 0, 0, 0, 9}, 0, 2, 9},
        {{0x00, 0x60, 0x6D, 0x4B, 4, 4, 0, 0, 1, 0, 0}, 0, 4, 65536},
        {{0x00, 0x60, 0x6D, 0x4C, 4, 2, 0, 0, 0, 0, 9}, -EPROTO, 0, 0},
        {{0x00, 0x60, 0x6D, 0x4B, 4, 2, 0, 0xff, 0, 0, 9}, -EPROTO, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct munge_head head = {0};

        assert_int_equal(munge_head_parse(cases[i].head, &head), cases[i].result);
        assert_int_equal(head.type, cases[i].type);
        assert_int_equal(head.body_bytes, cases[i].body);
    }
}

static void only_a_refusal_for_the_key_goes_on(void **state)
{
    static const struct {
        unsigned char type;
        unsigned char failure;
        bool other;
    } cases[] = {
        {5, 14, true},  /* invalid */
        {5, 0, false},  /* decoded */
        {5, 15, false}, /* expired */
        {5, 17, false}, /* replayed */
        {5, 18, false}, /* not for this user */
        {3, 14, false}, /* an answer to another question */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char answer[] = {0x00, 0x60, 0x6D, 0x4B, 4, (char)cases[i].type,
                         0,    0,    0,    0,    1, (char)cases[i].failure};

        assert_int_equal(munge_is_of_another_key((struct str){answer, sizeof(answer)}),
                         cases[i].other);
        assert_false(munge_is_of_another_key((struct str){answer, MUNGE_HEAD_BYTES}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_checked),
        cmocka_unit_test(only_a_refusal_for_the_key_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
