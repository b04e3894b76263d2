/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arena allocation: a list of chunks, each filled from its start.
 *
 * Trees that are built for one request (a decoded body, the object it becomes, the answer) are
 * carved from one arena and vanish with it, so nobody tracks who owns which node.  A piece larger
 * than a chunk gets a chunk of its own.
 */
#include "src/base/arena.h"

#include <stdio.h>

#include "src/base/alloc.h"

#define ARENA_FIRST_BYTES 1024
#define ARENA_CHUNK_BYTES ((size_t)64 << 10)
#define ARENA_ALIGN _Alignof(max_align_t)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used;
    size_t size;
    _Alignas(max_align_t) char data[];
};

void arena_done(struct arena *a)
{
    struct arena_chunk *c = a->chunk;

    while (c) {
        struct arena_chunk *next = c->next;

        free(c);
        c = next;
    }
    *a = (struct arena){0};
}

static struct arena_chunk *add_chunk(struct arena *a, size_t least)
{
    size_t size = a->chunk ? MIN(a->chunk->size * 2, ARENA_CHUNK_BYTES) : ARENA_FIRST_BYTES;
    struct arena_chunk *c;

    size = MAX(size, least);
    c = xmalloc(sizeof(*c) + size);
    c->used = 0;
    c->size = size;
    c->next = a->chunk;
    a->chunk = c;
    a->total_bytes += size;
    return c;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_chunk *c = a->chunk;
    void *p;

    n = (MAX(n, (size_t)1) + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
    if (!c || c->size - c->used < n)
        c = add_chunk(a, n);
    p = c->data + c->used;
    c->used += n;
    return p;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(n, size, &bytes))
        abort();
    p = arena_alloc(a, bytes);
    memset(p, 0, bytes);
    return p;
}

char *arena_str(struct arena *a, struct str s)
{
    char *p = arena_alloc(a, s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_str(a, str_of(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(n >= 0);
    p = arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    (void)vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

void arena_reserve(struct arena *a, void *p, size_t *cap, size_t want, size_t size)
{
    void **slot = p;
    size_t n = *cap ? *cap : 4;
    void *grown;

    if (want <= *cap)
        return;
    while (n < want)
        n *= 2;
    assert(n <= SIZE_MAX / size);
    grown = arena_alloc(a, n * size);
    if (*cap)
        memcpy(grown, *slot, *cap * size);
    *slot = grown;
    *cap = n;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->chunk, a->chunk ? a->chunk->used : 0};
}

void arena_rewind(struct arena *a, struct arena_mark m)
{
    while (a->chunk != m.chunk) {
        struct arena_chunk *c = a->chunk;

        a->chunk = c->next;
        a->total_bytes -= c->size;
        free(c);
    }
    if (a->chunk)
        a->chunk->used = m.used;
}
