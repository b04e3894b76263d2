/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that are numbers: counts, times, shares, preemption modes, log levels, ports.
 *
 * Slurm reads counts with strtoul in base 0, so 010 is eight and 0x10 sixteen; times in six forms
 * (min, min:sec, h:m:s, d-h, d-h:m, d-h:m:s), rounded up where minutes are wanted.  Blanks and
 * signs before a number, which strtoul would skip, are refused here as Slurm refuses the sign.
 */
#include <ctype.h>

#include "src/slurm/value_impl.h"

static bool is_infinite(struct str text)
{
    return str_eq_nocase(text, STR("INFINITE")) || str_eq_nocase(text, STR("UNLIMITED"));
}

static int digit_of(char c, unsigned base)
{
    int d = str_hex_digit(c);

    return d < (int)base ? d : -1;
}

int value_parse_number(struct str text, uint64_t max, bool suffix_k, uint64_t *ret)
{
    unsigned base = 10;
    uint64_t v = 0;

    if (is_infinite(text)) {
        *ret = VALUE_INFINITE;
        return 0;
    }
    if (suffix_k && text.n > 1 && (text.p[text.n - 1] == 'k' || text.p[text.n - 1] == 'K'))
        text.n--;
    else
        suffix_k = false;
    if (text.n > 2 && text.p[0] == '0' && (text.p[1] == 'x' || text.p[1] == 'X')) {
        base = 16;
        text = (struct str){text.p + 2, text.n - 2};
    } else if (text.n > 1 && text.p[0] == '0') {
        base = 8;
    }
    if (text.n == 0)
        return -EINVAL;
    for (size_t i = 0; i < text.n; i++) {
        int d = digit_of(text.p[i], base);

        if (d < 0)
            return -EINVAL;
        if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, (unsigned)d, &v))
            return -ERANGE;
    }
    if (suffix_k && __builtin_mul_overflow(v, 1024U, &v))
        return -ERANGE;
    if (v > max)
        return -ERANGE;
    /* the largest number of a width is how Slurm stores INFINITE */
    *ret = v == max ? VALUE_INFINITE : v;
    return 0;
}

/* Numbers of a time with their separators; false if the form is none of the six. */
static bool time_split(struct str text, uint64_t parts[4], unsigned *ret_n, bool *ret_days)
{
    unsigned n = 0;
    unsigned colons = 0;
    size_t i = 0;

    *ret_days = false;
    while (n < 4) {
        size_t start = i;

        while (i < text.n && isdigit((unsigned char)text.p[i]))
            i++;
        if (str_to_u64((struct str){text.p + start, i - start}, &parts[n]) < 0 ||
            parts[n] > UINT32_MAX)
            return false;
        n++;
        if (i == text.n) {
            *ret_n = n;
            return true;
        }
        if (text.p[i] == '-' && n == 1)
            *ret_days = true;
        else if (text.p[i] == ':')
            colons++;
        else
            return false;
        if (colons > 2)
            return false;
        i++;
    }
    return false;
}

int value_parse_time(struct str text, uint64_t *ret_seconds)
{
    uint64_t parts[4] = {0};
    uint64_t seconds;
    unsigned n;
    bool days;

    if (is_infinite(text) || str_eq(text, STR("-1"))) {
        *ret_seconds = VALUE_INFINITE;
        return 0;
    }
    if (!time_split(text, parts, &n, &days))
        return -EINVAL;
    if (days)
        seconds = parts[0] * 86400 + parts[1] * 3600 + parts[2] * 60 + parts[3];
    else if (n == 3)
        seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    else
        seconds = parts[0] * 60 + parts[1];
    if (seconds > INT32_MAX)
        return -ERANGE;
    *ret_seconds = seconds;
    return 0;
}

