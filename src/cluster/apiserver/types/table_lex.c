/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of the type tables, split into words.
 *
 * Words are parted by blanks.  A quote makes blanks part of the word ("What a pod runs." and
 * default="a b"); \" is a quote inside.  A # where a word could begin starts a comment.  A word
 * that begins with a quote is marked: only a description does.
 */
#include "src/cluster/apiserver/types/table.h"

#include <stdarg.h>

#include "src/base/buf.h"

int table_err(struct err *e, const char *file, int line, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    return err_set(e, -EINVAL, ERR_PERMANENT, "%s line %d: %s", file, line, buf_str(&b));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* One word from *at on, without its quotes, written to *out. */
static int lex_word(struct str text, size_t *at, char **out, struct str *ret_word)
{
    char *start = *out, *to = start;
    bool inside = false;

    for (; *at < text.n && (inside || !is_blank(text.p[*at])); (*at)++) {
        char c = text.p[*at];

        if (inside && c == '\\' && *at + 1 < text.n)
            *to++ = text.p[++*at];
        else if (c == '"')
            inside = !inside;
        else
            *to++ = c;
    }
    *to = '\0';
    *ret_word = (struct str){start, (size_t)(to - start)};
    *out = to + 1;
    return inside ? -EINVAL : 0;
}

int table_lex(struct arena *a, struct str text, struct table_line *line, struct err *e)
{
    char *out = NULL;
    size_t at = 0;

    line->n = 0;
    line->indented = text.n > 0 && is_blank(text.p[0]);
    for (;;) {
        while (at < text.n && is_blank(text.p[at]))
            at++;
        if (at == text.n || text.p[at] == '#')
            return 0;
        if (line->n == TABLE_MAX_WORDS)
            return table_err(e, line->file, line->number, "more than %d words", TABLE_MAX_WORDS);
        /* Every word gives up at least the blank after it to its terminator. */
        out = out ? out : arena_alloc(a, text.n + 1);
        line->quoted[line->n] = text.p[at] == '"';
        if (lex_word(text, &at, &out, &line->words[line->n]) < 0)
            return table_err(e, line->file, line->number, "a quote is not closed");
        line->n++;
    }
}
