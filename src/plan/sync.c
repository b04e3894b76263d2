/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bringing one object to what it should be.
 *
 * A write happens when (1) nothing is there, (2) what we want now differs from what we wanted when
 * we last wrote, by the digest in an annotation, or (3) the object has drifted: it does not hold
 * what we want.  So an unchanged object costs no write, whatever defaults the server put into it.
 * Labels and annotations are added and never removed.  Owners are replaced.
 */
#include "src/plan/sync.h"

#include "src/base/hash.h"
#include "src/plan/compare.h"

#define DIGEST_LEN 16

const char *sync_controller_uid(const struct jsn *object)
{
    JSN_FOR_ITEMS (owner, jsn_get(object, "metadata.ownerReferences"))
        if (jsn_get_bool(owner, "controller", false))
            return jsn_get_str(owner, "uid");
    return NULL;
}

static const char *digest(struct arena *a, const struct plan_kind *kind, const struct jsn *desired)
{
    AUTO(buf_done) struct buf text = {0};
    char hex[SHA256_HEX_LEN + 1];

    for (size_t i = 0; kind->fields && kind->fields[i]; i++) {
        const struct jsn *value = jsn_get(desired, kind->fields[i]);

        buf_printf(&text, "%s=", kind->fields[i]);
        if (value)
            jsn_print(&text, value);
        buf_addc(&text, '\n');
    }
    hash_sha256_hex(buf_view(&text), hex);
    return arena_printf(a, "%.*s", DIGEST_LEN, hex);
}

static const struct jsn *annotation(const struct jsn *object, const char *key)
{
    return jsn_member(jsn_get(object, "metadata.annotations"), str_of(key));
}

/* The desired object with the digest among its annotations. */
static struct jsn *sealed(struct arena *a, const struct plan_kind *kind, const struct jsn *desired)
{
    struct jsn *copy = jsn_clone(a, desired);

    if (kind->fields)
        jsn_set_str(a, jsn_ensure_object(a, jsn_ensure_object(a, copy, "metadata"), "annotations"),
                    SYNC_APPLIED, digest(a, kind, desired));
    return copy;
}

/* What is missing or different among labels or annotations. */
static void patch_map(struct arena *a, struct jsn *patch, const struct jsn *observed,
                      const struct jsn *desired, const char *name)
{
    const struct jsn *have = jsn_key(jsn_key(observed, "metadata"), name);

    JSN_FOR_MEMBERS (m, jsn_key(jsn_key(desired, "metadata"), name)) {
        struct jsn *meta;

        if (jsn_equal(jsn_member(have, m->key), m->value))
            continue;
        meta = jsn_ensure_object(a, patch, "metadata");
        jsn_set_member(a, jsn_ensure_object(a, meta, name), m->key, m->value);
    }
}

static void patch_owners(struct arena *a, struct jsn *patch, const struct jsn *observed,
                         const struct jsn *desired)
{
    struct jsn *want = jsn_get(desired, "metadata.ownerReferences");

    if (!want || compare_covers(jsn_get(observed, "metadata.ownerReferences"), want))
        return;
    jsn_set(a, jsn_ensure_object(a, patch, "metadata"), "ownerReferences", want);
}

static void patch_fields(struct arena *a, const struct plan_kind *kind, struct jsn *patch,
                         const struct jsn *observed, const struct jsn *desired)
{
    bool same_wish = kind->fields && jsn_equal(annotation(observed, SYNC_APPLIED),
                                               annotation(desired, SYNC_APPLIED));

    for (size_t i = 0; kind->fields && kind->fields[i]; i++) {
        const struct jsn *have = jsn_get(observed, kind->fields[i]);
        const struct jsn *want = jsn_get(desired, kind->fields[i]);
        struct jsn *change;

        if (same_wish && compare_covers(have, want))
            continue;
        change = compare_patch(a, have, want);
        if (change)
            jsn_set_path(a, patch, kind->fields[i], change);
    }
}

static bool is_foreign(const struct jsn *observed, const struct jsn *desired)
{
    const char *has = sync_controller_uid(observed);
    const char *ours = sync_controller_uid(desired);

    return has && ours && !streq(has, ours);
}

void sync_patch(struct actions *to, const struct plan_kind *kind, const struct jsn *desired,
                const struct jsn *patch)
{
    struct action *action = actions_add(to, ACTION_PATCH);

    action->kind = kind;
    action->namespace = jsn_get_str(desired, "metadata.namespace");
    action->name = jsn_get_str(desired, "metadata.name");
    action->body = patch;
}

bool sync_object(struct actions *to, const struct jsn *observed, const struct jsn *desired)
{
    const struct plan_kind *kind = plan_kind_find(jsn_get_str(desired, "kind"));
    struct jsn *want = sealed(to->arena, kind, desired);
    struct jsn *patch = jsn_object(to->arena);

    if (!observed) {
        actions_create(to, want, "CreateSucceeded", "Created %s %s", kind->kind,
                       jsn_get_str(want, "metadata.name"));
        return true;
    }
    if (is_foreign(observed, want)) {
        actions_event(to, true, "ConflictingController",
                      "%s %s is controlled by another object and is left alone; rename one of both",
                      kind->kind, jsn_get_str(want, "metadata.name"));
        return false;
    }
    if (jsn_get_str(observed, "metadata.deletionTimestamp"))
        return true;
    patch_map(to->arena, patch, observed, want, "labels");
    patch_map(to->arena, patch, observed, want, "annotations");
    patch_owners(to->arena, patch, observed, want);
    if (!jsn_get_bool(observed, "immutable", false))
        patch_fields(to->arena, kind, patch, observed, want);
    if (jsn_len(patch))
        sync_patch(to, kind, want, patch);
    return true;
}

const struct jsn *sync_built(struct actions *to, const struct api_lookup *l, struct jsn *object)
{
    const struct jsn *observed = NULL;

    if (!object)
        return NULL;
    (void)api_lookup_get(l, jsn_get_str(object, "kind"), jsn_get_str(object, "metadata.namespace"),
                         jsn_get_str(object, "metadata.name"), &observed);
    (void)sync_object(to, observed, object);
    return observed;
}

void sync_absent(struct actions *to, const char *kind, const struct jsn *observed,
                 const char *owner_uid)
{
    const char *name = jsn_get_str(observed, "metadata.name");

    if (!observed || jsn_get_str(observed, "metadata.deletionTimestamp") ||
        !streq(sync_controller_uid(observed), owner_uid))
        return;
    actions_delete(to, kind, jsn_get_str(observed, "metadata.namespace"), name,
                   jsn_get_str(observed, "metadata.uid"), "DeleteSucceeded", "Deleted %s %s", kind,
                   name);
}
