/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of schema validation share. */
#pragma once

#include "src/json/pattern.h"
#include "src/json/structural.h"

/* What one run against one schema found.  `matches` counts what held, so that the alternative of an
 * anyOf that came nearest can be told. */
struct check_result {
    struct schema_faults faults;
    size_t matches;
};

struct checker {
    const struct structural *how;
    struct arena *arena;
    const char *prefix;
    struct buf path; /* as sentences name it, without the prefix */
    struct pattern_budget budget;
    uint64_t steps; /* of this validation that are left */
};

/* What a caller makes of a value against one node; all that is below it included. */
void check_value(struct checker *k, const struct schema *s, const struct jsn *v,
                 struct check_result *r);

/* The single concerns; each adds its faults and what it counts. */
void check_number(struct checker *k, const struct schema *s, const struct jsn *v,
                  struct check_result *r);
void check_string(struct checker *k, const struct schema *s, const struct jsn *v,
                  struct check_result *r);
void check_combinations(struct checker *k, const struct schema *s, const struct jsn *v,
                        struct check_result *r);

/* A fault at the path at hand; `key`, if given, is a member of it. */
void check_fault(struct checker *k, struct check_result *r, const char *reason, const char *key,
                 const char *fmt, ...) PRINTF(5, 6);
/* "Invalid value: <value>: <path> in body <text>". */
void check_invalid(struct checker *k, struct check_result *r, const struct jsn *value,
                   const char *fmt, ...) PRINTF(4, 5);
/* A fault of a combination, which Kubernetes gives no field. */
void check_composite(struct checker *k, struct check_result *r, const char *text);

/* Take over what another result holds. */
void check_merge(struct check_result *r, const struct check_result *other);

bool check_failed(const struct check_result *r);
