/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adoption and release.
 *
 * The uid in the controlling owner reference decides, never the name: a set that was deleted and
 * made again under its old name adopts the orphans that its predecessor left and nothing else.
 * Objects that are being deleted are not adopted.
 */
#include "src/cluster/workloads/owned.h"

#include "src/cluster/apiserver/inside.h"

const struct jsn *owned_controller(const struct jsn *object)
{
    JSN_FOR_ITEMS (ref, jsn_get(object, "metadata.ownerReferences"))
        if (jsn_get_bool(ref, "controller", false))
            return ref;
    return NULL;
}

bool owned_by(const struct jsn *object, const struct jsn *owner)
{
    const struct jsn *ref = owned_controller(object);

    return ref && streq(jsn_get_str(ref, "uid"), object_uid(owner));
}

void owned_set(struct arena *a, struct jsn *object, const struct owner *o)
{
    struct jsn *meta = jsn_ensure_object(a, object, "metadata");
    struct jsn *refs = jsn_key(meta, "ownerReferences");
    struct jsn *ref = jsn_object(a);

    jsn_set_str(a, ref, "apiVersion", o->api_version);
    jsn_set_str(a, ref, "kind", o->kind);
    jsn_set_str(a, ref, "name", object_name(o->object));
    jsn_set_str(a, ref, "uid", object_uid(o->object));
    jsn_set_bool(a, ref, "controller", true);
    jsn_set_bool(a, ref, "blockOwnerDeletion", true);
    if (!jsn_is(refs, JSN_ARRAY)) {
        refs = jsn_array(a);
        jsn_set(a, meta, "ownerReferences", refs);
    }
    jsn_append(a, refs, ref);
}

static struct jsn *adopt(struct plan *p, const struct owner *o, const char *resource,
                         const struct jsn *object)
{
    struct jsn *changed = jsn_clone(p->arena, object);

    owned_set(p->arena, changed, o);
    plan_add(p, ACTION_UPDATE, resource, changed);
    return changed;
}

static void release(struct plan *p, const struct owner *o, const char *resource,
                    const struct jsn *object)
{
    struct jsn *changed = jsn_clone(p->arena, object);
    struct jsn *refs = jsn_get(changed, "metadata.ownerReferences");

    for (size_t i = jsn_len(refs); i-- > 0;)
        if (streq(jsn_get_str(jsn_item(refs, i), "uid"), object_uid(o->object)))
            jsn_remove_at(refs, i);
    if (jsn_len(refs) == 0)
        (void)jsn_del_path(changed, "metadata.ownerReferences");
    plan_add(p, ACTION_UPDATE, resource, changed);
}

struct jsn *owned_claim(struct plan *p, const struct owner *o, const char *resource,
                        const struct jsn *candidates)
{
    struct jsn *list = jsn_array(p->arena);
    bool going = object_deleting(o->object);

    JSN_FOR_ITEMS (object, candidates) {
        bool chosen =
            labelselector_match(p->arena, o->selector, jsn_get(object, "metadata.labels")) &&
            (!o->fits || o->fits(o->object, object));

        if (owned_by(object, o->object)) {
            if (chosen || going)
                jsn_append(p->arena, list, object);
            else if (!object_deleting(object))
                release(p, o, resource, object);
        } else if (chosen && !going && !owned_controller(object) && !object_deleting(object)) {
            jsn_append(p->arena, list, adopt(p, o, resource, object));
        }
    }
    return list;
}
