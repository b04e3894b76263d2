/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shell scripts that containers run, from src/build/scripts. */
#pragma once

extern const char script_reconfigure[]; /* bash */
extern const char script_logfile[];     /* sh, with SOCKET in the environment */
extern const char script_initconf[];    /* sh, with the ids of the user slurm */
extern const char script_journalctl[];  /* a program of that name */
extern const char script_leave[];       /* bash, with how long sessions are waited for */
extern const char script_retire[];      /* bash, with slurmctld's host and port */
extern const char script_revive[];      /* sh, with the directory of the agent's marker */
