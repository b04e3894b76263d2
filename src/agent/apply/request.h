/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of the apply machine: fixed when it is made. */
#pragma once

#include "src/agent/apply/engine.h"
#include "src/base/list.h"

/* By whom. */
enum request_kind {
    REQUEST_PUSH, /* somebody has declared it */
    REQUEST_PLAN, /* somebody wants to know what it would do */
    REQUEST_OWN,  /* the engine goes on with what was declared before */
};

/* What else than the declaration; bits. */
enum request_want {
    WANT_ALL = 1 << 0,        /* every partition as declared, not only those that change */
    WANT_NO_OTHERS = 1 << 1,  /* partitions that are not declared and have no jobs go */
    WANT_KEYS = 1 << 2,       /* new keys: slurmctld starts again */
    WANT_TELL_NODES = 1 << 3, /* nothing has changed, but nodes may not know it yet */
    WANT_TRY_OUT = 1 << 4, /* nothing has changed, but slurmctld does not start: would another? */
    WANT_ASIDE = 1 << 5,   /* partitions that were refused are tried once more */
};

struct request {
    enum request_kind kind;
    unsigned wants;
    const struct record *declared; /* nobody changes it: a job works on a copy */
    struct list waiters;           /* struct engine_waiter; each gets one answer */
};

/* Takes the record; `before` is the request that this one takes the place of (its waiters come
 * along, and it is gone), or NULL. */
struct request *request_new(enum request_kind kind, unsigned wants, struct record *declared,
                            struct request *before);
/* Waiters that are left are not answered. */
struct request *request_free(struct request *r);

/* NULL without a function. */
struct engine_waiter *request_wait(struct request *r, engine_answer_fn fn, void *arg);
/* Tell everybody who waits, once; nobody waits afterwards. */
void request_answer(struct request *r, int status, const struct jsn *answer);

static inline bool request_wants(const struct request *r, enum request_want want)
{
    return (r->wants & want) != 0;
}
