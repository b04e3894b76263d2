/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is wrong in a cluster, in sentences. */
#pragma once

#include "src/local/ask.h"

/* Of all objects of our kinds and their pods; with `logs`, also what failing containers said last.
 * An array of strings in `a`; empty if nothing is wrong as far as the API knows. */
int trouble_find(struct ask *k, struct arena *a, bool logs, struct jsn **ret_list,
                 struct err *e) MUST_CHECK;

extern const struct kube_resource resource_controllers;
extern const struct kube_resource resource_nodesets;
extern const struct kube_resource resource_pods;
