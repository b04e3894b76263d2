/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out early that slurmctld is gone while libslurm keeps on trying to reach it. */
#pragma once

/*
 * libslurm tries for MessageTimeout (10 s) before it says that there is no slurmctld.  A second
 * thread looks at calls that last: if no controller takes a connection, it answers the call in
 * libslurm's place and ends the process, for there is no other way out of libslurm.
 */
void watchdog_start(int fd);

/* Around each call of libslurm; answers are written after watchdog_end. */
void watchdog_begin(void);
void watchdog_end(void);
