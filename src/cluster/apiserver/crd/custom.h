/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Custom objects: what their definition's schema makes of them. */
#pragma once

#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/types/type.h"

/* `res` is a custom resource (one version of a definition).  Objects are jsn trees in `a`. */

/* A number that changes when the schema of this version does; rows carry it (store.h). */
uint32_t custom_schema_mark(const struct resource *res);

/* A body that has just been decoded: drop nulls that may not be, prune what the schema does not
 * know, and note it as strict decoding would complain. */
void custom_on_write(struct arena *a, const struct resource *res, struct jsn *object,
                     struct type_notes *notes);

/* Fill in the schema's defaults. */
void custom_default(struct arena *a, const struct resource *res, struct jsn *object);

/* A stored object that was written under another schema: prune and default. */
void custom_on_read(struct arena *a, const struct resource *res, struct jsn *object);

/* Hold it against the schema; `old` is NULL on create. */
void custom_validate(struct causes *cs, const struct resource *res, const struct jsn *object,
                     const struct jsn *old);
