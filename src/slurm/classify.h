/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a difference costs: a call to slurmctld, a reconfigure, or a restart. */
#pragma once

#include "src/slurm/diff.h"

struct verdict {
    enum change_class class;
    const char *why; /* what to know about it, or why it is heavier than its key; NULL: nothing */
};

/* Class one difference between files of this kind, for a release. */
struct verdict classify_change(const struct conf_change *change, enum conf_kind kind,
                               uint32_t release);

/* A changed file that has no model (a script, a key, topology.yaml, ...), by its base name. */
struct verdict classify_file(const char *name, uint32_t release);
