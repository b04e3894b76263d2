/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths of resources as OpenAPI.
 *
 * What clients look for: the operations of a kind by x-kubernetes-group-version-kind, whether PATCH
 * takes the parameters dryRun and fieldValidation, and which patch types it takes.  Every operation
 * has its parameters, body and answer; texts about them are left out.
 */
#include "src/cluster/apiserver/types/openapi_build.h"

enum place { COLLECTION, ITEM, SUBRESOURCE };

/* What a verb is over HTTP, and which parameters it takes. */
struct verb {
    const char *verb;
    enum place place;
    const char *method;
    const char *action;
    const char *parameters; /* name:type, separated by blanks */
};

#define WRITE_PARAMETERS "dryRun:string fieldManager:string fieldValidation:string"
#define LIST_PARAMETERS                                                                            \
    "allowWatchBookmarks:boolean continue:string fieldSelector:string labelSelector:string "       \
    "limit:integer resourceVersion:string resourceVersionMatch:string "                            \
    "sendInitialEvents:boolean timeoutSeconds:integer watch:boolean"
#define DELETE_PARAMETERS                                                                          \
    "dryRun:string gracePeriodSeconds:integer orphanDependents:boolean propagationPolicy:string"

static const struct verb verbs[] = {
    {"list", COLLECTION, "get", "list", LIST_PARAMETERS},
    {"create", COLLECTION, "post", "post", WRITE_PARAMETERS},
    {"deletecollection", COLLECTION, "delete", "deletecollection", DELETE_PARAMETERS},
    {"get", ITEM, "get", "get", ""},
    {"update", ITEM, "put", "put", WRITE_PARAMETERS},
    {"patch", ITEM, "patch", "patch", WRITE_PARAMETERS " force:boolean"},
    {"delete", ITEM, "delete", "delete", DELETE_PARAMETERS},
    {"get", SUBRESOURCE, "get", "get", ""},
    {"create", SUBRESOURCE, "post", "post", WRITE_PARAMETERS},
    {"update", SUBRESOURCE, "put", "put", WRITE_PARAMETERS},
    {"patch", SUBRESOURCE, "patch", "patch", WRITE_PARAMETERS " force:boolean"},
    {"delete", SUBRESOURCE, "delete", "delete", DELETE_PARAMETERS},
};

/* A kind as it goes into operations. */
struct target {
    const char *group, *version, *kind;
    const struct schema *schema;
    const struct schema *list_schema;
    const char **verbs;
    bool custom;
};

static struct jsn *parameter(struct openapi_build *b, struct str name, const char *in,
                             struct str type)
{
    struct jsn *o = jsn_object(b->a), *schema = b->v3 ? jsn_object(b->a) : o;

    jsn_set(b->a, o, "name", jsn_str(b->a, name));
    jsn_set_str(b->a, o, "in", in);
    if (streq(in, "path"))
        jsn_set_bool(b->a, o, "required", true);
    jsn_set(b->a, schema, "type", jsn_str(b->a, type));
    jsn_set_bool(b->a, schema, "uniqueItems", true);
    if (b->v3)
        jsn_set(b->a, o, "schema", schema);
    return o;
}

static struct jsn *parameters(struct openapi_build *b, const char *list)
{
    struct jsn *v = jsn_array(b->a);
    struct str rest = str_of(list), type, name;

    while (str_split(&rest, ' ', &type)) {
        if (!type.n)
            continue;
        (void)str_split(&type, ':', &name);
        jsn_append(b->a, v, parameter(b, name, "query", type));
    }
    return v;
}

static struct jsn *empty_schema(struct openapi_build *b)
{
    struct jsn *o = jsn_object(b->a);

    jsn_set_str(b->a, o, "type", "object");
    return o;
}

/* A reference to the definition of patches, which is an object of any form. */
static struct jsn *patch_schema(struct openapi_build *b)
{
    static const char name[] = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
    struct jsn *def;

    if (b->patch_ref)
        return b->patch_ref;
    def = empty_schema(b);
    jsn_set_str(b->a, def, "description",
                "A patch in one of the forms that the content type names.");
    jsn_set(b->a, b->definitions, name, def);
    b->patch_ref = jsn_object(b->a);
    jsn_set(b->a, b->patch_ref, "$ref",
            jsn_stringf(b->a, "#/%s/%s", b->v3 ? "components/schemas" : "definitions", name));
    return b->patch_ref;
}

static const char *const *body_types(const struct verb *v, const struct target *t)
{
    static const char *const builtin[] = {
        "application/json-patch+json", "application/merge-patch+json",
        "application/strategic-merge-patch+json", "application/apply-patch+yaml", NULL};
    static const char *const custom[] = {"application/json-patch+json",
                                         "application/merge-patch+json",
                                         "application/apply-patch+yaml", NULL};
    static const char *const any[] = {"*/*", NULL};

    if (!streq(v->method, "patch"))
        return any;
    return t->custom ? custom : builtin;
}

