/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing byte buffer with a maximum.
 *
 * Builders append without checking each step and look at `overflow` once, at the end: what does
 * not fit is never half there, since the first append that does not fit stops all later ones.
 */
#include "src/base/buf.h"

#include <stdio.h>
#include <sys/socket.h>

#include "src/base/alloc.h"

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

char *buf_room(struct buf *b, size_t n)
{
    size_t max = b->max ? b->max : BUF_MAX_DEFAULT;

    if (b->overflow || n > max || b->n > max - n) {
        b->overflow = true;
        return NULL;
    }
    if (b->cap < b->n + n + 1) {
        size_t cap = b->cap ? b->cap : 64;

        while (cap < b->n + n + 1)
            cap += cap / 2 + 16;
        b->p = xrealloc(b->p, cap);
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_grew(struct buf *b, size_t n)
{
    assert(b->n + n < b->cap);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    char *room = buf_room(b, n);

    if (!room)
        return;
    if (n)
        memcpy(room, p, n);
    buf_grew(b, n);
}

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addstr(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    char *room;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    assert(n >= 0);
    room = buf_room(b, (size_t)n);
    if (!room)
        return;
    (void)vsnprintf(room, (size_t)n + 1, fmt, ap);
    buf_grew(b, (size_t)n);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void buf_eat(struct buf *b, size_t n)
{
    assert(n <= b->n);
    if (n == 0)
        return;
    b->n -= n;
    memmove(b->p, b->p + n, b->n + 1);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->overflow = false;
    if (b->p)
        b->p[0] = '\0';
}

int buf_send(struct buf *b, int fd)
{
    while (b->n > 0) {
        ssize_t n = send(fd, b->p, b->n, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EINTR)
            return errno == EAGAIN ? 0 : -errno;
        buf_eat(b, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

const char *buf_str(const struct buf *b)
{
    return b->p ? b->p : "";
}

char *buf_take(struct buf *b)
{
    char *p = b->p ? b->p : xstrdup("");

    *b = (struct buf){.max = b->max};
    return p;
}
