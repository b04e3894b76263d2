/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons that slurmctld itself writes to a node, told from those of people. */
#pragma once

#include <stdbool.h>

/*
 * Did slurmctld drain the node because slurmd brought less than its record says ("Low RealMemory")?
 * That is over as soon as slurmd registers with enough; slurmctld then leaves the drain to others.
 */
bool node_reason_is_registration(const char *reason, const char *user);

/* Did slurmctld take the node down because nobody answers there? */
bool node_reason_is_absence(const char *reason, const char *user);
