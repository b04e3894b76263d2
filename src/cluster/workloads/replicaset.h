/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replica sets: a number of pods that are all alike. */
#pragma once

#include "src/cluster/workloads/owned.h"

/* `pods`: those that it owns and those that nobody does. */
void replicaset_plan(struct plan *p, const struct jsn *set, const struct jsn *pods);
