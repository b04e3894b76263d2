/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests: the schema of a CRD, from JSON written with single quotes. */
#pragma once

#include "src/json/schema_openapi.h"
#include "src/json/test/json_text.h"

static inline UNUSED struct schema *schema_of(struct arena *a, const char *text)
{
    struct err e = {0};
    struct schema *s;

    if (schema_from_openapi(a, json_of(a, text), &s, &e) < 0)
        fail_msg("%s: %s", text, e.text);
    return s;
}
