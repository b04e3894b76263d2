/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Validation of services: ports, type, affinity, addresses, families and traffic policies, and that
 * an address once given does not change.
 *
 * Runs after the server has decided what was left to it (services.c), so a bad address is named
 * here and a taken one there.
 */
#include "src/base/map.h"
#include "src/cluster/apiserver/gotext.h"
#include "src/cluster/apiserver/kinds/address.h"
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/services.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
static char present[1];

bool service_is_headless(const struct jsn *spec)
{
    const struct jsn *ips = jsn_key(spec, "clusterIPs");

    if (jsn_len(ips) == 0)
        return streq(jsn_get_str(spec, "clusterIP"), "None");
    return jsn_len(ips) == 1 && streq(jsn_text(jsn_item(ips, 0)), "None");
}

static bool has_type(const struct place *spec, const char *type)
{
    return streq(jsn_get_str(spec->value, "type"), type);
}

static void check_external_name(struct causes *cs, const struct place *spec)
{
    static const char *const unset[] = {"clusterIPs", "ipFamilies", "ipFamilyPolicy"};
    struct place name = place_key(spec, "externalName");
    struct str text = str_of(place_str(&name));
    struct name_faults f;

    for (size_t i = 0; i < ARRAY_LEN(unset); i++) {
        struct place at = place_key(spec, unset[i]);

        if (place_given(&at))
            place_forbidden(cs, &at, "may not be set for ExternalName services");
    }
    if (str_ends(text, "."))
        text.n--;
    if (text.n == 0) {
        place_required(cs, &name, NULL);
        return;
    }
    f = names_check(FORM_DNS_SUBDOMAIN, text);
    for (size_t i = 0; i < f.n; i++)
        place_invalid(cs, &name, "%s", f.text[i]);
}

static void check_type(struct causes *cs, const struct place *spec)
{
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                        NULL};
    struct place type = place_key(spec, "type");
    struct place ips = place_key(spec, "clusterIPs");
    struct place first = place_item(&ips, 0);

    if (service_is_headless(spec->value) &&
        (has_type(spec, "LoadBalancer") || has_type(spec, "NodePort")))
        place_invalid_text(cs, &first, "\"None\"", "may not be set to 'None' for %s services",
                           place_str(&type));
    if (has_type(spec, "ExternalName"))
        check_external_name(cs, spec);
    check_enum_required(cs, &type, types);
}

static void check_port_entry(struct causes *cs, const struct place *port, bool named,
                             struct map *names)
{
    struct place name = place_key(port, "name");
    struct place number = place_key(port, "port");
    struct place protocol = place_key(port, "protocol");
    struct place target = place_key(port, "targetPort");
    struct place app = place_key(port, "appProtocol");

    if (named && !place_filled(&name))
        place_required(cs, &name, NULL);
    if (place_filled(&name)) {
        check_form(cs, &name, FORM_DNS_LABEL);
        if (!map_put(names, str_of(place_str(&name)), present))
            place_duplicate(cs, &name);
    }
    check_port(cs, &number);
    check_enum_required(cs, &protocol, protocols);
    check_port_or_name(cs, &target);
    check_form(cs, &app, FORM_QUALIFIED);
}

static void check_node_port(struct causes *cs, const struct place *spec, const struct place *port,
                            struct map *taken)
{
    struct place at = place_key(port, "nodePort");
    struct place protocol = place_key(port, "protocol");
    char *key;

    if (place_int(&at, 0) == 0)
        return;
    if (has_type(spec, "ClusterIP"))
        place_forbidden(cs, &at, "may not be used when `type` is 'ClusterIP'");
    key = arena_printf(cs->arena, "%s/%lld", place_str(&protocol), (long long)place_int(&at, 0));
    if (!map_put(taken, str_of(key), present))
        place_duplicate(cs, &at);
}

static void check_ports(struct causes *cs, const struct place *spec)
{
    AUTO(map_done) struct map names = {0};
    AUTO(map_done) struct map node_ports = {0};
    AUTO(map_done) struct map numbers = {0};
    struct place ports = place_key(spec, "ports");
    bool named = jsn_len(ports.value) > 1;

    if (jsn_len(ports.value) == 0 && !service_is_headless(spec->value) &&
        !has_type(spec, "ExternalName"))
        place_required(cs, &ports, NULL);
    PLACE_FOR_ITEMS (port, &ports) {
        struct place protocol = place_key(&port, "protocol");
        struct place number = place_key(&port, "port");
        long long n = (long long)place_int(&number, 0);
        char *key = arena_printf(cs->arena, "%s/%lld", place_str(&protocol), n);

        check_port_entry(cs, &port, named, &names);
        check_node_port(cs, spec, &port, &node_ports);
        if (!map_put(&numbers, str_of(key), present))
            cause_add(cs, "FieldValueDuplicate", place_text(cs, &port),
                      "Duplicate value: core.ServicePort{Name:\"\", Protocol:\"%s\", "
                      "AppProtocol:(*string)(nil), Port:%lld, TargetPort:intstr.IntOrString{"
                      "Type:0, IntVal:0, StrVal:\"\"}, NodePort:0}",
                      place_str(&protocol), n);
    }
}

static void check_affinity(struct causes *cs, const struct place *spec)
{
    static const char *const kinds[] = {"ClientIP", "None", NULL};
    struct place affinity = place_key(spec, "sessionAffinity");
    struct place config = place_key(spec, "sessionAffinityConfig");
    struct place client = place_key(&config, "clientIP");
    struct place timeout = place_key(&client, "timeoutSeconds");
    int64_t s = place_int(&timeout, 0);

    check_enum_required(cs, &affinity, kinds);
    if (streq(place_str(&affinity), "ClientIP") && (s <= 0 || s > 86400))
        place_invalid(cs, &timeout, "must be greater than 0 and less than 86400");
}

