/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedules of cron jobs: five fields, or a word such as @daily, or "@every 1h30m".
 *
 * A field is a list of ranges with optional steps; months and days of the week may be named.  Only
 * whether a schedule is well formed is decided here, with the sentences of the parser that
 * Kubernetes uses.
 */
#include "src/cluster/apiserver/kinds/cron.h"

#include <strings.h>

struct field {
    int64_t low, high;
    const char *const *names; /* of low, low + 1, ...; NULL: numbers only */
    size_t n_names;
};

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

static const struct field fields[] = {
    {0, 59, NULL, 0}, {0, 23, NULL, 0}, {1, 31, NULL, 0}, {1, 12, months, 12}, {0, 6, days, 7},
};

static const char *parse_number(struct arena *a, const struct field *f, struct str text,
                                int64_t *ret)
{
    uint32_t n;

    for (size_t i = 0; i < f->n_names; i++) {
        if (text.n == strlen(f->names[i]) && strncasecmp(text.p, f->names[i], text.n) == 0) {
            *ret = f->low + (int64_t)i;
            return NULL;
        }
    }
    if (str_to_u32(text, &n) < 0)
        return arena_printf(a,
                            "failed to parse int from " STR_FMT ": strconv.Atoi: parsing \"" STR_FMT
                            "\": invalid syntax",
                            STR_ARG(text), STR_ARG(text));
    *ret = n;
    return NULL;
}

/* "*", "?", "3" or "3-7" with what it covers. */
static const char *parse_span(struct arena *a, const struct field *f, struct str text,
                              int64_t *ret_from, int64_t *ret_to, bool *ret_single)
{
    size_t dash = str_find(text, '-');
    struct str from = {text.p, dash};
    struct str to = {text.p + dash + 1, text.n - dash - 1};
    const char *why;

    *ret_single = false;
    if (str_eqz(text, "*") || str_eqz(text, "?")) {
        *ret_from = f->low;
        *ret_to = f->high;
        return NULL;
    }
    why = parse_number(a, f, from, ret_from);
    if (why)
        return why;
    if (dash == text.n) {
        *ret_single = true;
        *ret_to = *ret_from;
        return NULL;
    }
    if (str_find(to, '-') < to.n)
        return arena_printf(a, "too many hyphens: " STR_FMT, STR_ARG(text));
    return parse_number(a, f, to, ret_to);
}

static const char *check_range(struct arena *a, const struct field *f, struct str text)
{
    size_t slash = str_find(text, '/');
    struct str span = {text.p, slash};
    struct str step = {text.p + slash + 1, text.n - slash - 1};
    int64_t from, to, n = 1;
    bool single;
    const char *why = parse_span(a, f, span, &from, &to, &single);

    if (why)
        return why;
    if (slash < text.n) {
        if (str_find(step, '/') < step.n)
            return arena_printf(a, "too many slashes: " STR_FMT, STR_ARG(text));
        why = parse_number(a, &(struct field){0}, step, &n);
        if (why)
            return why;
        if (single)
            to = f->high;
    }
    if (from < f->low)
        return arena_printf(a, "beginning of range (%lld) below minimum (%lld): " STR_FMT,
                            (long long)from, (long long)f->low, STR_ARG(text));
    if (to > f->high)
        return arena_printf(a, "end of range (%lld) above maximum (%lld): " STR_FMT, (long long)to,
                            (long long)f->high, STR_ARG(text));
    if (from > to)
        return arena_printf(a, "beginning of range (%lld) beyond end of range (%lld): " STR_FMT,
                            (long long)from, (long long)to, STR_ARG(text));
    if (n == 0)
        return arena_printf(a, "step of range should be a positive number: " STR_FMT,
                            STR_ARG(text));
    return NULL;
}

static const char *check_field(struct arena *a, const struct field *f, struct str text)
{
    struct str range;

    while (str_split(&text, ',', &range)) {
        const char *why = range.n > 0 ? check_range(a, f, range) : NULL;

        if (why)
            return why;
    }
    return NULL;
}

/* Go's durations: numbers with units, at least one. */
static bool duration_ok(const char *text)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "m", "h"};

    if (*text == '\0')
        return false;
    while (*text != '\0') {
        size_t digits = strspn(text, "0123456789.");
        size_t i;

        if (digits == 0)
            return false;
        text += digits;
        for (i = 0; i < ARRAY_LEN(units); i++)
            if (starts_with(text, units[i]))
                break;
        if (i == ARRAY_LEN(units))
            return false;
        text += strlen(units[i]);
    }
    return true;
}

static const char *check_word(struct arena *a, const char *text)
{
    static const char *const words[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                        "@daily",  "@midnight", "@hourly"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (streq(text, words[i]))
            return NULL;
    if (!starts_with(text, "@every "))
        return arena_printf(a, "unrecognized descriptor: %s", text);
    if (!duration_ok(text + strlen("@every ")))
        return arena_printf(a, "failed to parse duration %s: time: invalid duration \"%s\"", text,
                            text + strlen("@every "));
    return NULL;
}

const char *cron_check(struct arena *a, const char *schedule)
{
    struct str rest = str_trim(str_of(schedule));
    struct str parts[ARRAY_LEN(fields)] = {0};
    struct str part;
    size_t n = 0;

    if (rest.n > 0 && rest.p[0] == '@')
        return check_word(a, arena_str(a, rest));
    if (str_starts(rest, "TZ=") || str_starts(rest, "CRON_TZ=")) {
        if (!str_split(&rest, ' ', &part) || !rest.p)
            return "provided bad location";
    }
    while (str_split(&rest, ' ', &part)) {
        if (str_trim(part).n == 0)
            continue;
        if (n < ARRAY_LEN(parts))
            parts[n] = part;
        n++;
    }
    if (n != ARRAY_LEN(fields))
        return arena_printf(a, "expected exactly 5 fields, found %zu: [%s]", n, schedule);
    for (size_t i = 0; i < n; i++) {
        const char *why = check_field(a, &fields[i], parts[i]);

        if (why)
            return why;
    }
    return NULL;
}
