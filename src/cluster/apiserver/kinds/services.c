/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services: defaults and what the server decides, i.e. addresses, families and node ports.
 *
 * clusterIP and clusterIPs say the same thing twice and are kept in step: a writer may give either.
 * On an update what was allocated before is kept where the writer leaves it out, and dropped where
 * the new type has no use for it.  One address family (IPv4) is configured.
 */
#include "src/cluster/apiserver/kinds/services.h"
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/address.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/service_alloc.h"

static bool has_type(const struct jsn *spec, const char *type)
{
    return streq(jsn_get_str(spec, "type"), type);
}

static bool has_node_ports(const struct jsn *spec)
{
    return has_type(spec, "NodePort") || has_type(spec, "LoadBalancer");
}

static bool wants_node_ports(const struct jsn *spec)
{
    return has_type(spec, "NodePort") ||
           (has_type(spec, "LoadBalancer") &&
            jsn_get_bool(spec, "allocateLoadBalancerNodePorts", true));
}

static bool wants_health_port(const struct jsn *spec)
{
    return has_type(spec, "LoadBalancer") &&
           streq(jsn_get_str(spec, "externalTrafficPolicy"), "Local");
}

static bool unset_port(const struct jsn *v)
{
    return !v || v->type == JSN_NULL || (v->type == JSN_INT && v->i == 0) ||
           (v->type == JSN_STRING && v->s.n == 0);
}

static void default_affinity(struct arena *a, struct jsn *spec)
{
    const char *affinity = kind_text(spec, "sessionAffinity");

    if (affinity[0] == '\0' || streq(affinity, "None"))
        (void)jsn_del(spec, "sessionAffinityConfig");
    else if (streq(affinity, "ClientIP") &&
             !jsn_get(spec, "sessionAffinityConfig.clientIP.timeoutSeconds"))
        jsn_set_path(a, spec, "sessionAffinityConfig.clientIP.timeoutSeconds", jsn_int(a, 10800));
}

static void set_defaults(struct arena *a, struct jsn *service)
{
    struct jsn *spec = jsn_ensure_object(a, service, "spec");

    default_affinity(a, spec);
    JSN_FOR_ITEMS (port, jsn_key(spec, "ports")) {
        if (unset_port(jsn_key(port, "targetPort")))
            jsn_set_int(a, port, "targetPort", jsn_get_int(port, "port", 0));
    }
    if (has_node_ports(spec) && !jsn_key(spec, "externalTrafficPolicy"))
        jsn_set_str(a, spec, "externalTrafficPolicy", "Cluster");
    if (has_type(spec, "LoadBalancer") && !jsn_key(spec, "allocateLoadBalancerNodePorts"))
        jsn_set_bool(a, spec, "allocateLoadBalancerNodePorts", true);
    if (!has_type(spec, "ExternalName") && !jsn_key(spec, "internalTrafficPolicy"))
        jsn_set_str(a, spec, "internalTrafficPolicy", "Cluster");
}

static struct jsn *one_string(struct arena *a, const char *text)
{
    struct jsn *list = jsn_array(a);

    jsn_append(a, list, jsn_string(a, text));
    return list;
}

/* Bring clusterIP and clusterIPs into step; clusterIPs alone is not enough for a new service. */
static void join_addresses(struct arena *a, struct jsn *spec, const struct jsn *old)
{
    const char *ip = kind_text(spec, "clusterIP");
    struct jsn *ips = jsn_key(spec, "clusterIPs");
    const struct jsn *old_ips = jsn_key(old, "clusterIPs");

    if (ip[0] != '\0' && (jsn_len(ips) == 0 || (old && jsn_equal(ips, old_ips) &&
                                                !streq(ip, jsn_get_str(old, "clusterIP")))))
        jsn_set(a, spec, "clusterIPs", one_string(a, ip));
    else if (ip[0] == '\0' && old && jsn_len(ips) > 0 && jsn_equal(ips, old_ips))
        jsn_set_str(a, spec, "clusterIP", jsn_text(jsn_item(ips, 0)));
}

static void set_families(struct arena *a, struct jsn *spec)
{
    bool open = service_is_headless(spec) && jsn_len(jsn_key(spec, "selector")) == 0;
    struct jsn *families = jsn_key(spec, "ipFamilies");

    if (!jsn_key(spec, "ipFamilyPolicy"))
        jsn_set_str(a, spec, "ipFamilyPolicy", open ? "RequireDualStack" : "SingleStack");
    if (jsn_len(families) == 0) {
        families = one_string(a, "IPv4");
        jsn_set(a, spec, "ipFamilies", families);
    }
    if (open && jsn_len(families) == 1 && has_type(spec, "ClusterIP") &&
        streq(jsn_get_str(spec, "ipFamilyPolicy"), "RequireDualStack"))
        jsn_append(a, families,
                   jsn_string(a, streq(jsn_text(jsn_item(families, 0)), "IPv4") ? "IPv6" : "IPv4"));
}

