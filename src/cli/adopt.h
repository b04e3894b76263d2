/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files of `slurmkeeper adopt`: what our operator would do to a cluster of another. */
#pragma once

#include "src/local/ask.h"
#include "src/operator/preview.h"

enum adopt_class {
    ADOPT_CHANGED,  /* objects are written; nothing that runs notices */
    ADOPT_KEPT,     /* runs on as it is */
    ADOPT_LEFT,     /* is not looked after by our operator */
    ADOPT_REPLACED, /* runs until it may go, then another takes its place */
    ADOPT_RESTART,  /* is started again at once */
};

struct adopt_effect {
    enum adopt_class class;
    const char *text;
};

/* In an arena. */
struct adopt_effects {
    struct arena *a;
    struct adopt_effect *items;
    size_t n;
    size_t cap;
};

/* What a plan would do, in the words of those who use the cluster.  `first`: nothing was planned
 * for the object before. */
void adopt_judge(const struct preview_plan *s, bool first, struct adopt_effects *to);

/*
 * Who else is there and has to go first: operators that lead, webhooks that would refuse our
 * writes.  A list of texts, each with the command that helps.
 */
int adopt_rivals(struct ask *k, struct arena *a, int64_t now_us, struct jsn **ret_list,
                 struct err *e) MUST_CHECK;
/* Is the lease still good?  `spec` of a Lease. */
bool adopt_lease_is_held(const struct jsn *spec, int64_t now_us);
