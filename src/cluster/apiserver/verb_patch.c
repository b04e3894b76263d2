/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patch, in its four forms.
 *
 * The patch applies to the object as the client sees it (kind, apiVersion, the version asked for);
 * the result then goes the way of an update.  A resourceVersion in the patch is a lock.  Apply also
 * creates.  Custom kinds have no strategic merge: the tables that it needs are of built-in kinds.
 */
#include "src/cluster/apiserver/answer.h"
#include "src/cluster/apiserver/body.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/options.h"
#include "src/cluster/apiserver/ownership.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/status.h"
#include "src/cluster/apiserver/verbs.h"
#include "src/cluster/apiserver/write.h"
#include "src/json/patch_json.h"
#include "src/json/patch_merge.h"
#include "src/json/patch_strategic.h"
#include "src/json/yaml.h"

enum patch_form { PATCH_FORM_JSON, PATCH_FORM_MERGE, PATCH_FORM_STRATEGIC, PATCH_FORM_APPLY };

static int read_form(struct api_call *c, enum patch_form *ret_form)
{
    static const struct {
        const char *type;
        enum patch_form form;
    } forms[] = {{"application/json-patch+json", PATCH_FORM_JSON},
                 {"application/merge-patch+json", PATCH_FORM_MERGE},
                 {"application/strategic-merge-patch+json", PATCH_FORM_STRATEGIC},
                 {"application/apply-patch+yaml", PATCH_FORM_APPLY}};
    const char *type = body_media_type(c);

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (!streq(type, forms[i].type) ||
            (c->res->custom && forms[i].form == PATCH_FORM_STRATEGIC))
            continue;
        *ret_form = forms[i].form;
        return 0;
    }
    if (!c->res->custom)
        return status_fail(c, 415, "UnsupportedMediaType", "415: Unsupported Media Type");
    return status_unsupported_media(c, "application/json-patch+json, application/merge-patch+json, "
                                       "application/apply-patch+yaml");
}

/* A configuration without a word in it is one without fields. */
static struct jsn *nothing_is_empty(struct api_call *c, struct jsn *config)
{
    return !config || config->type == JSN_NULL ? jsn_object(&c->arena) : config;
}

/* A JSON patch is a list, every other one an object: all that follows relies on it. */
static int check_patch_type(struct api_call *c, enum patch_form form, const struct jsn *patch)
{
    bool list = form == PATCH_FORM_JSON;

    if (jsn_is(patch, list ? JSN_ARRAY : JSN_OBJECT))
        return 0;
    return status_bad_request(
        c, "error decoding %s: json: cannot unmarshal %s into Go value of type %s",
        form == PATCH_FORM_APPLY ? "YAML" : "patch", patch ? jsn_type_name(patch->type) : "nothing",
        list ? "jsonpatch.Patch" : "map[string]interface {}");
}

static int read_patch(struct api_call *c, enum patch_form form, struct jsn **ret_patch)
{
    struct str body = http_exchange_request(c->exchange)->body;
    struct err e = {0};
    int r = form == PATCH_FORM_APPLY ? yaml_parse(&c->arena, body, NULL, ret_patch, &e)
                                     : jsn_parse(&c->arena, body, NULL, ret_patch, &e);

    if (r < 0)
        return status_bad_request(c, "error decoding %s: %s",
                                  form == PATCH_FORM_APPLY ? "YAML" : "patch", e.text);
    if (form == PATCH_FORM_APPLY)
        *ret_patch = nothing_is_empty(c, *ret_patch);
    return check_patch_type(c, form, *ret_patch);
}

static int fail_patch(struct api_call *c, int r, const struct err *e)
{
    if (r == -E2BIG)
        return status_fail(c, 413, "RequestEntityTooLarge", "%s", e->text);
    if (r == -ECANCELED) {
        r = status_fail(c, 422, "Invalid",
                        "the server rejected our request due to an error in our request");
        (void)status_details(c);
        return r;
    }
    return status_bad_request(c, "%s", e->text);
}

static int merge(struct api_call *c, enum patch_form form, const struct jsn *shown,
                 const struct jsn *patch, struct jsn **ret_object)
{
    struct err e = {0};
    int r = 0;

    if (form == PATCH_FORM_JSON)
        r = patch_json(&c->arena, shown, patch, ret_object, &e);
    else if (form == PATCH_FORM_STRATEGIC)
        r = patch_strategic(&c->arena, c->res->schema, shown, patch, ret_object, &e);
    else
        *ret_object = patch_merge(&c->arena, shown, patch);
    if (r < 0)
        return fail_patch(c, r, &e);
    if (!jsn_is(*ret_object, JSN_OBJECT))
        return status_bad_request(c, "the patch leaves no object");
    return 0;
}

