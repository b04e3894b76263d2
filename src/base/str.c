/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * String views.
 *
 * Parsing code works on views of the input instead of copies; nothing here allocates but str_dup.
 * Numbers go through the three functions at the end and nowhere else: the C library's own accept
 * leading blanks and trailing rubbish, and report overflow in a way that is easily missed.
 */
#include "src/base/str.h"

#include <ctype.h>
#include <strings.h>

#include "src/base/alloc.h"

bool streq(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0;
}

bool str_eq_nocase(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

bool str_starts(struct str s, const char *prefix)
{
    size_t n = strlen(prefix);

    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool str_ends(struct str s, const char *suffix)
{
    size_t n = strlen(suffix);

    return s.n >= n && memcmp(s.p + s.n - n, suffix, n) == 0;
}

bool starts_with(const char *s, const char *prefix)
{
    return str_starts(str_of(s), prefix);
}

bool ends_with(const char *s, const char *suffix)
{
    return str_ends(str_of(s), suffix);
}

int str_cmp(struct str a, struct str b)
{
    size_t n = MIN(a.n, b.n);
    int r = n ? memcmp(a.p, b.p, n) : 0;

    if (r != 0)
        return r;
    return a.n < b.n ? -1 : a.n > b.n;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.n > 0 && is_blank(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

size_t str_find(struct str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : s.n;
}

bool str_split(struct str *s, char sep, struct str *head)
{
    size_t at;

    if (!s->p)
        return false;
    at = str_find(*s, sep);
    *head = (struct str){s->p, at};
    if (at == s->n)
        *s = (struct str){NULL, 0};
    else
        *s = (struct str){s->p + at + 1, s->n - at - 1};
    return true;
}

char *str_dup(struct str s)
{
    char *p = xmalloc(s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

int str_to_u64(struct str s, uint64_t *ret_value)
{
    uint64_t v = 0;

    if (s.n == 0)
        return -EINVAL;
    for (size_t i = 0; i < s.n; i++) {
        if (!isdigit((unsigned char)s.p[i]))
            return -EINVAL;
        if (__builtin_mul_overflow(v, 10U, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return -ERANGE;
    }
    *ret_value = v;
    return 0;
}

int str_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

size_t str_put_utf8(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

int str_to_u32(struct str s, uint32_t *ret_value)
{
    uint64_t v;
    int r = str_to_u64(s, &v);

    if (r < 0)
        return r;
    if (v > UINT32_MAX)
        return -ERANGE;
    *ret_value = (uint32_t)v;
    return 0;
}

int str_to_i64(struct str s, int64_t *ret_value)
{
    bool negative = s.n > 0 && s.p[0] == '-';
    uint64_t v;
    int r;

    if (negative)
        s = (struct str){s.p + 1, s.n - 1};
    r = str_to_u64(s, &v);
    if (r < 0)
        return r;
    if (v > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return -ERANGE;
    *ret_value = negative ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}

/* Length of the valid sequence at p, or 0. */
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c;
    size_t len;

    if (p[0] < 0x80)
        return 1;
    len = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || len > n)
        return 0;
    c = p[0] & (0x7FU >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3F);
    }
    if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    return len;
}

bool str_utf8_ok(struct str s)
{
    size_t i = 0;

    while (i < s.n) {
        uint64_t eight;
        size_t len;

        /* Most text is ASCII, and eight characters at a time show that. */
        while (s.n - i >= sizeof(eight)) {
            memcpy(&eight, s.p + i, sizeof(eight));
            if (eight & 0x8080808080808080U)
                break;
            i += sizeof(eight);
        }
        if (i == s.n)
            break;
        len = utf8_sequence((const unsigned char *)s.p + i, s.n - i);

        if (len == 0)
            return false;
        i += len;
    }
    return true;
}
