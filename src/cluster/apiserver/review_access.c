/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reviews of access.
 *
 *   SelfSubjectAccessReview   may I do that?
 *   SubjectAccessReview       may they, in any namespace?
 *   LocalSubjectAccessReview  may they, in this one?
 *
 * What is asked is checked as kube-apiserver does it.  Selectors may be given, for authorizers that
 * look at them; roles do not, so they change nothing here, and one that cannot be read is only
 * told.
 */
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/rbac/authorize.h"
#include "src/cluster/apiserver/review.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"
#include "src/json/selector.h"

#define RESOURCE "spec.resourceAttributes"
#define PATH "spec.nonResourceAttributes"

/* A path and a verb, in the form in which Kubernetes shows them. */
static const char *path_text(struct arena *a, const struct jsn *path)
{
    struct jsn *shown = jsn_object(a);

    jsn_set_str(a, shown, "Path", kind_text(path, "path"));
    jsn_set_str(a, shown, "Verb", kind_text(path, "verb"));
    return gotext_value(a, shown);
}

/* What is asked must be said: a resource or a path. */
static void check_attributes(struct causes *cs, const struct jsn *review)
{
    const struct jsn *resource = jsn_get(review, RESOURCE);
    const struct jsn *path = jsn_get(review, PATH);

    if (resource && path)
        cause_invalid_text(cs, PATH, path_text(cs->arena, path),
                           "cannot be specified in combination with resourceAttributes");
    else if (!resource && !path)
        cause_invalid(cs, RESOURCE, NULL,
                      "exactly one of nonResourceAttributes or resourceAttributes must be "
                      "specified");
}

static void check_subject(struct causes *cs, const struct jsn *review)
{
    if (!kind_text(review, "spec.user")[0] && jsn_len(jsn_get(review, "spec.groups")) == 0)
        cause_invalid(cs, "spec.user", jsn_string(cs->arena, ""),
                      "at least one of user or group must be specified");
}

static void check_selector(struct causes *cs, const struct jsn *review, const char *key)
{
    const char *at = cause_path(cs, RESOURCE ".%s", key);
    const struct jsn *selector = jsn_get(review, at);
    const char *raw = kind_text(selector, "rawSelector");
    size_t n = jsn_len(jsn_key(selector, "requirements"));

    if (!selector)
        return;
    if (raw[0] && n > 0)
        cause_invalid(cs, cause_path(cs, "%s.rawSelector", at), jsn_string(cs->arena, raw),
                      "may not specified at the same time as requirements");
    if (!raw[0] && n == 0)
        cause_required(cs, cause_path(cs, "%s.requirements", at),
                       cause_path(cs,
                                  "when %s is specified, requirements or rawSelector is "
                                  "required",
                                  at));
}

static void check_meta(struct causes *cs, const struct jsn *review, bool local)
{
    struct jsn *meta = jsn_clone(cs->arena, jsn_key(review, "metadata"));

    (void)jsn_del(meta, "managedFields");
    (void)jsn_del(meta, "creationTimestamp");
    if (local)
        (void)jsn_del(meta, "namespace");
    if (jsn_len(meta) > 0)
        cause_invalid(cs, "metadata", jsn_key(review, "metadata"), "must be empty%s",
                      local ? " except for namespace" : "");
}

static void check_local(struct causes *cs, const struct api_call *c, const struct jsn *review)
{
    const char *ns = kind_text(review, RESOURCE ".namespace");

    if (jsn_get(review, RESOURCE) && !streq(ns, c->ns))
        cause_invalid(cs, RESOURCE ".namespace", jsn_string(cs->arena, ns),
                      "must match metadata.namespace");
    if (jsn_get(review, PATH))
        cause_invalid_text(cs, PATH, path_text(cs->arena, jsn_get(review, PATH)),
                           "disallowed on this kind of request");
}

