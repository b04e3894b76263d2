/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of RestApis: the object, and the pod that is made of it.
 */
#include "src/api/restapi.h"

#include "src/admission/kinds.h"
#include "src/admission/pods.h"

static void check(const struct admission_request *in, struct api_problems *p)
{
    struct restapi r;
    struct err e = {0};

    if (restapi_decode(p->arena, in->object, &r, &e) < 0) {
        admission_add_error(p, &e);
        return;
    }
    restapi_check(&r, p);
    pods_check_restapi(in, &r, p);
    if (api_lookup_get(in->lookup, "Controller", api_namespace(&r.meta), r.spec.controller_ref.name,
                       NULL) == API_ABSENT)
        api_problem_add(p, API_WARNING, "spec.controllerRef.name",
                        "there is no Controller %s in namespace %s yet", r.spec.controller_ref.name,
                        api_namespace(&r.meta));
}

const struct admission_kind admit_restapi = {check, admission_any_metadata};
