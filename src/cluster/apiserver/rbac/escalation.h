/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nobody gives rights that they do not have. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* A role or binding is about to be written by the user of the call; `old` is NULL for a new one.
 * Fails the call with 403 if that would give more than the user has. */
int escalation_check_role(struct api_call *c, const struct jsn *role, const struct jsn *old);
int escalation_check_binding(struct api_call *c, const struct jsn *binding, const struct jsn *old);
