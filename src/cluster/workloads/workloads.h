/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workload controllers, inside the API server's process. */
#pragma once

#include "src/cluster/apiserver/apiserver.h"

struct workloads;

/*
 * Observe the server from now on and look at every workload once.  The server is borrowed; free
 * the workloads after it, since it still tells of its last commit while it ends.
 */
int workloads_new(struct apiserver *s, struct workloads **ret_workloads, struct err *e) MUST_CHECK;
struct workloads *workloads_free(struct workloads *w);
DEFINE_AUTO(struct workloads, workloads_free);
