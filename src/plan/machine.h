/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kubernetes nodes: may jobs be put on the pods of one? */
#pragma once

#include "src/api/meta.h"

/* An administrator's word for why a node is cordoned. */
#define MACHINE_CORDON_REASON API_NODESET_PREFIX "node-cordon-reason"

/* A condition that is True. */
struct machine_condition {
    const char *type;
    const char *reason;
    const char *message;
};

struct plan_machine {
    const char *name;
    bool cordoned;      /* spec.unschedulable */
    const char *reason; /* the annotation; NULL: none */
    struct machine_condition *conditions;
    size_t n_conditions;
};

/* Decode into `a`; what is missing or malformed is not there. */
void plan_machine_decode(struct arena *a, const struct jsn *v, struct plan_machine *ret);

/*
 * Why the Slurm nodes on it are to be drained; NULL: they are not.  `conditions`: types of
 * conditions that drain, with commas between, or NULL.  In `a`, one line, without control
 * characters.
 */
const char *plan_machine_drains(struct arena *a, const struct plan_machine *m,
                                const char *conditions);
