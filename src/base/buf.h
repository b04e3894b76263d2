/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing byte buffer that carries its own maximum. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "src/base/str.h"

#define BUF_MAX_DEFAULT ((size_t)256 << 20)

/*
 * Append freely, check once: an append that would pass `max` sets `overflow` and drops the data,
 * and so do all later ones.  Always terminated: buf_str() is a C string.  {0} is a valid empty
 * buffer with the default maximum.
 */
struct buf {
    char *p;
    size_t n;
    size_t cap;
    size_t max; /* bytes, 0 stands for BUF_MAX_DEFAULT */
    bool overflow;
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);
DEFINE_AUTO_DONE(struct buf, buf_done);

void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addstr(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) PRINTF(2, 0);

/* Room for at least n more bytes at the end, for reading into; NULL on overflow.  Then buf_grew. */
char *buf_room(struct buf *b, size_t n);
void buf_grew(struct buf *b, size_t n);

/* Drop n bytes at the front. */
void buf_eat(struct buf *b, size_t n);
void buf_clear(struct buf *b);

/* Send from the front as much as the socket takes, without waiting; what is sent is dropped.  0,
 * also if some or all is left for later, or why the peer cannot be reached any more. */
int buf_send(struct buf *b, int fd) MUST_CHECK;

const char *buf_str(const struct buf *b);
static inline struct str buf_view(const struct buf *b)
{
    return (struct str){buf_str(b), b->n};
}

/* The content as an owned, terminated string; the buffer is empty afterwards. */
char *buf_take(struct buf *b) __attribute__((returns_nonnull));
