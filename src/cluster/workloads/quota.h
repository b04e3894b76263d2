/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource quotas: what is used, kept up to date. */
#pragma once

#include "src/cluster/workloads/plan.h"

struct quota_use;

/* `used` by all objects that the quota counts. */
void quota_plan(struct plan *p, const struct jsn *quota, const struct quota_use *used);
