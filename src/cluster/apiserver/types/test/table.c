/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the type tables' reader. */
#include "src/base/test/unit.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/types/table.h"

static void the_embedded_tables_are_sound(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    AUTO(table_done) struct table t = {0};
    struct err e = {0};
    int64_t start = clock_mono_ns();
    int r = table_read(&a, table_texts, &t, &e);

    (void)state;
    if (r < 0)
        fail_msg("%s", e.text);
    print_message("%zu types, %zu resources, %zu bytes, %ld us\n", t.n_defs, t.n_resources,
                  a.total_bytes, (long)((clock_mono_ns() - start) / 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_embedded_tables_are_sound)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
