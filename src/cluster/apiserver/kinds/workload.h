/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What deployments, stateful sets, daemon sets, replica sets and jobs have in common. */
#pragma once

#include "src/cluster/apiserver/kinds/kinds.h"

struct workload_rules {
    const char *what; /* "deployment", in "empty selector is invalid for deployment" */
    const char *kind; /* "ReplicaSet", in "activeDeadlineSeconds in ReplicaSet is not Supported" */
    bool template_whole;    /* the template's pod spec is validated, too (not for stateful sets) */
    bool selector_optional; /* a missing selector is only said not to fit (daemon sets) */
    const char *bad_selector; /* what else is said about a malformed one; NULL: nothing */
};

/* spec.selector and spec.template, and that they fit together. */
void workload_check(struct causes *cs, const struct place *spec, const struct workload_rules *r);
/* The selector may not change. */
void workload_selector_check(struct causes *cs, const struct jsn *object, const struct jsn *old);
/* Counts in the status are not negative, and none is larger than status.replicas. */
void workload_status_check(struct causes *cs, const struct jsn *object);
/* {"type": ..., "rollingUpdate": {...}}: makes sure that rollingUpdate is there for its type. */
struct jsn *workload_rolling(struct arena *a, struct jsn *spec, const char *strategy);
/* A default for a member that is absent or null. */
void workload_default(struct arena *a, struct jsn *object, const char *key, struct jsn *value);
