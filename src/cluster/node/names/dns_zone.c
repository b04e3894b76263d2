/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of a cluster.
 *
 *   SERVICE.NS.svc.DOMAIN              its address; of a headless one, its ready pods'
 *   HOST.SERVICE.NS.svc.DOMAIN         the pod of that host name, whose subdomain is the Service
 *   POD.NS.svc.DOMAIN                  a pod by its host name, where no Service has that name
 *   _PORT._tcp.SERVICE.NS.svc.DOMAIN   SRV
 *   10-131-0-7.NS.pod.DOMAIN           the address that it spells
 *   7.0.131.10.in-addr.arpa            the pod's name
 *   MACHINE                            the machine itself, where pods reach it
 *
 * A pod's own name is answered whether it is ready or not: daemons look each other up before they
 * are.  The third form is not Kubernetes': it makes `ping POD` work within a namespace.  The last
 * one is for slurmctld: with auth/slurm it knows the host of a command by its name alone, and tries
 * to find it for seconds while it holds locks.
 */
#include "src/cluster/node/names/dns_zone.h"

#include "src/cluster/node/network/ipam.h"

#define TTL 5

static void add_address(struct dns_answer *a, const char *ip)
{
    uint32_t address;

    if (ip && ipam_parse_address(str_of(ip), &address) == 0)
        dns_answer_a(a, address, TTL);
}

/* The last label of a name, cut off it. */
static struct str pop(struct str *name)
{
    size_t at = name->n;
    struct str label;

    while (at > 0 && name->p[at - 1] != '.')
        at--;
    label = (struct str){name->p + at, name->n - at};
    name->n = at > 0 ? at - 1 : 0;
    return label;
}

static enum dns_found found(bool any, bool exists)
{
    if (any)
        return DNS_ANSWERED;
    return exists ? DNS_NOTHING : DNS_UNKNOWN;
}

static enum dns_found answer_service(const struct dns_zone *z, const struct service *s,
                                     const struct dns_question *q, struct dns_answer *a)
{
    if (s->external_name) {
        dns_answer_name(a, DNS_CNAME, s->external_name, TTL);
        return DNS_ANSWERED;
    }
    if (q->type != DNS_A && q->type != DNS_ANY)
        return DNS_NOTHING;
    if (s->cluster_ip && !z->direct) {
        add_address(a, s->cluster_ip);
        return DNS_ANSWERED;
    }
    for (size_t i = 0; i < s->n_backends; i++)
        if (s->backends[i].ready || s->all_ready)
            add_address(a, s->backends[i].ip);
    return found(a->n > 0, true);
}

/* A pod by host name; `subdomain` NULL: whatever it has. */
static enum dns_found answer_pod(const struct dns_zone *z, struct str ns, struct str host,
                                 const struct str *subdomain, const struct dns_question *q,
                                 struct dns_answer *a)
{
    bool exists = false;

    for (size_t i = 0; i < z->directory->n_pods; i++) {
        const struct named_pod *p = &z->directory->pods[i];

        if (!str_eqz(ns, p->ns) || (!str_eqz(host, p->host_name) && !str_eqz(host, p->name)) ||
            (subdomain && !str_eqz(*subdomain, p->subdomain ? p->subdomain : "")))
            continue;
        exists = true;
        if (q->type == DNS_A || q->type == DNS_ANY)
            add_address(a, p->ip);
    }
    return found(a->n > 0, exists);
}

static enum dns_found answer_port(const struct dns_zone *z, const struct service *s,
                                  struct str port, struct str protocol,
                                  const struct dns_question *q, struct dns_answer *a)
{
    AUTO(buf_done) struct buf name = {0};

    for (size_t i = 0; i < s->n_ports; i++) {
        const struct service_port *p = &s->ports[i];

        if (!str_eqz(port, p->name) || !str_eq_nocase(protocol, str_of(p->protocol)))
            continue;
        if (q->type != DNS_SRV && q->type != DNS_ANY)
            return DNS_NOTHING;
        if (s->cluster_ip) {
            buf_printf(&name, "%s.%s.svc.%s", s->name, s->ns, z->domain);
            dns_answer_srv(a, p->port, buf_str(&name), TTL);
            return DNS_ANSWERED;
        }
        for (size_t k = 0; k < s->n_backends; k++) {
            const struct backend *b = &s->backends[k];

            if ((!b->ready && !s->all_ready) || !b->host_name)
                continue;
            buf_clear(&name);
            buf_printf(&name, "%s.%s.%s.svc.%s", b->host_name, s->name, s->ns, z->domain);
            dns_answer_srv(a, directory_target(p, b), buf_str(&name), TTL);
        }
        return found(a->n > 0, true);
    }
    return DNS_UNKNOWN;
}

