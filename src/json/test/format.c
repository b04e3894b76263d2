/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of string formats: good and bad examples of each. */
#include "src/base/test/unit.h"

#include "src/json/format.h"

static const struct {
    const char *format;
    const char *good[8];
    const char *bad[12];
} cases[] = {
    {"date-time",
     {"2020-01-01T00:00:00Z", "2020-02-29t23:59:59.123456789+01:00", "2020-01-01T00:00:00z"},
     {"x", "", "2020-01-01", "2020-01-01T00:00:00", "2020-13-01T00:00:00Z", "2021-02-29T00:00:00Z",
      "2020-01-01T24:00:00Z", "2020-01-01T00:00:00.Z", "2020-01-01 00:00:00Z"}},
    {"date",
     {"2020-02-29", "0001-01-01"},
     {"2020-1-1", "2021-02-29", "2020-00-01", "20200101", ""}},
    {"duration",
     {"5m", "1h30m", "1.5h", "-2s", "0", "2 days", "3 weeks", "10MS"},
     {"", "x", "5", "m", "5 parsecs", "-", "99999999999999999999h"}},
    {"uuid",
     {"0e5b8fd4-4f0b-4b0c-9d2f-0a1b2c3d4e5f", "0E5B8FD44F0B4B0C9D2F0A1B2C3D4E5F"},
     {"zz", "", "0e5b8fd4-4f0b-4b0c-9d2f-0a1b2c3d4e5", "0e5b8fd4--4f0b-4b0c-9d2f-0a1b2c3d4e5f",
      "0e5b8fd4-4f0b-4b0c-9d2f-0a1b2c3d4e5f-"}},
    {"uuid3", {"0e5b8fd4-4f0b-3b0c-9d2f-0a1b2c3d4e5f"}, {"0e5b8fd4-4f0b-4b0c-9d2f-0a1b2c3d4e5f"}},
    {"uuid4",
     {"0e5b8fd4-4f0b-4b0c-9d2f-0a1b2c3d4e5f"},
     {"0e5b8fd4-4f0b-5b0c-9d2f-0a1b2c3d4e5f", "0e5b8fd4-4f0b-4b0c-1d2f-0a1b2c3d4e5f"}},
    {"uuid5", {"0e5b8fd4-4f0b-5b0c-9d2f-0a1b2c3d4e5f"}, {"0e5b8fd4-4f0b-4b0c-9d2f-0a1b2c3d4e5f"}},
    {"ipv4", {"1.2.3.4", "255.255.255.255", "::ffff:1.2.3.4"}, {"1.2.3", "01.2.3.4", "::1", ""}},
    {"ipv6", {"::1", "fe80::1"}, {"1.2.3.4", "::1::", "", "1:2"}},
    {"cidr", {"1.2.3.4/8", "::/0"}, {"1.2.3.4", "1.2.3.4/33", "::/129", "1.2.3.4/", "/8", "1/2/3"}},
    {"mac",
     {"01:02:03:04:05:06", "01-02-03-04-05-06-07-08", "0102.0304.0506"},
     {"01:02", "", "01:02:03:04:05:0g", "010203040506", "01:02-03:04:05:06"}},
    {"byte", {"YQ==", "YWI=", "YWJj"}, {"", "a", "YQ=", "Y===", "YQ==YQ==", "Y-=="}},
    {"uri",
     {"/x", "http://a/b?c=d", "mailto:a", "http://[::1]:80/", "*", "http://u:p@h:80", "/a b",
      "http://a"},
     {"", "x", "http://a b", "/%zz", "http://a:b/", ":x", "http://[::1", "//\x01"}},
    {"email",
     {"a@b", "a.b@c.d", "Jo <a@b>", "\"x y\"@b"},
     {"", "a", "@b", "a@", "a..b@c", "<a@b", "a b@c"}},
    {"hostname",
     {"a.bc", "a", "ab", "a-b", "a--b.example.org", "1.example"},
     {"a_b", "", "-a.bc", "a-.bc", "a.b1", "my-host", "a..bc", "a.b"}},
    {"isbn10",
     {"0-306-40615-2", "080442957X"},
     {"0306406153", "", "030640615", "030640615Y", "03064061522"}},
    {"isbn13", {"978-0-306-40615-7"}, {"9780306406158", "978030640615", "978030640615X"}},
    {"isbn", {"0306406152", "9780306406157"}, {"1"}},
    {"creditcard",
     {"4111 1111 1111 1111", "378282246310005"},
     {"4111111111111112", "", "1234567890123", "41111111111111111"}},
    {"ssn", {"111-22-3333", "111 22 3333"}, {"111223333", "111-22-333", "a11-22-3333"}},
    {"hexcolor", {"#fff", "ABCDEF"}, {"#ff", "#ggg", ""}},
    {"rgbcolor",
     {"rgb(0, 10,255)"},
     {"rgb(0,0,256)", "rgb(0,0)", "rgb(00,0,0)", "rgb", "rgb(0,0,0,0)"}},
    {"bsonobjectid", {"507f1f77bcf86cd799439011"}, {"507f", "507f1f77bcf86cd79943901z"}},
    {"password", {"", "anything"}, {NULL}},
    {"int32", {"anything"}, {NULL}}, /* not checked */
};

static void good_examples_pass(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t j = 0; j < ARRAY_LEN(cases[i].good) && cases[i].good[j]; j++)
            if (!format_ok(cases[i].format, str_of(cases[i].good[j])))
                fail_msg("%s: '%s' is good", cases[i].format, cases[i].good[j]);
}

static void bad_examples_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t j = 0; j < ARRAY_LEN(cases[i].bad) && cases[i].bad[j]; j++)
            if (format_ok(cases[i].format, str_of(cases[i].bad[j])))
                fail_msg("%s: '%s' is bad", cases[i].format, cases[i].bad[j]);
}

static void dashes_in_names_do_not_count(void **state)
{
    (void)state;
    assert_true(format_known("date-time"));
    assert_true(format_known("datetime"));
    assert_false(format_known("int32"));
    assert_false(format_known("dat"));
    assert_false(format_known(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_examples_pass),
        cmocka_unit_test(bad_examples_fail),
        cmocka_unit_test(dashes_in_names_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
