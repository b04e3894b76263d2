/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kind RestApi: slurmrestd beside a cluster. */
#pragma once

#include "src/api/condition.h"
#include "src/api/meta.h"
#include "src/api/problems.h"
#include "src/api/refs.h"
#include "src/api/service.h"
#include "src/api/template.h"

/* So that what is made from it has names of 63 characters. */
#define RESTAPI_NAME_MAX 55
#define RESTAPI_PORT 6820

struct restapi_spec {
    struct api_controller_ref controller_ref;
    int32_t replicas;
    const struct jsn *slurmrestd;
    struct api_template template;
    struct api_service service;
};

struct restapi_status {
    int64_t observed_generation;
    int32_t replicas;
    int32_t ready_replicas;
    struct api_conditions conditions;
};

struct restapi {
    struct api_meta meta;
    struct restapi_spec spec;
    struct restapi_status status;
};

extern const struct jsn_field restapi_fields[];
extern const struct jsn_field restapi_status_fields[];

/* Decode into `a`; nothing points into v.  The error names the field. */
int restapi_decode(struct arena *a, const struct jsn *v, struct restapi *ret,
                   struct err *e) MUST_CHECK;

/* Everything that the object alone tells. */
void restapi_check(const struct restapi *r, struct api_problems *p);
