/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of the kernel that a pod may have of its own; pure. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

#define SYSCTLS_MAX 20

/* Is each of securityContext.sysctls a setting of a namespace that is the pod's own? */
int sysctls_check(const struct pod_spec *p, struct err *e) MUST_CHECK;
