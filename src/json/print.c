/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON values to text.
 *
 * Numbers that are not integers get the fewest digits that read back as the same value.  Strings
 * escape only what RFC 8259 demands; they are valid UTF-8 by construction.
 */
#include <math.h>
#include <stdio.h>

#include "src/json/jsn.h"

void jsn_print_string(struct buf *b, struct str s)
{
    size_t done = 0;

    buf_addc(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        const char *at;

        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        buf_add(b, s.p + done, i - done);
        done = i + 1;
        at = strchr("\"\"\\\\\nn\tt\rr\bb\ff", c);
        if (c && at)
            buf_add(b, (const char[]){'\\', at[1]}, 2);
        else
            buf_printf(b, "\\u%04x", c);
    }
    buf_add(b, s.p + done, s.n - done);
    buf_addc(b, '"');
}

static void print_real(struct buf *b, double d)
{
    char text[40];

    if (d == floor(d) && fabs(d) < 1e15) {
        buf_printf(b, "%.0f", d);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    buf_adds(b, text);
}

/* indent < 0: compact. */
static void new_line(struct buf *b, int indent)
{
    if (indent >= 0)
        buf_printf(b, "\n%*s", indent * 2, "");
}

static void print(struct buf *b, const struct jsn *v, int indent);

static void print_array(struct buf *b, const struct jsn *v, int indent)
{
    int inner = indent < 0 ? -1 : indent + 1;

    buf_addc(b, '[');
    for (size_t i = 0; i < v->a.n; i++) {
        if (i > 0)
            buf_addc(b, ',');
        new_line(b, inner);
        print(b, v->a.items[i], inner);
    }
    if (v->a.n > 0)
        new_line(b, indent);
    buf_addc(b, ']');
}

static void print_object(struct buf *b, const struct jsn *v, int indent)
{
    int inner = indent < 0 ? -1 : indent + 1;

    buf_addc(b, '{');
    for (size_t i = 0; i < v->o.n; i++) {
        if (i > 0)
            buf_addc(b, ',');
        new_line(b, inner);
        jsn_print_string(b, v->o.members[i].key);
        buf_adds(b, indent < 0 ? ":" : ": ");
        print(b, v->o.members[i].value, inner);
    }
    if (v->o.n > 0)
        new_line(b, indent);
    buf_addc(b, '}');
}

static void print(struct buf *b, const struct jsn *v, int indent)
{
    switch (v->type) {
    case JSN_NULL:
        buf_adds(b, "null");
        break;
    case JSN_BOOL:
        buf_adds(b, v->b ? "true" : "false");
        break;
    case JSN_INT:
        buf_printf(b, "%lld", (long long)v->i);
        break;
    case JSN_REAL:
        print_real(b, v->d);
        break;
    case JSN_STRING:
        jsn_print_string(b, v->s);
        break;
    case JSN_ARRAY:
        print_array(b, v, indent);
        break;
    case JSN_OBJECT:
        print_object(b, v, indent);
        break;
    }
}

void jsn_print(struct buf *b, const struct jsn *v)
{
    print(b, v, -1);
}

void jsn_print_pretty(struct buf *b, const struct jsn *v)
{
    print(b, v, 0);
}