static void check_review(struct causes *cs, const struct api_call *c, const struct jsn *review)
{
    bool local = starts_with(c->res->kind, "Local");

    check_attributes(cs, review);
    if (!starts_with(c->res->kind, "Self"))
        check_subject(cs, review);
    check_selector(cs, review, "fieldSelector");
    check_selector(cs, review, "labelSelector");
    check_meta(cs, review, local);
    if (local)
        check_local(cs, c, review);
}

static bool is_readable(struct arena *a, const struct jsn *selector, bool labels)
{
    static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist", NULL};
    const char *raw = kind_text(selector, "rawSelector");
    struct selector *s;

    JSN_FOR_ITEMS (r, jsn_key(selector, "requirements")) {
        size_t n = jsn_len(jsn_key(r, "values"));
        bool one_of = starts_with(kind_text(r, "operator"), "In") ||
                      starts_with(kind_text(r, "operator"), "NotIn");

        if (!strings_have(operators, kind_text(r, "operator")) ||
            (labels ? one_of != (n > 0) : !one_of || n != 1))
            return false;
    }
    return !raw[0] || (labels ? selector_parse_labels(a, str_of(raw), &s, NULL)
                              : selector_parse_fields(a, str_of(raw), &s, NULL)) == 0;
}

/* "spec.resourceAttributes.labelSelector ignored due to parse error", of one or both. */
static const char *unreadable(struct arena *a, const struct jsn *review)
{
    bool fields = is_readable(a, jsn_get(review, RESOURCE ".fieldSelector"), false);
    bool labels = is_readable(a, jsn_get(review, RESOURCE ".labelSelector"), true);
    const char *text = " ignored due to parse error";

    if (!fields && !labels)
        return arena_printf(a, RESOURCE ".fieldSelector%s, " RESOURCE ".labelSelector%s", text,
                            text);
    return fields && labels
               ? NULL
               : arena_printf(a, RESOURCE ".%sSelector%s", fields ? "label" : "field", text);
}

static struct rbac_request request_of(const struct jsn *review)
{
    const struct jsn *r = jsn_get(review, "spec.resourceAttributes");
    const struct jsn *path = jsn_get(review, "spec.nonResourceAttributes");

    if (!r)
        return (struct rbac_request){kind_text(path, "verb"), "", NULL, "", "", "",
                                     kind_text(path, "path")};
    return (struct rbac_request){.verb = kind_text(r, "verb"),
                                 .group = kind_text(r, "group"),
                                 .resource = kind_text(r, "resource"),
                                 .sub = kind_text(r, "subresource"),
                                 .ns = kind_text(r, "namespace"),
                                 .name = kind_text(r, "name"),
                                 .path = ""};
}

static struct api_user subject_of(struct arena *a, const struct jsn *review)
{
    const struct jsn *list = jsn_get(review, "spec.groups");
    const char **groups = arena_calloc(a, jsn_len(list) + 1, sizeof(*groups));
    size_t n = 0;

    JSN_FOR_ITEMS (item, list)
        if (jsn_text(item))
            groups[n++] = jsn_text(item);
    return (struct api_user){.name = kind_text(review, "spec.user"),
                             .groups = (const char *const *)groups};
}

int review_access(struct api_call *c, struct jsn *review)
{
    struct arena *a = &c->arena;
    struct causes cs = {.arena = a};
    struct api_user user = starts_with(c->res->kind, "Self") ? c->user : subject_of(a, review);
    struct rbac_request q = request_of(review);
    struct jsn *status = jsn_object(a);
    const char *why;

    check_review(&cs, c, review);
    if (cs.n)
        return status_invalid_kind(c, "", c->res->group, "", &cs);
    jsn_set_bool(a, status, "allowed", rbac_explain(c->server->rbac, a, &user, &q, &why));
    if (why[0])
        jsn_set_str(a, status, "reason", why);
    why = unreadable(a, review);
    if (why)
        jsn_set_str(a, status, "evaluationError", why);
    jsn_set(a, review, "status", status);
    return 0;
}
