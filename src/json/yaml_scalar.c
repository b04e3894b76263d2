/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML scalars to values and keys.
 *
 * The rules are those of the YAML 1.1 reader in Kubernetes' tools, so that a manifest means the
 * same here as to kubectl: a fixed list of words for booleans and null; integers in Go's syntax
 * with underscores anywhere; decimal floats; everything else is a string.  Numbers in base 60 are
 * strings, and so are times.  An integer beyond 64 bits becomes a float, as it does on its way
 * through JSON.
 */
#include "src/json/yaml_scalar.h"

#include <math.h>
#include <stdio.h>

#include "src/base/encode.h"

#define TAG_PREFIX "tag:yaml.org,2002:"
#define MAX_NUMBER_BYTES 400
#define LONGEST_WORD 5

static bool word_in(struct str s, const char *const *words)
{
    for (; *words; words++)
        if (str_eqz(s, *words))
            return true;
    return false;
}

static bool resolve_word(struct str s, struct yaml_scalar *ret)
{
    static const char *const yes[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON",  NULL};
    static const char *const no[] = {"n",     "N",     "no",  "No",  "NO",  "false",
                                     "False", "FALSE", "off", "Off", "OFF", NULL};
    static const char *const null[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const not_json[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",
                                           ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf",
                                           "-.Inf", "-.INF", NULL};

    if (s.n > LONGEST_WORD)
        return false;
    if (word_in(s, yes))
        *ret = (struct yaml_scalar){.kind = YAML_BOOL, .b = true};
    else if (word_in(s, no))
        *ret = (struct yaml_scalar){.kind = YAML_BOOL, .b = false};
    else if (word_in(s, null))
        *ret = (struct yaml_scalar){.kind = YAML_NULL};
    else if (word_in(s, not_json))
        *ret = (struct yaml_scalar){.kind = YAML_NOT_JSON};
    else
        return false;
    return true;
}

/* The digits after a base prefix; 0 where the text has none that Go would take. */
static unsigned int number_base(struct str *s)
{
    int second = s->n > 1 ? s->p[1] | 32 : 0;
    unsigned int base = 10;
    size_t skip = 0;

    if (s->n > 1 && s->p[0] == '0') {
        base = second == 'x' ? 16 : second == 'b' ? 2 : 8;
        skip = second == 'x' || second == 'b' || second == 'o' ? 2 : 1;
    }
    s->p += skip;
    s->n -= skip;
    return s->n ? base : 0;
}

/* Go's ParseInt and then ParseUint with base 0; false if neither takes it. */
static bool resolve_int(struct str s, struct yaml_scalar *ret)
{
    bool negative = s.n && s.p[0] == '-';
    bool sign = s.n && (s.p[0] == '-' || s.p[0] == '+');
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    unsigned int base;
    uint64_t v = 0;

    s.p += sign;
    s.n -= sign;
    base = number_base(&s);
    if (!base)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        int d = str_hex_digit(s.p[i]);

        if (d < 0 || d >= (int)base || __builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, (unsigned)d, &v))
            return false;
    }
    if (v > limit && sign)
        return false;
    if (v > limit)
        *ret = (struct yaml_scalar){.kind = YAML_REAL, .d = (double)v};
    else
        *ret =
            (struct yaml_scalar){.kind = YAML_INT, .i = negative ? (int64_t)(0 - v) : (int64_t)v};
    return true;
}

static size_t skip_digits(struct str s, size_t at)
{
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
        at++;
    return at;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool float_syntax(struct str s)
{
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
    size_t whole = skip_digits(s, at) - at;
    size_t start;

    at += whole;
    if (at < s.n && s.p[at] == '.') {
        start = ++at;
        at = skip_digits(s, at);
        if (whole == 0 && at == start)
            return false;
    } else if (whole == 0) {
        return false;
    }
    if (at < s.n && (s.p[at] == 'e' || s.p[at] == 'E')) {
        at++;
        if (at < s.n && (s.p[at] == '-' || s.p[at] == '+'))
            at++;
        start = at;
        at = skip_digits(s, at);
        if (at == start)
            return false;
    }
    return at == s.n;
}

static bool resolve_float(struct str s, struct yaml_scalar *ret)
{
    char text[MAX_NUMBER_BYTES + 1];
    double d;

    if (!float_syntax(s))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    d = strtod(text, NULL);
    if (!isfinite(d))
        return false;
    *ret = (struct yaml_scalar){.kind = YAML_REAL, .d = d};
    return true;
}

static struct str drop_underscores(struct str s, char *room)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_')
            room[n++] = s.p[i];
    return (struct str){room, n};
}

struct yaml_scalar yaml_resolve(struct str text)
{
    struct yaml_scalar ret = {.kind = YAML_STRING};
    char room[MAX_NUMBER_BYTES];
    struct str plain;
    char c;

    if (resolve_word(text, &ret) || text.n > MAX_NUMBER_BYTES)
        return ret;
    c = text.p[0];
    if (c == '.') {
        (void)resolve_float(text, &ret);
    } else if (c == '+' || c == '-' || (c >= '0' && c <= '9')) {
        plain = drop_underscores(text, room);
        if (!resolve_int(plain, &ret))
            (void)resolve_float(plain, &ret);
    }
    return ret;
}