static void set_body_v3(struct openapi_build *b, struct jsn *op, const char *const *types,
                        struct jsn *schema)
{
    struct jsn *body = jsn_object(b->a), *content = jsn_object(b->a), *entry = jsn_object(b->a);

    jsn_set(b->a, entry, "schema", schema);
    for (; *types; types++)
        jsn_set(b->a, content, *types, entry);
    jsn_set(b->a, body, "content", content);
    jsn_set_bool(b->a, body, "required", true);
    jsn_set(b->a, op, "requestBody", body);
}

static void set_body_v2(struct openapi_build *b, struct jsn *op, const char *const *types,
                        struct jsn *schema)
{
    struct jsn *body = jsn_object(b->a), *consumes = jsn_array(b->a);

    for (; *types; types++)
        jsn_append(b->a, consumes, jsn_string(b->a, *types));
    jsn_set(b->a, op, "consumes", consumes);
    jsn_set_str(b->a, body, "name", "body");
    jsn_set_str(b->a, body, "in", "body");
    jsn_set_bool(b->a, body, "required", true);
    jsn_set(b->a, body, "schema", schema);
    jsn_insert(b->a, jsn_key(op, "parameters"), 0, body);
}

static void set_answer(struct openapi_build *b, struct jsn *op, const struct schema *s)
{
    struct jsn *responses = jsn_object(b->a), *ok = jsn_object(b->a);
    struct jsn *schema = s ? openapi_use(b, s) : NULL;

    jsn_set_str(b->a, ok, "description", "OK");
    if (schema && b->v3) {
        struct jsn *content = jsn_object(b->a), *entry = jsn_object(b->a);

        jsn_set(b->a, entry, "schema", schema);
        jsn_set(b->a, content, "application/json", entry);
        jsn_set(b->a, ok, "content", content);
    } else if (schema) {
        jsn_set(b->a, ok, "schema", schema);
    }
    jsn_set(b->a, responses, "200", ok);
    jsn_set(b->a, op, "responses", responses);
}

static struct jsn *operation(struct openapi_build *b, const struct verb *v, const struct target *t)
{
    struct jsn *op = jsn_object(b->a), *schema;
    bool list = streq(v->action, "list"), patch = streq(v->method, "patch");

    jsn_set(b->a, op, "parameters", parameters(b, v->parameters));
    if (patch || streq(v->method, "post") || streq(v->method, "put")) {
        schema = patch ? patch_schema(b) : t->schema ? openapi_use(b, t->schema) : empty_schema(b);
        if (b->v3)
            set_body_v3(b, op, body_types(v, t), schema);
        else
            set_body_v2(b, op, body_types(v, t), schema);
    }
    set_answer(b, op, list ? t->list_schema : t->schema);
    jsn_set_str(b->a, op, "x-kubernetes-action", v->action);
    jsn_set(b->a, op, "x-kubernetes-group-version-kind",
            openapi_gvk(b->a, t->group, t->version, t->kind));
    return op;
}

static void add_path(struct openapi_build *b, const char *path, enum place place,
                     const struct target *t)
{
    struct jsn *item = jsn_object(b->a), *params = jsn_array(b->a);

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (verbs[i].place == place && strings_have(t->verbs, verbs[i].verb))
            jsn_set(b->a, item, verbs[i].method, operation(b, &verbs[i], t));
    if (jsn_len(item) == 0)
        return;
    if (strstr(path, "{name}"))
        jsn_append(b->a, params, parameter(b, STR("name"), "path", STR("string")));
    if (strstr(path, "{namespace}"))
        jsn_append(b->a, params, parameter(b, STR("namespace"), "path", STR("string")));
    if (jsn_len(params))
        jsn_set(b->a, item, "parameters", params);
    jsn_set(b->a, b->paths, path, item);
}

void openapi_add_paths(struct openapi_build *b, const struct resource *r)
{
    static const char *list_only[] = {"list", NULL};
    struct target t = {r->group,       r->version, r->kind,  r->schema,
                       r->list_schema, r->verbs,   r->custom};
    const char *root =
        arena_printf(b->a, "/%s%s/%s", *r->group ? "apis/" : "api", r->group, r->version);
    const char *collection, *item;

    collection = arena_printf(b->a, "%s/%s%s", root, r->namespaced ? "namespaces/{namespace}/" : "",
                              r->plural);
    item = arena_printf(b->a, "%s/{name}", collection);
    add_path(b, collection, COLLECTION, &t);
    add_path(b, item, ITEM, &t);
    for (size_t i = 0; i < r->n_subs; i++) {
        const struct subresource *s = &r->subs[i];
        struct target sub = {s->group, s->version, s->kind, s->schema, NULL, s->verbs, r->custom};

        add_path(b, arena_printf(b->a, "%s/%s", item, s->name), SUBRESOURCE, &sub);
    }
    if (r->namespaced && resource_has_verb(r, "list")) {
        t.verbs = list_only;
        add_path(b, arena_printf(b->a, "%s/%s", root, r->plural), COLLECTION, &t);
    }
}
