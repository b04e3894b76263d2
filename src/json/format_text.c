/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of strings that need a little parser: times, durations, addresses on the net.
 *
 * They accept what Go's standard library accepts where the API server uses it: time.ParseDuration
 * (with the API server's own extension "2 days"), url.ParseRequestURI, mail.ParseAddress.
 */
#include <ctype.h>
#include <strings.h>

#include "src/json/format.h"

static bool digits(struct str s, size_t from, size_t n, int *ret)
{
    int v = 0;

    if (from + n > s.n)
        return false;
    for (size_t i = from; i < from + n; i++) {
        if (!isdigit((unsigned char)s.p[i]))
            return false;
        v = v * 10 + (s.p[i] - '0');
    }
    *ret = v;
    return true;
}

bool format_date(struct str s)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int y, m, d, last;

    if (s.n != 10 || s.p[4] != '-' || s.p[7] != '-' || !digits(s, 0, 4, &y) ||
        !digits(s, 5, 2, &m) || !digits(s, 8, 2, &d) || m < 1 || m > 12)
        return false;
    last = days[m - 1] + (m == 2 && y % 4 == 0 && (y % 100 || y % 400 == 0));
    return d >= 1 && d <= last;
}

/* "+01:00", "-07:30", "z". */
static bool zone(struct str s)
{
    int h, m;

    if (s.n == 1)
        return s.p[0] == 'z' || s.p[0] == 'Z';
    return s.n == 6 && (s.p[0] == '+' || s.p[0] == '-') && s.p[3] == ':' && digits(s, 1, 2, &h) &&
           digits(s, 4, 2, &m);
}

bool format_date_time(struct str s)
{
    int h, m, sec;
    size_t at = 19;

    if (s.n < 20 || (s.p[10] != 'T' && s.p[10] != 't') || !format_date((struct str){s.p, 10}) ||
        s.p[13] != ':' || s.p[16] != ':' || !digits(s, 11, 2, &h) || !digits(s, 14, 2, &m) ||
        !digits(s, 17, 2, &sec) || h > 23 || m > 59 || sec > 59)
        return false;
    if (s.p[at] == '.') {
        size_t from = ++at;

        while (at < s.n && isdigit((unsigned char)s.p[at]))
            at++;
        if (at == from)
            return false;
    }
    return zone((struct str){s.p + at, s.n - at});
}

/* The unit at the start of a Go duration: its length, 0 if there is none. */
static size_t go_unit(struct str s)
{
    static const char *const units[] = {"ns", "us", "\xc2\xb5s", "\xce\xbcs", "ms", "s", "m", "h"};
    size_t best = 0;

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_starts(s, units[i]) && strlen(units[i]) > best)
            best = strlen(units[i]);
    return best;
}

/* "1h30m", "-1.5h", "0". */
static bool go_duration(struct str s)
{
    size_t at = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+');

    if (s.n - at == 1 && s.p[at] == '0')
        return true;
    if (at == s.n)
        return false;
    while (at < s.n) {
        size_t n_digits = 0, unit;

        for (; at < s.n && (isdigit((unsigned char)s.p[at]) || s.p[at] == '.'); at++)
            n_digits += s.p[at] != '.';
        unit = go_unit((struct str){s.p + at, s.n - at});
        if (n_digits == 0 || n_digits > 18 || unit == 0)
            return false;
        at += unit;
    }
    return true;
}

/* "2 days", "3hr": words by which units begin, and short ones that stand alone. */
static bool word_unit(struct str s)
{
    static const char *const prefixes[] = {"nano", "micro", "milli", "sec",
                                           "min",  "hour",  "day",   "week"};
    static const char *const whole[] = {"ns", "us", "\xc2\xb5s", "ms", "s", "m",
                                        "h",  "hr", "d",         "w",  "wk"};

    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (s.n >= strlen(prefixes[i]) && !strncasecmp(s.p, prefixes[i], strlen(prefixes[i])))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        if (str_eq_nocase(s, str_of(whole[i])))
            return true;
    return false;
}

static bool unit_char(struct str s, size_t at)
{
    return isalpha((unsigned char)s.p[at]) || s.p[at] == '\xc2' || s.p[at] == '\xb5';
}

bool format_duration(struct str s)
{
    size_t at = 0;
    bool found = false;

    if (go_duration(s))
        return true;
    while (at < s.n) {
        size_t from = at, word;

        while (at < s.n && isdigit((unsigned char)s.p[at]))
            at++;
        if (at == from) {
            at++;
            continue;
        }
        if (at - from > 18)
            return false;
        while (at < s.n && isspace((unsigned char)s.p[at]))
            at++;
        for (word = at; at < s.n && unit_char(s, at); at++)
            continue;
        found = found || word_unit((struct str){s.p + word, at - word});
    }
    return found;
}

