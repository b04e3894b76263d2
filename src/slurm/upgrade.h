/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From one Slurm release to another: in which order, how far at once, and why not. */
#pragma once

#include "src/slurm/profile.h"

/* The parts of a cluster, in the order in which Slurm wants them upgraded: each serves those after
 * it if they are of its own release or of a few before it, never if they are newer. */
enum upgrade_part {
    UPGRADE_SLURMDBD,
    UPGRADE_SLURMCTLD,
    UPGRADE_SLURMD,
    UPGRADE_LOGIN,
    UPGRADE_N_PARTS,
};

/* Are both of one series?  What differs between them is mended bugs alone. */
bool upgrade_same_series(uint32_t a, uint32_t b);

/*
 * May a daemon go on, as `to`, with what its `from` has written?  Within a series always, also
 * back; else not back, and not over more releases than `to` reads.  The error names the way.
 */
int upgrade_check_step(uint32_t from, uint32_t to, struct err *e) MUST_CHECK;

/* What runs of each part; 0: nothing does, or it is not known.  Of several, the oldest. */
struct upgrade_cluster {
    uint32_t runs[UPGRADE_N_PARTS];
};

/*
 * May this part become `to` now?  -EAGAIN: it waits for a part before it, which is older than that.
 * -EINVAL: never, as things are: the step is too long, or a part after it would not be served any
 * more.
 */
int upgrade_check_part(const struct upgrade_cluster *c, enum upgrade_part part, uint32_t to,
                       struct err *e) MUST_CHECK;
