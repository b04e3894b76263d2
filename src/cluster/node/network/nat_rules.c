/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kube-proxy does, as one nft table that is replaced whole whenever something changes.
 *
 * A connection to a Service's address gets one of its ready backends, at random or by the client's
 * address; with none it is refused at once, and so is one to an address that no Service has: it
 * would leave by the default route for a stranger's network.  Pods keep their own source address:
 * all their packets pass the machine (their addresses are /32), so answers find their way back
 * through the same translation.  Only who reaches itself through a Service, and who leaves for the
 * world, is hidden behind the machine's address.
 *
 * Clusters side by side have the same range of Service addresses: what a pod sends is for the
 * Services of its own cluster, told by the bridge it comes from.
 *
 * A neighbour on the network who sends packets for pods, or for the bridge, to this machine gets no
 * answer.  It reaches what a node port or a host port opens, and nothing else.
 */
#include "src/cluster/node/network/nat_rules.h"

#include "src/cluster/node/network/bridge.h"

static bool counts(const struct service *s, const struct backend *b)
{
    return b->ready || s->all_ready;
}

static const char *protocol(const struct service_port *p)
{
    if (streq(p->protocol, "UDP"))
        return "udp";
    return streq(p->protocol, "SCTP") ? "sctp" : "tcp";
}

static size_t count_backends(const struct service *s, const struct service_port *p)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_backends; i++)
        n += counts(s, &s->backends[i]) && directory_target(p, &s->backends[i]) > 0;
    return n;
}

/* A chain a backend, and one that chooses. */
static void print_port(struct buf *b, const struct service *s, const struct service_port *p,
                       unsigned int id)
{
    size_t n = count_backends(s, p);
    size_t k = 0;

    for (size_t i = 0; i < s->n_backends; i++) {
        uint16_t target = directory_target(p, &s->backends[i]);

        if (counts(s, &s->backends[i]) && target)
            buf_printf(b, " chain s%u_%zu { meta l4proto %s dnat to %s:%u; }\n", id, k++,
                       protocol(p), s->backends[i].ip, target);
    }
    if (!n)
        return;
    buf_printf(b, " chain s%u { # %s/%s:%u\n", id, s->ns, s->name, p->port);
    if (n == 1)
        buf_printf(b, "  goto s%u_0\n", id);
    else if (s->sticky)
        buf_printf(b, "  jhash ip saddr mod %zu vmap { ", n);
    else
        buf_printf(b, "  numgen random mod %zu vmap { ", n);
    for (k = 0; n > 1 && k < n; k++)
        buf_printf(b, "%s%zu : goto s%u_%zu", k ? ", " : "", k, id, k);
    buf_adds(b, n > 1 ? " }\n }\n" : " }\n");
}

static void print_dispatch(struct buf *b, const struct service *s, const struct service_port *p,
                           unsigned int id)
{
    if (!count_backends(s, p))
        return;
    buf_printf(b, "  ip daddr %s %s dport %u goto s%u\n", s->cluster_ip, protocol(p), p->port, id);
}

static void print_node_port(struct buf *b, const struct service *s, const struct service_port *p,
                            unsigned int id)
{
    if (p->node_port && count_backends(s, p))
        buf_printf(b, "  fib daddr type local %s dport %u goto s%u\n", protocol(p), p->node_port,
                   id);
}

static void print_refusal(struct buf *b, const struct service *s, const struct service_port *p)
{
    if (!count_backends(s, p))
        buf_printf(b, "  ip daddr %s %s dport %u reject%s\n", s->cluster_ip, protocol(p), p->port,
                   streq(protocol(p), "tcp") ? " with tcp reset" : "");
}

static void each_port(struct buf *b, const struct directory *d,
                      void (*fn)(struct buf *b, const struct service *s,
                                 const struct service_port *p, unsigned int id))
{
    unsigned int id = 0;

    for (size_t i = 0; i < d->n_services; i++) {
        const struct service *s = &d->services[i];

        for (size_t k = 0; s->cluster_ip && k < s->n_ports; k++)
            fn(b, s, &s->ports[k], id++);
    }
}

static void print_refusal_of(struct buf *b, const struct service *s, const struct service_port *p,
                             unsigned int id)
{
    (void)id;
    print_refusal(b, s, p);
}

