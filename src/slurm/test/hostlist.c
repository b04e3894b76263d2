/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of host lists and host sets; expectations were taken from scontrol 22.05. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/base/clock.h"
#include "src/slurm/hostset.h"

/* The list's names, blank-separated, in out. */
static void names_of(const struct host_list *list, struct buf *out)
{
    AUTO(buf_done) struct buf name = {0};
    struct host_iter it = {0};

    buf_clear(out);
    while (hostlist_next(list, &it, &name)) {
        if (out->n)
            buf_addc(out, ' ');
        buf_addstr(out, buf_view(&name));
    }
}

static void expands_as_scontrol_does(void **state)
{
    static const struct {
        const char *text;
        const char *names;
    } cases[] = {
        {"", ""},
        {" , ,\t", ""},
        {"n1", "n1"},
        {"node[001-003,7]", "node001 node002 node003 node7"},
        {"a[1-2]b[1-2]c[1-2]", "a1b1c1 a1b1c2 a2b1c1 a2b1c2 a1b2c1 a1b2c2 a2b2c1 a2b2c2"},
        {"n[1-]", "n1"},
        {"nid0000[2-4]", "nid00002 nid00003 nid00004"},
        {"n[098-101]", "n098 n099 n100 n101"},
        {"n1,,n2", "n1 n2"},
        {" n1 n2", "n1 n2"},
        {"[1-3]", "1 2 3"},
        {"1,2,3", "1 2 3"},
        {"n[1-2][3-4]", "n13 n14 n23 n24"},
        {"n[01-1]", "n01"},
        {"n[1-02]", "n1 n2"},
        {"n[9-11,009]", "n9 n10 n11 n009"},
        {"r[1-2]n[01-02],login", "r1n01 r1n02 r2n01 r2n02 login"},
        {"n[1-2]-ib", "n1-ib n2-ib"},
        {"r[1-2]n[3-4]x", "r1n3x r1n4x r2n3x r2n4x"},
        {"n000000000000000000001", "n000000000000000000001"},
        {"n99999999999999999999,n0", "n99999999999999999999 n0"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(hostlist_free) struct host_list *list = NULL;
        AUTO(buf_done) struct buf names = {0};
        struct err e = {0};

        assert_int_equal(hostlist_parse(str_of(cases[i].text), &list, &e), 0);
        names_of(list, &names);
        assert_string_equal(buf_str(&names), cases[i].names);
    }
}

static void compresses_as_scontrol_does(void **state)
{
    static const struct {
        const char *text;
        const char *compressed;
        const char *sorted;
    } cases[] = {
        {"n3,n1,n2", "n[3,1-2]", "n[1-3]"},
        {"n1,n2,n3,m1", "n[1-3],m1", "m1,n[1-3]"},
        {"n9,n10,n11", "n[9-11]", "n[9-11]"},
        {"n09,n10", "n[09-10]", "n[09-10]"},
        {"n1,n01,n10", "n[1,01,10]", "n[1,01,10]"},
        {"n001,n2,n003", "n[001,2,003]", "n[2,001,003]"},
        {"a,b,c", "a,b,c", "a,b,c"},
        {"n1,n1,n2", "n[1,1-2]", "n[1-2]"},
        {"n10,n9", "n[10,9]", "n[9-10]"},
        {"a1b1,a1b2,a2b1", "a1b[1-2],a2b1", "a1b[1-2],a2b1"},
        {"nid00002,nid00003", "nid[00002-00003]", "nid[00002-00003]"},
        {"nid0000[2-3]", "nid0000[2-3]", "nid[00002-00003]"},
        {"n,n1,n2", "n,n[1-2]", "n,n[1-2]"},
        {"n1-ib,n2-ib", "n1-ib,n2-ib", "n1-ib,n2-ib"},
        {"n99,n100,n098,n099", "n[99-100,098-099]", "n[99,098-100]"},
        {"r10n1,r2n1,r1n1", "r10n1,r2n1,r1n1", "r1n1,r2n1,r10n1"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(hostlist_free) struct host_list *list = NULL;
        AUTO(hostset_free) struct host_set *set = NULL;
        AUTO(buf_done) struct buf out = {0};
        struct err e = {0};

        assert_int_equal(hostlist_parse(str_of(cases[i].text), &list, &e), 0);
        hostlist_print(list, &out);
        assert_string_equal(buf_str(&out), cases[i].compressed);
        set = hostset_of(list);
        buf_clear(&out);
        hostset_print(set, &out);
        assert_string_equal(buf_str(&out), cases[i].sorted);
    }
}

static void a_bad_list_is_refused_with_its_column(void **state)
{
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"n[]", "host list 'n[]', column 3: a number is missing"},
        {"n[1,,2]", "host list 'n[1,,2]', column 5: a number is missing"},
        {"n[3-1]", "host list 'n[3-1]', column 3: the range runs backwards"},
        {"a,n[1-3", "host list 'a,n[1-3', column 4: the bracket is not closed"},
        {"n]1", "host list 'n]1', column 2: ']' closes no bracket"},
        {"n[1, 2]",
         "host list 'n[1, 2]', column 5: only digits, '-' and ',' may stand between brackets"},
        {"n[1-[2]]",
         "host list 'n[1-[2]]', column 5: only digits, '-' and ',' may stand between brackets"},
        {"n[0x10]",
         "host list 'n[0x10]', column 3: only digits, '-' and ',' may stand between brackets"},
        {"n[1--2]",
         "host list 'n[1--2]', column 5: only digits, '-' and ',' may stand between brackets"},
        {"n[0-99999999999]",
         "host list 'n[0-99999999999]', column 3: the range has more than 65536 names"},
        {"n[0-9999999999999999999]",
         "host list 'n[0-9999999999999999999]', column 5: the number has more than 18 digits"},
        {"x,a[1-65536]b[1-16]",
         "host list 'x,a[1-65536]b[1-16]', column 3: the list has more than 1000000 names"},
        {"a[1][1][1][1][1][1][1][1][1]", "host list 'a[1][1][1][1][1][1][1][1][1]', column 26: "
                                         "the name has more than 8 brackets"},
        {"a\x01", "host list 'a\x01', column 2: a control character cannot stand in a name"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct host_list *list = NULL;
        struct err e = {0};

        assert_int_equal(hostlist_parse(str_of(cases[i].text), &list, &e), -EINVAL);
        assert_null(list);
        assert_string_equal(e.text, cases[i].error);
    }
}

static void a_suffix_is_told_apart(void **state)
{
    AUTO(hostlist_free) struct host_list *with = NULL;
    AUTO(hostlist_free) struct host_list *without = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(hostlist_parse(STR("n[1-2]-ib"), &with, &e), 0);
    assert_int_equal(hostlist_parse(STR("n[1-2],m1-ib"), &without, &e), 0);
    assert_true(hostlist_has_suffix(with));
    assert_false(hostlist_has_suffix(without));
    assert_int_equal(hostlist_count(with), 2);
}

static void membership_minds_the_padding(void **state)
{
    static const struct {
        const char *list;
        const char *name;
        bool in;
    } cases[] = {
        {"n[098-101]", "n100", true},
        {"n[098-101]", "n98", false},
        {"n[1-20]", "n05", false},
        {"n[1-20]", "n5", true},
        {"n[1-20]", "n", false},
        {"n,n1", "n", true},
        {"nid0000[2-7]", "nid00003", true},
        {"nid0000[2-7]", "nid3", false},
        {"n[1-3]-ib", "n2-ib", true},
        {"n[1-3]-ib", "n2", false},
        {"1,2", "2", true},
        {"", "n", false},
        {"n[0-9]", "n00", false},
        {"a[1-2]b[1-2]", "a2b1", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(hostlist_free) struct host_list *list = NULL;
        AUTO(hostset_free) struct host_set *set = NULL;
        struct err e = {0};

        assert_int_equal(hostlist_parse(str_of(cases[i].list), &list, &e), 0);
        set = hostset_of(list);
        assert_int_equal(hostset_has(set, str_of(cases[i].name)), cases[i].in);
    }
}

static void sets_are_equal_by_their_names(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool equal;
    } cases[] = {
        {"n[1-10]", "n10,n[1-9]", true},
        {"n[1-10]", "n[01-10]", false},
        {"nid0000[2-7]", "nid[00002-00007]", true},
        {"n[1-3],n2", "n1,n2,n3", true},
        {"", " ,", true},
        {"n", "n0", false},
        {"r[1-2]n[1-2]", "r2n[1-2],r1n2,r1n1", true},
        {"n1[0-9]", "n[10-19]", true},
        {"n[8-12]", "n8,n9,n1[0-2]", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(hostset_free) struct host_set *a = NULL;
        AUTO(hostset_free) struct host_set *b = NULL;
        struct err e = {0};

        assert_int_equal(hostset_parse(str_of(cases[i].a), &a, &e), 0);
        assert_int_equal(hostset_parse(str_of(cases[i].b), &b, &e), 0);
        assert_int_equal(hostset_equal(a, b), cases[i].equal);
    }
}

static void union_and_difference_work(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        const char *both;
        const char *minus;
    } cases[] = {
        {"n[1-5]", "n[4-8]", "n[1-8]", "n[1-3]"},
        {"n[1-10]", "n[3-4,7]", "n[1-10]", "n[1-2,5-6,8-10]"},
        {"n[1-3],n[5-7]", "n[2-6]", "n[1-7]", "n[1,7]"},
        {"a,b", "b,c", "a,b,c", "a"},
        {"n[8-12]", "n1[0-1]", "n[8-12]", "n[8-9,12]"},
        {"n[1-3]", "", "n[1-3]", "n[1-3]"},
        {"", "n1", "n1", ""},
        {"n[1-3]", "n[1-3]", "n[1-3]", ""},
        {"m[1-2],n[1-2]", "m2,n1", "m[1-2],n[1-2]", "m1,n2"},
        {"n[1-2,4-5,7-8]", "n[2-7]", "n[1-8]", "n[1,8]"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(hostset_free) struct host_set *a = NULL;
        AUTO(hostset_free) struct host_set *b = NULL;
        AUTO(hostset_free) struct host_set *both = NULL;
        AUTO(hostset_free) struct host_set *minus = NULL;
        AUTO(buf_done) struct buf out = {0};
        struct err e = {0};

        assert_int_equal(hostset_parse(str_of(cases[i].a), &a, &e), 0);
        assert_int_equal(hostset_parse(str_of(cases[i].b), &b, &e), 0);
        both = hostset_union(a, b);
        minus = hostset_minus(a, b);
        hostset_print(both, &out);
        assert_string_equal(buf_str(&out), cases[i].both);
        buf_clear(&out);
        hostset_print(minus, &out);
        assert_string_equal(buf_str(&out), cases[i].minus);
    }
}

/* The cluster of the bars: 100,000 names to a list, to names, to a list again, and sorted. */
static void a_hundred_thousand_names_take_milliseconds(void **state)
{
    AUTO(hostlist_free) struct host_list *list = NULL;
    AUTO(hostlist_free) struct host_list *again = hostlist_new();
    AUTO(hostset_free) struct host_set *set = NULL;
    AUTO(buf_done) struct buf name = {0};
    AUTO(buf_done) struct buf out = {0};
    struct host_iter it = {0};
    struct err e = {0};
    int64_t start = clock_mono_ms();
    size_t n = 0;

    (void)state;
    assert_int_equal(hostlist_parse(STR("n[000001-050000,050001-100000]"), &list, &e), 0);
    while (hostlist_next(list, &it, &name)) {
        hostlist_push(again, buf_view(&name));
        n++;
    }
    assert_int_equal(n, 100000);
    hostlist_print(again, &out);
    assert_string_equal(buf_str(&out), "n[000001-065536,065537-100000]");
    set = hostset_of(again);
    assert_int_equal(hostset_count(set), 100000);
    /* generous for sanitizers and a loaded machine; plain builds need about 5 ms */
    assert_true(clock_mono_ms() - start < 1000);
}

static void scattered_names_sort_fast_too(void **state)
{
    AUTO(hostlist_free) struct host_list *list = hostlist_new();
    AUTO(hostset_free) struct host_set *set = NULL;
    AUTO(buf_done) struct buf out = {0};
    uint32_t at = 1;

    (void)state;
    for (size_t i = 0; i < 65536; i++) {
        char name[32];

        at = (at * 5U + 3U) & 0xFFFF; /* visits every 16-bit number once */
        (void)snprintf(name, sizeof(name), "r%un%u", at >> 8, at & 0xFF);
        hostlist_push(list, str_of(name));
    }
    set = hostset_of(list);
    assert_int_equal(hostset_count(set), 65536);
    hostset_print(set, &out);
    assert_int_equal(strncmp(buf_str(&out), "r0n[0-255],r1n[0-255],r2n[0-255],", 33), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expands_as_scontrol_does),
        cmocka_unit_test(compresses_as_scontrol_does),
        cmocka_unit_test(a_bad_list_is_refused_with_its_column),
        cmocka_unit_test(a_suffix_is_told_apart),
        cmocka_unit_test(membership_minds_the_padding),
        cmocka_unit_test(sets_are_equal_by_their_names),
        cmocka_unit_test(union_and_difference_work),
        cmocka_unit_test(a_hundred_thousand_names_take_milliseconds),
        cmocka_unit_test(scattered_names_sort_fast_too),
    };

    return cmocka_run_group_tests_name("hostlist", tests, NULL, NULL);
}
