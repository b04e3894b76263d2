/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the command line: what is taken, what is refused, and what is said then. */
#include "src/cli/test/run.h"

static void what_is_wrong_is_said_in_a_sentence(void **state)
{
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {
        {"fly", "slurmkeeper: there is no verb 'fly'; 'slurmkeeper help' lists them\n"},
        {"crds --plane", "slurmkeeper: crds: there is no option --plane; did you mean --plain?\n"},
        {"crds --x", "slurmkeeper: crds: there is no option --x; see 'slurmkeeper crds --help'\n"},
        {"crds --plain=1", "slurmkeeper: crds: --plain takes no value\n"},
        {"crds --plain --plain", "slurmkeeper: crds: --plain is given twice\n"},
        {"crds --directory", "slurmkeeper: crds: --directory needs a value (DIR)\n"},
        {"crds -p",
         "slurmkeeper: crds: options are written in full (--help lists them), not '-p'\n"},
        {"version now",
         "slurmkeeper: version: unexpected 'now'; see 'slurmkeeper version --help'\n"},
        {"render -f", "slurmkeeper: render: -f needs a value (FILE)\n"},
        {"apiserver --history 0",
         "slurmkeeper: apiserver: --history: '0' is not a number from 1 to 86400\n"},
        {"operator --cgroup v3",
         "slurmkeeper: operator: --cgroup: 'v3' is none of v2, v1, hybrid, none, auto\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(run_done) struct run r = run_of(cases[i].line);

        assert_string_equal(r.err, cases[i].says);
        assert_string_equal(r.out, "");
        assert_int_equal(r.status, 2);
    }
}

static void without_a_verb_the_verbs_are_listed(void **state)
{
    AUTO(run_done) struct run bare = run_of("");
    AUTO(run_done) struct run asked = run_of("--help");

    (void)state;
    assert_int_equal(bare.status, 2);
    assert_string_equal(bare.out, "");
    assert_int_equal(asked.status, 0);
    assert_string_equal(asked.err, "");
    assert_string_equal(asked.out, bare.err);
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        assert_non_null(strstr(asked.out, v->summary));
}

static void help_can_be_asked_for_in_every_way(void **state)
{
    static const char *const lines[] = {"help crds", "crds --help", "crds -h", "crds Foo --help"};
    AUTO(run_done) struct run first = run_of(lines[0]);

    (void)state;
    assert_non_null(strstr(first.out, "--directory"));
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        AUTO(run_done) struct run r = run_of(lines[i]);

        assert_int_equal(r.status, 0);
        assert_string_equal(r.out, first.out);
    }
}

static void operands_may_begin_with_a_dash(void **state)
{
    AUTO(run_done) struct run r = run_of("crds -- --plain");

    (void)state;
    assert_int_equal(r.status, 2);
    assert_non_null(strstr(r.err, "'--plain' is not a kind of ours"));
}

static void the_version_is_printed(void **state)
{
    AUTO(run_done) struct run verb = run_of("version");
    AUTO(run_done) struct run option = run_of("--version");

    (void)state;
    assert_non_null(strstr(verb.out, SLURMKEEPER_VERSION));
    assert_string_equal(verb.out, option.out);
    assert_int_equal(verb.status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_said_in_a_sentence),
        cmocka_unit_test(without_a_verb_the_verbs_are_listed),
        cmocka_unit_test(help_can_be_asked_for_in_every_way),
        cmocka_unit_test(operands_may_begin_with_a_dash),
        cmocka_unit_test(the_version_is_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
