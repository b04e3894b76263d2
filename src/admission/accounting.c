/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of Accountings: the object, and what may not change.  Secrets that it names may come
 * later: a condition tells of those that are missing.
 */
#include "src/api/accounting.h"

#include "src/admission/kinds.h"

static void check(const struct admission_request *in, struct api_problems *p)
{
    struct accounting acct;
    struct accounting old;
    struct err e = {0};

    if (accounting_decode(p->arena, in->object, &acct, &e) < 0) {
        admission_add_error(p, &e);
        return;
    }
    accounting_check(&acct, p);
    if (in->old && accounting_decode(p->arena, in->old, &old, NULL) == 0)
        accounting_check_update(&acct, &old, p);
}

static void check_metadata(const struct admission_request *in, struct api_problems *p)
{
    struct accounting acct;

    if (accounting_decode(p->arena, in->object, &acct, NULL) == 0)
        accounting_check(&acct, p);
}

const struct admission_kind admit_accounting = {check, check_metadata};
