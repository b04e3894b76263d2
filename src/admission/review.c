/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AdmissionReview, version v1.
 *
 * The answer names the uid of the question.  A refusal is a Status as kube-apiserver's own: code
 * 422, reason Invalid, a cause for each field, and all of them in the message, since kubectl shows
 * that alone.  kube-apiserver puts the webhook's name before the message, and makes a Warning
 * header of each warning.
 *
 * `kubectl scale` writes the subresource `scale`: the question has a Scale, which names how many
 * there shall be.  The object is looked up, and checked as it would become.
 */
#include "src/admission/review.h"

/* kube-apiserver cuts warnings off where all of them together have more than 4096 characters. */
#define WARNINGS_MAX 32

static bool text_is(const struct jsn *v, const char *path, const char *wanted)
{
    return streq(jsn_get_str(v, path), wanted);
}

static struct jsn *head(struct arena *a)
{
    struct jsn *v = jsn_object(a);

    jsn_set_str(a, v, "apiVersion", REVIEW_VERSION);
    jsn_set_str(a, v, "kind", "AdmissionReview");
    return v;
}

/* "NodeSet.slinky.slurm.net "gpu" is invalid: [spec.x: ..., spec.y: ...]" */
static const char *make_message(struct arena *a, const struct jsn *object, const struct jsn *causes)
{
    AUTO(buf_done) struct buf b = {0};
    const struct api_kind *kind = api_kind_of(object);
    const char *name = jsn_get_str(object, "metadata.name");
    bool many = jsn_len(causes) > 1;
    const char *before = "";

    buf_printf(&b, "%s.%s ", kind->kind, kind->group);
    jsn_print_string(&b, str_of(name ? name : ""));
    buf_printf(&b, " is invalid: %s", many ? "[" : "");
    JSN_FOR_ITEMS (cause, causes) {
        const char *field = jsn_get_str(cause, "field");

        buf_printf(&b, "%s%s%s%s", before, field, field[0] ? ": " : "",
                   jsn_get_str(cause, "message"));
        before = ", ";
    }
    if (many)
        buf_addc(&b, ']');
    return arena_strdup(a, buf_str(&b));
}

static struct jsn *make_causes(struct arena *a, const struct api_problems *p)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < p->n; i++) {
        struct admission_cause told;
        struct jsn *cause;

        if (p->items[i].reason == API_WARNING)
            continue;
        told = admission_cause_of(a, &p->items[i]);
        cause = jsn_object(a);
        jsn_set_str(a, cause, "reason", told.reason);
        jsn_set_str(a, cause, "message", told.text);
        jsn_set_str(a, cause, "field", p->items[i].field);
        jsn_append(a, list, cause);
    }
    return list;
}

static struct jsn *make_status(struct arena *a, const struct jsn *object,
                               const struct api_problems *p)
{
    struct jsn *status = jsn_object(a);
    struct jsn *details = jsn_object(a);
    struct jsn *causes = make_causes(a, p);
    const char *name = jsn_get_str(object, "metadata.name");

    jsn_set_str(a, status, "status", "Failure");
    jsn_set_str(a, status, "message", make_message(a, object, causes));
    jsn_set_str(a, status, "reason", "Invalid");
    jsn_set_int(a, status, "code", 422);
    if (name)
        jsn_set_str(a, details, "name", name);
    jsn_set_str(a, details, "group", api_kind_of(object)->group);
    jsn_set_str(a, details, "kind", api_kind_of(object)->kind);
    jsn_set(a, details, "causes", causes);
    jsn_set(a, status, "details", details);
    return status;
}

static struct jsn *make_warnings(struct arena *a, const struct api_problems *p)
{
    struct jsn *list = jsn_array(a);

    for (size_t i = 0; i < p->n && jsn_len(list) < WARNINGS_MAX; i++)
        if (p->items[i].reason == API_WARNING)
            jsn_append(a, list,
                       jsn_stringf(a, "%s%s%s", p->items[i].field, p->items[i].field[0] ? ": " : "",
                                   p->items[i].text));
    return list;
}

