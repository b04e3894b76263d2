/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The status of a resource quota: its limits, and what is used of them.
 *
 * The decision on a write counts for itself (src/cluster/apiserver/quota.c); the status is for
 * people.
 */
#include "src/cluster/workloads/quota.h"

#include "src/cluster/apiserver/inside.h"

#define RESOURCE "resourcequotas"

void quota_plan(struct plan *p, const struct jsn *quota, const struct quota_use *used)
{
    if (!object_deleting(quota))
        plan_status(p, RESOURCE, quota, quota_status(p->arena, quota, used));
}
