/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of services, endpoints, endpoint slices, ingresses and network policies.
 *
 * EXTERNAL-IP of a load balancer is what its status says, "<pending>" until then; other services
 * show their externalIPs.  Lists of addresses and hosts are cut after three, with the number of
 * those left out.  An IPv6 address with a port stands in brackets.
 */
#include "src/cluster/apiserver/printers/cells.h"

/* Lists of addresses show this many, then "+ n more...". */
#define SHOWN_MAX 3

struct some {
    struct buf text;
    size_t n;
};

static void some_add(struct some *l, const char *text)
{
    if (l->n < SHOWN_MAX)
        buf_printf(&l->text, "%s%s", l->n > 0 ? "," : "", text);
    l->n++;
}

static void cell_some(struct cells *c, struct some *l, const char *none)
{
    if (l->n == 0)
        cell_text(c, none);
    else if (l->n > SHOWN_MAX)
        cell_textf(c, "%s + %zu more...", buf_str(&l->text), l->n - SHOWN_MAX);
    else
        cell_text(c, buf_str(&l->text));
    buf_done(&l->text);
}

static void join(struct buf *b, const char *text)
{
    buf_printf(b, "%s%s", b->n > 0 ? "," : "", text);
}

/* Addresses or names that a load balancer gave. */
static void add_balancer(struct buf *b, const struct jsn *object)
{
    JSN_FOR_ITEMS (ingress, jsn_get(object, "status.loadBalancer.ingress")) {
        const char *ip = cells_text(ingress, "ip");

        join(b, ip[0] != '\0' ? ip : cells_text(ingress, "hostname"));
    }
}

static void cell_external(struct cells *c)
{
    AUTO(buf_done) struct buf b = {0};
    const char *type = cells_text(c->object, "spec.type");

    if (streq(type, "ExternalName")) {
        cell_at(c, "spec.externalName", "");
        return;
    }
    if (streq(type, "LoadBalancer"))
        add_balancer(&b, c->object);
    JSN_FOR_ITEMS (ip, jsn_get(c->object, "spec.externalIPs"))
        join(&b, jsn_text(ip) ? jsn_text(ip) : "");
    if (b.n > 0)
        cell_text(c, buf_str(&b));
    else
        cell_text(c, streq(type, "LoadBalancer") ? "<pending>" : "<none>");
}

static void cell_ports(struct cells *c)
{
    AUTO(buf_done) struct buf b = {0};

    JSN_FOR_ITEMS (port, jsn_get(c->object, "spec.ports")) {
        int64_t node = jsn_get_int(port, "nodePort", 0);

        buf_printf(&b, "%s%lld", port_i > 0 ? "," : "", (long long)jsn_get_int(port, "port", 0));
        if (node > 0)
            buf_printf(&b, ":%lld", (long long)node);
        buf_printf(&b, "/%s", cells_text(port, "protocol"));
    }
    cell_text(c, b.n > 0 ? buf_str(&b) : "<none>");
}

static void print_service(struct cells *c)
{
    const char *ip = jsn_text(jsn_item(jsn_get(c->object, "spec.clusterIPs"), 0));

    cell_name(c);
    cell_at(c, "spec.type", "");
    cell_text(c, ip ? ip : "<none>");
    cell_external(c);
    cell_ports(c);
    cell_age(c);
    cell_labels(c, jsn_get(c->object, "spec.selector"));
}

static const struct printer_column service_columns[] = {
    COLUMN_NAME,
    {"Type", "string", "", "How the service is exposed.", 0},
    {"Cluster-IP", "string", "", "Address of the service.", 0},
    {"External-IP", "string", "", "Addresses that lead to it from outside.", 0},
    {"Port(s)", "string", "", "Ports of the service, with node ports and protocols.", 0},
    COLUMN_AGE,
    COLUMN_SELECTOR,
};

const struct printer printer_services = {
    .resource = "services",
    .columns = service_columns,
    .n_columns = ARRAY_LEN(service_columns),
    .print = print_service,
};

static void add_subset(struct arena *a, struct some *l, const struct jsn *subset)
{
    const struct jsn *addresses = jsn_key(subset, "addresses");
    const struct jsn *ports = jsn_key(subset, "ports");

    JSN_FOR_ITEMS (port, ports)
        JSN_FOR_ITEMS (address, addresses) {
            const char *ip = cells_text(address, "ip");
            bool v6 = strchr(ip, ':');

            some_add(l, arena_printf(a, "%s%s%s:%lld", v6 ? "[" : "", ip, v6 ? "]" : "",
                                     (long long)jsn_get_int(port, "port", 0)));
        }
    if (jsn_len(ports) == 0)
        JSN_FOR_ITEMS (address, addresses)
            some_add(l, cells_text(address, "ip"));
}

