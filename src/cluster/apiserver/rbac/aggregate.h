/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ClusterRoles that take their rules from others. */
#pragma once

#include "src/base/err.h"

struct apiserver;
struct store_event;
struct rbac_aggregate;

struct rbac_aggregate *rbac_aggregate_new(struct apiserver *s);
struct rbac_aggregate *rbac_aggregate_free(struct rbac_aggregate *g);
/* Bring all up to date at once: before the first request is served. */
int rbac_aggregate_start(struct rbac_aggregate *g, struct err *e) MUST_CHECK;
void rbac_aggregate_event(struct rbac_aggregate *g, const struct store_event *ev);
