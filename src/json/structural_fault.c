/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults: what validation found, each thing once.
 *
 * The field carries the prefix of the caller and the path; the sentence names the path alone.
 * Faults of combinations have no field in Kubernetes, which shows as "<nil>".
 */
#include <stdarg.h>

#include "src/base/alloc.h"
#include "src/json/structural_check.h"

void schema_fault(struct schema_faults *f, const char *reason, const char *field, const char *fmt,
                  ...)
{
    AUTO(free) char *text = NULL;
    va_list ap;

    if (f->n >= SCHEMA_FAULTS_MAX) {
        f->dropped++;
        return;
    }
    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < f->n; i++)
        if (streq(f->items[i].field, field) && streq(f->items[i].text, text))
            return;
    arena_reserve(f->arena, &f->items, &f->cap, f->n + 1, sizeof(*f->items));
    f->items[f->n++] =
        (struct schema_fault){arena_strdup(f->arena, reason), arena_strdup(f->arena, field),
                              arena_strdup(f->arena, text)};
}

bool check_failed(const struct check_result *r)
{
    return r->faults.n > 0;
}

void check_merge(struct check_result *r, const struct check_result *other)
{
    for (size_t i = 0; i < other->faults.n; i++) {
        const struct schema_fault *f = &other->faults.items[i];

        schema_fault(&r->faults, f->reason, f->field, "%s", f->text);
    }
    r->matches += other->matches;
}

/* "spec.ports[0]" with the prefix before it and a member after it. */
static const char *field_name(struct checker *k, const char *key)
{
    const char *path = buf_str(&k->path);
    const char *dot = *path && key ? "." : "";

    key = key ? key : "";
    if (!k->prefix || !*k->prefix)
        return *path || *key ? arena_printf(k->arena, "%s%s%s", path, dot, key) : "<nil>";
    return arena_printf(k->arena, "%s%s%s%s%s", k->prefix, *path || *key ? "." : "", path, dot,
                        key);
}

void check_fault(struct checker *k, struct check_result *r, const char *reason, const char *key,
                 const char *fmt, ...)
{
    AUTO(free) char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    schema_fault(&r->faults, reason, field_name(k, key), "%s", text);
}

void check_invalid(struct checker *k, struct check_result *r, const struct jsn *value,
                   const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {0};
    va_list ap;

    buf_adds(&b, "Invalid value: ");
    schema_print_go(&b, value);
    buf_printf(&b, ": %s in body ", buf_str(&k->path));
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    check_fault(k, r, "FieldValueInvalid", NULL, "%s", buf_str(&b));
}

void check_composite(struct checker *k, struct check_result *r, const char *text)
{
    schema_fault(&r->faults, "FieldValueInvalid", k->prefix && *k->prefix ? k->prefix : "<nil>",
                 "Invalid value: \"\": \"%s\" %s", buf_str(&k->path), text);
}
