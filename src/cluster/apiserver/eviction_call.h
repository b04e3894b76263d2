/* SPDX-License-Identifier: GPL-2.0-or-later */
/* POST pods/NAME/eviction: a deletion that asks the disruption budgets first. */
#pragma once

#include "src/cluster/apiserver/call.h"

/* Answers and frees the call. */
void eviction_serve(struct api_call *c);
