/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every handler asks of its call: the time, its warnings, the query, its resource's name in
 * the store.
 *
 * The time is read once, so that all that one request writes bears the same.
 */
#include "src/cluster/apiserver/call.h"

#include "src/base/clock.h"

#define MAX_WARNINGS 32

void call_warn(struct api_call *c, const char *fmt, ...)
{
    AUTO(buf_done) struct buf b = {.max = 512};
    va_list ap;

    if (c->n_warnings == MAX_WARNINGS)
        return;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    arena_reserve(&c->arena, &c->warnings, &c->cap_warnings, c->n_warnings + 1, sizeof(char *));
    c->warnings[c->n_warnings++] = arena_str(&c->arena, buf_view(&b));
}

const char *call_now(struct api_call *c)
{
    char text[CLOCK_RFC3339_LEN];

    clock_rfc3339(clock_wall_us(), text);
    return arena_strdup(&c->arena, text);
}

const char *call_store_name(struct api_call *c)
{
    return resource_store_name(&c->arena, c->stored);
}

const char *resource_store_name(struct arena *a, const struct resource *stored)
{
    if (!stored->group[0])
        return stored->plural;
    return arena_printf(a, "%s.%s", stored->plural, stored->group);
}

bool resource_is_stored_as(const struct resource *r, const char *name)
{
    size_t n = strlen(r->plural);

    if (strncmp(name, r->plural, n) != 0)
        return false;
    if (!r->group || r->group[0] == '\0')
        return name[n] == '\0';
    return name[n] == '.' && streq(name + n + 1, r->group);
}

const char *call_param(const struct api_call *c, const char *key)
{
    return url_query_get(&c->query, key);
}

bool call_param_true(const struct api_call *c, const char *key)
{
    const char *v = call_param(c, key);

    return v && !streq(v, "0") && !str_eq_nocase(str_of(v), STR("false"));
}

bool call_is_by_hand(const struct api_call *c)
{
    static const char *const yes[] = {"1", "t", "T", "true", "True", "TRUE", NULL};
    static const char *const agents[] = {"curl", "Wget", "Mozilla/5.0"};
    const char *said = call_param(c, "pretty");
    bool by_hand = false;

    if (said && said[0])
        return strings_have(yes, said);
    for (size_t i = 0; i < ARRAY_LEN(agents); i++)
        by_hand |= c->user_agent && starts_with(c->user_agent, agents[i]);
    return by_hand;
}