/* hostPort: a port of the machine that leads to the pod. */
static void print_host_ports(struct buf *b, const struct directory *d)
{
    for (size_t i = 0; i < d->n_pods; i++) {
        if (jsn_get_bool(d->pods[i].object, "spec.hostNetwork", false))
            continue;
        JSN_FOR_ITEMS (c, jsn_get(d->pods[i].object, "spec.containers")) {
            JSN_FOR_ITEMS (p, jsn_key(c, "ports")) {
                struct service_port like = {.protocol = jsn_get_str(p, "protocol")};
                int64_t port = jsn_get_int(p, "hostPort", 0);

                if (port > 0)
                    buf_printf(b, "  fib daddr type local %s dport %lld dnat to %s:%lld\n",
                               protocol(&like), (long long)port, d->pods[i].ip,
                               (long long)jsn_get_int(p, "containerPort", 0));
            }
        }
    }
}

static void print_hairpins(struct buf *b, const struct directory *d)
{
    bool any = false;

    for (size_t i = 0; i < d->n_services; i++) {
        const struct service *s = &d->services[i];

        for (size_t k = 0; s->cluster_ip && k < s->n_backends; k++) {
            buf_printf(b, "%s%s . %s", any ? ", " : "  ip saddr . ip daddr { ", s->backends[k].ip,
                       s->backends[k].ip);
            any = true;
        }
    }
    if (any)
        buf_adds(b, " } masquerade\n");
}

/*
 * What is still meant for the cluster's own ranges after translation, and would leave the machine.
 * A machine that has a network of its own in the range of Services reaches it; its pods do not.
 * TCP is reset: the other refusals are messages of which the kernel sends one a second.  Addresses
 * of pods are dropped last of all: before, the way out is not yet that of the translated
 * address.
 */
static void print_fences(struct buf *b, const struct nat_place *p)
{
    buf_printf(b,
               " chain fence {\n"
               "  ip daddr %s meta l4proto tcp reject with tcp reset\n"
               "  ip daddr %s reject\n"
               " }\n"
               " chain stray { type filter hook postrouting priority 0;\n"
               "  ip daddr %s oifname != { \"%s\", \"lo\" } drop\n"
               " }\n",
               p->services, p->services, p->cidr, p->bridge);
    if (!p->services_elsewhere)
        buf_adds(b, " chain fence_own { type filter hook output priority 0; jump fence; }\n");
}

/* What comes from outside of the machine, and is neither an answer nor translated by `ports`. */
static void print_outside(struct buf *b, const struct nat_place *p)
{
    static const char *const hooks[] = {"input", "forward"};

    buf_adds(b, " chain outside {\n"
                "  ct state established,related return\n"
                "  ct status dnat return\n"
                "  drop\n"
                " }\n");
    for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
        buf_printf(b,
                   " chain outside_%s { type filter hook %s priority 0;\n"
                   "  iifname != \"lo\" iifname != \"" BRIDGE_PREFIX
                   "*\" ip daddr %s jump outside\n"
                   " }\n",
                   hooks[i], hooks[i], p->cidr);
}

void nat_rules_print(struct buf *b, const struct directory *d, const struct nat_place *p)
{
    nat_rules_print_removal(b, p->table);
    buf_printf(b, "table ip %s {\n", p->table);
    each_port(b, d, print_port);
    buf_adds(b, " chain services {\n");
    each_port(b, d, print_dispatch);
    buf_adds(b, " }\n chain ports {\n");
    each_port(b, d, print_node_port);
    print_host_ports(b, d);
    buf_adds(b, " }\n chain refusals {\n");
    each_port(b, d, print_refusal_of);
    buf_adds(b, " }\n");
    print_fences(b, p);
    print_outside(b, p);
    buf_printf(b,
               " chain prerouting { type nat hook prerouting priority -100;\n"
               "  iifname \"%s\" jump services\n"
               "  jump ports\n"
               " }\n"
               " chain output { type nat hook output priority -100; jump services; jump ports; }\n"
               " chain input { type filter hook input priority 0; iifname \"%s\" jump refusals; }\n"
               " chain forward { type filter hook forward priority 0;\n"
               "  iifname \"%s\" jump refusals\n"
               "  iifname \"%s\" jump fence\n"
               " }\n"
               " chain refuse_own { type filter hook output priority 0; jump refusals; }\n"
               " chain postrouting { type nat hook postrouting priority 100;\n",
               p->bridge, p->bridge, p->bridge, p->bridge);
    print_hairpins(b, d);
    buf_printf(b, "  ip saddr %s oifname != \"%s\" masquerade\n }\n}\n", p->cidr, p->bridge);
}

void nat_rules_print_removal(struct buf *b, const char *table)
{
    buf_printf(b, "table ip %s {}\ndelete table ip %s\n", table, table);
}
