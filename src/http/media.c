/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Media types and what a client accepts.
 *
 * "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.5" becomes a list of ranges in
 * the client's order of preference; the caller walks it and takes the first it can serve.  What it
 * can serve depends on the parameters as much as on the type, so matching them is its own business.
 *
 * Everything is a view into the header.  Quoted values lose their quotes; escapes inside them are
 * not known here and make the element malformed.
 */
#include "src/http/media.h"

/* A token, or with an '@' in it: kubectl asks for OpenAPI by such a name. */
static bool token_ok(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] <= ' ' || s.p[i] >= 127 || strchr("\"(),/:;<=>?[\\]{}", s.p[i]))
            return false;
    }
    return s.n > 0;
}

/* Values are taken more freely than tokens: clients send '@' and '/' in them. */
static bool value_ok(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < ' ' || s.p[i] >= 127 || s.p[i] == '"' || s.p[i] == '\\')
            return false;
    }
    return true;
}

/* As str_split, but a separator between quotes does not separate. */
static bool split_unquoted(struct str *s, char sep, struct str *head)
{
    bool quoted = false;

    if (!s->p)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (s->p[i] == '"')
            quoted = !quoted;
        if (s->p[i] != sep || quoted)
            continue;
        *head = (struct str){s->p, i};
        *s = (struct str){s->p + i + 1, s->n - i - 1};
        return true;
    }
    *head = *s;
    *s = (struct str){0};
    return true;
}

/* "0.5" as 500; at most three decimals. */
static int parse_q(struct str s, unsigned int *ret_q)
{
    unsigned int scale = 100;
    unsigned int q;

    if (s.n == 0 || s.n > 5 || (s.p[0] != '0' && s.p[0] != '1') || (s.n > 1 && s.p[1] != '.'))
        return -EINVAL;
    q = s.p[0] == '1' ? 1000 : 0;
    for (size_t i = 2; i < s.n; i++, scale /= 10) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -EINVAL;
        q += (unsigned int)(s.p[i] - '0') * scale;
    }
    if (q > 1000)
        return -EINVAL;
    *ret_q = q;
    return 0;
}

static int parse_param(struct str text, struct media_range *r)
{
    struct str value = text;
    struct str name;

    (void)str_split(&value, '=', &name);
    name = str_trim(name);
    value = str_trim(value);
    if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
        value = (struct str){value.p + 1, value.n - 2};
    if (!token_ok(name) || !value_ok(value))
        return -EINVAL;
    if (str_eq_nocase(name, STR("q")))
        return parse_q(value, &r->q);
    if (r->n_params == MEDIA_MAX_PARAMS)
        return -EINVAL;
    r->params[r->n_params++] = (struct media_param){name, value};
    return 0;
}

int media_type_parse(struct str text, struct media_range *ret_type)
{
    struct media_range r = {.text = str_trim(text), .q = 1000};
    struct str rest = r.text;
    struct str piece = {0};

    (void)split_unquoted(&rest, ';', &piece);
    r.subtype = str_trim(piece);
    (void)str_split(&r.subtype, '/', &r.type);
    if (!token_ok(r.type) || !token_ok(r.subtype))
        return -EINVAL;
    if (str_eqz(r.type, "*") && !str_eqz(r.subtype, "*"))
        return -EINVAL;
    while (split_unquoted(&rest, ';', &piece)) {
        size_t before = r.n_params;

        if (str_trim(piece).n == 0)
            continue;
        if (parse_param(piece, &r) < 0)
            return -EINVAL;
        /* Whatever follows q is an extension of Accept and none of the type. */
        if (r.n_params == before) {
            r.text = str_trim((struct str){r.text.p, (size_t)(piece.p - r.text.p) - 1});
            break;
        }
    }
    *ret_type = r;
    return 0;
}

/* Insert after those that are as good or better. */
static void insert(struct media_accept *a, const struct media_range *r)
{
    size_t at = a->n;

    while (at > 0 && a->ranges[at - 1].q < r->q) {
        a->ranges[at] = a->ranges[at - 1];
        at--;
    }
    a->ranges[at] = *r;
    a->n++;
}

int media_accept_parse(const char *header, struct media_accept *ret_accept)
{
    struct str rest = str_trim(str_of(header ? header : ""));
    struct media_accept a = {0};
    struct str element;

    if (rest.n == 0)
        rest = STR("*/*");
    while (split_unquoted(&rest, ',', &element)) {
        struct media_range r;

        if (media_type_parse(element, &r) < 0 || r.q == 0)
            continue;
        if (a.n == MEDIA_MAX_RANGES)
            return -EINVAL;
        insert(&a, &r);
    }
    *ret_accept = a;
    return 0;
}

struct str media_param(const struct media_range *r, const char *name)
{
    for (size_t i = 0; i < r->n_params; i++) {
        if (str_eq_nocase(r->params[i].name, str_of(name)))
            return r->params[i].value;
    }
    return (struct str){0};
}

static bool matches(const struct media_range *r, const char *type, bool stars)
{
    struct str sub = str_of(type);
    struct str main_type;

    (void)str_split(&sub, '/', &main_type);
    if (stars && str_eqz(r->type, "*"))
        return true;
    if (!str_eq_nocase(r->type, main_type))
        return false;
    return (stars && str_eqz(r->subtype, "*")) || str_eq_nocase(r->subtype, sub);
}

bool media_range_covers(const struct media_range *r, const char *type)
{
    return matches(r, type, true);
}

bool media_range_is(const struct media_range *r, const char *type)
{
    return matches(r, type, false);
}
