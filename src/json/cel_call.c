/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of CEL: the language's own, and those of Kubernetes' library for texts.
 *
 * Texts are counted in code points, as cel-go does it.  What makes new text draws on the memory
 * that a rule has; a result that is too large is an error of the rule.
 */
#include <ctype.h>
#include <math.h>

#include "src/json/cel_node.h"
#include "src/json/structural.h"

static size_t rune_length(struct str s, size_t at)
{
    size_t n = 1;

    while (at + n < s.n && ((unsigned char)s.p[at + n] & 0xc0) == 0x80)
        n++;
    return n;
}

static int64_t count_runes(struct str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.n; i += rune_length(s, i))
        n++;
    return n;
}

/* Byte offset of a code point; s.n for the one after the last.  SIZE_MAX: beyond. */
static size_t rune_offset(struct str s, int64_t index)
{
    size_t at = 0;

    if (index < 0)
        return SIZE_MAX;
    for (; index > 0 && at < s.n; index--)
        at += rune_length(s, at);
    return index > 0 ? SIZE_MAX : at;
}

static struct cel_value size(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)n;
    if (args[0].kind == CEL_IS_STRING)
        return cel_int(count_runes(args[0].s));
    if (args[0].kind == CEL_IS_LIST || args[0].kind == CEL_IS_OBJECT)
        return cel_int((int64_t)jsn_len(args[0].v));
    return cel_no_overload(r);
}

static bool texts(const struct cel_value *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (args[i].kind != CEL_IS_STRING)
            return false;
    return true;
}

static struct cel_value matches(struct cel_run *r, const struct cel_value *args, size_t n)
{
    const struct pattern *p;
    struct err e = {0};
    int m;

    if (!texts(args, n))
        return cel_no_overload(r);
    p = pattern_cached(r->in->patterns, arena_str(r->a, args[1].s), &e);
    if (!p)
        return cel_error(r, "%s", e.text);
    m = pattern_match(p, args[0].s, r->in->budget);
    return m < 0 ? cel_error(r, "cost limit exceeded") : cel_bool(m == 1);
}

static struct cel_value starts(struct cel_run *r, const struct cel_value *args, size_t n)
{
    if (!texts(args, n))
        return cel_no_overload(r);
    return cel_bool(args[0].s.n >= args[1].s.n &&
                    str_eq((struct str){args[0].s.p, args[1].s.n}, args[1].s));
}

static struct cel_value ends(struct cel_run *r, const struct cel_value *args, size_t n)
{
    struct str s = args[0].s, end = args[1].s;

    if (!texts(args, n))
        return cel_no_overload(r);
    return cel_bool(s.n >= end.n && str_eq((struct str){s.p + s.n - end.n, end.n}, end));
}

/* Where it is, from a byte on; SIZE_MAX: nowhere. */
static size_t find(struct str s, struct str what, size_t from)
{
    const char *p;

    if (from > s.n)
        return SIZE_MAX;
    if (what.n == 0)
        return from;
    p = memmem(s.p + from, s.n - from, what.p, what.n);
    return p ? (size_t)(p - s.p) : SIZE_MAX;
}

static struct cel_value contains(struct cel_run *r, const struct cel_value *args, size_t n)
{
    if (!texts(args, n))
        return cel_no_overload(r);
    return cel_bool(find(args[0].s, args[1].s, 0) != SIZE_MAX);
}

static struct cel_value to_int(struct cel_run *r, const struct cel_value *args, size_t n)
{
    int64_t i;

    (void)n;
    if (args[0].kind == CEL_IS_INT)
        return args[0];
    if (args[0].kind == CEL_IS_DOUBLE)
        return fabs(args[0].d) < 9.2e18 ? cel_int((int64_t)args[0].d)
                                        : cel_error(r, "integer overflow");
    if (args[0].kind != CEL_IS_STRING)
        return cel_no_overload(r);
    return str_to_i64(args[0].s, &i) == 0 ? cel_int(i)
                                          : cel_error(r, "type conversion error from 'string' to "
                                                         "'int'");
}

static struct cel_value to_double(struct cel_run *r, const struct cel_value *args, size_t n)
{
    char *end;
    const char *text;
    double d;

