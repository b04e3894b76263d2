/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shape of objects by their schema, whether built in or custom. */
#pragma once

#include "src/cluster/apiserver/status.h"

/* Fill in defaults: tables and strategy of a built-in kind, schema of a custom one. */
void shape_default(struct api_call *c, struct jsn *object);

/* Custom kinds: hold the object against the schema of the version and the door it came through.
 * Built-in kinds are their strategy's. */
void shape_validate(struct causes *cs, const struct api_call *c, const struct jsn *object,
                    const struct jsn *old);
