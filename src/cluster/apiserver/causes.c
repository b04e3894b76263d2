/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes: what validation found wrong, field by field.
 *
 * Each cause is a reason ("FieldValueInvalid"), a field path and a text such as
 * `Invalid value: "x": must be ...`.  status_invalid.c makes an answer of them.
 *
 * Values in the texts are printed as Go prints them for errors: strings in double quotes, numbers
 * and booleans bare, nothing as "null".
 */
#include "src/cluster/apiserver/status.h"

#include <stdio.h>

/* Validation of a huge bad object stops collecting here; nobody reads more. */
#define CAUSES_MAX 500

static const char *format(struct arena *a, const char *fmt, va_list ap) PRINTF(2, 0);

static const char *format(struct arena *a, const char *fmt, va_list ap)
{
    AUTO(buf_done) struct buf b = {0};

    buf_vprintf(&b, fmt, ap);
    return arena_str(a, buf_view(&b));
}

static const char *value_text(struct arena *a, const struct jsn *value)
{
    AUTO(buf_done) struct buf b = {0};

    if (!value || value->type == JSN_NULL)
        return "null";
    jsn_print(&b, value);
    return arena_str(a, buf_view(&b));
}

static void add(struct causes *cs, const char *reason, const char *field, const char *text)
{
    if (cs->n >= CAUSES_MAX)
        return;
    arena_reserve(cs->arena, &cs->items, &cs->cap, cs->n + 1, sizeof(*cs->items));
    cs->items[cs->n++] = (struct cause){
        .reason = reason,
        .field = arena_strdup(cs->arena, field),
        .text = text,
    };
}

void cause_required(struct causes *cs, const char *field, const char *why)
{
    add(cs, "FieldValueRequired", field,
        why && why[0] != '\0' ? arena_printf(cs->arena, "Required value: %s", why)
                              : "Required value");
}

static void add_invalid(struct causes *cs, const char *field, const char *value, const char *why)
{
    add(cs, "FieldValueInvalid", field,
        why[0] != '\0' ? arena_printf(cs->arena, "Invalid value: %s: %s", value, why)
                       : arena_printf(cs->arena, "Invalid value: %s", value));
}

void cause_invalid(struct causes *cs, const char *field, const struct jsn *value, const char *fmt,
                   ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(cs->arena, fmt, ap);
    va_end(ap);
    add_invalid(cs, field, value_text(cs->arena, value), why);
}

void cause_invalid_text(struct causes *cs, const char *field, const char *value, const char *fmt,
                        ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(cs->arena, fmt, ap);
    va_end(ap);
    add_invalid(cs, field, value, why);
}

void cause_not_supported(struct causes *cs, const char *field, const struct jsn *value,
                         const char *const *supported)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "Unsupported value: %s", value_text(cs->arena, value));
    for (size_t i = 0; supported && supported[i]; i++) {
        buf_adds(&b, i == 0 ? ": supported values: " : ", ");
        jsn_print_string(&b, str_of(supported[i]));
    }
    add(cs, "FieldValueNotSupported", field, arena_str(cs->arena, buf_view(&b)));
}

void cause_forbidden(struct causes *cs, const char *field, const char *fmt, ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(cs->arena, fmt, ap);
    va_end(ap);
    add(cs, "FieldValueForbidden", field, arena_printf(cs->arena, "Forbidden: %s", why));
}

void cause_duplicate(struct causes *cs, const char *field, const struct jsn *value)
{
    add(cs, "FieldValueDuplicate", field,
        arena_printf(cs->arena, "Duplicate value: %s", value_text(cs->arena, value)));
}

void cause_too_long(struct causes *cs, const char *field, int64_t max)
{
    add(cs, "FieldValueTooLong", field,
        arena_printf(cs->arena, "Too long: may not be more than %lld bytes", (long long)max));
}

void cause_add(struct causes *cs, const char *reason, const char *field, const char *fmt, ...)
{
    const char *text;
    va_list ap;

    va_start(ap, fmt);
    text = format(cs->arena, fmt, ap);
    va_end(ap);
    add(cs, reason, field, text);
}

const char *cause_path(struct causes *cs, const char *fmt, ...)
{
    const char *path;
    va_list ap;

    va_start(ap, fmt);
    path = format(cs->arena, fmt, ap);
    va_end(ap);
    return path;
}
