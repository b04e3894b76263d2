/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration files as text with origins.
 *
 * Validation speaks of lines of a file that nobody wrote by hand.  Origins turn them back into what
 * somebody did write: line 34 of slurm.conf is line 2 of the Controller's extraConf.
 */
#include "src/build/conf_text.h"

#include <stdarg.h>

void conf_text_done(struct conf_text *t)
{
    buf_done(&t->text);
}

void conf_text_line(struct conf_text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&t->text, fmt, ap);
    va_end(ap);
    buf_addc(&t->text, '\n');
    t->lines++;
}

void conf_text_header(struct conf_text *t, const char *title)
{
    conf_text_line(t, "#");
    conf_text_line(t, "### %s ###", title);
}

void conf_text_block(struct conf_text *t, const char *text)
{
    size_t n = strlen(text);

    buf_add(&t->text, text, n);
    for (size_t i = 0; i < n; i++)
        t->lines += text[i] == '\n';
    if (n && text[n - 1] != '\n') {
        buf_addc(&t->text, '\n');
        t->lines++;
    }
}

void conf_text_origin(struct conf_text *t, const char *object, const char *field, bool counted)
{
    arena_reserve(t->arena, &t->origins, &t->cap, t->n + 1, sizeof(*t->origins));
    t->origins[t->n++] = (struct conf_origin){t->lines + 1, object, field, counted};
}

const struct conf_origin *conf_text_find(const struct conf_text *t, unsigned line)
{
    static const struct conf_origin nobody = {0};
    size_t low = 0;
    size_t high = t->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (t->origins[mid].line <= line)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &t->origins[low - 1] : &nobody;
}
