/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of quantities. */
#include "src/base/test/unit.h"

#include "src/json/quantity.h"

static void texts_become_canonical(void **state)
{
    static const char *const cases[][2] = {
        {"0", "0"},
        {"0Gi", "0"},
        {"1", "1"},
        {"0.5", "500m"},
        {"1000m", "1"},
        {"1.5", "1500m"},
        {"100m", "100m"},
        {"1500m", "1500m"},
        {"1024Mi", "1Gi"},
        {"1.5Gi", "1536Mi"},
        {"1536Mi", "1536Mi"},
        {"1025Ki", "1025Ki"},
        {"512", "512"},
        {"1000", "1k"},
        {"1e3", "1e3"},
        {"2e4", "20e3"},
        {"1E3", "1E3"},
        {"2e-1", "200e-3"},
        {"1G", "1G"},
        {"1000M", "1G"},
        {"-1.5", "-1500m"},
        {"+5", "+5"},
        {".5", "500m"},
        {"1.", "1."},
        {"0.1m", "100u"},
        {"1n", "1n"},
        {"0.5n", "1n"},
        {"1.0000000001", "1000000001n"},
        {"0.5Ki", "512"},
        {"0.0001Ki", "102400u"},
        {"1Ei", "1Ei"},
        {"100Ei", "9223372036854775807"},
        {"12.345k", "12.345k"},
        {"000123", "000123"},
        {"9223372036854775807", "9223372036854775807"},
        {"128974848", "128974848"},
        {"129e6", "129e6"},
        {"123Mi", "123Mi"},
        {"2Gi", "2Gi"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[QUANTITY_LEN];
        struct err e = {0};

        if (quantity_canonical(str_of(cases[i][0]), text, &e) < 0)
            fail_msg("%s: %s", cases[i][0], e.text);
        assert_string_equal(text, cases[i][1]);
    }
}

static void bad_texts_get_kubernetes_sentences(void **state)
{
    static const char format[] = "quantities must match the regular expression "
                                 "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    static const char suffix[] = "unable to parse quantity's suffix";
    static const char number[] = "unable to parse numeric part of quantity";
    static const char *const cases[][2] = {
        {"", format},
        {"1 Gi", format},
        {"lots", format},
        {"1x", format},
        {"1K", suffix},
        {"1mi", suffix},
        {"1e", suffix},
        {"1e999", suffix},
        {"1KiKi", suffix},
        {"1e40", number},
        {"99999999999999999999", number},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct quantity q;
        struct err e = {0};

        assert_true(quantity_parse(str_of(cases[i][0]), &q, &e) < 0);
        assert_string_equal(e.text, cases[i][1]);
    }
}

static void values_are_rounded_up(void **state)
{
    static const struct {
        const char *text;
        int64_t value, milli;
    } cases[] = {
        {"1500m", 2, 1500},    {"100u", 1, 1}, {"2Gi", 2147483648, 2147483648000},
        {"-1500m", -1, -1500}, {"0", 0, 0},    {"9E", 9000000000000000000, INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct quantity q;
        struct err e = {0};

        assert_int_equal(quantity_parse(str_of(cases[i].text), &q, &e), 0);
        assert_int_equal(quantity_value(&q), cases[i].value);
        assert_int_equal(quantity_milli(&q), cases[i].milli);
    }
}

static void quantities_compare_by_size(void **state)
{
    static const char *const order[] = {"-1", "0", "1n", "999m", "1", "1001m", "1k", "1Ki", "1M"};
    struct quantity a, b;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i + 1 < ARRAY_LEN(order); i++) {
        assert_int_equal(quantity_parse(str_of(order[i]), &a, &e), 0);
        assert_int_equal(quantity_parse(str_of(order[i + 1]), &b, &e), 0);
        assert_int_equal(quantity_cmp(&a, &b), -1);
        assert_int_equal(quantity_cmp(&b, &a), 1);
        assert_int_equal(quantity_cmp(&a, &a), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_canonical),
        cmocka_unit_test(bad_texts_get_kubernetes_sentences),
        cmocka_unit_test(values_are_rounded_up),
        cmocka_unit_test(quantities_compare_by_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
