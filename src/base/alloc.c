/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocation that aborts.
 *
 * A process that cannot get a few bytes cannot do anything useful about it either; it stops at
 * once, is started again by whoever keeps it, and converges from the store.  Large sizes that come
 * from outside never reach these functions unchecked: their callers cap them first and answer with
 * an error.
 */
#include "src/base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void NORETURN out_of_memory(size_t n)
{
    (void)fprintf(stderr, "out of memory (asked for %zu bytes)\n", n);
    abort();
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);

    if (!p)
        out_of_memory(n);
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        out_of_memory(n * size);
    return p;
}

void *xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);

    if (!q)
        out_of_memory(n);
    return q;
}

char *xstrdup(const char *s)
{
    return xmemdup(s, strlen(s) + 1);
}

char *xstrdup_null(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *p = xmalloc(len + 1);

    memcpy(p, s, len);
    p[len] = '\0';
    return p;
}

void *xmemdup(const void *p, size_t n)
{
    void *q = xmalloc(n);

    if (n)
        memcpy(q, p, n);
    return q;
}

char *xvasprintf(const char *fmt, va_list ap)
{
    char *s = NULL;

    if (vasprintf(&s, fmt, ap) < 0)
        out_of_memory(0);
    return s;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    s = xvasprintf(fmt, ap);
    va_end(ap);
    return s;
}

void array_reserve(void *p, size_t *cap, size_t want, size_t size)
{
    void **slot = p;
    size_t n = *cap ? *cap : 4;

    if (want <= *cap)
        return;
    while (n < want) {
        assert(n <= SIZE_MAX / 2);
        n *= 2;
    }
    assert(n <= SIZE_MAX / size);
    *slot = xrealloc(*slot, n * size);
    *cap = n;
}
