/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is declared: the body of a push or a plan, but for the files themselves. */
#pragma once

#include "src/json/fields.h"

enum wire_drift_policy { WIRE_DRIFT_REPORT, WIRE_DRIFT_REVERT };

struct wire_declaration {
    const char *declared; /* the pusher's own name for it, echoed in the outcome; or NULL */
    int64_t generation;   /* its number, likewise */
    int drift_policy;     /* enum wire_drift_policy */
    bool in_place;        /* slurmctld may reconfigure; else it is started again */
};

/*
 * Read one.  "files" and "modes" are not looked into.  -EPROTONOSUPPORT for a newer version,
 * -EINVAL for a member that is not known: what has no effect here must not look as if it had one.
 */
int wire_declaration_decode(struct arena *a, const struct jsn *v, struct wire_declaration *ret,
                            struct err *e) MUST_CHECK;

/* A copy with version and number put in; values are shared with `body`. */
struct jsn *wire_declaration_seal(struct arena *a, const struct jsn *body, int64_t generation);