    (void)n;
    if (args[0].kind == CEL_IS_DOUBLE)
        return args[0];
    if (args[0].kind == CEL_IS_INT)
        return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = (double)args[0].i};
    if (args[0].kind != CEL_IS_STRING)
        return cel_no_overload(r);
    text = arena_str(r->a, args[0].s);
    d = strtod(text, &end);
    if (!*text || *end)
        return cel_error(r, "type conversion error from 'string' to 'double'");
    return (struct cel_value){.kind = CEL_IS_DOUBLE, .d = d};
}

static struct cel_value to_string(struct cel_run *r, const struct cel_value *args, size_t n)
{
    AUTO(buf_done) struct buf b = {0};

    (void)n;
    if (args[0].kind == CEL_IS_STRING)
        return args[0];
    if (args[0].kind == CEL_IS_BOOL)
        buf_adds(&b, args[0].b ? "true" : "false");
    else if (args[0].kind == CEL_IS_INT)
        buf_printf(&b, "%lld", (long long)args[0].i);
    else if (args[0].kind == CEL_IS_DOUBLE)
        schema_print_go_real(&b, args[0].d);
    else
        return cel_no_overload(r);
    return cel_string(str_of(arena_str(r->a, buf_view(&b))));
}

static struct cel_value dyn(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)r;
    (void)n;
    return args[0];
}

static const char *const type_names[] = {
    [CEL_IS_NULL] = "null_type", [CEL_IS_BOOL] = "bool",     [CEL_IS_INT] = "int",
    [CEL_IS_DOUBLE] = "double",  [CEL_IS_STRING] = "string", [CEL_IS_LIST] = "list",
    [CEL_IS_OBJECT] = "map",     [CEL_IS_TYPE] = "type"};

bool cel_is_type(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(type_names); i++)
        if (str_eqz(name, type_names[i]))
            return true;
    return str_eqz(name, "uint") || str_eqz(name, "bytes");
}

static struct cel_value type(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)r;
    (void)n;
    return (struct cel_value){.kind = CEL_IS_TYPE, .text = type_names[args[0].kind]};
}

static struct cel_value change_case(struct cel_run *r, const struct cel_value *args, bool upper)
{
    char *text;

    if (args[0].kind != CEL_IS_STRING)
        return cel_no_overload(r);
    text = arena_str(r->a, args[0].s);
    for (size_t i = 0; i < args[0].s.n; i++)
        if ((unsigned char)text[i] < 0x80)
            text[i] =
                (char)(upper ? toupper((unsigned char)text[i]) : tolower((unsigned char)text[i]));
    return cel_string((struct str){text, args[0].s.n});
}

static struct cel_value lower(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)n;
    return change_case(r, args, false);
}

static struct cel_value upper(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)n;
    return change_case(r, args, true);
}

static struct cel_value trim(struct cel_run *r, const struct cel_value *args, size_t n)
{
    return texts(args, n) ? cel_string(str_trim(args[0].s)) : cel_no_overload(r);
}

static struct cel_value substring(struct cel_run *r, const struct cel_value *args, size_t n)
{
    struct str s = args[0].s;
    size_t from, to = s.n;

    if (args[0].kind != CEL_IS_STRING || args[1].kind != CEL_IS_INT ||
        (n == 3 && args[2].kind != CEL_IS_INT))
        return cel_no_overload(r);
    from = rune_offset(s, args[1].i);
    if (n == 3)
        to = rune_offset(s, args[2].i);
    if (from == SIZE_MAX || to == SIZE_MAX || from > to)
        return cel_error(r, "index out of range: %lld",
                         (long long)(from == SIZE_MAX || n < 3 ? args[1].i : args[2].i));
    return cel_string((struct str){s.p + from, to - from});
}

static struct cel_value char_at(struct cel_run *r, const struct cel_value *args, size_t n)
{
    struct str s = args[0].s;
    size_t at;

    (void)n;
    if (args[0].kind != CEL_IS_STRING || args[1].kind != CEL_IS_INT)
        return cel_no_overload(r);
    at = rune_offset(s, args[1].i);
    if (at == SIZE_MAX)
        return cel_error(r, "index out of range: %lld", (long long)args[1].i);
    return cel_string((struct str){s.p + at, at < s.n ? rune_length(s, at) : 0});
}

