/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Endpoints and EndpointSlices: the addresses behind services, written by controllers.
 *
 * An entry must have an address that traffic can be sent to; ports need names where there are
 * several. The address type of a slice is fixed for life.  Slices are bounded (1000 endpoints, 100
 * addresses each), as whoever writes them is used to.
 */
#include "src/cluster/apiserver/kinds/address.h"
#include "src/cluster/apiserver/kinds/kinds.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};

static void check_addresses(struct causes *cs, const struct place *list)
{
    PLACE_FOR_ITEMS (address, list) {
        struct place ip = place_key(&address, "ip");
        struct place hostname = place_key(&address, "hostname");
        struct place node = place_key(&address, "nodeName");

        address_check(cs, &ip);
        if (place_filled(&hostname))
            check_form(cs, &hostname, FORM_DNS_LABEL);
        check_form(cs, &node, FORM_DNS_SUBDOMAIN);
    }
}

static void check_ports(struct causes *cs, const struct place *ports)
{
    bool named = jsn_len(ports->value) > 1;

    PLACE_FOR_ITEMS (port, ports) {
        struct place name = place_key(&port, "name");
        struct place number = place_key(&port, "port");
        struct place protocol = place_key(&port, "protocol");
        struct place app = place_key(&port, "appProtocol");

        if (named || place_filled(&name))
            check_form_required(cs, &name, FORM_DNS_LABEL);
        check_port(cs, &number);
        check_enum_required(cs, &protocol, protocols);
        check_form(cs, &app, FORM_QUALIFIED);
    }
}

static void endpoints_validate(struct causes *cs, const struct jsn *object)
{
    struct place root = place_root(object);
    struct place subsets = place_key(&root, "subsets");

    PLACE_FOR_ITEMS (subset, &subsets) {
        struct place ready = place_key(&subset, "addresses");
        struct place not_ready = place_key(&subset, "notReadyAddresses");
        struct place ports = place_key(&subset, "ports");

        if (jsn_len(ready.value) == 0 && jsn_len(not_ready.value) == 0)
            place_required(cs, &subset, "must specify `addresses` or `notReadyAddresses`");
        check_addresses(cs, &ready);
        check_addresses(cs, &not_ready);
        check_ports(cs, &ports);
    }
}

static void check_slice_address(struct causes *cs, const struct place *at, const char *type)
{
    if (streq(type, "IPv4")) {
        check_form(cs, at, FORM_IPV4);
        if (names_good(FORM_IPV4, place_str(at)))
            address_check(cs, at);
    } else if (streq(type, "IPv6")) {
        address_check(cs, at);
    } else if (streq(type, "FQDN")) {
        check_form(cs, at, FORM_DNS_SUBDOMAIN);
    }
}

static void check_endpoints(struct causes *cs, const struct place *list, const char *type)
{
    PLACE_FOR_ITEMS (endpoint, list) {
        struct place addresses = place_key(&endpoint, "addresses");
        struct place hostname = place_key(&endpoint, "hostname");
        size_t n = jsn_len(addresses.value);

        if (n == 0)
            place_required(cs, &addresses, "must contain at least 1 address");
        if (n > 100)
            cause_add(cs, "FieldValueTooMany", place_text(cs, &addresses),
                      "Too many: %zu: must have at most 100 items", n);
        PLACE_FOR_ITEMS (at, &addresses)
            check_slice_address(cs, &at, type);
        check_form(cs, &hostname, FORM_DNS_LABEL);
    }
}

static void slice_validate(struct causes *cs, const struct jsn *object)
{
    static const char *const types[] = {"FQDN", "IPv4", "IPv6", NULL};
    struct place root = place_root(object);
    struct place type = place_key(&root, "addressType");
    struct place endpoints = place_key(&root, "endpoints");
    size_t n = jsn_len(endpoints.value);

    if (check_filled(cs, &type, NULL))
        check_enum(cs, &type, types);
    if (n > 1000)
        cause_add(cs, "FieldValueTooMany", "endpoints",
                  "Too many: %zu: must have at most 1000 items", n);
    check_endpoints(cs, &endpoints, place_str(&type));
}

static void slice_validate_update(struct causes *cs, const struct jsn *object,
                                  const struct jsn *old)
{
    struct place root = place_root(object);
    struct place type = place_key(&root, "addressType");

    check_immutable(cs, &type, jsn_key(old, "addressType"));
}

const struct strategy strategy_endpoints = {
    .resource = "endpoints",
    .no_generation = true,
    .create_on_update = true,
    .validate = endpoints_validate,
};

const struct strategy strategy_endpointslices = {
    .resource = "endpointslices.discovery.k8s.io",
    .validate = slice_validate,
    .validate_update = slice_validate_update,
};
