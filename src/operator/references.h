/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which object refers to which, as indexes of caches. */
#pragma once

#include "src/api/refs.h"
#include "src/kube/cache.h"

/* Put out that the object names "namespace/Secret/name", so that a change of that finds the object;
 * nothing for a name that is NULL or empty. */
void references_emit(struct arena *a, struct kube_index_out *out, const char *ns, const char *kind,
                     const char *name);
void references_emit_key(struct arena *a, struct kube_index_out *out, const char *ns,
                         const char *kind, const struct api_key_ref *ref);

/* A kube_index_fn, by "namespace/name" of spec.controllerRef. */
void references_to_controller(void *arg, const struct jsn *object, struct kube_index_out *out);
