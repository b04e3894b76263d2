/* SPDX-License-Identifier: GPL-2.0-or-later */
/* String views for parsing, and checked number parsing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/err.h"

/* A borrowed piece of text; not terminated.  p may be NULL only where n is 0. */
struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p

static inline struct str str_of(const char *s)
{
    return (struct str){s, s ? strlen(s) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_eqz(struct str a, const char *z)
{
    return str_eq(a, str_of(z));
}

/* NULL-tolerant equality of C strings; two NULLs are equal. */
bool streq(const char *a, const char *b);
bool str_eq_nocase(struct str a, struct str b);
bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
bool starts_with(const char *s, const char *prefix);
bool ends_with(const char *s, const char *suffix);
int str_cmp(struct str a, struct str b);

/* The words that go with a count: "%zu %s", n, word_for(n, "pod is", "pods are"). */
static inline const char *word_for(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* Without blanks (space, tab, CR, LF) at both ends. */
struct str str_trim(struct str s);

/*
 * Cut at the first `sep`: *head gets what stands before it, *s the rest after it.  Without a
 * separator *head gets everything and *s becomes empty with p == NULL.  Returns false when *s was
 * exhausted (p == NULL) already, so that `while (str_split(&s, ',', &part))` visits every part.
 */
bool str_split(struct str *s, char sep, struct str *head);

/* Offset of the first c, or s.n. */
size_t str_find(struct str s, char c);

/* Owned, terminated copy. */
char *str_dup(struct str s) __attribute__((returns_nonnull));

/* Whole text to a number in base 10; anything else (blanks, signs where none fits, overflow) fails.
 */
int str_to_i64(struct str s, int64_t *ret_value) MUST_CHECK;
int str_to_u64(struct str s, uint64_t *ret_value) MUST_CHECK;
int str_to_u32(struct str s, uint32_t *ret_value) MUST_CHECK;

/* The value of a hexadecimal digit, -1 for any other character. */
int str_hex_digit(char c);

/* Valid UTF-8 without overlong forms and surrogates. */
bool str_utf8_ok(struct str s);
/* A code point, at most U+10FFFF, as UTF-8; returns how many bytes it takes. */
size_t str_put_utf8(char out[4], uint32_t c);
