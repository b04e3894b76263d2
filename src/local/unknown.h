/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pods of this machine that the API server does not know, from the node's records. */
#pragma once

#include "src/json/jsn.h"
#include "src/local/layout.h"

/* Has the node that runs now held its pods against the API server?  Before that the list is that
 * of an earlier time. */
bool unknown_is_settled(const struct layout *l);
/* A node is about to be started. */
void unknown_forget(const struct layout *l);

/* The pods as they were last known, in `a`; an empty array if there are none. */
int unknown_list(const struct layout *l, struct arena *a, struct jsn **ret_pods,
                 struct err *e) MUST_CHECK;
