/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan for a RestApi: slurmrestd and its Service. */
#pragma once

#include "src/api/restapi.h"
#include "src/build/cluster.h"
#include "src/plan/action.h"

/* A snapshot; everything is borrowed and stays as it is. */
struct plan_restapi {
    const struct jsn *object; /* as the API has it */
    const struct restapi *r;  /* the same, decoded */
    /* The cluster it serves.  Its controller is NULL where there is no such Controller. */
    const struct build_cluster *cluster;
    int64_t now_us;
};

void plan_restapi(const struct plan_restapi *in, struct actions *to);
