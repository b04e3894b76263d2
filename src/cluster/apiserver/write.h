/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing objects: everything between a decoded object and the store. */
#pragma once

#include "src/cluster/apiserver/call.h"

/*
 * Objects are in stored form.  Each function fails the call with the Status a real server answers,
 * or leaves the object as it was stored (with dryRun: as it would have been).
 */

/* Create: metadata, defaults, admission, ownership, validation, then the store. */
int write_create(struct api_call *c, struct jsn *object);

/* Is this create the return of a pod that runs already (?slurmkeeperAdopt=true)? */
bool write_adopt_asked(const struct api_call *c);
/*
 * Put a pod that runs on this machine back as it is, with its uid and its status; one of the same
 * name that was made in its place goes, in the same transaction.  For administrators alone.
 */
int write_adopt(struct api_call *c, struct jsn *object);

struct write_update {
    bool applied;       /* managedFields were computed by server-side apply already */
    bool unconditional; /* the caller has merged into `old` itself: no version to compare */
};

/*
 * Update `old` (its current state) to `object`.  Honours c->sub: for "status" only the status is
 * taken over.  A change that changes nothing writes nothing.  If the object was only waiting for
 * its last finalizer it is removed.
 */
int write_update(struct api_call *c, const struct jsn *old, struct jsn *object,
                 const struct write_update *how);

enum propagation {
    PROPAGATE_DEFAULT,
    PROPAGATE_BACKGROUND,
    PROPAGATE_FOREGROUND,
    PROPAGATE_ORPHAN
};

struct delete_options {
    int64_t grace_s; /* -1: as the object says */
    enum propagation propagation;
    const char *uid; /* preconditions; NULL: none */
    const char *version;
};

/* Read DeleteOptions from the body and the query; fails the call on bad ones. */
int delete_options_read(struct api_call *c, struct delete_options *ret_options);

/*
 * Delete an object in its current state.  *ret_answer is what a DELETE answers: a Status, or the
 * object where it stays for now (finalizers, grace) or its kind answers so; in presented form.
 */
int write_delete(struct api_call *c, struct jsn *object, const struct delete_options *o,
                 struct jsn **ret_answer);
