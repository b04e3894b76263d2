/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of patterns: Go's syntax, its refusals, and bounded work. */
#include "src/base/test/unit.h"

#include "src/base/alloc.h"
#include "src/json/pattern.h"

static int match(const char *pattern, struct str subject)
{
    AUTO(pattern_free) struct pattern *p = NULL;
    struct pattern_budget budget = {PATTERN_BUDGET_STEPS};
    struct err e = {0};

    if (pattern_compile(pattern, &p, &e) < 0)
        fail_msg("%s: %s", pattern, e.text);
    return pattern_match(p, subject, &budget);
}

static void patterns_match_as_in_go(void **state)
{
    static const struct {
        const char *pattern;
        const char *subject;
        int matches;
    } cases[] = {
        {"^[a-z]+$", "abc", 1},
        {"^[a-z]+$", "abC", 0},
        {"^[a-z]+$", "abc\n", 0}, /* $ is the end of the text, not of the line */
        {"(?m)^b$", "a\nb\nc", 1},
        {"b", "abc", 1}, /* anywhere */
        {"^\\d{1,3}(\\.\\d{1,3}){3}$", "10.0.0.1", 1},
        {"^.$", "\n", 0},
        {"(?s)^.$", "\n", 1},
        {"(?i)^AB$", "aB", 1},
        {"^(?P<unit>[0-9]+(Ki|Mi|Gi))$", "12Mi", 1},
        {"^.{2}$", "\xc3\xbc\xc3\xbc", 1},
        {"^\\pL+$", "\xc3\xbc", 1},
        {"^\\Qa.b\\E$", "a.b", 1},
        {"^\\Qa.b\\E$", "axb", 0},
        {"^[]a]+$", "]a", 1},
        {"^[[:alpha:](]+$", "a(b", 1},
        {"^a{2}$", "aa", 1},
        {"^a{,2}$", "a{,2}", 1}, /* not a repetition */
        {"^\\x41\\x{42}$", "AB", 1},
        {"", "anything", 1},
        {"^[^/]*$", "", 1},
        {"^a+?b*?$", "aab", 1},
        {"\\bfoo\\b", "a foo b", 1},
        {"^\\/$", "/", 1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (match(cases[i].pattern, str_of(cases[i].subject)) != cases[i].matches)
            fail_msg("%s on %s", cases[i].pattern, cases[i].subject);
}

static void what_go_refuses_is_refused_in_its_words(void **state)
{
    static const char *const cases[][2] = {
        {"(a", "missing closing ): `(a`"},
        {"a)", "unexpected ): `a)`"},
        {"[a", "missing closing ]: `[a`"},
        {"*", "missing argument to repetition operator: `*`"},
        {"a|*", "missing argument to repetition operator: `*`"},
        {"(*ACCEPT)", "missing argument to repetition operator: `*`"},
        {"a**", "invalid nested repetition operator: `**`"},
        {"a++", "invalid nested repetition operator: `++`"},
        {"a{2}{3}", "invalid nested repetition operator: `{2}{3}`"},
        {"a{1001}", "invalid repeat count: `{1001}`"},
        {"a{3,2}", "invalid repeat count: `{3,2}`"},
        {"(?=a)", "invalid or unsupported Perl syntax: `(?=`"},
        {"(?!a)", "invalid or unsupported Perl syntax: `(?!`"},
        {"(?<=a)", "invalid or unsupported Perl syntax: `(?<`"},
        {"(?>a)", "invalid or unsupported Perl syntax: `(?>`"},
        {"(?R)", "invalid or unsupported Perl syntax: `(?R`"},
        {"(?P<a", "invalid named capture: `(?P<a`"},
        {"(a)\\1", "invalid escape sequence: `\\1`"},
        {"\\K", "invalid escape sequence: `\\K`"},
        {"[\\b]", "invalid escape sequence: `\\b`"},
        {"\\x{}", "invalid escape sequence: `\\x`"},
        {"a\\", "trailing backslash at end of expression: ``"},
        {"[z-a]", "invalid character class range: `[z-a]`"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(free) char *want = xasprintf("error parsing regexp: %s", cases[i][1]);
        struct pattern *p = NULL;
        struct err e = {0};

        assert_int_equal(pattern_compile(cases[i][0], &p, &e), -EINVAL);
        assert_string_equal(e.text, want);
    }
}

static void deep_nesting_is_refused(void **state)
{
    char text[1000];
    struct pattern *p;
    struct err e = {0};

    (void)state;
    memset(text, '(', 400);
    memset(text + 400, ')', 400);
    text[800] = '\0';
    assert_int_equal(pattern_compile(text, &p, &e), -EINVAL);
}

static void endless_matching_ends(void **state)
{
    AUTO(pattern_free) struct pattern *p = NULL;
    struct pattern_budget budget = {3000000};
    struct err e = {0};
    char subject[64];
    int n = 0;

    (void)state;
    memset(subject, 'a', sizeof(subject));
    assert_int_equal(pattern_compile("^(a|a)*$", &p, &e), 0);
    assert_int_equal(pattern_match(p, (struct str){subject, 40}, &budget), 1);
    subject[60] = 'b';
    while (pattern_match(p, (struct str){subject, sizeof(subject)}, &budget) == -E2BIG && n < 100)
        n++;
    assert_int_equal(n, 100); /* never a wrong answer, and never more than the budget */
    assert_true(budget.steps < 3000000);
}

static void a_long_subject_is_no_problem(void **state)
{
    AUTO(free) char *subject = xmalloc(1 << 20);

    (void)state;
    memset(subject, 'a', 1 << 20);
    assert_int_equal(match("^[a-z]+$", (struct str){subject, 1 << 20}), 1);
    assert_int_equal(match("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", (struct str){subject, 1 << 20}), 1);
}

static void the_cache_gives_the_same_pattern_again(void **state)
{
    AUTO(pattern_cache_free) struct pattern_cache *c = pattern_cache_new();
    struct err e = {0};
    const struct pattern *p = pattern_cached(c, "^a$", &e);

    (void)state;
    assert_non_null(p);
    assert_ptr_equal(pattern_cached(c, "^a$", &e), p);
    assert_null(pattern_cached(c, "(", &e));
    for (int i = 0; i < 2500; i++) {
        AUTO(free) char *text = xasprintf("^%d$", i);

        assert_non_null(pattern_cached(c, text, &e));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_go),
        cmocka_unit_test(what_go_refuses_is_refused_in_its_words),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(endless_matching_ends),
        cmocka_unit_test(a_long_subject_is_no_problem),
        cmocka_unit_test(the_cache_gives_the_same_pattern_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
