/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Field ownership.
 *
 * src/json keeps the books (managed.h); here is what the API server tells it about a write: who, in
 * which version, through which door, and which fields that door ignores.  Books are kept on the
 * presented form of objects, since their paths are those that clients know.
 */
#include "src/cluster/apiserver/ownership.h"

#include "src/base/clock.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/strategy.h"
#include "src/cluster/apiserver/types/type.h"
#include "src/json/managed.h"

/* The main door ignores the status where that has a door of its own; /status ignores the rest. */
static const struct fieldset *reset_fields(struct api_call *c)
{
    if (c->sub && streq(c->sub->name, "status"))
        return fieldset_of(&c->arena, "spec", NULL);
    return strategy_of(c->stored)->status_reset ? fieldset_of(&c->arena, "status", NULL) : NULL;
}

/* An object of the kind with nothing set: what Go prints always is nobody's doing. */
static const struct jsn *empty_object(struct api_call *c)
{
    struct jsn *o = jsn_object(&c->arena);

    if (!c->res->custom)
        type_encode(&c->arena, c->res->schema, o);
    return o;
}

static struct managed_request request_of(struct api_call *c)
{
    return (struct managed_request){
        .manager = c->manager,
        .api_version = object_api_version(&c->arena, c->res),
        .subresource = c->sub ? c->sub->name : NULL,
        .schema = c->res->schema,
        .reset = reset_fields(c),
        .empty = empty_object(c),
        .now_us = clock_wall_us(),
    };
}

static void note_update(struct api_call *c, struct jsn *object, const struct jsn *old)
{
    struct managed_request req = request_of(c);
    struct jsn *meta = jsn_ensure_object(&c->arena, object, "metadata");
    struct jsn *result = managed_update(&c->arena, &req, old ? object_present(c, old) : NULL,
                                        object_present(c, object));
    struct jsn *fields = jsn_get(result, "metadata.managedFields");

    if (jsn_len(fields) > 0)
        jsn_set(&c->arena, meta, "managedFields", fields);
    else
        (void)jsn_del(meta, "managedFields");
}

int ownership_create(struct api_call *c, struct jsn *object)
{
    if (!c->applied)
        note_update(c, object, NULL);
    return 0;
}

int ownership_update(struct api_call *c, struct jsn *object, const struct jsn *old)
{
    note_update(c, object, old);
    return 0;
}

static int fail_conflicts(struct api_call *c, const struct managed_conflicts *conflicts)
{
    AUTO(buf_done) struct buf b = {0};
    int r;

    managed_conflict_message(&b, conflicts);
    r = status_fail(c, 409, "Conflict", "%s", buf_str(&b));
    for (size_t i = 0; i < conflicts->n; i++)
        status_add_cause(c, "FieldManagerConflict", conflicts->items[i].path,
                         arena_printf(&c->arena, "conflict with %s", conflicts->items[i].manager));
    return r;
}

int ownership_apply(struct api_call *c, const struct jsn *current, struct jsn *config,
                    struct jsn **ret_object)
{
    struct managed_request req = request_of(c);
    struct managed_conflicts conflicts = {0};
    struct err e = {0};
    int r = managed_apply(&c->arena, &req, current, config, c->force, ret_object, &conflicts, &e);

    if (r == -EBUSY)
        return fail_conflicts(c, &conflicts);
    if (r == -EBADMSG)
        return status_bad_request(c, "%s", e.text);
    if (r < 0)
        return status_fail(c, 500, "", "%s", e.text);
    return 0;
}
