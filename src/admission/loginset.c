/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Admission of LoginSets: the object, what it refers to, what may not change. */
#include "src/api/loginset.h"

#include "src/admission/kinds.h"
#include "src/admission/pods.h"

static void check(const struct admission_request *in, struct api_problems *p)
{
    struct loginset l;
    struct loginset old;
    struct err e = {0};

    if (loginset_decode(p->arena, in->object, &l, &e) < 0) {
        admission_add_error(p, &e);
        return;
    }
    loginset_check(&l, p);
    loginset_check_refs(&l, in->lookup, p);
    pods_check_loginset(in, &l, p);
    if (in->old && loginset_decode(p->arena, in->old, &old, NULL) == 0)
        loginset_check_update(&l, &old, p);
}

static void check_metadata(const struct admission_request *in, struct api_problems *p)
{
    struct loginset l;

    if (loginset_decode(p->arena, in->object, &l, NULL) == 0)
        loginset_check_annotations(&l, p);
}

const struct admission_kind admit_loginset = {check, check_metadata};
