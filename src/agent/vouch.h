/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of partitions that libslurm's parser takes for certain, so that it need not be asked. */
#pragma once

#include "src/slurm/keys.h"

/* One line without its line break, for that release. */
bool vouch_line(struct str line, uint32_t release);

/*
 * Does a slurm.conf differ from `known`, which the parser has taken, in nothing but lines of
 * partitions, and is each new one of them certain?
 */
bool vouch_text(struct str text, struct str known, uint32_t release);
