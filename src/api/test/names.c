/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the forms of names. */
#include "src/base/test/unit.h"

#include "src/api/names.h"

static void names_have_forms(void **state)
{
    static const struct {
        const char *name;
        bool label, subdomain, prefix, key, cluster;
    } cases[] = {
        {"a", true, true, true, true, true},
        {"a-1", true, true, true, true, true},
        {"1a", true, true, true, true, true},
        {"", false, false, false, false, false},
        {"-", false, false, false, true, false},
        {"a-", false, false, true, true, true},
        {"-a", false, false, false, true, false},
        {"a.b", false, true, false, true, true},
        {"a..b", false, false, false, true, true},
        {"..a", false, false, false, false, false},
        {".", false, false, false, false, false},
        {"A", false, false, false, true, true},
        {"a_b", false, false, false, true, true},
        {"a/b", false, false, false, false, false},
        {"a b", false, false, false, false, false},
        {"a23456789012345678901234567890123456789012345678901234567890123", true, true, true, true,
         true},
        {"a234567890123456789012345678901234567890123456789012345678901234", false, true, false,
         true, true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str s = str_of(cases[i].name);

        assert_int_equal(!name_label_fault(s), cases[i].label);
        assert_int_equal(!name_subdomain_fault(s), cases[i].subdomain);
        assert_int_equal(!name_prefix_fault(s), cases[i].prefix);
        assert_int_equal(!name_key_fault(s), cases[i].key);
        assert_int_equal(!name_cluster_fault(s), cases[i].cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
