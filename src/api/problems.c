/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of problems.
 *
 * Validation goes on after the first fault, so that an author sees all of them at once.  The list
 * is capped, since a manifest may be wrong in more places than anybody reads about; errors are
 * counted beyond it.
 */
#include "src/api/problems.h"

#include <stdarg.h>

#include "src/base/alloc.h"

static const char *join_path(struct api_problems *p, const char *field)
{
    if (!p->prefix)
        return arena_strdup(p->arena, field);
    if (!field[0])
        return arena_strdup(p->arena, p->prefix);
    return arena_printf(p->arena, "%s.%s", p->prefix, field);
}

static void add(struct api_problems *p, enum api_reason reason, const char *field,
                const char *value, const char *text)
{
    if (reason != API_WARNING)
        p->errors++;
    if (p->n == API_PROBLEMS_MAX)
        return;
    arena_reserve(p->arena, &p->items, &p->cap, p->n + 1, sizeof(*p->items));
    p->items[p->n++] = (struct api_problem){
        .reason = reason,
        .object = p->object ? arena_strdup(p->arena, p->object) : NULL,
        .field = join_path(p, field),
        .value = value ? arena_strdup(p->arena, value) : NULL,
        .text = arena_strdup(p->arena, text),
    };
}

void api_problem_add(struct api_problems *p, enum api_reason reason, const char *field,
                     const char *fmt, ...)
{
    AUTO(free) char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    add(p, reason, field, NULL, text);
}

void api_problem_value(struct api_problems *p, enum api_reason reason, const char *field,
                       const char *value, const char *fmt, ...)
{
    AUTO(free) char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    add(p, reason, field, value, text);
}

const char *api_problem_path(struct api_problems *p, const char *fmt, ...)
{
    AUTO(free) char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    return arena_strdup(p->arena, text);
}

void api_problem_print(const struct api_problem *p, struct buf *out)
{
    if (p->object)
        buf_printf(out, "%s: ", p->object);
    if (p->field[0])
        buf_printf(out, "%s: ", p->field);
    buf_adds(out, p->text);
}

int api_problems_error(const struct api_problems *p, struct err *e)
{
    AUTO(buf_done) struct buf text = {0};

    if (p->errors == 0)
        return 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->items[i].reason == API_WARNING)
            continue;
        api_problem_print(&p->items[i], &text);
        break;
    }
    if (p->errors > 1)
        buf_printf(&text, " (and %zu more)", p->errors - 1);
    return err_bad(e, "%s", buf_str(&text));
}
