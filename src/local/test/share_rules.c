/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of what may be shared. */
#include "src/base/test/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/alloc.h"
#include "src/base/arena.h"
#include "src/base/file.h"
#include "src/local/share_rules.h"

struct rule {
    const char *state;
    const char *shares[3];
    const char *words; /* of the refusal; NULL: taken */
};

static const struct rule rules[] = {
    {"var/state", {"data", "home"}, NULL},
    {"var/state", {"data", "data/in"}, NULL},
    {"var/state", {"link-to-data"}, NULL},
    {"var/state", {"data", "link-to-data"}, NULL},
    {"data/state", {"data"}, "lies in"},
    {"data/a/state", {"home", "data"}, "lies in"},
    {"data/a/state", {"link-to-data"}, "lies in"},
    {"into-data/state", {"data"}, "lies in"},
    {"var/state", {"var/state"}, "lies in"},
    {"var/state", {"var/state/clients"}, "is not shared"},
    {"var/state", {"data", "data/out"}, "leads out of it"},
    {"var/state", {"data", "into-data"}, "leads through"},
    {"var/state", {"into-data", "data"}, "leads through"},
    {"var/state", {"data", "through-data"}, "leads through"},
};

static void make_tree(struct arena *a, const char *top)
{
    static const char *const links[][2] = {{"data", "link-to-data"},
                                           {"data/in", "into-data"},
                                           {"../home", "data/out"},
                                           {"data/out", "through-data"}};
    static const char *const dirs[] = {"data/in", "data/a", "home", "var/state/clients"};

    for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
        assert_int_equal(file_make_dirs(arena_printf(a, "%s/%s", top, dirs[i]), 0755, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(links); i++)
        assert_int_equal(symlink(links[i][0], arena_printf(a, "%s/%s", top, links[i][1])), 0);
}

static void no_path_that_root_follows_leads_through_a_share(void **state)
{
    AUTO(arena_done) struct arena a = {0};
    char made[] = "/tmp/sk-rules-XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(made));
    make_tree(&a, made);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        char *shares[4] = {NULL};
        struct err e = {0};
        int r;

        for (size_t k = 0; k < 3 && rules[i].shares[k]; k++)
            shares[k] = arena_printf(&a, "%s/%s", made, rules[i].shares[k]);
        r = share_rules_check(arena_printf(&a, "%s/%s", made, rules[i].state), shares, &e);
        if (rules[i].words ? r == 0 || !strstr(e.text, rules[i].words) : r < 0)
            fail_msg("row %zu: %s", i, r < 0 ? e.text : "taken");
    }
    assert_int_equal(share_rules_check("/x", NULL, NULL), 0);
    assert_int_equal(file_remove_tree(made, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_path_that_root_follows_leads_through_a_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
