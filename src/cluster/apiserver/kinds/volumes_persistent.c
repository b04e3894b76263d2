/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent volumes and storage classes.
 *
 * Where a volume's data are never changes.  A volume that is bound to a claim keeps its finalizer
 * when it is deleted, until the claim lets go of it.
 */
#include "src/cluster/apiserver/kinds/claims.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/podspec.h"

static const char *const reclaim_policies[] = {"Delete", "Recycle", "Retain", NULL};

/* Members of a volume's spec that do not say where its data are. */
static bool is_source(struct str key)
{
    static const char *const others[] = {"capacity",
                                         "accessModes",
                                         "claimRef",
                                         "volumeMode",
                                         "mountOptions",
                                         "nodeAffinity",
                                         "persistentVolumeReclaimPolicy",
                                         "storageClassName",
                                         "volumeAttributesClassName"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (str_eqz(key, others[i]))
            return false;
    return true;
}

static struct jsn *source_of(struct arena *a, const struct jsn *volume)
{
    struct jsn *source = jsn_object(a);

    JSN_FOR_MEMBERS (m, jsn_key(volume, "spec")) {
        if (is_source(m->key) && m->value->type != JSN_NULL)
            jsn_set_member(a, source, m->key, m->value);
    }
    return source;
}

static int prepare_create(struct api_call *c, struct jsn *volume)
{
    struct jsn *status = jsn_object(&c->arena);

    jsn_set_str(&c->arena, status, "phase", "Pending");
    jsn_set(&c->arena, volume, "status", status);
    claims_add_finalizer(&c->arena, volume, VOLUME_FINALIZER);
    return 0;
}

static int check_delete(struct api_call *c, struct jsn *volume)
{
    (void)c;
    if (!streq(jsn_get_str(volume, "status.phase"), "Bound"))
        claims_drop_finalizer(volume, VOLUME_FINALIZER);
    return 0;
}

static void check_capacity(struct causes *cs, const struct place *capacity)
{
    static const char *const known[] = {"storage", NULL};

    if (jsn_len(capacity->value) == 0)
        place_required(cs, capacity, NULL);
    if (!jsn_key(capacity->value, "storage") || jsn_len(capacity->value) > 1)
        place_unsupported(cs, capacity, known);
    JSN_FOR_MEMBERS (m, capacity->value) {
        struct place at = place_entry(capacity, m);

        resource_quantity_check(cs, &at);
        if (streq(place_str(&at), "0"))
            place_invalid(cs, &at, "must be greater than zero");
    }
}

static void check_sources(struct causes *cs, const struct place *spec, const struct jsn *source)
{
    struct place host_path = place_key(spec, "hostPath");
    struct place path = place_key(&host_path, "path");
    struct place local = place_key(spec, "local");
    struct place local_path = place_key(&local, "path");
    struct place affinity = place_key(spec, "nodeAffinity");

    if (jsn_len(source) == 0)
        place_required(cs, spec, "must specify a volume type");
    for (size_t i = 1; i < jsn_len(source); i++) {
        struct place at = place_key(spec, source->o.members[i].key.p);

        place_forbidden(cs, &at, "may not specify more than 1 volume type");
    }
    if (place_given(&host_path) && check_filled(cs, &path, NULL))
        check_no_backsteps(cs, &path);
    if (place_given(&local)) {
        if (check_filled(cs, &local_path, NULL))
            check_no_backsteps(cs, &local_path);
        if (!place_given(&affinity))
            place_required(cs, &affinity, "Local volume requires node affinity");
    }
}

static void validate(struct causes *cs, const struct jsn *volume)
{
    struct place root = place_root(volume);
    struct place spec = place_key(&root, "spec");
    struct place capacity = place_key(&spec, "capacity");
    struct place policy = place_key(&spec, "persistentVolumeReclaimPolicy");
    struct place class = place_key(&spec, "storageClassName");
    struct place affinity = place_key(&spec, "nodeAffinity");
    struct place required = place_key(&affinity, "required");

    claims_check_modes(cs, &spec, NULL);
    check_capacity(cs, &capacity);
    check_enum(cs, &policy, reclaim_policies);
    if (place_given(&affinity)) {
        if (place_given(&required))
            node_selector_check(cs, &required);
        else
            place_required(cs, &required, "must specify required node constraints");
    }
    check_sources(cs, &spec, source_of(cs->arena, volume));
    if (place_filled(&class))
        check_form(cs, &class, FORM_DNS_SUBDOMAIN);
}

static void validate_update(struct causes *cs, const struct jsn *volume, const struct jsn *old)
{
    struct jsn *source = source_of(cs->arena, volume);
    struct jsn *old_source = source_of(cs->arena, old);
    struct place root = place_root(volume);
    struct place mode = place_key(&root, "volumeMode"); /* Kubernetes leaves "spec" out */
    struct place affinity = place_key(&root, "nodeAffinity");
    const struct jsn *old_affinity = jsn_get(old, "spec.nodeAffinity");

    mode.value = jsn_get(volume, "spec.volumeMode");
    affinity.value = jsn_get(volume, "spec.nodeAffinity");
    if (!check_same(source, old_source))
        cause_forbidden(cs, "spec.persistentvolumesource",
                        "spec.persistentvolumesource is immutable after creation%s",
                        kind_difference(cs->arena, source, old_source, "spec"));
    check_immutable(cs, &mode, jsn_get(old, "spec.volumeMode"));
    if (old_affinity)
        check_immutable(cs, &affinity, old_affinity);
}

static void class_validate(struct causes *cs, const struct jsn *class)
{
    static const char *const modes[] = {"Immediate", "WaitForFirstConsumer", NULL};
    static const char *const policies[] = {"Delete", "Retain", NULL};
    struct place root = place_root(class);
    struct place provisioner = place_key(&root, "provisioner");
    struct place policy = place_key(&root, "reclaimPolicy");
    struct place mode = place_key(&root, "volumeBindingMode");

    if (check_filled(cs, &provisioner, NULL)) {
        struct name_faults f = names_check(FORM_QUALIFIED, str_of(place_str(&provisioner)));

        for (size_t i = 0; i < f.n; i++)
            place_invalid(cs, &provisioner, "%s", f.text[i]);
    }
    check_enum(cs, &policy, policies);
    check_enum_required(cs, &mode, modes);
}

static void class_validate_update(struct causes *cs, const struct jsn *class, const struct jsn *old)
{
    static const char *const fixed[] = {"parameters", "provisioner", "reclaimPolicy"};
    struct place root = place_root(class);
    struct place mode = place_key(&root, "volumeBindingMode");

    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (!check_same(jsn_key(class, fixed[i]), jsn_key(old, fixed[i])))
            cause_forbidden(cs, fixed[i], "updates to %s are forbidden.", fixed[i]);
    check_immutable(cs, &mode, jsn_key(old, "volumeBindingMode"));
}

const struct strategy strategy_persistentvolumes = {
    .resource = "persistentvolumes",
    .no_generation = true,
    .status_reset = true,
    .deletes_to_object = true,
    .prepare_create = prepare_create,
    .validate = validate,
    .validate_update = validate_update,
    .check_delete = check_delete,
};

const struct strategy strategy_storageclasses = {
    .resource = "storageclasses.storage.k8s.io",
    .no_generation = true,
    .deletes_to_object = true,
    .validate = class_validate,
    .validate_update = class_validate_update,
};