/* Of a text in a text, in code points; of an item in a list. */
static struct cel_value index_of(struct cel_run *r, const struct cel_value *args, size_t n)
{
    (void)n;
    if (args[0].kind == CEL_IS_STRING && args[1].kind == CEL_IS_STRING) {
        size_t at = find(args[0].s, args[1].s, 0);

        return cel_int(at == SIZE_MAX ? -1 : count_runes((struct str){args[0].s.p, at}));
    }
    if (args[0].kind != CEL_IS_LIST)
        return cel_no_overload(r);
    JSN_FOR_ITEMS (item, args[0].v) {
        struct cel_value v = cel_value_of(item, args[0].schema ? args[0].schema->items : NULL);

        if (cel_equal(&args[1], &v))
            return cel_int((int64_t)item_i);
    }
    return cel_int(-1);
}

static struct cel_value replace(struct cel_run *r, const struct cel_value *args, size_t n)
{
    AUTO(buf_done) struct buf b = {.max = 1 << 20};
    struct str s = args[0].s;
    size_t at = 0, next;

    if (!texts(args, n))
        return cel_no_overload(r);
    if (args[1].s.n == 0) {
        struct cel_value beyond = {.kind = CEL_IS_BEYOND};

        return beyond;
    }
    while ((next = find(s, args[1].s, at)) != SIZE_MAX) {
        buf_add(&b, s.p + at, next - at);
        buf_addstr(&b, args[2].s);
        at = next + args[1].s.n;
    }
    buf_add(&b, s.p + at, s.n - at);
    if (b.overflow)
        return cel_error(r, "cost limit exceeded");
    return cel_string((struct str){arena_str(r->a, buf_view(&b)), b.n});
}

static struct cel_value split(struct cel_run *r, const struct cel_value *args, size_t n)
{
    struct jsn *list = jsn_array(r->a);
    struct str s = args[0].s;
    size_t at = 0, next;

    if (!texts(args, n))
        return cel_no_overload(r);
    for (; args[1].s.n == 0 && at < s.n; at += next) {
        next = rune_length(s, at);
        jsn_append(r->a, list, jsn_str(r->a, (struct str){s.p + at, next}));
    }
    while (args[1].s.n > 0 && (next = find(s, args[1].s, at)) != SIZE_MAX) {
        jsn_append(r->a, list, jsn_str(r->a, (struct str){s.p + at, next - at}));
        at = next + args[1].s.n;
    }
    if (args[1].s.n > 0)
        jsn_append(r->a, list, jsn_str(r->a, (struct str){s.p + at, s.n - at}));
    return (struct cel_value){.kind = CEL_IS_LIST, .v = list};
}

static struct cel_value join(struct cel_run *r, const struct cel_value *args, size_t n)
{
    AUTO(buf_done) struct buf b = {.max = 1 << 20};

    if (args[0].kind != CEL_IS_LIST || (n == 2 && args[1].kind != CEL_IS_STRING))
        return cel_no_overload(r);
    JSN_FOR_ITEMS (item, args[0].v) {
        if (!jsn_is(item, JSN_STRING))
            return cel_no_overload(r);
        if (item_i > 0 && n == 2)
            buf_addstr(&b, args[1].s);
        buf_addstr(&b, item->s);
    }
    if (b.overflow)
        return cel_error(r, "cost limit exceeded");
    return cel_string((struct str){arena_str(r->a, buf_view(&b)), b.n});
}

static const struct cel_function functions[] = {
    {"size", false, 1, size},
    {"size", true, 1, size},
    {"matches", false, 2, matches},
    {"matches", true, 2, matches},
    {"startsWith", true, 2, starts},
    {"endsWith", true, 2, ends},
    {"contains", true, 2, contains},
    {"int", false, 1, to_int},
    {"double", false, 1, to_double},
    {"string", false, 1, to_string},
    {"dyn", false, 1, dyn},
    {"type", false, 1, type},
    {"lowerAscii", true, 1, lower},
    {"upperAscii", true, 1, upper},
    {"trim", true, 1, trim},
    {"substring", true, 2, substring},
    {"substring", true, 3, substring},
    {"charAt", true, 2, char_at},
    {"indexOf", true, 2, index_of},
    {"replace", true, 3, replace},
    {"split", true, 2, split},
    {"join", true, 1, join},
    {"join", true, 2, join},
    {"min", true, 1, cel_list_min},
    {"max", true, 1, cel_list_max},
    {"isSorted", true, 1, cel_list_is_sorted},
    {"sum", true, 1, cel_list_sum},
};

const struct cel_function *cel_find_function(struct str name, bool member, size_t n_args)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (str_eqz(name, functions[i].name) && functions[i].member == member &&
            functions[i].n_args == n_args)
            return &functions[i];
    return NULL;
}
