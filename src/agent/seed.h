/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first files: from the mount to the live directory, before slurmctld starts. */
#pragma once

#include "src/base/err.h"

/* Copy what is mounted unless the live directory has a slurm.conf; the log tells which. */
int seed_run(const char *mount, const char *live, struct err *e) MUST_CHECK;
