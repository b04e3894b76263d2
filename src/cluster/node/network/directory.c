/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of a cluster: what DNS answers from, and what addresses of Services lead to.
 *
 * A Service that selects has as backends the pods that match and have an address; one that does not
 * has what its Endpoints object says.  Pods that are over are nobody's backend.
 */
#include "src/cluster/node/network/directory.h"

#include "src/json/selector.h"

void directory_done(struct directory *d)
{
    arena_done(&d->arena);
}

static bool is_ready(const struct jsn *pod)
{
    JSN_FOR_ITEMS (c, jsn_get(pod, "status.conditions"))
        if (streq(jsn_get_str(c, "type"), "Ready"))
            return streq(jsn_get_str(c, "status"), "True");
    return false;
}

static const char *text_or_null(const struct jsn *v, const char *path)
{
    const char *s = jsn_get_str(v, path);

    return s && s[0] ? s : NULL;
}

void directory_add_pod(struct directory *d, const struct jsn *pod)
{
    const char *phase = jsn_get_str(pod, "status.phase");
    const char *ip = text_or_null(pod, "status.podIP");
    const char *host = text_or_null(pod, "spec.hostname");

    if (!ip || streq(phase, "Succeeded") || streq(phase, "Failed"))
        return;
    arena_reserve(&d->arena, &d->pods, &d->cap_pods, d->n_pods + 1, sizeof(*d->pods));
    d->pods[d->n_pods++] = (struct named_pod){
        .ns = jsn_get_str(pod, "metadata.namespace"),
        .name = jsn_get_str(pod, "metadata.name"),
        .host_name = host ? host : jsn_get_str(pod, "metadata.name"),
        .subdomain = text_or_null(pod, "spec.subdomain"),
        .ip = ip,
        .object = pod,
    };
}

static void add_ports(struct directory *d, const struct jsn *spec, struct service *s)
{
    const struct jsn *list = jsn_key(spec, "ports");

    s->ports = arena_calloc(&d->arena, jsn_len(list) + 1, sizeof(*s->ports));
    JSN_FOR_ITEMS (p, list) {
        const char *name = jsn_get_str(p, "name");
        const char *protocol = jsn_get_str(p, "protocol");

        s->ports[s->n_ports++] = (struct service_port){
            .name = name ? name : "",
            .protocol = protocol ? protocol : "TCP",
            .port = (uint16_t)jsn_get_int(p, "port", 0),
            .node_port = (uint16_t)jsn_get_int(p, "nodePort", 0),
            .target = jsn_key(p, "targetPort"),
        };
    }
}

static void add_backends(struct directory *d, const struct jsn *selector, struct service *s)
{
    s->backends = arena_calloc(&d->arena, d->n_pods + 1, sizeof(*s->backends));
    for (size_t i = 0; i < d->n_pods; i++) {
        const struct named_pod *p = &d->pods[i];
        const struct jsn *labels = jsn_get(p->object, "metadata.labels");
        bool matches = streq(p->ns, s->ns);

        JSN_FOR_MEMBERS (m, selector)
            matches = matches && streq(jsn_text(jsn_member(labels, m->key)), jsn_text(m->value));
        if (!matches)
            continue;
        s->backends[s->n_backends++] = (struct backend){
            .ip = p->ip,
            .host_name = streq(p->subdomain, s->name) ? p->host_name : NULL,
            .ready = is_ready(p->object) && !jsn_get(p->object, "metadata.deletionTimestamp"),
            .pod = p->object,
        };
    }
}

void directory_add_service(struct directory *d, const struct jsn *service)
{
    const struct jsn *spec = jsn_key(service, "spec");
    const struct jsn *selector = jsn_key(spec, "selector");
    const char *ip = text_or_null(spec, "clusterIP");
    struct service s = {
        .ns = jsn_get_str(service, "metadata.namespace"),
        .name = jsn_get_str(service, "metadata.name"),
        .cluster_ip = streq(ip, "None") ? NULL : ip,
        .all_ready = jsn_get_bool(spec, "publishNotReadyAddresses", false),
        .sticky = streq(jsn_get_str(spec, "sessionAffinity"), "ClientIP"),
    };

    if (streq(jsn_get_str(spec, "type"), "ExternalName"))
        s.external_name = text_or_null(spec, "externalName");
    add_ports(d, spec, &s);
    if (jsn_len(selector) > 0)
        add_backends(d, selector, &s);
    arena_reserve(&d->arena, &d->services, &d->cap_services, d->n_services + 1,
                  sizeof(*d->services));
    d->services[d->n_services++] = s;
}

static struct service *find(const struct directory *d, struct str ns, struct str name)
{
    for (size_t i = 0; i < d->n_services; i++)
        if (str_eqz(ns, d->services[i].ns) && str_eqz(name, d->services[i].name))
            return &d->services[i];
    return NULL;
}

const struct service *directory_find(const struct directory *d, struct str ns, struct str name)
{
    return find(d, ns, name);
}

void directory_add_endpoints(struct directory *d, const struct jsn *endpoints)
{
    struct service *s = find(d, str_of(jsn_get_str(endpoints, "metadata.namespace")),
                             str_of(jsn_get_str(endpoints, "metadata.name")));
    size_t n = 0;

    if (!s || s->backends)
        return;
    JSN_FOR_ITEMS (subset, jsn_key(endpoints, "subsets"))
        n += jsn_len(jsn_key(subset, "addresses"));
    s->backends = arena_calloc(&d->arena, n + 1, sizeof(*s->backends));
    JSN_FOR_ITEMS (subset, jsn_key(endpoints, "subsets")) {
        JSN_FOR_ITEMS (a, jsn_key(subset, "addresses")) {
            s->backends[s->n_backends++] =
                (struct backend){.ip = jsn_get_str(a, "ip"),
                                 .host_name = text_or_null(a, "hostname"),
                                 .ready = true,
                                 .subset = subset};
        }
    }
}

/* A port of an Endpoints subset, by the Service port's name. */
static uint16_t subset_port(const struct service_port *p, const struct jsn *subset)
{
    JSN_FOR_ITEMS (q, jsn_key(subset, "ports")) {
        const char *name = jsn_get_str(q, "name");

        if (streq(name ? name : "", p->name))
            return (uint16_t)jsn_get_int(q, "port", 0);
    }
    return 0;
}

static uint16_t named_port(const struct jsn *pod, const char *name)
{
    JSN_FOR_ITEMS (c, jsn_get(pod, "spec.containers"))
        JSN_FOR_ITEMS (p, jsn_key(c, "ports"))
            if (streq(jsn_get_str(p, "name"), name))
                return (uint16_t)jsn_get_int(p, "containerPort", 0);
    return 0;
}

uint16_t directory_target(const struct service_port *p, const struct backend *b)
{
    const char *name = jsn_text(p->target);

    if (b->subset)
        return subset_port(p, b->subset);
    if (name)
        return named_port(b->pod, name);
    if (jsn_is(p->target, JSN_INT) && p->target->i > 0)
        return (uint16_t)p->target->i;
    return p->port;
}
