/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that aborts when memory is out: a controller is crash-only, its truth is in a store.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "src/base/cleanup.h"

/* Each returns owned memory, never NULL.  Sizes that come from outside are capped by the caller. */
void *xmalloc(size_t n) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) PRINTF(1, 2) __attribute__((malloc, returns_nonnull));
char *xvasprintf(const char *fmt, va_list ap) PRINTF(1, 0) __attribute__((malloc, returns_nonnull));

/* NULL-tolerant duplicate: NULL stays NULL. */
char *xstrdup_null(const char *s);

/*
 * Grow the array at *p (of `size`-byte items) so that it holds at least `want` items; *cap is its
 * capacity in items.  Growth is geometric; existing items are kept, new ones are not initialised.
 */
void array_reserve(void *p, size_t *cap, size_t want, size_t size);
