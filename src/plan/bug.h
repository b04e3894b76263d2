/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bugs that the simulator must find. */
#pragma once

#include <stdbool.h>

/*
 * Each is switched on in a build of its own (-DPLAN_BUG=...), in which the simulator has to find a
 * job in danger (tests/sim/meson.build).  The programs have none of them: what depends on a
 * plan_bug_is is not compiled into them.
 */
#define PLAN_BUG_NONE 0
#define PLAN_BUG_UNKNOWN_FREE 2  /* a node that nobody knows of counts as free */
#define PLAN_BUG_NO_HOLD 3       /* slurmctld is not asked before a pod goes */
#define PLAN_BUG_ANY_VERSION 4   /* a pod is deleted although it is not what was read */
#define PLAN_BUG_ANY_REASON 5    /* a node is let back whatever its reason is by then */
#define PLAN_BUG_FOREIGN_DRAIN 6 /* a drain of somebody else is undone */
#define PLAN_BUG_LET_GO_BACK 7   /* a pod that may be about to go gets its node back */

#ifndef PLAN_BUG
#define PLAN_BUG PLAN_BUG_NONE
#endif

static inline bool plan_bug_is(int bug)
{
    return PLAN_BUG == bug;
}
