/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine offers to a cluster: its Slurm, its programs, its control groups. */
#pragma once

#include "src/base/str.h"

struct host {
    uint32_t release;  /* of the installed Slurm */
    int64_t slurm_uid; /* of its user slurm */
    int64_t slurm_gid;
    const char *cgroup; /* "v2", "v1", "hybrid", "none": as `operator --cgroup` names them */
};

/* Fails with all that is missing, and the command that installs it. */
int host_look(struct host *ret, struct err *e) MUST_CHECK;

/* A program of ours beside `program`, where it is installed, or in the directory (from there) that
 * it is built in; owned, or NULL. */
char *host_own_program(const char *program, const char *built, const char *name);
/* Is slurmkeeper-agent there, beside `program` or where it is installed or built? */
bool host_has_agent(const char *program);
