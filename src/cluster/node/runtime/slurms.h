/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the machine's Slurms a pod runs. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

/*
 * The prefix of the Slurm that the pod's annotation names by its release, "26.05.5" or "26.05", in
 * `a`; `usual` (or NULL) where it names none.  Known are the usual one and those of the file
 * STATE/slurms.  -ENOENT: none of them is it.
 */
int slurms_choose(struct arena *a, const char *state_dir, const struct pod_spec *pod,
                  const char *usual, const char **ret_prefix, struct err *e) MUST_CHECK;
