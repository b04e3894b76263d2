/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way of slurmctld's messages to the commands on this machine. */
#pragma once

#include "src/base/buf.h"
#include "src/cluster/node/job.h"
#include "src/cluster/node/pods/pod_spec.h"

/* Does slurmctld run in the pod, in a network of its own? */
bool callback_wanted(const struct pod_spec *p);

/* Rules for the pod's network.  `gateway` is the machine's address there. */
void callback_print(struct buf *b, const struct pod_spec *p, const char *gateway);

/* Set them in the network of a process; `done` as with job_run. */
struct job *callback_open(struct loop *l, pid_t pid, const char *rules, job_program_fn done,
                          void *arg);
