/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pure: lines for partitions that are no longer declared, but must not go yet. */
#pragma once

#include "src/slurm/model.h"

/*
 * Append the lines that keep a partition of `from` alive in a file that means `declared`: the
 * NodeSets it names that `declared` has not, and the partition with everything it inherits worked
 * in.  It is never the default; `drain` sets State=DRAIN.
 */
int keep_declared(const struct model *from, const struct model_object *partition,
                  const struct model *declared, bool drain, struct buf *out,
                  struct err *e) MUST_CHECK;

/*
 * Likewise for a partition that `declared` has and slurmctld refuses: it stays as it was, the
 * default, too, unless another one is declared to be that.
 */
int keep_former(const struct model *from, const struct model_object *partition,
                const struct model *declared, struct buf *out, struct err *e) MUST_CHECK;

/* The same for a partition that only slurmctld knows. */
void keep_live(const struct partition *live, bool drain, struct buf *out);
