/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: JSON written with single quotes, and values as such text. */
#pragma once

#include "src/base/test/unit.h"

#include "src/json/jsn.h"

static inline UNUSED const char *swap_quotes(struct arena *a, const char *text, char from, char to)
{
    char *copy = arena_strdup(a, text);

    for (char *p = copy; *p; p++)
        if (*p == from)
            *p = to;
    return copy;
}

/* The value of a text in which ' stands for ". */
static inline UNUSED struct jsn *json_of(struct arena *a, const char *text)
{
    struct err e = {0};
    struct jsn *v;

    if (jsn_parse(a, str_of(swap_quotes(a, text, '\'', '"')), NULL, &v, &e) < 0)
        fail_msg("%s: %s", text, e.text);
    return v;
}

static inline UNUSED const char *text_of(struct arena *a, const struct jsn *v)
{
    AUTO(buf_done) struct buf b = {0};

    if (!v)
        return "(absent)";
    jsn_print(&b, v);
    return swap_quotes(a, buf_str(&b), '"', '\'');
}
