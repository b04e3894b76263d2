/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the runtime needs to make a container: a directory with config.json and a root. */
#pragma once

#include "src/base/err.h"

struct container;

/* Make the run's directory complete.  ERR_RETRY: a ConfigMap or Secret is missing. */
int bundle_make(struct container *c, struct err *e) MUST_CHECK;
/* The group of the container's processes: "/slurmkeeper-x/podUID/NAME-3"; owned. */
char *bundle_cgroup(const struct container *c);
