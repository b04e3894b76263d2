/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Status objects: refusals in the words of kube-apiserver.
 *
 * Each function builds {"kind":"Status", ..., "message", "reason", "details", "code"} in the arena
 * of the call and leaves it in c->failure; the dispatcher sends it with "code" as the HTTP code.
 * The members stand in the order in which a real server prints them.
 *
 * details.kind is the resource ("configmaps") except for 422 Invalid, where it is the Kind.  The
 * group is left out for the core group.  A refusal that names no object has no details, or empty
 * ones where clients are used to see them (unknown resource, wrong method).
 */
#include "src/cluster/apiserver/status.h"

#include <stdio.h>

static const struct {
    int code;
    const char *reason;
} reasons[] = {
    {400, "BadRequest"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "NotFound"},
    {405, "MethodNotAllowed"},
    {406, "NotAcceptable"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "RequestEntityTooLarge"},
    {415, "UnsupportedMediaType"},
    {422, "Invalid"},
    {429, "TooManyRequests"},
    {500, "InternalError"},
    {503, "ServiceUnavailable"},
    {504, "Timeout"},
};

const char *status_reason_of(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].code == code)
            return reasons[i].reason;
    return code >= 500 ? "InternalError" : "Unknown";
}

struct jsn *status_object(struct arena *a, int code, const char *reason, const char *message)
{
    struct jsn *s = jsn_object(a);

    jsn_set_str(a, s, "kind", "Status");
    jsn_set_str(a, s, "apiVersion", "v1");
    jsn_set(a, s, "metadata", jsn_object(a));
    jsn_set_str(a, s, "status", "Failure");
    jsn_set_str(a, s, "message", message);
    if (!reason)
        reason = status_reason_of(code);
    if (reason[0] != '\0') /* plain errors of the server's own have none */
        jsn_set_str(a, s, "reason", reason);
    jsn_set_int(a, s, "code", code);
    return s;
}

static int fail(struct api_call *c, int code, const char *reason, const char *message)
{
    c->failure = status_object(&c->arena, code, reason, message);
    return -1;
}

static const char *format(struct api_call *c, const char *fmt, va_list ap) PRINTF(2, 0);

static const char *format(struct api_call *c, const char *fmt, va_list ap)
{
    AUTO(buf_done) struct buf b = {0};

    buf_vprintf(&b, fmt, ap);
    return arena_str(&c->arena, buf_view(&b));
}

/* "deployments" and "apps" make "deployments.apps"; the core group adds nothing. */
static const char *qualified(struct api_call *c, const char *what)
{
    const char *group = c->res->group;

    if (!group || group[0] == '\0')
        return what;
    return arena_printf(&c->arena, "%s.%s", what, group);
}

/* "" for a call that has not found its resource yet. */
static const char *resource_text(struct api_call *c)
{
    return c->res ? qualified(c, c->res->plural) : "";
}

/* A name in the quotes of Go's %q. */
static const char *quoted(struct api_call *c, const char *name)
{
    AUTO(buf_done) struct buf b = {0};

    jsn_print_string(&b, str_of(name ? name : ""));
    return arena_str(&c->arena, buf_view(&b));
}

static void set_unless_empty(struct arena *a, struct jsn *object, const char *key, const char *text)
{
    if (text && text[0] != '\0')
        jsn_set_str(a, object, key, text);
}

struct jsn *status_details(struct api_call *c)
{
    struct jsn *details = jsn_key(c->failure, "details");
    struct jsn *code;

    if (details)
        return details;
    code = jsn_key(c->failure, "code");
    details = jsn_object(&c->arena);
    (void)jsn_del(c->failure, "code");
    jsn_set(&c->arena, c->failure, "details", details);
    if (code)
        jsn_set(&c->arena, c->failure, "code", code);
    return details;
}

static void name_object(struct api_call *c, struct jsn *details, const char *name, const char *kind)
{
    set_unless_empty(&c->arena, details, "name", name);
    if (c->res)
        set_unless_empty(&c->arena, details, "group", c->res->group);
    set_unless_empty(&c->arena, details, "kind", kind);
}

/* Fail about one object of c->res: its name, group and resource go into the details. */
static int fail_about(struct api_call *c, int code, const char *reason, const char *name,
                      const char *message)
{
    (void)fail(c, code, reason, message);
    name_object(c, status_details(c), name, c->res ? c->res->plural : NULL);
    return -1;
}

void status_add_cause(struct api_call *c, const char *reason, const char *field,
                      const char *message)
{
    struct jsn *details = status_details(c);
    struct jsn *causes = jsn_key(details, "causes");
    struct jsn *cause = jsn_object(&c->arena);

    if (!causes) {
        causes = jsn_array(&c->arena);
        jsn_set(&c->arena, details, "causes", causes);
    }
    set_unless_empty(&c->arena, cause, "reason", reason);
    set_unless_empty(&c->arena, cause, "message", message);
    set_unless_empty(&c->arena, cause, "field", field);
    jsn_append(&c->arena, causes, cause);
}

int status_fail(struct api_call *c, int code, const char *reason, const char *fmt, ...)
{
    const char *message;
    va_list ap;

    va_start(ap, fmt);
    message = format(c, fmt, ap);
    va_end(ap);
    return fail(c, code, reason, message);
}