/* The object as a Scale would make it; NULL: nothing to check. */
static const struct jsn *scaled(struct arena *a, const struct jsn *request,
                                const struct api_lookup *lookup, const struct jsn **ret_old)
{
    const struct api_kind *kind = api_kind_find(jsn_get_str(request, "resource.resource"));
    const struct jsn *replicas = jsn_get(request, "object.spec.replicas");
    const char *ns = jsn_get_str(request, "namespace");
    const char *name = jsn_get_str(request, "name");
    const struct jsn *old = NULL;
    struct jsn *now;

    if (!kind || !kind->scale || !replicas || !ns || !name ||
        api_lookup_get(lookup, kind->kind, ns, name, &old) != API_PRESENT)
        return NULL;
    now = jsn_clone(a, old);
    jsn_set_str(a, now, "apiVersion", arena_printf(a, "%s/%s", kind->group, kind->version));
    jsn_set_str(a, now, "kind", kind->kind);
    jsn_set(a, jsn_ensure_object(a, now, "spec"), "replicas", jsn_clone(a, replicas));
    *ret_old = old;
    return now;
}

/* What is to be checked, with what was there before; NULL: nothing. */
static const struct jsn *find_object(struct arena *a, const struct jsn *request,
                                     const struct api_lookup *lookup, const struct jsn **ret_old)
{
    const char *sub = jsn_get_str(request, "subResource");
    const struct jsn *object = jsn_get(request, "object");
    const struct jsn *old = jsn_get(request, "oldObject");

    if (!text_is(request, "operation", "CREATE") && !text_is(request, "operation", "UPDATE"))
        return NULL;
    if (streq(sub, "scale"))
        return scaled(a, request, lookup, ret_old);
    if ((sub && sub[0]) || !jsn_is(object, JSN_OBJECT) || !api_kind_of(object))
        return NULL;
    *ret_old = jsn_is(old, JSN_OBJECT) ? old : NULL;
    return object;
}

static int check_form(const struct jsn *body, struct err *e)
{
    const char *version = jsn_get_str(body, "apiVersion");
    const char *kind = jsn_get_str(body, "kind");
    const char *uid = jsn_get_str(body, "request.uid");

    if (!streq(kind, "AdmissionReview") || !streq(version, REVIEW_VERSION))
        return err_set(e, -EINVAL, ERR_PERMANENT,
                       "this webhook answers AdmissionReview of " REVIEW_VERSION
                       ", and was sent %s of %s; put v1 into admissionReviewVersions",
                       kind ? kind : "something", version ? version : "no version");
    if (!uid || !uid[0])
        return err_set(e, -EINVAL, ERR_PERMANENT, "the AdmissionReview has no request.uid");
    return 0;
}

int review_answer(struct arena *a, const struct jsn *body, const struct review_context *context,
                  struct jsn **ret_answer, struct err *e)
{
    const struct jsn *request = jsn_get(body, "request");
    struct api_problems p = {.arena = a};
    struct admission_request in = {
        .lookup = context->lookup, .release = context->release, .foreign_pods = true};
    struct jsn *answer = head(a);
    struct jsn *response = jsn_ensure_object(a, answer, "response");
    struct jsn *warnings;
    int r = check_form(body, e);

    if (r < 0)
        return r;
    in.object = find_object(a, request, context->lookup, &in.old);
    if (in.object)
        admission_check(&in, &p);
    jsn_set_str(a, response, "uid", jsn_get_str(request, "uid"));
    jsn_set_bool(a, response, "allowed", p.errors == 0);
    if (p.errors)
        jsn_set(a, response, "status", make_status(a, in.object, &p));
    warnings = make_warnings(a, &p);
    if (jsn_len(warnings))
        jsn_set(a, response, "warnings", warnings);
    *ret_answer = answer;
    return 0;
}
