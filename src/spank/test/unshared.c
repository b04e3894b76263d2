/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the plugin of sbatch: which directories it warns of. */
#include "src/base/test/unit.h"

#include "src/base/cleanup.h"
#include "src/spank/unshared.h"

/* As /proc/self/cmdline has them, the last zero too. */
#define WORDS(text) text, sizeof(text)

static void directories_in_a_share_are_shared(void **state)
{
    char *arguments[] = {(char[]){"share=/home"}, (char[]){"other=/tmp"}, (char[]){"share=/data/"}};

    (void)state;
    assert_false(unshared_dir("/home", 3, arguments));
    assert_false(unshared_dir("/home/joe", 3, arguments));
    assert_false(unshared_dir("/data", 3, arguments));
    assert_true(unshared_dir("/homes", 3, arguments));
    assert_true(unshared_dir("/tmp", 3, arguments));
    assert_true(unshared_dir("/", 3, arguments));
    assert_true(unshared_dir("/home", 0, NULL));
}

static void the_last_chdir_counts(void **state)
{
    static const struct {
        const char *words;
        unsigned long size;
        const char *dir;
    } cases[] = {
        {WORDS("sbatch\0-D\0/a\0x.sh"), "/a"},
        {WORDS("sbatch\0--chdir=/b\0x"), "/b"},
        {WORDS("sbatch\0--chdir\0/c\0x"), "/c"},
        {WORDS("sbatch\0-D/d\0x"), "/d"},
        {WORDS("sbatch\0-D/d\0--chdir=/e\0x"), "/e"},
        {WORDS("sbatch\0x.sh\0--chdirs=/f"), NULL},
        {WORDS("sbatch\0-D"), NULL},
        {"", 0, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *dir = unshared_chdir(cases[i].words, cases[i].size);

        if (cases[i].dir)
            assert_string_equal(dir, cases[i].dir);
        else
            assert_null(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_in_a_share_are_shared),
        cmocka_unit_test(the_last_chdir_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
