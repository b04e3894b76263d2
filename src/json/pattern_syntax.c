/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Go's regexp package would refuse in a pattern.
 *
 * One pass over the text, group by group: unbalanced brackets, repetition of nothing or of a
 * repetition, counts above a thousand, and all that Perl has and RE2 has not (look-around, back
 * references, atomic groups, possessive repetition, verbs, its further escapes).  The sentences are
 * Go's.  What is wrong inside a class beyond its escapes is left to the compiler.
 */
#include "src/json/pattern.h"

#define REPEAT_MAX 1000
#define NEST_MAX 200

struct scan {
    struct str text;
    size_t at;
    int depth;
    size_t repeat_from; /* where the last repetition began */
    bool can_repeat;    /* something stands before that can be repeated */
    bool repeated;      /* and it has been */
    struct err *e;
};

static int fail(struct scan *s, const char *what, size_t from, size_t to)
{
    return err_bad(s->e, "error parsing regexp: %s: `%.*s`", what, (int)MIN(to - from, 200),
                   s->text.p + from);
}

static char look(const struct scan *s, size_t ahead)
{
    if (s->at + ahead >= s->text.n)
        return '\0';
    return s->text.p[s->at + ahead];
}

static bool is_punct(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* \x7F, \x{10FFFF}: the digits after \x. */
static bool hex_ok(const struct scan *s, size_t ahead)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    size_t n = 0;

    if (look(s, ahead) != '{') {
        char a = look(s, ahead), b = look(s, ahead + 1);

        return a && b && strchr(digits, a) && strchr(digits, b);
    }
    for (ahead++; look(s, ahead) && strchr(digits, look(s, ahead)); ahead++)
        n++;
    return n > 0 && n <= 8 && look(s, ahead) == '}';
}

/* At a backslash.  Moves past the escape's letter; `in_class` has no assertions. */
static int escape(struct scan *s, bool in_class)
{
    static const char plain[] = "aftnrvdDsSwWpP";
    static const char assertions[] = "AbBz";
    size_t from = s->at;
    char c = look(s, 1), next = look(s, 2);
    bool ok;

    if (s->at + 1 >= s->text.n)
        return fail(s, "trailing backslash at end of expression", s->text.n, s->text.n);
    ok = is_punct(c) || strchr(plain, c) || (!in_class && strchr(assertions, c)) ||
         (c == 'x' && hex_ok(s, 2)) || c == '0' ||
         (c >= '1' && c <= '7' && next >= '0' && next <= '7') || (c == 'Q' && !in_class);
    if (!ok || c == '\0')
        return fail(s, "invalid escape sequence", from, MIN(from + 2, s->text.n));
    s->at += 2;
    if (c == 'Q')
        while (s->at < s->text.n && !(look(s, 0) == '\\' && look(s, 1) == 'E'))
            s->at++;
    if (c == 'Q' && s->at < s->text.n)
        s->at += 2;
    s->can_repeat = true;
    s->repeated = false;
    return 0;
}

/* At "[:" in a class: the length of "[:alpha:]"; of one bracket if it is nothing of the kind. */
static size_t named_class(const struct scan *s)
{
    size_t n = 2;

    while (look(s, n) >= 'a' && look(s, n) <= 'z')
        n++;
    return look(s, n) == ':' && look(s, n + 1) == ']' ? n + 2 : 1;
}

/* At '['; moves past the closing bracket. */
static int class(struct scan *s)
{
    size_t from = s->at++;
    bool first = true;

    if (look(s, 0) == '^')
        s->at++;
    for (;;) {
        if (s->at >= s->text.n)
            return fail(s, "missing closing ]", from, s->text.n);
        if (look(s, 0) == ']' && !first)
            break;
        first = false;
        if (look(s, 0) == '[' && look(s, 1) == ':') {
            s->at += named_class(s);
        } else if (look(s, 0) == '\\') {
            int r = escape(s, true);

            if (r < 0)
                return r;
        } else {
            s->at++;
        }
    }
    s->at++;
    s->can_repeat = true;
    s->repeated = false;
    return 0;
}