int status_bad_request(struct api_call *c, const char *fmt, ...)
{
    const char *message;
    va_list ap;

    va_start(ap, fmt);
    message = format(c, fmt, ap);
    va_end(ap);
    return fail(c, 400, "BadRequest", message);
}

int status_not_found(struct api_call *c, const char *name)
{
    return fail_about(
        c, 404, "NotFound", name,
        arena_printf(&c->arena, "%s %s not found", resource_text(c), quoted(c, name)));
}

int status_missing(struct api_call *c, const char *group, const char *plural, const char *name)
{
    struct jsn *details;

    (void)status_fail(c, 404, "NotFound", "%s%s%s %s not found", plural, group[0] ? "." : "", group,
                      quoted(c, name));
    details = status_details(c);
    jsn_set_str(&c->arena, details, "name", name);
    set_unless_empty(&c->arena, details, "group", group);
    jsn_set_str(&c->arena, details, "kind", plural);
    return -1;
}

int status_no_resource(struct api_call *c)
{
    (void)fail(c, 404, "NotFound", "the server could not find the requested resource");
    (void)status_details(c);
    return -1;
}

int status_method_not_allowed(struct api_call *c)
{
    (void)fail(c, 405, "MethodNotAllowed",
               "the server does not allow this method on the requested resource");
    (void)status_details(c);
    return -1;
}

int status_already_exists(struct api_call *c, const char *name, bool being_deleted)
{
    return fail_about(c, 409, "AlreadyExists", name,
                      arena_printf(&c->arena, "%s%s %s already exists",
                                   being_deleted ? "object is being deleted: " : "",
                                   resource_text(c), quoted(c, name)));
}

int status_modified(struct api_call *c, const char *name)
{
    return status_conflict(c, name,
                           "the object has been modified; please apply your changes to the latest "
                           "version and try again");
}

int status_conflict(struct api_call *c, const char *name, const char *fmt, ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(c, fmt, ap);
    va_end(ap);
    return fail_about(c, 409, "Conflict", name,
                      arena_printf(&c->arena, "Operation cannot be fulfilled on %s %s: %s",
                                   resource_text(c), quoted(c, name), why));
}

int status_precondition(struct api_call *c, const char *name, const char *fmt, ...)
{
    const char *why;
    va_list ap;

    va_start(ap, fmt);
    why = format(c, fmt, ap);
    va_end(ap);
    (void)fail(c, 409, "Conflict",
               arena_printf(&c->arena, "Operation cannot be fulfilled on %s %s: %s",
                            qualified(c, c->res->kind), quoted(c, name), why));
    name_object(c, status_details(c), name, c->res->kind);
    return -1;
}

int status_forbidden(struct api_call *c, const char *name, const char *fmt, ...)
{
    const char *resource = resource_text(c);
    const char *message;
    va_list ap;

    va_start(ap, fmt);
    message = format(c, fmt, ap);
    va_end(ap);
    if (resource[0] == '\0')
        message = arena_printf(&c->arena, "forbidden: %s", message);
    else if (!name || name[0] == '\0')
        message = arena_printf(&c->arena, "%s is forbidden: %s", resource, message);
    else
        message =
            arena_printf(&c->arena, "%s %s is forbidden: %s", resource, quoted(c, name), message);
    return fail_about(c, 403, "Forbidden", name, message);
}

int status_unsupported_media(struct api_call *c, const char *accepted)
{
    return status_fail(c, 415, "UnsupportedMediaType",
                       "the body of the request was in an unknown format - accepted media types "
                       "include: %s",
                       accepted);
}

int status_internal(struct api_call *c, const struct err *e)
{
    (void)status_fail(c, 500, "InternalError", "Internal error occurred: %s", e->text);
    status_add_cause(c, NULL, NULL, e->text);
    return -1;
}

int status_too_many(struct api_call *c, int64_t retry_after_s, const char *fmt, ...)
{
    const char *message;
    struct jsn *details;
    va_list ap;

    va_start(ap, fmt);
    message = format(c, fmt, ap);
    va_end(ap);
    (void)fail(c, 429, "TooManyRequests", message);
    details = status_details(c);
    if (retry_after_s > 0)
        jsn_set_int(&c->arena, details, "retryAfterSeconds", retry_after_s);
    c->retry_after_s = retry_after_s;
    return -1;
}

struct jsn *status_deleted(struct api_call *c, const char *name, const char *uid)
{
    struct arena *a = &c->arena;
    struct jsn *s = jsn_object(a);
    struct jsn *details = jsn_object(a);

    jsn_set_str(a, s, "kind", "Status");
    jsn_set_str(a, s, "apiVersion", "v1");
    jsn_set(a, s, "metadata", jsn_object(a));
    jsn_set_str(a, s, "status", "Success");
    name_object(c, details, name, c->res->plural);
    set_unless_empty(a, details, "uid", uid);
    jsn_set(a, s, "details", details);
    return s;
}

struct jsn *status_success(struct arena *a, int code)
{
    struct jsn *v = jsn_object(a);

    jsn_set_str(a, v, "kind", "Status");
    jsn_set_str(a, v, "apiVersion", "v1");
    jsn_set(a, v, "metadata", jsn_object(a));
    jsn_set_str(a, v, "status", "Success");
    jsn_set_int(a, v, "code", code);
    return v;
}
