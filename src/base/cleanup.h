/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scope-exit cleanup, hand-over of ownership, and the compiler attributes used everywhere. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define MUST_CHECK __attribute__((warn_unused_result))
#define UNUSED __attribute__((unused))
#define NORETURN __attribute__((noreturn))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/*
 * AUTO(foo_free) struct foo *x = NULL;  calls foo_free(x) at scope exit.  The function must accept
 * NULL.  Each file that uses AUTO on a new type declares it once with DEFINE_AUTO (beside the
 * type).
 */
#define AUTO(fn) __attribute__((cleanup(auto_##fn)))

/* Declare the cleanup glue of a `type *` that `fn` frees; fn is NULL-safe. */
#define DEFINE_AUTO(type, fn)                                                                      \
    static inline UNUSED void auto_##fn(type **p)                                                  \
    {                                                                                              \
        (void)fn(*p);                                                                              \
    }                                                                                              \
    struct auto_##fn##_needs_semicolon

/* Declare the cleanup glue of an embedded `type` that `fn(&x)` empties (foo_done). */
#define DEFINE_AUTO_DONE(type, fn)                                                                 \
    static inline UNUSED void auto_##fn(type *p)                                                   \
    {                                                                                              \
        fn(p);                                                                                     \
    }                                                                                              \
    struct auto_##fn##_needs_semicolon

static inline UNUSED void auto_free(void *p)
{
    free(*(void **)p);
}

static inline UNUSED void auto_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

/* Hand a pointer over: yields its value and leaves NULL behind, so that AUTO lets go of it. */
#define TAKE(p)                                                                                    \
    ({                                                                                             \
        __typeof__(p) *take_slot = &(p);                                                           \
        __typeof__(p) take_value = *take_slot;                                                     \
        *take_slot = NULL;                                                                         \
        take_value;                                                                                \
    })

/* Hand a file descriptor over: yields it and leaves -1 behind. */
#define TAKE_FD(fd)                                                                                \
    ({                                                                                             \
        int *take_slot = &(fd);                                                                    \
        int take_value = *take_slot;                                                               \
        *take_slot = -1;                                                                           \
        take_value;                                                                                \
    })
