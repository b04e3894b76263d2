/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of faults.
 *
 * The author of a configuration wants all that is wrong with it at once, not one error per try.
 * Parsing and checking therefore add to a list and go on.  The list is capped, since a wrong file
 * (a binary, say) has a fault in every line; the counts stay right.
 */
#include "src/slurm/faults.h"

#include <stdarg.h>

#include "src/base/alloc.h"

void faults_done(struct faults *f)
{
    arena_done(&f->arena);
    free(f->list);
    *f = (struct faults){0};
}

void faults_add(struct faults *f, enum fault_level level, const char *file, unsigned line,
                const char *key, const char *fmt, ...)
{
    AUTO(free) char *text = NULL;
    va_list ap;

    if (level == FAULT_FATAL)
        f->fatal++;
    else
        f->warnings++;
    if (f->n >= FAULTS_MAX)
        return;
    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    array_reserve(&f->list, &f->cap, f->n + 1, sizeof(*f->list));
    f->list[f->n++] = (struct fault){
        .level = level,
        .file = file ? arena_strdup(&f->arena, file) : NULL,
        .line = line,
        .key = key ? arena_strdup(&f->arena, key) : NULL,
        .text = arena_strdup(&f->arena, text),
    };
}

static void place_print(const struct fault *one, struct buf *out)
{
    if (!one->file)
        return;
    buf_adds(out, one->file);
    if (one->line)
        buf_printf(out, ":%u", one->line);
    buf_adds(out, ": ");
}

void faults_print(const struct faults *f, struct buf *out)
{
    for (size_t i = 0; i < f->n; i++) {
        place_print(&f->list[i], out);
        buf_printf(out, "%s: %s\n", f->list[i].level == FAULT_FATAL ? "error" : "warning",
                   f->list[i].text);
    }
    if (f->fatal + f->warnings > f->n)
        buf_printf(out, "and %zu more\n", f->fatal + f->warnings - f->n);
}

int faults_error(const struct faults *f, struct err *e)
{
    AUTO(buf_done) struct buf text = {0};
    size_t i = 0;

    if (f->fatal == 0)
        return 0;
    while (i < f->n && f->list[i].level != FAULT_FATAL)
        i++;
    if (i == f->n)
        return err_bad(e, "the configuration has %zu faults", f->fatal);
    place_print(&f->list[i], &text);
    buf_adds(&text, f->list[i].text);
    if (f->fatal > 1)
        buf_printf(&text, " (and %zu more)", f->fatal - 1);
    return err_bad(e, "%s", buf_str(&text));
}
