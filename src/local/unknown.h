/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods of this machine that the API server does not know, from the node's records. */
#pragma once

#include "src/json/jsn.h"
#include "src/local/layout.h"

/* The pods as they were last known, in `a`; an empty array if there are none. */
int unknown_list(const struct layout *l, struct arena *a, struct jsn **ret_pods,
                 struct err *e) MUST_CHECK;