/* Valid %XX sequences only. */
static bool escapes_ok(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '%' && (i + 2 >= s.n || !isxdigit((unsigned char)s.p[i + 1]) ||
                              !isxdigit((unsigned char)s.p[i + 2])))
            return false;
    return true;
}

static bool port_ok(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isdigit((unsigned char)s.p[i]))
            return false;
    return true;
}

/* user@host:port, the host a name or an address in brackets. */
static bool authority_ok(struct str s)
{
    const char *at = memrchr(s.p, '@', s.n);
    size_t colon;

    if (at)
        s = (struct str){at + 1, s.n - (size_t)(at + 1 - s.p)};
    for (size_t i = 0; i < s.n; i++)
        if (!isalnum((unsigned char)s.p[i]) && (unsigned char)s.p[i] < 0x80 &&
            !strchr("-_.~!$&'()*+,;=:[]<>\"%", s.p[i]))
            return false;
    if (s.n > 0 && s.p[0] == '[') {
        size_t close = str_find(s, ']');

        return close < s.n &&
               (close + 1 == s.n ||
                (s.p[close + 1] == ':' && port_ok((struct str){s.p + close + 2, s.n - close - 2})));
    }
    colon = str_find(s, ':');
    return colon == s.n || port_ok((struct str){s.p + colon + 1, s.n - colon - 1});
}

/* Length of "scheme:", 0 if the text has none. */
static size_t scheme_length(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ':')
            return i > 0 ? i + 1 : 0;
        if (!isalpha((unsigned char)s.p[i]) &&
            !(i > 0 && (isdigit((unsigned char)s.p[i]) || strchr("+-.", s.p[i]))))
            return 0;
    }
    return 0;
}

bool format_uri(struct str s)
{
    size_t scheme = scheme_length(s), end;

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return false;
    if (str_eq(s, STR("*")))
        return true;
    s = (struct str){s.p + scheme, s.n - scheme};
    if (!str_starts(s, "/"))
        return scheme > 0;
    if (scheme && str_starts(s, "//")) {
        s = (struct str){s.p + 2, s.n - 2};
        for (end = 0; end < s.n && !strchr("/?", s.p[end]); end++)
            continue;
        if (!authority_ok((struct str){s.p, end}))
            return false;
        s = (struct str){s.p + end, s.n - end};
    }
    end = str_find(s, '?');
    return escapes_ok((struct str){s.p, end});
}

static bool atom_char(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 ||
           (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

/* "a.b.c", none of the parts empty. */
static bool dot_atom(struct str s)
{
    struct str part;

    if (s.n == 0)
        return false;
    while (str_split(&s, '.', &part)) {
        if (part.n == 0)
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!atom_char(part.p[i]))
                return false;
    }
    return true;
}

static bool quoted(struct str s)
{
    if (s.n < 3 || s.p[0] != '"' || s.p[s.n - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < s.n; i++) {
        if (s.p[i] == '"')
            return false;
        if (s.p[i] == '\\')
            i++;
        if (i + 1 >= s.n)
            return false;
    }
    return true;
}

bool format_email(struct str s)
{
    const char *at;

    s = str_trim(s);
    if (s.n > 0 && s.p[s.n - 1] == '>') {
        const char *open = memrchr(s.p, '<', s.n);

        if (!open)
            return false;
        s = (struct str){open + 1, (size_t)(s.p + s.n - 2 - open)};
    }
    at = s.n ? memrchr(s.p, '@', s.n) : NULL;
    if (!at)
        return false;
    return (dot_atom((struct str){s.p, (size_t)(at - s.p)}) ||
            quoted((struct str){s.p, (size_t)(at - s.p)})) &&
           dot_atom((struct str){at + 1, (size_t)(s.p + s.n - at - 1)});
}

/* Letters, digits and symbols; everything beyond ASCII passes as one of these. */
static bool host_char(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("$+<=>^`|~", c));
}

/* One label without a dot: at most one dash, and that after the first character. */
static bool host_single(struct str s)
{
    size_t at = 1;

    if (s.n == 0 || !host_char(s.p[0]))
        return false;
    if (at < s.n && s.p[at] == '-')
        at++;
    if (s.n - at > 62)
        return false;
    for (; at < s.n; at++)
        if (!host_char(s.p[at]))
            return false;
    return true;
}

static bool host_label(struct str s)
{
    if (s.n == 0 || s.n > 63 || !host_char(s.p[0]) || !host_char(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!host_char(s.p[i]) && s.p[i] != '-')
            return false;
    return true;
}

static bool host_top(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalpha((unsigned char)s.p[i]) && (unsigned char)s.p[i] < 0x80)
            return false;
    return s.n >= 2 && s.n <= 63;
}

bool format_hostname(struct str s)
{
    struct str label;

    if (s.n > 255)
        return false;
    if (str_find(s, '.') == s.n)
        return s.n <= 63 && host_single(s);
    while (str_split(&s, '.', &label))
        if (s.p ? !host_label(label) : !host_top(label))
            return false;
    return true;
}
