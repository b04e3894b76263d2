/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that libslurm's parser and slurmctld take for certain, so that neither need be asked. */
#pragma once

#include "src/slurm/keys.h"

/* One line without its line break, for that release. */
bool vouch_line(struct str line, uint32_t release);

/*
 * Does a slurm.conf differ from `known`, which slurmctld has taken, in nothing but lines of
 * partitions and node sets, and is each new one of them certain?
 */
bool vouch_text(struct str text, struct str known, uint32_t release);
