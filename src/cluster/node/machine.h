/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This machine as a Node object, kept alive by its Lease. */
#pragma once

#include "src/cluster/node/node_private.h"

/* Registers the Node and goes on renewing its Lease. */
struct machine *machine_new(struct node *n);
struct machine *machine_free(struct machine *m);
/* Something that the status shows is another: write it now. */
void machine_tell(struct machine *m);
/* Somebody deleted the Node: make it again. */
void machine_register(struct machine *m);

/* What the machine has: n->cpu_milli, n->memory_bytes, n->host_ip. */
int machine_measure(struct node *n, struct err *e) MUST_CHECK;

#define MACHINE_MAX_PODS 500
