/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects for the node's tests: JSON with single quotes, and pods decoded from it. */
#pragma once

#include "src/base/test/unit.h"
#include "src/cluster/node/pod_spec.h"

/* JSON as text with ' for ", which reads better in C. */
static inline struct jsn *object_of(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text);
    struct jsn *v = NULL;
    struct err e = {0};

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    if (jsn_parse(a, str_of(copy), NULL, &v, &e) < 0)
        fail_msg("%s: %s", e.text, copy);
    return v;
}

/* A pod of this spec, named p in ns. */
static inline UNUSED struct pod_spec *pod_of(struct arena *a, const char *spec)
{
    const char *text =
        arena_printf(a, "{'metadata':{'name':'p','namespace':'ns','uid':'u-1'},'spec':%s}", spec);
    struct pod_spec *p = NULL;
    struct err e = {0};

    assert_int_equal(pod_spec_decode(a, object_of(a, text), &p, &e), 0);
    return p;
}