static void print_endpoints(struct cells *c)
{
    struct some l = {0};

    cell_name(c);
    JSN_FOR_ITEMS (subset, jsn_key(c->object, "subsets"))
        add_subset(c->arena, &l, subset);
    cell_some(c, &l, jsn_len(jsn_key(c->object, "subsets")) == 0 ? "<none>" : "");
    cell_age(c);
}

static const struct printer_column endpoint_columns[] = {
    COLUMN_NAME,
    {"Endpoints", "string", "", "Addresses and ports behind the service.", 0},
    COLUMN_AGE,
};

const struct printer printer_endpoints = {
    .resource = "endpoints",
    .columns = endpoint_columns,
    .n_columns = ARRAY_LEN(endpoint_columns),
    .print = print_endpoints,
};

static void print_slice(struct cells *c)
{
    struct some ports = {0};
    struct some addresses = {0};

    JSN_FOR_ITEMS (port, jsn_key(c->object, "ports")) {
        const struct jsn *number = jsn_key(port, "port");
        const char *name = cells_text(port, "name");

        if (jsn_is(number, JSN_INT))
            some_add(&ports, arena_printf(c->arena, "%lld", (long long)number->i));
        else
            some_add(&ports, name[0] != '\0' ? name : "*");
    }
    JSN_FOR_ITEMS (endpoint, jsn_key(c->object, "endpoints"))
        JSN_FOR_ITEMS (address, jsn_key(endpoint, "addresses"))
            some_add(&addresses, jsn_text(address) ? jsn_text(address) : "");
    cell_name(c);
    cell_at(c, "addressType", "");
    cell_some(c, &ports, "<unset>");
    cell_some(c, &addresses, "<unset>");
    cell_age(c);
}

static const struct printer_column slice_columns[] = {
    COLUMN_NAME,
    {"AddressType", "string", "", "What kind of addresses these are.", 0},
    {"Ports", "string", "", "Ports of the addresses.", 0},
    {"Endpoints", "string", "", "Addresses behind the service.", 0},
    COLUMN_AGE,
};

const struct printer printer_endpointslices = {
    .resource = "endpointslices.discovery.k8s.io",
    .columns = slice_columns,
    .n_columns = ARRAY_LEN(slice_columns),
    .print = print_slice,
};

static void print_ingress(struct cells *c)
{
    AUTO(buf_done) struct buf address = {0};
    const struct jsn *rules = jsn_get(c->object, "spec.rules");
    struct some hosts = {0};

    JSN_FOR_ITEMS (rule, rules)
        if (cells_text(rule, "host")[0] != '\0')
            some_add(&hosts, cells_text(rule, "host"));
    add_balancer(&address, c->object);
    cell_name(c);
    cell_at(c, "spec.ingressClassName", "<none>");
    cell_some(c, &hosts, "*");
    cell_text(c, buf_str(&address));
    cell_text(c, jsn_len(jsn_get(c->object, "spec.tls")) > 0 ? "80, 443" : "80");
    cell_age(c);
}

static const struct printer_column ingress_columns[] = {
    COLUMN_NAME,
    {"Class", "string", "", "Which controller is to serve it.", 0},
    {"Hosts", "string", "", "Host names that it is about.", 0},
    {"Address", "string", "", "Where it can be reached.", 0},
    {"Ports", "string", "", "Ports on which it listens.", 0},
    COLUMN_AGE,
};

const struct printer printer_ingresses = {
    .resource = "ingresses.networking.k8s.io",
    .columns = ingress_columns,
    .n_columns = ARRAY_LEN(ingress_columns),
    .print = print_ingress,
};

static void print_policy(struct cells *c)
{
    cell_name(c);
    cell_selector(c, jsn_get(c->object, "spec.podSelector"));
    cell_age(c);
}

static const struct printer_column policy_columns[] = {
    COLUMN_NAME,
    {"Pod-Selector", "string", "", "Labels of the pods that it is about.", 0},
    COLUMN_AGE,
};

const struct printer printer_networkpolicies = {
    .resource = "networkpolicies.networking.k8s.io",
    .columns = policy_columns,
    .n_columns = ARRAY_LEN(policy_columns),
    .print = print_policy,
};
