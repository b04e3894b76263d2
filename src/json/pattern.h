/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular expressions as schemas write them: Go's (RE2) syntax, with bounded work. */
#pragma once

#include "src/base/str.h"

#define PATTERN_MAX_BYTES ((size_t)64 << 10)

/*
 * What matching may still cost, in steps of the matcher.  Patterns come from whoever may write a
 * schema and subjects from whoever may write an object, so that one request gets one budget for all
 * its matches.
 */
struct pattern_budget {
    uint64_t steps;
};

#define PATTERN_BUDGET_STEPS 50000000

struct pattern;

/*
 * Compile.  Fails where Go's regexp package does, with a sentence of the same form ("error parsing
 * regexp: missing closing ): `(a`"): look-around, back references and possessive repetition, which
 * RE2 cannot do in linear time, are refused.  *ret is owned.
 */
int pattern_compile(const char *text, struct pattern **ret, struct err *e) MUST_CHECK;
struct pattern *pattern_free(struct pattern *p);
DEFINE_AUTO(struct pattern, pattern_free);

/* Does it match anywhere in the subject (UTF-8)?  1 or 0; -E2BIG when the budget is used up. */
int pattern_match(const struct pattern *p, struct str subject,
                  struct pattern_budget *budget) MUST_CHECK;

/* Compiled patterns by text; keeps at most a thousand, then starts with none again.  NULL is
 * refused. */
struct pattern_cache;
struct pattern_cache *pattern_cache_new(void);
struct pattern_cache *pattern_cache_free(struct pattern_cache *c);
DEFINE_AUTO(struct pattern_cache, pattern_cache_free);

/* The compiled pattern, borrowed until the next call; NULL (with a sentence in e) if it is bad. */
const struct pattern *pattern_cached(struct pattern_cache *c, const char *text, struct err *e);

/* Is the text a pattern in Go's syntax, as far as the matcher's own compiler would not see? */
int pattern_check_syntax(struct str text, struct err *e) MUST_CHECK;
