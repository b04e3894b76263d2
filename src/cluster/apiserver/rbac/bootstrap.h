/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The roles and bindings that every server has: made at the start, and kept. */
#pragma once

#include "src/json/jsn.h"

struct apiserver;

/* The rules of a default role, as a ClusterRole has them. */
struct jsn *rbac_bootstrap_rules(struct arena *a, const char *role);

/* Make what is missing, and add what is missing in what is there. */
int rbac_bootstrap(struct apiserver *s, struct err *e) MUST_CHECK;
