/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what the parser is shown. */
#include "src/base/test/unit.h"

#include "src/agent/parse_text.h"

static void only_new_lines_of_partitions_are_shown(void **state)
{
    static const struct {
        const char *known, *text, *want;
    } cases[] = {
        {"A=1\nPartitionName=a X\nPartitionName=b\n", "A=1\nPartitionName=a Y\nPartitionName=b\n",
         "A=1\nPartitionName=a Y\n#\n"},
        {"PartitionName=a", "PartitionName=a", "#"},
        {"", "PartitionName=a\n", "PartitionName=a\n"},
        {"PartitionName=a\n", "", ""},
        /* other lines are always shown */
        {"A=1\nNodeName=n\n", "A=1\nNodeName=n\n", "A=1\nNodeName=n\n"},
        /* the defaults may have changed for all */
        {"PartitionName=a\n", "PartitionName=DEFAULT X\nPartitionName=a\n",
         "PartitionName=DEFAULT X\nPartitionName=a\n"},
        {" partitionname=default X\nPartitionName=a\n", "PartitionName=a\n", "PartitionName=a\n"},
        {"PartitionName=a\n", "Include more\nPartitionName=a\n", "Include more\nPartitionName=a\n"},
        {"PartitionName=a\n", "PartitionName = DEFAULT\nPartitionName=a\n",
         "PartitionName = DEFAULT\nPartitionName=a\n"},
        /* a line that is continued, or continues another */
        {"PartitionName=a \\\n X\n", "PartitionName=a \\\n X\n", "PartitionName=a \\\n X\n"},
        {"PartitionName=a\n", "A=1 \\\nPartitionName=a\n", "A=1 \\\nPartitionName=a\n"},
        {"A=1 \\\nPartitionName=a\n", "PartitionName=a\n", "PartitionName=a\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(buf_done) struct buf b = {0};

        parse_text_new(str_of(cases[i].text), str_of(cases[i].known), &b);
        assert_string_equal(buf_str(&b), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_new_lines_of_partitions_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