/* What this cluster cannot give: a second or another family. */
static void check_families(struct causes *cs, const struct jsn *spec)
{
    const struct jsn *families = jsn_key(spec, "ipFamilies");

    if (service_is_headless(spec) && jsn_len(jsn_key(spec, "selector")) == 0)
        return;
    if (streq(jsn_get_str(spec, "ipFamilyPolicy"), "RequireDualStack"))
        cause_invalid(cs, "spec.ipFamilyPolicy", jsn_key(spec, "ipFamilyPolicy"),
                      "this cluster is not configured for dual-stack services");
    JSN_FOR_ITEMS (family, families) {
        if (streq(jsn_text(family), "IPv6"))
            cause_invalid(cs, cause_path(cs, "spec.ipFamilies[%zu]", family_i), family,
                          "not configured on this cluster");
    }
}

static void allocate_address(struct api_call *c, struct causes *cs, struct jsn *spec,
                             struct service_pool *pool)
{
    const char *ip = kind_text(spec, "clusterIP");
    const char *why;

    if (streq(ip, "None") || (ip[0] == '\0' && jsn_len(jsn_key(spec, "clusterIPs")) > 0))
        return; /* nothing to give, or validation refuses it */
    if (ip[0] == '\0') {
        ip = service_pool_any_address(&c->arena, pool);
        if (ip[0] == '\0') {
            cause_invalid_text(cs, "spec.clusterIPs", "null",
                               "failed to allocate a serviceIP: range is full");
            return;
        }
        jsn_set_str(&c->arena, spec, "clusterIP", ip);
        jsn_set(&c->arena, spec, "clusterIPs", one_string(&c->arena, ip));
        return;
    }
    if (!names_good(FORM_IP, ip))
        return; /* validation says so */
    why = service_pool_take_address(&c->arena, pool, ip);
    if (why)
        cause_invalid_text(cs, "spec.clusterIPs",
                           gotext_value(&c->arena, jsn_key(spec, "clusterIPs")),
                           "failed to allocate IP %s: %s", ip, why);
}

static void allocate_port(struct api_call *c, struct causes *cs, struct jsn *object,
                          const char *key, const char *path, struct service_pool *pool)
{
    int64_t port = jsn_get_int(object, key, 0);
    const char *why;

    if (port == 0) {
        port = service_pool_any_port(pool);
        if (port == 0)
            cause_invalid_text(cs, path, "0", "failed to allocate a nodePort: range is full");
        else
            jsn_set_int(&c->arena, object, key, port);
        return;
    }
    why = service_pool_take_port(pool, port);
    if (why)
        cause_invalid(cs, path, jsn_key(object, key), "%s", why);
}

/* Two ports with the same number but different protocols share one node port. */
static int64_t shared_node_port(const struct jsn *ports, size_t before, const struct jsn *port)
{
    for (size_t i = 0; i < before; i++) {
        const struct jsn *other = jsn_item(ports, i);

        if (jsn_get_int(other, "port", 0) == jsn_get_int(port, "port", -1) &&
            !streq(jsn_get_str(other, "protocol"), jsn_get_str(port, "protocol")))
            return jsn_get_int(other, "nodePort", 0);
    }
    return 0;
}

static void allocate_ports(struct api_call *c, struct causes *cs, struct jsn *spec,
                           struct service_pool *pool)
{
    struct jsn *ports = jsn_key(spec, "ports");

    if (!has_node_ports(spec))
        return;
    JSN_FOR_ITEMS (port, ports) {
        int64_t given = jsn_get_int(port, "nodePort", 0);
        int64_t shared = shared_node_port(ports, port_i, port);

        if (given == 0 && shared > 0)
            jsn_set_int(&c->arena, port, "nodePort", shared);
        else if ((given != 0 && given != shared) || (given == 0 && wants_node_ports(spec)))
            allocate_port(c, cs, port, "nodePort",
                          cause_path(cs, "spec.ports[%zu].nodePort", port_i), pool);
    }
    if (wants_health_port(spec))
        allocate_port(c, cs, spec, "healthCheckNodePort", "spec.healthCheckNodePort", pool);
}

static int allocate(struct api_call *c, struct jsn *service, const struct jsn *old)
{
    struct causes cs = {.arena = &c->arena};
    struct jsn *spec = jsn_key(service, "spec");
    struct service_pool *pool;
    int r = service_pool_read(c, kind_text(old, "metadata.uid"), &pool);

    if (r < 0)
        return r;
    if (!has_type(spec, "ExternalName")) {
        check_families(&cs, spec);
        set_families(&c->arena, spec);
        allocate_address(c, &cs, spec, pool);
    }
    allocate_ports(c, &cs, spec, pool);
    return status_invalid(c, kind_text(service, "metadata.name"), &cs);
}

