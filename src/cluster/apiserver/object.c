/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects between the store and a call.
 *
 * The store keeps text without kind and apiVersion, so that one row serves every version of its
 * resource: an answer is most often a short head in front of the stored bytes, and nothing is
 * parsed.  Two cases need the tree: resources that another group stores (events.k8s.io), and custom
 * objects that were written before their definition's schema changed (defaults and pruning apply on
 * read too).
 */
#include "src/cluster/apiserver/object.h"

#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"

static uint32_t schema_mark(const struct api_call *c)
{
    return c->stored->custom ? custom_schema_mark(c->stored) : 0;
}

int object_of_row(struct api_call *c, const struct store_row *row, struct jsn **ret_object)
{
    struct err e = {0};
    struct jsn *o = NULL;

    if (jsn_parse(&c->arena, row->data, NULL, &o, &e) < 0) {
        (void)err_wrap(&e, -EBADMSG, "the stored %s '%s' is corrupt", row->key.resource,
                       row->key.name);
        return status_internal(c, &e);
    }
    if (c->stored->custom && row->schema != schema_mark(c))
        custom_on_read(&c->arena, c->stored, o);
    *ret_object = o;
    return 0;
}

int object_find(struct api_call *c, const char *ns, const char *name, struct jsn **ret_object)
{
    struct store_key k = {call_store_name(c), ns, name};
    struct store_row row;
    struct err e = {0};
    int r = store_get(c->server->store, &k, &c->arena, &row, &e);

    if (r == -ENOENT)
        return r;
    if (r < 0)
        return status_internal(c, &e);
    return object_of_row(c, &row, ret_object);
}

int object_load(struct api_call *c, const char *ns, const char *name, struct jsn **ret_object)
{
    int r = object_find(c, ns, name, ret_object);

    return r == -ENOENT ? status_not_found(c, name) : r;
}

/* The uids of all owner references, NULL-terminated; NULL for none. */
static const char **owner_uids(struct arena *a, const struct jsn *object)
{
    const struct jsn *refs = jsn_get(object, "metadata.ownerReferences");
    const char **uids;
    size_t n = 0;

    if (jsn_len(refs) == 0)
        return NULL;
    uids = arena_calloc(a, jsn_len(refs) + 1, sizeof(*uids));
    JSN_FOR_ITEMS (ref, refs)
        if (jsn_get_str(ref, "uid"))
            uids[n++] = jsn_get_str(ref, "uid");
    return uids;
}

static void set_version(struct api_call *c, struct jsn *object)
{
    struct jsn *meta = jsn_ensure_object(&c->arena, object, "metadata");

    jsn_set(&c->arena, meta, "resourceVersion",
            jsn_stringf(&c->arena, "%lld", (long long)store_next_version(c->server->store)));
}

int object_put(struct api_call *c, struct jsn *object)
{
    struct store_key k = {call_store_name(c), object_namespace(object), object_name(object)};
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};

    /* The version that stores has the last word about what is stored. */
    if (c->stored->custom && c->res != c->stored)
        custom_on_read(&c->arena, c->stored, object);
    set_version(c, object);
    jsn_print(&b, object);
    if (store_put(c->server->store, &k, schema_mark(c), buf_view(&b), owner_uids(&c->arena, object),
                  &e) < 0)
        return status_internal(c, &e);
    return 0;
}

int object_drop(struct api_call *c, struct jsn *object)
{
    struct store_key k = {call_store_name(c), object_namespace(object), object_name(object)};
    AUTO(buf_done) struct buf b = {0};
    struct err e = {0};

    set_version(c, object);
    jsn_print(&b, object);
    if (store_delete(c->server->store, &k, buf_view(&b), &e) < 0)
        return status_internal(c, &e);
    return 0;
}

const char *object_api_version(struct arena *a, const struct resource *res)
{
    return res->group[0] ? arena_printf(a, "%s/%s", res->group, res->version) : res->version;
}

struct jsn *object_present(struct api_call *c, const struct jsn *object)
{
    struct jsn *o = jsn_object(&c->arena);

    jsn_set_str(&c->arena, o, "kind", c->stored->kind);
    jsn_set_str(&c->arena, o, "apiVersion", object_api_version(&c->arena, c->stored));
    JSN_FOR_MEMBERS (m, object)
        jsn_set_member(&c->arena, o, m->key, m->value);
    resource_from_stored(&c->arena, c->res, o);
    if (c->res->custom)
        jsn_set_str(&c->arena, o, "apiVersion", object_api_version(&c->arena, c->res));
    return o;
}

int object_present_row(struct api_call *c, const struct store_row *row, bool with_kind,
                       struct buf *b)
{
    bool as_stored = c->res == c->stored || c->res->custom;
    struct jsn *o = NULL;
    int r;

    if (as_stored && !(c->stored->custom && row->schema != schema_mark(c))) {
        if (with_kind)
            buf_printf(b, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",", c->res->kind,
                       object_api_version(&c->arena, c->res));
        else
            buf_addc(b, '{');
        buf_add(b, row->data.p + 1, row->data.n - 1);
        return 0;
    }
    r = object_of_row(c, row, &o);
    if (r < 0)
        return r;
    o = object_present(c, o);
    if (!with_kind) {
        (void)jsn_del(o, "kind");
        (void)jsn_del(o, "apiVersion");
    }
    jsn_print(b, o);
    return 0;
}

void call_init_inner(struct api_call *c, struct apiserver *s, const struct resource *stored)
{
    static const char *const groups[] = {"system:masters", "system:authenticated", NULL};

    *c = (struct api_call){
        .server = s,
        .user = {.name = "system:apiserver", .groups = groups},
        .user_agent = "slurmkeeper",
        .manager = "slurmkeeper",
        .res = stored,
        .stored = stored,
        .ns = "",
        .fields = FIELDS_IGNORE,
    };
}

void call_done_inner(struct api_call *c)
{
    arena_done(&c->arena);
}
