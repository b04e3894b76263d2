/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cluster's name server: answers for the zone, asks the machine's servers for the rest. */
#pragma once

#include "src/cluster/node/names/dns_zone.h"
#include "src/loop/loop.h"

struct dns_server;

/* Listen on address:port, UDP and TCP.  The zone is borrowed and may change between turns. */
int dns_server_new(struct loop *l, const char *address, uint16_t port, const struct dns_zone *zone,
                   struct dns_server **ret_server, struct err *e) MUST_CHECK;
struct dns_server *dns_server_free(struct dns_server *s);
DEFINE_AUTO(struct dns_server, dns_server_free);