static int prepare_create(struct api_call *c, struct jsn *service)
{
    struct jsn *spec = jsn_ensure_object(&c->arena, service, "spec");

    jsn_set(&c->arena, service, "status", jsn_object(&c->arena));
    jsn_set_path(&c->arena, service, "status.loadBalancer", jsn_object(&c->arena));
    join_addresses(&c->arena, spec, NULL);
    return allocate(c, service, NULL);
}

/* Fields of the old type that the writer just sent back with the new one. */
static void drop_of_old_type(struct jsn *spec, const struct jsn *old)
{
    static const struct {
        const char *field;
        bool (*wanted)(const struct jsn *spec);
    } fields[] = {
        {"externalTrafficPolicy", has_node_ports},
        {"healthCheckNodePort", wants_health_port},
    };

    if (has_type(spec, "ExternalName") && !has_type(old, "ExternalName")) {
        static const char *const addresses[] = {"clusterIP", "clusterIPs", "ipFamilies",
                                                "ipFamilyPolicy", "internalTrafficPolicy"};

        for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
            if (jsn_equal(jsn_key(spec, addresses[i]), jsn_key(old, addresses[i])))
                (void)jsn_del(spec, addresses[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!fields[i].wanted(spec) && fields[i].wanted(old))
            (void)jsn_del(spec, fields[i].field);
    if (!has_type(spec, "LoadBalancer") && has_type(old, "LoadBalancer"))
        (void)jsn_del(spec, "allocateLoadBalancerNodePorts");
    if (!has_node_ports(spec) && has_node_ports(old))
        JSN_FOR_ITEMS (port, jsn_key(spec, "ports")) {
            (void)jsn_del(port, "nodePort");
        }
}

static int64_t old_node_port(const struct jsn *old, const struct jsn *port)
{
    JSN_FOR_ITEMS (was, jsn_key(old, "ports")) {
        if (jsn_get_int(was, "port", 0) == jsn_get_int(port, "port", -1) &&
            streq(jsn_get_str(was, "protocol"), jsn_get_str(port, "protocol")))
            return jsn_get_int(was, "nodePort", 0);
    }
    return 0;
}

static bool uses_port(const struct jsn *spec, int64_t node_port)
{
    JSN_FOR_ITEMS (port, jsn_key(spec, "ports")) {
        if (jsn_get_int(port, "nodePort", 0) == node_port)
            return true;
    }
    return false;
}

/* What was allocated before stays where the writer left it out. */
static void keep_allocated(struct arena *a, struct jsn *spec, const struct jsn *old)
{
    static const char *const addresses[] = {"clusterIP", "clusterIPs", "ipFamilies",
                                            "ipFamilyPolicy"};
    bool bare =
        kind_text(spec, "clusterIP")[0] == '\0' && jsn_len(jsn_key(spec, "clusterIPs")) == 0;

    if (!has_type(spec, "ExternalName") && !has_type(old, "ExternalName"))
        for (size_t i = 0; i < ARRAY_LEN(addresses); i++)
            if ((i >= 2 || bare) && !jsn_key(spec, addresses[i]))
                kind_keep(a, spec, old, addresses[i]);
    if (has_node_ports(spec) && has_node_ports(old))
        JSN_FOR_ITEMS (port, jsn_key(spec, "ports")) {
            int64_t was = old_node_port(old, port);

            if (jsn_get_int(port, "nodePort", 0) == 0 && was > 0 && !uses_port(spec, was))
                jsn_set_int(a, port, "nodePort", was);
        }
    if (wants_health_port(spec) && wants_health_port(old) && !jsn_key(spec, "healthCheckNodePort"))
        kind_keep(a, spec, old, "healthCheckNodePort");
}

static int prepare_update(struct api_call *c, struct jsn *service, const struct jsn *old)
{
    struct jsn *spec = jsn_ensure_object(&c->arena, service, "spec");
    const struct jsn *old_spec = jsn_key(old, "spec");

    if (check_same(spec, old_spec))
        return 0;
    join_addresses(&c->arena, spec, old_spec);
    drop_of_old_type(spec, old_spec);
    keep_allocated(&c->arena, spec, old_spec);
    if (!streq(jsn_get_str(spec, "clusterIP"), jsn_get_str(old_spec, "clusterIP")) &&
        kind_text(old_spec, "clusterIP")[0] != '\0' && kind_text(spec, "clusterIP")[0] != '\0')
        return 0; /* validation refuses it: nothing to allocate */
    return allocate(c, service, old);
}

const struct strategy strategy_services = {
    .resource = "services",
    .names = NAME_LABEL,
    .no_generation = true,
    .status_reset = true,
    .create_on_update = true,
    .deletes_to_object = true,
    .set_defaults = set_defaults,
    .prepare_create = prepare_create,
    .prepare_update = prepare_update,
    .validate = services_validate,
    .validate_update = services_validate_update,
};
