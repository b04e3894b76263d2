/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only administrators of the server itself ask for: a backup, a new key. */
#pragma once

#include "src/cluster/apiserver/call.h"
#include "src/cluster/apiserver/route.h"

/* Group of the paths: /apis/admin.slurmkeeper.dev/v1/... */
#define ADMIN_GROUP "admin.slurmkeeper.dev"

bool admin_is(const struct route *r);
void admin_serve(struct api_call *c, const struct route *r);
