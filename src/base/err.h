/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors: a negative errno, a retry class and a sentence for the human who reads it. */
#pragma once

#include <errno.h>

#include "src/base/cleanup.h"

enum err_class {
    ERR_PERMANENT, /* trying again without a change does not help */
    ERR_RETRY,     /* may go away by itself: try again later */
    ERR_CONFLICT,  /* somebody else was faster: read it again, then retry */
};

/* Lives on the caller's stack, set to {0} before the call; no allocation, nothing to free. */
struct err {
    int num;              /* negative errno, 0 when unset */
    enum err_class class; /* decides whether and when to try again */
    char text[480];       /* "node set 'gpu': spec.replicas: -1 is not a count" */
};

/*
 * Both return `num`, so that failing is one line.  `e` may be NULL.  err_wrap puts a prefix before
 * the sentence that is there ("fmt: old text") and keeps its class.
 */
int err_set(struct err *e, int num, enum err_class class, const char *fmt, ...) PRINTF(4, 5);
int err_wrap(struct err *e, int num, const char *fmt, ...) PRINTF(3, 4);

/* err_set for a bad value that somebody gave: -EINVAL, permanent. */
int err_bad(struct err *e, const char *fmt, ...) PRINTF(2, 3);

/* err_set from errno after a failed system call: the sentence gets ": <strerror>" at its end. */
int err_errno(struct err *e, int errnum, const char *fmt, ...) PRINTF(3, 4);
