/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs: pods that run to their end, a number of times. */
#pragma once

#include "src/cluster/workloads/owned.h"

/* `pods`: those that it owns and those that nobody does. */
void job_plan(struct plan *p, const struct jsn *job, const struct jsn *pods);
