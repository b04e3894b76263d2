/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of resource quantities. */
#include "src/base/test/unit.h"

#include "src/json/quantity.h"

#define FORMAT_RULE                                                                                \
    "quantities must match the regular expression "                                                \
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

static const char *printed(struct arena *a, const char *text)
{
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};
    struct quantity q;

    if (quantity_parse(str_of(text), &q, &e) < 0)
        return arena_strdup(a, e.text);
    quantity_print(&b, &q);
    return arena_str(a, buf_view(&b));
}

static void quantities_print_canonically(void **state)
{
    static const char *const cases[][2] = {
        {"0", "0"},
        {"-0m", "0"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"0.1", "100m"},
        {"1.5", "1500m"},
        {"100", "100"},
        {"1000", "1k"},
        {"1024", "1024"},
        {"1024Ki", "1Mi"},
        {"1536Mi", "1536Mi"},
        {"2048Mi", "2Gi"},
        {"1.5Gi", "1536Mi"},
        {"0.5Ki", "512"},
        {"0.5Mi", "512Ki"},
        {"1Ki", "1Ki"},
        {"1000000k", "1G"},
        {"123456789", "123456789"},
        {"1e3", "1e3"},
        {"1E3", "1e3"},
        {"1.2e5", "120e3"},
        {"1e-3", "1e-3"},
        {"10e-10", "1e-9"},
        {"5E", "5E"},
        {"1000E", "1000E"},
        {"-5.5M", "-5500k"},
        {"+3", "3"},
        {"007", "7"},
        {".5", "500m"},
        {"5.", "5"},
        {"1n", "1n"},
        {"0.1n", "1n"},
        {"1.0000000001", "1000000001n"},
        {"1e-20", "1e-9"},
        {"0.000000000000000000000000000000000000001Ei", "1n"},
        {"16Ei", "9223372036854775807"},
        {"99999999999999999999999999Ei", "9223372036854775807"},
        {"0.3Ki", "307200m"},
        {"", FORMAT_RULE},
        {"m", FORMAT_RULE},
        {".", FORMAT_RULE},
        {"1 Gi", FORMAT_RULE},
        {"1GiB", FORMAT_RULE},
        {"--1", FORMAT_RULE},
        {"1.2.3", FORMAT_RULE},
        {"1K", "unable to parse quantity's suffix"},
        {"1mm", "unable to parse quantity's suffix"},
        {"1e", "unable to parse quantity's suffix"},
        {"1e99", "the quantity 1e99 is too large"},
        {"99999999999999999999999999999999999999999", "the quantity "
                                                      "9999999999999999999999999999999999999999 is "
                                                      "too large"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena_done) struct arena a = {0};

        assert_string_equal(printed(&a, cases[i][0]), cases[i][1]);
    }
}

static void the_api_server_keeps_texts_that_look_canonical(void **state)
{
    static const char *const cases[][2] = {
        {"1000m", "1"},      {"1.001", "1.001"},
        {"+5", "+5"},        {"1E3", "1E3"},
        {"4096Ki", "4Mi"},   {"1028Ki", "1028Ki"},
        {"0.5", "500m"},     {"1.5", "1500m"},
        {"100m", "100m"},    {"0", "0"},
        {"00", "0"},         {"1.000", "1"},
        {"1.5Gi", "1536Mi"}, {"0500m", "0500m"},
        {"1Ei", "1Ei"},      {"1234567890123456789k", "1234567890123456789k"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf b = {0};

        assert_int_equal(quantity_normalize(&b, str_of(cases[i][0]), NULL), 0);
        assert_string_equal(buf_str(&b), cases[i][1]);
    }
}

static void values_are_rounded_up(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
        int64_t milli;
    } cases[] = {
        {"0", 0, 0},
        {"1", 1, 1000},
        {"1m", 1, 1},
        {"1u", 1, 1},
        {"1500m", 2, 1500},
        {"-1500m", -2, -1500},
        {"1Gi", 1 << 30, (int64_t)1000 << 30},
        {"8Ei", INT64_MAX, INT64_MAX},
        {"-20E", INT64_MIN, INT64_MIN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct quantity q;

        assert_int_equal(quantity_parse(str_of(cases[i].text), &q, NULL), 0);
        assert_true(quantity_value(&q) == cases[i].value);
        assert_true(quantity_milli(&q) == cases[i].milli);
    }
}

static void quantities_compare_and_add(void **state)
{
    AUTO(buf_done) struct buf b = {0};
    struct quantity big = {.nano = (__int128)1 << 126};
    struct quantity x;
    struct quantity y;

    (void)state;
    assert_int_equal(quantity_parse(STR("1Gi"), &x, NULL), 0);
    assert_int_equal(quantity_parse(STR("1073741824"), &y, NULL), 0);
    assert_int_equal(quantity_cmp(&x, &y), 0);
    y = quantity_of(500, QUANTITY_DECIMAL);
    assert_int_equal(quantity_cmp(&y, &x), -1);
    assert_int_equal(quantity_cmp(&x, &y), 1);
    y = quantity_add(&x, &x);
    quantity_print(&b, &y);
    assert_string_equal(buf_str(&b), "2Gi");
    y = quantity_sub(&x, &x);
    assert_int_equal(quantity_value(&y), 0);
    y = quantity_add(&big, &big);
    assert_int_equal(quantity_cmp(&y, &big), 0);
}

static void quantities_are_read_from_json(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    struct err e = {0};
    struct quantity q;

    (void)state;
    assert_int_equal(quantity_read(jsn_int(&a, 3), &q, NULL), 0);
    assert_int_equal(quantity_value(&q), 3);
    assert_int_equal(quantity_read(jsn_real(&a, 0.5), &q, NULL), 0);
    assert_int_equal(quantity_milli(&q), 500);
    assert_int_equal(quantity_read(jsn_string(&a, " 2Gi "), &q, NULL), 0);
    assert_int_equal(quantity_read(jsn_bool(&a, true), &q, &e), -EINVAL);
    assert_string_equal(e.text, "a quantity is a string or a number, not boolean");
    assert_int_equal(quantity_read(NULL, &q, &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_print_canonically),
        cmocka_unit_test(the_api_server_keeps_texts_that_look_canonical),
        cmocka_unit_test(values_are_rounded_up),
        cmocka_unit_test(quantities_compare_and_add),
        cmocka_unit_test(quantities_are_read_from_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
