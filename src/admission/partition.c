/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admission of Partitions: the object, its name and its nodes against all others of the cluster,
 * what may not change.
 */
#include "src/api/partition.h"

#include "src/admission/kinds.h"
#include "src/admission/restart.h"

static void check(const struct admission_request *in, struct api_problems *p)
{
    struct api_partition part;
    struct api_partition old;
    bool had = in->old && api_partition_decode(p->arena, in->old, &old, NULL) == 0;
    struct err e = {0};
    uint32_t release;

    if (api_partition_decode(p->arena, in->object, &part, &e) < 0) {
        admission_add_error(p, &e);
        return;
    }
    release = admission_release(in, &part.meta, part.spec.controller_ref.name, p->arena);
    api_partition_check(&part, release, p);
    api_partition_check_refs(&part, had ? &old : NULL, in->lookup, p);
    if (had)
        api_partition_check_update(&part, &old, p);
    restart_warn(p, "spec", had ? api_partition_line(p->arena, &old, "x", true) : NULL,
                 api_partition_line(p->arena, &part, "x", true), release);
}

const struct admission_kind admit_partition = {check, admission_any_metadata};
