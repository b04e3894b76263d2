/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings of JSON text.
 *
 * Most have no escapes and are copied in one piece: eight characters at a time are looked at for
 * one that does not stand for itself.  Others are unescaped on their way; no escape is shorter than
 * what it stands for, so the room of the raw text is enough.
 */
#include "src/json/parse_impl.h"

static int hex4(struct parser *p, uint32_t *ret)
{
    uint32_t v = 0;

    if (p->at + 4 > p->text.n)
        return parse_fail(p, "\\u needs four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        int d = str_hex_digit(p->text.p[p->at + (size_t)i]);

        if (d < 0)
            return parse_fail(p, "\\u needs four hexadecimal digits");
        v = v << 4 | (uint32_t)d;
    }
    p->at += 4;
    *ret = v;
    return 0;
}

/* After "\u"; a lone surrogate becomes U+FFFD, as in Go. */
static int unicode_escape(struct parser *p, char *out, size_t *n)
{
    uint32_t c = 0;
    uint32_t low;
    int r = hex4(p, &c);

    if (r < 0)
        return r;
    if (c >= 0xD800 && c <= 0xDFFF) {
        size_t before = p->at;

        low = 0;
        if (c < 0xDC00 && p->at + 6 <= p->text.n && p->text.p[p->at] == '\\' &&
            p->text.p[p->at + 1] == 'u') {
            p->at += 2;
            r = hex4(p, &low);
            if (r < 0)
                return r;
        }
        if (low >= 0xDC00 && low <= 0xDFFF) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        } else {
            c = 0xFFFD;
            p->at = before;
        }
    }
    *n += str_put_utf8(out + *n, c);
    return 0;
}

static int simple_escape(char c)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char *at = c ? strchr(from, c) : NULL;

    return at ? (unsigned char)to[at - from] : -1;
}

/* Does one of eight characters end a plain text: a quote, a backslash, a control character? */
static bool has_special(uint64_t eight)
{
    const uint64_t ones = 0x0101010101010101U;
    const uint64_t tops = 0x8080808080808080U;
    uint64_t quote = eight ^ (ones * '"');
    uint64_t backslash = eight ^ (ones * '\\');

    return (((eight - ones * ' ') & ~eight) | ((quote - ones) & ~quote) |
            ((backslash - ones) & ~backslash)) &
           tops;
}

/* How many characters from here on stand for themselves. */
static size_t plain_run(struct str rest)
{
    size_t n = 0;
    uint64_t eight;

    while (rest.n - n >= sizeof(eight)) {
        memcpy(&eight, rest.p + n, sizeof(eight));
        if (has_special(eight))
            break;
        n += sizeof(eight);
    }
    while (n < rest.n && rest.p[n] != '"' && rest.p[n] != '\\' && (unsigned char)rest.p[n] >= ' ')
        n++;
    return n;
}

int parse_string(struct parser *p, struct str *ret)
{
    size_t start = ++p->at;
    size_t n = plain_run((struct str){p->text.p + start, p->text.n - start});
    char *out;

    p->at += n;
    if (p->at < p->text.n && p->text.p[p->at] == '"') {
        p->at++;
        *ret = (struct str){arena_str(p->a, (struct str){p->text.p + start, n}), n};
        return 0;
    }
    while (p->at < p->text.n && p->text.p[p->at] != '"')
        p->at += p->text.p[p->at] == '\\' ? 2 : 1;
    if (p->at >= p->text.n) {
        p->at = p->text.n;
        return parse_fail(p, "the text ends inside a string");
    }
    out = arena_alloc(p->a, p->at - start + 1);
    memcpy(out, p->text.p + start, n);
    for (p->at = start + n; p->text.p[p->at] != '"';) {
        size_t run = plain_run((struct str){p->text.p + p->at, p->text.n - p->at});
        char c = p->text.p[p->at];
        int r;

        if (run) {
            memcpy(out + n, p->text.p + p->at, run);
            n += run;
            p->at += run;
            continue;
        }
        if (c != '\\')
            return parse_fail(p, "a control character in a string must be escaped");
        c = p->text.p[p->at + 1];
        p->at += 2;
        r = simple_escape(c);
        if (r >= 0)
            out[n++] = (char)r;
        else if (c != 'u')
            return parse_fail(p, "unknown escape in a string");
        else if ((r = unicode_escape(p, out, &n)) < 0)
            return r;
    }
    p->at++;
    out[n] = '\0';
    *ret = (struct str){out, n};
    return 0;
}
