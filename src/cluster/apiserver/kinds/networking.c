/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ingresses and network policies.
 *
 * Nothing here routes or filters by them; they are kept for those who do, and checked for their
 * form: hosts, paths and backends of an ingress, ports and peers of a policy.  A policy without
 * policyTypes is about ingress, and about egress if it has such rules.
 */
#include "src/cluster/apiserver/kinds/kinds.h"
#include "src/cluster/apiserver/kinds/labelselector.h"

static void check_host(struct causes *cs, const struct place *host)
{
    const char *text = place_str(host);

    if (text[0] == '\0')
        return;
    if (names_good(FORM_IP, text))
        place_invalid(cs, host, "must be a DNS name, not an IP address");
    check_form(cs, host, strchr(text, '*') ? FORM_WILDCARD_SUBDOMAIN : FORM_DNS_SUBDOMAIN);
}

static void check_backend(struct causes *cs, const struct place *backend)
{
    struct place service = place_key(backend, "service");
    struct place resource = place_key(backend, "resource");
    struct place name = place_key(&service, "name");
    struct place port = place_key(&service, "port");
    struct place port_name = place_key(&port, "name");
    struct place number = place_key(&port, "number");

    if (place_given(&service) && place_given(&resource)) {
        place_invalid_text(cs, backend, "\"\"", "cannot set both resource and service backends");
        return;
    }
    if (!place_given(&service)) {
        if (!place_given(&resource))
            place_invalid_text(cs, backend, "\"\"", "resource or service backend is required");
        return;
    }
    check_form_required(cs, &name, FORM_DNS1035_LABEL);
    if (place_filled(&port_name) && place_int(&number, 0) != 0)
        place_invalid_text(cs, backend, "\"\"", "cannot set both port name & port number");
    else if (place_filled(&port_name))
        check_form(cs, &port_name, FORM_PORT_NAME);
    else if (place_int(&number, 0) != 0)
        check_port(cs, &number);
    else
        place_required(cs, backend, "port name or number is required");
}

static void check_path_text(struct causes *cs, const struct place *path, bool strict)
{
    static const char *const never[] = {"//", "/./", "/../", "%2f", "%2F"};
    static const char *const no_end[] = {"/..", "/."};
    const char *text = place_str(path);

    if (text[0] != '/' && (strict || text[0] != '\0'))
        place_invalid(cs, path, "must be an absolute path");
    if (!strict)
        return;
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (strstr(text, never[i]))
            place_invalid(cs, path, "must not contain '%s'", never[i]);
    for (size_t i = 0; i < ARRAY_LEN(no_end); i++)
        if (ends_with(text, no_end[i]))
            place_invalid(cs, path, "cannot end with '%s'", no_end[i]);
}

static void check_http_path(struct causes *cs, const struct place *item)
{
    static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
    struct place type = place_key(item, "pathType");
    struct place path = place_key(item, "path");
    struct place backend = place_key(item, "backend");

    if (!check_filled(cs, &type, "pathType must be specified"))
        return;
    check_enum(cs, &type, types);
    check_path_text(cs, &path, !streq(place_str(&type), "ImplementationSpecific"));
    check_backend(cs, &backend);
}

static void check_tls(struct causes *cs, const struct place *list)
{
    PLACE_FOR_ITEMS (tls, list) {
        struct place hosts = place_key(&tls, "hosts");
        struct place secret = place_key(&tls, "secretName");

        PLACE_FOR_ITEMS (host, &hosts)
            check_form(cs, &host,
                       strchr(place_str(&host), '*') ? FORM_WILDCARD_SUBDOMAIN
                                                     : FORM_DNS_SUBDOMAIN);
        if (place_filled(&secret))
            check_form(cs, &secret, FORM_DNS_SUBDOMAIN);
    }
}

