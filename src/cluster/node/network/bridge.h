/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network of this node's pods: a bridge, a range of addresses, an interface a pod. */
#pragma once

#include "src/cluster/node/network/ipam.h"

#define BRIDGE_PREFIX "sk-"            /* names of bridges begin so, of every cluster */
#define BRIDGE_SERVICES "10.96.0.0/16" /* addresses of Services, of every cluster */

struct bridge {
    char name[16];
    char gateway[IPAM_TEXT]; /* the machine's address on it: where DNS answers, too */
    char cidr[24];
    unsigned int mtu;
    struct ipam ipam;
};

/*
 * Make or find the bridge of cluster `cluster`.  Without `cidr` the range of the last time, kept in
 * `dir`, or the first that nothing on this machine uses.  A range in use elsewhere is an error.
 */
int bridge_open(struct bridge *b, const char *cluster, const char *dir, const char *cidr,
                struct err *e) MUST_CHECK;
void bridge_done(struct bridge *b);

/* Put an interface of the pod into the namespace of that process. */
int bridge_plug(struct bridge *b, const char *uid, uint32_t address, pid_t pid,
                struct err *e) MUST_CHECK;
void bridge_unplug(struct bridge *b, const char *uid);

/* Remove the bridge; one that is not there is fine. */
int bridge_remove(const char *cluster, struct err *e) MUST_CHECK;

/* The name of the bridge of a cluster: at most 15 characters. */
void bridge_name(const char *cluster, char ret_name[16]);

/* Does the machine have a network of its own among the addresses of Services? */
bool bridge_services_elsewhere(void);
