/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is behind which name: Services and pods of the cluster, as one table; pure. */
#pragma once

#include "src/json/jsn.h"

struct backend {
    const char *ip;
    const char *host_name; /* of a pod whose subdomain is the Service; NULL: none */
    bool ready;
    const struct jsn *pod;    /* one of these two is set */
    const struct jsn *subset; /* of an Endpoints object */
};

struct service_port {
    const char *name;     /* "" if it has none */
    const char *protocol; /* "TCP", "UDP", "SCTP" */
    uint16_t port;
    uint16_t node_port; /* 0: none */
    const struct jsn *target;
};

struct service {
    const char *ns;
    const char *name;
    const char *cluster_ip; /* NULL: headless, or an external name */
    const char *external_name;
    bool all_ready; /* publishNotReadyAddresses */
    bool sticky;    /* sessionAffinity ClientIP */
    struct service_port *ports;
    size_t n_ports;
    struct backend *backends;
    size_t n_backends;
};

/* A pod that has an address. */
struct named_pod {
    const char *ns;
    const char *name;
    const char *host_name;
    const char *subdomain; /* or NULL */
    const char *ip;
    const struct jsn *object;
};

/* Lives in `arena` with everything in it. */
struct directory {
    struct arena arena;
    struct service *services;
    size_t n_services;
    size_t cap_services;
    struct named_pod *pods;
    size_t n_pods;
    size_t cap_pods;
};

void directory_done(struct directory *d);

/* First all pods, then all Services; then Endpoints of Services that select nothing.  Objects must
 * live in d->arena. */
void directory_add_pod(struct directory *d, const struct jsn *pod);
void directory_add_service(struct directory *d, const struct jsn *service);
void directory_add_endpoints(struct directory *d, const struct jsn *endpoints);

/* The port of a backend that a port of the Service leads to; 0: it has none of that name. */
uint16_t directory_target(const struct service_port *p, const struct backend *b);

const struct service *directory_find(const struct directory *d, struct str ns, struct str name);
