/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resources: small questions about them, and the way between two forms of the same object.
 *
 * Some kinds are served in several versions or groups and stored in one.  Most of these differ by
 * name only; events.k8s.io renames fields (the table says which); extensions/v1beta1 Ingress has
 * another shape of its backends, which is what the code below is about.
 */
#include "src/cluster/apiserver/types/resource.h"

#include "src/base/str.h"

bool strings_have(const char *const *list, const char *s)
{
    for (; list && *list; list++)
        if (streq(*list, s))
            return true;
    return false;
}

bool resource_has_verb(const struct resource *r, const char *verb)
{
    return strings_have(r->verbs, verb);
}

const struct subresource *resource_sub(const struct resource *r, struct str name)
{
    for (size_t i = 0; i < r->n_subs; i++)
        if (str_eqz(name, r->subs[i].name))
            return &r->subs[i];
    return NULL;
}

static void set_api_version(struct arena *a, const struct resource *r, struct jsn *object)
{
    if (jsn_key(object, "apiVersion"))
        jsn_set(a, object, "apiVersion",
                jsn_stringf(a, "%s%s%s", r->group, *r->group ? "/" : "", r->version));
}

/* Rename a member and keep its place. */
static void rename_member(struct arena *a, struct jsn *object, const char *from, const char *to)
{
    if (!jsn_key(object, from) || streq(from, to))
        return;
    (void)jsn_del(object, to);
    for (size_t i = 0; i < jsn_len(object); i++) {
        struct jsn_member *m = &object->o.members[i];

        if (str_eqz(m->key, from)) {
            struct jsn *value = m->value;

            (void)jsn_del(object, from);
            jsn_set(a, object, to, value);
            return;
        }
    }
}

/* {serviceName, servicePort} to {service: {name, port: {number or name}}}. */
static void backend_to_stored(struct arena *a, struct jsn *backend)
{
    const struct jsn *name = jsn_key(backend, "serviceName");
    struct jsn *port = jsn_key(backend, "servicePort"), *service;

    if (!name && !port)
        return;
    service = jsn_ensure_object(a, backend, "service");
    jsn_set_str(a, service, "name", jsn_text(name) ? jsn_text(name) : "");
    if (jsn_is(port, JSN_INT))
        jsn_set(a, jsn_ensure_object(a, service, "port"), "number", port);
    else if (jsn_is(port, JSN_STRING))
        jsn_set(a, jsn_ensure_object(a, service, "port"), "name", port);
    (void)jsn_del(backend, "serviceName");
    (void)jsn_del(backend, "servicePort");
}

static void backend_from_stored(struct arena *a, struct jsn *backend)
{
    struct jsn *service = jsn_key(backend, "service"), *port;

    if (!service)
        return;
    port = jsn_get(service, "port.number");
    if (!port)
        port = jsn_get(service, "port.name");
    jsn_set_str(a, backend, "serviceName", jsn_get_str(service, "name"));
    if (port)
        jsn_set(a, backend, "servicePort", port);
    (void)jsn_del(backend, "service");
}

static void convert_ingress(struct arena *a, struct jsn *object, bool to_stored)
{
    void (*backend)(struct arena *, struct jsn *) =
        to_stored ? backend_to_stored : backend_from_stored;
    struct jsn *spec = jsn_key(object, "spec");

    rename_member(a, spec, to_stored ? "backend" : "defaultBackend",
                  to_stored ? "defaultBackend" : "backend");
    backend(a, jsn_key(spec, to_stored ? "defaultBackend" : "backend"));
    JSN_FOR_ITEMS (rule, jsn_key(spec, "rules")) {
        JSN_FOR_ITEMS (path, jsn_get(rule, "http.paths")) {
            backend(a, jsn_key(path, "backend"));
            if (to_stored && !jsn_key(path, "pathType"))
                jsn_set_str(a, path, "pathType", "ImplementationSpecific");
        }
    }
}

static bool is_old_ingress(const struct resource *r)
{
    return streq(r->group, "extensions") && streq(r->kind, "Ingress");
}

void resource_to_stored(struct arena *a, const struct resource *r, struct jsn *object)
{
    if (!r->stored)
        return;
    set_api_version(a, r->stored, object);
    for (size_t i = 0; i < r->n_renames; i++)
        rename_member(a, object, r->renames[i].here, r->renames[i].stored);
    if (is_old_ingress(r))
        convert_ingress(a, object, true);
}

void resource_from_stored(struct arena *a, const struct resource *r, struct jsn *object)
{
    if (!r->stored)
        return;
    set_api_version(a, r, object);
    for (size_t i = 0; i < r->n_renames; i++)
        rename_member(a, object, r->renames[i].stored, r->renames[i].here);
    if (is_old_ingress(r))
        convert_ingress(a, object, false);
}
