/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scale subresource: one number of an object, in a form that is the same for every kind.
 *
 * Built-in kinds have fixed paths; custom kinds name theirs in the definition.  A write goes
 * through the object's own update, so that validation, generation and field ownership are as for
 * any other.
 */
#include "src/cluster/apiserver/scale.h"

#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/write.h"
#include "src/json/patch_json.h"
#include "src/json/patch_merge.h"
#include "src/json/selector.h"

struct scale_paths {
    const char *spec;
    const char *status;
    const char *selector; /* of a text; NULL: none */
};

/* ".spec.replicas" to "spec.replicas". */
static const char *without_dot(const char *path)
{
    return path && path[0] == '.' ? path + 1 : path;
}

static struct scale_paths paths_of(const struct api_call *c)
{
    const struct jsn *custom = jsn_get(c->res->crd_version, "subresources.scale");

    if (!c->res->custom)
        return (struct scale_paths){"spec.replicas", "status.replicas", NULL};
    return (struct scale_paths){without_dot(jsn_get_str(custom, "specReplicasPath")),
                                without_dot(jsn_get_str(custom, "statusReplicasPath")),
                                without_dot(jsn_get_str(custom, "labelSelectorPath"))};
}

/* The selector as text: custom kinds have it in their status, built-in ones in their spec. */
static const char *selector_text(struct api_call *c, const struct scale_paths *p,
                                 const struct jsn *object)
{
    AUTO(buf_done) struct buf b = {0};
    struct selector *s = NULL;

    if (c->res->custom)
        return p->selector ? jsn_get_str(object, p->selector) : NULL;
    if (selector_from_object(&c->arena, jsn_get(object, "spec.selector"), &s, NULL) < 0)
        return NULL;
    selector_print(&b, s);
    return arena_str(&c->arena, buf_view(&b));
}

static struct jsn *scale_of(struct api_call *c, const struct scale_paths *p,
                            const struct jsn *object)
{
    static const char *const shown[] = {"name", "namespace", "uid", "resourceVersion",
                                        "creationTimestamp"};
    struct arena *a = &c->arena;
    struct jsn *scale = jsn_object(a);
    struct jsn *meta = jsn_object(a);
    int64_t want = jsn_get_int(object, p->spec, 0);
    const char *selector = selector_text(c, p, object);

    jsn_set_str(a, scale, "kind", "Scale");
    jsn_set_str(a, scale, "apiVersion", "autoscaling/v1");
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        struct jsn *v = jsn_key(jsn_key(object, "metadata"), shown[i]);

        if (v)
            jsn_set(a, meta, shown[i], v);
    }
    jsn_set(a, scale, "metadata", meta);
    jsn_set(a, scale, "spec", jsn_object(a));
    if (want)
        jsn_set_int(a, jsn_key(scale, "spec"), "replicas", want);
    jsn_set(a, scale, "status", jsn_object(a));
    jsn_set_int(a, jsn_key(scale, "status"), "replicas", jsn_get_int(object, p->status, 0));
    if (selector && selector[0])
        jsn_set_str(a, jsn_key(scale, "status"), "selector", selector);
    return scale;
}

static int check_scale(struct api_call *c, const struct jsn *scale)
{
    const struct jsn *n = jsn_get(scale, "spec.replicas");
    struct causes cs = {.arena = &c->arena};

    if (n && !jsn_is(n, JSN_INT))
        return status_bad_request(c,
                                  "Scale in version \"v1\" cannot be handled as a Scale: json: "
                                  "cannot unmarshal %s into Go struct field ScaleSpec.spec."
                                  "replicas of type int32",
                                  jsn_type_name(n->type));
    /* Of a custom object its own validation says it, in its own words. */
    if (n && !c->res->custom && (n->i < 0 || n->i > INT32_MAX))
        cause_invalid(&cs, "spec.replicas", n, "must be greater than or equal to 0");
    return cs.n ? status_invalid_kind(c, "Scale", "autoscaling", c->name, &cs) : 0;
}

/* PUT sends a whole Scale; PATCH a patch of the one that GET shows. */
static int read_scale(struct api_call *c, const struct scale_paths *p, const struct jsn *object,
                      struct jsn **ret_scale)
{
    struct str body = http_exchange_request(c->exchange)->body;
    const char *type = body_media_type(c);
    struct jsn *now = scale_of(c, p, object);
    struct jsn *patch = NULL;
    struct err e = {0};

    if (c->verb == VERB_UPDATE)
        return body_read_subresource(c, ret_scale);
    if (jsn_parse(&c->arena, body, NULL, &patch, &e) < 0)
        return status_bad_request(c, "error decoding patch: %s", e.text);
    if (streq(type, "application/json-patch+json")) {
        if (patch_json(&c->arena, now, patch, ret_scale, &e) < 0)
            return status_fail(c, 422, "Invalid",
                               "the server rejected our request due to an error in our request");
        return 0;
    }
    if (!streq(type, "application/merge-patch+json") &&
        !streq(type, "application/strategic-merge-patch+json"))
        return status_unsupported_media(
            c, "application/json-patch+json, application/merge-patch+json");
    *ret_scale = patch_merge(&c->arena, now, patch);
    return 0;
}

static int write_scale(struct api_call *c, const struct scale_paths *p, struct jsn *object,
                       struct jsn **ret_changed)
{
    struct write_update how = {.unconditional = false};
    struct jsn *changed = jsn_clone(&c->arena, object);
    const char *name, *version;
    struct jsn *scale = NULL;
    int r = read_scale(c, p, object, &scale);

    if (r == 0)
        r = check_scale(c, scale);
    if (r < 0)
        return r;
    name = jsn_get_str(scale, "metadata.name");
    if (name && name[0] && !streq(name, c->name))
        return status_bad_request(c,
                                  "the name of the object (%s) does not match the name on the URL "
                                  "(%s)",
                                  name, c->name);
    version = jsn_get_str(scale, "metadata.resourceVersion");
    if (version && version[0] && !streq(version, jsn_get_str(object, "metadata.resourceVersion")))
        return status_modified(c, c->name);
    jsn_set_path(&c->arena, changed, p->spec,
                 jsn_int(&c->arena, jsn_get_int(scale, "spec.replicas", 0)));
    r = write_update(c, object, changed, &how);
    *ret_changed = changed;
    return r;
}

void scale_serve(struct api_call *c)
{
    struct scale_paths p = paths_of(c);
    struct jsn *object = NULL;
    int r = object_load(c, c->ns, c->name, &object);

    if (r == 0 && c->verb == VERB_GET && c->res->custom && !jsn_get(object, p.spec))
        r = status_fail(c, 500, "InternalError",
                        "Internal error occurred: the spec replicas field \".%s\" does not exist",
                        p.spec);
    if (r == 0 && c->verb != VERB_GET)
        r = options_read_write(c, c->verb == VERB_PATCH ? "PatchOptions" : "UpdateOptions", false);
    if (r == 0 && c->verb != VERB_GET)
        r = write_scale(c, &p, object, &object);
    if (r < 0)
        answer_failure(c);
    else
        answer_json(c, 200, scale_of(c, &p, object));
}
