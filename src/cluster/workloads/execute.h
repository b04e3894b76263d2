/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out a plan through the API server's own write path. */
#pragma once

#include "src/cluster/apiserver/inside.h"
#include "src/cluster/workloads/plan.h"

/*
 * Do every action; `subject` is the workload the plan is for.  After a failure nothing
 * more is created, but updates and deletions go on: the failure is returned, its sentence is
 * logged, and an Event on the subject tells it.  Objects that are gone or were replaced meanwhile
 * are passed over.
 */
int execute_plan(struct apiserver *s, const struct plan *p, const char *resource,
                 const struct jsn *subject);