static enum dns_found answer_svc(const struct dns_zone *z, struct str name,
                                 const struct dns_question *q, struct dns_answer *a)
{
    struct str ns = pop(&name);
    struct str service = pop(&name);
    struct str third = pop(&name);
    struct str fourth = pop(&name);
    const struct service *s;

    if (!service.n || name.n)
        return ns.n && !service.n ? DNS_NOTHING : DNS_UNKNOWN;
    s = directory_find(z->directory, ns, service);
    if (!third.n)
        return s ? answer_service(z, s, q, a) : answer_pod(z, ns, service, NULL, q, a);
    if (fourth.n && fourth.p[0] == '_' && third.p[0] == '_')
        return s ? answer_port(z, s, (struct str){fourth.p + 1, fourth.n - 1},
                               (struct str){third.p + 1, third.n - 1}, q, a)
                 : DNS_UNKNOWN;
    if (fourth.n)
        return DNS_UNKNOWN;
    return answer_pod(z, ns, third, &service, q, a);
}

/* "10-131-0-7.ns.pod" */
static enum dns_found answer_spelled(struct str name, const struct dns_question *q,
                                     struct dns_answer *a)
{
    struct str host;
    uint32_t address;
    char text[IPAM_TEXT];

    (void)pop(&name);
    host = pop(&name);
    if (name.n || !host.n || host.n >= sizeof(text))
        return DNS_UNKNOWN;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '-')
            *c = '.';
    if (ipam_parse_address(str_of(text), &address) < 0)
        return DNS_UNKNOWN;
    if (q->type != DNS_A && q->type != DNS_ANY)
        return DNS_NOTHING;
    dns_answer_a(a, address, TTL);
    return DNS_ANSWERED;
}

static bool in_range(const struct dns_zone *z, uint32_t address)
{
    return ipam_overlap(z->base, z->prefix, address, 32);
}

static enum dns_found answer_reverse(const struct dns_zone *z, struct str name,
                                     const struct dns_question *q, struct dns_answer *a)
{
    AUTO(buf_done) struct buf full = {0};
    uint32_t reversed, address;
    char text[IPAM_TEXT];

    if (ipam_parse_address(name, &reversed) < 0)
        return DNS_NOT_OURS;
    address = __builtin_bswap32(reversed);
    if (!in_range(z, address))
        return DNS_NOT_OURS;
    ipam_print(address, text);
    for (size_t i = 0; i < z->directory->n_pods; i++) {
        const struct named_pod *p = &z->directory->pods[i];

        if (!streq(p->ip, text))
            continue;
        if (q->type != DNS_PTR && q->type != DNS_ANY)
            return DNS_NOTHING;
        if (p->subdomain)
            buf_printf(&full, "%s.%s.%s.svc.%s", p->host_name, p->subdomain, p->ns, z->domain);
        else
            buf_printf(&full, "%s.%s.svc.%s", p->host_name, p->ns, z->domain);
        dns_answer_name(a, DNS_PTR, buf_str(&full), TTL);
        return DNS_ANSWERED;
    }
    return DNS_UNKNOWN;
}

/* As the machine calls itself, or the first label of that, as Slurm does. */
static enum dns_found answer_machine(const struct dns_zone *z, struct str name,
                                     const struct dns_question *q, struct dns_answer *a)
{
    struct str full = str_of(z->machine);
    struct str label = {full.p, str_find(full, '.')};

    if (!z->machine || !label.n || (!str_eq_nocase(name, full) && !str_eq_nocase(name, label)))
        return DNS_NOT_OURS;
    if (q->type != DNS_A && q->type != DNS_ANY)
        return DNS_NOTHING;
    dns_answer_a(a, z->machine_address, TTL);
    return DNS_ANSWERED;
}

enum dns_found dns_zone_answer(const struct dns_zone *z, const struct dns_question *q,
                               struct dns_answer *a)
{
    struct str name = str_of(q->name);
    size_t n = strlen(z->domain);
    struct str kind;

    if (str_ends(name, ".in-addr.arpa")) {
        name.n -= sizeof(".in-addr.arpa") - 1;
        return answer_reverse(z, name, q, a);
    }
    if (str_eqz(name, z->domain))
        return DNS_NOTHING;
    if (name.n <= n + 1 || !str_ends(name, z->domain) || name.p[name.n - n - 1] != '.')
        return answer_machine(z, name, q, a);
    name.n -= n + 1;
    kind = pop(&name);
    if (str_eqz(kind, "svc"))
        return name.n ? answer_svc(z, name, q, a) : DNS_NOTHING;
    if (str_eqz(kind, "pod"))
        return name.n ? answer_spelled(name, q, a) : DNS_NOTHING;
    return DNS_UNKNOWN;
}
