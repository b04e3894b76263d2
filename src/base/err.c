/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors as values on the caller's stack.
 *
 * A text that is too long is cut, at a character's boundary, and ends in "..."; the number and the
 * class are always whole.  System errors get their retry class here, in one place.
 */
#include "src/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cut an over-long text so that it ends in "..." and never in half a UTF-8 character. */
static void mark_cut(char *text, size_t size)
{
    size_t n = size - 4;

    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
        n--;
    memcpy(text + n, "...", 4);
}

static PRINTF(2, 0) void put_text(struct err *e, const char *fmt, va_list ap)
{
    int n = vsnprintf(e->text, sizeof(e->text), fmt, ap);

    if (n >= (int)sizeof(e->text))
        mark_cut(e->text, sizeof(e->text));
}

static enum err_class class_of(int errnum)
{
    switch (errnum) {
    case EAGAIN:
    case EINTR:
    case EBUSY:
    case ENOMEM:
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case EPIPE:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return ERR_RETRY;
    default:
        return ERR_PERMANENT;
    }
}

int err_set(struct err *e, int num, enum err_class class, const char *fmt, ...)
{
    va_list ap;

    assert(num < 0);
    if (!e)
        return num;
    va_start(ap, fmt);
    put_text(e, fmt, ap);
    va_end(ap);
    e->num = num;
    e->class = class;
    return num;
}

int err_bad(struct err *e, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return -EINVAL;
    va_start(ap, fmt);
    put_text(e, fmt, ap);
    va_end(ap);
    e->num = -EINVAL;
    e->class = ERR_PERMANENT;
    return -EINVAL;
}

int err_errno(struct err *e, int errnum, const char *fmt, ...)
{
    char why[128];
    va_list ap;
    size_t n;

    assert(errnum > 0);
    if (!e)
        return -errnum;
    va_start(ap, fmt);
    put_text(e, fmt, ap);
    va_end(ap);
    n = strlen(e->text);
    if (snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror_r(errnum, why, sizeof(why))) >=
        (int)(sizeof(e->text) - n))
        mark_cut(e->text, sizeof(e->text));
    e->num = -errnum;
    e->class = class_of(errnum);
    return -errnum;
}

int err_wrap(struct err *e, int num, const char *fmt, ...)
{
    char old[sizeof(e->text)];
    va_list ap;
    size_t n;

    assert(num < 0);
    if (!e)
        return num;
    memcpy(old, e->text, sizeof(old));
    va_start(ap, fmt);
    put_text(e, fmt, ap);
    va_end(ap);
    n = strlen(e->text);
    if (old[0] &&
        snprintf(e->text + n, sizeof(e->text) - n, ": %s", old) >= (int)(sizeof(e->text) - n))
        mark_cut(e->text, sizeof(e->text));
    e->num = num;
    return num;
}
