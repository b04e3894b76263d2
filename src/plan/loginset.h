/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for a LoginSet: what its pods need, the Deployment, and what is said of it. */
#pragma once

#include "src/build/login.h"
#include "src/plan/action.h"
#include "src/plan/pods.h"

/* A snapshot; everything is borrowed and stays as it is. */
struct plan_loginset {
    const struct jsn *object; /* as the API has it */
    const struct loginset *l;
    /* The cluster that it names; its controller is NULL where there is none. */
    const struct build_cluster *cluster;
    const struct plan_pod *const *pods; /* of its Deployment, also those that go */
    size_t n_pods;
    const struct build_host_keys *fresh; /* NULL: not needed, or not made yet */
    int64_t now_us;
};

/* Has it no host keys yet? */
bool plan_loginset_needs_keys(struct arena *a, const struct plan_loginset *in);

/*
 * Plan.  Steps, in order: SSH Host Keys, SSH Config, Service, Deployment, Status.  Without its
 * Controller nothing but the status is written; without sssd.conf the Deployment stays as it is.
 */
void plan_loginset(const struct plan_loginset *in, struct actions *to);
