/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Custom objects: what their definition's schema makes of them. */
#pragma once

#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/types/type.h"

/* `res` is a custom resource (one version of a definition).  Objects are jsn trees in `a`, in
 * stored form unless something else is said. */

/* A number that changes when the schema of this version does; rows carry it (store.h). */
uint32_t custom_schema_mark(const struct resource *res);

/* One of two: with a status subresource or without. */
const struct strategy *custom_strategy(const struct resource *res);

/*
 * A body that has just been decoded, kind and apiVersion included: drop nulls that may not be,
 * prune what the schema does not know, and note it as strict decoding would complain.  Fails with a
 * sentence where metadata, its own or that of an embedded resource, has a value of a wrong type.
 */
int custom_on_write(struct arena *a, const struct resource *res, struct jsn *object,
                    struct type_notes *notes, struct err *e) MUST_CHECK;

/* Fill in the schema's defaults. */
void custom_default(struct arena *a, const struct resource *res, struct jsn *object);

/* An object that was written under another schema, or through another version, in the form of the
 * version that stores: prune and default. */
void custom_on_read(struct arena *a, const struct resource *res, struct jsn *object);

enum custom_door { CUSTOM_WHOLE, CUSTOM_STATUS };

/* Hold it against the schema of the version it was written through; `old` is NULL on create.
 * Through the status door only the status is looked at. */
void custom_validate(struct causes *cs, const struct resource *res, const struct jsn *object,
                     const struct jsn *old, enum custom_door door);

/* The warning that goes with every answer of a deprecated version; NULL: it is not. */
const char *custom_deprecation(struct arena *a, const struct resource *res);

/* --- between the files --- */

/* Embedded resources: their kind and metadata have the right types; and good values. */
int embedded_check_types(struct arena *a, const struct schema *s, struct jsn *object,
                         const struct schema *object_meta, struct err *e) MUST_CHECK;
void embedded_validate(struct causes *cs, const struct schema *s, const struct jsn *object);

/* The numbers that the scale subresource shows are numbers, and not negative. */
void custom_validate_scale(struct causes *cs, const struct resource *res, const struct jsn *object,
                           enum custom_door door);
