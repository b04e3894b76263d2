/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Field ownership: managedFields of every write, and server-side apply. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* Note in metadata.managedFields what this write of c->manager has changed. */
int ownership_create(struct api_call *c, struct jsn *object);
int ownership_update(struct api_call *c, struct jsn *object, const struct jsn *old);

/*
 * Server-side apply of a configuration (in presented form) onto the current object (NULL: there is
 * none).  *ret_object is the merged object in presented form.  Fails the call on conflicts.
 */
int ownership_apply(struct api_call *c, const struct jsn *current, struct jsn *config,
                    struct jsn **ret_object);