static void ingress_validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place backend = place_key(&spec, "defaultBackend");
    struct place rules = place_key(&spec, "rules");
    struct place tls = place_key(&spec, "tls");
    struct place class = place_key(&spec, "ingressClassName");

    if (jsn_len(rules.value) == 0 && !place_given(&backend))
        place_invalid_text(cs, &spec, "null",
                           "either `defaultBackend` or `rules` must be specified");
    if (place_given(&backend))
        check_backend(cs, &backend);
    PLACE_FOR_ITEMS (rule, &rules) {
        struct place host = place_key(&rule, "host");
        struct place http = place_key(&rule, "http");
        struct place paths = place_key(&http, "paths");

        check_host(cs, &host);
        if (place_given(&http) && jsn_len(paths.value) == 0)
            place_required(cs, &paths, NULL);
        PLACE_FOR_ITEMS (path, &paths)
            check_http_path(cs, &path);
    }
    check_tls(cs, &tls);
    check_form(cs, &class, FORM_DNS_SUBDOMAIN);
}

static void check_block(struct causes *cs, const struct place *block)
{
    struct place cidr = place_key(block, "cidr");
    struct place except = place_key(block, "except");

    if (check_filled(cs, &cidr, NULL) && !check_is_cidr(place_str(&cidr)))
        place_invalid(cs, &cidr, "not a valid CIDR");
    PLACE_FOR_ITEMS (item, &except) {
        if (!check_is_cidr(place_str(&item)))
            place_invalid(cs, &item, "not a valid CIDR");
    }
}

static void check_peers(struct causes *cs, const struct place *peers)
{
    PLACE_FOR_ITEMS (peer, peers) {
        struct place pods = place_key(&peer, "podSelector");
        struct place namespaces = place_key(&peer, "namespaceSelector");
        struct place block = place_key(&peer, "ipBlock");
        int n = place_given(&pods) + place_given(&namespaces) + place_given(&block);

        labelselector_check(cs, &pods);
        labelselector_check(cs, &namespaces);
        if (place_given(&block))
            check_block(cs, &block);
        if (n == 0)
            place_required(cs, &peer, "must specify a peer");
        else if (n > 1 && place_given(&block))
            place_forbidden(cs, &peer, "may not specify both ipBlock and another peer");
    }
}

static void check_traffic(struct causes *cs, const struct place *rules, const char *peers_key)
{
    static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};

    PLACE_FOR_ITEMS (rule, rules) {
        struct place ports = place_key(&rule, "ports");
        struct place peers = place_key(&rule, peers_key);

        PLACE_FOR_ITEMS (item, &ports) {
            struct place protocol = place_key(&item, "protocol");
            struct place port = place_key(&item, "port");

            check_enum(cs, &protocol, protocols);
            if (place_given(&port))
                check_port_or_name(cs, &port);
        }
        check_peers(cs, &peers);
    }
}

/* Policies are about ingress, and about egress if they have such rules. */
static void policy_defaults(struct arena *a, struct jsn *object)
{
    struct jsn *spec = jsn_ensure_object(a, object, "spec");
    struct jsn *types;

    if (jsn_len(jsn_key(spec, "policyTypes")) > 0)
        return;
    types = jsn_array(a);
    jsn_append(a, types, jsn_string(a, "Ingress"));
    if (jsn_len(jsn_key(spec, "egress")) > 0)
        jsn_append(a, types, jsn_string(a, "Egress"));
    jsn_set(a, spec, "policyTypes", types);
}

static void policy_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const known[] = {"Ingress", "Egress", NULL};
    struct place root = place_root(object);
    struct place spec = place_key(&root, "spec");
    struct place selector = place_key(&spec, "podSelector");
    struct place ingress = place_key(&spec, "ingress");
    struct place egress = place_key(&spec, "egress");
    struct place types = place_key(&spec, "policyTypes");

    labelselector_check(cs, &selector);
    check_traffic(cs, &ingress, "from");
    check_traffic(cs, &egress, "to");
    if (jsn_len(types.value) > 2) {
        place_invalid(cs, &types, "may not specify more than two policyTypes");
        return;
    }
    PLACE_FOR_ITEMS (type, &types)
        check_enum(cs, &type, known);
}

const struct strategy strategy_ingresses = {
    .resource = "ingresses.networking.k8s.io",
    .status_reset = true,
    .validate = ingress_validate,
};

const struct strategy strategy_networkpolicies = {
    .resource = "networkpolicies.networking.k8s.io",
    .set_defaults = policy_defaults,
    .validate = policy_validate,
};
