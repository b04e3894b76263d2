/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that a slurmctld which serves is bound to. */
#pragma once

#include "src/agent/candidate.h"

/*
 * Add a fault for each setting that slurmctld, started with `to` where it ran with `from`, would
 * end on, or be somebody else.  `host` is the name of the machine that it runs on.
 */
void bound_check(const struct candidate *from, const struct candidate *to, const char *host,
                 struct faults *faults);
