/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address of a request.
 *
 * /api/VERSION for the core group, /apis/GROUP/VERSION for all others; then namespaces/NS, the
 * plural, the name, the subresource.  Each comes from somewhere else and is encoded on its own;
 * what could climb out of its place in the path ("." and "..") is refused, so that a name from an
 * object can never address something else.
 */
#include "src/kube/address.h"

#include "src/base/alloc.h"
#include "src/base/encode.h"

static const struct {
    const char *text;
    const char *method;
    const char *content_type; /* as a header line */
    bool writes;
} verbs[] = {
    [KUBE_GET] = {"get", "GET", NULL, false},
    [KUBE_LIST] = {"list", "GET", NULL, false},
    [KUBE_CREATE] = {"create", "POST", "Content-Type: application/json", true},
    [KUBE_UPDATE] = {"update", "PUT", "Content-Type: application/json", true},
    [KUBE_PATCH_MERGE] = {"patch", "PATCH", "Content-Type: application/merge-patch+json", true},
    [KUBE_PATCH_JSON] = {"patch", "PATCH", "Content-Type: application/json-patch+json", true},
    [KUBE_PATCH_STRATEGIC] = {"patch", "PATCH",
                              "Content-Type: application/strategic-merge-patch+json", true},
    [KUBE_APPLY] = {"apply", "PATCH", "Content-Type: application/apply-patch+yaml", true},
    [KUBE_APPLY_FORCE] = {"apply", "PATCH", "Content-Type: application/apply-patch+yaml", true},
    [KUBE_DELETE] = {"delete", "DELETE", "Content-Type: application/json", false},
    [KUBE_DELETE_ALL] = {"delete all", "DELETE", "Content-Type: application/json", false},
};

const char *address_method(enum kube_verb verb)
{
    return verbs[verb].method;
}

const char *address_content_type(enum kube_verb verb)
{
    return verbs[verb].content_type;
}

static int add_segment(struct buf *url, const char *what, const char *text, struct err *e)
{
    if (!text || !*text || streq(text, ".") || streq(text, "..") || strchr(text, '/') ||
        strchr(text, '%'))
        return err_bad(e, "'%.80s' cannot be a %s", text ? text : "", what);
    buf_addc(url, '/');
    encode_url(url, str_of(text));
    return 0;
}

static void add_param(struct buf *url, char *separator, const char *key, const char *value)
{
    buf_addc(url, *separator);
    *separator = '&';
    encode_url(url, str_of(key));
    buf_addc(url, '=');
    encode_url(url, str_of(value));
}

static void add_query(struct buf *url, const struct kube_request *r, const char *field_manager)
{
    char separator = '?';

    for (const char *const *q = r->query; q && q[0]; q += 2)
        add_param(url, &separator, q[0], q[1]);
    if (verbs[r->verb].writes)
        add_param(url, &separator, "fieldManager", field_manager);
    if (r->verb == KUBE_APPLY_FORCE)
        add_param(url, &separator, "force", "true");
}

static bool names_one(enum kube_verb verb)
{
    return verb != KUBE_LIST && verb != KUBE_CREATE && verb != KUBE_DELETE_ALL;
}

int address_url(const char *server, const struct kube_request *r, const char *field_manager,
                struct buf *url, struct err *e)
{
    const struct kube_resource *res = &r->resource;
    bool core = !res->group || !*res->group;
    int n = 0;

    buf_adds(url, server);
    buf_adds(url, core ? "/api" : "/apis");
    if (!core)
        n = add_segment(url, "group", res->group, e);
    if (n == 0)
        n = add_segment(url, "version", res->version, e);
    if (n == 0 && r->namespace) {
        buf_adds(url, "/namespaces");
        n = add_segment(url, "namespace", r->namespace, e);
    }
    if (n == 0 && (res->plural || r->verb != KUBE_LIST))
        n = add_segment(url, "resource", res->plural, e);
    if (n == 0 && (r->name || names_one(r->verb)))
        n = add_segment(url, "name", r->name, e);
    if (n == 0 && r->subresource)
        n = add_segment(url, "subresource", r->subresource, e);
    if (n == 0)
        add_query(url, r, field_manager);
    return n;
}

char *address_describe(const struct kube_request *r)
{
    AUTO(buf_done) struct buf b = {0};

    buf_printf(&b, "%s %s", verbs[r->verb].text, r->resource.plural ? r->resource.plural : "?");
    if (r->subresource)
        buf_printf(&b, "/%s", r->subresource);
    if (r->name && r->namespace)
        buf_printf(&b, " '%s/%s'", r->namespace, r->name);
    else if (r->name)
        buf_printf(&b, " '%s'", r->name);
    else if (r->namespace)
        buf_printf(&b, " in '%s'", r->namespace);
    return buf_take(&b);
}
