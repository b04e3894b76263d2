/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions: what an object's status says about it, one sentence for each concern. */
#pragma once

#include "src/json/fields.h"

struct api_condition {
    const char *type;   /* "Ready" */
    const char *status; /* True, False, Unknown */
    int64_t generation; /* of the object that it speaks of; 0: none */
    int64_t since_us;   /* last change of status */
    const char *reason; /* one word */
    const char *message;
};

struct api_conditions {
    struct api_condition *items;
    size_t n;
};

extern const struct jsn_field api_condition_fields[];

/* The row of a status table. */
#define API_CONDITIONS_ROW(type)                                                                   \
    {"conditions",                                                                                 \
     JSN_SUBS,                                                                                     \
     offsetof(type, conditions),                                                                   \
     0,                                                                                            \
     .sub = api_condition_fields,                                                                  \
     .size = sizeof(struct api_condition),                                                         \
     .list_type = "map",                                                                           \
     .list_keys = "type",                                                                          \
     .doc = "What is known about the object: Ready, and why it is not."}

const struct api_condition *api_condition_find(const struct api_conditions *list, const char *type);

/*
 * Set one, added at the end if it is new; texts are copied into `a`.  The time of the last change
 * stays as it is while the status does.  Returns whether anything changed.
 */
bool api_condition_set(struct arena *a, struct api_conditions *list,
                       const struct api_condition *want);

/* Remove one; false if it was not there. */
bool api_condition_drop(struct api_conditions *list, const char *type);
