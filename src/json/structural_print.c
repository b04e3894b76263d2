/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values in messages, as kube-apiserver prints them, and in one canonical form for comparing.
 *
 * Maps and lists are JSON, sorted by key; %v of a number turns to an exponent below 1e-4 and from
 * 1e21 on.  Strings get %q: quotes, and escapes for what does not print.
 */
#include <math.h>
#include <stdio.h>

#include "src/base/alloc.h"
#include "src/json/structural.h"

static int by_key(const void *a, const void *b)
{
    const struct jsn_member *const *x = a, *const *y = b;

    return str_cmp((*x)->key, (*y)->key);
}

/* The members in the order of their keys; owned. */
static const struct jsn_member **sorted(const struct jsn *v)
{
    const struct jsn_member **list = xcalloc(v->o.n + 1, sizeof(struct jsn_member *));
    size_t n = 0;

    JSN_FOR_MEMBERS (m, v)
        list[n++] = m;
    qsort(list, n, sizeof(struct jsn_member *), by_key);
    return list;
}

void schema_print_go_string(struct buf *b, struct str s)
{
    static const char escapes[] = "\aa\bb\ff\nn\rr\tt\vv\"\"\\\\";

    buf_addc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        const char *e = c ? strchr(escapes, c) : NULL;

        if (e && (e - escapes) % 2 == 0)
            buf_printf(b, "\\%c", e[1]);
        else if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            buf_printf(b, "\\x%02x", c);
        else
            buf_addc(b, (char)c);
    }
    buf_addc(b, '"');
}

void schema_print_go_real(struct buf *b, double d)
{
    char text[64];
    int digits = 1, exponent;

    while (digits < 17) {
        (void)snprintf(text, sizeof(text), "%.*e", digits - 1, d);
        if (strtod(text, NULL) == d)
            break;
        digits++;
    }
    if (digits == 17)
        (void)snprintf(text, sizeof(text), "%.16e", d);
    exponent = d == 0 ? 0 : (int)strtod(strchr(text, 'e') + 1, NULL);
    if (exponent >= -4 && exponent < 21)
        buf_printf(b, "%.*f", MAX(digits - 1 - exponent, 0), d);
    else
        buf_adds(b, text);
}

static void print_array(struct buf *b, const struct jsn *v)
{
    buf_addc(b, '[');
    JSN_FOR_ITEMS (item, v) {
        buf_adds(b, item_i > 0 ? "," : "");
        schema_print_canonical(b, item);
    }
    buf_addc(b, ']');
}

static void print_object(struct buf *b, const struct jsn *v)
{
    const struct jsn_member **list = sorted(v);

    buf_addc(b, '{');
    for (size_t i = 0; i < jsn_len(v); i++) {
        buf_adds(b, i > 0 ? "," : "");
        jsn_print_string(b, list[i]->key);
        buf_addc(b, ':');
        schema_print_canonical(b, list[i]->value);
    }
    buf_addc(b, '}');
    free(list);
}

void schema_print_canonical(struct buf *b, const struct jsn *v)
{
    if (jsn_is(v, JSN_ARRAY))
        print_array(b, v);
    else if (jsn_is(v, JSN_OBJECT))
        print_object(b, v);
    else if (v)
        jsn_print(b, v);
    else
        buf_adds(b, "null");
}

void schema_print_go(struct buf *b, const struct jsn *v)
{
    if (jsn_is(v, JSN_STRING))
        schema_print_go_string(b, v->s);
    else if (jsn_is(v, JSN_REAL))
        schema_print_go_real(b, v->d);
    else
        schema_print_canonical(b, v);
}
