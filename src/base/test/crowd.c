/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of fair shares: who gives way first. */
#include "src/base/test/unit.h"

#include "src/base/crowd.h"

#define N 8

/* A crowd of members in accounts, one letter each: "aab" is three members, two of account a. */
static void fill(struct crowd *c, struct crowd_member m[N], const char *accounts)
{
    crowd_init(c);
    memset(m, 0, N * sizeof(*m));
    for (int i = 0; accounts[i]; i++) {
        char name[] = {accounts[i], '\0'};

        crowd_join(c, &m[i], name);
        crowd_set_idle(&m[i], true);
    }
}

static void empty(struct crowd *c, struct crowd_member m[N])
{
    for (int i = 0; i < N; i++)
        crowd_leave(&m[i]);
    assert_int_equal(c->accounts.n, 0);
    assert_int_equal(c->bytes, 0);
    crowd_done(c);
}

static void the_oldest_of_the_greediest_gives_way(void **state)
{
    static const struct {
        const char *accounts;
        const char *busy; /* '1': not idle */
        int pick;         /* index, -1: nobody */
    } table[] = {
        {"", "", -1},        {"a", "0", 0},     {"a", "1", -1},      {"abb", "000", 1},
        {"abb", "010", 2},   {"abb", "011", 0}, {"aabb", "0000", 0}, {"baab", "0000", 0},
        {"abcabbb", "0", 1}, {"abc", "100", 1}, {"aaab", "1110", 3},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct crowd_member m[N];
        struct crowd c;

        fill(&c, m, table[i].accounts);
        for (int k = 0; table[i].busy[k]; k++)
            crowd_set_idle(&m[k], table[i].busy[k] == '0');
        assert_ptr_equal(crowd_pick(&c, CROWD_BY_COUNT),
                         table[i].pick < 0 ? NULL : &m[table[i].pick]);
        empty(&c, m);
    }
}

static void a_member_that_was_busy_is_young_again(void **state)
{
    struct crowd_member m[N];
    struct crowd c;

    (void)state;
    fill(&c, m, "aa");
    crowd_set_idle(&m[0], false);
    crowd_set_idle(&m[0], true);
    assert_ptr_equal(crowd_pick(&c, CROWD_BY_COUNT), &m[1]);
    crowd_set_idle(&m[1], true); /* it was so already */
    assert_ptr_equal(crowd_pick(&c, CROWD_BY_COUNT), &m[1]);
    empty(&c, m);
}

static void bytes_are_a_measure_of_their_own(void **state)
{
    struct crowd_member m[N];
    struct crowd c;

    (void)state;
    fill(&c, m, "aab");
    crowd_set_bytes(&m[2], 100);
    crowd_set_bytes(&m[0], 60);
    assert_ptr_equal(crowd_pick(&c, CROWD_BY_BYTES), &m[2]);
    assert_ptr_equal(crowd_pick(&c, CROWD_BY_COUNT), &m[0]);
    crowd_set_bytes(&m[2], 10);
    assert_int_equal(c.bytes, 70);
    assert_ptr_equal(crowd_pick(&c, CROWD_BY_BYTES), &m[0]);
    empty(&c, m);
}

static void a_member_moves_between_accounts_and_crowds(void **state)
{
    struct crowd_member m[N];
    struct crowd c, other;

    (void)state;
    fill(&c, m, "ab");
    crowd_init(&other);
    crowd_set_bytes(&m[0], 5);
    crowd_join(&c, &m[0], "b");
    assert_int_equal(crowd_count(&c, "a"), 0);
    assert_int_equal(crowd_count(&c, "b"), 2);
    crowd_join(&other, &m[0], "b");
    assert_int_equal(crowd_count(&c, "b"), 1);
    assert_int_equal(other.n, 1);
    assert_int_equal(c.bytes, 0);
    assert_ptr_equal(crowd_pick_of(&c, "b"), &m[1]);
    assert_null(crowd_pick_of(&other, "b")); /* it has to be told again that it is idle */
    crowd_leave(&m[0]);
    crowd_done(&other);
    empty(&c, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_of_the_greediest_gives_way),
        cmocka_unit_test(a_member_that_was_busy_is_young_again),
        cmocka_unit_test(bytes_are_a_measure_of_their_own),
        cmocka_unit_test(a_member_moves_between_accounts_and_crowds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
