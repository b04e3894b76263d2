/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The objects that choose pods by labels: which of them does a pod's change concern? */
#pragma once

#include "src/cluster/apiserver/inside.h"
#include "src/json/jsn.h"

/* Of all namespaces.  Follows the store's events. */
struct choosers;

struct choosers *choosers_new(void);
struct choosers *choosers_free(struct choosers *c);
DEFINE_AUTO(struct choosers, choosers_free);

/* Does the resource hold choosers: services, disruption budgets? */
bool choosers_take(const char *resource);
/* One that is there now, or has been removed; of a resource that choosers_take. */
void choosers_put(struct choosers *c, const struct store_row *row);
void choosers_drop(struct choosers *c, const struct store_key *key);

/*
 * Visit those that a pod's change may matter to.  `before` and `now` are the pod's states; NULL:
 * there is none.  The keys are borrowed.
 */
typedef void (*chooser_fn)(void *arg, const struct store_key *key);
void choosers_each(const struct choosers *c, const char *ns, const struct jsn *before,
                   const struct jsn *now, chooser_fn fn, void *arg);
