/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indexes by reference.
 *
 * A changed Secret or ConfigMap must reach whoever refers to it: a key, a gres.conf, a prolog.  So
 * each object of ours is indexed by all that it names; which that are is said by its kind
 * (kind_controller.c, ...).  An object that does not decode refers to nothing; its own plan says
 * what is wrong with it.
 */
#include "src/operator/references.h"

void references_emit(struct arena *a, struct kube_index_out *out, const char *ns, const char *kind,
                     const char *name)
{
    if (name && name[0])
        kube_index_emit(out, str_of(arena_printf(a, "%s/%s/%s", ns, kind, name)));
}

void references_emit_key(struct arena *a, struct kube_index_out *out, const char *ns,
                         const char *kind, const struct api_key_ref *ref)
{
    if (ref)
        references_emit(a, out, ns, kind, ref->name);
}

void references_to_controller(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    const char *name = jsn_get_str(object, "spec.controllerRef.name");

    (void)arg;
    if (name)
        kube_index_emit(out, str_of(arena_printf(&a, "%s/%s",
                                                 jsn_get_str(object, "metadata.namespace"), name)));
}
