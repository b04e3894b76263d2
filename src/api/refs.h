/* SPDX-License-Identifier: GPL-2.0-or-later */
/* References to other objects of the same namespace. */
#pragma once

#include "src/json/fields.h"

/* By name. */
struct api_ref {
    const char *name;
};

struct api_refs {
    struct api_ref *items;
    size_t n;
};

/* One key of a Secret or a ConfigMap. */
struct api_key_ref {
    const char *name;
    const char *key;
    bool optional;
};

/* To a Controller; its namespace may be written, if it is the object's own. */
struct api_controller_ref {
    const char *name;
    const char *namespace;
};

extern const struct jsn_field api_ref_fields[];
extern const struct jsn_field api_secret_key_fields[];
extern const struct jsn_field api_config_key_fields[];
extern const struct jsn_field api_controller_ref_fields[];

/* Same name and key; two NULLs are equal. */
bool api_key_ref_equal(const struct api_key_ref *a, const struct api_key_ref *b);
