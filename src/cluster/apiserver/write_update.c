/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Updating objects: PUT, every kind of PATCH, and the status and scale subresources end here.
 *
 * The caller's object replaces the current one, except for what is not the caller's to change:
 * identity and times, the generation (which counts changes of everything but metadata and status),
 * and either the status or everything but the status, by the door it came through.
 */
#include "src/cluster/apiserver/admission.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/ownership.h"
#include "src/cluster/apiserver/shape.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/write.h"

static void copy_member(struct arena *a, struct jsn *to, const struct jsn *from, const char *key)
{
    struct jsn *v = jsn_key(from, key);

    if (v)
        jsn_set(a, to, key, v);
    else
        (void)jsn_del(to, key);
}

/* Another uid means another object that bore the same name. */
static int check_uid(struct api_call *c, const struct jsn *object, const struct jsn *old)
{
    const char *uid = jsn_get_str(object, "metadata.uid");

    if (!uid || !uid[0] || streq(uid, object_uid(old)))
        return 0;
    return status_conflict(c, object_name(old),
                           "Precondition failed: UID in precondition: %s, UID in object meta: %s",
                           uid, object_uid(old));
}

static int check_version(struct api_call *c, const struct strategy *st, const struct jsn *object,
                         const struct jsn *old)
{
    const char *version = jsn_get_str(object, "metadata.resourceVersion");
    struct causes cs = {.arena = &c->arena};

    if (version && version[0] && !streq(version, "0")) {
        if (!streq(version, jsn_get_str(old, "metadata.resourceVersion")))
            return status_modified(c, object_name(old));
        return 0;
    }
    if (!st->needs_version)
        return 0;
    cause_invalid_text(&cs, "metadata.resourceVersion", "0", "must be specified for an update");
    /* Kubernetes calls the object by its resource here, not by its kind. */
    return status_invalid_kind(c, c->res->plural, c->res->group, object_name(old), &cs);
}

/* Through /status: the old object with the new status.  Built-in kinds also take metadata. */
static struct jsn *take_status(struct api_call *c, const struct jsn *object, const struct jsn *old)
{
    struct jsn *o = jsn_clone(&c->arena, old);
    struct jsn *meta = jsn_ensure_object(&c->arena, o, "metadata");

    copy_member(&c->arena, o, object, "status");
    if (!c->stored->custom) {
        copy_member(&c->arena, meta, jsn_key(object, "metadata"), "labels");
        copy_member(&c->arena, meta, jsn_key(object, "metadata"), "annotations");
        copy_member(&c->arena, meta, jsn_key(object, "metadata"), "finalizers");
    }
    copy_member(&c->arena, meta, jsn_key(object, "metadata"), "managedFields");
    return o;
}

static void keep_system_metadata(struct api_call *c, struct jsn *object, const struct jsn *old)
{
    static const char *const kept[] = {"creationTimestamp", "deletionTimestamp",
                                       "deletionGracePeriodSeconds", "generation",
                                       "resourceVersion"};
    struct jsn *meta = jsn_ensure_object(&c->arena, object, "metadata");
    const struct jsn *was = jsn_key(old, "metadata");

    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        copy_member(&c->arena, meta, was, kept[i]);
    if (!jsn_get_str(meta, "uid") || !jsn_get_str(meta, "uid")[0])
        copy_member(&c->arena, meta, was, "uid");
    copy_member(&c->arena, meta, was, "name");
    copy_member(&c->arena, meta, was, "namespace");
    (void)jsn_del(meta, "selfLink");
}

static bool same_but_for(const struct jsn *a, const struct jsn *b, bool status_counts)
{
    JSN_FOR_MEMBERS (m, a) {
        if (str_eqz(m->key, "metadata") || (!status_counts && str_eqz(m->key, "status")))
            continue;
        if (!jsn_equal(m->value, jsn_member(b, m->key)))
            return false;
    }
    return true;
}

/* Does anything outside metadata (and status, where that has a door of its own) differ? */
static bool spec_differs(const struct strategy *st, const struct jsn *a, const struct jsn *b)
{
    return !same_but_for(a, b, !st->status_reset) || !same_but_for(b, a, !st->status_reset);
}

static void count_generation(struct api_call *c, const struct strategy *st, struct jsn *object,
                             const struct jsn *old)
{
    bool counts = spec_differs(st, object, old);

    /* Controllers write annotations along with the status: that asks nobody for anything. */
    if (st->annotations_count && !c->sub)
        counts = counts || !jsn_equal(jsn_get(object, "metadata.annotations"),
                                      jsn_get(old, "metadata.annotations"));
    if (st->no_generation || !counts)
        return;
    jsn_set_int(&c->arena, jsn_ensure_object(&c->arena, object, "metadata"), "generation",
                jsn_get_int(old, "metadata.generation", 0) + 1);
}

/* Nothing holds it any more: no finalizer, no grace, and a namespace's own finalizers are done. */
static bool may_go(const struct jsn *object)
{
    return object_deleting(object) && jsn_len(jsn_get(object, "metadata.finalizers")) == 0 &&
           jsn_get_int(object, "metadata.deletionGracePeriodSeconds", 0) == 0 &&
           jsn_len(jsn_get(object, "spec.finalizers")) == 0;
}

static int validate_all(struct api_call *c, const struct strategy *st, const struct jsn *object,
                        const struct jsn *old)
{
    struct causes cs = {.arena = &c->arena};

    validate_metadata(&cs, object, st->names, c->stored->namespaced);
    validate_metadata_update(&cs, object, old);
    shape_validate(&cs, c, object, old);
    if (st->validate)
        st->validate(&cs, object);
    if (st->validate_update && !c->binding)
        st->validate_update(&cs, object, old);
    return status_invalid(c, object_name(old), &cs);
}

static int store_change(struct api_call *c, struct jsn *object, const struct jsn *old)
{
    if (c->dry_run || jsn_equal(object, old))
        return 0;
    /* The last anybody sees of it is what was stored, not the update that let it go. */
    return may_go(object) ? object_drop(c, jsn_clone(&c->arena, old)) : object_put(c, object);
}

/* Members of `from` replace those of `to`: the caller's tree shows what was stored. */
static void become(struct jsn *to, const struct jsn *from)
{
    *to = *from;
}

int write_update(struct api_call *c, const struct jsn *old, struct jsn *object,
                 const struct write_update *how)
{
    const struct strategy *st = strategy_of(c->stored);
    bool status_door = c->sub && streq(c->sub->name, "status");
    int r = how->unconditional ? 0 : check_version(c, st, object, old);

    if (r == 0 && c->verb == VERB_UPDATE)
        r = check_uid(c, object, old);
    if (r < 0)
        return r;
    if (status_door)
        become(object, take_status(c, object, old));
    else if (st->status_reset)
        copy_member(&c->arena, object, old, "status");
    keep_system_metadata(c, object, old);
    shape_default(c, object);
    /* Books are kept on what the caller wrote, before the server adds to it. */
    if (!how->applied && (r = ownership_update(c, object, old)) < 0)
        return r;
    if (st->prepare_update && (r = st->prepare_update(c, object, old)) < 0)
        return r;
    count_generation(c, st, object, old);
    if ((r = admission_update(c, object, old)) < 0)
        return r;
    if ((r = validate_all(c, st, object, old)) < 0)
        return r;
    return store_change(c, object, old);
}
