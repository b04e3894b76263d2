/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indexes by reference.
 *
 * A changed Secret or ConfigMap must reach whoever refers to it: a key, a gres.conf, a prolog.  So
 * each object of ours is indexed by all that it names, a Partition by its NodeSets.  An object that
 * does not decode refers to nothing; its own plan says what is wrong with it.
 */
#include "src/operator/references.h"

#include "src/api/controller.h"
#include "src/api/nodeset.h"
#include "src/plan/pods.h"

static void emit(struct arena *a, struct kube_index_out *out, const char *ns, const char *kind,
                 const char *name)
{
    if (name && name[0])
        kube_index_emit(out, str_of(arena_printf(a, "%s/%s/%s", ns, kind, name)));
}

static void emit_key(struct arena *a, struct kube_index_out *out, const char *ns, const char *kind,
                     const struct api_key_ref *ref)
{
    if (ref)
        emit(a, out, ns, kind, ref->name);
}

void references_of_controller(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct controller_ref_list lists[CONTROLLER_REF_LISTS];
    struct api_key_ref slurm;
    struct api_key_ref jwt;
    struct controller c = {0};
    struct err e = {0};
    const char *ns;

    (void)arg;
    if (controller_decode(&a, object, &c, &e) < 0)
        return;
    ns = api_namespace(&c.meta);
    slurm = controller_slurm_key(&a, &c);
    jwt = controller_jwt_key(&a, &c);
    emit_key(&a, out, ns, "Secret", &slurm);
    emit_key(&a, out, ns, "Secret", &jwt);
    emit_key(&a, out, ns, "ConfigMap", c.spec.jwks_key_ref);
    controller_ref_lists(&c, lists);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < lists[i].refs->n; k++)
            emit(&a, out, ns, "ConfigMap", lists[i].refs->items[k].name);
    if (c.spec.accounting_ref)
        emit(&a, out, ns, "Accounting", c.spec.accounting_ref->name);
}

void references_of_nodeset(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct nodeset ns = {0};
    struct err e = {0};

    (void)arg;
    if (nodeset_decode(&a, object, &ns, &e) < 0)
        return;
    if (ns.spec.ssh && ns.spec.ssh->enabled)
        emit_key(&a, out, api_namespace(&ns.meta), "Secret", &ns.spec.ssh->sssd_conf_ref);
}

void references_of_partition(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};

    (void)arg;
    JSN_FOR_ITEMS (ref, jsn_get(object, "spec.nodeSetRefs"))
        emit(&a, out, jsn_get_str(object, "metadata.namespace"), "NodeSet",
             jsn_get_str(ref, "name"));
}

void references_partition_slurm_name(void *arg, const struct jsn *object,
                                     struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    const char *name = jsn_get_str(object, "spec.partitionName");

    (void)arg;
    kube_index_emit(
        out, str_of(arena_printf(&a, "%s/%s", jsn_get_str(object, "metadata.namespace"),
                                 name && name[0] ? name : jsn_get_str(object, "metadata.name"))));
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

void references_nodeset_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct nodeset ns = {0};
    struct err e = {0};

    (void)arg;
    if (nodeset_decode(&a, object, &ns, &e) == 0)
        kube_index_emit(out, str_of(arena_printf(&a, "%s/%s", api_namespace(&ns.meta),
                                                 nodeset_slurm_name(&a, &ns))));
}

void references_pod_slurm_name(void *arg, const struct jsn *object, struct kube_index_out *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct plan_pod p;

    (void)arg;
    plan_pod_decode(&a, object, &p);
    if (p.slurm_name && !p.is_slurmctld)
        kube_index_emit(out, str_of(arena_printf(&a, "%s/%s", p.namespace, p.slurm_name)));
}
