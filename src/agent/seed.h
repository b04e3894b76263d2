/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first files of a pod: in the live directory before slurmctld starts. */
#pragma once

#include "src/agent/options.h"

/* Fill the live directory unless it has a slurm.conf; the log tells from where. */
int seed_run(const struct agent_options *o, struct err *e) MUST_CHECK;
