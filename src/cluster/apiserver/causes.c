/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes: what validation found wrong, field by field.
 *
 * Each cause is a reason ("FieldValueInvalid"), a field path and a text such as
 * `Invalid value: "x": must be ...`.  status_invalid turns the collection into one 422 answer: one
 * cause makes the message `Pod "x" is invalid: field: text`, several make
 * `Pod "x" is invalid: [a, b]` in which each sentence stands once, though all causes are listed.
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

static bool stands_before(const struct causes *cs, size_t at)
{
    const struct cause *me = &cs->items[at];

    for (size_t i = 0; i < at; i++)
        if (streq(cs->items[i].field, me->field) && streq(cs->items[i].text, me->text))
            return true;
    return false;
}

/* "a: b", or "[a: b, c: d]" with each sentence once. */
static void print_all(struct buf *b, const struct causes *cs)
{
    AUTO(buf_done) struct buf list = {0};
    size_t n = 0;

    for (size_t i = 0; i < cs->n; i++) {
        if (stands_before(cs, i))
            continue;
        buf_printf(&list, "%s%s: %s", n > 0 ? ", " : "", cs->items[i].field, cs->items[i].text);
        n++;
    }
    buf_printf(b, n > 1 ? "[%s]" : "%s", buf_str(&list));
}

int status_invalid_kind(struct api_call *c, const char *kind, const char *group, const char *name,
                        const struct causes *cs)
{
    AUTO(buf_done) struct buf b = {0};
    struct jsn *details;

    if (cs->n == 0)
        return 0;
    buf_printf(&b, "%s%s%s ", kind, group[0] != '\0' ? "." : "", group);
    jsn_print_string(&b, str_of(name ? name : ""));
    buf_adds(&b, " is invalid: ");
    print_all(&b, cs);

    (void)status_fail(c, 422, "Invalid", "%s", buf_str(&b));
    details = status_details(c);
    if (name && name[0] != '\0')
        jsn_set_str(&c->arena, details, "name", name);
    if (group[0] != '\0')
        jsn_set_str(&c->arena, details, "group", group);
    if (kind[0] != '\0')
        jsn_set_str(&c->arena, details, "kind", kind);
    for (size_t i = 0; i < cs->n; i++)
        status_add_cause(c, cs->items[i].reason, cs->items[i].field, cs->items[i].text);
    return -1;
}

int status_invalid(struct api_call *c, const char *name, const struct causes *cs)
{
    return status_invalid_kind(c, c->res->kind, c->res->group ? c->res->group : "", name, cs);
}
