/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places: paths that are only written out when something is wrong there.
 *
 * The text of a path follows kube-apiserver: members are joined by dots, items of lists show their
 * index and entries of maps their key in brackets.  A string that is absent counts as "", as it
 * does in the Go types: that is what the sentences of Kubernetes show for it.
 */
#include "src/cluster/apiserver/place.h"

static void print(struct buf *b, const struct place *at)
{
    if (!at->in)
        return;
    print(b, at->in);
    if (at->name)
        buf_printf(b, "%s%s", b->n > 0 ? "." : "", at->name);
    else if (at->entry)
        buf_printf(b, "[%s]", at->entry);
    else
        buf_printf(b, "[%zu]", at->index);
}

const char *place_text(struct causes *cs, const struct place *at)
{
    AUTO(buf_done) struct buf b = {0};

    print(&b, at);
    return arena_str(cs->arena, buf_view(&b));
}

bool place_given(const struct place *at)
{
    return at->value && at->value->type != JSN_NULL;
}

const char *place_str(const struct place *at)
{
    const char *s = jsn_text(at->value);

    return s ? s : "";
}

int64_t place_int(const struct place *at, int64_t otherwise)
{
    return jsn_is(at->value, JSN_INT) ? at->value->i : otherwise;
}

bool place_true(const struct place *at)
{
    return jsn_is(at->value, JSN_BOOL) && at->value->b;
}

bool place_filled(const struct place *at)
{
    return place_str(at)[0] != '\0';
}

void place_required(struct causes *cs, const struct place *at, const char *why)
{
    cause_required(cs, place_text(cs, at), why);
}

static const char *format(struct causes *cs, const char *fmt, va_list ap) PRINTF(2, 0);

static const char *format(struct causes *cs, const char *fmt, va_list ap)
{
    AUTO(buf_done) struct buf b = {0};

    buf_vprintf(&b, fmt, ap);
    return arena_str(cs->arena, buf_view(&b));
}

void place_invalid(struct causes *cs, const struct place *at, const char *fmt, ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(cs, fmt, ap);
    va_end(ap);
    if (at->value)
        cause_invalid(cs, place_text(cs, at), at->value, "%s", why);
    else
        cause_invalid_text(cs, place_text(cs, at), "\"\"", "%s", why);
}

void place_invalid_text(struct causes *cs, const struct place *at, const char *value,
                        const char *fmt, ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(cs, fmt, ap);
    va_end(ap);
    cause_invalid_text(cs, place_text(cs, at), value, "%s", why);
}

void place_unsupported(struct causes *cs, const struct place *at, const char *const *supported)
{
    const struct jsn *value = at->value ? at->value : jsn_string(cs->arena, "");

    cause_not_supported(cs, place_text(cs, at), value, supported);
}

void place_unsupported_text(struct causes *cs, const struct place *at, const char *value,
                            const char *const *supported)
{
    AUTO(buf_done) struct buf b = {0};

    for (size_t i = 0; supported[i]; i++)
        buf_printf(&b, "%s\"%s\"", i > 0 ? ", " : "", supported[i]);
    cause_add(cs, "FieldValueNotSupported", place_text(cs, at),
              "Unsupported value: %s: supported values: %s", value, buf_str(&b));
}

void place_forbidden(struct causes *cs, const struct place *at, const char *fmt, ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(cs, fmt, ap);
    va_end(ap);
    cause_forbidden(cs, place_text(cs, at), "%s", why);
}

void place_duplicate(struct causes *cs, const struct place *at)
{
    cause_duplicate(cs, place_text(cs, at), at->value);
}
