/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects for the node's tests: JSON with single quotes, and pods decoded from it. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"
#include "src/json/test/json_text.h"

/* A pod of this spec, named p in ns. */
static inline UNUSED struct pod_spec *pod_of(struct arena *a, const char *spec)
{
    const char *text =
        arena_printf(a, "{'metadata':{'name':'p','namespace':'ns','uid':'u-1'},'spec':%s}", spec);
    struct pod_spec *p = NULL;
    struct err e = {0};

    assert_int_equal(pod_spec_decode(a, json_of(a, text), &p, &e), 0);
    return p;
}
