/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logical lines and pairs of Slurm's configuration files.
 *
 * The rules are those of Slurm's parser, odd ones included, since what it takes we must take and
 * what it reads we must read the same:
 *
 *  - '#' starts a comment even inside quotes; "\#" does not.
 *  - An odd number of backslashes at the end of a line, blanks after them allowed, joins it with
 *    the next one; nothing takes the place of the break.
 *  - Then every backslash vanishes and what follows it stays.
 *  - A key is letters, digits, '_' and '.'.  Before the '=' may stand one of + - * / (without
 *    effect in files).
 *  - Quotes count only around a whole value: in a"b" and "a"b they are part of it.
 */
#include "src/slurm/conf_impl.h"

#include <ctype.h>

static bool is_space(char c)
{
    return isspace((unsigned char)c) != 0;
}

/* A physical line with its comment cut off; *rest moves past the line break. */
static struct str physical_line(struct str *rest)
{
    struct str line = {rest->p, str_find(*rest, '\n')};
    size_t taken = MIN(line.n + 1, rest->n);
    bool escaped = false;

    *rest = (struct str){rest->p + taken, rest->n - taken};
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '#' && !escaped) {
            line.n = i;
            break;
        }
        escaped = line.p[i] == '\\' && !escaped;
    }
    return line;
}

/* True if the line goes on in the next one; the backslash and what is after it are cut off. */
static bool continues(struct str *line)
{
    size_t end = line->n;
    size_t slashes = 0;

    while (end > 0 && is_space(line->p[end - 1]))
        end--;
    while (slashes < end && line->p[end - 1 - slashes] == '\\')
        slashes++;
    if (slashes % 2 == 0)
        return false;
    line->n = end - 1;
    return true;
}

static void unescape(struct buf *line)
{
    size_t to = 0;

    for (size_t from = 0; from < line->n; from++) {
        if (line->p[from] == '\\')
            from++;
        if (from < line->n)
            line->p[to++] = line->p[from];
    }
    line->n = to;
    if (line->p)
        line->p[to] = '\0';
}

bool conf_lex_line(struct str *rest, struct buf *line, unsigned *lines)
{
    bool more = rest->n > 0;

    buf_clear(line);
    *lines = 0;
    if (!more)
        return false;
    while (more && rest->n > 0) {
        struct str part = physical_line(rest);

        more = continues(&part);
        buf_addstr(line, part);
        (*lines)++;
    }
    unescape(line);
    return true;
}

static size_t skip_space(struct str s, size_t i)
{
    while (i < s.n && is_space(s.p[i]))
        i++;
    return i;
}

/* The value at offset i; returns the offset after it, or i if there is none. */
static size_t value_at(struct str s, size_t i, struct str *ret_value)
{
    size_t end = i;

    if (i < s.n && s.p[i] == '"') {
        size_t close = i + 1 + str_find((struct str){s.p + i + 1, s.n - i - 1}, '"');

        if (close < s.n && (close + 1 == s.n || is_space(s.p[close + 1]))) {
            *ret_value = (struct str){s.p + i + 1, close - i - 1};
            return close + 1;
        }
    }
    while (end < s.n && !is_space(s.p[end]))
        end++;
    *ret_value = (struct str){s.p + i, end - i};
    return end;
}

bool conf_lex_pair(struct str *rest, struct conf_token *ret_token)
{
    struct conf_token t = {.op = '='};
    size_t i = skip_space(*rest, 0);
    size_t start = i;
    size_t end;

    while (i < rest->n &&
           (isalnum((unsigned char)rest->p[i]) || rest->p[i] == '_' || rest->p[i] == '.'))
        i++;
    t.key = (struct str){rest->p + start, i - start};
    if (t.key.n == 0)
        return false;
    i = skip_space(*rest, i);
    if (i < rest->n && rest->p[i] != '\0' && strchr("+-*/", rest->p[i]))
        t.op = rest->p[i++];
    if (i == rest->n || rest->p[i] != '=')
        return false;
    i = skip_space(*rest, i + 1);
    end = value_at(*rest, i, &t.value);
    if (end == i)
        return false;
    *rest = (struct str){rest->p + end, rest->n - end};
    *ret_token = t;
    return true;
}
