/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a change of words of slurm.conf costs, said before it is made. */
#pragma once

#include "src/api/problems.h"

/*
 * Warn of each difference between two pieces of slurm.conf for which slurmctld is started again.
 * NULL stands for nothing at all; what cannot be read is passed over.  `release` 0: the newest.
 */
void restart_warn(struct api_problems *p, const char *field, const char *old, const char *now,
                  uint32_t release);
