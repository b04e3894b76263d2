/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ends up in pods, held against the rules of pods; private to this directory. */
#pragma once

#include "src/admission/admission.h"
#include "src/api/controller.h"
#include "src/api/loginset.h"
#include "src/api/nodeset.h"
#include "src/api/restapi.h"

/* Types and fields of what is laid over pods, claims and Services, and the pod that comes out.
 * What has not changed since `in->old` is not looked at.  `release`: 0 where none is known. */
void pods_check_controller(const struct admission_request *in, const struct controller *c,
                           uint32_t release, struct api_problems *p);
void pods_check_loginset(const struct admission_request *in, const struct loginset *l,
                         struct api_problems *p);
void pods_check_restapi(const struct admission_request *in, const struct restapi *r,
                        struct api_problems *p);
void pods_check_nodeset(const struct admission_request *in, const struct nodeset *ns,
                        uint32_t release, struct api_problems *p);
