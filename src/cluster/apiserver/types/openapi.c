/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OpenAPI documents: building, caching, and the forms that clients ask for.
 *
 * Version 2 is one document about everything, made again after each change of the registry, when
 * somebody asks.  Version 3 has one document for each group and version; those of groups without
 * custom resources never change and are kept for good.  A version 3 document's hash is its
 * content's, so the root, which lists the hashes, has all of them made.
 */
#include "src/cluster/apiserver/types/openapi.h"

#include "src/base/alloc.h"
#include "src/cluster/apiserver/types/openapi_build.h"

#define PROTO_NAME "com.github.proto-openapi.spec.v2"

struct openapi {
    const struct registry *reg;
    struct document_cache changing;
    struct document_cache fixed; /* of built-in groups; never out of date */
};

struct openapi *openapi_new(const struct registry *reg)
{
    struct openapi *o = xcalloc(1, sizeof(*o));

    o->reg = reg;
    document_cache_init(&o->changing, reg);
    document_cache_init(&o->fixed, NULL);
    return o;
}

struct openapi *openapi_free(struct openapi *o)
{
    if (!o)
        return NULL;
    document_cache_done(&o->changing);
    document_cache_done(&o->fixed);
    free(o);
    return NULL;
}

static void build_start(struct openapi_build *b, struct arena *a, bool v3)
{
    *b = (struct openapi_build){.a = a, .v3 = v3};
    b->paths = jsn_object(a);
    b->definitions = jsn_object(a);
    map_init(&b->seen, NULL);
}

static void add_gv(struct openapi_build *b, const struct registry_gv *gv)
{
    for (size_t i = 0; i < gv->n_resources; i++) {
        const struct resource *r = gv->resources[i];

        if (r->list_schema)
            (void)openapi_use(b, r->list_schema);
        (void)openapi_use(b, r->schema);
        openapi_add_paths(b, r);
    }
}

static struct jsn *finish(struct openapi_build *b)
{
    struct jsn *doc = jsn_object(b->a), *info = jsn_object(b->a), *components;

    jsn_set_str(b->a, info, "title", "Kubernetes");
    jsn_set_str(b->a, info, "version", "unversioned");
    jsn_set_str(b->a, doc, b->v3 ? "openapi" : "swagger", b->v3 ? "3.0.0" : "2.0");
    jsn_set(b->a, doc, "info", info);
    jsn_set(b->a, doc, "paths", b->paths);
    if (b->v3) {
        components = jsn_object(b->a);
        jsn_set(b->a, components, "schemas", b->definitions);
        jsn_set(b->a, doc, "components", components);
    } else {
        jsn_set(b->a, doc, "definitions", b->definitions);
    }
    map_done(&b->seen);
    return doc;
}

static void build_v2(struct openapi *o, bool proto, struct buf *out)
{
    AUTO(arena_done) struct arena a = {0};
    struct openapi_build b;
    const struct registry_gv *gvs;
    struct jsn *doc;
    size_t n;

    build_start(&b, &a, false);
    gvs = registry_gvs(o->reg, &n);
    for (size_t i = 0; i < n; i++)
        add_gv(&b, &gvs[i]);
    doc = finish(&b);
    if (proto)
        openapi_to_proto(out, doc);
    else
        jsn_print(out, doc);
}

const struct document *openapi_v2(struct openapi *o, const char *accept)
{
    bool proto = accept && strstr(accept, PROTO_NAME);
    const char *key = proto ? "v2 protobuf" : "v2 json";
    const struct document *found = document_find(&o->changing, key);
    AUTO(buf_done) struct buf b = {0};
    struct document *made;

    if (found)
        return found;
    build_v2(o, proto, &b);
    made = document_keep(&o->changing, key, &b,
                         proto ? "application/octet-stream" : "application/json");
    made->vary_accept = true;
    return made;
}

static bool has_custom(const struct registry_gv *gv)
{
    for (size_t i = 0; i < gv->n_resources; i++)
        if (gv->resources[i]->custom)
            return true;
    return false;
}

/* The document of a group and version, made if it is not there. */
static const struct document *gv_document(struct openapi *o, const struct registry_gv *gv)
{
    struct document_cache *cache = has_custom(gv) ? &o->changing : &o->fixed;
    AUTO(free) char *key = xasprintf("v3 %s/%s", gv->group, gv->version);
    const struct document *found = document_find(cache, key);
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf out = {0};
    struct openapi_build b;
    struct document *made;

    if (found)
        return found;
    build_start(&b, &a, true);
    add_gv(&b, gv);
    jsn_print(&out, finish(&b));
    made = document_keep(cache, key, &out, "application/json");
    made->immutable = true;
    return made;
}

const struct document *openapi_v3_root(struct openapi *o)
{
    const struct document *found = document_find(&o->changing, "v3");
    AUTO(arena_done) struct arena a = {0};
    AUTO(buf_done) struct buf b = {0};
    struct jsn *root = jsn_object(&a), *paths = jsn_object(&a);
    const struct registry_gv *gvs;
    size_t n;

    if (found)
        return found;
    gvs = registry_gvs(o->reg, &n);
    for (size_t i = 0; i < n; i++) {
        const char *path = arena_printf(&a, "%s%s/%s", *gvs[i].group ? "apis/" : "api",
                                        gvs[i].group, gvs[i].version);
        const struct document *d = gv_document(o, &gvs[i]);
        struct jsn *entry = jsn_object(&a);

        jsn_set(&a, entry, "serverRelativeURL",
                jsn_stringf(&a, "/openapi/v3/%s?hash=%s", path, d->hash));
        jsn_set(&a, paths, path, entry);
    }
    jsn_set(&a, root, "paths", paths);
    jsn_print(&b, root);
    return document_keep(&o->changing, "v3", &b, "application/json");
}

const struct document *openapi_v3(struct openapi *o, struct str path)
{
    const struct registry_gv *gv;
    struct str first, group = STR("");

    if (!str_split(&path, '/', &first) || !path.p)
        return NULL;
    if (str_eqz(first, "apis"))
        (void)str_split(&path, '/', &group);
    else if (!str_eqz(first, "api"))
        return NULL;
    gv = path.p ? registry_gv(o->reg, group, path) : NULL;
    if (!gv || (str_eqz(first, "apis") && !*gv->group))
        return NULL;
    return gv_document(o, gv);
}
