/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Literals of CEL: numbers, and strings with their escapes; and how mistakes are shown.
 *
 * An error quotes the line with a mark below the place, in cel-go's words, since who writes a rule
 * meets it in the answer to kubectl apply.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "src/json/cel_parser.h"

int cel_fail(struct err *e, const char *text, size_t at, const char *fmt, ...)
{
    char what[160];
    char dots[121];
    size_t line = 1, from = 0;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < at && text[i]; i++) {
        if (text[i] == '\n') {
            line++;
            from = i + 1;
        }
    }
    memset(dots, '.', sizeof(dots));
    return err_bad(e, "ERROR: <input>:%zu:%zu: %s\n | %.*s\n | %.*s^", line, at - from + 1, what,
                   (int)MIN(strcspn(text + from, "\n"), 120), text + from, (int)MIN(at - from, 120),
                   dots);
}

static int hex_value(const char *s, size_t n, uint32_t *ret)
{
    uint32_t v = 0;

    for (size_t i = 0; i < n; i++) {
        int d = str_hex_digit(s[i]);

        if (d < 0)
            return -EINVAL;
        v = v * 16 + (uint32_t)d;
    }
    *ret = v;
    return 0;
}

static void add_rune(struct buf *b, uint32_t c)
{
    char utf8[4];

    buf_add(b, utf8, str_put_utf8(utf8, c));
}

/* After a backslash; moves past the escape. */
static int escape(struct cel_parser *p, struct buf *b)
{
    static const char plain[] = "a\ab\bf\fn\nr\rt\tv\v\\\\''\"\"??``";
    char c = p->text[p->at];
    uint32_t rune = 0;
    size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;

    for (size_t i = 0; c && plain[i]; i += 2) {
        if (plain[i] == c) {
            buf_addc(b, plain[i + 1]);
            p->at++;
            return 0;
        }
    }
    if (digits && hex_value(p->text + p->at + 1, digits, &rune) == 0 && rune <= 0x10ffff &&
        (rune < 0xd800 || rune > 0xdfff)) {
        add_rune(b, rune);
        p->at += 1 + digits;
        return 0;
    }
    return cel_fail(p->e, p->text, p->at, "Syntax error: token recognition error");
}

int cel_string_literal(struct cel_parser *p, bool raw, struct cel_node **ret)
{
    AUTO(buf_done) struct buf b = {0};
    size_t at = p->at;
    char quote = p->text[p->at];
    bool triple = p->text[p->at + 1] == quote && p->text[p->at + 2] == quote;
    const char *end = triple ? (quote == '"' ? "\"\"\"" : "'''") : (quote == '"' ? "\"" : "'");

    p->at += strlen(end);
    while (strncmp(p->text + p->at, end, strlen(end)) != 0) {
        char c = p->text[p->at];

        if (!c || (c == '\n' && !triple))
            return cel_fail(p->e, p->text, at, "Syntax error: token recognition error");
        p->at++;
        if (c == '\\' && !raw) {
            int r = escape(p, &b);

            if (r < 0)
                return r;
        } else {
            buf_addc(&b, c);
        }
    }
    p->at += strlen(end);
    *ret = cel_parser_node(p, CEL_LITERAL, at);
    (*ret)->literal = jsn_str(p->a, buf_view(&b));
    return 0;
}

int cel_number_literal(struct cel_parser *p, struct cel_node **ret)
{
    const char *s = p->text + p->at;
    size_t at = p->at, n = strspn(s, "0123456789");
    int64_t i = 0;

    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        uint32_t high = 0;

        n = strspn(s + 2, "0123456789abcdefABCDEF");
        if (n == 0 || n > 8 || hex_value(s + 2, n, &high) < 0)
            return n > 8 ? cel_parser_beyond(p, "a hexadecimal number of more than 32 bits")
                         : cel_parser_syntax(p);
        i = high;
        n += 2;
    } else if ((s[n] == '.' && isdigit((unsigned char)s[n + 1])) || s[n] == 'e' || s[n] == 'E') {
        char *end;
        double d = strtod(s, &end);

        *ret = cel_parser_node(p, CEL_LITERAL, at);
        (*ret)->literal = jsn_real(p->a, d < 1e308 ? d : 1e308);
        p->at += (size_t)(end - s);
        return 0;
    } else if (str_to_i64((struct str){s, n}, &i) < 0) {
        return cel_fail(p->e, p->text, at, "Syntax error: invalid int literal");
    }
    if (s[n] == 'u' || s[n] == 'U')
        return cel_parser_beyond(p, "unsigned numbers");
    *ret = cel_parser_node(p, CEL_LITERAL, at);
    (*ret)->literal = jsn_int(p->a, i);
    p->at += n;
    return 0;
}
