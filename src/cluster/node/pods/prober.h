/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes of a running container: when to ask, and what the answers mean. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

struct container;

/* What a row of answers says; pure. */
enum probe_verdict { PROBE_UNDECIDED, PROBE_GOOD, PROBE_BAD };
struct probe_tally {
    int64_t successes; /* in a row */
    int64_t failures;  /* in a row */
};
enum probe_verdict probe_note(struct probe_tally *t, const struct probe_spec *p, bool ok);

enum probe_kind { PROBE_STARTUP, PROBE_READINESS, PROBE_LIVENESS };
const char *probe_kind_name(enum probe_kind kind); /* "Startup" */

/* Told for every answer. */
typedef void (*prober_fn)(void *arg, enum probe_kind kind, enum probe_verdict verdict, bool ok,
                          const char *output);

/* Asks after the initial delay and then every period, until freed. */
struct prober;
struct prober *prober_new(struct container *c, enum probe_kind kind, const struct probe_spec *p,
                          int64_t running_ms, prober_fn fn, void *arg);
/* NULL-safe; may be called in its own callback. */
struct prober *prober_free(struct prober *p);
