/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and node ports of services: which are taken, and which to give next. */
#pragma once

#include "src/cluster/apiserver/status.h"

#define SERVICE_RANGE "10.96.0.0/16"
#define SERVICE_OF_SERVER "10.96.0.1"  /* of default/kubernetes, in the server's certificate */
#define SERVICE_RANGE_BASE 0x0a600000U /* 10.96.0.0 */
#define SERVICE_RANGE_SIZE 65536U
#define SERVICE_NODE_PORT_FIRST 30000U
#define SERVICE_NODE_PORT_LAST 32767U

/* What all services hold at the moment; a bit each. */
struct service_pool {
    uint8_t addresses[SERVICE_RANGE_SIZE / 8];
    uint8_t ports[(SERVICE_NODE_PORT_LAST - SERVICE_NODE_PORT_FIRST + 8) / 8];
};

/* Read the stored services; the pool lives in the call's arena.  `but_for`: the uid of a service
 * whose own addresses and ports do not count, or NULL. */
int service_pool_read(struct api_call *c, const char *but_for, struct service_pool **ret_pool);
/* Mark what one stored service holds. */
void service_pool_mark(struct service_pool *p, struct str data);

/* Take a given address or port; NULL, or the sentence why not. */
const char *service_pool_take_address(struct arena *a, struct service_pool *p, const char *address);
const char *service_pool_take_port(struct service_pool *p, int64_t port);
/* Take any free one, beginning at a random place; "" and 0 when there is none. */
const char *service_pool_any_address(struct arena *a, struct service_pool *p);
int64_t service_pool_any_port(struct service_pool *p);
