/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that the validation of many kinds shares.
 *
 * Each looks at one place and adds the sentence kube-apiserver has for what is wrong with it.
 * Kubernetes decodes into Go structs before it validates, so "absent" and "zero" are one and the
 * same for most fields; check_same and the checks that speak of zero follow that.
 */
#include "src/cluster/apiserver/checks.h"

#include <arpa/inet.h>

#include "src/cluster/apiserver/gotext.h"

#define ANNOTATIONS_MAX_BYTES (256 << 10)

static void add_faults(struct causes *cs, const struct place *at, const struct name_faults *f)
{
    for (size_t i = 0; i < f->n; i++)
        place_invalid(cs, at, "%s", f->text[i]);
}

void check_form(struct causes *cs, const struct place *at, enum name_form form)
{
    struct name_faults f;

    if (!place_given(at))
        return;
    f = names_check(form, str_of(place_str(at)));
    add_faults(cs, at, &f);
}

void check_form_always(struct causes *cs, const struct place *at, enum name_form form)
{
    struct name_faults f = names_check(form, str_of(place_str(at)));

    add_faults(cs, at, &f);
}

void check_form_required(struct causes *cs, const struct place *at, enum name_form form)
{
    if (check_filled(cs, at, NULL))
        check_form(cs, at, form);
}

bool check_filled(struct causes *cs, const struct place *at, const char *why)
{
    if (place_filled(at))
        return true;
    place_required(cs, at, why);
    return false;
}

static bool listed(const char *const *list, const char *text)
{
    for (size_t i = 0; list[i]; i++)
        if (streq(list[i], text))
            return true;
    return false;
}

void check_enum(struct causes *cs, const struct place *at, const char *const *supported)
{
    if (place_filled(at) && !listed(supported, place_str(at)))
        place_unsupported(cs, at, supported);
}

void check_enum_required(struct causes *cs, const struct place *at, const char *const *supported)
{
    if (check_filled(cs, at, NULL))
        check_enum(cs, at, supported);
}

void check_nonnegative(struct causes *cs, const struct place *at)
{
    if (place_int(at, 0) < 0)
        place_invalid(cs, at, "must be greater than or equal to 0");
}

void check_positive(struct causes *cs, const struct place *at)
{
    if (place_int(at, 0) > 0)
        return;
    if (at->value)
        place_invalid(cs, at, "must be greater than 0");
    else
        place_invalid_text(cs, at, "0", "must be greater than 0");
}

void check_range(struct causes *cs, const struct place *at, int64_t low, int64_t high)
{
    int64_t i = place_int(at, low);

    if (i < low || i > high)
        place_invalid(cs, at, "must be between %lld and %lld, inclusive", (long long)low,
                      (long long)high);
}

void check_port(struct causes *cs, const struct place *at)
{
    if (at->value)
        check_range(cs, at, 1, 65535);
    else
        place_invalid_text(cs, at, "0", "must be between 1 and 65535, inclusive");
}

void check_port_or_name(struct causes *cs, const struct place *at)
{
    if (jsn_is(at->value, JSN_STRING))
        check_form(cs, at, FORM_PORT_NAME);
    else
        check_port(cs, at);
}

void check_count_or_percent(struct causes *cs, const struct place *at)
{
    struct name_faults f;

    if (!jsn_is(at->value, JSN_STRING)) {
        check_nonnegative(cs, at);
        return;
    }
    f = names_check(FORM_PERCENT, str_of(place_str(at)));
    for (size_t i = 0; i < f.n; i++)
        place_invalid_text(cs, at, gotext_value(cs->arena, at->value), "%s", f.text[i]);
}

/* The number before a '%', or -1. */
static int64_t percent_of(const struct place *at)
{
    struct str s = str_of(place_str(at));
    int64_t i;

    if (s.n < 2 || s.p[s.n - 1] != '%' || str_to_i64((struct str){s.p, s.n - 1}, &i) < 0)
        return -1;
    return i;
}

bool check_is_zero(const struct place *at)
{
    if (jsn_is(at->value, JSN_STRING))
        return percent_of(at) == 0;
    return place_int(at, 0) == 0;
}

void check_at_most_100_percent(struct causes *cs, const struct place *at)
{
    if (percent_of(at) > 100)
        place_invalid_text(cs, at, gotext_value(cs->arena, at->value),
                           "must not be greater than 100%%");
}

