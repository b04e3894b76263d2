/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Admission: whether a new or changed object of ours may be stored. */
#pragma once

#include "src/api/kinds.h"
#include "src/api/lookup.h"
#include "src/api/problems.h"

/* All borrowed. */
struct admission_request {
    const struct jsn *object;        /* with apiVersion and kind */
    const struct jsn *old;           /* NULL: it is new */
    const struct api_lookup *lookup; /* the other objects; NULL: nothing is known of them */
    uint32_t release;                /* Slurm release where nothing else names one; 0: any */
    bool host_slurm;   /* pods run the machine's Slurm, whatever their images are called */
    bool foreign_pods; /* pods are made by a server that may know other fields */
};

/*
 * Add to `p` all that is wrong with the object, and what is worth a warning.  An object that is not
 * one of ours is fine.  So is one that is being deleted, or whose spec did not change: what was
 * accepted once must never stand in the way of its own end or of a label.
 */
void admission_check(const struct admission_request *in, struct api_problems *p);

/* The same of a Secret that is the key of a cluster; any other one is fine. */
void admission_check_secret(const struct admission_request *in, struct api_problems *p);

/* A problem as the API tells it: the reason of a cause ("FieldValueInvalid"), and the text that
 * follows the field ("Invalid value: 3: ..."); in `a` or static.  Not for warnings. */
struct admission_cause {
    const char *reason;
    const char *text;
};
struct admission_cause admission_cause_of(struct arena *a, const struct api_problem *p);
