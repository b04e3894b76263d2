/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and addresses of Services, kept in step with the cluster. */
#pragma once

#include "src/cluster/node/node_private.h"

int services_new(struct node *n, struct services **ret_services, struct err *e) MUST_CHECK;
struct services *services_free(struct services *s);

/* Pods, Services or Endpoints have changed: look at them all, soon.  NULL-safe. */
void services_changed(struct services *s);

/* Remove the rules of a cluster; waits for nft. */
void services_purge(const char *cluster);
