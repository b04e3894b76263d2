/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Revisions of a NodeSet: what its pods are made from, and the hash that tells two apart. */
#pragma once

#include "src/api/nodeset.h"
#include "src/json/jsn.h"

/* The part of the spec that pods are made from, as canonical JSON text; in `a`.  `release` of
 * Slurm, where one is declared beside it; NULL: none is, and nothing is said of it. */
const char *revision_data(struct arena *a, const struct nodeset *ns, const char *release);

#define REVISION_HASH_LEN 11
/* The hash of such a text; `collisions` makes another one of the same text. */
void revision_hash(const char *data, int32_t collisions, char ret_hash[REVISION_HASH_LEN]);

/* ControllerRevision <nodeset>-<hash> with this number. */
struct jsn *build_revision(struct arena *a, const struct nodeset *ns, const char *data,
                           const char *hash, int64_t number);

/*
 * Of two revisions' data: do pods of both differ in nothing but settings of their nodes that
 * slurmctld takes while they run?  `topology`: that is one of them.
 */
bool revision_same_pods(struct arena *a, const struct jsn *x, const struct jsn *y, bool topology);
/* What slurmd registers with, beside what the machine has: settings and limits.  In `a`. */
const char *revision_registration(struct arena *a, const struct jsn *data, bool topology);
