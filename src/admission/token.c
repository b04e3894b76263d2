/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Admission of Tokens: the object, its key, what may not change. */
#include "src/api/token.h"

#include "src/admission/kinds.h"

static void check(const struct admission_request *in, struct api_problems *p)
{
    struct api_token t;
    struct api_token old;
    struct err e = {0};

    if (api_token_decode(p->arena, in->object, &t, &e) < 0) {
        admission_add_error(p, &e);
        return;
    }
    api_token_check(&t, p);
    api_token_check_refs(&t, in->lookup, p);
    if (in->old && api_token_decode(p->arena, in->old, &old, NULL) == 0)
        api_token_check_update(&t, &old, p);
}

const struct admission_kind admit_token = {check, admission_any_metadata};
