/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSONPaths of printer columns.
 *
 * A path is a row of steps; each goes from one value to some of those below it.  Since a column
 * shows one value only, the search goes depth first and stops at the first that is found: "[*]" and
 * filters try one item after the other.  Paths come with definitions from outside: their length
 * bounds the depth of the search.
 */
#include "src/cluster/apiserver/printers/column_path.h"

#define PATH_MAX_BYTES 1024

static const struct jsn *find(struct arena *a, const struct jsn *v, struct str path);

static struct str behind(struct str s, size_t n)
{
    return (struct str){s.p + n, s.n - n};
}

/* Members or items, the first that leads on. */
static const struct jsn *find_in_all(struct arena *a, const struct jsn *v, struct str rest)
{
    const struct jsn *found;

    JSN_FOR_ITEMS (item, v)
        if ((found = find(a, item, rest)))
            return found;
    JSN_FOR_MEMBERS (m, v)
        if ((found = find(a, m->value, rest)))
            return found;
    return NULL;
}

/* ".name", where a backslash takes the next character as it is. */
static const struct jsn *find_member(struct arena *a, const struct jsn *v, struct str path)
{
    AUTO(buf_done) struct buf name = {0};
    size_t i = 0;

    while (i < path.n && path.p[i] != '.' && path.p[i] != '[') {
        if (path.p[i] == '\\' && i + 1 < path.n)
            i++;
        buf_addc(&name, path.p[i++]);
    }
    if (name.n == 0)
        return NULL;
    if (str_eqz(buf_view(&name), "*"))
        return find_in_all(a, v, behind(path, i));
    return find(a, jsn_member(v, buf_view(&name)), behind(path, i));
}

/* The text between quotes, NULL if it is not quoted. */
static const char *unquoted(struct arena *a, struct str s)
{
    s = str_trim(s);
    if (s.n < 2 || (s.p[0] != '\'' && s.p[0] != '"') || s.p[s.n - 1] != s.p[0])
        return NULL;
    return arena_str(a, (struct str){s.p + 1, s.n - 2});
}

/* The right side of a filter: a text, a number, true or false. */
static const struct jsn *literal(struct arena *a, struct str s)
{
    const char *text = unquoted(a, s);
    struct err e = {0};
    struct jsn *v;

    if (text)
        return jsn_string(a, text);
    return jsn_parse(a, str_trim(s), NULL, &v, &e) == 0 ? v : NULL;
}

static bool holds(const struct jsn *left, struct str operator, const struct jsn * right)
{
    if (str_eqz(operator, "=="))
        return jsn_equal(left, right);
    if (str_eqz(operator, "!="))
        return !jsn_equal(left, right);
    if (!jsn_is(left, JSN_INT) || !jsn_is(right, JSN_INT))
        return false;
    if (str_eqz(operator, "<"))
        return left->i < right->i;
    if (str_eqz(operator, ">"))
        return left->i > right->i;
    if (str_eqz(operator, "<="))
        return left->i <= right->i;
    return str_eqz(operator, ">=") && left->i >= right->i;
}

/* "@.type=="Ready"", or "@.name" alone: it must be there. */
static bool passes(struct arena *a, const struct jsn *item, struct str condition)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">"};
    const char *text = arena_str(a, condition);
    const struct jsn *left;

    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        const char *at = strstr(text, operators[i]);

        if (!at)
            continue;
        left = find(a, item, str_trim((struct str){text, (size_t)(at - text)}));
        return left &&
               holds(left, str_of(operators[i]), literal(a, str_of(at + strlen(operators[i]))));
    }
    return find(a, item, str_trim(condition));
}

static const struct jsn *find_filtered(struct arena *a, const struct jsn *v, struct str condition,
                                       struct str rest)
{
    JSN_FOR_ITEMS (item, v) {
        const struct jsn *found = passes(a, item, condition) ? find(a, item, rest) : NULL;

        if (found)
            return found;
    }
    return NULL;
}

/* The end of a bracket, past quotes; path.n if there is none. */
static size_t bracket_end(struct str path)
{
    char quote = '\0';

    for (size_t i = 0; i < path.n; i++) {
        char ch = path.p[i];

        if (quote != '\0')
            quote = ch == quote ? '\0' : quote;
        else if (ch == '\'' || ch == '"')
            quote = ch;
        else if (ch == ']')
            return i;
    }
    return path.n;
}

static const struct jsn *find_bracket(struct arena *a, const struct jsn *v, struct str path)
{
    size_t end = bracket_end(path);
    struct str inside = str_trim((struct str){path.p, end});
    const char *key = unquoted(a, inside);
    struct str rest;
    int64_t i;

    if (end == path.n)
        return NULL;
    rest = behind(path, end + 1);
    if (key)
        return find(a, jsn_key(v, key), rest);
    if (str_eqz(inside, "*"))
        return find_in_all(a, v, rest);
    if (str_starts(inside, "?(") && str_ends(inside, ")"))
        return find_filtered(a, v, (struct str){inside.p + 2, inside.n - 3}, rest);
    if (str_to_i64(inside, &i) < 0)
        return NULL;
    if (i < 0)
        i += (int64_t)jsn_len(v);
    return i < 0 ? NULL : find(a, jsn_item(v, (size_t)i), rest);
}

static const struct jsn *find(struct arena *a, const struct jsn *v, struct str path)
{
    if (!v || path.n == 0)
        return v;
    if (path.p[0] == '@' || path.p[0] == '$')
        return find(a, v, behind(path, 1));
    if (path.p[0] == '[')
        return find_bracket(a, v, behind(path, 1));
    if (path.p[0] != '.')
        return NULL;
    path = behind(path, 1);
    return path.n > 0 && path.p[0] == '[' ? find(a, v, path) : find_member(a, v, path);
}

const struct jsn *column_path_find(struct arena *a, const struct jsn *object, const char *path)
{
    struct str p = str_trim(str_of(path));

    if (p.n == 0 || p.n > PATH_MAX_BYTES)
        return NULL;
    return find(a, object, p);
}