static void check_addresses(struct causes *cs, const struct place *spec)
{
    struct place ip = place_key(spec, "clusterIP");
    struct place ips = place_key(spec, "clusterIPs");
    const char *shown = gotext_value(cs->arena, ips.value);
    struct place first = place_item(&ips, 0);
    struct place second = place_item(&ips, 1);

    if (place_filled(&ip) && !streq(place_str(&ip), place_str(&first)))
        place_invalid_text(cs, &ips, shown, "first value must match `clusterIP`");
    if (!place_filled(&ip) && jsn_len(ips.value) > 0)
        place_invalid_text(cs, &ips, shown, "must be empty when `clusterIP` is not specified");
    PLACE_FOR_ITEMS (at, &ips) {
        if (at.index == 0 && streq(place_str(&at), "None")) {
            if (jsn_len(ips.value) > 1)
                place_invalid_text(cs, &ips, shown, "'None' must be the first and only value");
            continue;
        }
        check_form(cs, &at, FORM_IP);
    }
    if (jsn_len(ips.value) == 2 && !streq(place_str(&first), "None") &&
        address_is_ipv6(place_str(&first)) == address_is_ipv6(place_str(&second)))
        place_invalid_text(cs, &ips, shown, "may specify no more than one IP for each IP family");
    if (jsn_len(ips.value) > 2)
        place_invalid_text(cs, &ips, shown, "may only hold up to 2 values");
}

static void check_families(struct causes *cs, const struct place *spec)
{
    static const char *const known[] = {"IPv4", "IPv6", NULL};
    static const char *const policies[] = {"PreferDualStack", "RequireDualStack", "SingleStack",
                                           NULL};
    AUTO(map_done) struct map seen = {0};
    struct place families = place_key(spec, "ipFamilies");
    struct place policy = place_key(spec, "ipFamilyPolicy");

    PLACE_FOR_ITEMS (family, &families) {
        check_enum(cs, &family, known);
        if (!map_put(&seen, str_of(place_str(&family)), present))
            place_duplicate(cs, &family);
    }
    check_enum(cs, &policy, policies);
}

static void check_traffic(struct causes *cs, const struct place *spec)
{
    static const char *const policies[] = {"Cluster", "Local", NULL};
    struct place external = place_key(spec, "externalTrafficPolicy");
    struct place internal = place_key(spec, "internalTrafficPolicy");
    struct place health = place_key(spec, "healthCheckNodePort");
    bool outside = has_type(spec, "LoadBalancer") || has_type(spec, "NodePort");

    if (place_filled(&external) && !outside)
        place_invalid(cs, &external, "may only be set for externally-accessible services");
    check_enum(cs, &external, policies);
    check_enum(cs, &internal, policies);
    if (place_int(&health, 0) != 0 &&
        !(has_type(spec, "LoadBalancer") && streq(place_str(&external), "Local")))
        place_invalid(cs, &health,
                      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` "
                      "is 'Local'");
}

static void check_load_balancer(struct causes *cs, const struct place *spec)
{
    static const char *const only[] = {"allocateLoadBalancerNodePorts", "loadBalancerClass"};
    struct place ranges = place_key(spec, "loadBalancerSourceRanges");

    for (size_t i = 0; i < ARRAY_LEN(only); i++) {
        struct place at = place_key(spec, only[i]);

        if (place_given(&at) && !has_type(spec, "LoadBalancer"))
            place_forbidden(cs, &at, "may only be used when `type` is 'LoadBalancer'");
    }
    if (jsn_len(ranges.value) > 0 && !has_type(spec, "LoadBalancer"))
        place_forbidden(cs, &ranges, "may only be used when `type` is 'LoadBalancer'");
    PLACE_FOR_ITEMS (range, &ranges) {
        if (!check_is_cidr(place_str(&range)))
            place_invalid(cs, &range,
                          "must be a list of IP ranges. For example, "
                          "10.240.0.0/24,10.250.0.0/24 ");
    }
}

void services_validate(struct causes *cs, const struct jsn *service)
{
    struct place root = place_root(service);
    struct place spec = place_key(&root, "spec");
    struct place selector = place_key(&spec, "selector");
    struct place external = place_key(&spec, "externalIPs");

    check_type(cs, &spec);
    check_ports(cs, &spec);
    check_labels(cs, &selector);
    check_affinity(cs, &spec);
    if (!has_type(&spec, "ExternalName")) {
        check_addresses(cs, &spec);
        check_families(cs, &spec);
    }
    PLACE_FOR_ITEMS (ip, &external)
        address_check(cs, &ip);
    check_load_balancer(cs, &spec);
    check_traffic(cs, &spec);
}

void services_validate_update(struct causes *cs, const struct jsn *service, const struct jsn *old)
{
    const struct jsn *old_spec = jsn_key(old, "spec");
    const struct jsn *old_ips = jsn_key(old_spec, "clusterIPs");
    struct place root = place_root(service);
    struct place spec = place_key(&root, "spec");
    struct place ips = place_key(&spec, "clusterIPs");
    struct place first = place_item(&ips, 0);
    const char *shown = gotext_value(cs->arena, ips.value);

    if (has_type(&spec, "ExternalName") || streq(jsn_get_str(old_spec, "type"), "ExternalName") ||
        jsn_len(old_ips) == 0)
        return;
    if (jsn_len(ips.value) == 0)
        place_invalid_text(cs, &first, shown, "primary clusterIP can not be unset");
    else if (!jsn_equal(first.value, jsn_item(old_ips, 0)))
        place_invalid_text(cs, &first, shown, "may not change once set");
}
