/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that is not a resource: discovery, OpenAPI, version, health, metrics. */
#pragma once

#include "src/cluster/apiserver/call.h"
#include "src/cluster/apiserver/route.h"

/* Answers and frees the call. */
void pages_serve(struct api_call *c, const struct route *r);
