/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Request bodies.
 *
 * A body without a content type is JSON (kubectl sends such).  Protobuf is decoded to the same tree
 * that JSON would have given; nothing behind this file knows the difference.  Unknown and doubled
 * fields are always removed; what else happens is the client's choice (fieldValidation): refuse,
 * warn (the default), or keep silent.
 */
#include "src/cluster/apiserver/body.h"

#include "src/cluster/apiserver/crd/custom.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/types/proto.h"
#include "src/cluster/apiserver/types/type.h"
#include "src/json/yaml.h"

#define BODY_MAX_DEPTH 480

static const char accepted[] =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

const char *body_media_type(struct api_call *c)
{
    const char *header = http_request_header(c->exchange, "Content-Type");
    struct str s;

    if (!header || !header[0])
        return "application/json";
    s = str_of(header);
    return arena_str(&c->arena, str_trim((struct str){s.p, strcspn(s.p, ";")}));
}

static int bad_syntax(struct api_call *c, const char *wanted, const struct err *e)
{
    return status_bad_request(c,
                              "the object provided is unrecognized (must be of type %s): couldn't "
                              "get version/kind; json parse error: %s",
                              wanted, e->text);
}

/* Any body as a tree; `notes` as of jsn_parse, may be NULL. */
static int body_read_tree(struct api_call *c, const char *wanted, struct jsn_notes *notes,
                          struct jsn **ret_tree)
{
    struct str body = http_exchange_request(c->exchange)->body;
    const char *type = body_media_type(c);
    struct jsn *tree = NULL;
    struct err e = {0};
    int r;

    if (streq(type, "application/json"))
        r = jsn_parse(&c->arena, body, notes, &tree, &e);
    else if (streq(type, "application/yaml"))
        r = yaml_parse(&c->arena, body, notes, &tree, &e);
    else if (streq(type, "application/vnd.kubernetes.protobuf"))
        r = proto_decode(c->server->registry, &c->arena, body, &tree, &e);
    else
        return status_unsupported_media(c, accepted);
    if (r < 0)
        return bad_syntax(c, wanted, &e);
    if (!jsn_is(tree, JSN_OBJECT)) {
        (void)err_bad(&e, "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                      tree ? jsn_type_name(tree->type) : "nothing");
        return bad_syntax(c, wanted, &e);
    }
    *ret_tree = tree;
    return 0;
}

/* A custom object can be of any kind until somebody looks. */
static int other_custom_kind(struct api_call *c, const struct jsn *object)
{
    struct causes cs = {.arena = &c->arena};

    cause_invalid(&cs, "kind", jsn_key(object, "kind"), "must be %s", c->res->kind);
    return status_invalid_kind(c, jsn_get_str(object, "kind"), c->res->group, object_name(object),
                               &cs);
}

/* Missing kind and apiVersion are fine for built-in kinds; custom ones must name both. */
static int wrong_kind(struct api_call *c, const struct jsn *object, const char *wanted)
{
    const char *kind = jsn_get_str(object, "kind");
    const char *version = jsn_get_str(object, "apiVersion");

    return status_bad_request(c,
                              "%s in version \"%s\" cannot be handled as a %s: converting (%s) to "
                              "(%s): unknown conversion",
                              kind, version ? version : "", wanted, kind, wanted);
}

static int check_kind(struct api_call *c, const struct jsn *object)
{
    const char *kind = jsn_get_str(object, "kind");
    const char *version = jsn_get_str(object, "apiVersion");
    const char *ours = object_api_version(&c->arena, c->res);

    if (c->res->custom && (!kind || !kind[0]))
        return status_bad_request(c,
                                  "the object provided is unrecognized (must be of type %s): "
                                  "couldn't get version/kind; json parse error: Object 'Kind' is "
                                  "missing in the body",
                                  c->res->kind);
    if (!c->res->custom && kind && kind[0] && !streq(kind, c->res->kind))
        return wrong_kind(c, object, c->res->kind);
    if (version && version[0] && !streq(version, ours))
        return status_bad_request(c,
                                  "the API version in the data (%s) does not match the expected "
                                  "API version (%s)",
                                  version, ours);
    return c->res->custom && !streq(kind, c->res->kind) ? other_custom_kind(c, object) : 0;
}

static void list_notes(const struct type_notes *notes, struct buf *b)
{
    for (size_t i = 0; i < notes->n_texts; i++)
        buf_printf(b, "%s%s", i ? ", " : "", notes->texts[i]);
}

/* A patch whose outcome is no such object.  The object is not shown: it may be a Secret. */
static int bad_patch(struct api_call *c, const char *why)
{
    struct causes cs = {.arena = &c->arena};

    cause_add(&cs, "FieldValueInvalid", "patch", "Invalid value: \"<object>\": %s", why);
    return status_invalid_kind(c, "", "", "", &cs);
}

/* Unknown and doubled fields: refuse, warn or keep silent. */
static int judge_notes(struct api_call *c, const char *kind, const char *version,
                       const struct type_notes *notes)
{
    AUTO(buf_done) struct buf b = {.max = 8192};

    if (notes->n_texts == 0 || c->fields == FIELDS_IGNORE)
        return 0;
    if (c->fields == FIELDS_WARN) {
        for (size_t i = 0; i < notes->n_texts; i++)
            call_warn(c, "%s", notes->texts[i]);
        return 0;
    }
    list_notes(notes, &b);
    if (c->verb == VERB_PATCH)
        return bad_patch(c, arena_printf(&c->arena, "strict decoding error: %s", buf_str(&b)));
    return status_bad_request(c,
                              "%s in version \"%s\" cannot be handled as a %s: strict decoding "
                              "error: %s",
                              kind, version, kind, buf_str(&b));
}

/* By the tables or the definition's schema: types, unknown fields, canonical forms. */
static int check_shape(struct api_call *c, struct jsn *object, const struct jsn_notes *parsed)
{
    struct type_notes notes = {.parsed = parsed};
    struct err e = {0};
    int r = c->res->custom ? custom_on_write(&c->arena, c->res, object, &notes, &e)
                           : type_check(&c->arena, c->res->schema, object, &notes, &e);

    if (r < 0 && c->verb == VERB_PATCH && !c->res->custom)
        return bad_patch(c, e.text);
    if (r < 0)
        return status_bad_request(c, "%s in version \"%s\" cannot be handled as a %s: %s",
                                  c->res->kind, c->res->version, c->res->kind, e.text);
    return judge_notes(c, c->res->kind, c->res->version, &notes);
}

static int adopt(struct api_call *c, struct jsn *object, const struct jsn_notes *parsed,
                 struct jsn **ret_object)
{
    int r = check_kind(c, object);

