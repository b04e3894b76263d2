/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is allocated piece by piece and freed all at once. */
#pragma once

#include <stdarg.h>

#include "src/base/str.h"

/* {0} is a valid empty arena.  Pieces live until arena_done; none is freed by itself. */
struct arena {
    struct arena_chunk *chunk;
    size_t total_bytes; /* of all chunks: what the arena costs */
};

void arena_done(struct arena *a);
DEFINE_AUTO_DONE(struct arena, arena_done);

/* Never NULL; aligned for any object. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((returns_nonnull));
void *arena_calloc(struct arena *a, size_t n, size_t size) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s) __attribute__((returns_nonnull));
/* Terminated copy of a view. */
char *arena_str(struct arena *a, struct str s) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3)
    __attribute__((returns_nonnull));

/* As array_reserve, for an array that lives in the arena; the old copy stays allocated. */
void arena_reserve(struct arena *a, void *p, size_t *cap, size_t want, size_t size);

/* A point to go back to: everything allocated after it is freed, and only that. */
struct arena_mark {
    struct arena_chunk *chunk;
    size_t used;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark m);
