/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What became of a declaration: the answer to a push or a plan, and the "config" of the state. */
#pragma once

#include "src/wire/problem.h"

enum wire_result {
    WIRE_APPLIED,
    WIRE_UNCHANGED, /* it was so before */
    WIRE_PENDING,   /* the agent goes on by itself */
    WIRE_PLAN,      /* nothing was done: this is what would be */
    WIRE_REFUSED,   /* everything is as before */
    WIRE_N_RESULTS,
};
const char *wire_result_name(enum wire_result r);

struct wire_step {
    const char *step; /* "write", "rpc", ... */
    const char *what; /* "partition debug: State=UP -> DRAIN", or NULL */
    double ms;
};

struct wire_change {
    const char *change;
    const char *class;
    const char *why; /* or NULL */
};

/* A partition that slurmctld refuses as declared; everything else is applied. */
struct wire_refusal {
    const char *partition;
    const char *error;
};

struct wire_refusals {
    struct wire_refusal *items;
    size_t n;
};

struct wire_outcome {
    int64_t wire;
    int result;           /* enum wire_result; -1: there is none yet */
    const char *class;    /* none, rpc, reconfigure, restart */
    const char *declared; /* the pusher's own name for what it declared: the outcome is of that */
    const char *hash;     /* of the files, as the agent counts them */
    int64_t generation;   /* the pusher's number of it */
    const char *reason;   /* why it is pending */
    const char *error;    /* why it was refused */
    const char *step;     /* at which it was refused */
    bool retry;           /* refused, but the declaration is not to blame: push it again */
    bool ended;           /* slurmctld has ended on it */
    struct wire_problems problems;
    struct {
        struct wire_step *items;
        size_t n;
    } steps;
    struct {
        struct wire_change *items;
        size_t n;
    } changes;                    /* of a plan */
    const struct jsn *waiting;    /* [{"partition":"old","jobs":[12]}]: partitions that go later */
    struct wire_refusals refused; /* of what is pending; the agent tries them again */
    int64_t applied_us;           /* wall clock, in the state */
    const char *good; /* the name of the declaration that slurmctld has, in the state; or NULL */
};

extern const struct jsn_field wire_outcome_fields[];

/* Of another version, or not to be understood: a sentence. */
int wire_outcome_decode(struct arena *a, const struct jsn *v, struct wire_outcome *ret,
                        struct err *e) MUST_CHECK;
struct jsn *wire_outcome_encode(struct arena *a, const struct wire_outcome *o);
