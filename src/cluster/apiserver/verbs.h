/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs on single objects.  Each answers and frees the call. */
#pragma once

#include "src/cluster/apiserver/call.h"

void verb_get(struct api_call *c);
void verb_create(struct api_call *c);
void verb_update(struct api_call *c);
void verb_patch(struct api_call *c);
void verb_delete(struct api_call *c);
