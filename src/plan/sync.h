/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One object that should be there: create it, mend it, or leave it alone. */
#pragma once

#include "src/api/lookup.h"
#include "src/api/meta.h"
#include "src/plan/action.h"

/* A digest of what we last wanted, so that what is no longer wanted can be told from defaults. */
#define SYNC_APPLIED API_OWN_GROUP "/applied"

/*
 * Plan for `desired` (complete, with its owners; not changed) where `observed` is there now (NULL:
 * nothing).  No action if there is nothing to do: an object that is as it should be, that is being
 * deleted, or that cannot be changed (immutable).  One that another object controls is not touched:
 * a warning says so, and false is returned.
 */
bool sync_object(struct actions *to, const struct jsn *observed, const struct jsn *desired);

/* A patch of the object that is named as the desired one is. */
void sync_patch(struct actions *to, const struct plan_kind *kind, const struct jsn *desired,
                const struct jsn *patch);

/* The same for what a builder made (NULL: nothing), held against what the look-up has of that kind
 * and name.  Returns what is there now; NULL: nothing. */
const struct jsn *sync_built(struct actions *to, const struct api_lookup *l, struct jsn *object);

/* An object that should not be there (NULL: it is not): deleted if that owner controls it. */
void sync_absent(struct actions *to, const char *kind, const struct jsn *observed,
                 const char *owner_uid);

/* The uid of the owner that controls it, or NULL. */
const char *sync_controller_uid(const struct jsn *object);
