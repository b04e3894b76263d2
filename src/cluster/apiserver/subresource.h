/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subresources other than status: scale, eviction, binding, finalize, token, logs, exec. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* Answers and frees the call.  c->sub is set and is not "status". */
void subresource_serve(struct api_call *c);
