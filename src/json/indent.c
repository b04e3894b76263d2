/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON text, laid out for people while it goes by.
 *
 * It works on text and not on values, so that an answer of any length can be laid out piece by
 * piece, in no more memory than a piece.  The text must be correct JSON: it is our own.  Blanks and
 * line ends between values are dropped and set again.  Empty objects and lists stay together.
 */
#include "src/json/indent.h"

#define DEEPEST 128 /* deeper levels are not indented further */

static void start_line(struct jsn_indent *at, struct buf *out)
{
    size_t depth = at->depth < DEEPEST ? at->depth : DEEPEST;

    buf_addc(out, '\n');
    for (size_t i = 0; i < depth; i++)
        buf_adds(out, "  ");
}

static void take_in_string(struct jsn_indent *at, char c)
{
    if (at->escaped)
        at->escaped = false;
    else if (c == '\\')
        at->escaped = true;
    else if (c == '"')
        at->in_string = false;
}

static void close_level(struct jsn_indent *at, struct buf *out, char c)
{
    at->depth--;
    if (!at->opened)
        start_line(at, out);
    at->opened = false;
    buf_addc(out, c);
}

/* A byte between strings. */
static void take(struct jsn_indent *at, struct buf *out, char c)
{
    if (c == '}' || c == ']') {
        close_level(at, out, c);
        return;
    }
    if (at->opened)
        start_line(at, out);
    at->opened = c == '{' || c == '[';
    at->in_string = c == '"';
    buf_addc(out, c);
    if (at->opened)
        at->depth++;
    else if (c == ',')
        start_line(at, out);
    else if (c == ':')
        buf_addc(out, ' ');
}

void jsn_indent(struct jsn_indent *at, struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (at->in_string) {
            buf_addc(out, c);
            take_in_string(at, c);
        } else if (!strchr(" \t\r\n", c)) {
            take(at, out, c);
        }
    }
}
