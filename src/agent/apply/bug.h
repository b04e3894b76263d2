/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bugs that the tests must find. */
#pragma once

#include <stdbool.h>

/*
 * Each is switched on in a build of its own (-DAPPLY_BUG=...), in which the tests have to fail
 * (meson.build): so it is known that they would find it.  The programs have none of them: what
 * depends on a bug_is is not compiled into them.
 */
#define BUG_NONE 0
#define BUG_DELETE_BEFORE_DRAIN 1 /* a partition that has jobs leaves the files */
#define BUG_FORGET_UNDO 2         /* what was refused half-way stays as it is */
#define BUG_ANSWER_TWICE 3        /* who waits is told twice */
#define BUG_LOSE_WAITER 4         /* who waits for what is replaced is told nothing */
#define BUG_TAKE_DOUBLE 5         /* an answer that came twice counts twice */
#define BUG_RECORD_LATE 6         /* files change before the disk tells what is under way */
#define BUG_SKIP_WRITE 7          /* slurmctld gets a partition that its files have not */
#define BUG_OLD_PICTURE 8         /* what was done a moment ago is not known to the next job */
#define BUG_BLIND_TRUST 9         /* the hub's picture is never doubted */
#define BUG_ASIDE_UNRECORDED 10   /* the disk does not tell that a partition is set aside */
#define BUG_LAZY_CREATE 11        /* a new partition may be lost with the machine's power */

#ifndef APPLY_BUG
#define APPLY_BUG BUG_NONE
#endif

static inline bool bug_is(int bug)
{
    return APPLY_BUG == bug;
}
