/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a container is allowed to be: privileged, confined, or ordinary; pure. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

/*
 * "confine.slurmkeeper.dev/NAME", an annotation of the pod: container NAME says `privileged` only
 * for platforms that cannot give it less; a node that can delegate control groups is to give it
 * these capabilities ("CHOWN,KILL"), writable control groups of its own, and nothing else.
 */
#define CONFINE_ANNOTATION "confine.slurmkeeper.dev/"

/* Does it get everything?  Not if its pod has the annotation. */
bool confine_is_privileged(const struct pod_spec *p, const struct ctr_spec *c);

/* Has it the annotation? */
bool confine_is_confined(const struct pod_spec *p, const struct ctr_spec *c);

/* Does it write its own control groups? */
bool confine_writes_cgroups(const struct pod_spec *p, const struct ctr_spec *c);

/* Its capabilities, by bit, out of `may_have`.  Fails on names that there are not. */
int confine_capabilities(const struct pod_spec *p, const struct ctr_spec *c, uint64_t may_have,
                         uint64_t *ret_set, struct err *e) MUST_CHECK;

/* May it make every system call?  Fails on profiles that this machine does not have. */
int confine_unfiltered(const struct pod_spec *p, const struct ctr_spec *c, bool *ret,
                       struct err *e) MUST_CHECK;

/* Is it one that may not make every call? */
bool confine_is_filtered(const struct pod_spec *p, const struct ctr_spec *c);

/* securityContext of the container, else of the pod. */
const struct jsn *confine_setting(const struct pod_spec *p, const struct ctr_spec *c,
                                  const char *key);
