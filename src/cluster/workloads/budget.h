/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disruption budgets: their counts, kept up to date. */
#pragma once

#include "src/cluster/workloads/plan.h"

/* Everything in the budget's namespace that its counts depend on. */
struct budget_view {
    const struct jsn *budget;
    const struct jsn *pods;
    const struct jsn *replicasets;
    const struct jsn *statefulsets;
};

void budget_plan(struct plan *p, const struct budget_view *v);