static bool is_zero(const struct jsn *v)
{
    if (!v)
        return true;
    switch (v->type) {
    case JSN_NULL:
        return true;
    case JSN_BOOL:
        return !v->b;
    case JSN_INT:
        return v->i == 0;
    case JSN_REAL:
        return false;
    case JSN_STRING:
        return v->s.n == 0;
    case JSN_ARRAY:
        return v->a.n == 0;
    case JSN_OBJECT:
        for (size_t i = 0; i < v->o.n; i++)
            if (!is_zero(v->o.members[i].value))
                return false;
        return true;
    }
    return false;
}

static bool same_members(const struct jsn *a, const struct jsn *b)
{
    JSN_FOR_MEMBERS (m, a) {
        if (!check_same(m->value, jsn_member(b, m->key)))
            return false;
    }
    JSN_FOR_MEMBERS (m, b) {
        if (!jsn_member(a, m->key) && !is_zero(m->value))
            return false;
    }
    return true;
}

bool check_same(const struct jsn *a, const struct jsn *b)
{
    if (is_zero(a) && is_zero(b))
        return true;
    if (jsn_is(a, JSN_OBJECT) && jsn_is(b, JSN_OBJECT))
        return same_members(a, b);
    if (!jsn_is(a, JSN_ARRAY) || !jsn_is(b, JSN_ARRAY))
        return jsn_equal(a, b);
    if (jsn_len(a) != jsn_len(b))
        return false;
    for (size_t i = 0; i < jsn_len(a); i++)
        if (!check_same(jsn_item(a, i), jsn_item(b, i)))
            return false;
    return true;
}

void check_immutable(struct causes *cs, const struct place *at, const struct jsn *old)
{
    if (!check_same(at->value, old))
        place_invalid(cs, at, "field is immutable");
}

/* One sentence of an entry: Kubernetes names the map as the field and the key or value as value. */
static void check_text(struct causes *cs, const struct place *map, struct str text,
                       enum name_form form, const struct jsn *shown)
{
    struct name_faults f = names_check(form, text);

    for (size_t i = 0; i < f.n; i++)
        cause_invalid(cs, place_text(cs, map), shown, "%s", f.text[i]);
}

void check_labels(struct causes *cs, const struct place *at)
{
    JSN_FOR_MEMBERS (m, at->value) {
        const char *value = jsn_text(m->value);

        if (names_check(FORM_QUALIFIED, m->key).n > 0)
            check_text(cs, at, m->key, FORM_QUALIFIED, jsn_str(cs->arena, m->key));
        if (value)
            check_text(cs, at, str_of(value), FORM_LABEL_VALUE, m->value);
    }
}

static struct str lower_case(struct arena *a, struct str s)
{
    char *p = arena_str(a, s);

    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
    return (struct str){p, s.n};
}

void check_annotations(struct causes *cs, const struct place *at)
{
    size_t total = 0;

    JSN_FOR_MEMBERS (m, at->value) {
        total += m->key.n + (jsn_is(m->value, JSN_STRING) ? m->value->s.n : 0);
        if (names_check(FORM_QUALIFIED, m->key).n > 0)
            check_text(cs, at, lower_case(cs->arena, m->key), FORM_QUALIFIED,
                       jsn_str(cs->arena, m->key));
    }
    if (total > ANNOTATIONS_MAX_BYTES)
        cause_too_long(cs, place_text(cs, at), ANNOTATIONS_MAX_BYTES);
}

void check_no_backsteps(struct causes *cs, const struct place *at)
{
    struct str rest = str_of(place_str(at));
    struct str part;

    while (str_split(&rest, '/', &part))
        if (str_eqz(part, "..")) {
            place_invalid(cs, at, "must not contain '..'");
            return;
        }
}

void check_relative_path(struct causes *cs, const struct place *at)
{
    if (place_str(at)[0] == '/')
        place_invalid(cs, at, "must be a relative path");
    check_no_backsteps(cs, at);
}

bool check_is_cidr(const char *text)
{
    struct str rest = str_of(text);
    unsigned char bytes[16];
    char address[64];
    struct str head;
    uint32_t bits;
    int family;

    if (!str_split(&rest, '/', &head) || !rest.p || head.n >= sizeof(address))
        return false;
    memcpy(address, head.p, head.n);
    address[head.n] = '\0';
    family = strchr(address, ':') ? AF_INET6 : AF_INET;
    return inet_pton(family, address, bytes) == 1 && str_to_u32(rest, &bits) == 0 &&
           bits <= (family == AF_INET ? 32U : 128U);
}
