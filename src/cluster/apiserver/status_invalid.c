/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One 422 answer of all causes.
 *
 * One cause makes the message `Pod "x" is invalid: field: text`, several make
 * `Pod "x" is invalid: [a, b]` in which each sentence stands once, though all causes are listed.
 */
#include "src/cluster/apiserver/status.h"

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