static struct jsn *make_value(struct arena *a, struct yaml_scalar s, struct str text)
{
    switch (s.kind) {
    case YAML_NULL:
        return jsn_null(a);
    case YAML_BOOL:
        return jsn_bool(a, s.b);
    case YAML_INT:
        return jsn_int(a, s.i);
    case YAML_REAL:
        /* JSON text has no 3.0: it comes out as 3 and is an integer to the next reader. */
        if (s.d == floor(s.d) && fabs(s.d) < 0x1p63)
            return jsn_int(a, (int64_t)s.d);
        return jsn_real(a, s.d);
    case YAML_STRING:
    case YAML_NOT_JSON:
        break;
    }
    return jsn_str(a, text);
}

static int read_binary(struct arena *a, const struct yaml_token *t, struct jsn **ret, struct err *e)
{
    AUTO(buf_done) struct buf b = {0};

    if (decode_base64(&b, t->text) < 0)
        return err_bad(e, "yaml: line %zu: !!binary value contains invalid base64 data", t->line);
    if (!str_utf8_ok(buf_view(&b)))
        return err_bad(e, "yaml: line %zu: !!binary value is not text, which is all JSON can hold",
                       t->line);
    *ret = jsn_str(a, buf_view(&b));
    return 0;
}

/* The tags of the core types ask for resolution; all others make a string of what follows them. */
static bool tag_resolves(const char *tag)
{
    static const char *const names[] = {"int", "float", "bool", "null"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (starts_with(tag, TAG_PREFIX) && streq(tag + strlen(TAG_PREFIX), names[i]))
            return true;
    return false;
}

static bool tag_fits(const char *tag, enum yaml_kind kind)
{
    if (streq(tag, TAG_PREFIX "int"))
        return kind == YAML_INT;
    if (streq(tag, TAG_PREFIX "float"))
        return kind == YAML_INT || kind == YAML_REAL;
    if (streq(tag, TAG_PREFIX "bool"))
        return kind == YAML_BOOL;
    return !streq(tag, TAG_PREFIX "null") || kind == YAML_NULL;
}

static int resolve_token(const struct yaml_token *t, struct yaml_scalar *ret, struct err *e)
{
    struct yaml_scalar s = {.kind = YAML_STRING};

    if (t->tag ? tag_resolves(t->tag) : t->plain)
        s = yaml_resolve(t->text);
    if (s.kind == YAML_NOT_JSON)
        return err_bad(e, "yaml: line %zu: " STR_FMT " is not a number that JSON can hold", t->line,
                       STR_ARG(t->text));
    if (t->tag && !tag_fits(t->tag, s.kind))
        return err_bad(e, "yaml: line %zu: cannot decode `%.*s` as a !!%s", t->line,
                       (int)MIN(t->text.n, (size_t)40), t->text.p, t->tag + strlen(TAG_PREFIX));
    *ret = s;
    return 0;
}

int yaml_scalar_value(struct arena *a, const struct yaml_token *t, struct jsn **ret_value,
                      struct err *e)
{
    struct yaml_scalar s;
    int r;

    if (streq(t->tag, TAG_PREFIX "binary"))
        return read_binary(a, t, ret_value, e);
    r = resolve_token(t, &s, e);
    if (r < 0)
        return r;
    *ret_value = make_value(a, s, t->text);
    return 0;
}

/* A float as Go's FormatFloat(d, 'g', -1, 32) writes it. */
static struct str real_key(struct arena *a, double d)
{
    char text[64];
    int digits = 0;
    int exponent;

    if (!isfinite((float)d))
        return d < 0 ? STR("-.inf") : STR(".inf");
    do
        (void)snprintf(text, sizeof(text), "%.*e", digits, (double)(float)d);
    while (strtof(text, NULL) != (float)d && ++digits < 9);
    exponent = (int)strtod(strchr(text, 'e') + 1, NULL);
    if (exponent >= -4 && exponent < 6)
        (void)snprintf(text, sizeof(text), "%.*f", MAX(digits - exponent, 0), (double)(float)d);
    return (struct str){arena_strdup(a, text), strlen(text)};
}

int yaml_value_key(struct arena *a, const struct jsn *v, size_t line, struct str *ret_key,
                   struct err *e)
{
    if (v->type == JSN_STRING)
        *ret_key = v->s;
    else if (v->type == JSN_BOOL)
        *ret_key = v->b ? STR("true") : STR("false");
    else if (v->type == JSN_INT)
        *ret_key = str_of(arena_printf(a, "%lld", (long long)v->i));
    else if (v->type == JSN_REAL)
        *ret_key = real_key(a, v->d);
    else
        return err_bad(e, "yaml: line %zu: unsupported map key of type %s", line,
                       jsn_type_name(v->type));
    return 0;
}

int yaml_scalar_key(struct arena *a, const struct yaml_token *t, struct str *ret_key, struct err *e)
{
    struct yaml_scalar s = {.kind = YAML_STRING};
    struct jsn *v;
    int r = yaml_scalar_value(a, t, &v, e);

    if (r == 0 && v->type == JSN_INT)
        r = resolve_token(t, &s, e);
    if (r < 0)
        return r;
    if (s.kind == YAML_REAL) {
        *ret_key = real_key(a, s.d);
        return 0;
    }
    return yaml_value_key(a, v, t->line, ret_key, e);
}
