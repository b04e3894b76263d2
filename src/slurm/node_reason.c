/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of slurmctld.
 *
 * They are those of 22.05 to 26.05: later releases put figures after them, and append to a reason
 * that is there already, after " : ".  What counts is how a reason begins, so that a person's
 * reason to which slurmctld has added its own stays the person's.  And it must have been written by
 * slurmctld's user: what a person writes in the same words is a person's drain.
 */
#include "src/slurm/node_reason.h"

#include "src/base/str.h"

#define SLURMCTLD_USER "slurm" /* SlurmUser of every slurm.conf that we write */

static bool begins_with_one(const char *const *list, size_t n, const char *reason)
{
    for (size_t i = 0; i < n; i++)
        if (starts_with(reason, list[i]))
            return true;
    return false;
}

bool node_reason_is_registration(const char *reason, const char *user)
{
    static const char *const words[] = {"Low socket*core*thread count", "Low CPUs",
                                        "Low RealMemory", "Low TmpDisk", "CoreSpec differ"};

    if (!reason || !streq(user, SLURMCTLD_USER))
        return false;
    return begins_with_one(words, ARRAY_LEN(words), reason) ||
           (starts_with(reason, "gres/") &&
            (strstr(reason, " count reported lower than configured (") ||
             strstr(reason, " count too low (") || strstr(reason, " count changed and jobs")));
}

bool node_reason_is_absence(const char *reason, const char *user)
{
    static const char *const words[] = {"Not responding", "Node unexpectedly rebooted"};

    return reason && streq(user, SLURMCTLD_USER) &&
           begins_with_one(words, ARRAY_LEN(words), reason);
}
