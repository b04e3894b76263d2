/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few things that we ask the kernel's routing socket for: bridges, pairs, addresses. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "src/base/str.h"

/* Each waits for the kernel's answer, which takes microseconds. */

/* A bridge with a fixed hardware address; one that is there already is fine. */
int netlink_bridge_make(const char *name, const unsigned char mac[6], struct err *e) MUST_CHECK;
/* Give an interface an address and bring it up. */
int netlink_address_add(const char *name, uint32_t address, unsigned int prefix,
                        struct err *e) MUST_CHECK;
/* A route to a network over an interface; goes with it.  Others to the same network, with another
 * metric, may stand beside it. */
int netlink_route_add(const char *name, uint32_t network, unsigned int prefix, uint32_t metric,
                      struct err *e) MUST_CHECK;
/* A pair: `name` here, in the bridge and up; eth0, with that hardware address, in the network
 * namespace of the process. */
int netlink_veth_make(const char *name, const char *bridge, pid_t pid, const unsigned char mac[6],
                      unsigned int mtu, struct err *e) MUST_CHECK;
/* Remove an interface; one that is not there is fine. */
int netlink_delete(const char *name, struct err *e) MUST_CHECK;
