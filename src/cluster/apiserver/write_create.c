/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creating objects.
 *
 * Order, as in kube-apiserver: the server's own metadata, defaults, what the kind decides by
 * itself, admission, field ownership, validation, and only then the question whether the name is
 * taken.
 */
#include "src/cluster/apiserver/admission.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/ownership.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/shape.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/write.h"

#include "src/base/encode.h"

#define GENERATED_BASE_MAX 58
#define GENERATED_TRIES 8

/* "base-x7k2m" */
static const char *generate_name(struct arena *a, const char *base)
{
    char suffix[6] = "";

    encode_random(suffix, sizeof(suffix) - 1);
    encode_letters(suffix, sizeof(suffix) - 1);
    return arena_printf(a, "%.*s%s", GENERATED_BASE_MAX, base, suffix);
}

/* A free name; after a few collisions the last one, which then fails as a duplicate. */
static int choose_name(struct api_call *c, struct jsn *meta)
{
    const char *base = jsn_get_str(meta, "generateName");
    struct jsn *other = NULL;

    if (!base || !base[0])
        return 0;
    for (int i = 0; i < GENERATED_TRIES; i++) {
        const char *name = generate_name(&c->arena, base);
        int r;

        jsn_set_str(&c->arena, meta, "name", name);
        r = object_find(c, c->ns, name, &other);
        if (r != 0)
            return r == -ENOENT ? 0 : r;
    }
    return 0;
}

static int new_metadata(struct api_call *c, const struct strategy *st, struct jsn *object)
{
    struct jsn *meta = jsn_ensure_object(&c->arena, object, "metadata");
    const char *version = jsn_get_str(meta, "resourceVersion");
    const char *name = jsn_get_str(meta, "name");
    static const char *const ours[] = {
        "resourceVersion", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds",
        "generation",      "uid",      "creationTimestamp"};
    char uid[ENCODE_UUID_LEN + 1];

    if (version && version[0] && !streq(version, "0"))
        return status_fail(c, 500, "",
                           "resourceVersion should not be set on objects to be created");
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        (void)jsn_del(meta, ours[i]);
    if (c->stored->namespaced)
        jsn_set_str(&c->arena, meta, "namespace", c->ns);
    else
        (void)jsn_del(meta, "namespace");
    encode_uuid(uid);
    jsn_set_str(&c->arena, meta, "uid", uid);
    jsn_set_str(&c->arena, meta, "creationTimestamp", call_now(c));
    if (!st->no_generation)
        jsn_set_int(&c->arena, meta, "generation", 1);
    return name && name[0] ? 0 : choose_name(c, meta);
}

static int refuse_duplicate(struct api_call *c, const struct jsn *object)
{
    struct jsn *other = NULL;
    int r = object_find(c, object_namespace(object), object_name(object), &other);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    return status_already_exists(c, object_name(object), object_deleting(other));
}

int write_create(struct api_call *c, struct jsn *object)
{
    const struct strategy *st = strategy_of(c->stored);
    struct causes cs = {.arena = &c->arena};
    int r = new_metadata(c, st, object);

    if (r < 0)
        return r;
    if (st->status_reset && !st->status_on_create)
        (void)jsn_del(object, "status");
    shape_default(c, object);
    if ((r = ownership_create(c, object)) < 0)
        return r;
    if (st->prepare_create && (r = st->prepare_create(c, object)) < 0)
        return r;
    if ((r = admission_create(c, object)) < 0)
        return r;
    validate_metadata(&cs, object, st->names, c->stored->namespaced);
    shape_validate(&cs, c, object, NULL);
    if (st->validate)
        st->validate(&cs, object);
    if ((r = status_invalid(c, object_name(object), &cs)) < 0)
        return r;
    if ((r = refuse_duplicate(c, object)) < 0 || c->dry_run)
        return r;
    return object_put(c, object);
}
