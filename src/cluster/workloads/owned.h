/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who controls an object: references, adoption and release. */
#pragma once

#include "src/cluster/workloads/plan.h"

/* A workload as an owner. */
struct owner {
    const char *api_version; /* "apps/v1" */
    const char *kind;        /* "StatefulSet" */
    const struct jsn *object;
    const struct jsn *selector; /* a label selector */
    /* May it own an object of this name?  NULL: any. */
    bool (*fits)(const struct jsn *owner, const struct jsn *object);
};

/* The reference that says "controller", or NULL. */
const struct jsn *owned_controller(const struct jsn *object);
bool owned_by(const struct jsn *object, const struct jsn *owner);
/* Make the owner the controller of an object that is about to be created. */
void owned_set(struct arena *a, struct jsn *object, const struct owner *o);

/*
 * Of the candidates those that the owner controls, as an array.  An orphan that the selector
 * chooses is adopted; one of ours that it does not choose any more is let go.  An owner that is
 * being deleted does neither.
 */
struct jsn *owned_claim(struct plan *p, const struct owner *o, const char *resource,
                        const struct jsn *candidates);
