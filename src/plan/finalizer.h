/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finalizers: an object that is deleted stays until what depends on it may go. */
#pragma once

#include "src/api/meta.h"
#include "src/plan/action.h"

/* Of a NodeSet while it may have pods; of a Controller while NodeSets need its slurmctld. */
#define FINALIZER_NODESET API_OWN_GROUP "/workers"
#define FINALIZER_CONTROLLER API_OWN_GROUP "/cluster"

/* Annotation, "true": let go at once, whatever may be running.  The way out for those who know. */
#define FORCE_DELETE API_OWN_GROUP "/force-delete"
/*
 * Annotation of a NodeSet: its deletion asks for its pods, too ("foreground").  The garbage
 * collector then takes the NodeSet out of the pods' owners; this tells them from pods that somebody
 * wanted to be kept.
 */
#define DELETE_CASCADE API_OWN_GROUP "/cascade"

bool finalizer_has(const struct api_meta *m, const char *name);
bool finalizer_is_forced(const struct api_meta *m);

/* Plan to add or drop one; fails with a conflict if the object has changed meanwhile. */
void finalizer_add(struct actions *to, const char *kind, const struct api_meta *m,
                   const char *name);
void finalizer_drop(struct actions *to, const char *kind, const struct api_meta *m,
                    const char *name);