void value_print_time(uint64_t seconds, struct buf *out)
{
    uint64_t days = seconds / 86400;

    if (seconds == VALUE_INFINITE) {
        buf_adds(out, "UNLIMITED");
        return;
    }
    if (days > 0)
        buf_printf(out, "%llu-", (unsigned long long)days);
    buf_printf(out, "%02u:%02u:%02u", (unsigned)(seconds / 3600 % 24),
               (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}

/* "YES:4": the count after the colon, at least `least`; without one it is 4. */
static int share_count(struct str text, size_t word, uint64_t least, uint64_t *ret)
{
    uint64_t n = 4;

    if (text.n > word) {
        if (text.p[word] != ':' ||
            str_to_u64((struct str){text.p + word + 1, text.n - word - 1}, &n) < 0 || n < least ||
            n >= VALUE_SHARE_FORCE)
            return -EINVAL;
    }
    *ret = n;
    return 0;
}

int value_parse_share(struct str text, uint64_t *ret)
{
    int r;

    if (str_eq_nocase(text, STR("NO"))) {
        *ret = 1;
        return 0;
    }
    if (str_eq_nocase(text, STR("EXCLUSIVE"))) {
        *ret = 0;
        return 0;
    }
    if (str_eq_nocase((struct str){text.p, MIN(text.n, (size_t)3)}, STR("YES")))
        return share_count(text, 3, 2, ret);
    if (!str_eq_nocase((struct str){text.p, MIN(text.n, (size_t)5)}, STR("FORCE")))
        return -EINVAL;
    r = share_count(text, 5, 1, ret);
    if (r == 0)
        *ret |= VALUE_SHARE_FORCE;
    return r;
}

void value_print_share(uint64_t share, struct buf *out)
{
    if (share == 0)
        buf_adds(out, "EXCLUSIVE");
    else if (share & VALUE_SHARE_FORCE)
        buf_printf(out, "FORCE:%u", (unsigned)(share & ~(uint64_t)VALUE_SHARE_FORCE));
    else if (share == 1)
        buf_adds(out, "NO");
    else
        buf_printf(out, "YES:%u", (unsigned)share);
}

static const struct {
    const char *word;
    unsigned bits;
    bool mode; /* of these only one may be given */
} preempt_words[] = {
    {"OFF", 0, true},
    {"CLUSTER", 0, true},
    {"CANCEL", VALUE_PREEMPT_CANCEL, true},
    {"REQUEUE", VALUE_PREEMPT_REQUEUE, true},
    {"SUSPEND", VALUE_PREEMPT_SUSPEND, true},
    {"ON", VALUE_PREEMPT_SUSPEND, true},
    {"GANG", VALUE_PREEMPT_GANG, false},
    {"WITHIN", VALUE_PREEMPT_WITHIN, false},
    {"PRIORITY", VALUE_PREEMPT_PRIORITY, false},
};

int value_parse_preempt(struct str text, uint64_t *ret)
{
    unsigned modes = 0;
    uint64_t bits = 0;
    struct str word;

    while (str_split(&text, ',', &word)) {
        size_t i = 0;

        while (i < ARRAY_LEN(preempt_words) && !str_eq_nocase(word, str_of(preempt_words[i].word)))
            i++;
        if (i == ARRAY_LEN(preempt_words))
            return -EINVAL;
        bits |= preempt_words[i].bits;
        modes += preempt_words[i].mode;
    }
    if (modes > 1 ||
        ((bits & VALUE_PREEMPT_GANG) && (bits & (VALUE_PREEMPT_WITHIN | VALUE_PREEMPT_PRIORITY))))
        return -EINVAL;
    *ret = bits;
    return 0;
}

void value_print_preempt(uint64_t mode, struct buf *out)
{
    const char *sep = "";

    if (mode == 0)
        buf_adds(out, "OFF");
    for (size_t i = 0; i < ARRAY_LEN(preempt_words); i++)
        if ((mode & preempt_words[i].bits) && !streq(preempt_words[i].word, "ON")) {
            buf_printf(out, "%s%s", sep, preempt_words[i].word);
            sep = ",";
        }
}

int value_parse_loglevel(struct str text, uint64_t *ret)
{
    static const char *const names[] = {"quiet", "fatal",  "error",  "info",   "verbose",
                                        "debug", "debug2", "debug3", "debug4", "debug5"};

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(text, str_of(names[i]))) {
            *ret = i;
            return 0;
        }
    if (str_to_u64(text, ret) < 0)
        return -EINVAL;
    *ret = MIN(*ret, (uint64_t)ARRAY_LEN(names) - 1);
    return 0;
}

int value_parse_ports(struct str text, uint32_t *ret_first, uint32_t *ret_last)
{
    struct str first = {text.p, str_find(text, '-')};
    uint32_t a;
    uint32_t b;

    if (str_to_u32(first, &a) < 0)
        return -EINVAL;
    b = a;
    if (first.n < text.n &&
        (str_to_u32((struct str){text.p + first.n + 1, text.n - first.n - 1}, &b) < 0 || b <= a))
        return -EINVAL;
    if (a == 0 || b > 65535)
        return -ERANGE;
    *ret_first = a;
    *ret_last = b;
    return 0;
}