/* A patch may not rename or move its object. */
static int check_identity(struct api_call *c, const struct jsn *object)
{
    if (!streq(object_name(object), c->name))
        return status_bad_request(c,
                                  "the name of the object (%s) does not match the name on the URL "
                                  "(%s)",
                                  object_name(object), c->name);
    if (c->stored->namespaced && !streq(object_namespace(object), c->ns))
        return status_bad_request(c, "the namespace of the provided object does not match the "
                                     "namespace sent on the request");
    return 0;
}

static int patch_existing(struct api_call *c, enum patch_form form, const struct jsn *patch,
                          const struct jsn *old, struct jsn **ret_object)
{
    struct write_update how = {.unconditional = false};
    struct jsn *shown = object_present(c, jsn_clone(&c->arena, old));
    struct jsn *object = NULL;
    int r = merge(c, form, shown, patch, &object);

    if (r == 0)
        r = body_adopt_object(c, object, &object);
    if (r == 0)
        r = check_identity(c, object);
    if (r == 0)
        r = write_update(c, old, object, &how);
    *ret_object = object;
    return r;
}

/* The configuration must be about this very object. */
static int check_config(struct api_call *c, struct jsn *config)
{
    struct jsn *meta = jsn_ensure_object(&c->arena, config, "metadata");
    const char *name = jsn_get_str(meta, "name");
    const char *ns = jsn_get_str(meta, "namespace");
    const char *kind = jsn_get_str(config, "kind");

    if ((!kind || !kind[0]) && !jsn_get_str(config, "apiVersion"))
        return status_bad_request(c,
                                  "Incorrect version specified in apply patch. Specified patch "
                                  "version: , expected: %s",
                                  object_api_version(&c->arena, c->res));
    if (!kind || !kind[0])
        return status_fail(c, 500, "", "Object 'Kind' is missing in the applied configuration");
    if (jsn_len(jsn_key(meta, "managedFields")) > 0)
        return status_bad_request(c, "metadata.managedFields must be nil");
    if (!name || !name[0])
        return status_bad_request(c, "name must be provided");
    if (!streq(name, c->name))
        return status_bad_request(c,
                                  "the name of the object (%s) does not match the name on the URL "
                                  "(%s)",
                                  name, c->name);
    if (ns && ns[0] && !streq(ns, c->ns))
        return status_bad_request(c, "the namespace of the provided object does not match the "
                                     "namespace sent on the request");
    if (c->stored->namespaced)
        jsn_set_str(&c->arena, meta, "namespace", c->ns);
    return 0;
}

static int apply(struct api_call *c, struct jsn *config, const struct jsn *old, int *ret_code,
                 struct jsn **ret_object)
{
    struct write_update how = {.applied = true};
    struct jsn *shown = old ? object_present(c, jsn_clone(&c->arena, old)) : NULL;
    struct jsn *object = NULL;
    int r = check_config(c, config);

    if (r == 0)
        r = ownership_apply(c, shown, config, &object);
    if (r == 0)
        r = body_adopt_object(c, object, &object);
    if (r < 0)
        return r;
    *ret_object = object;
    *ret_code = old ? 200 : 201;
    if (old)
        return write_update(c, old, object, &how);
    c->applied = true;
    r = rbac_check_verb(c, "create");
    return r < 0 ? r : write_create(c, object);
}

void verb_patch(struct api_call *c)
{
    enum patch_form form = PATCH_FORM_MERGE;
    struct jsn *object = NULL;
    struct jsn *patch = NULL;
    struct jsn *old = NULL;
    int code = 200;
    int r = read_form(c, &form);

    if (r == 0)
        r = options_read_write(c, "PatchOptions", form == PATCH_FORM_APPLY);
    if (r == 0)
        r = read_patch(c, form, &patch);
    if (r == 0)
        r = object_find(c, c->ns, c->name, &old);
    if (r == -ENOENT && (form != PATCH_FORM_APPLY || c->sub))
        r = status_not_found(c, c->name);
    else if (r == 0 || r == -ENOENT)
        r = form == PATCH_FORM_APPLY ? apply(c, patch, r == 0 ? old : NULL, &code, &object)
                                     : patch_existing(c, form, patch, old, &object);
    if (r < 0)
        answer_failure(c);
    else
        answer_object(c, code, object_present(c, object));
}
