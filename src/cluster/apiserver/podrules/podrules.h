/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of pods, for who has only a piece of one and no server. */
#pragma once

#include "src/json/jsn.h"

/* What a piece is. */
enum podrules_type {
    PODRULES_CONTAINER,
    PODRULES_POD_SPEC,
    PODRULES_CLAIM_SPEC,   /* of a PersistentVolumeClaim */
    PODRULES_SERVICE_SPEC, /* of a Service */
    PODRULES_N_TYPES,
};

enum podrules_fault {
    PODRULES_UNKNOWN, /* a field that this release of the tables does not know */
    PODRULES_TYPE,    /* a value of the wrong type */
    PODRULES_VALUE,   /* a value that a pod may not have */
};

/* `field` is a path within the piece ("resources.limits"), "" for the whole; both are borrowed. */
typedef void (*podrules_fn)(void *arg, enum podrules_fault fault, const char *field,
                            const char *text);

/*
 * Tell unknown fields, and the first value of a wrong type.  Null, and lists that are empty, count
 * as not given, and so does an unknown field with nothing in it.
 */
void podrules_types(struct arena *a, enum podrules_type type, const struct jsn *piece,
                    podrules_fn fn, void *arg);

/* Tell all that the API server would refuse in the spec of a new pod, types included; what depends
 * on other objects (quotas, accounts, policies) is not looked at.  Paths begin with "spec". */
void podrules_pod(struct arena *a, const struct jsn *pod_spec, podrules_fn fn, void *arg);
