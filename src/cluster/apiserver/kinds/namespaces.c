/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Namespaces.
 *
 * spec.finalizers holds a namespace until its content is gone; only the finalize subresource can
 * change it.  The label kubernetes.io/metadata.name is kept equal to the name.  The three
 * namespaces that every cluster has cannot be deleted.
 */
#include "src/cluster/apiserver/kinds/kinds.h"

static void set_defaults(struct arena *a, struct jsn *ns)
{
    struct jsn *meta = jsn_ensure_object(a, ns, "metadata");
    const char *name = jsn_get_str(meta, "name");

    if (name && name[0] != '\0')
        jsn_set_str(a, jsn_ensure_object(a, meta, "labels"), "kubernetes.io/metadata.name", name);
}

static int prepare_create(struct api_call *c, struct jsn *ns)
{
    struct jsn *finalizers = jsn_get(ns, "spec.finalizers");
    bool has = false;

    JSN_FOR_ITEMS (item, finalizers) {
        has |= streq(jsn_text(item), "kubernetes");
    }
    if (!jsn_is(finalizers, JSN_ARRAY)) {
        finalizers = jsn_array(&c->arena);
        jsn_set_path(&c->arena, ns, "spec.finalizers", finalizers);
    }
    if (!has)
        jsn_append(&c->arena, finalizers, jsn_string(&c->arena, "kubernetes"));
    jsn_set(&c->arena, ns, "status", jsn_object(&c->arena));
    jsn_set_path(&c->arena, ns, "status.phase", jsn_string(&c->arena, "Active"));
    return 0;
}

static int prepare_update(struct api_call *c, struct jsn *ns, const struct jsn *old)
{
    if (!c->finalizing)
        kind_keep(&c->arena, ns, old, "spec");
    return 0;
}

static void validate(struct causes *cs, const struct jsn *ns)
{
    struct place root = place_root(ns);
    struct place spec = place_key(&root, "spec");
    struct place finalizers = place_key(&spec, "finalizers");

    validate_finalizers(cs, &finalizers, true);
}

static void validate_update(struct causes *cs, const struct jsn *ns, const struct jsn *old)
{
    struct place root = place_root(ns);
    struct place status = place_key(&root, "status");
    struct place phase = place_key(&status, "Phase"); /* as Kubernetes spells it here */
    bool deleting = jsn_get_str(ns, "metadata.deletionTimestamp");

    (void)old;
    phase.value = jsn_key(status.value, "phase");
    if (!deleting && !streq(place_str(&phase), "Active"))
        place_invalid(cs, &phase, "may only be 'Active' if `deletionTimestamp` is empty");
    if (deleting && !streq(place_str(&phase), "Terminating"))
        place_invalid(cs, &phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
}

static int check_delete(struct api_call *c, struct jsn *ns)
{
    static const char *const kept[] = {"default", "kube-system", "kube-public"};
    const char *name = kind_text(ns, "metadata.name");

    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (streq(name, kept[i]))
            return status_forbidden(c, name, "this namespace may not be deleted");
    return 0;
}

const struct strategy strategy_namespaces = {
    .resource = "namespaces",
    .names = NAME_LABEL,
    .no_generation = true,
    .status_reset = true,
    .deletes_to_object = true,
    .bare_deletion = true,
    .set_defaults = set_defaults,
    .prepare_create = prepare_create,
    .prepare_update = prepare_update,
    .validate = validate,
    .validate_update = validate_update,
    .check_delete = check_delete,
};
