/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmrestd of a RestApi: Deployment and Service. */
#pragma once

#include "src/api/problems.h"
#include "src/api/restapi.h"
#include "src/build/cluster.h"
#include "src/json/jsn.h"

/* "<name>-restapi", of both; in `a`. */
const char *build_restapi_name(struct arena *a, const struct restapi *r);

struct jsn *build_restapi_service(struct arena *a, const struct restapi *r);

/* Settings that cannot be laid over are problems. */
struct jsn *build_restapi_deployment(struct arena *a, const struct build_cluster *c,
                                     const struct restapi *r, struct api_problems *p);
