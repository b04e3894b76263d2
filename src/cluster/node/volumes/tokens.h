/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Service account tokens of pods: asked for, kept, renewed before they end. */
#pragma once

#include "src/cluster/node/node_private.h"
#include "src/cluster/node/pods/pod_spec.h"

struct tokens *tokens_new(struct node *n);
struct tokens *tokens_free(struct tokens *t);

/* The token of a pod for an audience ("": the API server), in `a`; NULL while it is being asked
 * for: then the pod's volumes are refreshed when it is there. */
const char *tokens_get(struct tokens *t, struct arena *a, const struct pod_spec *p,
                       const char *account, const char *audience, int64_t seconds);
/* A pod is gone.  NULL-safe. */
void tokens_forget(struct tokens *t, const char *uid);