    /* A list or a watch event around it must still be readable. */
    if (r == 0 && jsn_deeper_than(object, BODY_MAX_DEPTH))
        r = status_bad_request(c, "the object is nested deeper than %d levels", BODY_MAX_DEPTH);
    if (r == 0)
        r = check_shape(c, object, parsed);
    if (r < 0)
        return r;
    resource_to_stored(&c->arena, c->res, object);
    (void)jsn_del(object, "kind");
    (void)jsn_del(object, "apiVersion");
    (void)jsn_ensure_object(&c->arena, object, "metadata");
    *ret_object = object;
    return 0;
}

int body_adopt_object(struct api_call *c, struct jsn *object, struct jsn **ret_object)
{
    return adopt(c, object, NULL, ret_object);
}

int body_read_object(struct api_call *c, struct jsn **ret_object)
{
    struct jsn_notes parsed = {.arena = &c->arena};
    struct jsn *tree = NULL;
    int r = body_read_tree(c, c->res->kind, &parsed, &tree);

    return r < 0 ? r : adopt(c, tree, &parsed, ret_object);
}

int body_read_options(struct api_call *c, const char *kind, struct jsn **ret_options)
{
    const struct http_request *q = http_exchange_request(c->exchange);
    const char *sent;
    int r;

    *ret_options = NULL;
    if (q->body.n == 0)
        return 0;
    r = body_read_tree(c, kind, NULL, ret_options);
    if (r < 0)
        return r;
    sent = jsn_get_str(*ret_options, "kind");
    if (sent && sent[0] && !streq(sent, kind))
        return status_bad_request(c, "expected %s in the body, not %s", kind, sent);
    return 0;
}

int body_read_subresource(struct api_call *c, struct jsn **ret_object)
{
    struct jsn_notes parsed = {.arena = &c->arena};
    struct type_notes notes = {.parsed = &parsed};
    struct jsn *tree = NULL;
    struct err e = {0};
    int r = body_read_tree(c, c->sub->kind, &parsed, &tree);
    const char *kind;

    if (r < 0)
        return r;
    kind = jsn_get_str(tree, "kind");
    if (kind && kind[0] && !streq(kind, c->sub->kind))
        return wrong_kind(c, tree, c->sub->kind);
    if (c->sub->schema && type_check(&c->arena, c->sub->schema, tree, &notes, &e) < 0)
        return status_bad_request(c, "%s in version \"%s\" cannot be handled as a %s: %s",
                                  c->sub->kind, c->sub->version, c->sub->kind, e.text);
    *ret_object = tree;
    return judge_notes(c, c->sub->kind, c->sub->version, &notes);
}
