/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine offers to a cluster: its Slurm, its programs, its control groups. */
#pragma once

#include "src/local/install.h"

struct host {
    struct install slurm;
    int64_t slurm_uid; /* of the user slurm */
    int64_t slurm_gid;
    bool http;          /* its daemons answer HTTP, as far as the parser for it is there */
    const char *cgroup; /* "v2", "v1", "hybrid", "none": as `operator --cgroup` names them */
};

/* Fails with all that is missing, and the command that installs it.  *ret was {0}. */
int host_look(const struct install_wish *wish, struct host *ret, struct err *e) MUST_CHECK;
void host_done(struct host *h);
DEFINE_AUTO_DONE(struct host, host_done);

/* Can Slurm bind jobs to cores and limit their memory by the control groups below `top`
 * ("/sys/fs/cgroup"), v1 or v2?  The error names what is missing. */
int host_limits_jobs(const char *top, struct err *e) MUST_CHECK;

/* Has the Slurm of that slurmctld what it needs to answer HTTP? */
bool host_parses_http(const char *slurmctld);

/* A program of ours beside `program`, where it is installed, or in the directory (from there) that
 * it is built in; owned, or NULL. */
char *host_own_program(const char *program, const char *built, const char *name);
/* Is slurmkeeper-agent there, beside `program` or where it is installed or built?  1: it is, and
 * speaks with that Slurm.  0: it is not there at all.  Fails if it does not speak with that Slurm.
 */
int host_find_agent(const char *program, const struct install *slurm, struct err *e) MUST_CHECK;
