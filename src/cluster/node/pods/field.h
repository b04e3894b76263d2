/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of a pod by their path, and resources by their name: the downward API; pure. */
#pragma once

#include "src/cluster/node/pods/pod_spec.h"

/* What is not in the object, or not yet. */
struct field_context {
    const char *pod_ip; /* "" before there is one */
    const char *host_ip;
    int64_t cpu_milli; /* of the machine: what an absent limit stands for */
    int64_t memory_bytes;
};

/* "metadata.labels['app']", "status.podIP", ...: the text, in `a`. */
int field_value(struct arena *a, const struct pod_spec *p, const struct field_context *c,
                const char *path, const char **ret_text, struct err *e) MUST_CHECK;

/* {"containerName", "resource": "limits.cpu", "divisor"}; `own` is the container that asks, or
 * NULL where a name must be given. */
int field_resource(struct arena *a, const struct pod_spec *p, const struct field_context *c,
                   const struct ctr_spec *own, const struct jsn *ref, const char **ret_text,
                   struct err *e) MUST_CHECK;
