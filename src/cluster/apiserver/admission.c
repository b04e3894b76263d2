/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission.
 *
 * Nothing is created in a namespace that is not there (404) or is on its way out (403); what is
 * there already may still be changed, since that is how its finalizers come off.  Then the
 * registered hook has its say (our own kinds are validated there, as a webhook does on Kubernetes),
 * and at last the quotas of the namespace.
 */
#include "src/cluster/apiserver/admission.h"

#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/quota.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/status.h"

static int namespace_ending(struct api_call *c, const char *name, const char *ns)
{
    int r = status_forbidden(c, name,
                             "unable to create new content in namespace %s because it is being "
                             "terminated",
                             ns);

    status_add_cause(c, "NamespaceTerminating", "metadata.namespace",
                     arena_printf(&c->arena, "namespace %s is being terminated", ns));
    return r;
}

static int check_namespace(struct api_call *c, const struct jsn *object)
{
    const char *ns = object_namespace(object);
    struct store_key k = {"namespaces", "", ns};
    struct store_row row;
    struct jsn *namespace_object;
    struct err e = {0};
    int r = store_get(c->server->store, &k, &c->arena, &row, &e);

    if (r == -ENOENT)
        return status_missing(c, "", "namespaces", ns);
    if (r < 0 || jsn_parse(&c->arena, row.data, NULL, &namespace_object, &e) < 0)
        return status_internal(c, &e);
    if (object_deleting(namespace_object))
        return namespace_ending(c, object_name(object), ns);
    return 0;
}

/* Ask whoever lives inside of this process; what it found wrong fails the call. */
static int ask_inside(struct api_call *c, const struct jsn *object, const struct jsn *old)
{
    struct apiserver *s = c->server;
    struct causes causes = {.arena = &c->arena};
    struct inside_write w = {
        .arena = &c->arena,
        .group = c->stored->group,
        .version = c->stored->version,
        .kind = c->stored->kind,
        .subresource = c->sub ? c->sub->name : NULL,
        .object = object,
        .old = old,
        .call = c,
        .causes = &causes,
    };

    if (!s->admit)
        return 0;
    s->admit(s->admit_arg, &w);
    return status_invalid(c, object_name(object), &causes);
}

int admission_create(struct api_call *c, struct jsn *object)
{
    int r = c->stored->namespaced ? check_namespace(c, object) : 0;

    if (r == 0)
        r = ask_inside(c, object, NULL);
    return r == 0 && c->stored->namespaced ? quota_admit(c, object, NULL) : r;
}

/* Of what is there already, only these can come to use more. */
static bool may_grow(struct api_call *c)
{
    const char *resource = call_store_name(c);

    return !c->sub && (streq(resource, "services") || streq(resource, "persistentvolumeclaims"));
}

int admission_update(struct api_call *c, struct jsn *object, const struct jsn *old)
{
    int r = ask_inside(c, object, old);

    return r == 0 && may_grow(c) ? quota_admit(c, object, old) : r;
}
