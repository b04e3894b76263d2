/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * default/kubernetes: client libraries in pods look for the API server there.
 *
 * The Service has the first address of the range, which the server's certificate names.  A Service
 * of that name that is there already is left alone, whatever it says.  There are no Endpoints: a
 * server on loopback has no address that pods could reach, and the node leads them to its relay
 * (services.c there).
 */
#include "src/cluster/apiserver/own_service.h"

#include "src/base/alloc.h"
#include "src/base/log.h"
#include "src/cluster/apiserver/kinds/service_alloc.h"
#include "src/cluster/apiserver/object.h"
#include "src/cluster/apiserver/server.h"
#include "src/cluster/apiserver/write.h"

#define NAME "kubernetes"
#define NAMESPACE "default"
#define RETRY_MS 5000
#define PORT 443
#define TARGET_PORT 6443

struct own_service {
    struct apiserver *server;
    struct workset work;
    bool told; /* why it cannot be made */
};

static struct jsn *port(struct arena *a)
{
    struct jsn *o = jsn_object(a);

    jsn_set_str(a, o, "name", "https");
    jsn_set_str(a, o, "protocol", "TCP");
    jsn_set_int(a, o, "port", PORT);
    jsn_set_int(a, o, "targetPort", TARGET_PORT);
    return o;
}

static struct jsn *wanted(struct arena *a)
{
    struct jsn *o = jsn_object(a);
    struct jsn *meta = jsn_ensure_object(a, o, "metadata");
    struct jsn *labels = jsn_ensure_object(a, meta, "labels");
    struct jsn *spec = jsn_ensure_object(a, o, "spec");
    struct jsn *ports = jsn_array(a);

    jsn_set_str(a, meta, "name", NAME);
    jsn_set_str(a, labels, "component", "apiserver");
    jsn_set_str(a, labels, "provider", "kubernetes");
    jsn_set_str(a, spec, "clusterIP", SERVICE_OF_SERVER);
    jsn_append(a, ports, port(a));
    jsn_set(a, spec, "ports", ports);
    return o;
}

static int make(struct own_service *o)
{
    AUTO(call_done_inner) struct api_call c;
    struct jsn *old;
    int r;

    call_init_inner(&c, o->server,
                    registry_find(o->server->registry, STR(""), STR("v1"), STR("services")));
    c.ns = NAMESPACE;
    r = object_find(&c, NAMESPACE, NAME, &old);
    if (r == -ENOENT)
        r = write_create(&c, wanted(&c.arena));
    if (r < 0 && !o->told)
        log_warn("service %s/%s cannot be made, so that pods do not find this server: %s",
                 NAMESPACE, NAME, jsn_get_str(c.failure, "message"));
    o->told = r < 0;
    return r;
}

static void look(void *arg, const char *key)
{
    struct own_service *o = arg;

    if (make(o) < 0)
        workset_add_later(&o->work, key, RETRY_MS);
}

void own_service_event(struct own_service *o, const struct store_event *ev)
{
    const struct store_key *k = &ev->row.key;

    if (ev->change == STORE_DELETED && streq(k->resource, "services") && streq(k->ns, NAMESPACE) &&
        streq(k->name, NAME))
        workset_add(&o->work, NAME);
}

struct own_service *own_service_new(struct apiserver *s)
{
    struct own_service *o = xcalloc(1, sizeof(*o));

    o->server = s;
    workset_init(&o->work, s->loop, 1, look, o);
    workset_add(&o->work, NAME);
    return o;
}

struct own_service *own_service_free(struct own_service *o)
{
    if (!o)
        return NULL;
    workset_done(&o->work);
    free(o);
    return NULL;
}
