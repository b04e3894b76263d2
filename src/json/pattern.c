/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions on PCRE2.
 *
 * Schemas are written for Go's regexp package.  POSIX expressions lack \d, (?:...) and lazy
 * repetition; PCRE2 has all of RE2's syntax and more, and pattern_syntax.c refuses the "more". What
 * RE2 promises and PCRE2 does not is linear time: PCRE2 backtracks.  So every match is counted
 * against a budget.  A match starts with a few steps for each byte, which ordinary patterns never
 * exceed; one that does is tried again with as much as a single match may have, and all of that is
 * charged, since PCRE2 does not say how much it used.  A used-up budget is an answer of its own, so
 * that callers refuse the value instead of accepting it unseen.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "src/base/alloc.h"
#include "src/base/map.h"
#include "src/json/pattern.h"

#define CACHE_MAX 1000
#define STEPS_BASE 1000
#define STEPS_PER_BYTE 8
#define STEPS_ONE_MATCH 1000000
#define HEAP_KIB 16384

struct pattern {
    pcre2_code *code;
};

struct pattern_cache {
    struct map patterns;
};

struct pattern *pattern_free(struct pattern *p)
{
    if (!p)
        return NULL;
    pcre2_code_free(p->code);
    free(p);
    return NULL;
}

/* The compiler's own complaints, for the few mistakes that the check of the syntax leaves to it. */
static int compile_error(struct err *e, const char *text, int code)
{
    PCRE2_UCHAR8 why[160];

    if (code == PCRE2_ERROR_CLASS_RANGE_ORDER)
        return err_bad(e, "error parsing regexp: invalid character class range: `%s`", text);
    if (pcre2_get_error_message(code, why, sizeof(why)) < 0)
        why[0] = '\0';
    return err_bad(e, "error parsing regexp: %s: `%s`", (const char *)why, text);
}

int pattern_compile(const char *text, struct pattern **ret, struct err *e)
{
    AUTO(pattern_free) struct pattern *p = xcalloc(1, sizeof(*p));
    pcre2_compile_context *context;
    size_t n = strlen(text), at;
    int code, r;

    if (n > PATTERN_MAX_BYTES)
        return err_bad(e, "error parsing regexp: expression too large");
    r = pattern_check_syntax(str_of(text), e);
    if (r < 0)
        return r;
    context = pcre2_compile_context_create(NULL);
    if (!context)
        return err_set(e, -ENOMEM, ERR_RETRY, "out of memory");
    (void)pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    p->code = pcre2_compile((PCRE2_SPTR)text, n,
                            PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE |
                                PCRE2_NEVER_BACKSLASH_C | PCRE2_NO_UTF_CHECK,
                            &code, &at, context);
    pcre2_compile_context_free(context);
    if (!p->code)
        return compile_error(e, text, code);
    *ret = TAKE(p);
    return 0;
}

static int match_limited(const struct pattern *p, struct str subject, uint32_t steps)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int r = PCRE2_ERROR_NOMEMORY;

    if (context && data) {
        (void)pcre2_set_match_limit(context, steps);
        (void)pcre2_set_heap_limit(context, HEAP_KIB);
        r = pcre2_match(p->code, (PCRE2_SPTR)(subject.p ? subject.p : ""), subject.n, 0,
                        PCRE2_NO_UTF_CHECK, data, context);
    }
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    return r;
}

static bool spend(struct pattern_budget *budget, uint64_t steps)
{
    if (budget->steps < steps)
        return false;
    budget->steps -= steps;
    return true;
}

int pattern_match(const struct pattern *p, struct str subject, struct pattern_budget *budget)
{
    uint64_t first = STEPS_BASE + STEPS_PER_BYTE * (uint64_t)subject.n;
    int r;

    if (!spend(budget, MIN(first, STEPS_ONE_MATCH)))
        return -E2BIG;
    r = match_limited(p, subject, (uint32_t)MIN(first, STEPS_ONE_MATCH));
    if (r == PCRE2_ERROR_MATCHLIMIT && first < STEPS_ONE_MATCH) {
        if (!spend(budget, STEPS_ONE_MATCH))
            return -E2BIG;
        r = match_limited(p, subject, STEPS_ONE_MATCH);
    }
    if (r == PCRE2_ERROR_NOMATCH)
        return 0;
    return r < 0 ? -E2BIG : 1;
}

static void free_pattern(void *p)
{
    (void)pattern_free(p);
}

struct pattern_cache *pattern_cache_new(void)
{
    struct pattern_cache *c = xcalloc(1, sizeof(*c));

    map_init(&c->patterns, free_pattern);
    return c;
}

struct pattern_cache *pattern_cache_free(struct pattern_cache *c)
{
    if (!c)
        return NULL;
    map_done(&c->patterns);
    free(c);
    return NULL;
}

const struct pattern *pattern_cached(struct pattern_cache *c, const char *text, struct err *e)
{
    struct pattern *p = map_get(&c->patterns, str_of(text));

    if (p)
        return p;
    if (pattern_compile(text, &p, e) < 0)
        return NULL;
    if (c->patterns.n >= CACHE_MAX) {
        map_done(&c->patterns);
        map_init(&c->patterns, free_pattern);
    }
    (void)map_put(&c->patterns, str_of(text), p);
    return p;
}