/* After "(?": flags, a name, or nothing that RE2 knows.  Moves past ':', '>' or ')'. */
static int group_head(struct scan *s, size_t from, bool *ret_opens)
{
    *ret_opens = true;
    if (look(s, 0) == 'P' && look(s, 1) == '<') {
        for (s->at += 2; look(s, 0) == '_' || (look(s, 0) && !is_punct(look(s, 0))); s->at++)
            continue;
        if (look(s, 0) != '>')
            return fail(s, "invalid named capture", from, s->text.n);
        s->at++;
        return 0;
    }
    while (look(s, 0) && strchr("imsU-", look(s, 0)))
        s->at++;
    if (look(s, 0) == ')') {
        s->at++;
        *ret_opens = false;
        return 0;
    }
    if (look(s, 0) != ':')
        return fail(s, "invalid or unsupported Perl syntax", from, MIN(s->at + 1, s->text.n));
    s->at++;
    return 0;
}

static int open_group(struct scan *s)
{
    size_t from = s->at++;
    bool opens = true;

    if (look(s, 0) == '?') {
        int r;

        s->at++;
        r = group_head(s, from, &opens);
        if (r < 0)
            return r;
    } else if (look(s, 0) == '*') {
        return fail(s, "missing argument to repetition operator", s->at, s->at + 1);
    }
    if (opens && ++s->depth > NEST_MAX)
        return fail(s, "expression nests too deeply", 0, s->text.n);
    s->can_repeat = false;
    s->repeated = false;
    return 0;
}

static int close_group(struct scan *s)
{
    if (--s->depth < 0)
        return fail(s, "unexpected )", 0, s->text.n);
    s->at++;
    s->can_repeat = true;
    s->repeated = false;
    return 0;
}

/* A number of at most four digits; -1: none.  Longer ones are too large anyway. */
static int count(struct scan *s)
{
    int n = -1;

    while (look(s, 0) >= '0' && look(s, 0) <= '9') {
        n = MAX(n, 0);
        n = MIN(n * 10 + (look(s, 0) - '0'), 100000);
        s->at++;
    }
    return n;
}

/* At '{': moves past a repetition and says so; anything else is a plain brace and stays. */
static bool braces(struct scan *s, int *ret_low, int *ret_high)
{
    size_t from = s->at++;
    int low = count(s), high = low;

    if (low >= 0 && look(s, 0) == ',') {
        s->at++;
        high = count(s);
    }
    if (low < 0 || look(s, 0) != '}') {
        s->at = from;
        return false;
    }
    s->at++;
    *ret_low = low;
    *ret_high = high;
    return true;
}

static int repetition(struct scan *s)
{
    size_t from = s->at;
    int low = 0, high = 0;

    if (look(s, 0) == '{') {
        if (!braces(s, &low, &high)) {
            s->at++;
            s->can_repeat = true;
            s->repeated = false;
            return 0;
        }
        if (low > REPEAT_MAX || high > REPEAT_MAX || (high >= 0 && high < low))
            return fail(s, "invalid repeat count", from, s->at);
    } else {
        s->at++;
    }
    if (look(s, 0) == '?')
        s->at++;
    if (s->repeated)
        return fail(s, "invalid nested repetition operator", s->repeat_from, s->at);
    if (!s->can_repeat)
        return fail(s, "missing argument to repetition operator", from, s->at);
    s->repeat_from = from;
    s->repeated = true;
    return 0;
}

static int step(struct scan *s)
{
    switch (look(s, 0)) {
    case '\\':
        return escape(s, false);
    case '[':
        return class(s);
    case '(':
        return open_group(s);
    case ')':
        return close_group(s);
    case '*':
    case '+':
    case '?':
    case '{':
        return repetition(s);
    case '|':
        s->at++;
        s->can_repeat = false;
        s->repeated = false;
        return 0;
    default:
        s->at++;
        s->can_repeat = true;
        s->repeated = false;
        return 0;
    }
}

int pattern_check_syntax(struct str text, struct err *e)
{
    struct scan s = {.text = text, .e = e};

    if (!str_utf8_ok(text))
        return err_bad(e, "error parsing regexp: invalid UTF-8");
    while (s.at < text.n) {
        int r = step(&s);

        if (r < 0)
            return r;
    }
    if (s.depth > 0)
        return fail(&s, "missing closing )", 0, text.n);
    return 0;
}
